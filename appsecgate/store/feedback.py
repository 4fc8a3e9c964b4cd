"""What people and agents said about findings: an offline queue, shown in later packs."""
# ruff: noqa: S608 -- what is put into SQL texts are names and marks of this program, never values

import sqlite3
from dataclasses import dataclass

from appsecgate.model import FeedbackVerdict, LifeStatus
from appsecgate.store.finding_writes import FindingWrites
from appsecgate.store.rows import Rows, SqlValue, clip

COMMENT_CHARS = 4_000


@dataclass(frozen=True, slots=True)
class Feedback:
    """One statement. Its comment is redacted."""

    logical_id: str
    fingerprint: str
    verdict: FeedbackVerdict
    comment: str
    session_id: str
    created_at: str


class FeedbackReads(Rows):
    """Questions about feedback."""

    def feedback(
        self, project_id: str, logical_id: str | None = None, limit: int | None = None
    ) -> list[Feedback]:
        """The latest first."""
        more = "" if logical_id is None else "AND logical_id = ?"
        values: list[SqlValue] = [project_id] if logical_id is None else [project_id, logical_id]
        sql = f"SELECT * FROM feedback WHERE project_id = ? {more} ORDER BY id DESC LIMIT ?"
        return [_stored_feedback(row) for row in self._rows(sql, [*values, -1 if limit is None else limit])]


class FeedbackWrites(FindingWrites, FeedbackReads):
    """Storing feedback."""

    def add_feedback(
        self,
        project_id: str,
        logical_id: str,
        verdict: FeedbackVerdict,
        comment: str,
        session_id: str,
        at: str | None = None,
    ) -> None:
        """Store a statement (redacted). A false positive becomes the last word; nothing else changes."""
        moment = at or self.now()
        stored = self._row(
            "SELECT fingerprint FROM findings WHERE project_id = ? AND logical_id = ?",
            (project_id, logical_id),
        )
        self._run(
            "INSERT INTO feedback (project_id, logical_id, fingerprint, verdict, comment, "
            "session_id, created_at) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                project_id,
                logical_id,
                stored["fingerprint"] if stored else "",
                verdict,
                clip(comment, COMMENT_CHARS),
                session_id,
                moment,
            ),
        )
        if verdict is FeedbackVerdict.FALSE_POSITIVE:
            self._set_word(project_id, logical_id, LifeStatus.FALSE_POSITIVE, moment)


def _stored_feedback(row: sqlite3.Row) -> Feedback:
    return Feedback(
        logical_id=row["logical_id"],
        fingerprint=row["fingerprint"],
        verdict=FeedbackVerdict(row["verdict"]),
        comment=row["comment"],
        session_id=row["session_id"],
        created_at=row["created_at"],
    )
