"""Old schemas come forward with their rows; new ones are left alone."""

import sqlite3
import unittest

from appsecgate.errors import SchemaVersionError, StorageError
from appsecgate.store.migrations import MIGRATION_STEPS, SCHEMA_VERSION, migrate, schema_version, split_statements

OLD = """
-- Things; with a semicolon; in the comment.
CREATE TABLE things (name TEXT);
CREATE VIEW v_things (name) AS SELECT name FROM things;
"""
NEW = """
CREATE TABLE things (name TEXT, size INTEGER DEFAULT 1);
CREATE INDEX idx_things ON things(name);
-- Things.
CREATE VIEW v_things (name, size) AS SELECT name, size FROM things;
"""
STEPS = {
    1: "ALTER TABLE things ADD COLUMN size INTEGER DEFAULT 1;\nCREATE INDEX idx_things ON things(name);\n",
}


class MigrationTest(unittest.TestCase):
    def setUp(self) -> None:
        self.db = self.database()

    def database(self) -> sqlite3.Connection:
        connection = sqlite3.connect(":memory:", isolation_level=None)
        self.addCleanup(connection.close)
        return connection

    def shape(self, connection: sqlite3.Connection) -> object:
        tables = connection.execute("SELECT type, name FROM sqlite_schema ORDER BY type, name").fetchall()
        return tables, [connection.execute(f"PRAGMA table_info({name})").fetchall() for _, name in tables]

    def test_every_released_schema_has_a_way_forward(self) -> None:
        self.assertEqual(sorted(MIGRATION_STEPS), list(range(1, SCHEMA_VERSION)))

    def test_an_old_database_with_its_rows_becomes_like_a_new_one(self) -> None:
        migrate(self.db, schema=OLD, steps={}, version=1)
        self.db.execute("INSERT INTO things VALUES ('soup')")
        migrate(self.db, schema=NEW, steps=STEPS, version=2)
        new = self.database()
        migrate(new, schema=NEW, steps=STEPS, version=2)
        self.assertEqual(self.shape(self.db), self.shape(new))
        self.assertEqual(self.db.execute("SELECT * FROM v_things").fetchall(), [("soup", 1)])
        self.assertEqual(schema_version(self.db), 2)

    def test_a_step_that_fails_leaves_the_old_schema(self) -> None:
        migrate(self.db, schema=OLD, steps={}, version=1)
        with self.assertRaises(sqlite3.OperationalError):
            migrate(self.db, schema=NEW, steps={1: STEPS[1] + "DROP TABLE nothing;\n"}, version=2)
        self.assertEqual(schema_version(self.db), 1)
        self.assertEqual([row[1] for row in self.db.execute("PRAGMA table_info(things)")], ["name"])

    def test_a_missing_step_is_named(self) -> None:
        migrate(self.db, schema=OLD, steps={}, version=1)
        with self.assertRaisesRegex(StorageError, "no way from schema 2 to schema 3"):
            migrate(self.db, schema=NEW, steps=STEPS, version=3)
        self.assertEqual(schema_version(self.db), 1)

    def test_a_newer_schema_is_refused(self) -> None:
        migrate(self.db, schema=NEW, steps={}, version=2)
        with self.assertRaises(SchemaVersionError):
            migrate(self.db, schema=OLD, steps={}, version=1)

    def test_statements_are_told_apart_by_sqlite_itself(self) -> None:
        cases = {
            "": 0,
            "-- only a comment; really\n": 0,
            "CREATE TABLE a (x TEXT DEFAULT ';');\n": 1,
            "CREATE TABLE a (x); -- one;\nCREATE TABLE b (y);\n": 2,
            "CREATE TRIGGER t AFTER INSERT ON a BEGIN\n DELETE FROM b;\n DELETE FROM c;\nEND;\n": 1,
            "CREATE TABLE a (x)": 1,
        }
        for script, count in cases.items():
            with self.subTest(script):
                self.assertEqual(len(list(split_statements(script))), count)


if __name__ == "__main__":
    unittest.main()
