"""Opening the ledger, its files, its transactions, and its errors."""

import os
import sqlite3
import stat
import threading
import unittest
from datetime import UTC, datetime
from pathlib import Path
from unittest import mock

from appsecgate.errors import (
    CorruptDatabaseError,
    DiskFullError,
    SchemaVersionError,
    StorageError,
    UnwritableError,
)
from appsecgate.store import database
from appsecgate.store.connection import Store
from appsecgate.store.migrations import SCHEMA_VERSION
from tests.store.ledger import PROJECT, LedgerCase, make_finding


def now() -> datetime:
    return datetime.now(UTC)


class OpeningTest(LedgerCase):
    def mode(self, path: Path) -> int:
        return stat.S_IMODE(path.stat().st_mode)

    def test_only_the_owner_may_look(self) -> None:
        self.scan([make_finding("one")])
        self.assertEqual(self.mode(self.data), 0o700)
        for path in self.data.iterdir():
            with self.subTest(path.name):
                self.assertEqual(self.mode(path), 0o600)

    def test_the_key_is_made_once(self) -> None:
        self.assertEqual(len(self.store.key), 32)
        self.assertEqual(self.open_store().key, self.store.key)
        self.assertEqual([path.name for path in self.data.glob("redaction.key*")], ["redaction.key"])

    def test_processes_that_start_together_agree_on_the_key(self) -> None:
        keys: list[bytes] = []
        path = self.tmp / "shared.key"
        threads = [threading.Thread(target=lambda: keys.append(database.read_or_make_key(path))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(set(keys)), 1)

    def test_the_key_is_made_without_hard_links_too(self) -> None:
        with mock.patch.object(os, "link", side_effect=PermissionError(1, "no links")):
            self.assertEqual(len(database.read_or_make_key(self.tmp / "other.key")), 32)

    def test_a_damaged_key_is_not_replaced(self) -> None:
        (self.data / "redaction.key").write_bytes(b"short")
        with self.assertRaisesRegex(CorruptDatabaseError, "should hold 32 bytes and holds 5"):
            self.open_store()
        self.assertEqual((self.data / "redaction.key").read_bytes(), b"short")

    def test_the_database_is_in_wal_mode(self) -> None:
        self.assertEqual(self.rows("PRAGMA journal_mode"), [("wal",)])

    def test_a_newer_database_is_refused_and_untouched(self) -> None:
        self.store.close()
        connection = sqlite3.connect(self.store.path)
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
        connection.close()
        before = {path.name: path.read_bytes() for path in self.data.iterdir()}
        with self.assertRaisesRegex(SchemaVersionError, f"has schema {SCHEMA_VERSION + 1}"):
            self.open_store()
        self.assertEqual({path.name: path.read_bytes() for path in self.data.iterdir()}, before)

    def test_a_newer_schema_still_in_the_log_is_refused(self) -> None:
        writer = self.raw()
        writer.execute("PRAGMA wal_autocheckpoint = 0")
        writer.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
        with self.assertRaises(SchemaVersionError):
            self.open_store()

    def test_what_is_no_database_is_refused_and_untouched(self) -> None:
        for content in (b"hello", b"not a database at all " * 100):
            folder = self.tmp / f"data-{len(content)}"
            folder.mkdir()
            (folder / "appsecgate.db").write_bytes(content)
            with self.subTest(content[:10]), self.assertRaises(CorruptDatabaseError):
                Store.open(folder, clock=now)
            self.assertEqual((folder / "appsecgate.db").read_bytes(), content)

    def test_a_foreign_database_is_refused(self) -> None:
        folder = self.tmp / "foreign"
        folder.mkdir()
        connection = sqlite3.connect(folder / "appsecgate.db")
        connection.executescript("CREATE TABLE recipes (name TEXT); INSERT INTO recipes VALUES ('soup');")
        connection.close()
        with self.assertRaisesRegex(CorruptDatabaseError, "no AppSecGate schema"):
            Store.open(folder, clock=now)

    def test_a_damaged_database_says_so(self) -> None:
        self.scan([make_finding(str(number)) for number in range(200)])
        self.store.close()
        with self.store.path.open("r+b") as file:
            file.seek(4096)
            file.write(b"\xff" * (self.store.path.stat().st_size - 4096))
        with self.assertRaises(CorruptDatabaseError) as caught, self.open_store().read() as reader:
            reader.findings(PROJECT)
        self.assertIn("Move the file aside", caught.exception.explain())

    def test_a_place_that_cannot_be_written_says_so(self) -> None:
        (self.tmp / "file").write_text("")
        (self.tmp / "taken").mkdir()
        (self.tmp / "taken" / "appsecgate.db").mkdir()
        for place in (self.tmp / "file", self.tmp / "file" / "below", Path("/proc/appsecgate"), self.tmp / "taken"):
            with self.subTest(place), self.assertRaises(UnwritableError) as caught:
                Store.open(place, clock=now)
            self.assertIn("--data-dir", caught.exception.explain())

    def test_an_integrity_check_finds_nothing_in_a_sound_file(self) -> None:
        self.scan([make_finding("one")])
        self.assertEqual(self.store.problems(), [])


class TransactionTest(LedgerCase):
    def test_an_exception_takes_everything_back(self) -> None:
        with self.assertRaises(KeyError), self.store.write() as writer:
            writer.touch_project("gone", "gone", "/gone")
            raise KeyError("later")
        with self.store.read() as reader:
            self.assertIsNone(reader.project("gone"))

    def test_a_reader_sees_one_moment(self) -> None:
        other = self.open_store()
        with self.store.read() as reader:
            self.assertEqual(len(reader.projects()), 1)
            thread = threading.Thread(target=self.touch, args=(other,))
            thread.start()
            thread.join()
            self.assertEqual(len(reader.projects()), 1)
        with self.store.read() as reader:
            self.assertEqual(len(reader.projects()), 2)

    def touch(self, store: Store) -> None:
        with store.write() as writer:
            writer.touch_project("later", "later", "/later")

    def test_a_question_inside_a_change_sees_the_change(self) -> None:
        with self.store.write() as writer:
            writer.touch_project("new", "new", "/new")
            with self.store.read() as reader:
                self.assertIsNotNone(reader.project("new"))

    def test_a_change_inside_a_question_is_a_mistake_of_the_program(self) -> None:
        with self.assertRaisesRegex(RuntimeError, "cannot begin"), self.store.read(), self.store.write():
            self.fail("began")

    def test_every_thread_has_a_connection_and_ended_threads_give_theirs_back(self) -> None:
        for _ in range(5):
            thread = threading.Thread(target=self.touch, args=(self.store,))
            thread.start()
            thread.join()
        self.assertLessEqual(len(self.store._connections), 2)

    def test_a_closed_store_says_so(self) -> None:
        self.store.close()
        with self.assertRaisesRegex(StorageError, "closed"), self.store.read():
            self.fail("opened")

    def test_a_full_disk_says_so_and_stores_nothing(self) -> None:
        connection = self.store._connection()
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + 3}")
        with self.assertRaises(DiskFullError) as caught:
            self.scan([make_finding(str(number), snippet="x" * 1000) for number in range(500)])
        self.assertIn("nothing of it was stored", caught.exception.explain())
        self.assertEqual(self.rows("SELECT count(*) FROM findings"), [(0,)])
        connection.execute(f"PRAGMA max_page_count = {pages + 10_000}")
        self.scan([make_finding("one")])

    def test_a_read_only_connection_says_so(self) -> None:
        self.store._connection().execute("PRAGMA query_only = ON")
        with self.assertRaises(UnwritableError):
            self.scan([make_finding("one")])

    def test_want_of_memory_is_a_storage_error(self) -> None:
        with self.assertRaisesRegex(StorageError, "out of memory"), self.store.write():
            raise MemoryError
        self.scan([make_finding("one")])

    def test_a_refused_value_is_a_storage_error_without_the_value(self) -> None:
        with self.assertRaisesRegex(StorageError, "CHECK constraint failed") as caught, self.store.write() as writer:
            writer._run(
                "INSERT INTO feedback (project_id, logical_id, fingerprint, verdict, comment, session_id, created_at) "
                "VALUES ('p', 'l', 'f', 'MAYBE', 'a comment', 's', 't')"
            )
        self.assertNotIn("a comment", str(caught.exception))

    def test_a_process_that_never_lets_go_is_named(self) -> None:
        with mock.patch.object(database, "BUSY_TIMEOUT_S", 0.05):
            late = Store.open(self.data, clock=now)
        self.addCleanup(late.close)
        holder = self.raw()
        holder.execute("BEGIN IMMEDIATE")
        with mock.patch.object(database, "BUSY_TIMEOUT_S", 0.1), self.assertRaises(StorageError) as caught:
            self.touch(late)
        holder.rollback()
        self.assertIn("another process has held the database", str(caught.exception))
        self.assertNotIn("locked", str(caught.exception))
        self.touch(late)


if __name__ == "__main__":
    unittest.main()
