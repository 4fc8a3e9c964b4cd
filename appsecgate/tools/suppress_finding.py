"""suppress_finding: a display filter with a reason; it hides, it never resolves."""

from dataclasses import dataclass
from datetime import date

from appsecgate.context import find
from appsecgate.covered import glob_of
from appsecgate.errors import ArgumentError
from appsecgate.session import Session
from appsecgate.start import SAMPLE_COMMAND, as_started
from appsecgate.store.reader import Reader
from appsecgate.store.suppressions import Suppression
from appsecgate.tools.base import Call, Tool
from appsecgate.typed import arg


@dataclass(frozen=True, slots=True)
class SuppressFindingInput:
    reason: str = arg("Why it may be hidden.", min_length=1, max_length=1000, example="fixture of the test suite")
    finding_id: str | None = arg("One finding: its logical_id or fingerprint.", default=None, max_length=200)
    rule_id: str | None = arg("Every finding of this rule.", default=None, max_length=300)
    path: str | None = arg(
        "Every finding in files that match this glob, e.g. tests/*.", default=None, max_length=1000, any_bytes=True
    )
    expires: str | None = arg(
        "Last day on which it holds, YYYY-MM-DD; for good if not given.", default=None, max_length=10
    )


@dataclass(frozen=True, slots=True)
class SuppressionAdded:
    hidden: int = arg("Findings that this project's filters hide now.")
    newly_hidden: int = arg("Findings hidden by this call.")
    note: str = arg("What a display filter does and does not do.")


def suppress_finding(call: Call[Session], request: SuppressFindingInput) -> SuppressionAdded:
    """Raises ArgumentError where nothing says what to hide, UnknownFindingError for an unknown id."""
    session = call.session
    if not (request.finding_id or request.rule_id or request.path):
        raise ArgumentError("finding_id, rule_id or path: one of them says what to hide.", hint="Name at least one.")
    redactor = session.redactor()
    expires = _day(request.expires, session.now()[:10])
    with session.store.write() as writer:
        before = writer.summary(session.project_id).suppressed
        for logical_id in _meant(writer, session.project_id, request.finding_id):
            writer.add_suppression(
                session.project_id,
                Suppression(
                    reason=redactor.text(request.reason),
                    logical_id=logical_id,
                    rule_id=redactor.text(request.rule_id) if request.rule_id else None,
                    path=glob_of(session.workspace.names.shown(request.path)) if request.path else None,
                    expires_at=expires,
                    origin=f"session {session.session_id}",
                ),
            )
        writer.apply_suppressions(session.project_id, session.config.suppressions, session.now())
        hidden = writer.summary(session.project_id).suppressed
    note = (
        "Hidden from lists and counted as suppressed; verification, exports and verdicts still see it. "
        f"A person takes it back with: {SAMPLE_COMMAND} suppressions --remove NUMBER"
    )
    return SuppressionAdded(hidden, hidden - before, as_started(note))


def _meant(reader: Reader, project_id: str, finding_id: str | None) -> list[str | None]:
    """The finding and its duplicates, which are listed as one; None where no finding was named.

    A duplicate that a later scan adds is not among them: it brings the finding back into sight.
    """
    if not finding_id:
        return [None]
    named = find(reader, project_id, finding_id).finding.logical_id
    group = reader.finding_group(project_id, named)
    return [named, *(item.finding.logical_id for item in group if item.finding.logical_id != named)]


def _day(text: str | None, today: str) -> str | None:
    if text is None:
        return None
    try:
        day = date.fromisoformat(text).isoformat()
    except ValueError:
        raise ArgumentError(f"expires: {text!r} is no date.", hint="Write it as YYYY-MM-DD.") from None
    if day < today:
        raise ArgumentError(f"expires: {text} is over.", hint="Name today or a later day, or leave it out.")
    return day


SUPPRESS_FINDING = Tool(
    name="suppress_finding",
    title="Hide findings",
    description=(
        "Hide a finding, a rule, or the files that match a glob from lists, with a reason and an optional last day. "
        "Only a display filter: counts still name what is hidden, verdicts still see it, and it never changes what "
        "verify_fix says. To accept a risk use verify_fix with status wont_fix."
    ),
    input=SuppressFindingInput,
    output=SuppressionAdded,
    call=suppress_finding,
    summary="hide findings from lists, with a reason",
    read_only=False,
)
