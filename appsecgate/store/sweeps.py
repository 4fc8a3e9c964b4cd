"""The deletions that retention is made of. Times are compared as texts: they sort as the times do."""
# ruff: noqa: S608 -- what is put into SQL texts are names and marks of this program, never values

from appsecgate.store.rows import Rows


class SweepWrites(Rows):
    """Deletions of what is old."""

    def expire_shown(self, project_id: str, before: str, now: str) -> int:
        """Delete idle unresolved rows of ``shown_findings``; coverage keeps counting them as expired."""
        idle = "FROM shown_findings WHERE project_id = ? AND status = 'shown' AND last_activity_at < ?"
        self._run(
            "INSERT OR IGNORE INTO expired_findings (project_id, logical_id, expired_at) "
            f"SELECT project_id, logical_id, ? {idle} AND logical_id NOT IN (SELECT logical_id FROM findings "
            "WHERE project_id = ? AND (suppressed = 1 OR merged_into IS NOT NULL))",
            (now, project_id, before, project_id),
        )
        return self._run(f"DELETE {idle}", (project_id, before))

    def archive_shown(self, project_id: str, status: str, before: str, now: str) -> int:
        """Move old rows with this status to ``shown_archive``."""
        old = "FROM shown_findings WHERE project_id = ? AND status = ? AND last_activity_at < ?"
        self._run(
            "INSERT INTO shown_archive (project_id, logical_id, fingerprint, rule_id, file_path, "
            "status, shown_at, "
            "status_updated_at, archived_at) SELECT project_id, logical_id, fingerprint, rule_id, file_path, "
            f"status, shown_at, status_updated_at, ? {old}",
            (now, project_id, status, before),
        )
        return self._run(f"DELETE {old}", (project_id, status, before))

    def delete_attempts(self, project_id: str, before: str) -> int:
        """Delete attempts judged earlier; the last word on each finding stays."""
        return self._run(
            "DELETE FROM fix_attempts WHERE project_id = ? AND verified_at < ?", (project_id, before)
        )

    def delete_audit(self, project_id: str, before: str) -> int:
        """Delete older lines of the query log."""
        return self._run(
            "DELETE FROM sql_audit_log WHERE project_id = ? AND executed_at < ?", (project_id, before)
        )

    def delete_leftovers(self, project_id: str, before: str) -> int:
        """Delete old file evidence that was replaced, and old contexts that no finding has any more."""
        targets = self._run(
            "DELETE FROM scan_targets WHERE project_id = ? AND scan_id IN (SELECT scan_id FROM scans "
            "WHERE project_id = ? AND started_at < ?) AND NOT EXISTS (SELECT 1 FROM target_states s "
            "WHERE s.project_id = scan_targets.project_id AND s.path = scan_targets.path "
            "AND s.scanner = scan_targets.scanner AND s.scan_id = scan_targets.scan_id)",
            (project_id, project_id, before),
        )
        contexts = self._run(
            "DELETE FROM finding_context WHERE project_id = ? AND captured_at < ? AND NOT EXISTS ("
            "SELECT 1 FROM findings f WHERE f.project_id = finding_context.project_id "
            "AND f.logical_id = finding_context.logical_id AND f.fingerprint = finding_context.fingerprint)",
            (project_id, before),
        )
        return targets + contexts
