"""verify_fix_batch: verify_fix for up to 20 findings, every file scanned once."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from appsecgate.context import find
from appsecgate.errors import ArgumentError, UsageError
from appsecgate.model import FixStatus
from appsecgate.session import Session
from appsecgate.shown import RESULT_CHARS, fit, result_chars
from appsecgate.tools.base import Call, Tool
from appsecgate.tools.get_fix_context_batch import MAX_BATCH, ItemError
from appsecgate.tools.scanned import control_of
from appsecgate.tools.verify_fix import VerifyFixInput, shown_verdict
from appsecgate.typed import arg
from appsecgate.verify import Claim, VerifyResult, check_claim, verify_claims

NEW_LISTED = 5
"""New findings named with each result: twenty results go into one answer."""


@dataclass(frozen=True, slots=True)
class VerifyFixBatchInput:
    attempts: tuple[VerifyFixInput, ...] = arg(
        "What was done about each finding.", min_items=1, max_items=MAX_BATCH,
        example=[{"finding_id": "0123456789abcdef", "status": "fixed"}],
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class BatchVerifyResult:
    results: tuple[VerifyResult, ...] = arg("The truth about each accepted claim, in the order given.")
    errors: tuple[ItemError, ...] = arg("Items that were refused: an unknown id, wont_fix without a note.")
    file_rescans: dict[str, str] = arg("File → the scan that looked at it again.")
    summary: dict[str, int] = arg("fixed, not_fixed, wont_fix, errors → count.")


def verify_fix_batch(call: Call[Session], request: VerifyFixBatchInput) -> BatchVerifyResult:
    """Raises ArgumentError where one finding is claimed twice; a bad item is an error of that item alone."""
    session = call.session
    _refuse_duplicates([item.finding_id for item in request.attempts])
    claims: list[Claim] = []
    errors: list[ItemError] = []
    named: list[str] = []
    with session.store.read() as reader:
        for item in request.attempts:
            try:
                stored = find(reader, session.project_id, item.finding_id)
                named.append(stored.finding.logical_id)
                claims.append(check_claim(stored, item.status, item.note or ""))
            except UsageError as error:
                errors.append(ItemError(item.finding_id[:200], error.explain()))
    _refuse_duplicates(named)
    results, rescans = verify_claims(session, claims, control_of(call)) if claims else ([], {})
    summary = {str(status): sum(r.verified_status is status for r in results) for status in FixStatus}
    shown = tuple(shown_verdict(result, NEW_LISTED) for result in results)
    answer = BatchVerifyResult(shown, tuple(errors), {}, {**summary, "errors": len(errors)})
    return replace(answer, file_rescans=dict(fit([*rescans.items()], RESULT_CHARS - result_chars(answer), 0)))


def _refuse_duplicates(ids: Sequence[str]) -> None:
    """Asked of the ids as they were given, and again of the findings: one may be named in two ways."""
    for finding_id, count in Counter(ids).items():
        if count > 1:
            raise ArgumentError(
                f"attempts: finding {finding_id[:80]} is claimed twice; nothing was done.",
                hint="Claim every finding once per call.",
            )


VERIFY_FIX_BATCH = Tool(
    name="verify_fix_batch",
    title="Verify several fixes",
    description=(
        "verify_fix for 1 to 20 findings: every distinct file is scanned once, all files in one run per scanner. "
        "More than 20, none, or one finding twice is refused whole and nothing is done; an unknown id, or wont_fix "
        "without a note, is an error of that item alone."
    ),
    input=VerifyFixBatchInput,
    output=BatchVerifyResult,
    call=verify_fix_batch,
    summary="rescan and say which of several findings are fixed",
    read_only=False,
)
