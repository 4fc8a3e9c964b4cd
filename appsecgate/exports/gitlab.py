"""GitLab's code quality report: findings in a merge request.

Source of the format: GitLab documentation, "Code Quality report format": an array of objects with description,
check_name, fingerprint, severity and location.
"""

from collections.abc import Sequence

from appsecgate.model import Json, Severity
from appsecgate.store.findings import StoredFinding

_GITLAB_SEVERITIES = {
    Severity.CRITICAL: "blocker",
    Severity.HIGH: "critical",
    Severity.MEDIUM: "major",
    Severity.LOW: "minor",
    Severity.INFO: "info",
}


def gitlab_report(findings: Sequence[StoredFinding]) -> list[Json]:
    """Every finding that no display filter hides."""
    return [_gitlab_entry(stored) for stored in findings if not stored.suppressed]


def _gitlab_entry(stored: StoredFinding) -> dict[str, Json]:
    finding = stored.finding
    path = finding.file_path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return {
        "description": finding.message or finding.rule_id,
        "check_name": f"{finding.scanner}/{finding.rule_id}",
        "fingerprint": finding.fingerprint,
        "severity": _GITLAB_SEVERITIES[finding.severity],
        "location": {"path": path, "lines": {"begin": finding.line_start, "end": finding.line_end}},
    }
