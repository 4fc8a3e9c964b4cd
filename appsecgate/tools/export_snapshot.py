"""export_snapshot: the public views as files for a warehouse."""

import enum
from dataclasses import dataclass
from pathlib import Path

from appsecgate.context import PROMPT_VERSION
from appsecgate.errors import ArgumentError, ConfigError
from appsecgate.exports.snapshot import write_snapshot
from appsecgate.session import Session
from appsecgate.tools.base import Call, Tool
from appsecgate.typed import arg


class SnapshotFormat(enum.StrEnum):
    NDJSON = "ndjson"
    PARQUET = "parquet"


@dataclass(frozen=True, slots=True)
class ExportSnapshotInput:
    path: str = arg(
        "Name of a new directory, inside the data directory's exports/.", min_length=1, max_length=1000,
        example="snapshot-1",
    )  # fmt: skip
    format: SnapshotFormat = arg(
        "ndjson: one JSON object per line; parquet: typed columns, for a warehouse.", default=SnapshotFormat.NDJSON
    )
    project_id: str | None = arg(
        "The current project's id; other projects only where a person's configuration allows it.",
        default=None, max_length=64,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Snapshot:
    path: str = arg("The directory that was written.")
    row_count: int = arg("Rows in all files.")
    format: SnapshotFormat = arg("The format.")
    files: tuple[str, ...] = arg("Files in it, manifest.json with their hashes included.")


def export_snapshot(call: Call[Session], request: ExportSnapshotInput) -> Snapshot:
    """Raises ArgumentError for a path that exists or leaves the export directory, ConfigError for other projects."""
    session = call.session
    project_id: str | None = request.project_id or session.project_id
    if project_id != session.project_id and not session.config.export_all_projects:
        raise ConfigError(
            "exporting other projects is not allowed here.",
            hint="A person can allow it with export.all_projects = true in config.toml.",
        )
    return write_to(session, request.path, request.format, project_id)


def write_to(session: Session, path: str, form: SnapshotFormat, project_id: str | None) -> Snapshot:
    """Write the snapshot of one project, or of all (None)."""
    written = write_snapshot(
        session.store,
        project_id,
        export_target(session, path),
        form.value,
        prompt_version=PROMPT_VERSION,
        now=session.now(),
    )
    return Snapshot(str(written.path), written.row_count, form, tuple(written.files))


def export_target(session: Session, path: str) -> Path:
    """A directory inside the allowed one. Raises ArgumentError for any other."""
    base = (session.config.export_dir or session.data_dir / "exports").resolve()
    target = Path(path) if Path(path).is_absolute() else base / path
    resolved = target.parent.resolve() / target.name
    if "\0" in path or target.name in ("", ".", "..") or not resolved.is_relative_to(base) or resolved == base:
        raise ArgumentError(
            f"path: {path[:200]!r} is not inside {base}.",
            hint="Give a plain name, for example path='snapshot-1'; a person can set export.dir in config.toml.",
        )
    return resolved


EXPORT_SNAPSHOT = Tool(
    name="export_snapshot",
    title="Export a snapshot",
    description=(
        "Write the public views to a new directory inside the data directory's exports/: one file per view and "
        "manifest.json with row counts, hashes and versions. It appears whole or not at all and never replaces "
        "anything. Holds redacted data of the current project and no local path; nothing is sent anywhere."
    ),
    input=ExportSnapshotInput,
    output=Snapshot,
    call=export_snapshot,
    summary="write the public views to files",
    read_only=False,
)
