"""Display filters. They change what is listed, never what is true."""

import fnmatch
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Protocol

from appsecgate.errors import ArgumentError
from appsecgate.model import Category
from appsecgate.store.rows import Rows, clip, path_from_db

REASON_CHARS = 2_000


class DisplayFilter(Protocol):
    """A configured filter: each given field narrows it."""

    def covers(self, rule_id: str, path: str, category: str, today: date) -> bool:
        """Whether it hides such a finding on this day (UTC)."""
        ...


@dataclass(frozen=True, slots=True)
class Suppression:
    """A filter that a tool call set. Each given field narrows it.

    ``rule_id`` and ``path`` are shell patterns, case-sensitive: ``?`` and ``[…]`` stand for one
    character, ``*`` and ``**`` for any number of them, ``/`` included.
    """

    reason: str
    """Redacted, never empty."""
    origin: str
    rule_id: str | None = None
    path: str | None = None
    category: Category | None = None
    logical_id: str | None = None
    expires_at: str | None = None
    """UTC time from which it no longer holds, or a date: the last day on which it does."""
    created_at: str = ""
    """Filled by the store."""
    suppression_id: int = 0
    """Filled by the store."""

    def holds(self, now: str) -> bool:
        """Whether it has not expired: a date is the last day on which it holds."""
        if self.expires_at is None:
            return True
        return now < self.expires_at if "T" in self.expires_at else now[:10] <= self.expires_at

    def hides(self, logical_id: str, rule_id: str, path: str, category: str) -> bool:
        """Whether it covers this finding."""
        return (
            (self.logical_id is None or self.logical_id == logical_id)
            and (self.rule_id is None or fnmatch.fnmatchcase(rule_id, self.rule_id))
            and (self.path is None or fnmatch.fnmatchcase(path, self.path))
            and (self.category is None or self.category == category)
        )


class SuppressionReads(Rows):
    """Questions about filters."""

    def suppressions(self, project_id: str) -> list[Suppression]:
        """Those set by tools, expired ones too, in the order in which they were set."""
        sql = "SELECT * FROM suppressions WHERE project_id = ? ORDER BY id"
        return [_suppression(row) for row in self._rows(sql, (project_id,))]


class SuppressionWrites(SuppressionReads):
    """Setting and applying filters."""

    def add_suppression(self, project_id: str, suppression: Suppression) -> int:
        """Store a filter, its row number; ``apply_suppressions`` puts it to work.

        Raises ArgumentError for one without a reason or with nothing to narrow it.
        """
        chosen = (suppression.rule_id, suppression.path, suppression.category, suppression.logical_id)
        if not any(chosen):
            raise ArgumentError("a suppression needs a finding, a rule, a path or a category.")
        if not suppression.reason.strip():
            raise ArgumentError("a suppression needs a reason.")
        self._run(
            "INSERT INTO suppressions (project_id, rule_id, path, category, logical_id, reason, expires_at, "
            "origin, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                project_id,
                *(value or None for value in chosen),
                clip(suppression.reason, REASON_CHARS),
                suppression.expires_at,
                suppression.origin,
                suppression.created_at or self.now(),
            ),
        )
        row = self._row("SELECT last_insert_rowid()")
        return int(row[0]) if row else 0

    def remove_suppression(self, project_id: str, suppression_id: int) -> bool:
        """Whether there was one."""
        sql = "DELETE FROM suppressions WHERE project_id = ? AND id = ?"
        return self._run(sql, (project_id, suppression_id)) > 0

    def apply_suppressions(
        self, project_id: str, configured: Sequence[DisplayFilter], now: str | None = None
    ) -> int:
        """Recompute which findings are hidden, by stored and configured filters; how many changed.

        A finding that stands for duplicates is hidden when every one of them that is there is covered: a filter
        for one scanner's rule must not take another scanner's report out of sight.
        """
        moment = now or self.now()
        stored = [item for item in self.suppressions(project_id) if item.holds(moment)]
        if not stored and not configured:
            hidden = self._rows(
                "SELECT logical_id FROM findings WHERE project_id = ? AND suppressed = 1", (project_id,)
            )
            return self._flip_suppressed(project_id, [row[0] for row in hidden], hidden=False, now=moment)
        hide: list[str] = []
        show: list[str] = []
        hidden_now = self._hidden(project_id, _Cover(stored, configured, date.fromisoformat(moment[:10])))
        for row in self._rows("SELECT logical_id, suppressed FROM findings WHERE project_id = ?", (project_id,)):
            if (row["logical_id"] in hidden_now) != bool(row["suppressed"]):
                (show if row["suppressed"] else hide).append(row["logical_id"])
        return self._flip_suppressed(project_id, hide, hidden=True, now=moment) + self._flip_suppressed(
            project_id, show, hidden=False, now=moment
        )

    def _hidden(self, project_id: str, cover: "_Cover") -> set[str]:
        """The ids of all findings that the filters hide."""
        sql = (
            "SELECT logical_id, rule_id, file_path, category, present, merged_into FROM findings WHERE project_id = ?"
        )
        covered: set[str] = set()
        seen_besides: set[str] = set()
        for row in self._rows(sql, (project_id,)):
            if cover.hides(row):
                covered.add(row["logical_id"])
            elif row["present"] and row["merged_into"] is not None:
                seen_besides.add(row["merged_into"])
        return covered - seen_besides

    def _flip_suppressed(
        self, project_id: str, logical_ids: Collection[str], *, hidden: bool, now: str
    ) -> int:
        self._run_many(
            "UPDATE findings SET suppressed = ?, state_changed_at = CASE present WHEN 1 THEN ? "
            "ELSE state_changed_at END WHERE project_id = ? AND logical_id = ?",
            ((int(hidden), now, project_id, item) for item in logical_ids),
        )
        return len(logical_ids)


class _Cover:
    """All filters of a project; equal questions are answered once."""

    def __init__(
        self, stored: Iterable[Suppression], configured: Sequence[DisplayFilter], today: date
    ) -> None:
        self._single = {item.logical_id for item in stored if item.logical_id and _only_id(item)}
        self._stored = [item for item in stored if not _only_id(item)]
        self._configured = configured
        self._today = today
        self._known: dict[tuple[str, str, str], bool] = {}

    def hides(self, row: sqlite3.Row) -> bool:
        logical_id, path = row["logical_id"], path_from_db(row["file_path"])
        if logical_id in self._single:
            return True
        key = (row["rule_id"], path, row["category"])
        if key not in self._known:
            self._known[key] = any(item.covers(*key, self._today) for item in self._configured)
        return self._known[key] or any(item.hides(logical_id, *key) for item in self._stored)


def _only_id(item: Suppression) -> bool:
    return bool(item.logical_id) and not (item.rule_id or item.path or item.category)


def _suppression(row: sqlite3.Row) -> Suppression:
    return Suppression(
        reason=row["reason"],
        origin=row["origin"],
        rule_id=row["rule_id"],
        path=row["path"],
        category=Category(row["category"]) if row["category"] else None,
        logical_id=row["logical_id"],
        expires_at=row["expires_at"],
        created_at=row["created_at"],
        suppression_id=row["id"],
    )
