import unittest
from typing import Any

from appsecgate.advisories.osv import Affected, osv_document, parse_osv, record_affects
from appsecgate.errors import AdvisoryError
from appsecgate.model import Severity
from tests.advisories.samples import OSV_DIRECTORY, osv_json, osv_record, recorded


def at(**event: str) -> dict[str, str]:
    return event


TWO_INTERVALS = (at(introduced="0"), at(fixed="1.4"), at(introduced="2.0"), at(fixed="2.3"))
RANGES: tuple[tuple[tuple[dict[str, str], ...], str, Affected], ...] = (
    (TWO_INTERVALS, "0.1", Affected.YES),
    (TWO_INTERVALS, "1.4.dev1", Affected.YES),
    (TWO_INTERVALS, "1.4", Affected.NO),
    (TWO_INTERVALS, "1.9", Affected.NO),
    (TWO_INTERVALS, "2.0rc1", Affected.NO),
    (TWO_INTERVALS, "2.0", Affected.YES),
    (TWO_INTERVALS, "2.3.0", Affected.NO),
    (TWO_INTERVALS, "1.3+local", Affected.YES),
    ((at(fixed="2.3"), at(introduced="2.0"), at(fixed="1.4"), at(introduced="0")), "2.1", Affected.YES),
    ((at(introduced="0"), at(fixed="1.0"), at(introduced="1.0"), at(fixed="2.0")), "1.5", Affected.YES),
    ((at(introduced="1.0"), at(last_affected="1.0")), "1.0", Affected.YES),
    ((at(introduced="1.0"), at(last_affected="1.0")), "1.0.1", Affected.NO),
    ((at(introduced="1.0"), at(last_affected="1.0")), "1.0+cu118", Affected.YES),
    ((at(introduced="0"), at(limit="2.0")), "2.0", Affected.NO),
    ((at(introduced="0"), at(limit="*")), "99", Affected.YES),
    ((at(introduced="0"),), "1!0", Affected.YES),
    ((at(fixed="2.0"),), "1.0", Affected.YES),
    ((at(fixed="2.0"),), "2.0", Affected.NO),
    ((at(introduced="0"), at(fixed="two")), "1.0", Affected.UNDECIDED),
    ((at(introduced="0"), at(mended="2.0")), "1.0", Affected.UNDECIDED),
    (TWO_INTERVALS, "2004d", Affected.UNDECIDED),
)
BAD: tuple[Any, ...] = (
    [], None, {}, {"id": ""}, {"id": "a b"}, osv_json(modified="yesterday"), osv_json(modified=None), osv_json(affected=None),
    osv_json(schema_version="2.0.0"), osv_json(affected=[{"package": {"ecosystem": "PyPI", "name": "../x"}}]),
)  # fmt: skip


class Records(unittest.TestCase):
    def test_ranges_are_evaluated_as_the_schema_says(self) -> None:
        for events, version, want in RANGES:
            with self.subTest(events=events, version=version):
                self.assertIs(record_affects(osv_record("PYSEC-1", *events), "pkg", version), want)

    def test_a_list_of_versions_counts_beside_and_without_ranges(self) -> None:
        for record, version, want in (
            (osv_record(versions=["1.0", "2004d"]), "1.0.0", Affected.YES),
            (osv_record(versions=["1.0", "2004d"]), "2004d", Affected.YES),
            (osv_record(versions=["1.0", "2004d"]), "1.1", Affected.NO),
            (osv_record(versions=["1.0"]), "1.0+local", Affected.YES),
            (osv_record("A-1", at(introduced="5"), versions=["1.0"]), "1.0", Affected.YES),
            (osv_record("A-1", at(introduced="0"), at(fixed="x"), versions=["1.0"]), "1.0", Affected.YES),
            (osv_record(), "1.0", Affected.UNDECIDED),
        ):
            with self.subTest(record=record, version=version):
                self.assertIs(record_affects(record, "pkg", version), want)

    def test_git_ranges_and_other_packages_say_nothing(self) -> None:
        git = osv_json(
            affected=[{"package": {"ecosystem": "PyPI", "name": "pkg"}, "ranges": [{"type": "GIT", "events": []}]}]
        )
        self.assertIs(record_affects(parse_osv(git), "pkg", "1.0"), Affected.UNDECIDED)
        self.assertIs(record_affects(osv_record("A-1", at(introduced="0")), "other", "1.0"), Affected.NO)
        elsewhere = osv_json(affected=[{"package": {"ecosystem": "npm", "name": "pkg"}}])
        self.assertEqual(parse_osv(elsewhere).packages, ())

    def test_what_is_no_record_is_refused_with_the_reason(self) -> None:
        for document in BAD:
            with self.subTest(document=document), self.assertRaises(AdvisoryError) as caught:
                parse_osv(document)
            self.assertTrue(str(caught.exception))

    def test_odd_fields_become_empty_ones(self) -> None:
        record = parse_osv(
            osv_json(
                aliases=None,
                references=[{"url": "javascript:1"}, 3, {"url": "https://e.org/x"}],
                severity="high",
                published=7,
                summary=None,
                details="a\n\tb\x1b[31m" + "c" * 900,
                database_specific={"cwe_ids": ["CWE-1", "x"]},
            )
        )
        self.assertEqual((record.aliases, record.references, record.published), ((), ("https://e.org/x",), ""))
        self.assertEqual((record.cwe, record.severity), (("CWE-1",), None))
        self.assertTrue(record.summary.startswith("a b[31mccc"))
        self.assertEqual(len(record.summary), 400)

    def test_severity_comes_from_the_newest_vector_then_from_the_databases_word(self) -> None:
        v3 = {"type": "CVSS_V3", "score": "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"}
        v4 = {"type": "CVSS_V4", "score": "CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:L/VI:N/VA:N/SC:N/SI:N/SA:N"}
        word = {"severity": "LOW"}
        for fields, want, source in (
            ({"severity": [v3], "database_specific": word}, Severity.CRITICAL, f"{v3['score']} (9.8)"),
            ({"severity": [v3, v4]}, Severity.MEDIUM, f"{v4['score']} (6.9)"),
            (
                {"severity": [{"type": "CVSS_V3", "score": "CVSS:3.1/?"}], "database_specific": word},
                Severity.LOW,
                "low",
            ),
            ({"severity": []}, None, ""),
        ):
            with self.subTest(fields=fields):
                record = parse_osv(osv_json(**fields))
                self.assertEqual((record.severity, record.severity_source), (want, source))

    def test_a_record_written_back_reads_as_the_same_record(self) -> None:
        for path in sorted(OSV_DIRECTORY.glob("*.json")):
            with self.subTest(path=path.name):
                record = parse_osv(recorded(path.stem))
                self.assertEqual(parse_osv(osv_document(record)), record)
