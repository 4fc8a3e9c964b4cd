"""Verification: rescan what was claimed, judge every claim, store the truth."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from appsecgate.actions import call_text, context_actions
from appsecgate.errors import ArgumentError
from appsecgate.model import Attempt, Finding, FixStatus, ReasonCode
from appsecgate.redact.redactor import Redactor
from appsecgate.scan.result import ScanKind, ScanRequest
from appsecgate.scan.run import run_scan
from appsecgate.session import Control, Session
from appsecgate.start import as_started
from appsecgate.store.findings import StoredFinding
from appsecgate.typed import arg
from appsecgate.verify_case import Before, Case, build_case
from appsecgate.verify_judge import Judgement, judge
from appsecgate.verify_listing import Listed
from appsecgate.verify_traces import Traces, find_traces, read_moments

NOTE_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class Claim:
    """What an agent reports of one finding."""

    stored: StoredFinding
    status: FixStatus
    note: str


@dataclass(frozen=True, slots=True)
class VerifyResult:
    logical_id: str = arg("The finding.")
    fingerprint: str = arg("Its fingerprint when it was last seen.")
    reported_status: FixStatus = arg("What was reported.")
    verified_status: FixStatus = arg("What is true: fixed, not_fixed or wont_fix.")
    verified: bool = arg("True only where a complete rescan shows that the weakness is gone.")
    reason_code: ReasonCode = arg("Why, as a code.")
    reason: str = arg("Why, as a sentence that says what to do next.")
    new_fingerprints: tuple[str, ...] = arg("Up to 20 findings that the edit brought into this file (5 in a batch).")
    new_findings: tuple[str, ...] = arg("Their logical ids: pass them to get_fix_context.")
    attempt_num: int = arg("How many attempts this finding has had, this one included.")
    next_actions: tuple[str, ...] = arg("Calls that work as they stand.")
    scan_id: str | None = arg("The rescan that shows it; null for wont_fix, which rescans nothing.")


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim after the rescan."""

    judgement: Judgement
    scan_id: str
    introduced: tuple[Finding, ...]


def check_claim(stored: StoredFinding, status: FixStatus, note: str) -> Claim:
    """Raises ArgumentError where wont_fix comes without a note."""
    if status is FixStatus.WONT_FIX and not note.strip():
        raise ArgumentError(
            f"wont_fix of {stored.finding.logical_id} needs a note that says why the risk is accepted.",
            hint="Call again with note='…'.",
        )
    return Claim(stored, status, note.strip()[:NOTE_CHARS])


def verify_claims(
    session: Session, claims: Sequence[Claim], control: Control
) -> tuple[list[VerifyResult], dict[str, str]]:
    """Judge the claims in their order; also the rescanned files with the scan that saw them.

    Every distinct file is scanned once, all files in one run per scanner. The attempts are stored in one
    transaction. Raises CancelledError (nothing is stored then) and StorageError.
    """
    reported_at = session.now()
    doubtful = [claim.stored for claim in claims if claim.status is not FixStatus.WONT_FIX]
    judged: dict[str, Judged] = {}
    rescans: dict[str, str] = {}
    if doubtful:
        session = session.frozen()  # what it was found by and what it is judged by
        before = _before(session, doubtful, control)
        result = run_scan(session, _request(session, doubtful, before.traces), control)
        rescans = {stored.finding.file_path: result.scan_id for stored in doubtful}
        for stored in doubtful:
            case = build_case(session, stored, result, before, control)
            judged[stored.finding.logical_id] = Judged(judge(case), result.scan_id, _introduced(case))
    return _store_attempts(session, claims, judged, reported_at), rescans


def _before(session: Session, claimed: Sequence[StoredFinding], control: Control) -> Before:
    project_id = session.project_id
    with session.store.read() as reader:
        past = {
            stored.finding.logical_id: reader.past_shape(project_id, stored.finding.file_path, stored.source_sha256)
            for stored in claimed
        }
        listings: dict[str, Listed | None] = {}
        moments = {stored.finding.logical_id: read_moments(reader, project_id, stored, listings) for stored in claimed}
        twins = {
            logical_id: frozenset(other.finding.logical_id for other in reader.finding_group(project_id, logical_id))
            - {logical_id}
            for logical_id in moments
        }
    lines = {logical_id: found for logical_id, found in past.items() if found is not None}
    traces = find_traces(session, claimed, moments, control)
    _cover_names(traces, session.workspace.names.shown)
    return Before(lines, twins, traces)


