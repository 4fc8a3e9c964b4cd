"""SARIF and GitLab reports: every finding once, identity kept, and what was not verified is said."""

import unittest
from typing import Any

from appsecgate.exports.gitlab import gitlab_report
from appsecgate.exports.sarif import sarif_log
from appsecgate.model import (
    Category,
    EvidenceReason,
    EvidenceState,
    Finding,
    LifeStatus,
    Scanner,
    ScannerEvidence,
    SentinelState,
    Severity,
)
from appsecgate.store.findings import StoredFinding


def stored(path: str, rule: str, severity: Severity, *, suppressed: bool = False) -> StoredFinding:
    finding = Finding(
        scanner=Scanner.SEMGREP, rule_id=rule, category=Category.SAST, severity=severity, file_path=path,
        line_start=3, line_end=4, message="what is wrong", snippet="eval(x)", code="eval(x)",
        scanner_version="1", fingerprint=f"{path}-{rule}", logical_id="a" * 16, references=("https://example.org/r",),
    )  # fmt: skip
    return StoredFinding(
        finding=finding, status=LifeStatus.OPEN, present=True, recurred=False, suppressed=suppressed,
        first_seen_at="", last_seen_at="", status_updated_at="", scan_id="", source_sha256="", ruleset_hash="",
    )  # fmt: skip


def missing() -> ScannerEvidence:
    return ScannerEvidence(
        Scanner.CHECKOV, EvidenceState.NOT_VERIFIED, EvidenceReason.SCANNER_MISSING, 2, 0, 0, "", "",
        SentinelState.NOT_RUN, 0, "",
    )  # fmt: skip


def first_run(log: Any) -> Any:
    return log["runs"][0]


class Sarif(unittest.TestCase):
    def test_results_point_to_their_rules_and_keep_their_fingerprints(self) -> None:
        findings = [
            stored("a b/ü.py", "r2", Severity.CRITICAL),
            stored("x.py", "r1", Severity.LOW),
            stored("y.py", "r1", Severity.MEDIUM, suppressed=True),
        ]
        run = first_run(sarif_log(findings, [], "1.2.3"))
        rules = run["tool"]["driver"]["rules"]
        self.assertEqual([rule["id"] for rule in rules], ["semgrep/r1", "semgrep/r2"])
        results = run["results"]
        for result, finding in zip(results, findings, strict=True):
            self.assertEqual(rules[result["ruleIndex"]]["id"], result["ruleId"])
            self.assertEqual(result["partialFingerprints"], {"appsecgateFingerprint/v1": finding.finding.fingerprint})
        self.assertEqual([result["level"] for result in results], ["error", "note", "warning"])
        uri = results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        self.assertEqual(uri, "a%20b/%C3%BC.py")
        self.assertEqual([("suppressions" in result) for result in results], [False, False, True])

    def test_what_was_not_verified_is_a_notification_and_no_success(self) -> None:
        invocation = first_run(sarif_log([], [missing()], "1"))["invocations"][0]
        self.assertFalse(invocation["executionSuccessful"])
        self.assertIn("scanner_missing", invocation["toolExecutionNotifications"][0]["message"]["text"])
        self.assertTrue(first_run(sarif_log([], [], "1"))["invocations"][0]["executionSuccessful"])

    def test_gitlab_lists_what_is_not_hidden(self) -> None:
        report: Any = gitlab_report(
            [stored("x.py", "r1", Severity.LOW), stored("y.py", "r1", Severity.LOW, suppressed=True)]
        )
        self.assertEqual(len(report), 1)
        self.assertEqual(report[0]["location"], {"path": "x.py", "lines": {"begin": 3, "end": 4}})
