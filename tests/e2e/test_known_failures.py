"""What failed for good is not tried again while nothing changed; what may go well the next time is."""

import time
import unittest
from dataclasses import replace

from appsecgate.model import EvidenceReason, EvidenceState, Scanner, TargetEvidence
from appsecgate.scan.result import ScanResult
from appsecgate.scan.run import run_scan, whole_project
from appsecgate.session import Session
from appsecgate.store.scans import ScanRecord
from appsecgate.tools.scan_project import ScanProjectInput, scan_project
from appsecgate.tools.scanned import control_of
from tests.support import ScannerCase, call

RULES = '{"rules": [{"id": "own", "languages": ["python"], "severity": "ERROR", "message": "m", "pattern": "f()"}]}'
BROKEN = "def f(:\n    return eval(x\n"


class KnownFailuresTest(ScannerCase):
    scanners = (Scanner.SEMGREP, Scanner.DETECT_SECRETS)

    def scan(self, session: Session) -> ScanResult:
        return run_scan(session, whole_project(session), control_of(call(session)))

    def row(self, session: Session, path: str = "broken.py") -> TargetEvidence:
        row = self.scan(session).target(Scanner.SEMGREP, path)
        assert row is not None
        return row

    def test_a_file_that_does_not_parse_is_not_scanned_again_until_it_or_the_rules_change(self) -> None:
        self.write("broken.py", BROKEN)
        session = self.session()
        first, second, third = self.row(session), self.row(session), self.row(session)
        self.assertEqual((first.state, first.reason), (EvidenceState.NOT_VERIFIED, EvidenceReason.PARTIAL))
        self.assertFalse(first.repeated)
        for again in (second, third):
            self.assertTrue(again.repeated)
            self.assertEqual((again.state, again.reason, again.sha256), (first.state, first.reason, first.sha256))
            self.assertTrue(again.detail.startswith(f"{first.detail}; cached:"))
        self.assertEqual(second.detail, third.detail)
        self.write("rules.json", RULES)
        self.write(".appsecgate.toml", 'scanners.semgrep.rules = ["builtin", "rules.json"]\n')
        self.assertFalse(self.row(session).repeated)
        self.assertTrue(self.row(session).repeated)
        self.write("broken.py", BROKEN + "# more\n")
        self.assertFalse(self.row(session).repeated)
        self.write("broken.py", "def f(x):\n    return eval(x)\n")
        mended = self.scan(session)
        self.assertEqual([finding.rule_id for finding in mended.findings], ["python-eval"])

    def test_it_never_looks_clean(self) -> None:
        self.write("broken.py", BROKEN)
        session = self.session()
        for _ in range(3):
            scanned = scan_project(call(session), ScanProjectInput())
            self.assertEqual((scanned.verdict, scanned.complete), ("incomplete", False))
            self.assertEqual([(row.reason, row.files) for row in scanned.missing], [("partial", ("broken.py",))])
        self.assertIn("cached", scanned.missing[0].detail)

    def test_a_timeout_or_a_crash_is_tried_again(self) -> None:
        self.write("broken.py", BROKEN)
        session = self.session()
        for reason in (EvidenceReason.SCANNER_TIMEOUT, EvidenceReason.SCANNER_FAILED, EvidenceReason.TIME_BUDGET):
            with self.subTest(reason):
                row = self.row(session)
                now = session.now()
                with session.store.write() as writer:
                    last = writer.scans(session.project_id)[0].record
                    record: ScanRecord = replace(last, scan_id=f"made {reason}", started_at=now, ended_at=now)
                    writer.add_scan(
                        record, findings=[], evidence=[], targets=[replace(row, reason=reason, repeated=False)]
                    )
                self.assertFalse(self.row(session).repeated)

    def test_findings_of_a_file_with_too_many_stay_and_are_counted(self) -> None:
        self.write("generated.py", "def f(x):\n" + "    eval(x)\n" * 1_200)
        self.write("app.py", "def g(x):\n    return eval(x)\n")
        session = self.session()
        for repeated in (False, True, True):
            result = self.scan(session)
            row = result.target(Scanner.SEMGREP, "generated.py")
            assert row is not None
            self.assertEqual((row.repeated, row.reason), (repeated, EvidenceReason.PARTIAL))
            self.assertIn("1,000 of 1,200 hits", row.detail)
            told = [row for row in result.evidence if row.scanner is Scanner.SEMGREP and row.reason == row.reason.PARTIAL]
            self.assertEqual([row.findings for row in told], [1_000 if repeated else 1_200])
            self.assertEqual(len(result.findings), 1_001)
            self.assertFalse(result.complete)
        with session.store.read() as reader:
            self.assertEqual(len(reader.findings(session.project_id)), 1_001)

    def test_hundreds_of_broken_files_cost_nothing_the_second_time(self) -> None:
        for number in range(300):
            self.write(f"broken/{number}.py", BROKEN + f"# {number}\n")
        session = self.session()
        times = []
        for _ in range(2):
            began = time.monotonic()
            self.scan(session)
            times.append(time.monotonic() - began)
        self.assertLess(times[1], times[0])


if __name__ == "__main__":
    unittest.main()
