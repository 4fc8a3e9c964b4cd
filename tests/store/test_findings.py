"""The life of a finding: found, shown, fixed, gone, found again, merged, renamed."""

import unittest
from dataclasses import replace

from appsecgate.model import (
    Category,
    EvidenceReason,
    EvidenceState,
    FeedbackVerdict,
    FixStatus,
    Package,
    Scanner,
    Severity,
    Twin,
)
from appsecgate.store.rows import path_from_db, path_to_db
from tests.store.ledger import OTHER, PROJECT, LedgerCase, applied, evidence_row, make_finding

FULL = make_finding(
    "full",
    category=Category.SCA,
    scanner=Scanner.PIP_AUDIT,
    severity=Severity.CRITICAL,
    rule_id="CVE-2026-1",
    cwe=("CWE-78", "CWE-79"),
    owasp=("A03:2021",),
    references=("https://example.org/a",),
    metadata={"patch": "x", "confidence": "HIGH", "remediation": "upgrade", "numbers": [1, 2.5, None, True]},
    resource="aws_s3_bucket.logs",
    package=Package("PyPI", "jinja2", "2.0", "2.1", ("CVE-2026-1", "GHSA-1")),
    secret_digests=("01234567",),
    suppressed_inline=True,
    also_reported_by=(Twin(Scanner.CHECKOV, "CKV_1", "ffffffffffffffff"),),
    slot=2,
)


class RoundTripTest(LedgerCase):
    def test_what_goes_in_comes_out(self) -> None:
        self.scan([FULL])
        with self.store.read() as reader:
            stored = reader.finding(PROJECT, FULL.logical_id)
        assert stored is not None
        self.assertEqual(stored.finding, FULL)
        self.assertEqual((stored.scan_id, stored.source_sha256), ("scan-1", applied(FULL.file_path).sha256))
        self.assertTrue(stored.present)

    def test_odd_texts_come_out_readable(self) -> None:
        odd = make_finding("odd", message="nul \0 half \udce9 snow ☃", snippet="\ud800", metadata={"a": "\udce9"})
        self.scan([odd])
        with self.store.read() as reader:
            stored = reader.finding(PROJECT, odd.logical_id)
        assert stored is not None
        self.assertEqual(stored.finding.message, "nul \ufffd half \\udce9 snow ☃")
        self.assertEqual(stored.finding.snippet, "\\ud800")
        self.assertEqual(stored.finding.metadata, {"a": "\\udce9"})

    def test_any_path_comes_back(self) -> None:
        paths = ["a b", "ф/ы.py", "caf\udce9.py", "back\\udce9.py", "\\u005c", "\\\\u", "-x", "a\nb", "\\u005cudce9"]
        self.scan([make_finding(path, file_path=path) for path in paths])
        with self.store.read() as reader:
            self.assertEqual(reader.known_paths(PROJECT), set(paths))
            for path in paths:
                with self.subTest(path):
                    self.assertEqual([known.file_path for known in reader.known(PROJECT, [path])], [path])
                    self.assertEqual(path_from_db(path_to_db(path)), path)
        for (text,) in self.rows("SELECT file_path FROM v_findings"):
            text.encode("utf-8")

    def test_a_finding_without_ids_is_refused_whole(self) -> None:
        for missing in ({"logical_id": ""}, {"fingerprint": ""}):
            with self.subTest(missing), self.assertRaisesRegex(ValueError, "without an id"):
                self.scan([make_finding("good"), make_finding("bad", **missing)])
        self.assertEqual(self.rows("SELECT count(*) FROM scans"), [(0,)])

    def test_unreasonable_lengths_are_cut(self) -> None:
        long = make_finding("long", message="m" * 50_000, metadata={"short": 1, "long": "x" * 200_000})
        self.scan([long])
        with self.store.read() as reader:
            stored = reader.finding(PROJECT, long.logical_id)
        assert stored is not None
        self.assertEqual((len(stored.finding.message), stored.finding.message[-1]), (10_000, "…"))
        self.assertEqual(stored.finding.metadata, {"short": 1})


