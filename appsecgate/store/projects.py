"""Projects, and the settings that update_config keeps for each."""
# ruff: noqa: S608 -- what is put into SQL texts are names and marks of this program, never values

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from appsecgate.model import Json
from appsecgate.store.rows import Rows, from_json, to_json

PROJECT_TABLES = (
    "findings", "shown_findings", "shown_archive", "expired_findings", "finding_identity", "finding_context",
    "fix_attempts", "sql_audit_log", "scans", "scan_evidence", "scan_targets", "target_states", "file_shapes",
    "past_shapes", "secret_marks", "suppressions", "feedback", "config_values", "config_log", "projects",
)  # fmt: skip
"""Every table: each has ``project_id``."""


@dataclass(frozen=True, slots=True)
class Project:
    """A project as ``projects`` keeps it; ``project_path`` never leaves the machine."""

    project_id: str
    project_alias: str
    project_path: str
    first_seen_at: str
    last_seen_at: str


@dataclass(frozen=True, slots=True)
class ConfigChange:
    """One line of ``config_log``; None stands for "not set"."""

    key: str
    old: Json
    new: Json
    changed_by: str
    changed_at: str


@dataclass(frozen=True, slots=True)
class ConfigLine:
    """The same as it is written: values as JSON, NULL for "not set"."""

    key: str
    old: str | None
    new: str | None
    changed_by: str
    changed_at: str


class ProjectReads(Rows):
    """Questions about projects and their settings."""

    def project(self, project_id: str) -> Project | None:
        row = self._row("SELECT * FROM projects WHERE project_id = ?", (project_id,))
        return None if row is None else _project(row)

    def projects(self) -> list[Project]:
        """In the order in which they were first seen."""
        return [
            _project(row) for row in self._rows("SELECT * FROM projects ORDER BY first_seen_at, project_id")
        ]

    def config_values(self, project_id: str) -> dict[str, Json]:
        """Dotted key → value, as set through update_config."""
        sql = "SELECT key, value_json FROM config_values WHERE project_id = ? ORDER BY key"
        return {row[0]: from_json(row[1]) for row in self._rows(sql, (project_id,))}

    def config_log(self, project_id: str, limit: int = 100) -> list[ConfigChange]:
        """The latest first."""
        sql = "SELECT * FROM config_log WHERE project_id = ? ORDER BY id DESC LIMIT ?"
        return [
            ConfigChange(
                key=row["key"],
                old=from_json(row["old_json"]),
                new=from_json(row["new_json"]),
                changed_by=row["changed_by"],
                changed_at=row["changed_at"],
            )
            for row in self._rows(sql, (project_id, limit))
        ]


class ProjectWrites(ProjectReads):
    """Changes of projects and their settings."""

    def touch_project(self, project_id: str, alias: str, path: str) -> None:
        """A server works on this project: register it, or renew its alias, path and time."""
        now = self.now()
        self._run(
            "INSERT INTO projects (project_id, project_alias, project_path, first_seen_at, last_seen_at) "
            "VALUES (?, ?, ?, ?, ?) ON CONFLICT (project_id) DO UPDATE SET "
            "project_alias = excluded.project_alias, project_path = excluded.project_path, "
            "last_seen_at = max(last_seen_at, excluded.last_seen_at)",
            (project_id, alias, path, now, now),
        )

    def set_config(
        self,
        project_id: str,
        changes: Mapping[str, Json],
        *,
        by: str,
        at: str | None = None,
        redact: Callable[[Json], Json] = lambda value: value,
    ) -> None:
        """Set dotted keys; None removes one. What changes is logged, what stays equal is not.

        Values are stored, and so logged, as ``redact`` returns them.
        """
        moment = at or self.now()
        before = self.config_values(project_id)
        for key, value in changes.items():
            old = to_json(before[key]) if key in before else None
            new = None if value is None else to_json(redact(value))
            if old != new:
                self._set_config_value(project_id, key, new, moment)
                self._log_config(project_id, ConfigLine(key, old, new, by, moment))

    def _set_config_value(self, project_id: str, key: str, new: str | None, now: str) -> None:
        if new is None:
            self._run("DELETE FROM config_values WHERE project_id = ? AND key = ?", (project_id, key))
        else:
            self._run(
                "INSERT OR REPLACE INTO config_values (project_id, key, value_json, updated_at) "
                "VALUES (?, ?, ?, ?)",
                (project_id, key, new, now),
            )

    def _log_config(self, project_id: str, line: ConfigLine) -> None:
        self._run(
            "INSERT INTO config_log (project_id, key, old_json, new_json, changed_by, changed_at) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (project_id, line.key, line.old, line.new, line.changed_by, line.changed_at),
        )

    def purge_project(self, project_id: str) -> int:
        """Delete every row of the project; how many there were."""
        return sum(
            self._run(f"DELETE FROM {table} WHERE project_id = ?", (project_id,)) for table in PROJECT_TABLES
        )


def _project(row: sqlite3.Row) -> Project:
    return Project(
        project_id=row["project_id"],
        project_alias=row["project_alias"],
        project_path=row["project_path"],
        first_seen_at=row["first_seen_at"],
        last_seen_at=row["last_seen_at"],
    )
