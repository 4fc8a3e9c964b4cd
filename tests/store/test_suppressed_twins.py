"""A display filter and duplicates: nothing that no filter covers goes out of sight."""

import unittest

from appsecgate.model import Category, Finding, Scanner, Severity
from appsecgate.store.suppressions import Suppression
from tests.store.ledger import PROJECT, LedgerCase, make_finding


def twins(head_id: str) -> tuple[Finding, Finding]:
    """A key in the code, reported by two scanners; the first stands for both."""
    head = make_finding(head_id, rule_id="python-hardcoded-key", severity=Severity.CRITICAL)
    other = make_finding(
        f"{head_id} twin", scanner=Scanner.DETECT_SECRETS, rule_id="AWS Access Key", category=Category.SECRET,
        merged_into=head.logical_id,
    )  # fmt: skip
    return head, other


class SuppressedTwinsTest(LedgerCase):
    def setUp(self) -> None:
        super().setUp()
        self.head, self.other = twins("one")
        self.scan([self.head, self.other])

    def hide(self, **what: str) -> int:
        with self.store.write() as writer:
            number = writer.add_suppression(PROJECT, Suppression("because", "test", **what))  # type: ignore[arg-type]
            writer.apply_suppressions(PROJECT, [])
        return number

    def listed(self) -> list[str]:
        with self.store.read() as reader:
            return [item.finding.rule_id for item in reader.findings(PROJECT)]

    def test_hiding_the_rule_that_stands_for_both_does_not_hide_the_other_report(self) -> None:
        self.hide(rule_id=self.head.rule_id)
        self.assertEqual(self.listed(), [self.head.rule_id])
        self.assertEqual(self.status(self.head), "open")

    def test_hiding_the_merged_rule_alone_hides_nothing_that_is_listed(self) -> None:
        self.hide(rule_id=self.other.rule_id)
        self.assertEqual(self.listed(), [self.head.rule_id])

    def test_hiding_every_member_hides_the_group_and_each_way_back_shows_it(self) -> None:
        first = self.hide(rule_id=self.head.rule_id)
        second = self.hide(category="secret")
        self.assertEqual(self.listed(), [])
        self.assertEqual(self.status(self.head), "suppressed")
        for number in (first, second):
            with self.subTest(number):
                with self.store.write() as writer:
                    writer.remove_suppression(PROJECT, number)
                    writer.apply_suppressions(PROJECT, [])
                self.assertEqual(self.listed(), [self.head.rule_id])

    def test_a_member_that_is_gone_no_longer_holds_the_group_in_sight(self) -> None:
        self.hide(rule_id=self.head.rule_id)
        self.scan([self.head], gone=[self.other.logical_id])
        with self.store.write() as writer:
            writer.apply_suppressions(PROJECT, [])
        self.assertEqual(self.listed(), [])

    def test_a_path_that_covers_both_hides_both(self) -> None:
        self.hide(path="app/*")
        self.assertEqual(self.listed(), [])


if __name__ == "__main__":
    unittest.main()