class HandleTest(LedgerCase):
    def test_a_logical_id_and_every_fingerprint_it_had_lead_to_a_finding(self) -> None:
        first = make_finding("one")
        second = replace(first, fingerprint="f" * 32, code="other code")
        self.scan([first])
        self.scan([second])
        with self.store.read() as reader:
            for handle in (first.logical_id, first.fingerprint, second.fingerprint):
                with self.subTest(handle):
                    found = reader.finding(PROJECT, handle)
                    assert found is not None
                    self.assertEqual(found.finding, second)
            self.assertIsNone(reader.finding(PROJECT, "nothing"))
            self.assertIsNone(reader.finding(OTHER, first.logical_id))

    def test_a_fingerprint_that_two_had_leads_to_the_one_that_is_there(self) -> None:
        old = make_finding("old", fingerprint="e" * 32)
        new = make_finding("new", fingerprint="e" * 32)
        self.scan([old])
        self.clock.forward(hours=1)
        self.scan([new], gone=[old.logical_id])
        with self.store.read() as reader:
            found = reader.finding(PROJECT, "e" * 32)
        assert found is not None
        self.assertEqual(found.finding.logical_id, new.logical_id)


class ListTest(LedgerCase):
    def setUp(self) -> None:
        super().setUp()
        self.low = make_finding("low", severity=Severity.LOW, file_path="a.py")
        self.critical = make_finding("critical", severity=Severity.CRITICAL, file_path="z.py")
        self.early = make_finding("early", file_path="b.py", line_start=1)
        self.late = make_finding("late", file_path="b.py", line_start=9, category=Category.IAC)
        self.gone = make_finding("gone", file_path="b.py")
        self.scan([self.gone])
        self.scan([self.low, self.critical, self.early, self.late], gone=[self.gone.logical_id])

    def names(self, **more: object) -> list[str]:
        with self.store.read() as reader:
            return [found.finding.scope_key for found in reader.findings(PROJECT, **more)]  # type: ignore[arg-type]

    def test_the_worst_come_first(self) -> None:
        self.assertEqual(self.names(), ["critical", "early", "late", "low"])
        self.assertEqual(self.names(limit=2), ["critical", "early"])

    def test_paths_presence_and_limits_narrow(self) -> None:
        self.assertEqual(self.names(paths=["b.py"]), ["early", "late"])
        self.assertEqual(self.names(paths=["b.py"], limit=1), ["early"])
        self.assertEqual(self.names(paths=[]), [])
        self.assertEqual(self.names(present=False), ["gone"])
        self.assertEqual(set(self.names(present=None)), {"critical", "early", "late", "low", "gone"})

    def test_more_ids_than_one_query_takes(self) -> None:
        many = [make_finding(f"many {number}") for number in range(1_201)]
        self.scan(many)
        with self.store.read() as reader:
            found = reader.findings_by_id(PROJECT, [finding.logical_id for finding in many] + ["nothing"])
        self.assertEqual(len(found), 1_201)

    def test_the_summary_adds_up(self) -> None:
        with self.store.read() as reader:
            summary = reader.summary(PROJECT)
            empty = reader.summary(OTHER)
        self.assertEqual(summary.total, 4)
        self.assertEqual(list(summary.by_severity.values()), [1, 2, 0, 1, 0])
        self.assertEqual(dict(summary.by_category), {Category.SAST: 3, Category.IAC: 1})
        self.assertEqual(summary.by_file_top10, (("b.py", 2), ("a.py", 1), ("z.py", 1)))
        self.assertEqual((empty.total, empty.by_file_top10, dict(empty.by_category)), (0, (), {}))

    def test_known_ones_are_present_and_gone(self) -> None:
        with self.store.read() as reader:
            known = {item.scope_key: item.present for item in reader.known(PROJECT, ["b.py", "nowhere"])}
            self.assertEqual(reader.known_paths(PROJECT), {"a.py", "b.py", "z.py"})
        self.assertEqual(known, {"early": True, "late": True, "gone": False})


