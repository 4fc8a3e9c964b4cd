"""get_scan_history: what was scanned, what was tried, what is still open."""

from dataclasses import dataclass

from appsecgate.actions import context_actions, query_action
from appsecgate.context import find
from appsecgate.model import EvidenceState, FixStatus, LifeStatus, ReasonCode
from appsecgate.session import Session
from appsecgate.store.reader import Reader
from appsecgate.tools.base import Call, Tool
from appsecgate.tools.scanned import project_ref
from appsecgate.typed import arg
from appsecgate.views import FindingView, ProjectRef, brief, fit, view_finding

DEFAULT_LIMIT = 10
OPEN_LISTED = 20


@dataclass(frozen=True, slots=True)
class GetScanHistoryInput:
    finding_id: str | None = arg("One finding only: its logical_id or fingerprint.", default=None, max_length=200)
    limit: int = arg("Scans and attempts to list, newest first.", default=DEFAULT_LIMIT, minimum=1, maximum=100)


@dataclass(frozen=True, slots=True)
class ScanEntry:
    scan_id: str = arg("The scan.")
    kind: str = arg("file, diff, project or verify.")
    verdict: str = arg("findings, clean or incomplete.")
    started_at: str = arg("UTC.")
    not_verified: tuple[str, ...] = arg("scanner: reason, for what is missing.")


@dataclass(frozen=True, slots=True)
class AttemptEntry:
    logical_id: str = arg("The finding.")
    rule_id: str = arg("Its rule.")
    file_path: str = arg("Its file (untrusted data).")
    attempt_num: int = arg("Count per finding.")
    reported_status: FixStatus = arg("What was reported.")
    verified_status: FixStatus = arg("What was true.")
    verified: bool = arg("Whether a rescan showed that it is gone.")
    reason_code: ReasonCode = arg("Why.")
    note: str = arg("What was said (untrusted data, redacted).")
    verified_at: str = arg("UTC.")


@dataclass(frozen=True, slots=True)
class ScanHistory:
    project: ProjectRef = arg("The fixed project.")
    scans: tuple[ScanEntry, ...] = arg("Newest first.")
    attempt_list: tuple[AttemptEntry, ...] = arg("Newest first.")
    attempts: int = arg("Attempts in all.")
    verified: int = arg("Attempts that were verified as fixed.")
    not_fixed: int = arg("Attempts that were not.")
    wont_fix: int = arg("Accepted risks.")
    coverage: float | None = arg("Percent of findings in work whose last word is fixed, wont_fix or false_positive.")
    in_work: int = arg("Findings ever shown or attempted.")
    open_findings: tuple[FindingView, ...] = arg("The worst findings that are not resolved, at most 20.")
    open_total: int = arg("Findings that are not resolved.")
    next_actions: tuple[str, ...] = arg("Calls that work as they stand.")


def get_scan_history(call: Call[Session], request: GetScanHistoryInput) -> ScanHistory:
    """Raises UnknownFindingError. One call tells a new session where the work stands."""
    session = call.session
    project_id = session.project_id
    with session.store.read() as reader:
        logical_id = None
        if request.finding_id is not None:
            logical_id = find(reader, project_id, request.finding_id).finding.logical_id
        attempts = reader.attempts(project_id, logical_id, limit=request.limit)
        counts = reader.attempt_counts(project_id, logical_id)
        coverage = reader.coverage(project_id)
        unresolved = _unresolved(reader, project_id, logical_id)
        scans = _scans(reader, project_id, request.limit)
    listed = fit([view for view in unresolved[:OPEN_LISTED]], 12_000)
    actions = list(context_actions([view.logical_id for view in listed]))
    if len(unresolved) > len(listed):
        actions.append(query_action("status IN ('open', 'shown', 'not_fixed')"))
    return ScanHistory(
        project=project_ref(session),
        scans=scans,
        attempt_list=tuple(
            AttemptEntry(
                logical_id=row.attempt.logical_id,
                rule_id=row.attempt.rule_id,
                file_path=row.attempt.file_path,
                attempt_num=row.attempt_num,
                reported_status=row.attempt.reported_status,
                verified_status=row.attempt.verified_status,
                verified=row.attempt.verified,
                reason_code=row.attempt.reason_code,
                note=row.attempt.note[:300],
                verified_at=row.attempt.verified_at,
            )
            for row in attempts
        ),
        attempts=sum(counts.values()),
        verified=counts[FixStatus.FIXED],
        not_fixed=counts[FixStatus.NOT_FIXED],
        wont_fix=counts[FixStatus.WONT_FIX],
        coverage=coverage.coverage_pct,
        in_work=coverage.in_work,
        open_findings=listed,
        open_total=len(unresolved),
        next_actions=tuple(actions),
    )


def _unresolved(reader: Reader, project_id: str, logical_id: str | None) -> list[FindingView]:
    resolved = (LifeStatus.FIXED, LifeStatus.WONT_FIX, LifeStatus.FALSE_POSITIVE, LifeStatus.SUPPRESSED)
    return [
        brief(view_finding(item.finding, item.status))
        for item in reader.findings(project_id)
        if item.status not in resolved and logical_id in (None, item.finding.logical_id)
    ]


def _scans(reader: Reader, project_id: str, limit: int) -> tuple[ScanEntry, ...]:
    return tuple(
        ScanEntry(
            scan_id=entry.record.scan_id,
            kind=str(entry.record.kind),
            verdict=str(entry.record.verdict),
            started_at=entry.record.started_at,
            not_verified=tuple(
                f"{row.scanner}: {row.reason} ({row.targets})"
                for row in entry.evidence
                if row.state is EvidenceState.NOT_VERIFIED
            ),
        )
        for entry in reader.scans(project_id, limit=limit)
    )


GET_SCAN_HISTORY = Tool(
    name="get_scan_history",
    title="Where the work stands",
    description=(
        "What was scanned (with what was missing), what was tried and what came of it, coverage, and the findings that "
        "are still open. Call it without arguments at the start of a session, or after memory was compacted; with "
        "finding_id for one finding's attempts."
    ),
    input=GetScanHistoryInput,
    output=ScanHistory,
    call=get_scan_history,
    summary="show scans, attempts and what is still open",
    read_only=True,
    idempotent=True,
)
