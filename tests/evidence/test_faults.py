"""Scanners that hang, flood, crash and lie: evidence with the right reason, nothing lost, nothing left running."""

import contextlib
import resource
import sys
import threading
import time
from pathlib import Path
from typing import Any, ClassVar

from appsecgate.model import EvidenceReason, EvidenceState, Finding, Scanner, ScanVerdict, SentinelState
from appsecgate.scan.result import ScanResult
from appsecgate.session import Session
from appsecgate.store.advisory_import import import_advisories
from appsecgate.tools.scan_project import ScanProjectInput, scan_project
from tests.evidence.surroundings import ADVISORIES_ARE_FRESH, scan
from tests.scanners.installed import find_installed
from tests.support import AWS_KEY, OSV_EXAMPLES, ROOT, ScannerCase, call, options

FAKES = ROOT / "tests" / "fakes"
WEAK = {
    Scanner.SEMGREP: ("app.py", "def f(q):\n    return eval(q)\n"),
    Scanner.DETECT_SECRETS: ("keys.txt", f"{AWS_KEY}\n"),
    Scanner.PIP_AUDIT: ("requirements.txt", "requests==2.19.0\n"),
    Scanner.CHECKOV: ("Dockerfile", "FROM ubuntu:22.04\nUSER root\n"),
}
"""One file per scanner, with a weakness that it reports."""
FAILED, TIMEOUT, TOO_LARGE = EvidenceReason.SCANNER_FAILED, EvidenceReason.SCANNER_TIMEOUT, EvidenceReason.OUTPUT_TOO_LARGE
BEHAVIOURS: dict[str, EvidenceReason] = {
    "hang": TIMEOUT,
    "slow_drip": TIMEOUT,
    "flood_stdout": TOO_LARGE,
    "crash_mid_report": FAILED,
    "exit_2": FAILED,
    "garbage_first": FAILED,
    "nothing": FAILED,
    "empty_object": FAILED,
    "empty_list": FAILED,
    "too_deep": FAILED,
}


