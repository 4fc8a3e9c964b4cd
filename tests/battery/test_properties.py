"""Verdicts under random edits, without scanners: a toy adapter that reports ``sink(…)`` goes through the whole pipeline.

Needs hypothesis; without it the module says so and is skipped.
"""

import contextlib
import json
import re
import sys
import tempfile
import unittest
from collections.abc import Iterator, Sequence
from pathlib import Path

from appsecgate.model import FixStatus
from appsecgate.scan.run import run_scan, whole_project
from appsecgate.session import Session
from appsecgate.verify import VerifyResult, check_claim, verify_claims
from tests.battery.bench import control
from tests.support import options

try:
    from hypothesis import HealthCheck, given, settings
    from hypothesis import strategies as st
except ImportError:
    print("tests.battery.test_properties: hypothesis is not installed, property tests do not run", file=sys.stderr)
    raise unittest.SkipTest("hypothesis is not installed") from None

PROPERTY = settings(
    max_examples=15, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
CORE = '''#!{python} -S
"""Reports every sink(…) of a target, and every rule about the samples, in the core's own format."""
import json, re, sys

if "-version" in sys.argv:
    print("1.0.0")
    raise SystemExit
given = dict(zip(sys.argv, sys.argv[1:]))
rules = [rule["id"] for rule in json.load(open(given["-rules"]))["rules"]]
paths = [target[1]["path"]["fpath"] for target in json.load(open(given["-targets"]))[1]]


def hit(rule, path, text, start, end):
    def place(at):
        return {{"line": text.count("\\n", 0, at) + 1, "col": at - text.rfind("\\n", 0, at), "offset": at}}

    extra = {{"message": "sink", "severity": "ERROR", "metadata": {{}}, "is_ignored": False, "metavars": {{}}}}
    return {{"check_id": rule, "path": path, "start": place(start), "end": place(end), "extra": extra}}


results = []
for path in paths:
    text = open(path).read()
    if "/samples/" in path:
        results += [hit(rule, path, text, 0, 1) for rule in rules]
        continue
    results += [hit("python-eval", path, text, m.start(), m.end()) for m in re.finditer(r"\\bsink\\([^()]*\\)", text)]
print(json.dumps({{"version": "1.0.0", "results": results, "errors": [], "paths": {{"scanned": paths}}, "time": {{"fixpoint_timeouts": []}}}}))
'''
FILLERS = ("x = 1", "y = x", "# note", "z(y)")
PLACES = st.integers(0, 10**6)


@st.composite
def programs(draw: st.DrawFn) -> list[str]:
    """Functions with fillers and sinks, each sink of its own; at least one sink."""
    lines: list[str] = []
    for number in range(draw(st.integers(1, 3))):
        lines.append(f"def f{number}(a):")
        for part in range(draw(st.integers(1, 4))):
            kept = f"sink(a, 1{number}{part})" if part == 0 or draw(st.booleans()) else draw(st.sampled_from(FILLERS))
            lines.append("    " + kept)
        lines += ["", ""]
    return lines


@st.composite
def edited(draw: st.DrawFn, lines: list[str]) -> list[str]:
    """New lines between, fillers dropped: nothing that is flagged changes, and the text still parses."""
    result = list(lines)
    for _ in range(draw(st.integers(0, 6))):
        at = draw(PLACES) % (len(result) + 1)
        inside = at < len(result) and result[at].startswith("    ")
        filler = 0 < at < len(result) and result[at].strip() in FILLERS
        if filler and draw(st.booleans()) and not result[at - 1].startswith("def"):
            del result[at]
        else:
            result.insert(at, f"{'    ' if inside else ''}# {draw(PLACES)} {len(result)}")
    return result


def functions_of(lines: Sequence[str]) -> list[str]:
    return [part for part in re.split(r"(?m)^(?=def )", "\n".join(lines)) if part]


def reformatted(text: str) -> str:
    return re.sub(r"sink\(a, (\d+)\)", r"sink(\n        a,\n        \1,\n    )", text)


class Toy:
    """A project in a temporary directory, scanned by the toy alone."""

    def __init__(self, root: Path) -> None:
        core = root / "semgrep-core"
        core.write_text(CORE.format(python=sys.executable))
        core.chmod(0o755)
        self.project = root / "project"
        self.project.mkdir()
        enabled = {"scanners.enabled": ["semgrep"], "scanners.semgrep.command": [str(core)]}
        self.session = Session(options(self.project, root / "data", enabled))

    def scan(self) -> dict[str, str]:
        """Scan; flagged code without its format → logical id."""
        run_scan(self.session, whole_project(self.session), control())
        with self.session.store.read() as reader:
            present = reader.findings(self.session.project_id)
        return {re.sub(r"[\s]|,(?=\s*\))", "", item.finding.code): item.finding.logical_id for item in present}

    def claims(self, ids: Sequence[str]) -> list[VerifyResult]:
        with self.session.store.read() as reader:
            stored = [reader.finding(self.session.project_id, one) for one in ids]
        claims = [check_claim(item, FixStatus.FIXED, "") for item in stored if item is not None]
        return verify_claims(self.session, claims, control())[0] if claims else []


@contextlib.contextmanager
def toy() -> Iterator[Toy]:
    with tempfile.TemporaryDirectory(prefix="appsecgate-toy-") as holder:
        one = Toy(Path(holder).resolve())
        with contextlib.closing(one.session):
            yield one


class Verdicts(unittest.TestCase):
    @PROPERTY
    @given(st.data(), st.sampled_from(("app.py", "app.js")))
    def test_edits_that_leave_the_flagged_code_never_give_fixed(self, data: st.DataObject, name: str) -> None:
        with toy() as run:
            lines = data.draw(programs())
            (run.project / name).write_text("\n".join(lines))
            known = run.scan()
            text = "\n".join(data.draw(edited(lines)))
            if data.draw(st.booleans()):
                text = reformatted(text)
            data_end = data.draw(st.sampled_from(("\n", "\r\n")))
            (run.project / name).write_bytes(text.replace("\n", data_end).encode())
            if data.draw(st.booleans()):
                (run.project / name).rename(run.project / f"other{name}")
            for result in run.claims(sorted(known.values())):
                self.assertIs(result.verified_status, FixStatus.NOT_FIXED, result.reason)
            self.assertEqual(run.scan(), known, "every id is kept")

    @PROPERTY
    @given(st.data(), st.sampled_from(("app.py", "app.js")))
    def test_honest_removals_always_give_fixed_and_no_other_does(self, data: st.DataObject, name: str) -> None:
        with toy() as run:
            lines = data.draw(programs())
            (run.project / name).write_text("\n".join(lines))
            known = run.scan()
            flagged = [n for n, line in enumerate(lines) if "sink" in line]
            gone = data.draw(st.sets(st.sampled_from(flagged), min_size=1))
            removed = {re.sub(r"\s", "", lines[n]) for n in gone}
            for n in gone:
                lines[n] = data.draw(st.sampled_from(("    safe(a)", "    pass", f"    return {n}")))
            (run.project / name).write_text("\n".join(data.draw(edited(lines))))
            results = {result.logical_id: result for result in run.claims(sorted(known.values()))}
            for code, logical_id in known.items():
                expected = FixStatus.FIXED if code in removed else FixStatus.NOT_FIXED
                self.assertIs(results[logical_id].verified_status, expected, f"{code}: {results[logical_id].reason}")

    @PROPERTY
    @given(st.data())
    def test_identity_survives_moves_within_the_file(self, data: st.DataObject) -> None:
        with toy() as run:
            lines = data.draw(programs())
            (run.project / "app.py").write_text("\n".join(lines))
            known = run.scan()
            moved = data.draw(st.permutations(functions_of(lines)))
            (run.project / "app.py").write_text("".join(moved))
            for result in run.claims(sorted(known.values())):
                self.assertIs(result.verified_status, FixStatus.NOT_FIXED, result.reason)
            self.assertEqual(run.scan(), known)

    def test_the_toy_speaks_the_cores_format(self) -> None:
        with toy() as run:
            (run.project / "app.py").write_text("sink(a, 1)\n")
            self.assertEqual(list(run.scan()), ["sink(a,1)"])
            self.assertEqual(json.loads('"x"'), "x")
