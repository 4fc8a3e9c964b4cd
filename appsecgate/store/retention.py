"""What is forgotten, and when. The current project alone is swept; identities stay."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from appsecgate.store.rows import utc_text
from appsecgate.store.writer import Writer

DEFAULT_RETENTION_DAYS: Mapping[str, int] = {
    "shown": 30,
    "fixed": 90,
    "wont_fix": 180,
    "false_positive": 180,
    "attempts": 180,
    "audit": 30,
}


@dataclass(frozen=True, slots=True)
class Swept:
    """Rows that a sweep took away."""

    expired: int
    archived: int
    attempts: int
    audited: int
    leftovers: int
    """Superseded file evidence and contexts of fingerprints that no finding has any more."""


def apply_retention(
    writer: Writer, project_id: str, now: str, days: Mapping[str, int] = DEFAULT_RETENTION_DAYS
) -> Swept:
    """Sweep the project. ``days``: threshold per status, and for ``attempts`` and ``audit``; others default.

    A finding's activity is the latest of: shown, status set, context asked for, attempt.
    """
    moment = datetime.fromisoformat(now)
    before = {
        name: utc_text(moment - timedelta(days=days.get(name, default)))
        for name, default in DEFAULT_RETENTION_DAYS.items()
    }
    return Swept(
        expired=writer.expire_shown(project_id, before["shown"], now),
        archived=sum(
            writer.archive_shown(project_id, status, before[status], now)
            for status in ("fixed", "wont_fix", "false_positive")
        ),
        attempts=writer.delete_attempts(project_id, before["attempts"]),
        audited=writer.delete_audit(project_id, before["audit"]),
        leftovers=writer.delete_leftovers(project_id, before["attempts"]),
    )
