"""A database of the first released schema, as people have it, under the present program; and two programs on one file."""

import sqlite3
import unittest
from collections.abc import Callable
from typing import Any

from appsecgate.errors import SchemaVersionError
from appsecgate.store.connection import Store
from appsecgate.store.database import DATABASE_NAME
from appsecgate.store.migrations import SCHEMA_VERSION
from appsecgate.store.projects import PROJECT_TABLES
from appsecgate.store.public_views import public_views
from appsecgate.store.query import run_query
from tests.store.first_schema import FIRST_SCHEMA
from tests.store.ledger import PROJECT, LedgerCase, PlainMask, make_finding

HOW = "before the first release: python3 -m tests.store.first_schema; after it: a new SCHEMA_VERSION and a step"


def rows_of(connection: sqlite3.Connection) -> dict[str, list[tuple[Any, ...]]]:
    """Table → its rows, sorted by all columns of the first schema."""
    return {
        table: sorted(connection.execute(f"SELECT * FROM {table}").fetchall(), key=repr) for table in PROJECT_TABLES
    }


def shape_of(connection: sqlite3.Connection) -> dict[str, Any]:
    """Every table, index and view with its columns."""
    names = connection.execute("SELECT type, name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY 1, 2")
    return {
        f"{kind} {name}": connection.execute(
            f"PRAGMA {'index_xinfo' if kind == 'index' else 'table_xinfo'}({name})"
        ).fetchall()
        for kind, name in names.fetchall()
    }


class FirstSchemaTest(LedgerCase):
    def setUp(self) -> None:
        super().setUp()
        self.fresh = self.raw()
        self.data = self.tmp / "old"
        self.data.mkdir(mode=0o700)
        self.old = sqlite3.connect(self.data / DATABASE_NAME)
        self.addCleanup(self.old.close)
        self.old.executescript(FIRST_SCHEMA.read_text("utf-8"))
        self.before = rows_of(self.old)

    def test_the_old_database_has_rows_in_every_table(self) -> None:
        for table, rows in self.before.items():
            with self.subTest(table):
                self.assertGreater(len(rows), 0)
        self.assertEqual(self.old.execute("PRAGMA user_version").fetchone(), (1,))

    def test_it_becomes_like_a_new_one_and_keeps_every_row(self) -> None:
        self.store = self.open_store()
        now = self.raw()
        self.assertEqual(shape_of(now), shape_of(self.fresh), HOW)
        after = rows_of(now)
        for table, rows in self.before.items():
            with self.subTest(table):
                self.assertEqual([row[: len(rows[0])] for row in after[table]], rows)
        self.assertEqual(now.execute("PRAGMA user_version").fetchone(), (SCHEMA_VERSION,))
        self.assertEqual(self.store.problems(), [])

    def test_the_present_program_works_with_it(self) -> None:
        self.store = self.open_store()
        with self.store.read() as reader:
            known = {
                item.finding.message: str(item.status)
                for item in reader.findings(PROJECT, present=None, include_suppressed=True)
            }
            coverage = reader.coverage(PROJECT)
        statuses = {
            "open": "open", "shown": "shown", "fixed": "fixed", "failed": "not_fixed", "accepted": "wont_fix",
            "false alarm": "false_positive", "idle": "open", "gone": "gone", "hidden": "suppressed", "ünï 😀": "open",
        }  # fmt: skip
        for name, status in statuses.items():
            with self.subTest(name):
                self.assertEqual(known[f"about {name}"], status)
        self.assertEqual((coverage.expired, coverage.fixed), (1, 1))
        self._scans = 10  # scan-1 and the next are there
        self.scan([make_finding("new")])
        for view in public_views():
            with self.subTest(view):
                answer = run_query(self.store, PROJECT, "s", f"SELECT * FROM {view}", redactor=PlainMask())
                self.assertGreater(answer.row_count, 0)


class TwoProgramsTest(LedgerCase):
    """One process runs on while a newer program brings the file forward."""

    def test_the_older_one_stops_and_writes_nothing(self) -> None:
        self.scan([make_finding("before")])
        other = self.raw()
        other.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
        other.commit()
        attempts: dict[str, Callable[[], object]] = {
            "write": lambda: self.scan([make_finding("after")]),
            "read": lambda: self.status(make_finding("before")),
            "query": lambda: run_query(self.store, PROJECT, "s", "SELECT 1", redactor=PlainMask()),
            "open": lambda: Store.open(self.data, clock=self.clock),
        }
        for name, attempt in attempts.items():
            with self.subTest(name), self.assertRaisesRegex(SchemaVersionError, f"schema {SCHEMA_VERSION + 1}"):
                attempt()
        self.assertEqual(self.rows("SELECT count(*) FROM findings"), [(1,)])
        self.assertEqual(self.rows("SELECT count(*) FROM sql_audit_log"), [(0,)])

    def test_equal_programs_work_side_by_side(self) -> None:
        other = Store.open(self.data, clock=self.clock)
        self.addCleanup(other.close)
        self.scan([make_finding("one")])
        with other.write() as writer:
            writer.mark_shown(PROJECT, [make_finding("one").logical_id])
        self.assertEqual(self.status(make_finding("one")), "shown")


if __name__ == "__main__":
    unittest.main()