class LifeTest(LedgerCase):
    def setUp(self) -> None:
        super().setUp()
        self.one = make_finding("one")
        self.scan([self.one])

    def test_found_shown_and_gone(self) -> None:
        self.assertEqual(self.status(self.one), "open")
        self.show(self.one)
        self.assertEqual(self.status(self.one), "shown")
        self.scan(gone=[self.one.logical_id], targets=[applied(self.one.file_path)])
        self.assertEqual(self.status(self.one), "gone")
        self.scan([self.one])
        self.assertEqual(self.status(self.one), "shown")
        self.assertEqual(self.recurred(), 0)

    def recurred(self) -> int:
        return int(self.rows("SELECT recurred FROM v_findings")[0][0])

    def test_fixed_and_found_again_is_a_relapse(self) -> None:
        self.scan(gone=[self.one.logical_id])
        self.attempt(self.one, FixStatus.FIXED)
        self.assertEqual((self.status(self.one), self.recurred()), ("fixed", 0))
        self.clock.forward(days=1)
        self.scan([self.one])
        self.assertEqual((self.status(self.one), self.recurred()), ("shown", 1))
        self.assertEqual(self.rows("SELECT status_updated_at FROM v_findings"), [(self.clock.text(),)])
        self.scan(gone=[self.one.logical_id])
        self.attempt(self.one, FixStatus.FIXED)
        self.assertEqual((self.status(self.one), self.recurred()), ("fixed", 1))

    def test_a_failed_fix_is_the_last_word_until_another(self) -> None:
        self.attempt(self.one, FixStatus.NOT_FIXED)
        self.assertEqual(self.status(self.one), "not_fixed")
        self.scan([self.one])
        self.assertEqual(self.status(self.one), "not_fixed")
        self.scan(gone=[self.one.logical_id])
        self.assertEqual(self.status(self.one), "not_fixed", "a fix was claimed: only verification closes it")
        self.attempt(self.one, FixStatus.FIXED)
        self.assertEqual(self.status(self.one), "fixed")

    def test_accepted_risks_and_false_positives_stay_when_seen_again(self) -> None:
        two = make_finding("two")
        self.scan([self.one, two])
        self.attempt(self.one, FixStatus.WONT_FIX)
        with self.store.write() as writer:
            writer.add_feedback(PROJECT, two.logical_id, FeedbackVerdict.FALSE_POSITIVE, "no", "session")
        for gone in ((), [self.one.logical_id, two.logical_id], ()):
            self.scan([] if gone else [self.one, two], gone=gone)
            self.assertEqual((self.status(self.one), self.status(two)), ("wont_fix", "false_positive"))
        self.assertEqual(self.rows("SELECT DISTINCT recurred FROM v_findings"), [(0,)])

    def test_times_of_a_finding(self) -> None:
        first = self.clock.text()
        later = self.clock.forward(days=3)
        self.scan([replace(self.one, line_start=40, line_end=41, severity=Severity.LOW)])
        with self.store.read() as reader:
            stored = reader.finding(PROJECT, self.one.logical_id)
        assert stored is not None
        self.assertEqual((stored.first_seen_at, stored.last_seen_at), (first, later))
        self.assertEqual(stored.status_updated_at, first)
        self.assertEqual((stored.finding.line_start, stored.finding.severity), (40, Severity.LOW))

    def test_the_identity_brings_back_the_first_time(self) -> None:
        first = self.clock.text()
        self.raw().executescript("DELETE FROM findings; DELETE FROM shown_findings;")
        self.clock.forward(days=400)
        self.scan([self.one])
        self.assertEqual(self.rows("SELECT first_seen_at FROM v_findings"), [(first,)])

    def test_announcing_shows_nothing(self) -> None:
        self.assertEqual(self.rows("SELECT count(*) FROM shown_findings"), [(0,)])

    def test_showing_twice_or_showing_nothing_known_is_harmless(self) -> None:
        self.show(self.one, self.one, make_finding("unknown"))
        self.show(self.one)
        self.assertEqual(self.rows("SELECT count(*) FROM shown_findings"), [(1,)])


