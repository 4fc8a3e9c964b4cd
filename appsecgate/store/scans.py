"""Scans, their evidence, and what is remembered of the files they looked at."""
# ruff: noqa: S608 -- what is put into SQL texts are names and marks of this program, never values

import sqlite3
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from appsecgate.model import (
    EvidenceReason,
    EvidenceState,
    Finding,
    Scanner,
    ScannerEvidence,
    ScanVerdict,
    SentinelState,
    TargetEvidence,
)
from appsecgate.store.finding_writes import FindingWrites, SightingRow
from appsecgate.store.rows import clip, in_parts, marks_for, path_from_db, path_to_db
from appsecgate.store.settled import SettledReads

Place: TypeAlias = tuple[Scanner, str]
"""A scanner and a file."""

DETAIL_CHARS = 300
_SEEN_THOUGH_INCOMPLETE = frozenset({EvidenceReason.PARTIAL, EvidenceReason.PARSE_FAILED})
"""Reasons with which a scanner still reports some findings of the file."""


@dataclass(frozen=True, slots=True)
class ScanRecord:
    """A scan as ``scans`` keeps it."""

    scan_id: str
    project_id: str
    session_id: str
    kind: str
    """``file``, ``diff``, ``project`` or ``verify``."""
    started_at: str
    ended_at: str
    verdict: ScanVerdict
    config_hash: str
    git_head: str | None = None


@dataclass(frozen=True, slots=True)
class StoredScan:
    """A scan with what its scanners did."""

    record: ScanRecord
    evidence: tuple[ScannerEvidence, ...]


@dataclass(frozen=True, slots=True)
class StoredTarget:
    """What one scanner did with one file's bytes, and in which scan."""

    scan_id: str
    started_at: str
    evidence: TargetEvidence


@dataclass(frozen=True, slots=True)
class FileShape:
    """What matching needs to know of a file as it was last scanned."""

    path: str
    sha256: str
    line_hashes: bytes
    """Keyed hashes of its lines, 8 bytes each."""
    scopes_json: str
    """The last scopes that parsed; empty where there never were any."""
    ages: str = ""
    """Since when each line stands there (see ``identity.ages``)."""


class ScanReads(SettledReads):
    """Questions about scans and files."""

    def scans(self, project_id: str, limit: int = 20) -> list[StoredScan]:
        """The latest first."""
        sql = "SELECT * FROM scans WHERE project_id = ? ORDER BY started_at DESC, rowid DESC LIMIT ?"
        rows = self._rows(sql, (project_id, limit))
        return [
            StoredScan(_scan_record(row), tuple(self.evidence(project_id, row["scan_id"]))) for row in rows
        ]

    def scan_that_ended(self, project_id: str, ended_at: str) -> ScanRecord | None:
        """The scan whose findings carry this moment as the one when they were seen."""
        sql = "SELECT * FROM scans WHERE project_id = ? AND ended_at = ? ORDER BY started_at LIMIT 1"
        row = self._row(sql, (project_id, ended_at))
        return None if row is None else _scan_record(row)

    def evidence(self, project_id: str, scan_id: str) -> list[ScannerEvidence]:
        """What each scanner did in a scan."""
        sql = "SELECT * FROM scan_evidence WHERE project_id = ? AND scan_id = ? ORDER BY id"
        return [_scanner_evidence(row) for row in self._rows(sql, (project_id, scan_id))]

    def targets(self, project_id: str, scan_id: str) -> list[TargetEvidence]:
        """What each scanner did with each file of a scan."""
        sql = "SELECT * FROM scan_targets WHERE project_id = ? AND scan_id = ? ORDER BY path, scanner"
        return [_target_evidence(row) for row in self._rows(sql, (project_id, scan_id))]

    def target_evidence(self, project_id: str, path: str, sha256: str) -> list[StoredTarget]:
        """Everything on record about a file with these bytes, the latest first."""
        sql = (
            "SELECT t.*, s.started_at FROM scan_targets t JOIN scans s ON s.project_id = t.project_id "
            "AND s.scan_id = t.scan_id WHERE t.project_id = ? AND t.path = ? AND t.sha256 = ? "
            "ORDER BY s.started_at DESC, s.rowid DESC, t.scanner"
        )
        rows = self._rows(sql, (project_id, path_to_db(path), sha256))
        return [StoredTarget(row["scan_id"], row["started_at"], _target_evidence(row)) for row in rows]

    def looks(self, project_id: str, paths: Collection[str]) -> dict[str, tuple[str, str]]:
        """Path → when the first and the last scan on record that looked at the file began."""
        found: dict[str, tuple[str, str]] = {}
        for part in in_parts(sorted(path_to_db(path) for path in set(paths))):
            sql = (
                "SELECT t.path, min(s.started_at), max(s.started_at) FROM scan_targets t JOIN scans s "
                "ON s.project_id = t.project_id AND s.scan_id = t.scan_id WHERE t.project_id = ? "
                f"AND t.sha256 <> '' AND t.path IN ({marks_for(part)}) GROUP BY t.path"
            )
            for row in self._rows(sql, (project_id, *part)):
                found[path_from_db(row[0])] = row[1], row[2]
        return found

    def checked_files(self, project_id: str) -> dict[tuple[Scanner, str], tuple[str, EvidenceState]]:
        """(scanner, path) → the sha256 of the bytes it last met there and what came of it."""
        sql = "SELECT scanner, path, sha256, state FROM target_states WHERE project_id = ?"
        return {
            (Scanner(row[0]), path_from_db(row[1])): (row[2], EvidenceState(row[3]))
            for row in self._rows(sql, (project_id,))
        }


