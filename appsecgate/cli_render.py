"""Tables and pages for a terminal. Texts from the project pass ``plain`` so that they cannot steer one."""

import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from appsecgate.advisories.lookup import AdvisoryStatus
from appsecgate.context import ContextPack
from appsecgate.model import EvidenceState
from appsecgate.settings import ConfigSuppression
from appsecgate.setup import Diagnosis
from appsecgate.start import SAMPLE_COMMAND, as_started
from appsecgate.store.advisory_import import ImportReport
from appsecgate.store.suppressions import Suppression
from appsecgate.tools.get_scan_history import ScanHistory
from appsecgate.tools.query_findings_db import QueryRows
from appsecgate.tools.standing import Standing
from appsecgate.verify import VerifyResult
from appsecgate.views import FindingView, HeadlineView

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
    views: Sequence[FindingView | HeadlineView] = getattr(result, "findings", ()) or getattr(result, "top_findings", ())
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
    if result.ignored_by_repository:
        parts.append("In the project, without effect:")
        parts += [_ignored(item) for item in result.ignored_by_repository]
    if result.left_out:
        parts.append("Left out on purpose:")
        parts += [f"  {plain(item.path, 80)}: {item.reason} {plain(item.detail)}".rstrip() for item in result.left_out]
    return "\n\n".join(part for part in parts if part)


def _ignored(item: Any) -> str:
    files = ", ".join(plain(path, 80) for path in item.files[:5])
    more = f" and {item.total - 5} more" if item.total > 5 else ""
    return f"  {plain(item.what)}: {files}{more}"


def _row(view: FindingView | HeadlineView) -> tuple[object, ...]:
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
    head = f"{result.verified_status} ({word}, {result.reason_code}), attempt {result.attempt_num}"
    lines = [head, plain(result.reason)]
    lines += [f"brought in: {finding_id}" for finding_id in result.new_findings]
    return "\n".join(lines)


def render_rows(found: QueryRows) -> str:
    more = " (more: add LIMIT and OFFSET)" if found.truncated else ""
    return table(found.columns, found.rows) + f"\n{found.row_count} rows{more}, {found.duration_ms} ms"


def render_history(history: ScanHistory) -> str:
    coverage = "nothing in work" if history.coverage is None else f"{history.coverage:.1f} % of {history.in_work}"
    parts = [
        f"Project {plain(history.project.project_alias)} ({history.project.project_id})",
        (
            f"{history.attempts} attempts: {history.verified} fixed, {history.not_fixed} not fixed, "
            f"{history.wont_fix} accepted. Coverage: {coverage}. Open: {history.open_total}."
        ),
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


def render_status(history: ScanHistory) -> str:
    """What a new session has to know: open, claimed and not confirmed, not analysed, the last scan, what to do."""
    standing = history.standing
    coverage = "nothing in work yet" if history.coverage is None else f"{history.coverage:.1f} % of {history.in_work}"
    parts = [
        f"Project {plain(history.project.project_alias)} ({history.project.project_id})",
        f"Open: {history.open_total}. Coverage: {coverage}.",
    ]
    if history.open_findings:
        parts.append(table(("open", "rule", "where", "scanner", "id"), [_row(view) for view in history.open_findings]))
    if standing and standing.claimed:
        parts.append(f"Claimed as fixed, not confirmed: {standing.claimed_total}")
        rows = [(c.verified_at, c.reason_code, c.rule_id, c.file_path, c.logical_id) for c in standing.claimed]
        parts.append(table(("attempt", "why", "rule", "file", "id"), rows))
    if standing:
        parts.append(_unchecked_line(standing))
        if standing.unchecked:
            files = [(u.file_path, u.reason, ", ".join(u.scanners) or "-") for u in standing.unchecked]
            parts.append(table(("unchecked", "why", "missing"), files))
    last = history.scans[0] if history.scans else None
    parts.append(f"Last scan: {last.started_at}, {last.kind}, {last.verdict}." if last else "Nothing was scanned yet.")
    if history.next_actions:
        parts.append("\n".join(["Next:", *(f"  {plain(action)}" for action in history.next_actions)]))
    return "\n\n".join(parts)


def _unchecked_line(standing: Standing) -> str:
    if standing.compared_all and not standing.unchecked_total:
        return "Every file has been analysed as it is now."
    reasons = ", ".join(f"{count} {reason}" for reason, count in standing.unchecked_by_reason.items()) or "none so far"
    rest = "" if standing.compared_all else " Not every file was compared: there may be more."
    return f"Files not analysed as they are now: {standing.unchecked_total} ({reasons}).{rest}"


def render_import(report: ImportReport) -> str:
    lines = [
        f"{report.imported} advisories about {report.packages} packages imported, newest {report.source_date}.",
        (
            f"Left out: {report.withdrawn} withdrawn, {report.other_ecosystems} of other ecosystems, "
            f"{report.rejected} unusable."
        ),
    ]
    return "\n".join([*lines, *(f"  {plain(problem)}" for problem in report.problems)])


def render_advisories(status: AdvisoryStatus) -> str:
    if status.problem:
        return as_started(f"{plain(status.problem)}. Run: {SAMPLE_COMMAND} advisories import PATH")
    return (
        f"{status.records} advisories about {status.packages} packages; the newest is of {status.source_date} "
        f"({status.age_days} days old), imported {status.imported_at}."
    )


def _database_line(damage: Sequence[str]) -> str:
    if not damage:
        return "Database: sound"
    listed = "\n".join(f"  {plain(problem)}" for problem in damage)
    return f"Database: damaged. Move appsecgate.db aside, or put a copy from a backup in its place.\n{listed}"


def render_doctor(
    rows: Sequence[Diagnosis], status: AdvisoryStatus, damage: Sequence[str], data_dir: str, project: str
) -> str:
    head = ("scanner", "version", "alive", "problem", "path")
    body = [
        tuple(cell or "-" for cell in (row.scanner, row.version, row.sentinel, row.problem, row.path)) for row in rows
    ]
    mends = "\n".join(["To mend it, run:", *(f"  {as_started(row.mend)}" for row in rows if row.mend)])
    return "\n\n".join(
        [
            f"Project: {plain(project)}\nData: {plain(data_dir)}",
            table(head, body),
            *([mends] if any(row.mend for row in rows) else []),
            f"Advisories: {render_advisories(status)}",
            _database_line(damage),
        ]
    )


def render_suppressions(stored: Sequence[Suppression], configured: Sequence[ConfigSuppression]) -> str:
    """Display filters, with the number by which one that a tool set is taken back."""
    rows: list[tuple[object, ...]] = [
        (
            f.suppression_id,
            *(part or "*" for part in (f.logical_id, f.rule_id, f.path)),
            f.expires_at or "-",
            f.reason,
            f.origin,
        )
        for f in stored
    ]
    rows += [
        ("-", "*", f.rule or "*", f.path or "*", str(f.expires or "-"), f.reason, str(f.origin)) for f in configured
    ]
    head = ("number", "finding", "rule", "path", "until", "reason", "set by")
    return table(head, rows) if rows else "Nothing is hidden."
