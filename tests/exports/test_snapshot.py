"""Snapshots: whole or not at all, true to the views, without a path of this machine."""

import hashlib
import json
import stat
import unittest
from collections.abc import Iterator, Sequence
from pathlib import Path
from unittest import mock

from appsecgate.errors import ArgumentError, DiskFullError, UnwritableError
from appsecgate.exports.ndjson import ByteSink
from appsecgate.exports.snapshot import SNAPSHOT_WRITERS, WrittenSnapshot, write_snapshot
from appsecgate.model import Category, FixStatus, Json, Package, Scanner
from appsecgate.store.migrations import SCHEMA_VERSION
from appsecgate.store.public_views import PublicView, public_views
from appsecgate.store.rows import SqlValue
from tests.exports.columns import read_ndjson
from tests.store.ledger import OTHER, PROJECT, LedgerCase, make_finding

NOW = "2026-03-01T12:00:00.000Z"


class SnapshotCase(LedgerCase):
    def setUp(self) -> None:
        super().setUp()
        with self.store.write() as writer:
            writer.touch_project(OTHER, "alias-b", "/somewhere/b")
        odd = make_finding("odd", message='quote " back \\ line \n sep \u2028 snow ☃ 😀', file_path="caf\udce9/ы.py")
        sca = make_finding("sca", category=Category.SCA, scanner=Scanner.PIP_AUDIT,
                           package=Package("PyPI", "jinja2", "2.0", None))  # fmt: skip
        self.scan([odd, sca, make_finding("plain")])
        self.attempt(odd, FixStatus.NOT_FIXED)
        self.scan([make_finding("foreign")], project_id=OTHER)
        self.target = self.data / "exports" / "one"

    def write(self, project_id: str | None = PROJECT, target: Path | None = None) -> WrittenSnapshot:
        return write_snapshot(self.store, project_id, target or self.target, "ndjson", prompt_version="v1", now=NOW)

    def manifest(self) -> dict[str, Json]:
        found: dict[str, Json] = json.loads((self.target / "manifest.json").read_text("utf-8"))
        return found

    def view(self, name: str) -> list[dict[str, Json]]:
        return read_ndjson((self.target / f"{name}.ndjson").read_bytes())


class ContentTest(SnapshotCase):
    def test_every_view_comes_back_as_it_is(self) -> None:
        self.write()
        for name, view in public_views().items():
            columns = [column.name for column in view.columns]
            rows = self.rows(f"SELECT {', '.join(columns)} FROM {name} WHERE project_id = ?", PROJECT)
            with self.subTest(name):
                self.assertEqual([list(row) for row in self.view(name)], [columns] * len(rows))
                self.assertEqual([tuple(row.values()) for row in self.view(name)], rows)
        self.assertEqual(len(self.view("v_findings")), 3)

    def test_booleans_are_booleans_and_nulls_are_nulls(self) -> None:
        self.write()
        self.assertIs(self.view("v_findings")[0]["recurred"], False)
        self.assertIs(self.view("v_attempts")[0]["verified"], False)
        self.assertIsNone(self.view("v_findings")[0]["fixed_version"])

    def test_one_project_or_all(self) -> None:
        self.write()
        self.assertEqual({row["project_id"] for row in self.view("v_findings")}, {PROJECT})
        self.target = self.data / "exports" / "all"
        self.write(None)
        self.assertEqual({row["project_id"] for row in self.view("v_findings")}, {PROJECT, OTHER})
        self.assertEqual({row["project_alias"] for row in self.view("v_projects")}, {"alias-a", "alias-b"})
        self.assertIsNone(self.manifest()["project_id"])

    def test_the_manifest_tells_what_is_there(self) -> None:
        written = self.write()
        manifest = self.manifest()
        files = manifest["files"]
        assert isinstance(files, list)
        self.assertEqual([file["view"] for file in files], list(public_views()))  # type: ignore[index,call-overload]
        for file in files:
            assert isinstance(file, dict)
            data = (self.target / str(file["name"])).read_bytes()
            with self.subTest(file["name"]):
                self.assertEqual(file["sha256"], hashlib.sha256(data).hexdigest())
                self.assertEqual((file["bytes"], file["rows"]), (len(data), len(read_ndjson(data))))
        self.assertEqual(manifest["row_count"], written.row_count)
        self.assertEqual(
            {name: manifest[name] for name in ("schema_version", "prompt_version", "created_at", "format", "project_id")},
            {"schema_version": SCHEMA_VERSION, "prompt_version": "v1", "created_at": NOW, "format": "ndjson",
             "project_id": PROJECT},
        )  # fmt: skip
        self.assertEqual(manifest["scanner_versions"], {"semgrep": ["1.0"], "pip-audit": ["1.0"]})
        self.assertEqual(manifest["ruleset_hashes"], {"semgrep": ["rules-1"], "pip-audit": []})

    def test_the_files_named_are_the_files_there(self) -> None:
        written = self.write()
        self.assertEqual(written.path, self.target)
        self.assertEqual(set(written.files), {path.name for path in self.target.iterdir()})
        self.assertEqual(written.files[-1], "manifest.json")
        self.assertEqual({stat.S_IMODE(path.stat().st_mode) for path in self.target.iterdir()}, {0o600})
        self.assertEqual(stat.S_IMODE(self.target.stat().st_mode), 0o700)

    def test_no_path_of_this_machine_is_in_it(self) -> None:
        self.write(None)
        for path in self.target.iterdir():
            for local in ("/somewhere", str(self.tmp)):
                with self.subTest(path.name):
                    self.assertNotIn(local, path.read_text("utf-8"))

    def test_an_empty_project_has_every_file(self) -> None:
        written = self.write("0" * 16)
        self.assertEqual((written.row_count, len(written.files)), (0, len(public_views()) + 1))

    def test_it_is_about_one_moment(self) -> None:
        """A scan that ends between two files must not be in one of them alone."""
        real = SNAPSHOT_WRITERS["ndjson"]

        def slow(out: ByteSink, view: PublicView, rows: Iterator[Sequence[SqlValue]]) -> int:
            if view.name == "v_summary":
                other = self.raw()
                other.execute("DELETE FROM findings")
                other.commit()
            return real(out, view, rows)

        with mock.patch.dict(SNAPSHOT_WRITERS, {"ndjson": slow}):
            self.write()
        total = sum(int(str(row["findings"])) for row in self.view("v_summary"))
        self.assertEqual(total, len(self.view("v_findings")))


