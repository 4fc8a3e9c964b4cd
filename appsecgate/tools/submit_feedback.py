"""submit_feedback: what a person or agent says of a finding; kept offline, never a verification."""

from dataclasses import dataclass

from appsecgate.context import find
from appsecgate.errors import ArgumentError
from appsecgate.model import FeedbackVerdict, LifeStatus
from appsecgate.session import Session
from appsecgate.tools.base import Call, Tool
from appsecgate.typed import arg


@dataclass(frozen=True, slots=True)
class SubmitFeedbackInput:
    finding_id: str = arg("A logical_id or fingerprint.", min_length=1, max_length=200, example="0123456789abcdef")
    verdict: FeedbackVerdict = arg(
        "TRUE_POSITIVE, FALSE_POSITIVE (needs a comment), WONT_FIX or ROTATED (the secret was replaced).",
        example="FALSE_POSITIVE",
    )
    comment: str | None = arg("Why.", default=None, max_length=2000, example="input comes from a closed list")


@dataclass(frozen=True, slots=True)
class FeedbackTaken:
    logical_id: str = arg("The finding.")
    verdict: FeedbackVerdict = arg("What was said.")
    status: LifeStatus = arg("Where the finding stands now.")
    note: str = arg("What this did and did not do.")


def submit_feedback(call: Call[Session], request: SubmitFeedbackInput) -> FeedbackTaken:
    """Raises UnknownFindingError, and ArgumentError for FALSE_POSITIVE without a comment."""
    session = call.session
    comment = (request.comment or "").strip()
    if request.verdict is FeedbackVerdict.FALSE_POSITIVE and not comment:
        raise ArgumentError(
            "FALSE_POSITIVE needs a comment that says why it is none.", hint="Call again with comment='…'."
        )
    redactor = session.redactor()
    with session.store.write() as writer:
        logical_id = find(writer, session.project_id, request.finding_id).finding.logical_id
        writer.add_feedback(
            session.project_id, logical_id, request.verdict, redactor.text(comment), session.session_id, session.now()
        )
        after = find(writer, session.project_id, logical_id)
    return FeedbackTaken(logical_id, request.verdict, after.status, _NOTES[request.verdict])


_NOTES = {
    FeedbackVerdict.TRUE_POSITIVE: "Recorded. It is shown in later context packs.",
    FeedbackVerdict.FALSE_POSITIVE: "Recorded; the finding is listed as false_positive. No attempt was verified.",
    FeedbackVerdict.WONT_FIX: "Recorded. To accept the risk, call verify_fix(status='wont_fix', note='…').",
    FeedbackVerdict.ROTATED: "Recorded. The finding stays until the secret is out of the code and verify_fix says so.",
}

SUBMIT_FEEDBACK = Tool(
    name="submit_feedback",
    title="Say something about a finding",
    description=(
        "Record an opinion about a finding: TRUE_POSITIVE, FALSE_POSITIVE (needs a comment; lists the finding as "
        "false_positive), WONT_FIX, or ROTATED once a leaked secret was replaced. Kept locally and shown in later "
        "context packs. It never verifies a fix."
    ),
    input=SubmitFeedbackInput,
    output=FeedbackTaken,
    call=submit_feedback,
    summary="record an opinion about a finding",
    read_only=False,
)
