"""Attempts, feedback, filters, settings, and what coverage makes of them."""

import unittest
from dataclasses import dataclass, replace
from datetime import date

from appsecgate.errors import ArgumentError
from appsecgate.model import Category, FeedbackVerdict, FixStatus, ReasonCode
from appsecgate.store.suppressions import Suppression
from tests.store.ledger import OTHER, PROJECT, SECRET, LedgerCase, PlainMask, make_attempt, make_finding

ONE, TWO, THREE, FOUR, FIVE = (make_finding(name, file_path=f"{name}.py") for name in ("a", "b", "c", "d", "e"))


@dataclass
class RuleFilter:
    """A configured filter for one rule."""

    rule: str

    def covers(self, rule_id: str, path: str, category: str, today: date) -> bool:
        return rule_id == self.rule


class AttemptTest(LedgerCase):
    def setUp(self) -> None:
        super().setUp()
        self.scan([ONE, TWO])

    def test_attempts_are_counted_per_finding(self) -> None:
        numbers = [self.attempt(finding, FixStatus.NOT_FIXED) for finding in (ONE, TWO, ONE, ONE)]
        self.assertEqual(numbers, [1, 1, 2, 3])
        with self.store.write() as writer:
            self.assertEqual(writer.add_attempt(OTHER, make_attempt(ONE, FixStatus.FIXED, "t")), 1)

    def test_attempts_come_out_as_they_went_in_latest_first(self) -> None:
        at = self.clock.text()
        self.attempt(ONE, FixStatus.NOT_FIXED, reported_status=FixStatus.FIXED, reason_code=ReasonCode.MOVED)
        self.attempt(TWO, FixStatus.WONT_FIX)
        with self.store.read() as reader:
            both = reader.attempts(PROJECT)
            one = reader.attempts(PROJECT, ONE.logical_id)
            self.assertEqual(len(reader.attempts(PROJECT, limit=1)), 1)
            counts = reader.attempt_counts(PROJECT)
            self.assertEqual(reader.attempt_counts(PROJECT, TWO.logical_id)[FixStatus.NOT_FIXED], 0)
        self.assertEqual([item.attempt.logical_id for item in both], [TWO.logical_id, ONE.logical_id])
        self.assertEqual(
            one[0].attempt,
            make_attempt(
                ONE, FixStatus.NOT_FIXED, at, reported_status=FixStatus.FIXED, reason_code=ReasonCode.MOVED
            ),
        )
        self.assertEqual(counts, {FixStatus.FIXED: 0, FixStatus.NOT_FIXED: 1, FixStatus.WONT_FIX: 1})
        self.assertEqual(
            self.rows("SELECT attempt_num, verified, reason_code FROM v_attempts ORDER BY attempt_id"),
            [(1, 0, "moved"), (1, 0, "wont_fix")],
        )


class CoverageTest(LedgerCase):
    def coverage(self, project_id: str = PROJECT) -> dict[str, object]:
        with self.store.read() as reader:
            found = reader.coverage(project_id)
        return {name: getattr(found, name) for name in found.__dataclass_fields__}

    def test_nothing_in_work_has_no_percentage(self) -> None:
        self.scan([ONE])
        self.assertEqual(self.coverage()["coverage_pct"], None)
        self.assertEqual(self.coverage()["in_work"], 0)
        self.assertEqual(self.coverage("unknown")["coverage_pct"], None)

    def test_the_last_word_counts(self) -> None:
        self.scan([ONE, TWO, THREE, FOUR, FIVE])
        self.show(ONE, TWO)
        self.attempt(TWO, FixStatus.NOT_FIXED)
        self.attempt(TWO, FixStatus.FIXED)
        self.attempt(THREE, FixStatus.WONT_FIX)
        self.attempt(FOUR, FixStatus.NOT_FIXED)
        with self.store.write() as writer:
            writer.add_feedback(PROJECT, FIVE.logical_id, FeedbackVerdict.FALSE_POSITIVE, "no", "session")
        self.assertEqual(
            self.coverage(),
            {
                "in_work": 5, "attempted": 3, "fixed": 1, "not_fixed": 1, "wont_fix": 1, "false_positive": 1,
                "suppressed": 0, "expired": 0, "coverage_pct": 60.0,
            },
        )  # fmt: skip

    def test_hidden_ones_are_left_out_unless_they_are_resolved(self) -> None:
        self.scan([ONE, TWO, THREE])
        self.show(ONE, TWO)
        self.attempt(THREE, FixStatus.WONT_FIX)
        with self.store.write() as writer:
            for finding in (TWO, THREE):
                writer.add_suppression(PROJECT, Suppression("why", "test", logical_id=finding.logical_id))
            writer.apply_suppressions(PROJECT, [])
        found = self.coverage()
        self.assertEqual((found["in_work"], found["suppressed"], found["wont_fix"]), (2, 1, 1))
        self.assertEqual(found["coverage_pct"], 50.0)

    def test_a_relapse_takes_the_fix_back(self) -> None:
        self.scan([ONE])
        self.attempt(ONE, FixStatus.FIXED)
        self.assertEqual(self.coverage()["coverage_pct"], 100.0)
        self.scan([ONE])
        self.assertEqual((self.coverage()["in_work"], self.coverage()["coverage_pct"]), (1, 0.0))

    def test_projects_are_counted_apart(self) -> None:
        with self.store.write() as writer:
            writer.touch_project(OTHER, "b", "/b")
        self.scan([ONE])
        self.scan([ONE], project_id=OTHER)
        self.attempt(ONE, FixStatus.FIXED)
        self.assertEqual(self.coverage(OTHER)["in_work"], 0)


