"""What the store's tests share: a ledger in a temporary directory, a clock that stands still, made-up findings."""

import hashlib
import sqlite3
import tempfile
import unittest
from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from appsecgate.model import (
    Attempt,
    Category,
    EvidenceReason,
    EvidenceState,
    Finding,
    FixStatus,
    Json,
    ReasonCode,
    Scanner,
    ScannerEvidence,
    ScanVerdict,
    SentinelState,
    Severity,
    TargetEvidence,
)
from appsecgate.store.connection import Store
from appsecgate.store.rows import utc_text
from appsecgate.store.scans import ScanRecord

PROJECT = "00000000000000aa"
OTHER = "00000000000000bb"
START = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
SECRET = "swordfish" + "-4711"


class StillClock:
    """A clock that moves only when told to."""

    def __init__(self) -> None:
        self.moment = START

    def __call__(self) -> datetime:
        return self.moment

    def text(self) -> str:
        return utc_text(self.moment)

    def forward(self, **step: float) -> str:
        self.moment += timedelta(**step)
        return self.text()


class PlainMask:
    """Masks one word, as a redactor would."""

    def __init__(self, word: str = SECRET) -> None:
        self.word = word

    def text(self, text: str) -> str:
        return text.replace(self.word, "[REDACTED:test:00000000]")

    def name(self, name: str) -> str:
        return self.text(name)

    def identifier(self, name: str) -> str:
        return self.text(name)

    def json(self, value: Json) -> Json:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.json(item) for item in value]
        if isinstance(value, dict):
            return {key: self.json(item) for key, item in value.items()}
        return value


def hex_id(text: str, digits: int) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:digits]


def make_finding(name: str, **more: Any) -> Finding:
    """A finding whose ids follow from its name."""
    values: dict[str, Any] = {
        "scanner": Scanner.SEMGREP,
        "rule_id": "python.eval",
        "category": Category.SAST,
        "severity": Severity.HIGH,
        "file_path": "app/views.py",
        "line_start": 3,
        "line_end": 4,
        "message": f"about {name}",
        "snippet": f"snippet of {name}",
        "code": f"code of {name}",
        "scanner_version": "1.0",
        "fingerprint": hex_id(f"fp {name}", 32),
        "scope_key": name,
        "logical_id": hex_id(name, 16),
    }
    return Finding(**(values | more))


def make_attempt(finding: Finding, status: FixStatus, at: str, **more: Any) -> Attempt:
    """An attempt in which the agent told the truth."""
    reason = {
        FixStatus.FIXED: ReasonCode.FIXED,
        FixStatus.NOT_FIXED: ReasonCode.STILL_PRESENT,
        FixStatus.WONT_FIX: ReasonCode.WONT_FIX,
    }[status]
    values: dict[str, Any] = {
        "logical_id": finding.logical_id,
        "fingerprint": finding.fingerprint,
        "rule_id": finding.rule_id,
        "file_path": finding.file_path,
        "reported_status": status,
        "verified_status": status,
        "verified": status is FixStatus.FIXED,
        "reason_code": reason,
        "reason": "a sentence",
        "note": "a note",
        "session_id": "session",
        "agent_reported_at": at,
        "verified_at": at,
    }
    return Attempt(**(values | more))


def applied(path: str, scanner: Scanner = Scanner.SEMGREP, **more: Any) -> TargetEvidence:
    values: dict[str, Any] = {
        "sha256": hex_id(path, 64),
        "state": EvidenceState.APPLIED,
        "input_hash": hex_id(f"input {path}", 32),
    }
    return TargetEvidence(scanner=scanner, path=path, **(values | more))


def evidence_row(targets: int, findings: int, at: str, **more: Any) -> ScannerEvidence:
    values: dict[str, Any] = {
        "scanner": Scanner.SEMGREP,
        "state": EvidenceState.APPLIED,
        "reason": EvidenceReason.NONE,
        "targets": targets,
        "targets_seen": targets,
        "findings": findings,
        "scanner_version": "1.0",
        "ruleset_hash": "rules-1",
        "sentinel": SentinelState.ALIVE,
        "duration_ms": 12,
        "started_at": at,
    }
    return ScannerEvidence(**(values | more))


class LedgerCase(unittest.TestCase):
    """A test with a ledger of its own."""

    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory(prefix="appsecgate-store-")
        self.addCleanup(holder.cleanup)
        self.tmp = Path(holder.name).resolve()
        self.data = self.tmp / "data"
        self.clock = StillClock()
        self.store = self.open_store()
        self._scans = 0
        with self.store.write() as writer:
            writer.touch_project(PROJECT, "alias-a", "/somewhere/a")

    def open_store(self) -> Store:
        store = Store.open(self.data, clock=self.clock)
        self.addCleanup(store.close)
        return store

    def raw(self) -> sqlite3.Connection:
        """A connection as any SQLite shell would have it."""
        connection = sqlite3.connect(self.store.path)
        self.addCleanup(connection.close)
        return connection

    def scan(
        self,
        findings: Sequence[Finding] = (),
        *,
        gone: Collection[str] = (),
        targets: Sequence[TargetEvidence] | None = None,
        project_id: str = PROJECT,
        **more: Any,
    ) -> str:
        """Store a scan that looked at the files of these findings."""
        self._scans += 1
        scan_id = f"scan-{self._scans}"
        now = self.clock.text()
        if targets is None:
            places = {(finding.file_path, finding.scanner) for finding in findings}
            targets = [applied(path, scanner) for path, scanner in sorted(places)]
        record = ScanRecord(scan_id, project_id, "session", "file", now, now, ScanVerdict.FINDINGS, "config")
        with self.store.write() as writer:
            writer.add_scan(
                record,
                findings=findings,
                evidence=[evidence_row(len(targets), len(findings), now)],
                targets=targets,
                gone=gone,
                **more,
            )
        return scan_id

    def show(self, *findings: Finding, project_id: str = PROJECT) -> None:
        with self.store.write() as writer:
            writer.mark_shown(project_id, [finding.logical_id for finding in findings])

    def attempt(self, finding: Finding, status: FixStatus, **more: Any) -> int:
        with self.store.write() as writer:
            return writer.add_attempt(PROJECT, make_attempt(finding, status, self.clock.text(), **more))

    def status(self, finding: Finding) -> str:
        with self.store.read() as reader:
            stored = reader.finding(PROJECT, finding.logical_id)
        assert stored is not None
        return str(stored.status)

    def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        return self.raw().execute(sql, values).fetchall()
