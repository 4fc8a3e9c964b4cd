"""Every question that can be asked of the store."""
# ruff: noqa: S608 -- what is put into SQL texts are names and marks of this program, never values

from collections.abc import Iterator

from appsecgate.store.attempts import AttemptReads
from appsecgate.store.audit import AuditReads
from appsecgate.store.feedback import FeedbackReads
from appsecgate.store.files import FileReads
from appsecgate.store.findings import FindingReads
from appsecgate.store.projects import ProjectReads
from appsecgate.store.public_views import public_view
from appsecgate.store.rows import SqlValue
from appsecgate.store.scans import ScanReads
from appsecgate.store.suppressions import SuppressionReads


class Reader(
    ProjectReads,
    FindingReads,
    ScanReads,
    FileReads,
    AttemptReads,
    FeedbackReads,
    SuppressionReads,
    AuditReads,
):
    """Questions inside one transaction: all answers are about the same moment."""

    def view_rows(self, view: str, project_id: str | None) -> Iterator[tuple[SqlValue, ...]]:
        """The rows of a public view, one by one; of every project where ``project_id`` is None.

        Raises KeyError for a view that is not public.
        """
        columns = ", ".join(column.name for column in public_view(view).columns)
        where = "" if project_id is None else " WHERE project_id = ?"
        values = () if project_id is None else (project_id,)
        cursor = self._db.execute(f"SELECT {columns} FROM {view}{where}", values)
        for row in cursor:
            yield tuple(row)

    def scanner_facts(self, project_id: str | None) -> list[tuple[str, str, str]]:
        """Scanner, version and ruleset hash, as evidence and findings name them."""
        where = "" if project_id is None else " WHERE project_id = :project"
        sql = " UNION ".join(
            f"SELECT scanner, scanner_version, ruleset_hash FROM {table}{where}"
            for table in ("v_scan_evidence", "v_findings")
        )
        rows = self._db.execute(sql, {} if project_id is None else {"project": project_id})
        return sorted((row[0], row[1], row[2]) for row in rows)
