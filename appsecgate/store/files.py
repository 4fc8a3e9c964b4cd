"""What is remembered of files: their shape for matching, and how the secrets found in them are recognised."""
# ruff: noqa: S608 -- what is put into SQL texts are names and marks of this program, never values

from collections.abc import Collection

from appsecgate.redact.redactor import SecretMark
from appsecgate.store.rows import Rows, in_parts, marks_for, path_from_db, path_to_db
from appsecgate.store.scans import FileShape

PAST_SHAPES = 5
"""Earlier shapes of one file that are kept at most."""
_KEEP_PAST = (
    "INSERT OR REPLACE INTO past_shapes SELECT s.project_id, s.path, s.sha256, s.line_hashes FROM file_shapes s "
    "WHERE s.project_id = ? AND s.path = ? AND s.sha256 <> ? AND EXISTS (SELECT 1 FROM findings f "
    "WHERE f.project_id = s.project_id AND f.file_path = s.path AND f.source_sha256 = s.sha256)"
)
_PRUNE_PAST = (
    "DELETE FROM past_shapes WHERE project_id = ? AND path = ? AND rowid NOT IN (SELECT rowid FROM past_shapes "
    f"WHERE project_id = ? AND path = ? ORDER BY rowid DESC LIMIT {PAST_SHAPES})"
)


class FileReads(Rows):
    """Questions about files."""

    def shapes(self, project_id: str, paths: Collection[str]) -> dict[str, FileShape]:
        """The shapes of those files that have one."""
        found: dict[str, FileShape] = {}
        for part in in_parts(sorted(path_to_db(path) for path in set(paths))):
            sql = f"SELECT * FROM file_shapes WHERE project_id = ? AND path IN ({marks_for(part)})"
            for row in self._rows(sql, (project_id, *part)):
                path = path_from_db(row["path"])
                found[path] = FileShape(
                    path, row["sha256"], row["line_hashes"], row["scopes_json"], row["ages"]
                )
        return found

    def past_shape(self, project_id: str, path: str, sha256: str) -> bytes | None:
        """The line hashes that a file had with these bytes, where they are remembered."""
        for table in ("file_shapes", "past_shapes"):
            sql = f"SELECT line_hashes FROM {table} WHERE project_id = ? AND path = ? AND sha256 = ?"
            if row := self._row(sql, (project_id, path_to_db(path), sha256)):
                return bytes(row[0])
        return None

    def secret_marks(self, project_id: str) -> tuple[SecretMark, ...]:
        """How the secrets ever flagged in this project are recognised."""
        sql = (
            "SELECT kind, length, digest FROM secret_marks WHERE project_id = ? ORDER BY kind, length, digest"
        )
        return tuple(SecretMark(row[0], row[1], row[2]) for row in self._rows(sql, (project_id,)))


class FileWrites(FileReads):
    """Remembering files."""

    def put_shapes(
        self, project_id: str, shapes: Collection[FileShape], dropped: Collection[str] = ()
    ) -> None:
        """Remember these files as they are now and forget the ``dropped`` paths.

        An empty ``scopes_json`` (the file does not parse) keeps the last good scopes. What a file was like when
        something was last seen in it that is gone now is kept, for the last few such versions.
        """
        self._run_many(_KEEP_PAST, ((project_id, path_to_db(shape.path), shape.sha256) for shape in shapes))
        self._run_many(_PRUNE_PAST, ((project_id, path_to_db(shape.path)) * 2 for shape in shapes))
        self._run_many(
            "INSERT INTO file_shapes (project_id, path, sha256, line_hashes, scopes_json, ages) VALUES "
            "(?, ?, ?, ?, ?, ?) "
            "ON CONFLICT (project_id, path) DO UPDATE SET sha256 = excluded.sha256, "
            "line_hashes = excluded.line_hashes, ages = excluded.ages, scopes_json = CASE excluded.scopes_json WHEN '' "
            "THEN scopes_json ELSE excluded.scopes_json END",
            (
                (
                    project_id,
                    path_to_db(shape.path),
                    shape.sha256,
                    shape.line_hashes,
                    shape.scopes_json,
                    shape.ages,
                )
                for shape in shapes
            ),
        )
        self._run_many(
            "DELETE FROM file_shapes WHERE project_id = ? AND path = ?",
            ((project_id, path_to_db(path)) for path in dropped),
        )

    def add_secret_marks(self, project_id: str, marks: Collection[SecretMark]) -> None:
        """Remember how these secrets are recognised."""
        self._run_many(
            "INSERT OR IGNORE INTO secret_marks (project_id, kind, length, digest) VALUES (?, ?, ?, ?)",
            ((project_id, mark.kind, mark.length, mark.digest) for mark in marks),
        )
