"""Where the scanners are on this machine: the human's own, else what ``setup`` put into the data directory.

Each lives in an environment of its own, ``<data>/scanners/<name>-<version>/``, since two of them own the
same import package. The file ``.complete`` in it is written last; without it the rest is as good as absent.
"""

import functools
import json
import os
import re
from collections.abc import Sequence
from pathlib import Path

from appsecgate.config import Config
from appsecgate.model import Scanner
from appsecgate.process import Ending, Limits, base_environment, private_directory, run
from appsecgate.scanners.base import Installation
from appsecgate.scanners.pins import PINS

COMPLETE_MARKER = ".complete"
VERSION_TIMEOUT_S = 30.0
_SEMGREP_CORE_PLACES = (
    "lib/python*/site-packages/semgrep/bin/semgrep-core",
    "Lib/site-packages/semgrep/bin/semgrep-core.exe",
)
_ASK_PACKAGE = "import importlib.metadata, sys; print(importlib.metadata.version(sys.argv[1]))"


def scanner_home(scanner: Scanner, data_dir: Path) -> Path:
    """The directory of the pinned version, whether or not it is there."""
    return data_dir / "scanners" / f"{scanner}-{PINS[scanner]}"


def venv_program(home: Path, name: str) -> Path:
    """A program of a virtual environment, as this platform lays it out."""
    return home / "Scripts" / f"{name}.exe" if os.name == "nt" else home / "bin" / name


def read_marker(home: Path) -> dict[str, str] | None:
    """What ``.complete`` says: scanner, version, python, completed_at; None where it is missing or broken."""
    try:
        marker = json.loads((home / COMPLETE_MARKER).read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return {str(key): str(value) for key, value in marker.items()} if isinstance(marker, dict) else None


def locate(scanner: Scanner, config: Config, data_dir: Path) -> Installation | None:
    """The scanner to use, or None. Cheap: no process is started but for the human's own, and then once.

    For semgrep ``command`` is the engine, ``semgrep-core``: plain ``semgrep`` asks the network for updates.
    """
    own = config.scanners[scanner].command
    return _managed_installation(scanner, data_dir) if own is None else _configured_installation(scanner, own)


def why_missing(scanner: Scanner, config: Config, data_dir: Path) -> str:
    """A sentence for a scanner that ``locate`` does not find."""
    own = config.scanners[scanner].command
    home = scanner_home(scanner, data_dir)
    if own is not None:
        return f"scanners.{scanner}.command names {own[0]}, which does not run as {scanner}"
    if not home.is_dir():
        return f"{scanner} {PINS[scanner]} is not installed"
    if read_marker(home) is None:
        return f"its installation in {home} was not finished"
    return f"its installation in {home} is broken: its interpreter or its program is gone"


def _managed_installation(scanner: Scanner, data_dir: Path) -> Installation | None:
    home = scanner_home(scanner, data_dir)
    marker = read_marker(home)
    program = installed_program(scanner, home)
    python = venv_program(home, "python")
    if marker is None or program is None or not python.exists():
        return None
    return Installation(scanner, marker.get("version", PINS[scanner]), (str(program),), python, home)


def installed_program(scanner: Scanner, home: Path) -> Path | None:
    """The program that an adapter starts, in an environment; None where it is not there."""
    if scanner is not Scanner.SEMGREP:
        program = venv_program(home, scanner)
        return program if program.is_file() else None
    found = [core for place in _SEMGREP_CORE_PLACES for core in sorted(home.glob(place))]
    return found[0] if found else None


def _configured_installation(scanner: Scanner, own: Sequence[str]) -> Installation | None:
    """The human's installation. Links are followed, so that a link to a program leads to its environment."""
    program = Path(own[0]).resolve()
    if not (program.is_file() and os.access(program, os.X_OK)):
        return None
    python, home = _script_surroundings(program)
    if scanner is Scanner.SEMGREP and not program.name.startswith("semgrep-core"):
        core = None if home is None else installed_program(scanner, home)
        if core is None:
            return None
        program = core
    command = (str(program), *own[1:])
    interpreter = None if python is None else str(python)
    version = _ask_version(scanner, command, interpreter, program.stat().st_mtime_ns)
    return None if version is None else Installation(scanner, version, command, python, home)


def _script_surroundings(program: Path) -> tuple[Path | None, Path | None]:
    """The interpreter of a console script, by its first line or place, and its environment's root."""
    with program.open("rb") as file:
        first = file.readline(500)
    words = first[2:].decode("utf-8", errors="surrogateescape").split() if first.startswith(b"#!") else []
    named = Path(words[0]) if words else program.parent / ("python.exe" if os.name == "nt" else "python3")
    if named.name.startswith("python") and named.is_file():
        return named, named.parent.parent
    return None, None


@functools.lru_cache(maxsize=16)
def _ask_version(
    scanner: Scanner, command: tuple[str, ...], python: str | None, _changed_ns: int
) -> str | None:
    """Ask once per program and change; None where it does not answer. No network is asked."""
    if scanner is Scanner.SEMGREP:
        argv: tuple[str, ...] = (*command, "-version")
    elif python is not None:
        argv = (python, "-I", "-c", _ASK_PACKAGE, scanner)
    else:
        argv = (*command, "--version")
    return ask_for_version(argv)


def ask_for_version(argv: Sequence[str]) -> str | None:
    """The first thing like a version that a program prints; None where it fails or prints none."""
    with private_directory() as directory:
        completed = run(
            argv,
            cwd=directory,
            env=base_environment(directory),
            limits=Limits(timeout_s=VERSION_TIMEOUT_S, max_output_bytes=100_000),
        )
    if completed.ending is not Ending.EXITED or completed.exit_code != 0:
        return None
    match = re.search(r"\d+\.\d+(?:\.\d+)*\w*", completed.stdout.decode("utf-8", errors="replace"))
    return match[0] if match else None


def package_version(scanner: Scanner, home: Path) -> str | None:
    """Which version of the scanner's package an environment really holds."""
    return ask_for_version((str(venv_program(home, "python")), "-I", "-c", _ASK_PACKAGE, str(scanner)))
