"""Findings as they stand: reading them, and the summary of a project."""
# ruff: noqa: S608 -- what is put into SQL texts are names and marks of this program, never values

import sqlite3
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from appsecgate.identity.matching import Known
from appsecgate.model import Category, Finding, LifeStatus, Package, Scanner, Severity, Twin
from appsecgate.store.rows import (
    Rows,
    SqlValue,
    from_json,
    in_parts,
    marks_for,
    path_from_db,
    path_to_db,
    texts_from_json,
)

WORST_FIRST = (
    "CASE f.severity WHEN 'critical' THEN 0 WHEN 'high' THEN 1 WHEN 'medium' THEN 2 WHEN 'low' THEN "
    "3 ELSE 4 END, "
    "f.file_path, f.line_start, f.rule_id, f.logical_id"
)
_STORED = (
    "SELECT f.*, c.snippet, c.metadata_json FROM finding_states f "
    "LEFT JOIN finding_context c ON c.project_id = f.project_id AND c.fingerprint = f.fingerprint "
    "WHERE f.project_id = ?"
)
_BY_OLD_FINGERPRINT = (
    "f.logical_id IN (SELECT logical_id FROM finding_context "
    "WHERE project_id = f.project_id AND fingerprint = ?)"
)


@dataclass(frozen=True, slots=True)
class StoredFinding:
    """A finding with its life."""

    finding: Finding
    status: LifeStatus
    present: bool
    """False: a complete scan no longer reports it."""
    recurred: bool
    """Found again after a verified fix."""
    suppressed: bool
    """A display filter hides it."""
    first_seen_at: str
    last_seen_at: str
    status_updated_at: str
    scan_id: str
    """The scan that last saw it."""
    source_sha256: str
    """Of the file when it was last seen; empty where unknown."""
    ruleset_hash: str


@dataclass(frozen=True, slots=True)
class Summary:
    """Present findings that no display filter hides, merged duplicates counted once."""

    total: int
    by_severity: Mapping[Severity, int]
    """Every severity, worst first."""
    by_category: Mapping[Category, int]
    """Categories with findings alone: a missing one may mean that nobody looked."""
    by_file_top10: tuple[tuple[str, int], ...]
    suppressed: int
    """Present findings that a display filter hides."""


class FindingReads(Rows):
    """Questions about findings."""

    def finding(self, project_id: str, finding_id: str) -> StoredFinding | None:
        """By logical id or fingerprint; an older fingerprint of a finding is understood too."""
        for condition in (
            "f.logical_id = ?",
            "f.fingerprint = ?",
            _BY_OLD_FINGERPRINT,
        ):
            sql = f"{_STORED} AND {condition} ORDER BY f.present DESC, f.last_seen_at DESC LIMIT 1"
            if row := self._row(sql, (project_id, finding_id)):
                return stored_finding(row)
        return None

    def findings_by_id(self, project_id: str, logical_ids: Collection[str]) -> list[StoredFinding]:
        """Those that exist, worst first; present or not, merged or not."""
        return self._stored_in(project_id, "f.logical_id", logical_ids, "")

    def finding_group(self, project_id: str, logical_id: str) -> list[StoredFinding]:
        """The finding that stands for a group of duplicates, then the others; whichever of them is named."""
        row = self._row(
            "SELECT coalesce(merged_into, logical_id) FROM findings WHERE project_id = ? AND logical_id = ?",
            (project_id, logical_id),
        )
        head = row[0] if row else logical_id
        sql = (
            f"{_STORED} AND (f.logical_id = ? OR f.merged_into = ?) "
            f"ORDER BY f.merged_into IS NOT NULL, {WORST_FIRST}"
        )
        return [stored_finding(row) for row in self._rows(sql, (project_id, head, head))]

    def findings(
        self,
        project_id: str,
        *,
        paths: Collection[str] | None = None,
        present: bool | None = True,
        include_suppressed: bool = False,
        include_merged: bool = False,
        limit: int | None = None,
    ) -> list[StoredFinding]:
        """Worst first. ``present=None`` asks for gone ones too."""
        more = "" if include_suppressed else " AND f.suppressed = 0"
        more += "" if include_merged else " AND f.merged_into IS NULL"
        more += "" if present is None else f" AND f.present = {int(present)}"
        if paths is not None:
            found = self._stored_in(project_id, "f.file_path", [path_to_db(path) for path in paths], more)
            return found[:limit]
        values: list[SqlValue] = [project_id, -1 if limit is None else limit]
        rows = self._rows(f"{_STORED}{more} ORDER BY {WORST_FIRST} LIMIT ?", values)
        return [stored_finding(row) for row in rows]

    def _stored_in(
        self, project_id: str, column: str, values: Collection[str], more: str
    ) -> list[StoredFinding]:
        found: list[StoredFinding] = []
        for part in in_parts(sorted(set(values))):
            sql = f"{_STORED}{more} AND {column} IN ({marks_for(part)})"
            found += [stored_finding(row) for row in self._rows(sql, (project_id, *part))]
        return sorted(found, key=_worst_first)

    def known(self, project_id: str, paths: Collection[str]) -> list[Known]:
        """Present, gone and merged findings of these files: what a scan's findings are matched with."""
        found: list[Known] = []
        for part in in_parts(sorted(path_to_db(path) for path in set(paths))):
            sql = (
                "SELECT * FROM findings f WHERE project_id = ? AND file_path IN "
                f"({marks_for(part)}) ORDER BY file_path, line_start, logical_id"
            )
            found += [_known(row) for row in self._rows(sql, (project_id, *part))]
        return found

    def known_paths(self, project_id: str) -> set[str]:
        """Files with present findings."""
        sql = "SELECT DISTINCT file_path FROM findings WHERE project_id = ? AND present = 1"
        return {path_from_db(row[0]) for row in self._rows(sql, (project_id,))}

    def summary(self, project_id: str) -> Summary:
        """Counts over the whole project."""
        shown = (
            "FROM findings WHERE project_id = ? AND present = 1 AND merged_into IS NULL AND suppressed = 0"
        )
        severities = dict(self._counts(f"SELECT severity, count(*) {shown} GROUP BY 1", project_id))
        categories = dict(self._counts(f"SELECT category, count(*) {shown} GROUP BY 1", project_id))
        files = self._counts(
            f"SELECT file_path, count(*) {shown} GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10", project_id
        )
        hidden = self._counts(f"SELECT '', count(*) {shown[:-1]}1", project_id)
        return Summary(
            total=sum(severities.values()),
            by_severity={severity: severities.get(severity, 0) for severity in Severity},
            by_category={category: categories[category] for category in Category if category in categories},
            by_file_top10=tuple((path_from_db(path), count) for path, count in files),
            suppressed=hidden[0][1],
        )

    def _counts(self, sql: str, project_id: str) -> list[tuple[str, int]]:
        return [(row[0], row[1]) for row in self._rows(sql, (project_id,))]


