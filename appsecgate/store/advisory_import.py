"""Building the local advisory copy from a directory or a zip of OSV records.

Records are read one at a time and bounded; the copy is built in a file of its own, flushed to the disk and
renamed over the old one, so that a failed or interrupted import leaves the old copy as it was.
"""

import hashlib
import json
import os
import sqlite3
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from appsecgate.advisories.merge import names_of_flaws
from appsecgate.advisories.osv import OsvRecord, osv_document, parse_osv
from appsecgate.advisories.yaml_subset import parse_yaml_subset
from appsecgate.errors import AdvisoryError, UnwritableError
from appsecgate.model import Json
from appsecgate.store.advisory_index import (
    ADVISORY_APPLICATION_ID,
    ADVISORY_FILE,
    ADVISORY_FORMAT,
    ADVISORY_SCHEMA,
)

MAX_ADVISORY_BYTES = 8 * 1024 * 1024
"""One record, uncompressed."""
MAX_DUMP_BYTES = 4 * 1024**3
"""All records of an import, uncompressed."""
MAX_DUMP_MEMBERS = 3_000_000
_MAX_PROBLEMS = 10
_RECORD_SUFFIXES = (".json", ".yaml", ".yml")


@dataclass(slots=True)
class ImportReport:
    """What an import saw. ``imported`` records are in the copy; the others are counted by why they are not."""

    imported: int = 0
    packages: int = 0
    withdrawn: int = 0
    other_ecosystems: int = 0
    rejected: int = 0
    problems: list[str] = field(default_factory=list)
    """The first few rejected records, each with its reason."""
    source_date: str = ""
    digest: str = ""

    def reject(self, label: str, why: str) -> None:
        self.rejected += 1
        if len(self.problems) < _MAX_PROBLEMS:
            self.problems.append(f"{label[-120:]}: {why}")


