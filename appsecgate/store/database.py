"""Opening the database: files and their modes, settings of a connection, SQLite's errors in our words."""

import contextlib
import os
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

from appsecgate.errors import (
    CorruptDatabaseError,
    DiskFullError,
    SchemaVersionError,
    StorageError,
    UnwritableError,
)

DATABASE_NAME = "appsecgate.db"
KEY_NAME = "redaction.key"
KEY_BYTES = 32
BUSY_TIMEOUT_S = 30.0
"""How long a call waits for another process's write; a scan's write takes well under a second."""

_SQLITE_MAGIC = b"SQLite format 3\0"
_USER_VERSION_OFFSET = 60
_FULL = {"SQLITE_FULL", "SQLITE_IOERR_SHMSIZE"}
_CORRUPT = {"SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_FORMAT"}
_UNWRITABLE = {"SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_AUTH"}
_BUSY = {"SQLITE_BUSY", "SQLITE_LOCKED"}


def is_busy(error: sqlite3.Error) -> bool:
    """Whether another connection stands in the way for a moment."""
    return _family(error) in _BUSY


def _family(error: sqlite3.Error) -> str:
    """``SQLITE_READONLY`` for ``SQLITE_READONLY_DBMOVED``; empty where Python raised the error itself."""
    name = getattr(error, "sqlite_errorname", "") or ""
    return name if name in _FULL else "_".join(name.split("_")[:2])


def storage_error(error: sqlite3.Error) -> StorageError:
    """SQLite's error as one of the tree. Its text names columns and tables, never a value."""
    family = _family(error)
    if family in _FULL:
        return DiskFullError(f"the disk is full: {error}.")
    if family in _CORRUPT:
        return CorruptDatabaseError(f"the database is damaged or is none: {error}.")
    if family in _UNWRITABLE:
        return UnwritableError(f"the database cannot be written: {error}.")
    if family in _BUSY:
        return StorageError(
            f"another process has held the database for {BUSY_TIMEOUT_S:.0f} s.",
            hint="End the process that holds it (a shell with an open transaction?) and repeat the call.",
        )
    return StorageError(f"the database refused this: {error}.")


@contextlib.contextmanager
def storage_errors() -> Iterator[None]:
    """Turn SQLite's and the file system's errors into StorageError."""
    try:
        yield
    except sqlite3.Error as error:
        raise storage_error(error) from error
    except MemoryError as error:  # a query's limit counts for the whole process
        raise StorageError("out of memory; nothing was stored.", hint="Repeat the call.") from error
    except OSError as error:
        raise _file_error(error) from error


def _file_error(error: OSError) -> StorageError:
    if error.errno in (28, 122):  # ENOSPC, EDQUOT
        return DiskFullError(f"the disk is full: {error.strerror}.")
    return UnwritableError(f"{error.filename}: {error.strerror}.")


def prepare_data_directory(data_dir: Path) -> None:
    """Make the directory, 0700, if it is missing. Raises UnwritableError."""
    with storage_errors():
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)


def read_or_make_key(path: Path) -> bytes:
    """The redaction key: 32 random bytes, 0600, made once however many processes start together.

    It is written under another name and then linked, so that no process ever reads half of it.
    Raises UnwritableError, and CorruptDatabaseError where the file holds something else.
    """
    with storage_errors():
        if not path.exists():
            _make_key(path)
        key = path.read_bytes()
    if len(key) != KEY_BYTES:
        raise CorruptDatabaseError(
            f"{path} should hold {KEY_BYTES} bytes and holds {len(key)}.",
            hint="Restore it from a backup, or move it aside: secrets already masked then get new digests.",
        )
    return key


def _make_key(path: Path) -> None:
    draft = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_bytes(KEY_BYTES))
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            _link_or_move(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def _link_or_move(draft: Path, path: Path) -> None:
    """Give the draft its name unless another process was faster. Raises FileExistsError then."""
    try:
        os.link(draft, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links: a lost race means a second key, for a moment
        if not path.exists():
            draft.replace(path)


def prepare_database_file(path: Path, newest: int) -> None:
    """Make an empty file, 0600, or look at the one there without opening it as a database.

    Raises CorruptDatabaseError for another kind of file and SchemaVersionError for a newer schema;
    either is left untouched.
    """
    with storage_errors():
        with contextlib.suppress(FileExistsError):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        with path.open("rb") as file:
            head = file.read(100)
    if head and not head.startswith(_SQLITE_MAGIC):
        raise CorruptDatabaseError(f"{path} is not a SQLite database.")
    refuse_newer(int.from_bytes(head[_USER_VERSION_OFFSET : _USER_VERSION_OFFSET + 4], "big"), newest)


def refuse_newer(version: int, newest: int) -> None:
    """Raises SchemaVersionError where ``version`` is above ``newest``."""
    if version > newest:
        raise SchemaVersionError(
            f"the database has schema {version}; this program knows schemas up to {newest}."
        )


def connect(path: Path) -> sqlite3.Connection:
    """A connection in autocommit mode: transactions are begun and ended by hand. Raises StorageError."""
    with storage_errors():
        # check_same_thread: a connection is used by one thread alone, but close() may come from another
        connection = sqlite3.connect(
            path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False, cached_statements=256
        )
        connection.row_factory = sqlite3.Row
        try:
            _configure(connection)
        except BaseException:
            connection.close()
            raise
    return connection


def _configure(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    connection.execute("PRAGMA secure_delete = ON")  # what is deleted or masked later leaves no trace
    connection.execute("PRAGMA synchronous = NORMAL")  # in WAL mode: a lost process loses nothing
    connection.execute("PRAGMA journal_size_limit = 16777216")
    connection.execute("PRAGMA temp_store = MEMORY")  # nothing is written outside the data directory
    retry_while_busy(lambda: connection.execute("PRAGMA journal_mode = WAL").fetchone())


def retry_while_busy(action: Callable[[], object]) -> None:
    """Call until no other process is in the way: a change of the journal mode ignores the busy timeout."""
    deadline = time.monotonic() + BUSY_TIMEOUT_S
    pause_s = 0.002
    while True:
        try:
            action()
            return
        except sqlite3.OperationalError as error:
            if not is_busy(error) or time.monotonic() > deadline:
                raise
        time.sleep(pause_s)
        pause_s = min(pause_s * 2, 0.1)


def read_only_uri(path: Path) -> str:
    """A ``file:`` URI that opens the database for reading alone."""
    return f"file:{quote(str(path.absolute()))}?mode=ro"
