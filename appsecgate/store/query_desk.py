"""What queries of one process share: the copy that is fresh, and the connection that tells and audits."""

import sqlite3
import threading
from pathlib import Path

from appsecgate.store.audit import AuditEntry, AuditWrites
from appsecgate.store.database import connect, refuse_newer, retry_while_busy, storage_errors
from appsecgate.store.migrations import SCHEMA_VERSION, schema_version
from appsecgate.store.rows import Clock
from appsecgate.store.sandbox import ViewCopy


class QueryDesk:
    """Serves one query at a time: hold ``lock`` while using it.

    ``PRAGMA data_version`` moves when any *other* connection commits. The audit log is therefore written
    through the connection that is asked for it, or every query would make its own copy stale.
    """

    def __init__(self, path: Path, clock: Clock) -> None:
        self.lock = threading.Lock()
        self._path = path
        self._clock = clock
        self._ledger: sqlite3.Connection | None = None
        self._copy: ViewCopy | None = None
        self._copied: tuple[str, int] | None = None

    def fresh_copy(self, project_id: str) -> ViewCopy:
        """The copy of this project's rows, empty where the ledger has changed since. Raises StorageError.

        SchemaVersionError where a newer program has taken the file over.
        """
        with storage_errors():
            connection = self._connection()
            refuse_newer(schema_version(connection), SCHEMA_VERSION)
            version = int(connection.execute("PRAGMA data_version").fetchone()[0])
            if self._copy is None or self._copied != (project_id, version):
                self.drop_copy()
                self._copy = ViewCopy(self._path, project_id)
                self._copied = (project_id, version)
        return self._copy

    def drop_copy(self) -> None:
        """Give the copy's memory back."""
        if self._copy is not None:
            self._copy.close()
        self._copy = self._copied = None

    def audit(self, project_id: str, entry: AuditEntry) -> None:
        """Write a line of the query log. Raises StorageError."""
        connection = self._connection()
        with storage_errors():
            retry_while_busy(lambda: connection.execute("BEGIN IMMEDIATE"))
            try:
                refuse_newer(schema_version(connection), SCHEMA_VERSION)
                AuditWrites(connection, self._clock).add_audit(project_id, entry)
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    def _connection(self) -> sqlite3.Connection:
        if self._ledger is None:
            self._ledger = connect(self._path)
        return self._ledger

    def close(self) -> None:
        """Close both connections."""
        with self.lock:
            self.drop_copy()
            if self._ledger is not None:
                self._ledger.close()
            self._ledger = None
