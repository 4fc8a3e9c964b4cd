"""A semgrep-core that misbehaves; how is said by the name under which it is started (``core-hang``, …).

It answers in the core's own format. The honest part: every rule is reported about the samples, and ``python-eval``
about each line of a target that holds ``eval(``.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def option(name: str) -> str:
    return sys.argv[sys.argv.index(name) + 1]


def result(rule: str, path: str, line: int) -> dict[str, Any]:
    return {
        "check_id": rule,
        "path": path,
        "start": {"line": line, "col": 1, "offset": 0},
        "end": {"line": line, "col": 5, "offset": 4},
        "extra": {"message": "fake", "severity": "ERROR", "metadata": {}, "is_ignored": False, "metavars": {}},
    }


def honest(samples: bool = True) -> dict[str, Any]:
    rules = [rule["id"] for rule in json.loads(Path(option("-rules")).read_text())["rules"]]
    targets = json.loads(Path(option("-targets")).read_text())[1]
    paths = [target[1]["path"]["fpath"] for target in targets]
    results = []
    for path in paths:
        if "/samples/" in path:
            results += [result(rule, path, 1) for rule in rules if samples]
            continue
        for number, line in enumerate(Path(path).read_text().split("\n"), 1):
            if "eval(" in line:
                results.append(result("python-eval", path, number))
    return {
        "version": "0",
        "results": results,
        "errors": [],
        "paths": {"scanned": paths},
        "time": {"fixpoint_timeouts": []},
        "skipped_rules": [],
    }


def say(report: object) -> None:
    sys.stdout.write(json.dumps(report))
    sys.stdout.flush()


def hang() -> None:
    sys.stdout.write('{"results": [')
    sys.stdout.flush()
    time.sleep(600)


def flood_stdout() -> None:
    while True:
        os.write(1, b"x" * 65536)


def flood_stderr() -> None:
    for _ in range(200):
        os.write(2, b"e" * 65536)
    say(honest())


def crash_mid_report() -> None:
    text = json.dumps(honest())
    sys.stdout.write(text[: len(text) // 2])
    sys.stdout.flush()
    os.kill(os.getpid(), signal.SIGSEGV)


def exit_2() -> None:
    say(honest())
    sys.exit(2)


def garbage_first() -> None:
    print("WARNING: a new version is available")
    say(honest())


def other_file() -> None:
    report = honest()
    report["results"].append(result("python-eval", "/etc/passwd", 1))
    report["results"].append(result("a-rule-of-nobody", report["paths"]["scanned"][0], 1))
    say(report)


def empty_report() -> None:
    say({"version": "0", "results": [], "errors": [], "paths": {"scanned": []}})


def blind() -> None:
    say(honest(samples=False))


def forgetful() -> None:
    report = honest()
    scanned = report["paths"]["scanned"]
    report["paths"]["scanned"] = [path for path in scanned if path != scanned[0]]
    say(report)


def million() -> None:
    report = honest()
    path = report["paths"]["scanned"][0]
    text = json.dumps(report).replace('"results": [', '"results": [@', 1)
    head, tail = text.split("@")
    sys.stdout.write(head)
    one = json.dumps(result("python-eval", path, 1)) + ", "
    for _ in range(1_000_000):
        sys.stdout.write(one)
    sys.stdout.write(tail)


def fork_survivor() -> None:
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    say(honest())


def crash_on_mark() -> None:
    report = honest()
    targets = json.loads(Path(option("-targets")).read_text())[1]
    for target in targets:
        if "CRASH" in Path(target[1]["path"]["fpath"]).read_text():
            os.kill(os.getpid(), signal.SIGSEGV)
    say(report)


def wrong_types() -> None:
    say({"results": [1, None, {"path": 5, "start": []}, []], "errors": [3, {"location": 1}], "paths": 7})


def too_deep() -> None:
    sys.stdout.write("[" * 100_000)


BEHAVIOURS: dict[str, Callable[[], None]] = {
    "hang": hang,
    "flood-stdout": flood_stdout,
    "flood-stderr": flood_stderr,
    "crash-mid-report": crash_mid_report,
    "exit-2": exit_2,
    "garbage-first": garbage_first,
    "other-file": other_file,
    "empty-report": empty_report,
    "blind": blind,
    "forgetful": forgetful,
    "million": million,
    "fork-survivor": fork_survivor,
    "crash-on-mark": crash_on_mark,
    "wrong-types": wrong_types,
    "too-deep": too_deep,
}

if __name__ == "__main__":
    behaviour = Path(sys.argv[0]).name.removeprefix("core-")
    if behaviour == "honest":
        say(honest())
    else:
        BEHAVIOURS[behaviour]()
