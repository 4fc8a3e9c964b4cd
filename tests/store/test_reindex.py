"""A changed redaction policy reaches everything that is stored, and the old bytes are gone."""

import unittest

from appsecgate.model import FeedbackVerdict, FixStatus
from appsecgate.store.audit import AuditEntry, QueryOutcome
from appsecgate.store.suppressions import Suppression
from tests.store.ledger import OTHER, PROJECT, SECRET, LedgerCase, PlainMask, applied, evidence_row, make_finding


class ReindexTest(LedgerCase):
    def setUp(self) -> None:
        super().setUp()
        said = f"said {SECRET} twice {SECRET}"
        finding = make_finding(
            "one", message=said, snippet=said, code=said, metadata={"patch": [said, {"deep": said}], "remediation": said}
        )
        for project in (PROJECT, OTHER):
            with self.store.write() as writer:
                writer.touch_project(project, "alias", "/path")
            self.scan([finding], targets=[applied("app/views.py", detail=said)], project_id=project)
        self.attempt(finding, FixStatus.NOT_FIXED, note=said, reason=said)
        with self.store.write() as writer:
            writer.add_feedback(PROJECT, finding.logical_id, FeedbackVerdict.ROTATED, said, "session")
            writer.add_suppression(PROJECT, Suppression(said, "test", rule_id="x"))
            writer.set_config(PROJECT, {"a": {"reason": said}}, by="session")
            writer.add_audit(PROJECT, AuditEntry("s", said, 1, 1, self.clock.text(), QueryOutcome.OK))
            record = writer.scans(PROJECT)[0].record
            writer._put_evidence(record, [evidence_row(1, 1, self.clock.text(), detail=said)])

    def bytes_with_secret(self) -> list[str]:
        return [path.name for path in self.data.iterdir() if SECRET.encode() in path.read_bytes()]

    def test_no_byte_of_it_is_left(self) -> None:
        self.assertNotEqual(self.bytes_with_secret(), [])
        self.assertGreaterEqual(self.store.reindex(PlainMask()), 18)
        self.assertEqual(self.bytes_with_secret(), [])
        with self.store.read() as reader:
            stored = reader.findings(PROJECT)[0].finding
        self.assertEqual(stored.message, "said [REDACTED:test:00000000] twice [REDACTED:test:00000000]")
        self.assertEqual(stored.metadata["patch"], [stored.message, {"deep": stored.message}])

    def test_a_second_time_changes_nothing(self) -> None:
        self.store.reindex(PlainMask())
        self.assertEqual(self.store.reindex(PlainMask()), 0)

    def test_ids_stay(self) -> None:
        before = self.rows("SELECT logical_id, fingerprint FROM findings")
        self.store.reindex(PlainMask())
        self.assertEqual(self.rows("SELECT logical_id, fingerprint FROM findings"), before)


if __name__ == "__main__":
    unittest.main()
