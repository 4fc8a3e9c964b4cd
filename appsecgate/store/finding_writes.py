"""Storing what a scan found, what it no longer found, and what was shown to an agent."""
# ruff: noqa: S608 -- what is put into SQL texts are names and marks of this program, never values

from collections.abc import Collection, Iterable, Mapping, Sequence

from appsecgate.model import Finding, LifeStatus
from appsecgate.store.rows import (
    MESSAGE_CHARS,
    SNIPPET_CHARS,
    Rows,
    SqlValue,
    clip,
    in_parts,
    marks_for,
    path_to_db,
    to_json,
)

_FINDING_COLUMNS = (
    "project_id", "logical_id", "fingerprint", "scanner", "rule_id", "category", "severity", "file_path",
    "line_start", "line_end", "message", "code", "scope_key", "slot", "cwe", "owasp", "links", "resource",
    "package_ecosystem", "package", "installed_version", "fixed_version", "advisory_ids", "secret_digests",
    "suppressed_inline", "line_marks", "also_reported_by", "merged_into", "scanner_version", "ruleset_hash",
    "source_sha256", "scan_id", "last_seen_at", "state_changed_at", "first_seen_at",
)  # fmt: skip
_REPLACED = ", ".join(
    f"{name} = excluded.{name}"
    for name in _FINDING_COLUMNS
    if name not in ("project_id", "logical_id", "state_changed_at", "first_seen_at")
)
_UPSERT_FINDING = (
    f"INSERT INTO findings ({', '.join(_FINDING_COLUMNS)}) VALUES ({marks_for(_FINDING_COLUMNS[:-1])}, "
    "coalesce((SELECT first_seen_at FROM finding_identity WHERE project_id = ? AND logical_id = ?), ?)) "
    f"ON CONFLICT (project_id, logical_id) DO UPDATE SET {_REPLACED}, present = 1, "
    "state_changed_at = CASE present WHEN 1 THEN state_changed_at ELSE excluded.state_changed_at END"
)
_UPSERT_IDENTITY = (
    "INSERT INTO finding_identity (logical_id, project_id, rule_id, file_path, first_seen_at, "
    "last_fingerprint, "
    "last_seen_at) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (project_id, logical_id) DO UPDATE SET "
    "rule_id = excluded.rule_id, file_path = excluded.file_path, last_fingerprint = "
    "excluded.last_fingerprint, "
    "last_seen_at = excluded.last_seen_at"
)
_REPLACE_CONTEXT = (
    "INSERT OR REPLACE INTO finding_context (fingerprint, project_id, logical_id, rule_id, "
    "file_path, snippet, "
    "message, metadata_json, remediation, scanner_version, captured_at) VALUES (?, ?, ?, ?, ?, ?, "
    "?, ?, ?, ?, ?)"
)
_MARK_SHOWN = (
    "INSERT INTO shown_findings (project_id, logical_id, fingerprint, rule_id, file_path, status, shown_at, "
    "status_updated_at, last_activity_at) SELECT project_id, logical_id, fingerprint, rule_id, file_path, "
    "'shown', ?, ?, ? FROM findings WHERE project_id = ? AND logical_id = ? "
    "ON CONFLICT (project_id, logical_id) DO UPDATE SET "
    "last_activity_at = max(last_activity_at, excluded.last_activity_at)"
)


class SightingRow:
    """Where, when and under which rules a finding was seen."""

    __slots__ = ("project_id", "ruleset_hash", "scan_id", "seen_at", "sha256")

    def __init__(self, project_id: str, scan_id: str, seen_at: str, sha256: str, ruleset_hash: str) -> None:
        self.project_id = project_id
        self.scan_id = scan_id
        self.seen_at = seen_at
        self.sha256 = sha256
        self.ruleset_hash = ruleset_hash