def _cover_names(traces: Traces, shown: Callable[[str], str]) -> None:
    """What arrived is named as on disk; in what is stored and compared, no name holds a secret."""
    traces.scanned = tuple(map(shown, traces.scanned))
    traces.renames = {shown(new): old for new, old in traces.renames.items()}
    traces.settled = {shown(new): old for new, old in traces.settled.items()}
    traces.trails = {
        logical_id: [replace(trail, path=shown(trail.path)) for trail in trails]
        for logical_id, trails in traces.trails.items()
    }
    traces.brought = set(map(shown, traces.brought))
    traces.remembered = set(map(shown, traces.remembered))
    traces.newest = {shown(path): moment for path, moment in traces.newest.items()}
    traces.links = tuple(replace(link, path=shown(link.path)) for link in traces.links)


def _request(session: Session, claimed: Sequence[StoredFinding], traces: Traces) -> ScanRequest:
    wanted = {stored.finding.file_path for stored in claimed}
    present = {path for path in wanted if session.workspace.exists(path)}
    return ScanRequest(
        kind=ScanKind.VERIFY,
        paths=tuple(sorted({*present, *traces.scanned, *traces.renames, *traces.settled})),
        removed=tuple(sorted({*(wanted - present), *traces.settled.values()})),
        renames={**traces.settled, **traces.renames},
        fresh=frozenset({*present, *traces.renames}),
    )


def _store_attempts(
    session: Session,
    claims: Sequence[Claim],
    judged: Mapping[str, Judged],
    reported_at: str,
) -> list[VerifyResult]:
    redactor = session.redactor()
    results = []
    with session.store.write() as writer:
        for claim in claims:
            entry = judged.get(claim.stored.finding.logical_id)
            judgement = entry.judgement if entry else _accepted()
            attempt = _attempt(session, claim, judgement, redactor, reported_at)
            number = writer.add_attempt(session.project_id, attempt)
            results.append(_result(attempt, number, entry))
    return results


def _accepted() -> Judgement:
    text = "Recorded as accepted risk; the weakness is still in the code."
    return Judgement(FixStatus.WONT_FIX, ReasonCode.WONT_FIX, text)


def _attempt(
    session: Session, claim: Claim, judgement: Judgement, redactor: Redactor, reported_at: str
) -> Attempt:
    finding = claim.stored.finding
    return Attempt(
        logical_id=finding.logical_id,
        fingerprint=finding.fingerprint,
        rule_id=finding.rule_id,
        file_path=finding.file_path,
        reported_status=claim.status,
        verified_status=judgement.status,
        verified=judgement.verified,
        reason_code=judgement.code,
        reason=redactor.text(as_started(judgement.reason)),
        note=redactor.text(claim.note),
        session_id=session.session_id,
        agent_reported_at=reported_at,
        verified_at=session.now(),
    )


def _result(attempt: Attempt, number: int, judged: Judged | None) -> VerifyResult:
    fresh = judged.introduced if judged else ()
    return VerifyResult(
        logical_id=attempt.logical_id,
        fingerprint=attempt.fingerprint,
        reported_status=attempt.reported_status,
        verified_status=attempt.verified_status,
        verified=attempt.verified,
        reason_code=attempt.reason_code,
        reason=attempt.reason,
        new_fingerprints=tuple(finding.fingerprint for finding in fresh),
        new_findings=tuple(finding.logical_id for finding in fresh),
        attempt_num=number,
        next_actions=_next_actions(attempt, fresh),
        scan_id=judged.scan_id if judged else None,
    )


def _next_actions(attempt: Attempt, fresh: Sequence[Finding]) -> tuple[str, ...]:
    """What to look at next: this finding where it is not fixed, what the edit brought in, a rotation to record."""
    wanted = [attempt.logical_id] if attempt.verified_status is FixStatus.NOT_FIXED else []
    actions = context_actions([*wanted, *(finding.logical_id for finding in fresh)])
    if attempt.reason_code is ReasonCode.ROTATION_REQUIRED:
        return (*actions, call_text("submit_feedback", finding_id=attempt.logical_id, verdict="ROTATED"))
    return actions


def _introduced(case: Case) -> tuple[Finding, ...]:
    """Findings of the same file that came with the edit."""
    return tuple(
        newcomer.finding
        for newcomer in case.newcomers
        if newcomer.appeared and newcomer.finding.file_path == case.path and newcomer.finding.merged_into is None
    )