def _worst_first(stored: StoredFinding) -> tuple[int, str, int, str, str]:
    finding = stored.finding
    return (finding.severity.rank, finding.file_path, finding.line_start, finding.rule_id, finding.logical_id)


def _known(row: sqlite3.Row) -> Known:
    return Known(
        logical_id=row["logical_id"],
        fingerprint=row["fingerprint"],
        scanner=Scanner(row["scanner"]),
        rule_id=row["rule_id"],
        file_path=path_from_db(row["file_path"]),
        scope_key=row["scope_key"],
        slot=row["slot"],
        code=row["code"],
        line_start=row["line_start"],
        line_end=row["line_end"],
        present=bool(row["present"]),
    )


def stored_finding(row: sqlite3.Row) -> StoredFinding:
    """A row of ``finding_states`` with its context."""
    return StoredFinding(
        finding=_finding(row),
        status=LifeStatus(row["status"]),
        present=bool(row["present"]),
        recurred=bool(row["recurred"]),
        suppressed=bool(row["suppressed"]),
        first_seen_at=row["first_seen_at"],
        last_seen_at=row["last_seen_at"],
        status_updated_at=row["status_updated_at"] or row["last_seen_at"],
        scan_id=row["scan_id"],
        source_sha256=row["source_sha256"],
        ruleset_hash=row["ruleset_hash"],
    )


def _finding(row: sqlite3.Row) -> Finding:
    metadata = from_json(row["metadata_json"])
    return Finding(
        scanner=Scanner(row["scanner"]),
        rule_id=row["rule_id"],
        category=Category(row["category"]),
        severity=Severity(row["severity"]),
        file_path=path_from_db(row["file_path"]),
        line_start=row["line_start"],
        line_end=row["line_end"],
        message=row["message"],
        snippet=row["snippet"] or "",
        code=row["code"],
        scanner_version=row["scanner_version"],
        fingerprint=row["fingerprint"],
        scope_key=row["scope_key"],
        slot=row["slot"],
        logical_id=row["logical_id"],
        cwe=texts_from_json(row["cwe"]),
        owasp=texts_from_json(row["owasp"]),
        references=texts_from_json(row["links"]),
        metadata=metadata if isinstance(metadata, dict) else {},
        resource=row["resource"],
        package=_package(row),
        secret_digests=texts_from_json(row["secret_digests"]),
        suppressed_inline=bool(row["suppressed_inline"]),
        line_marks=row["line_marks"],
        also_reported_by=_twins(row["also_reported_by"]),
        merged_into=row["merged_into"],
    )


def _package(row: sqlite3.Row) -> Package | None:
    if row["package"] is None:
        return None
    return Package(
        ecosystem=row["package_ecosystem"] or "",
        name=row["package"],
        installed_version=row["installed_version"] or "",
        fixed_version=row["fixed_version"],
        advisory_ids=texts_from_json(row["advisory_ids"]),
    )


def _twins(text: str) -> tuple[Twin, ...]:
    value = from_json(text)
    rows = [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
    return tuple(
        Twin(Scanner(str(row["scanner"])), str(row["rule_id"]), str(row["logical_id"])) for row in rows
    )