class ScanWrites(FindingWrites, ScanReads):
    """Storing a scan."""

    def add_scan(
        self,
        record: ScanRecord,
        *,
        findings: Sequence[Finding],
        evidence: Sequence[ScannerEvidence],
        targets: Sequence[TargetEvidence],
        gone: Collection[str] = (),
        kept: Collection[str] | None = None,
    ) -> None:
        """Store a scan whole.

        ``findings``: present in the scanned files now, merged ones too. ``gone``: logical ids that complete
        evidence no longer shows. ``kept``: those of ``findings`` that this scan did not look at; they keep
        when and by what they were last seen. Without it, a finding counts as looked at where its
        scanner was applied to its file in this scan. Raises ValueError for a finding without ids.
        """
        project_id = record.project_id
        self._put_scan(record)
        self._put_evidence(record, evidence)
        places = self._places(project_id, [*gone, *(finding.logical_id for finding in findings)])
        self._unsettle(project_id, _left_places(places, findings, gone))
        self._put_targets(record, targets)
        fresh, old = _split_kept(findings, targets, kept, places)
        self._note_relapses(project_id, [finding.logical_id for finding in fresh], record.ended_at)
        self._put_findings(_sightings(record, fresh, evidence, targets))
        self._move_findings(project_id, old)
        self._set_gone(project_id, gone, record.ended_at)

    def _places(self, project_id: str, logical_ids: Collection[str]) -> dict[str, Place]:
        """Logical id → scanner and file of those findings that are stored."""
        found: dict[str, Place] = {}
        for part in in_parts(logical_ids):
            sql = (
                "SELECT logical_id, scanner, file_path FROM findings WHERE project_id = ? "
                f"AND logical_id IN ({marks_for(part)})"
            )
            for row in self._rows(sql, (project_id, *part)):
                found[row[0]] = Scanner(row[1]), path_from_db(row[2])
        return found

    def _unsettle(self, project_id: str, places: Collection[Place]) -> None:
        """Forget that a scanner's answer about a file stands: should the same bytes come back, look again."""
        self._run_many(
            "DELETE FROM target_states WHERE project_id = ? AND path = ? AND scanner = ?",
            ((project_id, path_to_db(path), scanner) for scanner, path in places),
        )

    def _put_scan(self, record: ScanRecord) -> None:
        self._run(
            "INSERT INTO scans (scan_id, project_id, session_id, kind, started_at, ended_at, verdict, "
            "config_hash, git_head) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                record.scan_id,
                record.project_id,
                record.session_id,
                record.kind,
                record.started_at,
                record.ended_at,
                record.verdict,
                record.config_hash,
                record.git_head,
            ),
        )

    def _put_evidence(self, record: ScanRecord, evidence: Sequence[ScannerEvidence]) -> None:
        self._run_many(
            "INSERT INTO scan_evidence (project_id, scan_id, scanner, state, reason, targets, targets_seen, "
            "findings, scanner_version, ruleset_hash, sentinel, duration_ms, started_at, detail) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (
                    record.project_id,
                    record.scan_id,
                    row.scanner,
                    row.state,
                    row.reason,
                    row.targets,
                    row.targets_seen,
                    row.findings,
                    row.scanner_version,
                    row.ruleset_hash,
                    row.sentinel,
                    row.duration_ms,
                    row.started_at,
                    clip(row.detail, DETAIL_CHARS),
                )
                for row in evidence
            ),
        )

    def _put_targets(self, record: ScanRecord, targets: Sequence[TargetEvidence]) -> None:
        told = [(target, path_to_db(target.path)) for target in targets]
        self._run_many(
            "INSERT OR REPLACE INTO scan_targets (project_id, path, scanner, scan_id, sha256, state, reason, "
            "detail) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (
                    record.project_id,
                    path,
                    target.scanner,
                    record.scan_id,
                    target.sha256,
                    target.state,
                    target.reason,
                    clip(target.detail, DETAIL_CHARS),
                )
                for target, path in told
            ),
        )
        self._run_many(
            "INSERT OR REPLACE INTO target_states (project_id, path, scanner, scan_id, sha256, "
            "state, input_hash) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                (
                    record.project_id,
                    path,
                    target.scanner,
                    record.scan_id,
                    target.sha256,
                    target.state,
                    target.input_hash,
                )
                for target, path in told
                if not target.is_known
            ),
        )


