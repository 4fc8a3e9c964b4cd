"""The schema's version, making a new database, and the steps that bring an older one forward.

A step is the SQL that turns schema n into schema n + 1; it may change tables alone. Views carry no data:
they are dropped and made anew from schema.sql after the steps. All of it happens in one transaction, so
another process sees the old schema or the new one.
"""

import re
import sqlite3
from collections.abc import Iterator, Mapping

from appsecgate.embedded import read_embedded
from appsecgate.errors import CorruptDatabaseError, StorageError
from appsecgate.store.database import refuse_newer

SCHEMA_VERSION = 1
MIGRATION_STEPS: Mapping[int, str] = {}
"""n → the SQL that turns schema n into schema n + 1."""

_VIEW_STATEMENT = re.compile(r"^(?:\s|--.*\n)*CREATE VIEW\b")


def migrate(
    connection: sqlite3.Connection,
    *,
    schema: str | None = None,
    steps: Mapping[int, str] = MIGRATION_STEPS,
    version: int = SCHEMA_VERSION,
) -> None:
    """Bring the database to ``version``. Raises SchemaVersionError for a newer one, which stays as it is."""
    found = schema_version(connection)
    refuse_newer(found, version)
    if found == version:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        _migrate_locked(connection, read_embedded("schema.sql") if schema is None else schema, steps, version)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def schema_version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _migrate_locked(
    connection: sqlite3.Connection, schema: str, steps: Mapping[int, str], version: int
) -> None:
    found = schema_version(connection)  # another process may have been faster
    refuse_newer(found, version)
    if found == version:
        return
    if found == 0:
        _refuse_foreign(connection)
        statements = list(split_statements(schema))
    else:
        _apply_steps(connection, steps, found, version)
        _drop_views(connection)
        statements = [sql for sql in split_statements(schema) if _VIEW_STATEMENT.match(sql)]
    for sql in statements:
        connection.execute(sql)
    connection.execute(f"PRAGMA user_version = {version:d}")


def _refuse_foreign(connection: sqlite3.Connection) -> None:
    """A database without our version but with tables is somebody else's."""
    if connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
        raise CorruptDatabaseError("the database holds tables, but no AppSecGate schema.")


def _apply_steps(connection: sqlite3.Connection, steps: Mapping[int, str], found: int, version: int) -> None:
    for number in range(found, version):
        if number not in steps:
            raise StorageError(f"there is no way from schema {number} to schema {number + 1}.")
        for sql in split_statements(steps[number]):
            connection.execute(sql)


def _drop_views(connection: sqlite3.Connection) -> None:
    rows = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'view'").fetchall()
    for (name,) in rows:
        connection.execute(f'DROP VIEW "{name}"')


def split_statements(script: str) -> Iterator[str]:
    """The statements of a script, one by one: ``executescript`` would end the transaction."""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if line.rstrip().endswith(";") and sqlite3.complete_statement(pending):
            yield pending
            pending = ""
    if pending.strip() and not re.fullmatch(r"(?:\s|--.*(?:\n|$))*", pending):
        yield pending
