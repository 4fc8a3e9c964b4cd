"""schema.sql against the model, the promised tables, and the promise that everything is explained."""

import enum
import re
import sqlite3
import unittest
from pathlib import Path

from appsecgate.embedded import read_embedded
from appsecgate.model import (
    Category,
    EvidenceReason,
    EvidenceState,
    FeedbackVerdict,
    FixStatus,
    LifeStatus,
    ReasonCode,
    Scanner,
    ScanVerdict,
    SentinelState,
    Severity,
)
from appsecgate.store.audit import QueryOutcome
from appsecgate.store.migrations import SCHEMA_VERSION, split_statements
from appsecgate.store.projects import PROJECT_TABLES
from appsecgate.store.public_views import parse_views, public_views
from appsecgate.store.reindex import STORED_JSON, STORED_NAMES, STORED_TEXTS

SCHEMA = read_embedded("schema.sql")
ROOT = Path(__file__).resolve().parents[2]
CLOSED: dict[str, set[type[enum.StrEnum]]] = {
    "findings.scanner": {Scanner},
    "findings.category": {Category},
    "findings.severity": {Severity},
    "fix_attempts.reported_status": {FixStatus},
    "fix_attempts.verified_status": {FixStatus},
    "fix_attempts.reason_code": {ReasonCode},
    "sql_audit_log.outcome": {QueryOutcome},
    "scans.verdict": {ScanVerdict},
    "scan_evidence.scanner": {Scanner},
    "scan_evidence.state": {EvidenceState},
    "scan_evidence.reason": {EvidenceReason},
    "scan_evidence.sentinel": {SentinelState},
    "scan_targets.scanner": {Scanner},
    "scan_targets.state": {EvidenceState},
    "scan_targets.reason": {EvidenceReason},
    "target_states.scanner": {Scanner},
    "target_states.state": {EvidenceState},
    "suppressions.category": {Category},
    "feedback.verdict": {FeedbackVerdict},
}
LIFE = {
    "shown_findings.status": {"shown", "fixed", "not_fixed", "wont_fix", "false_positive"},
    "shown_archive.status": {"fixed", "wont_fix", "false_positive"},
    "scans.kind": {"file", "diff", "project", "verify"},
}
PROMISED = {
    "projects": [
        ("project_id", "TEXT", 0, 1),
        ("project_alias", "TEXT", 1, 0),
        ("project_path", "TEXT", 1, 0),
        ("first_seen_at", "TIMESTAMP", 1, 0),
        ("last_seen_at", "TIMESTAMP", 1, 0),
    ],
    "finding_identity": [
        ("logical_id", "TEXT", 1, 2),
        ("project_id", "TEXT", 1, 1),
        ("rule_id", "TEXT", 1, 0),
        ("file_path", "TEXT", 1, 0),
        ("first_seen_at", "TIMESTAMP", 1, 0),
        ("last_fingerprint", "TEXT", 1, 0),
        ("last_seen_at", "TIMESTAMP", 1, 0),
    ],
    "finding_context": [
        ("fingerprint", "TEXT", 1, 2),
        ("project_id", "TEXT", 1, 1),
        ("logical_id", "TEXT", 1, 0),
        ("rule_id", "TEXT", 1, 0),
        ("file_path", "TEXT", 1, 0),
        ("snippet", "TEXT", 0, 0),
        ("message", "TEXT", 0, 0),
        ("metadata_json", "TEXT", 0, 0),
        ("remediation", "TEXT", 0, 0),
        ("scanner_version", "TEXT", 0, 0),
        ("captured_at", "TIMESTAMP", 1, 0),
    ],
    "fix_attempts": [
        ("id", "INTEGER", 0, 1),
        ("project_id", "TEXT", 1, 0),
        ("logical_id", "TEXT", 1, 0),
        ("fingerprint", "TEXT", 1, 0),
        ("rule_id", "TEXT", 1, 0),
        ("file_path", "TEXT", 1, 0),
        ("attempt_num", "INTEGER", 1, 0),
        ("reported_status", "TEXT", 1, 0),
        ("verified_status", "TEXT", 1, 0),
        ("note", "TEXT", 0, 0),
        ("session_id", "TEXT", 1, 0),
        ("agent_reported_at", "TIMESTAMP", 1, 0),
        ("verified_at", "TIMESTAMP", 1, 0),
        ("verified", "INTEGER", 1, 0),
        ("reason_code", "TEXT", 1, 0),
        ("reason", "TEXT", 1, 0),
    ],
    "sql_audit_log": [
        ("id", "INTEGER", 0, 1),
        ("project_id", "TEXT", 1, 0),
        ("session_id", "TEXT", 1, 0),
        ("sql", "TEXT", 1, 0),
        ("duration_ms", "INTEGER", 0, 0),
        ("row_count", "INTEGER", 0, 0),
        ("executed_at", "TIMESTAMP", 1, 0),
        ("outcome", "TEXT", 1, 0),
    ],
}
SHOWN_COLUMNS = {
    "project_id": ("TEXT", 1),
    "logical_id": ("TEXT", 0),
    "status_updated_at": ("TIMESTAMP", 0),
    "rule_id": ("TEXT", 1),
    "file_path": ("TEXT", 1),
    "fingerprint": ("TEXT", 1),
}
SHOWN_INDEXES = {
    "idx_shown_project": ["project_id"],
    "idx_shown_logical": ["logical_id"],
    "idx_shown_rule_file": ["project_id", "rule_id", "file_path"],
}
VIEWS = {
    "v_findings": "project_id logical_id fingerprint scanner rule_id category severity file_path line_start "
    "line_end message status recurred cwe owasp package installed_version fixed_version first_seen_at "
    "last_seen_at status_updated_at scanner_version ruleset_hash",
    "v_attempts": "project_id attempt_id logical_id fingerprint rule_id file_path attempt_num reported_status "
    "verified_status verified reason_code note session_id agent_reported_at verified_at",
    "v_summary": "project_id severity category status findings",
    "v_verification_coverage": "project_id in_work attempted fixed not_fixed wont_fix false_positive suppressed "
    "expired coverage_pct",
    "v_projects": "project_id project_alias first_seen_at last_seen_at",
    "v_scan_evidence": "project_id scan_id scanner state reason targets targets_seen findings scanner_version "
    "ruleset_hash sentinel duration_ms started_at",
}
"""A changed view gets a new name; the old one lives for two more releases."""


