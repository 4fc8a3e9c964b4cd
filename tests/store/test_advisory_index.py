import json
import os
import sqlite3
import stat
import sys
import tempfile
import threading
import unittest
import zipfile
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from appsecgate.advisories.merge import AdvisoryAnswer
from appsecgate.advisories.osv import Affected, parse_osv, record_affects
from appsecgate.errors import AdvisoryError, UnwritableError
from appsecgate.store.advisory_import import import_advisories
from appsecgate.store.advisory_index import ADVISORY_FILE, AdvisoryIndex
from tests.advisories.samples import OSV_DIRECTORY, osv_json
from tests.scanners.advisories import NOW, small_copy

FULL = os.environ.get("APPSECGATE_TEST_ADVISORIES", "")


def fixed(record_id: str, version: str = "2.0", **fields: Any) -> dict[str, object]:
    return osv_json(record_id, {"introduced": "0"}, {"fixed": version}, **fields)


class Case(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory(prefix="appsecgate-test-")
        self.addCleanup(holder.cleanup)
        self.tmp = Path(holder.name)
        self.data = self.tmp / "data"
        self.index = AdvisoryIndex(self.data, clock=lambda: NOW)
        self.addCleanup(self.index.close)

    def directory(self, files: Mapping[str, object]) -> Path:
        folder = self.tmp / f"osv-{len(list(self.tmp.iterdir()))}"
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        return folder

    def archive(self, files: Mapping[str, object], name: str = "osv.zip") -> Path:
        path = self.tmp / name
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for member, content in files.items():
                archive.writestr(member, content if isinstance(content, bytes) else json.dumps(content))
        return path

    def ids(self, answer: AdvisoryAnswer) -> list[str]:
        return [advisory.id for advisory in answer.advisories]


class Imports(Case):
    def test_a_directory_a_zip_and_a_single_record_are_read(self) -> None:
        yaml = b"id: Y-1\nmodified: 2026-01-01T00:00:00Z\naffected:\n- package: {ecosystem: PyPI, name: pkg}\n  versions: ['1.0']\n"
        for source, want in (
            (self.directory({"a/b/A-1.json": fixed("A-1"), "c/Y-1.yaml": yaml, "README.md": b"x"}), ["A-1", "Y-1"]),
            (self.archive({"a/A-1.json": fixed("A-1"), "Y-1.yml": yaml}), ["A-1", "Y-1"]),
            (self.directory({"A-1.json": fixed("A-1")}) / "A-1.json", ["A-1"]),
        ):
            with self.subTest(source=source):
                report = import_advisories(source, self.data, NOW)
                self.assertEqual(report.imported, len(want))
                self.assertEqual(self.ids(self.index.lookup("pkg", "1.0")), want)

    def test_what_is_left_out_is_counted_by_its_reason(self) -> None:
        files = {
            "good.json": fixed("A-1"),
            "withdrawn.json": fixed("A-2", withdrawn="2026-01-01T00:00:00Z"),
            "npm.json": {**fixed("A-3"), "affected": [{"package": {"ecosystem": "npm", "name": "x"}}]},
            "broken.json": b'{"PyPI": ',
            "deep.json": b'["PyPI",' + b"[" * 100_000,
            "number.json": b'{"PyPI": ' + b"1" * 5000 + b"}",
            "schema.json": fixed("A-4", schema_version="2.0.0"),
            "latin.json": b'{"PyPI": "\xe9"}',
        }
        report = import_advisories(self.directory(files), self.data, NOW)
        self.assertEqual((report.imported, report.withdrawn, report.other_ecosystems, report.rejected), (1, 1, 1, 5))
        self.assertEqual(len(report.problems), 5)
        self.assertTrue(any("schema version" in problem for problem in report.problems))

    def test_of_two_records_with_one_id_the_newer_counts(self) -> None:
        old, new = fixed("A-1", "2.0"), fixed("A-1", "3.0", modified="2026-01-01T02:30:00+01:00", name="other")
        for files in ({"1.json": old, "2.json": new}, {"1.json": new, "2.json": old}):
            with self.subTest(files=files):
                import_advisories(self.directory(files), self.data, NOW)
                self.assertTrue(self.index.knows("other"))
                self.assertFalse(self.index.knows("pkg"))

    def test_names_join_over_records_of_other_packages_and_over_a_third_name(self) -> None:
        small_copy(self.data)
        (found,) = self.index.lookup("Gingerbread", "2.0").advisories
        self.assertEqual(found.ids, ("GHSA-dddd-eeee-ffff", "PYSEC-2026-3", "X-THIRD-1"))
        self.assertEqual(found.record_ids, ("GHSA-dddd-eeee-ffff", "PYSEC-2026-3"))

    def test_a_bad_source_leaves_the_old_copy_and_says_why(self) -> None:
        small_copy(self.data)
        before = self.index.status().digest
        good = self.archive({"A-1.json": fixed("A-1")}).read_bytes()
        corrupt, cut, bomb = (self.tmp / name for name in ("corrupt.zip", "cut.zip", "bomb.zip"))
        corrupt.write_bytes(good[:60] + b"\0\0\0\0" + good[64:])
        cut.write_bytes(good[:-30])
        with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
            for number in range(3):
                archive.writestr(f"{number}.json", b"\0" * (9 << 20))
        for source, word in (
            (self.tmp / "missing", "does not exist"),
            (corrupt, "damaged"),
            (cut, "neither a directory nor a readable zip"),
            (bomb, "no usable record"),
            (self.directory({"x.txt": b"PyPI"}), "no usable record"),
            (self.directory({"x.json": b"[]"}), "no usable record"),
        ):
            with self.subTest(source=source.name):
                with self.assertRaisesRegex(AdvisoryError, word):
                    import_advisories(source, self.data, NOW)
                self.assertEqual(self.index.status().digest, before)
                self.assertEqual([path.name for path in self.data.iterdir()], [ADVISORY_FILE])

    def test_a_zip_that_claims_to_unpack_to_too_much_is_refused_unread(self) -> None:
        path = self.archive({"A-1.json": fixed("A-1")})
        content = bytearray(path.read_bytes())
        at = content.index(b"PK\x01\x02")
        content[at + 24 : at + 28] = (0xFFFFFFF0).to_bytes(4, "little")
        twice = self.tmp / "huge.zip"
        twice.write_bytes(content)
        with self.assertRaisesRegex(AdvisoryError, "no usable record|unpacks to more"):
            import_advisories(twice, self.data, NOW)

    def test_links_and_hidden_directories_are_not_followed(self) -> None:
        outside = self.directory({"A-9.json": fixed("A-9")})
        inside = self.directory({"A-1.json": fixed("A-1"), ".git/A-2.json": fixed("A-2")})
        (inside / "link.json").symlink_to(outside / "A-9.json")
        (inside / "folder").symlink_to(outside, target_is_directory=True)
        os.mkfifo(inside / "pipe.json")
        report = import_advisories(inside, self.data, NOW)
        self.assertEqual(self.ids(self.index.lookup("pkg", "1.0")), ["A-1"])
        self.assertEqual(report.rejected, 2)

    def test_the_copy_is_private_and_a_data_directory_that_refuses_it_is_named(self) -> None:
        small_copy(self.data)
        self.assertEqual(stat.S_IMODE((self.data / ADVISORY_FILE).stat().st_mode), 0o600)
        self.assertEqual(stat.S_IMODE(self.data.stat().st_mode), 0o700)
        blocked = self.tmp / "file"
        blocked.write_text("")
        with self.assertRaises(UnwritableError):
            import_advisories(OSV_DIRECTORY, blocked / "data", NOW)

    def test_equal_records_give_equal_digests_whatever_their_order(self) -> None:
        digests = set()
        for names in (("1", "2"), ("2", "1")):
            import_advisories(
                self.directory({f"{n}.json": fixed(f"A-{k}") for n, k in zip(names, "ab", strict=True)}), self.data, NOW
            )
            digests.add(self.index.status().digest)
        import_advisories(self.directory({"1.json": fixed("A-a", "2.1"), "2.json": fixed("A-b")}), self.data, NOW)
        self.assertEqual(len(digests), 1)
        self.assertNotIn(self.index.status().digest, digests)


class Questions(Case):
    def test_the_status_tells_counts_dates_and_age(self) -> None:
        index = small_copy(self.data)
        self.addCleanup(index.close)
        status = index.status()
        self.assertEqual((status.records, status.packages, status.source_date), (7, 4, "2026-01-10T12:00:00Z"))
        self.assertEqual(
            (status.age_days, status.usable, status.is_stale(), status.is_stale(8)), (9, True, False, True)
        )
        self.assertEqual(index.status(NOW + timedelta(days=400)).age_days, 409)

    def test_a_record_from_the_future_does_not_make_an_old_copy_young(self) -> None:
        files = {
            "1.json": fixed("A-1", modified="2025-01-01T00:00:00Z"),
            "2.json": fixed("A-2", modified="2099-01-01T00:00:00Z"),
        }
        import_advisories(self.directory(files), self.data, NOW)
        self.assertEqual(self.index.status().source_date, "2025-01-01T00:00:00Z")

    def test_no_copy_a_damaged_one_and_a_foreign_one_are_problems(self) -> None:
        self.data.mkdir()
        path = self.data / ADVISORY_FILE
        foreign = sqlite3.connect(self.tmp / "foreign.db")
        foreign.execute("PRAGMA user_version = 99")
        foreign.close()
        for content, word in (
            (None, "no local advisory copy"),
            (b"x" * 5000, "damaged"),
            (b"", "format 0"),
            ((self.tmp / "foreign.db").read_bytes(), "format 99"),
        ):
            with self.subTest(word=word):
                if content is not None:
                    path.write_bytes(content)
                status = self.index.status()
                self.assertFalse(status.usable)
                self.assertIn(word, status.problem)
                for question in (
                    lambda: self.index.lookup("x", "1"),
                    lambda: self.index.knows("x"),
                    lambda: self.index.knows_flaw("x"),
                ):
                    with self.assertRaises(AdvisoryError):
                        question()

    def test_flaws_are_known_by_each_of_their_names(self) -> None:
        small_copy(self.data)
        for name, want in (
            ("CVE-2026-10001", True),
            ("PYSEC-2026-1", True),
            ("X-THIRD-1", True),
            ("CVE-2026-10004", False),
            ("", False),
        ):
            with self.subTest(name=name):
                self.assertIs(self.index.knows_flaw(name), want)

    def test_a_new_copy_is_seen_at_once_and_from_every_thread(self) -> None:
        import_advisories(self.directory({"1.json": fixed("A-1")}), self.data, NOW)
        self.assertEqual(self.ids(self.index.lookup("pkg", "1.0")), ["A-1"])
        import_advisories(self.directory({"1.json": fixed("A-2")}), self.data, NOW)
        found: list[list[str]] = []
        threads = [
            threading.Thread(target=lambda: found.append(self.ids(self.index.lookup("pkg", "1.0")))) for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [["A-2"]] * 8)

    def test_odd_ranges_leave_a_version_undecided(self) -> None:
        small_copy(self.data)
        self.assertEqual(self.index.lookup("odd-ranges", "1.0").undecided, ("PYSEC-2026-6",))


class FullDatabase(Case):
    @classmethod
    def setUpClass(cls) -> None:
        if not FULL:
            print("\nSKIPPED, NOT TESTED: no full advisory database (set APPSECGATE_TEST_ADVISORIES)", file=sys.stderr)
            raise unittest.SkipTest("APPSECGATE_TEST_ADVISORIES is not set")

    def test_the_answers_are_those_of_a_direct_check_of_every_record(self) -> None:
        report = import_advisories(Path(FULL), self.data, datetime.now(UTC))
        self.assertGreater(report.imported, 2_000)
        with zipfile.ZipFile(FULL) as archive:
            documents = [json.loads(archive.read(name)) for name in archive.namelist() if name.endswith(".json")]
        records = [record for record in map(parse_osv, documents) if not record.withdrawn]
        for name, version in (
            ("django", "3.2.0"),
            ("requests", "2.19.0"),
            ("pyyaml", "5.1"),
            ("requests", "2.32.4"),
            ("jinja2", "2.10"),
        ):
            with self.subTest(name=name, version=version):
                want = {record.id for record in records if record_affects(record, name, version) is Affected.YES}
                found = self.index.lookup(name, version)
                self.assertEqual(
                    {record_id for advisory in found.advisories for record_id in advisory.record_ids}, want
                )
