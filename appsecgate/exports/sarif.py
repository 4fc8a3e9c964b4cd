"""SARIF 2.1.0: findings for code hosts and editors.

Source of the format: OASIS Standard "Static Analysis Results Interchange Format (SARIF) Version 2.1.0", 27 March 2020.
A section number stands where a choice needs it.
"""

from collections.abc import Sequence
from urllib.parse import quote

from appsecgate.model import EvidenceState, Finding, Json, ScannerEvidence, Severity
from appsecgate.store.findings import StoredFinding

SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {
    Severity.CRITICAL: "error",
    Severity.HIGH: "error",
    Severity.MEDIUM: "warning",
    Severity.LOW: "note",
    Severity.INFO: "note",
}
_SECURITY_SEVERITY = {
    Severity.CRITICAL: "9.5",
    Severity.HIGH: "8.0",
    Severity.MEDIUM: "5.5",
    Severity.LOW: "3.0",
    Severity.INFO: "0.0",
}
"""The rule property by which code hosts tell critical from high, which ``level`` cannot."""


def sarif_log(findings: Sequence[StoredFinding], evidence: Sequence[ScannerEvidence], version: str) -> dict[str, Json]:
    """One run of one tool; what was not verified is a notification, so that an empty list never looks like proof."""
    rules = _sarif_rules([stored.finding for stored in findings])
    index = {str(rule["id"]): position for position, rule in enumerate(rules)}
    missing = [row for row in evidence if row.state is EvidenceState.NOT_VERIFIED]
    driver: dict[str, Json] = {
        "name": "AppSecGate",
        "semanticVersion": version,
        "rules": list(rules),
    }
    invocation: dict[str, Json] = {
        "executionSuccessful": not missing,
        "toolExecutionNotifications": [_notification(row) for row in missing],
    }
    run: dict[str, Json] = {
        "tool": {"driver": driver},
        "invocations": [invocation],
        "columnKind": "unicodeCodePoints",
        "results": [_sarif_result(stored, index) for stored in findings],
    }
    return {"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}


def sarif_rule_id(finding: Finding) -> str:
    """Rules of different scanners may share a name, so the scanner is part of it."""
    return f"{finding.scanner}/{finding.rule_id}"


def _sarif_rules(findings: Sequence[Finding]) -> list[dict[str, Json]]:
    first: dict[str, Finding] = {}
    for finding in findings:
        first.setdefault(sarif_rule_id(finding), finding)
    return [_sarif_rule(rule_id, first[rule_id]) for rule_id in sorted(first)]


def _sarif_rule(rule_id: str, finding: Finding) -> dict[str, Json]:
    tags: list[Json] = ["security", str(finding.category), *finding.cwe]
    rule: dict[str, Json] = {
        "id": rule_id,
        "shortDescription": {"text": finding.rule_id},
        "defaultConfiguration": {"level": _LEVELS[finding.severity]},
        "properties": {"tags": tags, "security-severity": _SECURITY_SEVERITY[finding.severity]},
    }
    remediation = finding.metadata.get("remediation")
    if isinstance(remediation, str) and remediation:
        rule["help"] = {"text": remediation}
    if finding.references:
        rule["helpUri"] = finding.references[0]
    return rule


def _sarif_result(stored: StoredFinding, index: dict[str, int]) -> dict[str, Json]:
    finding = stored.finding
    rule_id = sarif_rule_id(finding)
    uri = quote(finding.file_path.encode("utf-8", "surrogateescape"))
    region: dict[str, Json] = {"startLine": finding.line_start, "endLine": finding.line_end}
    if finding.snippet:
        region["snippet"] = {"text": finding.snippet}
    location: Json = {
        "physicalLocation": {"artifactLocation": {"uri": uri, "uriBaseId": "%SRCROOT%"}, "region": region}
    }
    result: dict[str, Json] = {
        "ruleId": rule_id,
        "ruleIndex": index[rule_id],
        "level": _LEVELS[finding.severity],
        "message": {"text": finding.message or finding.rule_id},
        "locations": [location],
        # 3.27.17: a stable identity of the result for result management systems
        "partialFingerprints": {"appsecgateFingerprint/v1": finding.fingerprint},
        "properties": {
            "logical_id": finding.logical_id,
            "status": str(stored.status),
            "severity": str(finding.severity),
        },
    }
    if stored.suppressed:
        result["suppressions"] = [{"kind": "external"}]
    return result


def _notification(row: ScannerEvidence) -> dict[str, Json]:
    text = f"{row.scanner}: {row.reason} ({row.targets} files)"
    return {"level": "warning", "message": {"text": f"{text}: {row.detail}" if row.detail else text}}
