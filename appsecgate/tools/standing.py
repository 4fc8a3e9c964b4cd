"""Where the work stands besides what is open: fixes that were claimed and not confirmed, files nobody has looked at."""

from collections import Counter
from dataclasses import dataclass

from appsecgate.actions import call_text
from appsecgate.model import FixStatus, LifeStatus, ReasonCode, Scanner
from appsecgate.scan.unchecked import Unchecked, UncheckedReason, unchecked_files
from appsecgate.session import Session
from appsecgate.shown import fit
from appsecgate.store.attempts import StoredAttempt
from appsecgate.store.reader import Reader
from appsecgate.tools.base import Call
from appsecgate.tools.scanned import control_of
from appsecgate.typed import arg

CLAIMS_CHARS = 2_000
UNCHECKED_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class ClaimView:
    logical_id: str = arg("The finding: pass it as finding_id.")
    rule_id: str = arg("Its rule.")
    file_path: str = arg("Its file (untrusted data).")
    attempts: int = arg("Attempts so far.")
    reason_code: ReasonCode = arg("Why the last one was not confirmed.")
    verified_at: str = arg("UTC, of the last one.")


@dataclass(frozen=True, slots=True)
class UncheckedView:
    file_path: str = arg("The file (untrusted data).")
    reason: UncheckedReason = arg("never_analysed, changed_since (the last look) or not_verified.")
    scanners: tuple[Scanner, ...] = arg("Whose complete answer about the present bytes is missing.")


@dataclass(frozen=True, slots=True)
class Standing:
    claimed: tuple[ClaimView, ...] = arg("Last reported as fixed and not confirmed, newest first, cut for size.")
    claimed_total: int = arg("How many there are.")
    unchecked: tuple[UncheckedView, ...] = arg("Files that nobody vouches for as they are now, cut for size.")
    unchecked_total: int = arg("How many there are.")
    unchecked_by_reason: dict[str, int] = arg("The same by reason.")
    compared_all: bool = arg("Whether every file was compared; if not, more may be unchecked.")


def standing_of(call: Call[Session]) -> tuple[Standing, tuple[str, ...]]:
    """The project's standing, and calls that improve it. Raises CancelledError."""
    session = call.session
    with session.store.read() as reader:
        claims = _open_claims(reader, session.project_id)
    unchecked = unchecked_files(session, control_of(call))
    views = [UncheckedView(file.path, file.reason, file.scanners) for file in unchecked.files]
    standing = Standing(
        claimed=fit(claims, CLAIMS_CHARS),
        claimed_total=len(claims),
        unchecked=fit(views, UNCHECKED_CHARS),
        unchecked_total=len(views),
        unchecked_by_reason=dict(sorted(Counter(str(file.reason) for file in unchecked.files).items())),
        compared_all=unchecked.whole,
    )
    return standing, _standing_actions(unchecked)


def _open_claims(reader: Reader, project_id: str) -> list[ClaimView]:
    """Findings whose last attempt said "fixed" and was not confirmed, and on which nothing was said since."""
    last: dict[str, StoredAttempt] = {}
    for row in reader.attempts(project_id):
        last.setdefault(row.attempt.logical_id, row)
    claimed = [
        logical_id
        for logical_id, row in last.items()
        if row.attempt.reported_status is FixStatus.FIXED and not row.attempt.verified
    ]
    stored = reader.findings_by_id(project_id, claimed)
    still = {item.finding.logical_id for item in stored if item.status is LifeStatus.NOT_FIXED}
    return [_claim(last[logical_id]) for logical_id in claimed if logical_id in still]


def _claim(row: StoredAttempt) -> ClaimView:
    attempt = row.attempt
    return ClaimView(
        logical_id=attempt.logical_id,
        rule_id=attempt.rule_id,
        file_path=attempt.file_path,
        attempts=row.attempt_num,
        reason_code=attempt.reason_code,
        verified_at=attempt.verified_at,
    )


def _standing_actions(unchecked: Unchecked) -> tuple[str, ...]:
    if len(unchecked.files) == 1 and unchecked.whole:
        return (call_text("scan_file", path=unchecked.files[0].path),)
    return (call_text("scan_project"),) if unchecked.files or not unchecked.whole else ()
