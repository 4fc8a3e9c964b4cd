"""``setup`` and ``doctor``: put the four scanners on this machine, and say which of them work.

Besides ``advisories update`` the only part of the program that lets a child talk to a network: pip, to the
package index that this machine is set up for, or to a folder of wheels and nothing else.
"""

import contextlib
import json
import os
import platform
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from appsecgate.config import Config
from appsecgate.errors import SetupError
from appsecgate.model import Scanner, SentinelState
from appsecgate.process import (
    CancelToken,
    Completed,
    Ending,
    Limits,
    base_environment,
    private_directory,
    run,
)
from appsecgate.scanners.checkov import checkov_saver
from appsecgate.scanners.installed import (
    COMPLETE_MARKER,
    installed_program,
    locate,
    package_version,
    read_marker,
    scanner_home,
    venv_program,
    why_missing,
)
from appsecgate.scanners.pins import INSTALLED_MB, PINS, SCANNER_PYTHON_FLOOR
from appsecgate.scanners.stage import place_bytes

VENV_TIMEOUT_S = 300.0
PIP_TIMEOUT_S = 3600.0
PIP_ENVIRONMENT = (
    "HOME", "USERPROFILE", "APPDATA", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "NETRC",
    "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
)  # fmt: skip
"""What of the person's environment pip gets besides every ``PIP_…``: how to reach the index. Any case."""
_PIP_NOT_PASSED = ("PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_DRY_RUN", "PIP_NO_DEPS", "PIP_REQUIREMENT")
"""Settings that would put the packages somewhere else, or only half of them."""
_NO_VENV = "Python cannot make environments here: install its venv module (Debian: python3-venv)."
_PIP_FAILURES = (
    ("No space left", "The disk is full: free about 1 GB and run setup again; what is finished is kept."),
    ("ensurepip is not", _NO_VENV),
    ("No module named venv", _NO_VENV),
    ("Requires-Python", "This Python does not fit: run setup with CPython 3.11, 3.12 or 3.13."),
    ("Permission denied", "The data directory is not writable: name another with --data-dir DIR."),
)
_NO_INDEX_HINT = (
    "Without a package index: on a connected machine of the same kind run, for each of {requirements}, "
    "`pip download --only-binary :all: -d DIR REQUIREMENT`, carry DIR over, and run: "
    "python -P -m appsecgate setup --wheelhouse DIR"
)


