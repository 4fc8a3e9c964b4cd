"""A program that stands in for a scanner, or for the interpreter of one, and misbehaves.

``misbehave(behaviour, real)`` is called from a small script that bears a scanner's name. ``real`` is what the script
stands in for: some behaviours run it and spoil its answer.
"""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any


def answer(real: list[str]) -> tuple[int, bytes]:
    """(exit status, stdout) of the real program for the same request."""
    done = subprocess.run([*real, *sys.argv[1:]], stdout=subprocess.PIPE, check=False)
    return done.returncode, done.stdout


def say(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


def hang(real: list[str]) -> None:
    say(b'{"results": [')
    time.sleep(600)


def flood_stdout(real: list[str]) -> None:
    while True:
        say(b"x" * 65536)


def flood_stderr(real: list[str]) -> None:
    for _ in range(200):
        os.write(2, b"e" * 65536)
    status, out = answer(real)
    say(out)
    sys.exit(status)


def crash_mid_report(real: list[str]) -> None:
    _, out = answer(real)
    say(out[: len(out) // 2])
    os.abort()


def exit_2(real: list[str]) -> None:
    _, out = answer(real)
    say(out)
    sys.exit(2)


def garbage_first(real: list[str]) -> None:
    status, out = answer(real)
    say(b"WARNING: a new version is available\n" + out)
    sys.exit(status)


def nothing(real: list[str]) -> None:
    sys.exit(0)


def empty_object(real: list[str]) -> None:
    say(b"{}")


def empty_list(real: list[str]) -> None:
    say(b"[]")


def slow_drip(real: list[str]) -> None:
    _, out = answer(real)
    for position in range(len(out)):
        say(out[position : position + 1])
        time.sleep(0.5)


def fork_survivor(real: list[str]) -> None:
    """The real answer, and children behind: one in the group, one in a session of its own, one holding stdout."""
    status, out = answer(real)
    sleep = [sys.executable, "-c", "import time; time.sleep(600)  # survivor"]
    subprocess.Popen(sleep, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    subprocess.Popen(sleep, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    subprocess.Popen(sleep, start_new_session=True)
    say(out)
    sys.exit(status)


def too_deep(real: list[str]) -> None:
    say(b"[" * 100_000)


def hang_on_mark(report: dict[str, Any]) -> dict[str, Any]:
    """The report, unless a scanned file holds the word HANG."""
    for path in report["paths"]["scanned"]:
        if "HANG" in Path(path).read_text():
            time.sleep(600)
    return report


def misbehave(behaviour: str, real: list[str]) -> None:
    if sys.argv[1:] == ["-version"] or "-c" in sys.argv[1:]:  # asked for its version
        status, out = answer(real)
        say(out)
        sys.exit(status)
    globals()[behaviour](real)