class FeedbackTest(LedgerCase):
    def setUp(self) -> None:
        super().setUp()
        self.scan([ONE])

    def say(self, verdict: FeedbackVerdict, comment: str = "") -> None:
        with self.store.write() as writer:
            writer.add_feedback(PROJECT, ONE.logical_id, verdict, comment, "session")

    def test_only_a_false_positive_changes_the_status(self) -> None:
        for verdict in (FeedbackVerdict.TRUE_POSITIVE, FeedbackVerdict.WONT_FIX, FeedbackVerdict.ROTATED):
            self.say(verdict)
            self.assertEqual(self.status(ONE), "open")
        self.say(FeedbackVerdict.FALSE_POSITIVE, "a constant")
        self.assertEqual(self.status(ONE), "false_positive")
        self.assertEqual(self.rows("SELECT count(*) FROM fix_attempts"), [(0,)])

    def test_it_comes_out_latest_first(self) -> None:
        self.say(FeedbackVerdict.TRUE_POSITIVE, "first")
        self.say(FeedbackVerdict.ROTATED, "second")
        with self.store.read() as reader:
            found = reader.feedback(PROJECT, ONE.logical_id)
            self.assertEqual(reader.feedback(OTHER), [])
        self.assertEqual([entry.comment for entry in found], ["second", "first"])
        self.assertEqual(found[0].fingerprint, ONE.fingerprint)


class SuppressionTest(LedgerCase):
    def setUp(self) -> None:
        super().setUp()
        self.scan([ONE, TWO, replace(THREE, rule_id="other.rule", category=Category.IAC)])

    def hidden(self) -> list[str]:
        return [row[0] for row in self.rows("SELECT file_path FROM v_findings WHERE status = 'suppressed' ORDER BY 1")]

    def apply(self, *configured: RuleFilter) -> int:
        with self.store.write() as writer:
            return writer.apply_suppressions(PROJECT, configured, self.clock.text())

    def suppress(self, **more: object) -> int:
        with self.store.write() as writer:
            return writer.add_suppression(PROJECT, Suppression("why", "test", **more))  # type: ignore[arg-type]

    def test_each_field_narrows(self) -> None:
        cases: list[tuple[dict[str, object], list[str]]] = [
            ({"logical_id": ONE.logical_id}, ["a.py"]),
            ({"rule_id": "python.eval"}, ["a.py", "b.py"]),
            ({"rule_id": "python.*"}, ["a.py", "b.py"]),
            ({"rule_id": "PYTHON.*"}, []),
            ({"path": "b.py"}, ["b.py"]),
            ({"path": "**"}, ["a.py", "b.py", "c.py"]),
            ({"path": "[ab].py", "rule_id": "other.*"}, []),
            ({"category": Category.IAC}, ["c.py"]),
            ({"logical_id": ONE.logical_id, "path": "b.py"}, []),
        ]
        for fields, wanted in cases:
            number = self.suppress(**fields)
            self.apply()
            with self.subTest(fields):
                self.assertEqual(self.hidden(), wanted)
            with self.store.write() as writer:
                self.assertTrue(writer.remove_suppression(PROJECT, number))
                self.assertFalse(writer.remove_suppression(PROJECT, number))
        self.apply()
        self.assertEqual(self.hidden(), [])

    def test_a_star_crosses_directories(self) -> None:
        self.scan([make_finding("deep", file_path="tests/unit/x.py")])
        self.suppress(path="tests/*")
        self.apply()
        self.assertEqual(self.hidden(), ["tests/unit/x.py"])

    def test_hidden_findings_are_counted_and_listed_on_demand(self) -> None:
        self.suppress(rule_id="python.eval")
        self.assertEqual(self.apply(), 2)
        self.assertEqual(self.apply(), 0)
        with self.store.read() as reader:
            summary = reader.summary(PROJECT)
            self.assertEqual((summary.total, summary.suppressed), (1, 2))
            self.assertEqual(len(reader.findings(PROJECT)), 1)
            self.assertEqual(len(reader.findings(PROJECT, include_suppressed=True)), 3)

    def test_it_ends_when_it_said(self) -> None:
        day = self.clock.text()[:10]
        for expires in (day, self.clock.text()[:11] + "23:00:00.000Z"):
            number = self.suppress(rule_id="python.eval", expires_at=expires)
            self.apply()
            with self.subTest(expires):
                self.assertEqual(len(self.hidden()), 2)
                moment = self.clock.moment
                self.clock.forward(days=1)
                self.assertEqual(self.apply(), 2)
                self.assertEqual(self.hidden(), [])
                self.clock.moment = moment
            with self.store.write() as writer:
                writer.remove_suppression(PROJECT, number)

    def test_configured_filters_work_too(self) -> None:
        self.assertEqual(self.apply(RuleFilter("other.rule")), 1)
        self.assertEqual(self.hidden(), ["c.py"])
        self.assertEqual(self.apply(), 1)
        self.assertEqual(self.hidden(), [])

    def test_a_filter_never_changes_a_verdict(self) -> None:
        self.attempt(ONE, FixStatus.WONT_FIX)
        self.attempt(TWO, FixStatus.NOT_FIXED)
        self.suppress(rule_id="python.eval")
        self.apply()
        self.assertEqual((self.status(ONE), self.status(TWO)), ("wont_fix", "suppressed"))
        self.assertEqual(self.rows("SELECT count(*) FROM fix_attempts"), [(2,)])
        self.attempt(TWO, FixStatus.FIXED)
        self.assertEqual(self.status(TWO), "fixed")

    def test_a_filter_needs_a_reason_and_something_to_narrow_it(self) -> None:
        for suppression in (
            Suppression(" ", "test", rule_id="x"),
            Suppression("why", "test"),
            Suppression("why", "test", rule_id="", path=""),
        ):
            with self.subTest(suppression), self.assertRaises(ArgumentError), self.store.write() as writer:
                writer.add_suppression(PROJECT, suppression)

    def test_filters_come_out_as_they_went_in(self) -> None:
        self.suppress(path="x", category=Category.SCA, expires_at="2026-12-31")
        with self.store.read() as reader:
            found = reader.suppressions(PROJECT)
            self.assertEqual(reader.suppressions(OTHER), [])
        self.assertEqual((found[0].path, found[0].category, found[0].expires_at), ("x", Category.SCA, "2026-12-31"))
        self.assertEqual(found[0].created_at, self.clock.text())


