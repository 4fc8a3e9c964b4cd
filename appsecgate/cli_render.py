"""Tables and pages for a terminal. Texts from the project pass ``plain`` so that they cannot steer one."""

import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from appsecgate.advisories.lookup import AdvisoryStatus
from appsecgate.context import ContextPack
from appsecgate.model import EvidenceState
from appsecgate.setup import Diagnosis
from appsecgate.store.advisory_import import ImportReport
from appsecgate.tools.get_scan_history import ScanHistory
from appsecgate.tools.query_findings_db import QueryRows
from appsecgate.verify import VerifyResult
from appsecgate.views import FindingView

WIDTH = 110


def plain(text: object, limit: int = 400) -> str:
    """One line without control characters: file names and messages come from the project."""
    shown = "".join(c if c.isprintable() else "�" for c in str(text).replace("\n", " "))
    shown = shown.encode("utf-8", "backslashreplace").decode("utf-8")
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    cells = [list(head), *([plain(cell, 90) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]
    lines.insert(1, "  ".join("─" * width for width in widths))
    return "\n".join(lines)


def render_scan(result: Any) -> str:
    """scan_file, scan_diff and scan_project: verdict, findings, what is missing."""
    views: Sequence[FindingView] = getattr(result, "findings", ()) or getattr(result, "top_findings", ())
    parts = []
    if views:
        parts.append(table(("severity", "rule", "where", "scanner", "id"), [_row(view) for view in views]))
    summary = getattr(result, "summary", None)
    suppressed = summary.suppressed if summary else result.suppressed
    more = f" ({result.total_available - len(views)} more)" if result.total_available > len(views) else ""
    hidden = f", {suppressed} hidden by display filters" if suppressed else ""
    parts.append(f"{result.total_available} findings{more}{hidden}. Verdict: {result.verdict}.")
    parts.append(_evidence(result))
    if result.missing:
        parts.append("Not verified:")
        parts += [_missing(item) for item in result.missing]
    return "\n\n".join(part for part in parts if part)


def _row(view: FindingView) -> tuple[object, ...]:
    return view.severity, view.rule_id, f"{view.file_path}:{view.line_start}", view.scanner, view.logical_id


def _evidence(result: Any) -> str:
    rows = [
        (row.scanner, row.state, row.reason or "-", row.targets, row.findings, row.scanner_version or "-")
        for row in result.evidence
        if row.state is not EvidenceState.SKIPPED
    ]
    return table(("scanner", "state", "reason", "files", "reports", "version"), rows) if rows else ""


def _missing(item: Any) -> str:
    files = ", ".join(plain(path, 80) for path in item.files[:5])
    more = f" and {item.targets - 5} more" if item.targets > 5 else ""
    detail = f"\n    {plain(item.detail)}" if item.detail else ""
    return f"  {item.scanner}: {item.reason}: {files}{more}{detail}\n    {item.mend}"


def render_context(pack: ContextPack) -> str:
    finding = pack.finding
    head = f"{finding.severity} {finding.rule_id} ({finding.scanner}) {plain(finding.file_path)}:{finding.line_start}"
    parts = [f"{head}\n{finding.logical_id}", *_paragraphs(finding.message)]
    if pack.window:
        first, last = pack.window.finding_lines
        numbered = range(pack.window.start_line, pack.window.end_line + 1)
        parts.append(
            "\n".join(
                (">" if first <= number <= last else " ") + plain(line)
                for number, line in zip(numbered, pack.window.lines, strict=False)
            )
        )
    if pack.window_note:
        parts.append(pack.window_note)
    if pack.sca:
        fixed = pack.sca.fixed_version or "no fixed version is known"
        where = ", ".join(plain(path) for path in pack.sca.manifest_files)
        parts.append(f"{pack.sca.package} {pack.sca.installed_version} → {fixed} in {where}")
    rule = pack.rule
    facts = [*rule.cwe, *rule.owasp, *rule.references]
    parts += [f"Remedy: {plain(rule.remediation)}"] if rule.remediation else []
    parts += [f"Proposed: {plain(rule.known_patch)}"] if rule.known_patch else []
    parts += ["\n".join(plain(fact) for fact in facts)] if facts else []
    parts += _paragraphs(pack.instructions)
    return "\n\n".join(parts)


def _paragraphs(text: str) -> list[str]:
    return [textwrap.fill(plain(text, 3000), WIDTH)] if text else []


def render_verify(result: VerifyResult) -> str:
    word = "verified" if result.verified else "not verified"
    lines = [f"{result.verified_status} ({word}, {result.reason_code}), attempt {result.attempt_num}", plain(result.reason)]
    lines += [f"brought in: {finding_id}" for finding_id in result.new_findings]
    return "\n".join(lines)


def render_rows(found: QueryRows) -> str:
    more = " (more: add LIMIT and OFFSET)" if found.truncated else ""
    return table(found.columns, found.rows) + f"\n{found.row_count} rows{more}, {found.duration_ms} ms"


def render_history(history: ScanHistory) -> str:
    coverage = "nothing in work" if history.coverage is None else f"{history.coverage:.1f} % of {history.in_work}"
    parts = [
        f"Project {plain(history.project.project_alias)} ({history.project.project_id})",
        f"{history.attempts} attempts: {history.verified} fixed, {history.not_fixed} not fixed, "
        f"{history.wont_fix} accepted. Coverage: {coverage}. Open: {history.open_total}.",
    ]
    if history.attempt_list:
        rows = [
            (a.verified_at, a.verified_status, a.reason_code, a.rule_id, a.file_path, a.logical_id)
            for a in history.attempt_list
        ]
        parts.append(table(("attempt", "truth", "why", "rule", "file", "id"), rows))
    if history.scans:
        rows_of_scans = [
            (s.started_at, s.kind, s.verdict, "; ".join(s.not_verified) or "-", s.scan_id) for s in history.scans
        ]
        parts.append(table(("scan", "kind", "verdict", "not verified", "id"), rows_of_scans))
    if history.open_findings:
        parts.append(table(("open", "rule", "where", "scanner", "id"), [_row(v) for v in history.open_findings]))
    return "\n\n".join(parts)


def render_import(report: ImportReport) -> str:
    lines = [
        f"{report.imported} advisories about {report.packages} packages imported, newest {report.source_date}.",
        f"Left out: {report.withdrawn} withdrawn, {report.other_ecosystems} of other ecosystems, "
        f"{report.rejected} unusable.",
    ]
    return "\n".join([*lines, *(f"  {plain(problem)}" for problem in report.problems)])


def render_advisories(status: AdvisoryStatus) -> str:
    if status.problem:
        return f"{plain(status.problem)}. Run: python -m appsecgate advisories import PATH"
    return (
        f"{status.records} advisories about {status.packages} packages; the newest is of {status.source_date} "
        f"({status.age_days} days old), imported {status.imported_at}."
    )


def render_doctor(rows: Sequence[Diagnosis], status: AdvisoryStatus, data_dir: str, project: str) -> str:
    head = ("scanner", "version", "alive", "problem", "mend", "path")
    body = [
        (row.scanner, row.version or "-", row.sentinel, row.problem or "-", row.mend or "-", row.path or "-")
        for row in rows
    ]
    return "\n\n".join(
        [
            f"Project: {plain(project)}\nData: {plain(data_dir)}",
            table(head, body),
            f"Advisories: {render_advisories(status)}",
        ]
    )
