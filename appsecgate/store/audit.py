"""The log of queries."""

import enum
import sqlite3
from dataclasses import dataclass

from appsecgate.store.rows import Rows, clip

AUDITED_SQL_CHARS = 4_000


class QueryOutcome(enum.StrEnum):
    """How a query ended."""

    OK = "ok"
    TRUNCATED = "truncated"
    REFUSED = "refused"
    """Not one SELECT over the public views."""
    FAILED = "failed"
    """Wrong SQL, or a value that cannot be worked out."""
    STOPPED = "stopped"
    """Over the time or memory limit."""


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One call of query_findings_db; ``sql`` is redacted."""

    session_id: str
    sql: str
    duration_ms: int
    row_count: int
    executed_at: str
    outcome: QueryOutcome


class AuditReads(Rows):
    """Questions about the log."""

    def audit_log(self, project_id: str, limit: int = 100) -> list[AuditEntry]:
        """The latest first."""
        sql = "SELECT * FROM sql_audit_log WHERE project_id = ? ORDER BY id DESC LIMIT ?"
        return [_audit_entry(row) for row in self._rows(sql, (project_id, limit))]


class AuditWrites(AuditReads):
    """Writing the log."""

    def add_audit(self, project_id: str, entry: AuditEntry) -> None:
        self._run(
            "INSERT INTO sql_audit_log (project_id, session_id, sql, duration_ms, row_count, "
            "executed_at, outcome) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                project_id,
                entry.session_id,
                clip(entry.sql, AUDITED_SQL_CHARS),
                entry.duration_ms,
                entry.row_count,
                entry.executed_at,
                entry.outcome,
            ),
        )


def _audit_entry(row: sqlite3.Row) -> AuditEntry:
    return AuditEntry(
        session_id=row["session_id"],
        sql=row["sql"],
        duration_ms=row["duration_ms"],
        row_count=row["row_count"],
        executed_at=row["executed_at"],
        outcome=QueryOutcome(row["outcome"]),
    )
