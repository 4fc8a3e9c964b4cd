"""The whole gate: generated files, ruff, mypy --strict, every test. The last line counts the tests.

``python3 scripts/test.py`` installs what it needs: the tools into .venv, the scanners into the data directory
(or those below APPSECGATE_TEST_SCANNERS). ``--quick`` runs the tests that need Python alone.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from scripts.clients import client_variables  # noqa: E402

VENV = ROOT / ".venv"
COUNTS = re.compile(r"\d+ passed, \d+ failed, \d+ skipped")
BEFORE_CLIENTS = 3
"""So many steps need no other program's client of the protocol: they run while those are installed."""
LINES_SHOWN = 60
"""Of the output of a step that failed."""


@dataclass(frozen=True, slots=True)
class Step:
    """A command of the gate. ``live``: its output is passed on as it comes, not only when it fails."""

    name: str
    argv: tuple[str, ...]
    live: bool = False


def venv_python() -> Path:
    return VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def developer_tools() -> list[str]:
    """The requirements of the ``dev`` extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return list(project["optional-dependencies"]["dev"])


def prepare_tools() -> None:
    """Make .venv with the developers' tools, unless it is there and current."""
    wanted = developer_tools()
    stamp = hashlib.sha256(json.dumps([wanted, sys.version]).encode()).hexdigest()
    marker = VENV / ".tools"
    if marker.is_file() and marker.read_text() == stamp and venv_python().exists():
        return
    shutil.rmtree(VENV, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True)
    pip = [str(venv_python()), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
    subprocess.run([*pip, *wanted], check=True)
    marker.write_text(stamp)


def full_steps(python: str) -> list[Step]:
    """The gate, in order: the cheap steps first."""
    return [
        Step("build", (python, "scripts/build.py", "--check")),
        Step("ruff", (python, "-m", "ruff", "check", ".")),
        Step("mypy", (python, "-m", "mypy")),
        Step("protocol", (python, "-m", "tests.mcp.conformance")),
        Step("tests", (python, "-W", "error", "scripts/run_tests.py"), live=True),
    ]


def run_step(step: Step, environ: Mapping[str, str]) -> tuple[bool, str]:
    """Whether it went well, and the last line that it printed."""
    began = time.monotonic()
    lines: list[str] = []
    with subprocess.Popen(
        step.argv, cwd=ROOT, env=dict(environ), text=True, errors="replace",
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    ) as child:  # fmt: skip
        assert child.stdout is not None
        for line in child.stdout:
            lines.append(line.rstrip("\n"))
            if step.live and not COUNTS.fullmatch(lines[-1]):
                print(lines[-1], flush=True)
    good = child.returncode == 0
    if not good and not step.live:
        print("\n".join(f"  {line}" for line in lines[-LINES_SHOWN:]))
    word = "ok" if good else f"failed, exit status {child.returncode}"
    print(f"{step.name:<10}{time.monotonic() - began:>7.1f} s  {word}", flush=True)
    return good, lines[-1] if lines else ""


def run_beside(beside: Step, steps: Sequence[Step], environ: Mapping[str, str]) -> bool:
    """Run a step that mostly waits for the network beside the others; whether all went well."""
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(run_step, beside, environ)
        good = [run_step(step, environ)[0] for step in steps]
        return all(good) and waiting.result()[0]


def run_steps(steps: Sequence[Step], environ: Mapping[str, str], *, all_good: bool = True) -> int:
    """Run all of them, whatever fails, and end with the line of counts. ``all_good``: so far."""
    counts = "0 passed, 0 failed, 0 skipped"
    for step in steps:
        good, last = run_step(step, environ)
        all_good = all_good and good
        if COUNTS.fullmatch(last):
            counts = last
    print(counts, flush=True)
    return 0 if all_good else 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status 0 when every step went well, else 1."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="only the tests, without scanners and tools")
    options = parser.parse_args(arguments)
    environ = {name: value for name, value in os.environ.items() if not name.startswith("APPSECGATE_")}
    environ |= {name: value for name, value in os.environ.items() if name.startswith("APPSECGATE_TEST_")}
    if options.quick:
        tests = Step("tests", (sys.executable, "-W", "error", "scripts/run_tests.py"), live=True)
        return run_steps([tests], environ)
    began = time.monotonic()
    try:
        prepare_tools()
    except subprocess.CalledProcessError as error:
        print(f"tools: {' '.join(error.cmd[:6])} … ended with {error.returncode}", file=sys.stderr)
        print("0 passed, 1 failed, 0 skipped")
        return 1
    print(f"{'tools':<10}{time.monotonic() - began:>7.1f} s  ok", flush=True)
    python = str(venv_python())
    environ = client_variables() | environ | {"APPSECGATE_TEST_FULL": "1"}
    steps = full_steps(python)
    early = []
    if "APPSECGATE_TEST_SCANNERS" not in environ:
        early.append(Step("scanners", (sys.executable, "-m", "appsecgate", "setup"), live=True))
    good = run_beside(Step("clients", (python, "scripts/clients.py")), [*early, *steps[:BEFORE_CLIENTS]], environ)
    return run_steps(steps[BEFORE_CLIENTS:], environ, all_good=good)


if __name__ == "__main__":
    raise SystemExit(main())
