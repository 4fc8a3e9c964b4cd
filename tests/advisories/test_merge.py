import unittest
from collections.abc import Sequence

from appsecgate.advisories.merge import AdvisoryAnswer, answer_for, fixed_versions, id_order, names_of_flaws
from appsecgate.advisories.osv import OsvRecord, parse_osv
from appsecgate.model import Severity
from tests.advisories.samples import osv_record, recorded


def at(**event: str) -> dict[str, str]:
    return event


def answer(name: str, version: str, records: Sequence[OsvRecord]) -> AdvisoryAnswer:
    return answer_for(name, version, records, names_of_flaws((record.id, record.aliases) for record in records))


class Names(unittest.TestCase):
    def test_the_canonical_name_is_the_cve_else_the_ghsa_else_the_pysec_id(self) -> None:
        names = ["X-1", "PYSEC-2020-10", "PYSEC-2020-9", "GHSA-x", "CVE-2021-1", "CVE-2020-10", "CVE-2020-9"]
        want = ["CVE-2020-9", "CVE-2020-10", "CVE-2021-1", "GHSA-x", "PYSEC-2020-9", "PYSEC-2020-10", "X-1"]
        self.assertEqual(sorted(names, key=id_order), want)

    def test_names_join_over_a_third_one(self) -> None:
        for records in (
            [("PYSEC-1", ["CVE-1"]), ("GHSA-1", ["CVE-1"])],
            [("PYSEC-1", ["GHSA-1"]), ("GHSA-1", ["CVE-1"])],
            [("A-1", ["T-1"]), ("B-1", ["T-2"]), ("C-1", ["T-1", "T-2"])],
        ):
            with self.subTest(records=records):
                self.assertEqual(len(set(names_of_flaws(records).values())), 1)
        apart = names_of_flaws([("PYSEC-1", ["CVE-1"]), ("PYSEC-2", ["CVE-2"])])
        self.assertEqual(apart, {"PYSEC-1": ("CVE-1", "PYSEC-1"), "PYSEC-2": ("CVE-2", "PYSEC-2")})


class Answers(unittest.TestCase):
    def test_records_of_one_flaw_are_one_advisory_with_the_highest_severity(self) -> None:
        records = [parse_osv(recorded(name)) for name in ("PYSEC-2026-1", "GHSA-aaaa-bbbb-cccc", "PYSEC-2026-2")]
        found = answer("shortbread", "2.0.5", records)
        self.assertEqual([advisory.id for advisory in found.advisories], ["CVE-2026-10001", "PYSEC-2026-2"])
        first, second = found.advisories
        self.assertEqual(first.ids, ("CVE-2026-10001", "GHSA-aaaa-bbbb-cccc", "PYSEC-2026-1"))
        self.assertEqual(
            (first.severity, first.fixed_version, first.cwe), (Severity.CRITICAL, "2.1.0", ("CWE-80", "CWE-79"))
        )
        self.assertEqual((second.severity, second.severity_source, second.fixed_version), (Severity.HIGH, "", "2.2"))
        self.assertEqual(found.safe_version, "2.2")

    def test_the_smallest_fixed_version_lies_outside_every_range(self) -> None:
        first = osv_record("A-1", at(introduced="0"), at(fixed="1.4"), at(introduced="2.0"), at(fixed="2.3"))
        second = osv_record("A-2", at(introduced="1.4"), at(fixed="2.1"))
        for version, records, want in (
            ("1.0", [first], ["1.4", "2.3"]),
            ("2.1", [first], ["2.3"]),
            ("1.0", [first, second], ["2.3"]),
            ("2.3", [first], []),
        ):
            with self.subTest(version=version, records=records):
                self.assertEqual(list(fixed_versions("pkg", version, records)), want)

    def test_a_final_release_is_preferred_and_a_prerelease_better_than_nothing(self) -> None:
        beta = osv_record("A-1", at(introduced="0"), at(fixed="2.0b1"))
        both = osv_record("A-1", at(introduced="0"), at(fixed="2.0b1"), at(introduced="2.0b2"), at(fixed="2.1"))
        self.assertEqual(answer("pkg", "1.0", [beta]).advisories[0].fixed_version, "2.0b1")
        self.assertEqual(answer("pkg", "1.0", [both]).advisories[0].fixed_version, "2.1")

    def test_without_a_fixed_version_there_is_none(self) -> None:
        found = answer("pkg", "1.0", [osv_record("A-1", at(introduced="0"), at(last_affected="3"))])
        self.assertEqual((found.advisories[0].fixed_version, found.safe_version), (None, None))

    def test_a_record_that_cannot_be_compared_is_named_unless_another_of_its_flaw_affects(self) -> None:
        odd = osv_record("A-1", at(introduced="0"), at(fixed="x"), aliases=["CVE-2026-1"])
        plain = osv_record("B-1", at(introduced="0"), at(fixed="9"), aliases=["CVE-2026-1"])
        self.assertEqual(answer("pkg", "1.0", [odd]).undecided, ("A-1",))
        self.assertEqual(answer("pkg", "1.0", [odd, plain]).undecided, ())

    def test_a_package_without_records_is_not_known(self) -> None:
        self.assertFalse(answer("pkg", "1.0", []).known)
        self.assertTrue(answer("pkg", "9", [osv_record("A-1", at(fixed="2"))]).known)