class SchemaTest(unittest.TestCase):
    def setUp(self) -> None:
        self.db = sqlite3.connect(":memory:")
        self.addCleanup(self.db.close)
        self.db.executescript(SCHEMA)

    def names(self, kind: str) -> list[str]:
        rows = self.db.execute(
            "SELECT name FROM sqlite_schema WHERE type = ? AND name NOT LIKE 'sqlite_%' ORDER BY rowid", (kind,)
        )
        return [row[0] for row in rows]

    def columns(self, table: str) -> list[tuple[str, str, int, int]]:
        return [(row[1], row[2], row[3], row[5]) for row in self.db.execute(f"PRAGMA table_info({table})")]

    def test_the_promised_tables_have_the_promised_columns_and_keys(self) -> None:
        for table, columns in PROMISED.items():
            with self.subTest(table):
                self.assertEqual(self.columns(table), columns)

    def test_shown_findings_has_the_three_columns_and_the_three_indexes(self) -> None:
        found = {name: (kind, not_null) for name, kind, not_null, _ in self.columns("shown_findings")}
        for name, wanted in SHOWN_COLUMNS.items():
            with self.subTest(name):
                self.assertEqual(found[name], wanted)
        for index, columns in SHOWN_INDEXES.items():
            with self.subTest(index):
                self.assertEqual([row[2] for row in self.db.execute(f"PRAGMA index_info({index})")], columns)

    def test_every_table_has_a_project(self) -> None:
        self.assertEqual(set(self.names("table")), set(PROJECT_TABLES))
        for table in PROJECT_TABLES:
            with self.subTest(table):
                self.assertIn("project_id", [column[0] for column in self.columns(table)])

    def test_closed_sets_are_the_models(self) -> None:
        wanted = {place: {str(member) for kind in kinds for member in kind} for place, kinds in CLOSED.items()}
        self.assertEqual(self.checked_sets(), wanted | LIFE)

    def checked_sets(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for table in self.names("table"):
            sql = self.db.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (table,)).fetchone()[0]
            for column, members in re.findall(r"CHECK \((\w+) IN \(\s*('[^)]*)\)\)", sql):
                found[f"{table}.{column}"] = set(re.findall(r"'([^']*)'", members))
        return found

    def test_stored_words_of_a_life_are_life_statuses(self) -> None:
        self.assertLessEqual(LIFE["shown_findings.status"], {str(status) for status in LifeStatus})

    def test_an_unknown_reason_cannot_be_written(self) -> None:
        with self.assertRaises(sqlite3.IntegrityError):
            self.db.execute(
                "INSERT INTO scan_targets (project_id, path, scanner, scan_id, sha256, state, reason) "
                "VALUES ('p', 'f', 'semgrep', 's', '', 'skipped', 'because')"
            )

    def test_every_table_view_and_column_has_a_comment(self) -> None:
        for sql in split_statements(SCHEMA):
            match = re.search(r"(--[^\n]*\n)?CREATE (TABLE|VIEW) (\w+)", sql)
            if match is None:
                continue
            with self.subTest(match[3]):
                self.assertTrue(match[1], "no comment above it")
            if match[2] == "TABLE":
                for column, *_ in self.columns(match[3]):
                    with self.subTest(table=match[3], column=column):
                        self.assertRegex(sql, rf"\n  {column} [^\n]*-- \w+")

    def test_the_views_have_their_columns_in_their_order(self) -> None:
        self.assertEqual({name for name in self.names("view") if name.startswith("v_")}, set(VIEWS))
        for view, columns in VIEWS.items():
            with self.subTest(view):
                self.assertEqual([column[0] for column in self.columns(view)], columns.split())
                self.assertEqual([column.name for column in public_views()[view].columns], columns.split())

    def test_the_views_work_in_a_plain_shell(self) -> None:
        for view in VIEWS:
            with self.subTest(view):
                self.assertEqual(self.db.execute(f"SELECT * FROM {view}").fetchall(), [])

    def test_masking_anew_names_columns_that_exist(self) -> None:
        for table, columns in [*STORED_TEXTS.items(), *STORED_NAMES.items(), *STORED_JSON.items()]:
            with self.subTest(table):
                self.assertLessEqual(set(columns), {column[0] for column in self.columns(table)})

    def test_the_head_names_the_version(self) -> None:
        self.assertIn(f"schema version {SCHEMA_VERSION}.", SCHEMA.splitlines()[0])


class ViewTextsTest(unittest.TestCase):
    def test_the_reference_has_every_view_and_column(self) -> None:
        parts = dict(part.split("\n", 1) for part in (ROOT / "docs/views.md").read_text("utf-8").split("\n## ")[1:])
        self.assertEqual(set(parts), set(VIEWS))
        for view, columns in VIEWS.items():
            self.assertEqual(re.findall(r"(?m)^\| `(\w+)` \| ", parts[view]), columns.split(), view)

    def test_a_column_without_a_meaning_is_refused(self) -> None:
        with self.assertRaisesRegex(ValueError, "v_x: no type and meaning in 'b'"):
            parse_views("-- A view.\nCREATE VIEW v_x (\n  a, -- text: a\n  b\n) AS\nSELECT 1, 2;\n")


if __name__ == "__main__":
    unittest.main()
