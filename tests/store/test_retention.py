"""What is forgotten when, with a clock that the test moves."""

import unittest

from appsecgate.model import FeedbackVerdict, FixStatus
from appsecgate.store.audit import AuditEntry, QueryOutcome
from appsecgate.store.retention import DEFAULT_RETENTION_DAYS, Swept, apply_retention
from appsecgate.store.suppressions import Suppression
from tests.store.ledger import OTHER, PROJECT, LedgerCase, applied, make_finding

ONE = make_finding("one")
TWO = make_finding("two", file_path="b.py")


class RetentionTest(LedgerCase):
    def setUp(self) -> None:
        super().setUp()
        self.first = self.clock.text()
        self.scan([ONE, TWO])

    def sweep(self, **days: int) -> Swept:
        with self.store.write() as writer:
            return apply_retention(writer, PROJECT, self.clock.text(), {**DEFAULT_RETENTION_DAYS, **days})

    def in_work(self) -> list[tuple[object, ...]]:
        return self.rows("SELECT in_work, expired, coverage_pct FROM v_verification_coverage")

    def shown(self) -> int:
        return int(self.rows("SELECT count(*) FROM shown_findings")[0][0])

    def test_the_thresholds_are_the_promised_ones(self) -> None:
        self.assertEqual(
            DEFAULT_RETENTION_DAYS,
            {"shown": 30, "fixed": 90, "wont_fix": 180, "false_positive": 180, "attempts": 180, "audit": 30},
        )

    def test_an_idle_shown_finding_expires_and_coverage_remembers(self) -> None:
        self.show(ONE)
        self.clock.forward(days=30)
        self.assertEqual(self.sweep().expired, 0)
        self.clock.forward(seconds=1)
        self.assertEqual(self.sweep().expired, 1)
        self.assertEqual((self.shown(), self.status(ONE)), (0, "open"))
        self.assertEqual(self.in_work(), [(1, 1, 0.0)])
        self.assertEqual(self.rows("SELECT count(*) FROM finding_identity"), [(2,)])
        self.assertEqual(self.sweep().expired, 0)

    def test_an_expired_finding_that_is_shown_again_is_counted_once(self) -> None:
        self.show(ONE)
        self.clock.forward(days=31)
        self.sweep()
        self.show(ONE)
        self.assertEqual(self.in_work(), [(1, 0, 0.0)])
        self.attempt(ONE, FixStatus.FIXED)
        self.assertEqual(self.in_work(), [(1, 0, 100.0)])
        self.assertEqual(self.rows("SELECT first_seen_at FROM v_findings LIMIT 1"), [(self.first,)])

    def test_activity_puts_it_off(self) -> None:
        self.show(ONE, TWO)
        self.clock.forward(days=20)
        with self.store.write() as writer:
            writer.mark_context(PROJECT, [ONE.logical_id])
        self.show(TWO)
        self.clock.forward(days=20)
        self.assertEqual(self.sweep().expired, 0)
        self.clock.forward(days=11)
        self.assertEqual(self.sweep().expired, 2)

    def test_a_failed_fix_never_expires(self) -> None:
        self.attempt(ONE, FixStatus.NOT_FIXED)
        self.clock.forward(days=1000)
        self.sweep()
        self.assertEqual(self.status(ONE), "not_fixed")
        self.assertEqual(self.in_work(), [(1, 0, 0.0)])

    def test_hidden_ones_expire_without_a_trace_in_coverage(self) -> None:
        self.show(ONE)
        with self.store.write() as writer:
            writer.add_suppression(PROJECT, Suppression("why", "test", logical_id=ONE.logical_id))
            writer.apply_suppressions(PROJECT, [])
        self.clock.forward(days=31)
        self.sweep()
        self.assertEqual(self.in_work(), [(0, 0, None)])

    def test_a_fixed_finding_is_archived_and_stays_fixed(self) -> None:
        self.scan([TWO], gone=[ONE.logical_id])
        self.attempt(ONE, FixStatus.FIXED)
        fixed_at = self.clock.text()
        self.clock.forward(days=90)
        self.assertEqual(self.sweep().archived, 0)
        self.clock.forward(days=1)
        self.assertEqual(self.sweep().archived, 1)
        self.assertEqual((self.shown(), self.status(ONE)), (0, "fixed"))
        self.assertEqual(self.rows("SELECT status, archived_at FROM shown_archive"), [("fixed", self.clock.text())])
        self.assertEqual(
            self.rows("SELECT status_updated_at FROM v_findings WHERE status = 'fixed'"), [(fixed_at,)]
        )
        self.assertEqual(self.in_work(), [(1, 0, 100.0)])

    def test_an_archived_fix_that_comes_back_is_a_relapse(self) -> None:
        self.scan([TWO], gone=[ONE.logical_id])
        self.attempt(ONE, FixStatus.FIXED)
        self.clock.forward(days=91)
        self.sweep()
        self.scan([ONE, TWO])
        self.assertEqual(self.status(ONE), "open")
        self.assertEqual(
            self.rows("SELECT recurred, first_seen_at FROM v_findings WHERE logical_id = ?", ONE.logical_id),
            [(1, self.first)],
        )
        self.assertEqual(self.in_work(), [(1, 0, 0.0)])

    def test_a_relapse_that_goes_away_unclaimed_is_gone(self) -> None:
        self.scan([TWO], gone=[ONE.logical_id])
        self.attempt(ONE, FixStatus.FIXED)
        self.clock.forward(days=91)
        self.sweep()
        self.clock.forward(days=1)
        self.scan([ONE, TWO])
        self.scan([TWO], gone=[ONE.logical_id])
        self.assertEqual(self.status(ONE), "gone")

    def test_old_decisions_are_archived_and_ask_for_a_second_look(self) -> None:
        self.attempt(ONE, FixStatus.WONT_FIX)
        with self.store.write() as writer:
            writer.add_feedback(PROJECT, TWO.logical_id, FeedbackVerdict.FALSE_POSITIVE, "no", "session")
        self.clock.forward(days=180)
        self.assertEqual(self.sweep().archived, 0)
        self.assertEqual(self.in_work(), [(2, 0, 100.0)])
        self.clock.forward(days=1)
        self.assertEqual(self.sweep().archived, 2)
        self.assertEqual((self.status(ONE), self.status(TWO)), ("open", "open"))
        self.assertEqual(self.in_work(), [(2, 0, 0.0)])

    def test_an_old_decision_about_what_is_gone_stands(self) -> None:
        self.attempt(ONE, FixStatus.WONT_FIX)
        self.scan([TWO], gone=[ONE.logical_id])
        self.clock.forward(days=181)
        self.sweep()
        self.assertEqual(self.status(ONE), "wont_fix")
        self.assertEqual(self.in_work(), [(1, 0, 100.0)])

    def test_old_attempts_go_and_the_last_word_stays(self) -> None:
        self.attempt(ONE, FixStatus.NOT_FIXED)
        self.clock.forward(days=180)
        self.assertEqual(self.sweep().attempts, 0)
        self.clock.forward(days=1)
        self.assertEqual(self.sweep().attempts, 1)
        self.assertEqual(self.status(ONE), "not_fixed")
        self.assertEqual(self.rows("SELECT attempted FROM v_verification_coverage"), [(1,)])

    def test_the_query_log_goes(self) -> None:
        entry = AuditEntry("session", "SELECT 1", 1, 1, self.clock.text(), QueryOutcome.OK)
        with self.store.write() as writer:
            writer.add_audit(PROJECT, entry)
            self.assertEqual(writer.audit_log(PROJECT), [entry])
        self.clock.forward(days=30)
        self.assertEqual(self.sweep().audited, 0)
        self.clock.forward(days=1)
        self.assertEqual(self.sweep().audited, 1)

    def test_file_evidence_goes_once_newer_evidence_replaced_it(self) -> None:
        self.clock.forward(days=181)
        self.assertEqual(self.sweep().leftovers, 0, "it is the latest there is")
        self.scan(targets=[applied("b.py")])
        self.assertEqual(self.sweep().leftovers, 1)
        self.assertEqual(self.rows("SELECT path, scan_id FROM scan_targets ORDER BY 1"),
                         [("app/views.py", "scan-1"), ("b.py", "scan-2")])  # fmt: skip
        self.assertEqual(self.rows("SELECT count(*) FROM scans"), [(2,)])

    def test_contexts_go_once_no_finding_has_their_fingerprint(self) -> None:
        self.scan([make_finding("one", fingerprint="f" * 32), TWO])
        self.clock.forward(days=181)
        self.sweep()
        self.assertEqual(self.rows("SELECT count(*) FROM finding_context"), [(2,)])

    def test_thresholds_can_be_set(self) -> None:
        self.show(ONE)
        self.clock.forward(days=3)
        self.assertEqual(self.sweep(shown=2).expired, 1)

    def test_other_projects_are_left_alone(self) -> None:
        with self.store.write() as writer:
            writer.touch_project(OTHER, "b", "/b")
        self.scan([ONE], project_id=OTHER)
        self.show(ONE, project_id=OTHER)
        self.clock.forward(days=1000)
        self.assertEqual(self.sweep(), Swept(0, 0, 0, 0, 0))
        self.assertEqual(self.shown(), 1)


if __name__ == "__main__":
    unittest.main()