class WholeOrNothingTest(SnapshotCase):
    def left_behind(self) -> list[str]:
        return [path.name for path in self.target.parent.iterdir()] if self.target.parent.exists() else []

    def test_nothing_that_exists_is_touched(self) -> None:
        self.target.parent.mkdir(parents=True)
        for make in (Path.mkdir, Path.touch, lambda path: path.symlink_to("nowhere")):
            make(self.target)
            with self.subTest(make), self.assertRaisesRegex(ArgumentError, "one exists already"):
                self.write()
            self.assertEqual(self.left_behind(), ["one"])
            self.target.rmdir() if self.target.is_dir() else self.target.unlink()

    def test_a_writer_that_fails_leaves_nothing(self) -> None:
        def fail(out: ByteSink, view: PublicView, rows: Iterator[Sequence[SqlValue]]) -> int:
            out.write(b"half")
            raise OSError(28, "No space left on device")

        with mock.patch.dict(SNAPSHOT_WRITERS, {"ndjson": fail}), self.assertRaises(DiskFullError):
            self.write()
        self.assertEqual(self.left_behind(), [])

    def test_it_appears_by_one_rename(self) -> None:
        with (
            mock.patch.object(Path, "rename", side_effect=PermissionError(1, "no")),
            self.assertRaises(UnwritableError),
        ):
            self.write()
        self.assertEqual(self.left_behind(), [])

    def test_a_place_that_cannot_be_written_says_so(self) -> None:
        with self.assertRaises(UnwritableError):
            self.write(target=Path("/proc/nowhere/one"))

    def test_an_unknown_format_is_named(self) -> None:
        with self.assertRaisesRegex(ArgumentError, "no format 'xml'") as caught:
            write_snapshot(self.store, PROJECT, self.target, "xml", prompt_version="v1", now=NOW)
        self.assertIn("ndjson", caught.exception.hint)

    def test_an_old_draft_is_in_nobodys_way(self) -> None:
        self.target.parent.mkdir(parents=True)
        (self.target.parent / ".one.0123456789ab.partial").mkdir()
        self.write()
        self.assertTrue((self.target / "manifest.json").is_file())


class LargeTest(SnapshotCase):
    @unittest.skipUnless(Path("/proc/self/status").exists(), "reads /proc")
    def test_many_rows_are_streamed(self) -> None:
        connection = self.raw()
        connection.execute(
            "INSERT INTO fix_attempts (project_id, logical_id, fingerprint, rule_id, file_path, attempt_num, "
            "reported_status, verified_status, note, session_id, agent_reported_at, verified_at, verified, "
            "reason_code, reason) WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 60000) "
            "SELECT ?, 'l' || x, 'f', 'r', 'p', 1, 'fixed', 'fixed', printf('%.*c', 300, 'x'), 's', 't', 't', 1, "
            "'fixed', '' FROM n",
            (PROJECT,),
        )
        connection.commit()
        before = self.resident_kb()
        self.assertGreater(self.write().row_count, 60_000)
        self.assertLess(self.resident_kb() - before, 30_000)

    def resident_kb(self) -> int:
        with open("/proc/self/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))


if __name__ == "__main__":
    unittest.main()