def import_advisories(source: Path, data_dir: Path, now: datetime) -> ImportReport:
    """Replace the copy in ``data_dir`` by the records in ``source``: a directory, a zip file, or one record.

    Raises AdvisoryError where the source cannot be read or holds no usable record, UnwritableError where the
    data directory refuses the new file; the old copy stays then.
    """
    report = ImportReport()
    target = data_dir / ADVISORY_FILE
    building = data_dir / f".{ADVISORY_FILE}.{os.getpid()}.tmp"
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        building.unlink(missing_ok=True)
        os.close(os.open(building, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        with closing(sqlite3.connect(building, isolation_level=None)) as connection:
            _build_copy(connection, source, now, report)
        _replace_durably(building, target)
    except (sqlite3.Error, OSError) as error:
        raise UnwritableError(f"the advisory copy could not be written: {error}") from error
    finally:
        with suppress(OSError):
            building.unlink(missing_ok=True)
    return report


def _build_copy(connection: sqlite3.Connection, source: Path, now: datetime, report: ImportReport) -> None:
    connection.execute("PRAGMA journal_mode = OFF")
    connection.execute("PRAGMA synchronous = OFF")  # the finished file is flushed once, before the rename
    connection.executescript(ADVISORY_SCHEMA)
    connection.execute(f"PRAGMA user_version = {ADVISORY_FORMAT}")
    connection.execute(f"PRAGMA application_id = {ADVISORY_APPLICATION_ID}")
    connection.execute("BEGIN")
    aliases: dict[str, tuple[str, ...]] = {}
    for label, content in _dump_records(source, report):
        record = _read_record(label, content, report)
        if record is not None and _keep_record(connection, record):
            aliases[record.id] = record.aliases
    if not aliases:
        why = f" ({'; '.join(report.problems[:3])})" if report.problems else ""
        raise AdvisoryError(f"no usable record about Python packages in {source}{why}", hint=_IMPORT_HINT)
    _finish_copy(connection, aliases, now, report)
    connection.execute("COMMIT")


_IMPORT_HINT = (
    "Name a directory or a zip of OSV records (JSON or YAML, schema 1.x): the OSV project's dump for PyPI, "
    "or a clone of a public advisory database. The old copy was left as it was."
)


def _read_record(label: str, content: bytes, report: ImportReport) -> OsvRecord | None:
    if b"PyPI" not in content:  # cheap, and most of a database of all ecosystems
        report.other_ecosystems += 1
        return None
    try:
        text = content.decode("utf-8-sig")
        document: Json = json.loads(text) if label.lower().endswith(".json") else parse_yaml_subset(text)
        record = parse_osv(document)
    except (AdvisoryError, ValueError, RecursionError) as error:
        report.reject(label, str(error)[:200] or type(error).__name__)
        return None
    if not record.packages:
        report.other_ecosystems += 1
        return None
    if record.withdrawn:
        report.withdrawn += 1
        return None
    return record


def _keep_record(connection: sqlite3.Connection, record: OsvRecord) -> bool:
    """Insert the record, unless a newer one with its id is there."""
    old = connection.execute("SELECT modified FROM record WHERE id = ?", (record.id,)).fetchone()
    if old is not None:
        if _instant(old[0]) >= _instant(record.modified):
            return False
        connection.execute("DELETE FROM package WHERE record_id = ?", (record.id,))
    connection.execute(
        "INSERT OR REPLACE INTO record (id, modified, names, body) VALUES (?, ?, '[]', ?)",
        (record.id, record.modified, json.dumps(osv_document(record), separators=(",", ":"), sort_keys=True)),
    )
    connection.executemany(
        "INSERT OR IGNORE INTO package (name, record_id) VALUES (?, ?)",
        [(package.name, record.id) for package in record.packages],
    )
    return True


def _finish_copy(
    connection: sqlite3.Connection, aliases: dict[str, tuple[str, ...]], now: datetime, report: ImportReport
) -> None:
    names = names_of_flaws(sorted(aliases.items()))
    connection.executemany(
        "UPDATE record SET names = ? WHERE id = ?",
        [(json.dumps(group), record_id) for record_id, group in names.items()],
    )
    connection.executemany(
        "INSERT OR IGNORE INTO flaw (name) VALUES (?)", [(name,) for group in names.values() for name in group]
    )
    digest = hashlib.sha256()
    newest = datetime.min.replace(tzinfo=UTC)
    latest_credible = now.astimezone(UTC) + timedelta(days=1)
    for modified, group, body in connection.execute("SELECT modified, names, body FROM record ORDER BY id"):
        digest.update(f"{group}\n{body}\n".encode())
        when = _instant(modified)
        if newest < when <= latest_credible:  # a date in the future must not make an old copy look fresh
            newest = when
    report.imported = len(aliases)
    report.packages = connection.execute("SELECT count(DISTINCT name) FROM package").fetchone()[0]
    report.digest = digest.hexdigest()[:16]
    report.source_date = _iso(newest)
    meta = {
        "records": report.imported,
        "packages": report.packages,
        "source_date": report.source_date,
        "imported_at": _iso(now),
        "digest": report.digest,
        "withdrawn": report.withdrawn,
        "rejected": report.rejected,
    }
    connection.executemany("INSERT INTO meta (key, value) VALUES (?, ?)", [(k, str(v)) for k, v in meta.items()])


def _instant(text: str) -> datetime:
    """An RFC 3339 time, its fraction cut to microseconds; the beginning of time where it is no date."""
    try:
        when = datetime.fromisoformat(text[:19]).replace(tzinfo=UTC)
        zone = text.lstrip("0123456789-T:.") if text.endswith("Z") else text[-6:]
        return when if zone == "Z" else datetime.fromisoformat(text[:19] + zone).astimezone(UTC)
    except (ValueError, OverflowError):
        return datetime.min.replace(tzinfo=UTC)


def _iso(when: datetime) -> str:
    return when.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _dump_records(source: Path, report: ImportReport) -> Iterator[tuple[str, bytes]]:
    """(name, content) of every record file; raises AdvisoryError where the source itself is bad."""
    try:
        if source.is_dir():
            yield from _directory_records(source, report)
        elif zipfile.is_zipfile(source):
            yield from _zip_records(source, report)
        elif source.name.lower().endswith(_RECORD_SUFFIXES):
            yield source.name, _bounded_read(source)
        else:
            what = "is neither a directory nor a readable zip" if source.exists() else "does not exist"
            raise AdvisoryError(f"{source} {what}", hint=_IMPORT_HINT)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError) as error:
        raise AdvisoryError(f"{source} is damaged: {error}", hint=_IMPORT_HINT) from error


def _directory_records(source: Path, report: ImportReport) -> Iterator[tuple[str, bytes]]:
    """Every record below the directory; links and hidden directories (``.git``) are not followed."""
    total = 0
    for folder, folders, names in os.walk(source):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(folder, name)
            if not name.lower().endswith(_RECORD_SUFFIXES):
                continue
            try:
                content = _bounded_read(path)
            except OSError as error:
                report.reject(str(path), error.strerror or "cannot be read")
                continue
            total += len(content)
            _check_dump_size(source, total)
            if len(content) > MAX_ADVISORY_BYTES:
                report.reject(str(path), f"larger than {MAX_ADVISORY_BYTES} bytes")
            else:
                yield str(path), content


def _bounded_read(path: Path) -> bytes:
    """At most one byte over the limit, from a regular file that is no link."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with open(os.open(path, flags), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(0, "not a regular file")
        return file.read(MAX_ADVISORY_BYTES + 1)


def _zip_records(source: Path, report: ImportReport) -> Iterator[tuple[str, bytes]]:
    """Every record in the zip. Nothing is extracted, and no member is read beyond its bound."""
    with zipfile.ZipFile(source) as archive:
        members = archive.infolist()
        if len(members) > MAX_DUMP_MEMBERS:
            raise AdvisoryError(
                f"{source} holds {len(members):,} files, more than {MAX_DUMP_MEMBERS:,}", hint=_IMPORT_HINT
            )
        _check_dump_size(source, sum(member.file_size for member in members))
        for member in members:
            if not member.filename.lower().endswith(_RECORD_SUFFIXES):
                continue
            if member.file_size > MAX_ADVISORY_BYTES:
                report.reject(member.filename, f"larger than {MAX_ADVISORY_BYTES} bytes")
            elif member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                report.reject(member.filename, "packed by another method than deflate")
            else:
                with archive.open(member) as file:  # reads file_size bytes at most and checks the CRC
                    yield member.filename, file.read()


def _check_dump_size(source: Path, total: int) -> None:
    if total > MAX_DUMP_BYTES:
        raise AdvisoryError(f"{source} unpacks to more than {MAX_DUMP_BYTES:,} bytes", hint=_IMPORT_HINT)


def _replace_durably(building: Path, target: Path) -> None:
    with open(building, "rb+") as file:
        os.fsync(file.fileno())
    building.replace(target)
    if hasattr(os, "O_DIRECTORY"):
        folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
