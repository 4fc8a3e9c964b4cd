"""get_fix_context_batch: one pack for each finding, however it is named."""

import unittest

from appsecgate.tools.get_fix_context_batch import ContextPacks, GetFixContextBatchInput, get_fix_context_batch
from tests.store.ledger import make_finding
from tests.support import call
from tests.tools.test_standing import BOTH, StandingCase


class BatchTest(StandingCase):
    def setUp(self) -> None:
        super().setUp()
        self.write("app/views.py", "x = 1\n" * 9)
        self.one, self.other = make_finding("one"), make_finding("two")
        self.look_at("app/views.py", *BOTH, findings=(self.one, self.other))

    def ask(self, *finding_ids: str) -> ContextPacks:
        return get_fix_context_batch(call(self.session), GetFixContextBatchInput(finding_ids))

    def test_a_finding_named_by_id_and_by_fingerprint_is_said_once(self) -> None:
        one, other = self.one, self.other
        answer = self.ask(one.fingerprint, other.logical_id, one.logical_id, "unknown", other.fingerprint)
        self.assertEqual([pack.finding.logical_id for pack in answer.packs], [one.logical_id, other.logical_id])
        self.assertEqual([error.finding_id for error in answer.errors], ["unknown"])
        self.assertEqual((answer.truncated, answer.not_included), (False, ()))

    def test_what_is_shown_is_marked_as_shown(self) -> None:
        self.ask(self.one.fingerprint)
        with self.session.store.read() as reader:
            status = {item.finding.logical_id: str(item.status) for item in reader.findings(self.session.project_id)}
        self.assertEqual(status, {self.one.logical_id: "shown", self.other.logical_id: "open"})


if __name__ == "__main__":
    unittest.main()