@dataclass(frozen=True, slots=True)
class InstalledScanner:
    """What ``setup`` did about one scanner."""

    scanner: Scanner
    version: str
    home: Path
    fresh: bool
    """False where it was there already."""
    seconds: float


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One line of ``doctor``."""

    scanner: Scanner
    enabled: bool
    version: str
    """Empty where there is none."""
    path: str
    sentinel: SentinelState
    problem: str
    """Empty where all is well."""
    mend: str
    """The one command that mends it, or empty."""


def setup_scanners(
    data_dir: Path,
    *,
    environ: Mapping[str, str],
    report: Callable[[str], None],
    scanners: Sequence[Scanner] = tuple(Scanner),
    wheelhouse: Path | None = None,
    reinstall: bool = False,
    cancel: CancelToken | None = None,
) -> list[InstalledScanner]:
    """Install what is missing; what is there stays as it is. ``report`` gets a line per step.

    One that fails does not keep the others from being installed. Raises SetupError with all that failed.
    """
    if sys.version_info < SCANNER_PYTHON_FLOOR:
        raise SetupError(f"The scanners need Python {'.'.join(map(str, SCANNER_PYTHON_FLOOR))} or later.")
    if wheelhouse is not None and not wheelhouse.is_dir():
        raise SetupError(f"No such folder of wheels: {wheelhouse}", hint="Name it with --wheelhouse DIR.")
    done: list[InstalledScanner] = []
    failures: list[SetupError] = []
    with _one_setup_at_a_time(data_dir):
        for number, scanner in enumerate(scanners, 1):
            label = f"[{number}/{len(scanners)}] {scanner} {PINS[scanner]}"
            if reinstall:
                (scanner_home(scanner, data_dir) / COMPLETE_MARKER).unlink(missing_ok=True)
            try:
                done.append(_install_one(scanner, data_dir, environ, report, label, wheelhouse, cancel))
            except SetupError as error:
                report(f"{label}: failed")
                failures.append(error)
    if failures:
        hints = dict.fromkeys(error.hint for error in failures)
        raise SetupError("\n".join(str(error) for error in failures), hint="\n".join(hints))
    return done


def _install_one(
    scanner: Scanner,
    data_dir: Path,
    environ: Mapping[str, str],
    report: Callable[[str], None],
    label: str,
    wheelhouse: Path | None,
    cancel: CancelToken | None,
) -> InstalledScanner:
    home = scanner_home(scanner, data_dir)
    if is_installed(scanner, home):
        report(f"{label}: already there")
        return InstalledScanner(scanner, PINS[scanner], home, False, 0.0)
    began = time.monotonic()
    report(f"{label}: installing, about {INSTALLED_MB[scanner]} MB …")
    if home.exists():
        shutil.rmtree(home)
    with private_directory() as scratch:
        env = pip_environment(environ, scratch)
        for argv, limit_s in _install_steps(scanner, home, wheelhouse):
            completed = run(argv, cwd=scratch, env=env, limits=Limits(timeout_s=limit_s), cancel=cancel)
            if completed.ending is not Ending.EXITED or completed.exit_code != 0:
                raise _step_failure(scanner, completed)
        if scanner is Scanner.CHECKOV:
            _save_grammars(home, scratch, cancel)
    _finish_install(scanner, home)
    seconds = time.monotonic() - began
    report(f"{label}: installed in {seconds:.0f} s")
    return InstalledScanner(scanner, PINS[scanner], home, True, seconds)


def _save_grammars(home: Path, scratch: Path, cancel: CancelToken | None) -> None:
    """Without them every start of checkov takes longer, and the first look at a Bicep file half a minute: no error."""
    plan = checkov_saver(venv_program(home, "python"), scratch / "saver")
    for name, content in plan.files.items():
        place_bytes(scratch / "saver", name, content)
    for name in ("cwd", "tmp"):
        (scratch / name).mkdir(mode=0o700)
    run(plan.argv, cwd=scratch / "cwd", env=base_environment(scratch / "tmp"), limits=plan.limits, cancel=cancel)


def _install_steps(
    scanner: Scanner, home: Path, wheelhouse: Path | None
) -> list[tuple[tuple[str, ...], float]]:
    """The commands and their time limits in seconds. Wheels alone are taken: no package's code runs."""
    source = () if wheelhouse is None else ("--no-index", "--find-links", str(wheelhouse.resolve()))
    pip = (str(venv_program(home, "python")), "-I", "-m", "pip", "--disable-pip-version-check", "--no-input")
    install = (*pip, "install", "--only-binary", ":all:", *source, f"{scanner}=={PINS[scanner]}")
    return [
        ((sys.executable, "-I", "-m", "venv", str(home)), VENV_TIMEOUT_S),
        (install, PIP_TIMEOUT_S),
    ]


def pip_environment(environ: Mapping[str, str], scratch: Path) -> dict[str, str]:
    """The clean environment plus what tells pip how to reach the index of this machine."""
    passed = {
        name: value
        for name, value in environ.items()
        if name.upper() in PIP_ENVIRONMENT or (name.startswith("PIP_") and name not in _PIP_NOT_PASSED)
    }
    # An environment is the only right place for these packages, whatever the person's pip.conf says.
    return base_environment(scratch, {**passed, "PIP_USER": "0"})


def is_installed(scanner: Scanner, home: Path) -> bool:
    """Whether an environment was finished, for the pinned version, and still has its parts."""
    marker = read_marker(home)
    if marker is None or marker.get("version") != PINS[scanner]:
        return False
    return installed_program(scanner, home) is not None and venv_program(home, "python").exists()


