"""What scan_file and scan_diff have in common: showing the findings of a scan, cut to size."""

from collections.abc import Callable
from dataclasses import dataclass

from appsecgate.actions import context_actions, query_action
from appsecgate.model import EvidenceReason, EvidenceState, Finding, LifeStatus, ScanVerdict
from appsecgate.scan.result import ScanResult
from appsecgate.session import Control, Session
from appsecgate.tools.base import Call
from appsecgate.typed import arg
from appsecgate.views import (
    EvidenceView,
    FindingView,
    MissingView,
    ProjectRef,
    brief,
    fit,
    view_evidence,
    view_finding,
    view_missing,
)

LISTED = 20
"""Entries of a list that is there for completeness' sake."""


@dataclass(frozen=True, slots=True)
class IgnoredView:
    path: str = arg("A file of the project (untrusted data).")
    what: str = arg("What it would have done elsewhere; it had no effect here (untrusted data).")


@dataclass(frozen=True, slots=True)
class LeftOutView:
    path: str = arg("A file or directory of the project (untrusted data).")
    reason: EvidenceReason = arg("Why: vendored (other people's code), symlink (its target is scanned), …")
    detail: str = arg("More about it (untrusted data).")


@dataclass(frozen=True, slots=True)
class ScannedFiles:
    project: ProjectRef = arg("The fixed project.")
    scan_id: str = arg("This scan.")
    verdict: ScanVerdict = arg("findings; clean (with complete evidence only); incomplete (see missing).")
    complete: bool = arg("Whether every scanner that has business with the files saw them whole.")
    files: tuple[str, ...] = arg("The files scanned, up to 50 (untrusted data).")
    findings: tuple[FindingView, ...] = arg("Findings, worst first; marked as shown.")
    suppressed: int = arg("Findings hidden by display filters; they count in the verdict.")
    suppressed_inline: int = arg("Findings that a comment in the project asks to ignore: listed all the same.")
    ignored_by_repository: tuple[IgnoredView, ...] = arg("Up to 20 settings, ignore lists, look-alikes of scanners.")
    left_out: tuple[LeftOutView, ...] = arg("Up to 20 paths that were left out on purpose; nothing is known of them.")
    missing: tuple[MissingView, ...] = arg("What keeps the verdict from being clean, and what mends it.")
    evidence: tuple[EvidenceView, ...] = arg("What each scanner did.")
    truncated: bool = arg("Whether findings were cut.")
    total_available: int = arg("Findings that are not hidden.")
    next_actions: tuple[str, ...] = arg("Calls that work as they stand.")


def control_of(call: Call[Session]) -> Control:
    return Control(call.cancel, call.deadline, call.progress)


def project_ref(session: Session) -> ProjectRef:
    return ProjectRef(session.project_id, session.alias)


def view_notices(result: ScanResult) -> tuple[IgnoredView, ...]:
    return tuple(IgnoredView(notice.path[:300], notice.what) for notice in result.notices[:LISTED])


def view_left_out(result: ScanResult) -> tuple[LeftOutView, ...]:
    """What no scanner was to look at, each path once."""
    skipped = {target.path: target for target in result.targets if target.state is EvidenceState.SKIPPED}
    told = [skipped[path] for path in sorted(skipped)[:LISTED]]
    return tuple(LeftOutView(target.path[:300], target.reason, target.detail) for target in told)


def show_scan(
    session: Session,
    result: ScanResult,
    files: tuple[str, ...],
    on_changed_lines: Callable[[Finding], bool] | None = None,
) -> ScannedFiles:
    """The scan as a result; what is listed is marked as shown."""
    visible, suppressed = _visible(session, result, set(files))
    flagged = [
        (finding, status, on_changed_lines(finding) if on_changed_lines else None) for finding, status in visible
    ]
    flagged.sort(key=lambda entry: entry[2] is False)
    views = [brief(view_finding(f, status, on_changed_lines=changed)) for f, status, changed in flagged]
    missing = view_missing(result.evidence, result.targets)
    listed = fit(views, 24_000)
    ids = [view.logical_id for view in listed]
    with session.store.write() as writer:
        writer.mark_shown(session.project_id, ids, session.now())
    actions = list(context_actions(ids))
    if len(listed) < len(views):
        actions.append(query_action("status IN ('open', 'shown', 'not_fixed')"))
    return ScannedFiles(
        project=project_ref(session),
        scan_id=result.scan_id,
        verdict=result.verdict,
        complete=result.complete,
        files=files[:50],
        findings=listed,
        suppressed=suppressed,
        suppressed_inline=sum(finding.suppressed_inline for finding, _ in visible),
        ignored_by_repository=view_notices(result),
        left_out=view_left_out(result),
        missing=missing,
        evidence=view_evidence(result.evidence),
        truncated=len(listed) < len(views),
        total_available=len(views),
        next_actions=tuple(actions),
    )


def _visible(
    session: Session, result: ScanResult, files: set[str]
) -> tuple[list[tuple[Finding, LifeStatus]], int]:
    """Unmerged findings of the files that no display filter hides, with their status; and how many are hidden."""
    ids = [f.logical_id for f in result.findings if f.merged_into is None and f.file_path in files]
    with session.store.read() as reader:
        stored = {item.finding.logical_id: item for item in reader.findings_by_id(session.project_id, ids)}
    kept = [stored[i] for i in ids if i in stored]
    visible = [(item.finding, item.status) for item in kept if not item.suppressed]
    return visible, len(kept) - len(visible)