class ConfigTest(LedgerCase):
    def test_values_are_kept_removed_and_logged(self) -> None:
        with self.store.write() as writer:
            writer.set_config(PROJECT, {"a.b": [1, "x"], "c": True}, by="session")
            writer.set_config(PROJECT, {"a.b": [1, "x"], "c": None}, by="session")
            writer.set_config(PROJECT, {"nothing": None}, by="session")
        with self.store.read() as reader:
            self.assertEqual(reader.config_values(PROJECT), {"a.b": [1, "x"]})
            self.assertEqual(reader.config_values(OTHER), {})
            log = [(line.key, line.old, line.new) for line in reader.config_log(PROJECT)]
        self.assertEqual(log, [("c", True, None), ("c", None, True), ("a.b", None, [1, "x"])])

    def test_secrets_in_values_are_masked_before_they_are_stored(self) -> None:
        with self.store.write() as writer:
            writer.set_config(PROJECT, {"a": {"reason": SECRET}}, by="session", redact=PlainMask().json)
        self.assertNotIn(SECRET, str(self.rows("SELECT value_json FROM config_values UNION SELECT new_json FROM config_log")))


class ProjectTest(LedgerCase):
    def test_a_project_keeps_its_first_time_and_renews_the_rest(self) -> None:
        first = self.clock.text()
        later = self.clock.forward(days=2)
        with self.store.write() as writer:
            writer.touch_project(PROJECT, "new", "/new")
        with self.store.read() as reader:
            project = reader.project(PROJECT)
        assert project is not None
        self.assertEqual((project.first_seen_at, project.last_seen_at, project.project_alias), (first, later, "new"))

    def test_no_view_shows_a_local_path(self) -> None:
        self.scan([ONE])
        for (view,) in self.rows("SELECT name FROM sqlite_schema WHERE type = 'view'"):
            self.assertNotIn("/somewhere", str(self.rows(f"SELECT * FROM {view}")))

    def test_purging_takes_every_row_of_one_project(self) -> None:
        with self.store.write() as writer:
            writer.touch_project(OTHER, "b", "/b")
        self.scan([make_finding("x", message="purged words")])
        self.scan([ONE], project_id=OTHER)
        self.assertGreater(self.store.purge(PROJECT), 5)
        with self.store.read() as reader:
            self.assertEqual([project.project_id for project in reader.projects()], [OTHER])
            self.assertIsNotNone(reader.finding(OTHER, ONE.logical_id))
        for path in self.data.iterdir():
            self.assertNotIn(b"purged words", path.read_bytes(), path.name)


if __name__ == "__main__":
    unittest.main()
