"""A snapshot: the public views as files in a new directory, with a manifest. Nothing is sent anywhere."""

import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeAlias

from appsecgate import __version__
from appsecgate.errors import ArgumentError
from appsecgate.exports.ndjson import ByteSink, write_ndjson
from appsecgate.exports.parquet import write_parquet
from appsecgate.model import Json
from appsecgate.store.connection import Store
from appsecgate.store.database import storage_errors
from appsecgate.store.migrations import SCHEMA_VERSION
from appsecgate.store.public_views import PublicView, public_views
from appsecgate.store.reader import Reader
from appsecgate.store.rows import SqlValue

MANIFEST_NAME = "manifest.json"
MANIFEST_VERSION = 1

ViewWriter: TypeAlias = Callable[[ByteSink, PublicView, Iterator[Sequence[SqlValue]]], int]
"""Writes the rows of a view and tells how many there were. It may read them only once, in order."""

SNAPSHOT_WRITERS: Mapping[str, ViewWriter] = {"ndjson": write_ndjson, "parquet": write_parquet}
"""Format, which is also the files' suffix → its writer."""


@dataclass(frozen=True, slots=True)
class WrittenSnapshot:
    """A snapshot that is there, whole."""

    path: Path
    row_count: int
    """In all files."""
    files: tuple[str, ...]
    """Names in the directory, the manifest last."""


def write_snapshot(
    store: Store, project_id: str | None, target: Path, form: str, *, prompt_version: str, now: str
) -> WrittenSnapshot:
    """Write one project's rows, or those of all (None), as they are at one moment.

    ``target`` must not exist; it appears whole or not at all. Raises ArgumentError for an existing
    target or an unknown format, UnwritableError, DiskFullError.
    """
    if form not in SNAPSHOT_WRITERS:
        raise ArgumentError(
            f"there is no format {form!r}.", hint=f"There are: {', '.join(SNAPSHOT_WRITERS)}."
        )
    if os.path.lexists(target):
        raise ArgumentError(
            f"{target.name} exists already.", hint="Name a directory that does not exist yet."
        )
    with storage_errors():
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.partial")
        draft.mkdir(mode=0o700)
        try:
            written = _write_files(store, project_id, draft, form, prompt_version, now)
            draft.rename(target)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise
    rows = sum(file.rows for file in written)
    return WrittenSnapshot(target, rows, (*(file.name for file in written), MANIFEST_NAME))


@dataclass(frozen=True, slots=True)
class _WrittenFile:
    name: str
    view: PublicView
    rows: int
    size_bytes: int
    sha256: str


class _HashingFile:
    """Writes through and remembers the hash of what was written."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self.sha256 = hashlib.sha256()
        self.size_bytes = 0

    def write(self, data: bytes) -> int:
        self.sha256.update(data)
        self.size_bytes += len(data)
        return self._out.write(data)


def _write_files(
    store: Store, project_id: str | None, folder: Path, form: str, prompt_version: str, now: str
) -> list[_WrittenFile]:
    with store.read() as reader:
        written = [_write_view(reader, project_id, folder, form, view) for view in public_views().values()]
        manifest = _manifest(reader, project_id, written, form)
    manifest |= {"prompt_version": prompt_version, "created_at": now}
    text = json.dumps(manifest, ensure_ascii=False, indent=2) + "\n"
    with _new_file(folder / MANIFEST_NAME) as out:
        out.write(text.encode("utf-8"))
        _flush_to_disk(out)
    return written


def _write_view(
    reader: Reader, project_id: str | None, folder: Path, form: str, view: PublicView
) -> _WrittenFile:
    name = f"{view.name}.{form}"
    with _new_file(folder / name) as out:
        hashing = _HashingFile(out)
        rows = SNAPSHOT_WRITERS[form](hashing, view, reader.view_rows(view.name, project_id))
        _flush_to_disk(out)
    return _WrittenFile(name, view, rows, hashing.size_bytes, hashing.sha256.hexdigest())


def _new_file(path: Path) -> BinaryIO:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def _flush_to_disk(out: BinaryIO) -> None:
    out.flush()
    os.fsync(out.fileno())


def _manifest(
    reader: Reader, project_id: str | None, written: Sequence[_WrittenFile], form: str
) -> dict[str, Json]:
    """Everything a reader needs to know; no path of this machine."""
    versions, rulesets = _scanner_facts(reader, project_id)
    return {
        "manifest_version": MANIFEST_VERSION,
        "program": "appsecgate",
        "program_version": __version__,
        "schema_version": SCHEMA_VERSION,
        "format": form,
        "project_id": project_id,
        "row_count": sum(file.rows for file in written),
        "files": [
            {
                "name": file.name,
                "view": file.view.name,
                "rows": file.rows,
                "bytes": file.size_bytes,
                "sha256": file.sha256,
                "columns": [{"name": column.name, "type": str(column.type)} for column in file.view.columns],
            }
            for file in written
        ],
        "scanner_versions": versions,
        "ruleset_hashes": rulesets,
    }


def _scanner_facts(reader: Reader, project_id: str | None) -> tuple[dict[str, Json], dict[str, Json]]:
    """Scanner → the versions, and the rulesets, that the evidence and the findings name."""
    versions: dict[str, list[Json]] = {}
    rulesets: dict[str, list[Json]] = {}
    for scanner, version, ruleset in reader.scanner_facts(project_id):
        for known, value in ((versions, version), (rulesets, ruleset)):
            values = known.setdefault(scanner, [])
            if value and value not in values:
                values.append(value)
    return dict(versions), dict(rulesets)
