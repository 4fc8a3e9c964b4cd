"""scan_project: an inventory of the whole project; announces, shows nothing."""

from dataclasses import dataclass, replace

from appsecgate.actions import context_actions, unresolved_action
from appsecgate.errors import ProjectError
from appsecgate.model import EvidenceReason, EvidenceState, ScanVerdict, Severity
from appsecgate.scan.result import ScanResult
from appsecgate.scan.run import run_scan, whole_project
from appsecgate.session import Session
from appsecgate.shown import filled, fit
from appsecgate.store.findings import StoredFinding
from appsecgate.tools.base import Call, Tool
from appsecgate.tools.scanned import (
    IgnoredView,
    LeftOutView,
    control_of,
    project_ref,
    view_left_out,
    view_notices,
)
from appsecgate.typed import arg
from appsecgate.views import (
    EvidenceView,
    HeadlineView,
    MissingView,
    ProjectRef,
    headline,
    view_evidence,
    view_missing,
)

TOP_FINDINGS = 20
TOP_FILES = 10
TOP_CHARS = 7_000
"""Room for the top findings, and half as much for the files: the whole stays near 10,000 characters."""


@dataclass(frozen=True, slots=True)
class ScanProjectInput:
    path: str | None = arg(
        "A directory of the project to restrict the scan to; the whole project if not given.",
        default=None, max_length=4096, any_bytes=True, example="src",
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class FileCount:
    file_path: str = arg("Project-relative path (untrusted data).")
    count: int = arg("Findings in it.")


@dataclass(frozen=True, slots=True)
class ProjectSummary:
    total: int = arg("Findings that are not hidden.")
    suppressed: int = arg("Findings hidden by display filters.")
    suppressed_inline: int = arg("Findings that a comment in the project asks to ignore: listed all the same.")
    by_severity: dict[str, int] = arg("Severity → findings.")
    by_category: dict[str, int | None] = arg("Category → findings; null where its scanner did not run: unknown, not 0.")
    by_file_top10: tuple[FileCount, ...] = arg("The files with most findings.")


@dataclass(frozen=True, slots=True)
class ScannedProject:
    project: ProjectRef = arg("The fixed project.")
    scan_id: str = arg("This scan.")
    verdict: ScanVerdict = arg("findings; clean (with complete evidence only); incomplete (see missing).")
    complete: bool = arg("Whether every scanner that has business with the files saw them whole.")
    summary: ProjectSummary = arg("Counts.")
    top_findings: tuple[HeadlineView, ...] = arg("The worst findings, at most 20; not marked as shown.")
    missing: tuple[MissingView, ...] = arg("What keeps the verdict from being clean, and what mends it.")
    evidence: tuple[EvidenceView, ...] = arg("What each scanner did.")
    truncated: bool = arg("Whether there are more findings than top_findings.")
    total_available: int = arg("All findings that are not hidden.")
    ignored_by_repository: tuple[IgnoredView, ...] = arg("Settings, ignore lists, look-alikes of scanners.")
    left_out: tuple[LeftOutView, ...] = arg("Up to 20 paths that were left out on purpose; nothing is known of them.")
    next_actions: tuple[str, ...] = arg("Calls that work as they stand.")


def scan_project(call: Call[Session], request: ScanProjectInput) -> ScannedProject:
    """Raises ProjectError for a path outside the project or one that is no directory."""
    session = call.session.frozen()
    start = session.workspace.relative(request.path) if request.path else ""
    if start and not session.workspace.is_directory(start):
        raise ProjectError(f"{start!r} is no directory of the project.", hint="Use scan_file(path=…) for a file.")
    result = run_scan(session, whole_project(session, start), control_of(call))
    prefix = f"{start}/" if start else ""
    with session.store.read() as reader:
        present = reader.findings(session.project_id, include_suppressed=True)
    within = [item for item in present if item.finding.file_path.startswith(prefix)]
    visible = [item for item in within if not item.suppressed]
    top = [headline(item.finding, item.status) for item in visible[:TOP_FINDINGS]]
    scanned = ScannedProject(
        project=project_ref(session),
        scan_id=result.scan_id,
        verdict=result.verdict,
        complete=result.complete,
        summary=_summary(session, visible, len(within) - len(visible), result),
        top_findings=(),
        missing=view_missing(result.evidence, result.targets, complete=result.complete),
        evidence=view_evidence(result.evidence),
        truncated=False,
        total_available=len(visible),
        ignored_by_repository=view_notices(result),
        left_out=view_left_out(result),
        next_actions=(),
    )
    scanned = filled(scanned, "top_findings", top, TOP_CHARS)
    ids = [view.logical_id for view in scanned.top_findings]
    return replace(scanned, truncated=len(visible) > len(ids), next_actions=_actions(ids))


def _summary(
    session: Session, visible: list[StoredFinding], suppressed: int, result: ScanResult
) -> ProjectSummary:
    by_severity = dict.fromkeys((str(s) for s in Severity), 0)
    by_file: dict[str, int] = {}
    by_category: dict[str, int | None] = _categories_that_ran(session, result)
    for item in visible:
        finding = item.finding
        by_severity[finding.severity] += 1
        by_category[finding.category] = (by_category.get(finding.category) or 0) + 1
        by_file[finding.file_path] = by_file.get(finding.file_path, 0) + 1
    top = sorted(by_file.items(), key=lambda entry: (-entry[1], entry[0]))[:TOP_FILES]
    return ProjectSummary(
        total=len(visible),
        suppressed=suppressed,
        suppressed_inline=sum(item.finding.suppressed_inline for item in visible),
        by_severity=by_severity,
        by_category=by_category,
        by_file_top10=fit([FileCount(path, count) for path, count in top], TOP_CHARS // 2),
    )


def _categories_that_ran(session: Session, result: ScanResult) -> dict[str, int | None]:
    """0 where the category's scanner saw something or had nothing to see, None where nobody looked at what there is.

    That includes dependencies of ecosystems that no scanner here audits.
    """
    counts: dict[str, int | None] = {}
    for adapter in session.adapters:
        rows = [row for row in result.evidence if row.scanner is adapter.name]
        applied = any(row.state is EvidenceState.APPLIED for row in rows)
        unseen = any(
            row.state is EvidenceState.NOT_VERIFIED or row.reason is EvidenceReason.UNSUPPORTED_FORMAT for row in rows
        )
        counts[adapter.category] = None if unseen and not applied else 0
    return counts


def _actions(ids: list[str]) -> tuple[str, ...]:
    """None are invented for an empty result."""
    if not ids:
        return ()
    return (unresolved_action(), *context_actions(ids))


SCAN_PROJECT = Tool(
    name="scan_project",
    title="Scan the project",
    description=(
        "Take an inventory of the whole project, or of one directory: counts by severity, category and file, and the "
        "20 worst findings. Marks nothing as shown. Use it once at the start; ask for details with query_findings_db "
        "or get_fix_context_batch (next_actions has ready calls). A long scan answers with what it has and "
        "verdict 'incomplete'; the next call goes on where it stopped. by_category holds null, not 0, for a "
        "category whose scanner did not run."
    ),
    input=ScanProjectInput,
    output=ScannedProject,
    call=scan_project,
    summary="scan the whole project, or one directory of it",
    read_only=False,
    idempotent=True,
)
