"""Run every unittest below tests/ in this interpreter and print a compact account, one line of counts last.

Called by scripts/test.py; ``python3 -W error scripts/run_tests.py [PATTERN]`` works by hand too.
"""

# ruff: noqa: N802 (unittest names these methods)

import argparse
import faulthandler
import sys
import time
import unittest
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

ROOT = Path(__file__).resolve().parent.parent
GIVE_UP_S = 3000
"""A run that takes longer hangs: every thread's stack is printed and the run ends."""
SLOW_S = 3.0
Failure = tuple[type[BaseException], BaseException, TracebackType] | tuple[None, None, None]


class CountingResult(unittest.TestResult):
    """Counts tests, not subtests; says one line per module and one per failing test as they come."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self.out = stream
        self.passed: set[str] = set()
        self.failed: set[str] = set()
        self.skips: dict[str, str] = {}
        self.times: dict[str, float] = {}
        self._module = ""
        self._module_began = self._began = time.monotonic()
        self._module_tests = 0

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        module = type(test).__module__
        if module != self._module:
            self.end_module()
            self._module, self._module_tests, self._module_began = module, 0, time.monotonic()
        self._module_tests += 1
        self._began = time.monotonic()

    def stopTest(self, test: unittest.TestCase) -> None:
        super().stopTest(test)
        self.times[test.id()] = time.monotonic() - self._began

    def end_module(self) -> None:
        """Say how the module that is over went."""
        if self._module:
            seconds = time.monotonic() - self._module_began
            line = f"  {self._module:<44}{self._module_tests:>5} tests{seconds:>8.1f} s"
            print(line, file=self.out, flush=True)

    def addSuccess(self, test: unittest.TestCase) -> None:
        self.passed.add(test.id())

    def addError(self, test: unittest.TestCase, err: Any) -> None:
        super().addError(test, err)
        self._add_failure(test, err)

    def addFailure(self, test: unittest.TestCase, err: Any) -> None:
        super().addFailure(test, err)
        self._add_failure(test, err)

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: Failure | None) -> None:
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._add_failure(test, err, str(subtest))

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        super().addSkip(test, reason)
        self.skips[test.id()] = reason

    def addExpectedFailure(self, test: unittest.TestCase, err: Any) -> None:
        super().addExpectedFailure(test, err)
        self.passed.add(test.id())

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:
        super().addUnexpectedSuccess(test)
        self.failed.add(test.id())

    def _add_failure(self, test: unittest.TestCase, err: Any, title: str = "") -> None:
        self.failed.add(test.id())
        details = self._exc_info_to_string(err, test)  # type: ignore[attr-defined]
        print(f"FAILED {title or test.id()}\n{_shortened(details)}", file=self.out, flush=True)


def _shortened(text: str, keep: int = 40) -> str:
    lines = text.rstrip().splitlines()
    if len(lines) > keep:
        lines[keep // 4 : -3 * keep // 4] = [f"    … {len(lines) - keep} lines …"]
    return "\n".join(f"    {line[:400]}" for line in lines)


def summary(result: CountingResult) -> str:
    """``N passed, N failed, N skipped``: a test that failed or was skipped in part counts as that."""
    skipped = set(result.skips) - result.failed
    passed = result.passed - result.failed - skipped
    return f"{len(passed)} passed, {len(result.failed)} failed, {len(skipped)} skipped"


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status 0 when every test passed or was skipped, and at least one ran."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pattern", nargs="?", default="test*.py", help="of file names (default: test*.py)")
    options = parser.parse_args(arguments)
    sys.path[0] = str(ROOT)  # in place of scripts/, where test.py would hide a standard package
    faulthandler.dump_traceback_later(GIVE_UP_S, exit=True)
    suite = unittest.TestLoader().discover(str(ROOT / "tests"), options.pattern, str(ROOT))
    result = CountingResult(sys.stdout)
    suite.run(result)
    result.end_module()
    faulthandler.cancel_dump_traceback_later()
    for reason in sorted(set(result.skips.values())):
        print(f"  skipped: {reason}")
    slow = sorted(((took, name) for name, took in result.times.items() if took > SLOW_S), reverse=True)
    for took, name in slow[:10]:
        print(f"  slow: {took:.1f} s {name}")
    print(summary(result), flush=True)
    return 1 if result.failed or not result.passed else 0


if __name__ == "__main__":
    raise SystemExit(main())