def _left_places(
    places: Mapping[str, Place], findings: Sequence[Finding], gone: Collection[str]
) -> set[Place]:
    """Where findings were that are now gone, or are now in another file."""
    left = {places[logical_id] for logical_id in gone if logical_id in places}
    for finding in findings:
        place = places.get(finding.logical_id)
        if place is not None and place[1] != finding.file_path:
            left.add(place)
    return left


def _split_kept(
    findings: Sequence[Finding],
    targets: Sequence[TargetEvidence],
    kept: Collection[str] | None,
    places: Mapping[str, Place],
) -> tuple[list[Finding], list[Finding]]:
    """Findings that were looked at or are new, and known ones that were not looked at."""
    looked = {(target.scanner, target.path) for target in targets if _looked(target)}
    fresh: list[Finding] = []
    old: list[Finding] = []
    for finding in findings:
        place = (finding.scanner, finding.file_path)
        unseen = place not in looked if kept is None else finding.logical_id in kept
        (old if unseen and finding.logical_id in places else fresh).append(finding)
    return fresh, old


def _looked(target: TargetEvidence) -> bool:
    if target.state is EvidenceState.APPLIED:
        return not target.is_known
    return target.reason in _SEEN_THOUGH_INCOMPLETE and not target.is_known


def _sightings(
    record: ScanRecord,
    findings: Sequence[Finding],
    evidence: Sequence[ScannerEvidence],
    targets: Sequence[TargetEvidence],
) -> list[tuple[Finding, SightingRow]]:
    rulesets: Mapping[Scanner, str] = {row.scanner: row.ruleset_hash for row in evidence if row.ruleset_hash}
    hashes = {(target.scanner, target.path): target.sha256 for target in targets}
    return [
        (
            finding,
            SightingRow(
                record.project_id,
                record.scan_id,
                record.ended_at,
                hashes.get((finding.scanner, finding.file_path), ""),
                rulesets.get(finding.scanner, ""),
            ),
        )
        for finding in findings
    ]


def _scan_record(row: sqlite3.Row) -> ScanRecord:
    return ScanRecord(
        scan_id=row["scan_id"],
        project_id=row["project_id"],
        session_id=row["session_id"],
        kind=row["kind"],
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        verdict=ScanVerdict(row["verdict"]),
        config_hash=row["config_hash"],
        git_head=row["git_head"],
    )


def _scanner_evidence(row: sqlite3.Row) -> ScannerEvidence:
    return ScannerEvidence(
        scanner=Scanner(row["scanner"]),
        state=EvidenceState(row["state"]),
        reason=EvidenceReason(row["reason"]),
        targets=row["targets"],
        targets_seen=row["targets_seen"],
        findings=row["findings"],
        scanner_version=row["scanner_version"],
        ruleset_hash=row["ruleset_hash"],
        sentinel=SentinelState(row["sentinel"]),
        duration_ms=row["duration_ms"],
        started_at=row["started_at"],
        detail=row["detail"],
    )


def _target_evidence(row: sqlite3.Row) -> TargetEvidence:
    return TargetEvidence(
        scanner=Scanner(row["scanner"]),
        path=path_from_db(row["path"]),
        sha256=row["sha256"],
        state=EvidenceState(row["state"]),
        reason=EvidenceReason(row["reason"]),
        detail=row["detail"],
    )
