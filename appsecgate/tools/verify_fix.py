"""verify_fix: report what was done about one finding; the server rescans and says what is true."""

from dataclasses import dataclass, replace

from appsecgate.context import find
from appsecgate.model import FixStatus
from appsecgate.session import Session
from appsecgate.shown import shorten
from appsecgate.tools.base import Call, Tool
from appsecgate.tools.scanned import control_of
from appsecgate.typed import arg
from appsecgate.verify import NOTE_CHARS, VerifyResult, check_claim, verify_claims


@dataclass(frozen=True, slots=True)
class VerifyFixInput:
    finding_id: str = arg("A logical_id or fingerprint.", min_length=1, max_length=200, example="0123456789abcdef")
    status: FixStatus = arg("fixed, not_fixed or wont_fix.", example="fixed")
    note: str | None = arg(
        "What was done; needed for wont_fix, where it says why the risk is accepted.",
        default=None, max_length=NOTE_CHARS,
    )  # fmt: skip


def verify_fix(call: Call[Session], request: VerifyFixInput) -> VerifyResult:
    """Raises UnknownFindingError, and ArgumentError for wont_fix without a note; nothing is stored then."""
    session = call.session
    with session.store.read() as reader:
        stored = find(reader, session.project_id, request.finding_id)
    claim = check_claim(stored, request.status, request.note or "")
    results, _ = verify_claims(session, [claim], control_of(call))
    return shown_verdict(results[0])


def shown_verdict(result: VerifyResult, listed: int = 20) -> VerifyResult:
    """The result with the first of the findings that the edit brought in."""
    return replace(
        result,
        reason=shorten(result.reason, 1_000),
        new_fingerprints=result.new_fingerprints[:listed],
        new_findings=result.new_findings[:listed],
    )


VERIFY_FIX = Tool(
    name="verify_fix",
    title="Verify a fix",
    description=(
        "Report what you did about a finding: fixed, not_fixed or wont_fix. For the first two the file is scanned "
        "again and the truth is stored whatever you report: verified is true only if the finding's own scanner ran, "
        "saw the whole file and no longer finds the weakness, and it was not suppressed, moved or hidden. "
        "reason_code and reason say why not and what to do next. wont_fix needs a note and rescans nothing."
    ),
    input=VerifyFixInput,
    output=VerifyResult,
    call=verify_fix,
    summary="rescan and say whether a finding is fixed",
    read_only=False,
)
