"""What scan_file and scan_diff have in common: showing the findings of a scan, cut to size."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from appsecgate.actions import context_actions, unresolved_action
from appsecgate.model import EvidenceReason, EvidenceState, Finding, LifeStatus, ScanVerdict
from appsecgate.scan.result import ScanResult
from appsecgate.session import Control, Session
from appsecgate.shown import filled, fit, shorten
from appsecgate.tools.base import Call
from appsecgate.typed import arg
from appsecgate.views import (
    EvidenceView,
    FindingView,
    MissingView,
    ProjectRef,
    brief,
    view_evidence,
    view_finding,
    view_missing,
)

LISTED = 20
"""Entries of a list that is there for completeness' sake."""
FINDINGS_CHARS = 24_000
FILES_CHARS = 3_000
NAMES_CHARS = 4_000
"""Room for such a list, in characters of JSON."""


@dataclass(frozen=True, slots=True)
class IgnoredView:
    what: str = arg("What these files of the project are; they had no effect (untrusted data).")
    files: tuple[str, ...] = arg("Up to 20 of them (untrusted data).")
    total: int = arg("How many there are.")


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
    ignored_by_repository: tuple[IgnoredView, ...] = arg("Settings, ignore lists, look-alikes of scanners.")
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
    """By kind, the files nearest to the project's root first."""
    kinds: dict[str, list[str]] = {}
    for notice in sorted(result.notices, key=lambda notice: (notice.path.count("/"), notice.path)):
        kinds.setdefault(notice.what, []).append(notice.path[:300])
    views = [
        IgnoredView(shorten(what, 300), fit(kinds[what][:LISTED], NAMES_CHARS // 2), len(kinds[what]))
        for what in sorted(kinds)[:LISTED]
    ]
    return fit(views, NAMES_CHARS)


def view_left_out(result: ScanResult) -> tuple[LeftOutView, ...]:
    """What no scanner was to look at, each path once."""
    skipped = {target.path: target for target in result.targets if target.state is EvidenceState.SKIPPED}
    told = [skipped[path] for path in sorted(skipped)[:LISTED]]
    views = [LeftOutView(target.path[:300], target.reason, shorten(target.detail, 200)) for target in told]
    return fit(views, NAMES_CHARS)


def show_scan(
    session: Session,
    result: ScanResult,
    files: tuple[str, ...],
    on_changed_lines: Callable[[Finding], bool | None] | None = None,
) -> ScannedFiles:
    """The scan as a result; what is listed is marked as shown."""
    visible, suppressed = _visible(session, result, set(files))
    flagged = [
        (finding, status, on_changed_lines(finding) if on_changed_lines else None) for finding, status in visible
    ]
    flagged.sort(key=lambda entry: entry[2] is False)
    views = [brief(view_finding(f, status, on_changed_lines=changed)) for f, status, changed in flagged]
    scanned = ScannedFiles(
        project=project_ref(session),
        scan_id=result.scan_id,
        verdict=result.verdict,
        complete=result.complete,
        files=fit(files[:50], FILES_CHARS),
        findings=(),
        suppressed=suppressed,
        suppressed_inline=sum(finding.suppressed_inline for finding, _ in visible),
        ignored_by_repository=view_notices(result),
        left_out=view_left_out(result),
        missing=view_missing(result.evidence, result.targets, complete=result.complete),
        evidence=view_evidence(result.evidence),
        truncated=False,
        total_available=len(views),
        next_actions=(),
    )
    scanned = filled(scanned, "findings", views, FINDINGS_CHARS)
    ids = [view.logical_id for view in scanned.findings]
    with session.store.write() as writer:
        writer.mark_shown(session.project_id, ids, session.now())
    actions = context_actions(ids)
    if len(ids) == len(views):
        return replace(scanned, next_actions=actions)
    rest = {views[len(ids)].file_path} if len(files) == 1 else None
    return replace(scanned, truncated=True, next_actions=(*actions, unresolved_action(rest)))


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
