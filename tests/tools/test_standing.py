"""get_scan_history without arguments: what is claimed and not confirmed, and what nobody has looked at."""

import hashlib
import unittest
from typing import Any

from appsecgate.model import EvidenceState, Finding, FixStatus, Scanner, ScanVerdict
from appsecgate.session import Session
from appsecgate.store.scans import ScanRecord
from appsecgate.tools.get_scan_history import GetScanHistoryInput, ScanHistory, get_scan_history
from appsecgate.tools.standing import Standing
from tests.store.ledger import applied, evidence_row, make_attempt, make_finding
from tests.support import TempCase, call, options

NOW = "2026-03-01T12:00:00.000Z"
BOTH = (Scanner.SEMGREP, Scanner.DETECT_SECRETS)


class StandingCase(TempCase):
    def setUp(self) -> None:
        super().setUp()
        self.session = Session(options(self.project, self.data))
        self.addCleanup(self.session.close)
        self.scans = 0

    def look_at(self, path: str, *scanners: Scanner, findings: tuple[Finding, ...] = (), **more: Any) -> None:
        """Store a scan that saw the file's present bytes."""
        self.scans += 1
        sha256 = hashlib.sha256((self.project / path).read_bytes()).hexdigest()
        record = ScanRecord(
            f"scan-{self.scans}", self.session.project_id, "s", "file", NOW, NOW, ScanVerdict.CLEAN, "config"
        )
        with self.session.store.write() as writer:
            writer.add_scan(
                record,
                findings=findings,
                evidence=[evidence_row(1, len(findings), NOW)],
                targets=[applied(path, scanner, **({"sha256": sha256} | more)) for scanner in scanners],
            )

    def try_fix(self, finding: Finding, reported: FixStatus, truth: FixStatus) -> None:
        attempt = make_attempt(finding, truth, NOW, reported_status=reported)
        with self.session.store.write() as writer:
            writer.add_attempt(self.session.project_id, attempt)

    def history(self) -> ScanHistory:
        return get_scan_history(call(self.session), GetScanHistoryInput())

    def standing(self) -> Standing:
        standing = self.history().standing
        assert standing is not None
        return standing

    def unchecked(self) -> list[tuple[str, str, tuple[Scanner, ...]]]:
        return [(item.file_path, str(item.reason), item.scanners) for item in self.standing().unchecked]


class UncheckedTest(StandingCase):
    def test_an_empty_project_has_nothing_unchecked(self) -> None:
        self.assertEqual(self.unchecked(), [])
        self.assertTrue(self.standing().compared_all)
        self.assertEqual(self.history().next_actions, ())

    def test_a_file_counts_until_every_scanner_saw_its_present_bytes(self) -> None:
        self.write("app.py", "print(1)\n")
        self.assertEqual(self.unchecked(), [("app.py", "never_analysed", BOTH)])
        self.look_at("app.py", Scanner.SEMGREP)
        self.assertEqual(self.unchecked(), [("app.py", "not_verified", (Scanner.DETECT_SECRETS,))])
        self.look_at("app.py", Scanner.DETECT_SECRETS)
        self.assertEqual(self.unchecked(), [])
        self.write("app.py", "print(2)\n")
        self.assertEqual(self.unchecked(), [("app.py", "changed_since", BOTH)])

    def test_a_look_that_was_not_complete_is_none(self) -> None:
        self.write("app.py", "print(1)\n")
        self.look_at("app.py", *BOTH, state=EvidenceState.NOT_VERIFIED)
        self.assertEqual(self.unchecked(), [("app.py", "not_verified", BOTH)])

    def test_old_bytes_that_come_back_are_unchecked_unless_they_were_the_last(self) -> None:
        self.write("app.py", "one\n")
        self.look_at("app.py", *BOTH)
        self.write("app.py", "two\n")
        self.look_at("app.py", *BOTH)
        self.write("app.py", "one\n")
        self.assertEqual(self.unchecked(), [("app.py", "changed_since", BOTH)])

    def test_other_peoples_code_is_not_waited_for(self) -> None:
        self.write("node_modules/lib/index.js", "eval(x)\n")
        self.assertEqual(self.unchecked(), [])

    def test_a_file_that_cannot_be_read_is_vouched_for_by_nobody(self) -> None:
        self.write("big.py", b"#" * (self.session.config.limits.max_file_bytes + 1))
        self.assertEqual(self.unchecked(), [("big.py", "not_verified", ())])

    def test_out_of_time_it_says_that_it_did_not_compare_all(self) -> None:
        self.write("app.py", "print(1)\n")
        history = get_scan_history(call(self.session, seconds=0), GetScanHistoryInput())
        assert history.standing is not None
        self.assertEqual((history.standing.compared_all, history.standing.unchecked_total), (False, 0))
        self.assertEqual(history.next_actions, ("scan_project()",))

    def test_the_way_on_is_one_file_or_the_project(self) -> None:
        self.write("a.py", "")
        self.assertEqual(self.history().next_actions, ('scan_file(path="a.py")',))
        self.write("b.py", "")
        self.assertEqual(self.history().next_actions, ("scan_project()",))
        self.assertEqual(self.standing().unchecked_by_reason, {"never_analysed": 2})


class ClaimTest(StandingCase):
    def setUp(self) -> None:
        super().setUp()
        self.write("app/views.py", "eval(x)\n")
        self.finding = make_finding("one")
        self.look_at("app/views.py", *BOTH, findings=(self.finding,))

    def test_a_claim_counts_while_the_last_one_is_not_confirmed(self) -> None:
        self.assertEqual(self.standing().claimed_total, 0)
        self.try_fix(self.finding, FixStatus.FIXED, FixStatus.NOT_FIXED)
        claim = self.standing().claimed[0]
        self.assertEqual((claim.logical_id, claim.attempts), (self.finding.logical_id, 1))
        self.assertEqual(claim.reason_code, "still_present")
        self.try_fix(self.finding, FixStatus.NOT_FIXED, FixStatus.NOT_FIXED)
        self.assertEqual(self.standing().claimed, ())

    def test_a_confirmed_fix_is_no_open_claim(self) -> None:
        self.try_fix(self.finding, FixStatus.FIXED, FixStatus.NOT_FIXED)
        self.try_fix(self.finding, FixStatus.FIXED, FixStatus.FIXED)
        self.assertEqual(self.standing().claimed_total, 0)

    def test_one_findings_history_says_nothing_about_the_project(self) -> None:
        history = get_scan_history(call(self.session), GetScanHistoryInput(self.finding.logical_id))
        self.assertIsNone(history.standing)


if __name__ == "__main__":
    unittest.main()