def _finish_install(scanner: Scanner, home: Path) -> None:
    """Check what came in, then write the marker; it appears whole or not at all."""
    version = package_version(scanner, home)
    if version != PINS[scanner] or installed_program(scanner, home) is None:
        raise SetupError(f"{scanner}: pip ended well, yet {home} holds version {version or 'none'}.")
    write_marker(scanner, home)


def write_marker(scanner: Scanner, home: Path) -> None:
    """Declare an environment finished."""
    marker = {
        "scanner": str(scanner),
        "version": PINS[scanner],
        "python": platform.python_version(),
        "completed_at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    draft = home / f"{COMPLETE_MARKER}.draft"
    draft.write_text(json.dumps(marker) + "\n", "utf-8")
    draft.replace(home / COMPLETE_MARKER)


def _step_failure(scanner: Scanner, completed: Completed) -> SetupError:
    said = (completed.stdout + b"\n" + completed.stderr).decode("utf-8", errors="replace")
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    telling = [line for line in lines if line.startswith("ERROR")] or lines[-3:]
    exited = completed.ending is Ending.EXITED
    what = f"ended with {completed.exit_code}" if exited else str(completed.ending)
    message = f"{scanner}: {Path(completed.argv[0]).name} {what}: {' '.join(telling)[:600]}"
    hint = next((hint for sign, hint in _PIP_FAILURES if sign in said), None)
    requirements = ", ".join(f"{name}=={version}" for name, version in PINS.items())
    return SetupError(message, hint=hint or _NO_INDEX_HINT.format(requirements=requirements))


@contextlib.contextmanager
def _one_setup_at_a_time(data_dir: Path) -> Iterator[None]:
    """Hold a lock on the folder of scanners; the system drops it when this process ends, however it ends."""
    folder = data_dir / "scanners"
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(exist_ok=True)
        handle = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        hint = "Name a writable place with --data-dir DIR."
        raise SetupError(f"{folder}: {error.strerror}.", hint=hint) from error
    try:
        _lock_setup_file(handle)
        yield
    except BlockingIOError:
        text = "Another setup is at work in this data directory."
        raise SetupError(text, hint="Wait until it is done.") from None
    finally:
        os.close(handle)


def _lock_setup_file(handle: int) -> None:
    if sys.platform == "win32":
        return  # two installations at once are then the person's to avoid
    import fcntl

    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def diagnose(
    config: Config, data_dir: Path, probe: Callable[[Scanner], SentinelState], *, advisories: str = ""
) -> list[Diagnosis]:
    """How each scanner is. ``probe`` runs its known-bad sample; ``advisories`` says what they lack."""
    return [_diagnose_one(scanner, config, data_dir, probe, advisories) for scanner in Scanner]


def _diagnose_one(
    scanner: Scanner,
    config: Config,
    data_dir: Path,
    probe: Callable[[Scanner], SentinelState],
    advisories: str,
) -> Diagnosis:
    enabled = config.scanners[scanner].enabled
    found = locate(scanner, config, data_dir)
    own = config.scanners[scanner].command is not None
    if found is None:
        mend = "" if own else f"python -P -m appsecgate setup --only {scanner}"
        problem = why_missing(scanner, config, data_dir)
        return Diagnosis(scanner, enabled, "", "", SentinelState.NOT_RUN, problem, mend)
    sentinel = probe(scanner) if enabled else SentinelState.NOT_RUN
    problem, mend = "", ""
    if not enabled:
        problem = "switched off in scanners.enabled"
    elif scanner is Scanner.PIP_AUDIT and advisories:
        problem, mend = advisories, "python -P -m appsecgate advisories import PATH"
    elif sentinel is not SentinelState.ALIVE:
        problem = "it did not report its known-bad sample"
        mend = "" if own else f"python -P -m appsecgate setup --only {scanner} --reinstall"
    elif found.version != PINS[scanner]:
        problem = f"not the version that is tested with this program, {PINS[scanner]}"
    return Diagnosis(scanner, enabled, found.version, found.command[0], sentinel, problem, mend)
