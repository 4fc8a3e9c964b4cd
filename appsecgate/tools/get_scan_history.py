"""get_scan_history: what was scanned, what was tried, what is still open."""

from dataclasses import dataclass

from appsecgate.actions import context_actions, unresolved_action
from appsecgate.context import find
from appsecgate.model import EvidenceState, FixStatus, LifeStatus, ReasonCode
from appsecgate.session import Session
from appsecgate.shown import fit, shorten
from appsecgate.store.attempts import StoredAttempt
from appsecgate.store.reader import Reader
from appsecgate.tools.base import Call, Tool
from appsecgate.tools.scanned import project_ref
from appsecgate.tools.standing import Standing, standing_of
from appsecgate.typed import arg
from appsecgate.views import FindingView, ProjectRef, brief, view_finding

DEFAULT_LIMIT = 10
OPEN_LISTED = 20
SCANS_CHARS = 8_000
ATTEMPTS_CHARS = 10_000
OPEN_CHARS = 12_000
"""Room for a list, in characters of JSON."""


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
    truncated: bool = arg("Whether scans or attempts were cut for size: a smaller limit, one finding_id, v_attempts.")
    attempts: int = arg("Attempts in all.")
    verified: int = arg("Attempts that were verified as fixed.")
    not_fixed: int = arg("Attempts that were not.")
    wont_fix: int = arg("Accepted risks.")
    coverage: float | None = arg("Percent of findings in work whose last word is fixed, wont_fix or false_positive.")
    in_work: int = arg("Findings ever shown or attempted.")
    open_findings: tuple[FindingView, ...] = arg("The worst findings that are not resolved, at most 20.")
    suppressed: int = arg("Findings that display filters hide; not among the open ones, and not resolved.")
    open_total: int = arg("Findings that are not resolved.")
    standing: Standing | None = arg("Without finding_id: claims not confirmed, files not analysed as they are now.")
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
        hidden = reader.summary(project_id).suppressed
    shown_scans, shown_attempts = fit(scans, SCANS_CHARS), fit([_entry(row) for row in attempts], ATTEMPTS_CHARS)
    listed = fit(unresolved[:OPEN_LISTED], OPEN_CHARS)
    actions = list(context_actions([view.logical_id for view in listed]))
    if len(unresolved) > len(listed):
        actions.append(unresolved_action())
    standing, more = standing_of(call) if logical_id is None else (None, ())
    return ScanHistory(
        project=project_ref(session),
        scans=shown_scans,
        attempt_list=shown_attempts,
        truncated=len(shown_scans) < len(scans) or len(shown_attempts) < len(attempts),
        attempts=sum(counts.values()),
        verified=counts[FixStatus.FIXED],
        not_fixed=counts[FixStatus.NOT_FIXED],
        wont_fix=counts[FixStatus.WONT_FIX],
        coverage=coverage.coverage_pct,
        in_work=coverage.in_work,
        open_findings=listed,
        suppressed=hidden,
        open_total=len(unresolved),
        standing=standing,
        next_actions=(*actions, *more),
    )


def _entry(row: StoredAttempt) -> AttemptEntry:
    attempt = row.attempt
    return AttemptEntry(
        logical_id=attempt.logical_id,
        rule_id=attempt.rule_id,
        file_path=attempt.file_path,
        attempt_num=row.attempt_num,
        reported_status=attempt.reported_status,
        verified_status=attempt.verified_status,
        verified=attempt.verified,
        reason_code=attempt.reason_code,
        note=shorten(attempt.note, 300),
        verified_at=attempt.verified_at,
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
