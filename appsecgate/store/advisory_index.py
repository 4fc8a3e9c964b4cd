"""The local advisory copy: one SQLite file of its own, built whole and replaced whole, read by many.

``advisories.db`` in the data directory never changes in place: ``advisory_import`` builds a new file beside it
and renames it. Readers open it as immutable, so that they need no lock and write no journal, and open it
anew when the file was replaced.
"""

import json
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from appsecgate.advisories.lookup import AdvisoryStatus
from appsecgate.advisories.merge import AdvisoryAnswer, answer_for
from appsecgate.advisories.osv import OsvRecord, parse_osv
from appsecgate.advisories.pep440 import canonical_name
from appsecgate.errors import AdvisoryError

ADVISORY_FILE = "advisories.db"
ADVISORY_FORMAT = 1
"""``PRAGMA user_version``; another one is refused, and an import mends it."""
ADVISORY_APPLICATION_ID = 0x41534756
"""``PRAGMA application_id``: "ASGV"."""

ADVISORY_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID; -- counts, dates, digest
CREATE TABLE record (
    id TEXT PRIMARY KEY,      -- the record's own id
    modified TEXT NOT NULL,   -- RFC 3339; of two records with one id the newer stays
    names TEXT NOT NULL,      -- JSON list: every name of the flaw, the canonical one first
    body TEXT NOT NULL        -- the record in the OSV schema, reduced to what an audit reads
) WITHOUT ROWID;
CREATE TABLE package (
    name TEXT NOT NULL,       -- normalised (PEP 503)
    record_id TEXT NOT NULL,
    PRIMARY KEY (name, record_id)
) WITHOUT ROWID;
CREATE TABLE flaw (name TEXT PRIMARY KEY) WITHOUT ROWID; -- every name that a flaw goes by
"""
_MEMO_PACKAGES = 512


@dataclass(frozen=True, slots=True)
class _PackageRecords:
    records: tuple[OsvRecord, ...]
    names: dict[str, tuple[str, ...]]


def utc_clock() -> datetime:
    """The present moment, with its zone."""
    return datetime.now(UTC)


class AdvisoryIndex:
    """An ``advisories.lookup.AdvisoryLookup`` over the file in ``data_dir``; usable from every thread."""

    def __init__(self, data_dir: Path, *, clock: Callable[[], datetime] = utc_clock) -> None:
        self.path = data_dir / ADVISORY_FILE
        self._clock = clock
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._stamp: tuple[int, ...] = ()
        self._memo: OrderedDict[str, _PackageRecords] = OrderedDict()

    def status(self, now: datetime | None = None) -> AdvisoryStatus:
        """The copy at ``now`` (else by the clock); its ``problem`` says why there is none to be used."""
        try:
            with self._lock:
                meta = dict(self._open().execute("SELECT key, value FROM meta").fetchall())
            source_date = datetime.fromisoformat(meta["source_date"])
            return AdvisoryStatus(
                int(meta["records"]),
                int(meta["packages"]),
                meta["source_date"],
                meta["imported_at"],
                max(((now or self._clock()).astimezone(UTC) - source_date).days, 0),
                meta["digest"],
                "" if int(meta["records"]) > 0 else "the advisory copy is empty",
            )
        except AdvisoryError as error:
            return _no_copy(str(error))
        except (sqlite3.Error, KeyError, ValueError):
            return _no_copy("the advisory copy is damaged")

    def lookup(self, name: str, version: str) -> AdvisoryAnswer:
        """What the copy says about one version; AdvisoryError where there is no usable copy."""
        name = canonical_name(name)
        kept = self._records_of(name)
        return answer_for(name, version, kept.records, kept.names)

    def knows(self, name: str) -> bool:
        """Whether some record speaks of the package; AdvisoryError where there is no usable copy."""
        return bool(self._records_of(canonical_name(name)).records)

    def knows_flaw(self, advisory_id: str) -> bool:
        """Whether some record goes by this name; AdvisoryError where there is no usable copy."""
        with self._lock:
            try:
                found = self._open().execute("SELECT 1 FROM flaw WHERE name = ?", (advisory_id,)).fetchone()
            except sqlite3.Error as error:
                raise AdvisoryError(f"the advisory copy is damaged: {error}") from None
        return found is not None

    def close(self) -> None:
        """Let the file go; a later question opens it again."""
        with self._lock:
            self._drop()

    def _records_of(self, name: str) -> _PackageRecords:
        with self._lock:
            connection = self._open()
            if name not in self._memo:
                self._memo[name] = _read_records(connection, name)
                if len(self._memo) > _MEMO_PACKAGES:
                    self._memo.popitem(last=False)
            return self._memo[name]

    def _open(self) -> sqlite3.Connection:
        """The connection to the file that is there now. Called with the lock held."""
        try:
            found = self.path.stat()
        except OSError:
            self._drop()
            raise AdvisoryError("there is no local advisory copy") from None
        stamp = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
        if self._connection is None or stamp != self._stamp:
            self._drop()
            self._connection = _open_copy(self.path)
            self._stamp = stamp
        return self._connection

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None
        self._memo.clear()


def _no_copy(problem: str) -> AdvisoryStatus:
    return AdvisoryStatus(0, 0, "", "", None, "", problem)


def _open_copy(path: Path) -> sqlite3.Connection:
    connection = None
    try:
        connection = sqlite3.connect(
            f"file:{quote(str(path))}?mode=ro&immutable=1", uri=True, check_same_thread=False, isolation_level=None
        )
        found = connection.execute("PRAGMA user_version").fetchone()[0]
    except sqlite3.Error:
        if connection is not None:
            connection.close()
        raise AdvisoryError("the advisory copy is damaged") from None
    if found != ADVISORY_FORMAT:
        connection.close()
        raise AdvisoryError(f"the advisory copy has format {found}, this program reads {ADVISORY_FORMAT}")
    return connection


def _read_records(connection: sqlite3.Connection, name: str) -> _PackageRecords:
    try:
        rows: Sequence[tuple[str, str]] = connection.execute(
            "SELECT names, body FROM package JOIN record ON record.id = record_id WHERE name = ? ORDER BY record.id",
            (name,),
        ).fetchall()
        pairs = [(parse_osv(json.loads(body)), tuple(json.loads(names))) for names, body in rows]
    except (sqlite3.Error, ValueError) as error:
        raise AdvisoryError(f"the advisory copy is damaged: {error}") from None
    return _PackageRecords(tuple(record for record, _ in pairs), {record.id: names for record, names in pairs})