class FindingWrites(Rows):
    """Changes of findings."""

    def _put_findings(self, sightings: Sequence[tuple[Finding, SightingRow]]) -> None:
        """Store findings as seen now: present, with their identity and context."""
        for finding, _ in sightings:
            if not (finding.logical_id and finding.fingerprint):
                raise ValueError(f"a finding of {finding.rule_id} without an id cannot be stored")
        self._run_many(_UPSERT_FINDING, (_finding_values(finding, seen) for finding, seen in sightings))
        self._run_many(_UPSERT_IDENTITY, (_identity_values(finding, seen) for finding, seen in sightings))
        self._run_many(_REPLACE_CONTEXT, (_context_values(finding, seen) for finding, seen in sightings))

    def _note_relapses(self, project_id: str, logical_ids: Collection[str], at: str) -> None:
        """Found again after a verified fix: say so, and take the fix back. Call before storing them."""
        for part in in_parts(logical_ids):
            values: list[SqlValue] = [project_id, *part]
            sql = (
                "SELECT logical_id FROM finding_states WHERE project_id = ? "
                f"AND logical_id IN ({marks_for(part)}) AND word = 'fixed'"
            )
            relapsed = [str(row[0]) for row in self._rows(sql, values)]
            self._run_many(
                "UPDATE findings SET recurred = 1 WHERE project_id = ? AND logical_id = ?",
                ((project_id, logical_id) for logical_id in relapsed),
            )
            self._run_many(
                "UPDATE shown_findings SET status = 'shown', status_updated_at = ?, last_activity_at = ? "
                "WHERE project_id = ? AND logical_id = ?",
                ((at, at, project_id, logical_id) for logical_id in relapsed),
            )

    def _move_findings(self, project_id: str, findings: Iterable[Finding]) -> None:
        """Findings that nobody looked at again: only their place and their duplicates may have changed."""
        self._run_many(
            "UPDATE findings SET file_path = ?, line_start = ?, line_end = ?, also_reported_by = ?, "
            "merged_into = ? WHERE project_id = ? AND logical_id = ?",
            (
                (
                    path_to_db(finding.file_path),
                    finding.line_start,
                    finding.line_end,
                    _twins_json(finding),
                    finding.merged_into,
                    project_id,
                    finding.logical_id,
                )
                for finding in findings
            ),
        )

    def _set_gone(self, project_id: str, logical_ids: Collection[str], at: str) -> None:
        """No longer reported. What was merged into one of them stands for itself again: nothing is hidden."""
        self._run_many(
            "UPDATE findings SET present = 0, state_changed_at = ? "
            "WHERE project_id = ? AND logical_id = ? AND present = 1",
            ((at, project_id, logical_id) for logical_id in logical_ids),
        )
        self._run_many(
            "UPDATE findings SET merged_into = NULL WHERE project_id = ? AND merged_into = ? AND present = 1",
            ((project_id, logical_id) for logical_id in logical_ids),
        )

    def mark_shown(self, project_id: str, logical_ids: Collection[str], at: str | None = None) -> None:
        """These were listed to an agent: they are in work from now on. Unknown ids are left alone."""
        moment = at or self.now()
        ordered = sorted(set(logical_ids))
        self._run_many(_MARK_SHOWN, ((moment, moment, moment, project_id, item) for item in ordered))
        self._run_many(
            "DELETE FROM expired_findings WHERE project_id = ? AND logical_id = ?",
            ((project_id, item) for item in ordered),
        )

    def mark_context(self, project_id: str, logical_ids: Collection[str], at: str | None = None) -> None:
        """A context pack was asked for: activity, which puts retention off."""
        moment = at or self.now()
        self._run_many(
            "UPDATE shown_findings SET last_activity_at = max(last_activity_at, ?) "
            "WHERE project_id = ? AND logical_id = ?",
            ((moment, project_id, item) for item in sorted(set(logical_ids))),
        )

    def _set_word(self, project_id: str, logical_id: str, word: LifeStatus, at: str) -> None:
        """The last word on a finding, which thereby is in work."""
        self.mark_shown(project_id, [logical_id], at)
        self._run(
            "UPDATE shown_findings SET status = ?, status_updated_at = ?, last_activity_at = ?, "
            "fingerprint = "
            "coalesce((SELECT f.fingerprint FROM findings f WHERE f.project_id = shown_findings.project_id "
            "AND f.logical_id = shown_findings.logical_id), fingerprint) WHERE project_id = ? AND "
            "logical_id = ?",
            (word, at, at, project_id, logical_id),
        )


def _finding_values(finding: Finding, seen: SightingRow) -> tuple[SqlValue, ...]:
    package = finding.package
    return (
        seen.project_id,
        finding.logical_id,
        finding.fingerprint,
        finding.scanner,
        finding.rule_id,
        finding.category,
        finding.severity,
        path_to_db(finding.file_path),
        finding.line_start,
        finding.line_end,
        clip(finding.message),
        clip(finding.code, SNIPPET_CHARS),
        finding.scope_key,
        finding.slot,
        to_json(finding.cwe),
        to_json(finding.owasp),
        to_json(finding.references),
        finding.resource,
        package.ecosystem if package else None,
        package.name if package else None,
        package.installed_version if package else None,
        package.fixed_version if package else None,
        to_json(package.advisory_ids if package else ()),
        to_json(finding.secret_digests),
        int(finding.suppressed_inline),
        finding.line_marks,
        _twins_json(finding),
        finding.merged_into,
        finding.scanner_version,
        seen.ruleset_hash,
        seen.sha256,
        seen.scan_id,
        seen.seen_at,
        seen.seen_at,
        seen.project_id,
        finding.logical_id,
        seen.seen_at,
    )


def _twins_json(finding: Finding) -> str:
    return to_json(
        [
            {"scanner": str(twin.scanner), "rule_id": twin.rule_id, "logical_id": twin.logical_id}
            for twin in finding.also_reported_by
        ]
    )


def _identity_values(finding: Finding, seen: SightingRow) -> tuple[SqlValue, ...]:
    return (
        finding.logical_id,
        seen.project_id,
        finding.rule_id,
        path_to_db(finding.file_path),
        seen.seen_at,
        finding.fingerprint,
        seen.seen_at,
    )


def _context_values(finding: Finding, seen: SightingRow) -> tuple[SqlValue, ...]:
    remediation = finding.metadata.get("remediation")
    return (
        finding.fingerprint,
        seen.project_id,
        finding.logical_id,
        finding.rule_id,
        path_to_db(finding.file_path),
        clip(finding.snippet, SNIPPET_CHARS),
        clip(finding.message, MESSAGE_CHARS),
        _metadata_json(finding.metadata),
        clip(remediation) if isinstance(remediation, str) else None,
        finding.scanner_version,
        seen.seen_at,
    )


def _metadata_json(metadata: Mapping[str, object]) -> str:
    """Whole entries are left out, longest first, where a rule's facts are unreasonably long."""
    kept = dict(metadata)
    text = to_json(kept)
    while len(text) > SNIPPET_CHARS:
        del kept[max(kept, key=lambda key: len(to_json(kept[key])))]
        text = to_json(kept)
    return text