def survivors() -> list[str]:
    """Command lines of live processes that a scan of ours started."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdecimal() and b"APPSECGATE_RUN=" in (entry / "environ").read_bytes():
                found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode())
    return [line for line in found if "survivor" in line or "misbehaving" in line]


class FaultCase(ScannerCase):
    def setUp(self) -> None:
        super().setUp()
        for path, content in WEAK.values():
            self.write(path, content)
        import_advisories(OSV_EXAMPLES, self.data, ADVISORIES_ARE_FRESH)

    def faulty(self, behaviour: str, *scanners: Scanner, **settings: Any) -> dict[str, Any]:
        """The human's settings that put misbehaving programs in the scanners' places."""
        return {**{f"scanners.{scanner}.command": self._fake(scanner, behaviour) for scanner in scanners}, **settings}

    def _fake(self, scanner: Scanner, behaviour: str) -> str:
        tool = find_installed(scanner)
        assert tool is not None
        folder = self.tmp / "fakes" / f"{scanner}-{behaviour}"
        folder.mkdir(parents=True, exist_ok=True)
        core = scanner is Scanner.SEMGREP
        real = tool.command[0] if core else str(tool.python)
        fake = folder / ("semgrep-core-fake" if core else "python3-fake")
        fake.write_text(
            f"#!{sys.executable} -I\nimport sys\nsys.path.insert(0, {str(FAKES)!r})\n"
            f"from misbehaving import misbehave\nmisbehave({behaviour!r}, [{real!r}])\n"
        )
        fake.chmod(0o755)
        if core:
            return str(fake)
        script = folder / str(scanner)
        script.write_text(f"#!{fake}\n")
        script.chmod(0o755)
        return str(script)

    @contextlib.contextmanager
    def fixed(self, settings: dict[str, Any] | None = None) -> Any:
        session = Session(options(self.project, self.data, settings), clock=lambda: ADVISORIES_ARE_FRESH)
        with contextlib.closing(session):
            yield session

    def assert_found(self, result: ScanResult, *scanners: Scanner) -> None:
        found = {(f.scanner, f.file_path) for f in result.findings}
        for scanner in scanners:
            self.assertIn((scanner, WEAK[scanner][0]), found)


class EveryScannerMisbehaves(FaultCase):
    def test_no_fault_looks_clean_loses_a_finding_or_leaves_a_process(self) -> None:
        with self.fixed() as session:
            before = scan(session)
            self.assert_found(before, *Scanner)
            self.assertTrue(before.complete)
        for path, content in WEAK.values():
            self.write(path, content + "\n")  # nothing may be answered from the cache
        for behaviour, reason in BEHAVIOURS.items():
            timeouts = {f"scanners.{scanner}.timeout_s": 1 if reason is TIMEOUT else 30 for scanner in Scanner}
            with self.subTest(behaviour), self.fixed(self.faulty(behaviour, *Scanner, **timeouts)) as session:
                began = time.monotonic()
                result = scan(session)
                self.assertLess(time.monotonic() - began, 40)
                self._assert_nothing_is_proved(result, reason)
                self._assert_nothing_is_lost(session, before, result)
                self.assertEqual(survivors(), [])
        peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        self.assertLess(peak_mb, 600, "four floods at once, each cut at 64 MB")

    def _assert_nothing_is_proved(self, result: ScanResult, reason: EvidenceReason) -> None:
        self.assertFalse(result.complete)
        for scanner, (path, _) in WEAK.items():
            target = result.target(scanner, path)
            assert target is not None
            self.assertEqual((target.state, target.reason), (EvidenceState.NOT_VERIFIED, reason), target)

    def _assert_nothing_is_lost(self, session: Session, before: ScanResult, result: ScanResult) -> None:
        ids = sorted(finding.logical_id for finding in before.findings)
        self.assertEqual(sorted(finding.logical_id for finding in result.findings), ids)
        self.assertEqual((result.verdict, result.gone), (ScanVerdict.FINDINGS, ()))
        with session.store.read() as reader:
            present = reader.findings(session.project_id, include_suppressed=True)
        self.assertTrue({item.finding.logical_id for item in present} <= set(ids))
        self.assertTrue(present)

    def test_what_is_only_noise_is_told_apart_from_a_fault(self) -> None:
        """A flood on stderr, or children left behind, do not make a good report a bad one."""
        for behaviour in ("flood_stderr", "fork_survivor"):
            for path, content in WEAK.values():
                self.write(path, f"{content}{chr(10) * len(behaviour)}")  # nothing may be answered from the cache
            with self.subTest(behaviour), self.fixed(self.faulty(behaviour, *Scanner)) as session:
                began = time.monotonic()
                result = scan(session)
                self.assertLess(time.monotonic() - began, 60)
                self.assert_found(result, *Scanner)
                self.assertTrue(result.complete, [t for t in result.targets if t.state is EvidenceState.NOT_VERIFIED])
                self.assertEqual(survivors(), [])


class OneScannerMisbehaves(FaultCase):
    cores: ClassVar[dict[str, tuple[EvidenceReason, SentinelState]]] = {
        "empty-report": (EvidenceReason.NOT_REPORTED, SentinelState.MISSED),
        "blind": (EvidenceReason.SENTINEL_MISSED, SentinelState.MISSED),
        "forgetful": (EvidenceReason.NOT_REPORTED, SentinelState.ALIVE),
        "million": (EvidenceReason.OUTPUT_TOO_LARGE, SentinelState.NOT_RUN),
        "wrong-types": (EvidenceReason.SCANNER_FAILED, SentinelState.NOT_RUN),
    }

    def core(self, behaviour: str) -> dict[str, Any]:
        """A stand-in for semgrep's engine that speaks its format."""
        folder = self.tmp / "cores" / behaviour
        folder.mkdir(parents=True)
        fake = folder / "semgrep-core-fake"
        fake.write_text(
            f"#!{sys.executable} -I\nimport sys\nif '-version' in sys.argv:\n    print('1.185.0')\n    sys.exit()\n"
            f"sys.path.insert(0, {str(FAKES)!r})\nfrom scanner_core import BEHAVIOURS, honest, say\n"
            f"from misbehaving import hang_on_mark\nBEHAVIOURS['hang-on-mark'] = lambda: say(hang_on_mark(honest()))\n"
            f"BEHAVIOURS[{behaviour!r}]()\n"
        )
        fake.chmod(0o755)
        return {"scanners.semgrep.command": str(fake)}

    def test_the_other_scanners_are_unaffected(self) -> None:
        for behaviour, (reason, _) in self.cores.items():
            with self.subTest(behaviour), self.fixed(self.core(behaviour)) as session:
                result = scan(session)
                target = result.target(Scanner.SEMGREP, "app.py")
                assert target is not None
                self.assertEqual((target.state, target.reason), (EvidenceState.NOT_VERIFIED, reason))
                self.assertFalse(result.complete)
                for other in set(Scanner) - {Scanner.SEMGREP}:
                    told = result.target(other, WEAK[other][0])
                    assert told is not None
                    self.assertEqual(told.state, EvidenceState.APPLIED, told)
                self.assert_found(result, *(set(Scanner) - {Scanner.SEMGREP}))

    def test_reports_about_other_files_are_dropped_and_counted(self) -> None:
        with self.fixed(self.core("other-file")) as session:
            shown = scan_project(call(session), ScanProjectInput())
        self.assertNotIn("passwd", str([view.file_path for view in shown.top_findings]))
        row = next(r for r in shown.evidence if r.scanner is Scanner.SEMGREP and r.state is EvidenceState.APPLIED)
        self.assertIn("were dropped", row.detail)

    def test_a_file_that_changes_during_the_run_proves_nothing(self) -> None:
        settings = self.faulty("hang", Scanner.SEMGREP, **{"scanners.semgrep.timeout_s": 2})
        with self.fixed(settings) as session:
            timer = threading.Timer(1.0, lambda: self.write("keys.txt", "nothing\n"))
            timer.start()
            result = scan(session)
            timer.join()
        target = result.target(Scanner.DETECT_SECRETS, "keys.txt")
        assert target is not None
        self.assertEqual((target.state, target.reason), (EvidenceState.NOT_VERIFIED, EvidenceReason.FILE_CHANGED))

    def test_a_hanging_scanner_costs_the_others_nothing_of_a_calls_time(self) -> None:
        with self.fixed(self.faulty("hang", Scanner.SEMGREP)) as session:
            began = time.monotonic()
            result = scan(session, seconds=12)
            self.assertLess(time.monotonic() - began, 12)
        target = result.target(Scanner.SEMGREP, "app.py")
        assert target is not None
        self.assertEqual(target.reason, EvidenceReason.TIME_BUDGET)
        self.assert_found(result, Scanner.DETECT_SECRETS, Scanner.PIP_AUDIT, Scanner.CHECKOV)

    def test_findings_whose_evidence_turns_partial_stay(self) -> None:
        with self.fixed() as session:
            first = scan(session)
            self.assertTrue(first.complete)
            self.write("app.py", "x = foo(1\n")
            self.write("Dockerfile", "FROM ubuntu:22.04\nFOO bar\n")
            second = scan(session)
        kept = {finding.logical_id for finding in second.findings}
        self.assertTrue(all(f.logical_id in kept for f in _of(first, "app.py")), "nobody saw the whole of it")
        self.assertFalse(second.complete)

    def test_one_file_that_keeps_the_scanner_busy_does_not_keep_the_others_from_being_seen(self) -> None:
        for number in range(16):
            self.write(f"src/{number:02}.py", "HANG\n" if number == 5 else f"x = {number}\n")
        settings = self.core("hang-on-mark") | {"scanners.semgrep.timeout_s": 1, "scanners.enabled": ["semgrep"]}
        with self.fixed(settings) as session:
            for _ in range(6):
                result = scan(session)
                unseen = [
                    row.path
                    for row in result.targets
                    if row.scanner is Scanner.SEMGREP and row.state is EvidenceState.NOT_VERIFIED
                ]
                if unseen == ["src/05.py"]:
                    return
        self.fail(f"still not seen: {unseen}")

    def test_two_scans_at_once_do_not_disturb_each_other(self) -> None:
        results: list[ScanResult] = []
        with self.fixed() as session:
            threads = [threading.Thread(target=lambda: results.append(scan(session))) for _ in range(2)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual([len(result.findings) for result in results], [len(results[0].findings)] * 2)
        self.assertTrue(all(result.complete for result in results))


def _of(result: ScanResult, path: str) -> list[Finding]:
    return [finding for finding in result.findings if finding.file_path == path]


