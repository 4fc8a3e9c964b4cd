"""Verification attempts, and how far the findings in work have been brought to an end."""
# ruff: noqa: S608 -- what is put into SQL texts are names and marks of this program, never values

import sqlite3
from dataclasses import dataclass

from appsecgate.model import Attempt, FixStatus, LifeStatus, ReasonCode
from appsecgate.store.finding_writes import FindingWrites
from appsecgate.store.rows import Rows, SqlValue, clip, path_from_db, path_to_db

ATTEMPT_NOTE_CHARS = 4_000


@dataclass(frozen=True, slots=True)
class StoredAttempt:
    """An attempt with its numbers."""

    attempt_id: int
    attempt_num: int
    """1, 2, … per finding."""
    attempt: Attempt


@dataclass(frozen=True, slots=True)
class Coverage:
    """A project's row of ``v_verification_coverage``."""

    in_work: int = 0
    attempted: int = 0
    fixed: int = 0
    not_fixed: int = 0
    wont_fix: int = 0
    false_positive: int = 0
    suppressed: int = 0
    expired: int = 0
    coverage_pct: float | None = None
    """0 to 100; None when nothing is in work."""


class AttemptReads(Rows):
    """Questions about attempts."""

    def attempts(
        self, project_id: str, logical_id: str | None = None, limit: int | None = None
    ) -> list[StoredAttempt]:
        """The latest first."""
        more = "" if logical_id is None else "AND logical_id = ?"
        values: list[SqlValue] = [project_id] if logical_id is None else [project_id, logical_id]
        sql = f"SELECT * FROM fix_attempts WHERE project_id = ? {more} ORDER BY id DESC LIMIT ?"
        return [_stored_attempt(row) for row in self._rows(sql, [*values, -1 if limit is None else limit])]

    def attempt_counts(self, project_id: str, logical_id: str | None = None) -> dict[FixStatus, int]:
        """How many attempts ended with each verified status; every status is there."""
        more = "" if logical_id is None else "AND logical_id = ?"
        values: list[SqlValue] = [project_id] if logical_id is None else [project_id, logical_id]
        sql = f"SELECT verified_status, count(*) FROM fix_attempts WHERE project_id = ? {more} GROUP BY 1"
        counts = {row[0]: int(row[1]) for row in self._rows(sql, values)}
        return {status: counts.get(status, 0) for status in FixStatus}

    def coverage(self, project_id: str) -> Coverage:
        """All zero for a project that is not registered."""
        row = self._row("SELECT * FROM v_verification_coverage WHERE project_id = ?", (project_id,))
        if row is None:
            return Coverage()
        return Coverage(**{name: row[name] for name in row.keys() if name != "project_id"})  # noqa: SIM118


class AttemptWrites(FindingWrites, AttemptReads):
    """Storing attempts."""

    def add_attempt(self, project_id: str, attempt: Attempt) -> int:
        """Store an accepted call and make its verified status the last word; the attempt's number.

        The number cannot be given twice: the writer holds the database's only write lock.
        """
        logical_id = attempt.logical_id
        row = self._row(
            "SELECT coalesce(max(attempt_num), 0) + 1 FROM fix_attempts WHERE project_id = ? AND "
            "logical_id = ?",
            (project_id, logical_id),
        )
        number = int(row[0]) if row else 1
        self._run(
            "INSERT INTO fix_attempts (project_id, logical_id, fingerprint, rule_id, file_path, attempt_num, "
            "reported_status, verified_status, note, session_id, agent_reported_at, verified_at, verified, "
            "reason_code, reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (project_id, *_attempt_columns(attempt, number)),
        )
        if attempt.verified and attempt.verified_status is FixStatus.FIXED:
            self._take_out(project_id, logical_id, attempt.verified_at)
        self._set_word(project_id, logical_id, LifeStatus(attempt.verified_status), attempt.verified_at)
        return number

    def _take_out(self, project_id: str, logical_id: str, at: str) -> None:
        """A confirmed fix is gone; where no scan has said so yet, no cached answer may stand in its way."""
        self._run(
            "DELETE FROM target_states WHERE (project_id, path, scanner) IN (SELECT project_id, "
            "file_path, scanner "
            "FROM findings WHERE project_id = ? AND logical_id = ? AND present = 1)",
            (project_id, logical_id),
        )
        self._set_gone(project_id, [logical_id], at)


def _attempt_columns(attempt: Attempt, number: int) -> tuple[SqlValue, ...]:
    return (
        attempt.logical_id,
        attempt.fingerprint,
        attempt.rule_id,
        path_to_db(attempt.file_path),
        number,
        attempt.reported_status,
        attempt.verified_status,
        clip(attempt.note, ATTEMPT_NOTE_CHARS),
        attempt.session_id,
        attempt.agent_reported_at,
        attempt.verified_at,
        int(attempt.verified),
        attempt.reason_code,
        clip(attempt.reason, ATTEMPT_NOTE_CHARS),
    )


def _stored_attempt(row: sqlite3.Row) -> StoredAttempt:
    attempt = Attempt(
        logical_id=row["logical_id"],
        fingerprint=row["fingerprint"],
        rule_id=row["rule_id"],
        file_path=path_from_db(row["file_path"]),
        reported_status=FixStatus(row["reported_status"]),
        verified_status=FixStatus(row["verified_status"]),
        verified=bool(row["verified"]),
        reason_code=ReasonCode(row["reason_code"]),
        reason=row["reason"],
        note=row["note"] or "",
        session_id=row["session_id"],
        agent_reported_at=row["agent_reported_at"],
        verified_at=row["verified_at"],
    )
    return StoredAttempt(row["id"], row["attempt_num"], attempt)