class NotLookedAtTest(LedgerCase):
    def setUp(self) -> None:
        super().setUp()
        self.one = make_finding("one")
        self.scan([self.one])
        self.before = self.clock.text()
        self.clock.forward(hours=2)

    def row(self) -> tuple[object, ...]:
        return self.rows("SELECT last_seen_at, scan_id, line_start, scanner_version FROM findings")[0]

    def test_a_finding_that_nobody_looked_at_keeps_when_it_was_seen(self) -> None:
        moved = replace(self.one, line_start=8, line_end=9, scanner_version="2.0")
        states = {
            "cached": applied(self.one.file_path, reason=EvidenceReason.CACHED),
            "failed": applied(
                self.one.file_path, state=EvidenceState.NOT_VERIFIED, reason=EvidenceReason.SCANNER_TIMEOUT
            ),
        }
        for name, target in states.items():
            with self.subTest(name):
                self.scan([moved], targets=[target])
                self.assertEqual(self.row(), (self.before, "scan-1", 8, "1.0"))

    def test_the_caller_may_name_what_was_not_looked_at(self) -> None:
        self.scan([self.one], kept=[self.one.logical_id])
        self.assertEqual(self.row()[1], "scan-1")
        self.scan([self.one], kept=[])
        self.assertEqual(self.row()[1], "scan-3")

    def test_a_partly_parsed_file_still_shows_findings(self) -> None:
        target = applied(self.one.file_path, state=EvidenceState.NOT_VERIFIED, reason=EvidenceReason.PARTIAL)
        self.scan([self.one, make_finding("new")], targets=[target])
        self.assertEqual(self.rows("SELECT DISTINCT scan_id FROM findings"), [("scan-2",)])

    def test_an_unknown_finding_is_stored_whatever_was_looked_at(self) -> None:
        self.scan([make_finding("new")], targets=[])
        self.assertEqual(self.rows("SELECT count(*) FROM v_findings"), [(2,)])


class MergedTest(LedgerCase):
    def setUp(self) -> None:
        super().setUp()
        self.main = make_finding("main", severity=Severity.CRITICAL)
        self.twin = make_finding("twin", merged_into=self.main.logical_id, scanner=Scanner.DETECT_SECRETS)
        self.main = replace(
            self.main, also_reported_by=(Twin(Scanner.DETECT_SECRETS, self.twin.rule_id, self.twin.logical_id),)
        )
        self.scan([self.main, self.twin])

    def visible(self) -> list[str]:
        return [row[0] for row in self.rows("SELECT logical_id FROM v_findings ORDER BY 1")]

    def test_a_merged_duplicate_is_no_row_of_its_own(self) -> None:
        self.assertEqual(self.visible(), [self.main.logical_id])
        with self.store.read() as reader:
            self.assertEqual(reader.summary(PROJECT).total, 1)
            self.assertEqual(len(reader.findings(PROJECT)), 1)
            self.assertEqual(len(reader.findings(PROJECT, include_merged=True)), 2)
            self.assertEqual(len(reader.known(PROJECT, [self.main.file_path])), 2)

    def test_the_group_begins_with_the_one_that_stands_for_it(self) -> None:
        with self.store.read() as reader:
            group = [member.finding for member in reader.finding_group(PROJECT, self.main.logical_id)]
            same = [member.finding for member in reader.finding_group(PROJECT, self.twin.logical_id)]
        self.assertEqual(group, [self.main, self.twin])
        self.assertEqual(same, group)

    def test_a_duplicate_whose_stand_in_is_gone_is_seen_again(self) -> None:
        self.scan(gone=[self.main.logical_id])
        self.assertEqual(self.visible(), sorted([self.main.logical_id, self.twin.logical_id]))

    def test_duplicates_that_are_gone_together_stay_together(self) -> None:
        self.scan(gone=[self.main.logical_id, self.twin.logical_id])
        self.assertEqual(self.visible(), [self.main.logical_id])


class ProjectsApartTest(LedgerCase):
    def test_one_id_in_two_projects_is_two_findings(self) -> None:
        one = make_finding("one")
        with self.store.write() as writer:
            writer.touch_project(OTHER, "alias-b", "/somewhere/b")
        self.scan([one])
        self.scan([replace(one, severity=Severity.LOW)], project_id=OTHER)
        self.show(one, project_id=OTHER)
        self.scan(gone=[one.logical_id], project_id=OTHER)
        self.assertEqual(self.status(one), "open")
        self.assertEqual(
            self.rows("SELECT project_id, severity, status FROM v_findings ORDER BY 1"),
            [(PROJECT, "high", "open"), (OTHER, "low", "gone")],
        )


class EvidenceOfFindingsTest(LedgerCase):
    def test_a_finding_names_the_rules_that_saw_it(self) -> None:
        self.scan([make_finding("one")])
        self.assertEqual(self.rows("SELECT ruleset_hash, scanner_version FROM v_findings"), [("rules-1", "1.0")])
        self.assertEqual(evidence_row(1, 1, "t").ruleset_hash, "rules-1")


if __name__ == "__main__":
    unittest.main()
