"""The store: one database file, a connection per thread, transactions for reading and for writing."""

import contextlib
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from appsecgate.errors import StorageError
from appsecgate.store.database import (
    DATABASE_NAME,
    KEY_NAME,
    connect,
    prepare_data_directory,
    prepare_database_file,
    read_or_make_key,
    refuse_newer,
    retry_while_busy,
    storage_errors,
)
from appsecgate.store.migrations import SCHEMA_VERSION, migrate, schema_version
from appsecgate.store.query_desk import QueryDesk
from appsecgate.store.reader import Reader
from appsecgate.store.reindex import TextRedactor, reindex_texts
from appsecgate.store.rows import Clock
from appsecgate.store.writer import Writer

_Access = TypeVar("_Access", bound=Reader)


class Store:
    """The ledger in a data directory. Any number of threads and processes may use it at once."""

    def __init__(self, path: Path, key: bytes, clock: Clock) -> None:
        """Use ``Store.open``."""
        self.path = path
        """The database file."""
        self.key = key
        """The redaction key, 32 bytes."""
        self.clock = clock
        self.queries = QueryDesk(path, clock)
        """What ``query.run_query`` works with."""
        self._local = threading.local()
        self._lock = threading.Lock()
        self._connections: dict[threading.Thread, sqlite3.Connection] = {}
        self._closed = False

    @classmethod
    def open(cls, data_dir: Path, *, clock: Clock) -> "Store":
        """Open the ledger, made (0700, 0600) if it is missing, brought forward if it is old.

        Raises UnwritableError, DiskFullError, CorruptDatabaseError, or SchemaVersionError for a database
        of a newer program, which stays untouched.
        """
        prepare_data_directory(data_dir)
        path = data_dir / DATABASE_NAME
        prepare_database_file(path, SCHEMA_VERSION)
        store = cls(path, read_or_make_key(data_dir / KEY_NAME), clock)
        try:
            store._prepare()
        except BaseException:
            store.close()
            raise
        return store

    def _prepare(self) -> None:
        connection = self._connection()
        with storage_errors():
            retry_while_busy(lambda: migrate(connection))

    def _connection(self) -> sqlite3.Connection:
        """This thread's connection, made at its first use."""
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None or self._closed:
            connection = self._connect()
            self._local.connection = connection
        return connection

    def _connect(self) -> sqlite3.Connection:
        with self._lock:
            if self._closed:
                raise StorageError("the store is closed.")
            for thread in [thread for thread in self._connections if not thread.is_alive()]:
                self._connections.pop(thread).close()
            connection = connect(self.path)
            self._connections[threading.current_thread()] = connection
        return connection

    @contextlib.contextmanager
    def read(self) -> Iterator[Reader]:
        """A transaction for reading: everything in it is about one moment, whoever writes meanwhile.

        Raises StorageError; SchemaVersionError where a newer program has taken the file over meanwhile.
        """
        with self._transaction(Reader, "BEGIN") as reader:
            yield reader

    @contextlib.contextmanager
    def write(self) -> Iterator[Writer]:
        """A transaction for writing: kept whole at the end, dropped whole on an exception.

        One writer at a time, across all processes; others wait. Keep it short. Raises StorageError.
        """
        with self._transaction(Writer, "BEGIN IMMEDIATE") as writer:
            yield writer

    @contextlib.contextmanager
    def _transaction(self, access: type[_Access], begin: str) -> Iterator[_Access]:
        connection = self._connection()
        if connection.in_transaction and access is Writer:
            raise RuntimeError("write() cannot begin inside read() or write() of the same thread")
        if connection.in_transaction:  # a question inside a change sees what was changed so far
            with storage_errors():
                yield access(connection, self.clock)
            return
        with storage_errors():
            retry_while_busy(lambda: connection.execute(begin))
        try:
            with storage_errors():
                # a newer program may have brought the file forward while this one runs
                refuse_newer(schema_version(connection), SCHEMA_VERSION)
                yield access(connection, self.clock)
                connection.execute("COMMIT")
        except BaseException:
            self._roll_back(connection)
            raise

    def _roll_back(self, connection: sqlite3.Connection) -> None:
        """Nothing of the transaction stays; SQLite has often done it already."""
        with contextlib.suppress(sqlite3.Error):
            if connection.in_transaction:
                connection.execute("ROLLBACK")

    def problems(self) -> list[str]:
        """What an integrity check finds; empty when the file is sound. Reads the whole file."""
        connection = self._connection()
        with storage_errors():
            rows = connection.execute("PRAGMA integrity_check(20)").fetchall()
        return [str(row[0]) for row in rows if row[0] != "ok"]

    def reindex(self, redactor_of: Callable[[str], TextRedactor]) -> int:
        """Mask every stored text anew, each project's (by its id) with its own redactor; how many changed. Nothing is
        ever unmasked.

        What was masked before stays masked: the original is gone. The old texts are overwritten in the file.
        """
        with self.write() as writer:
            changed = reindex_texts(writer, redactor_of)
        self._overwrite_log()
        return changed

    def purge(self, project_id: str) -> int:
        """Delete all rows of a project and overwrite them in the file; how many there were."""
        with self.write() as writer:
            deleted = writer.purge_project(project_id)
        self._overwrite_log()
        return deleted

    def _overwrite_log(self) -> None:
        """Bring the write-ahead log into the database and cut it to nothing, as far as readers allow."""
        connection = self._connection()
        with storage_errors():
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def close(self) -> None:
        """Close every connection. Calls in other threads must have ended."""
        self.queries.close()
        with self._lock:
            self._closed = True
            for connection in self._connections.values():
                connection.close()
            self._connections.clear()
