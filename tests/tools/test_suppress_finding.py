"""suppress_finding over duplicates: what is listed as one is hidden as one, and comes back with a new report."""

import unittest

from appsecgate.model import Scanner
from appsecgate.tools.suppress_finding import SuppressFindingInput, SuppressionAdded, suppress_finding
from tests.store.ledger import make_finding
from tests.store.test_suppressed_twins import twins
from tests.support import call
from tests.tools.test_standing import StandingCase

BOTH = (Scanner.SEMGREP, Scanner.DETECT_SECRETS)


class SuppressFindingTest(StandingCase):
    def setUp(self) -> None:
        super().setUp()
        self.write("app/views.py", "x = 1\n")
        self.head, self.other = twins("one")
        self.look_at("app/views.py", *BOTH, findings=(self.head, self.other))

    def suppress(self, **what: str) -> SuppressionAdded:
        return suppress_finding(call(self.session), SuppressFindingInput("a fixture", **what))

    def test_naming_either_report_hides_both(self) -> None:
        for finding in (self.head, self.other):
            with self.subTest(finding.rule_id):
                answer = self.suppress(finding_id=finding.logical_id)
                self.assertEqual(answer.hidden, 1)
        self.assertEqual(self.history().open_total, 0)

    def test_naming_the_rule_of_one_report_leaves_the_other_in_sight(self) -> None:
        self.assertEqual(self.suppress(rule_id=self.head.rule_id).hidden, 0)
        self.assertEqual(self.history().open_total, 1)

    def test_a_report_that_is_new_brings_the_finding_back(self) -> None:
        self.suppress(finding_id=self.head.logical_id)
        third = make_finding("third", rule_id="another-rule", merged_into=self.head.logical_id)
        self.look_at("app/views.py", *BOTH, findings=(self.head, self.other, third))
        with self.session.store.write() as writer:
            writer.apply_suppressions(self.session.project_id, [])
        self.assertEqual(self.history().open_total, 1)


if __name__ == "__main__":
    unittest.main()
