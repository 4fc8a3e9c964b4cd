"""Whether flagged code only moved: within its file, to another one, under another name, or out of sight."""

import re

from appsecgate.identity.evidence import NEAR_LINES, unformatted
from appsecgate.identity.lines import split_line_hashes
from appsecgate.identity.scopes import is_python_path
from appsecgate.model import Category, EvidenceReason, EvidenceState, Finding
from appsecgate.verify_case import Case, Newcomer
from appsecgate.verify_traces import was_proved
from appsecgate.workspace_arrivals import is_foreign

SAME_BLOCK = 0.5
"""Two flagged blocks that have so many lines in common are one that moved."""

_VALUE_TEXT = re.compile(r'"[^"\n]*"|\'[^\'\n]*\'|`[^`\n]*`|\b\d[\w.]*')
_NAME = re.compile(r"\b[A-Za-z_]\w*\b(?!\s*[.(=])")


def moved_within(case: Case, now: Finding) -> bool:
    """Whether the finding is reported in another file, or far from where its line is now, in other company."""
    if now.file_path != case.finding.file_path:
        return True
    if is_python_path(now.file_path) and now.scope_key != case.finding.scope_key:
        # into another function, while the one that it was in is still there
        return case.finding.scope_key in case.scope_names
    if case.line_map is None or case.line_map.new_line(case.finding.line_start) == now.line_start:
        return False
    return abs(case.line_map.nearest(case.finding.line_start) - now.line_start) > NEAR_LINES


def moved_away(case: Case) -> str | None:
    """A sentence that names the new place, or None."""
    for newcomer in sorted(case.newcomers, key=lambda one: not _is_equal(case.finding, one.finding)):
        if _is_the_same(case.finding, newcomer):
            other = newcomer.finding
            if not _is_equal(case.finding, other) and other.file_path != case.finding.file_path:
                return (
                    f"The same weakness is new at {other.file_path}:{other.line_start} ({other.logical_id}, "
                    f"{other.rule_id}): fix it there, or claim it by its own id."
                )
            return (
                f"The flagged code is now at {other.file_path}:{other.line_start} ({other.logical_id}, "
                f"{other.rule_id}): fix it there."
            )
    for trail in case.trails:
        judged = case.applied(case.finding.scanner, trail.path)
        if not judged:
            return (
                f"The flagged lines stand in {trail.path} now, where {case.finding.scanner} does not judge them: fix "
                "or remove them there."
            )
        if trail.since_last and trail.exact and not _is_reported(case, trail.path):
            return (
                f"The flagged lines moved to {trail.path}, where {case.finding.scanner} cannot judge them as before: "
                "fix them there."
            )
    return None


_UNJUDGED = frozenset(
    {
        EvidenceReason.NO_RULES, EvidenceReason.PARSE_FAILED, EvidenceReason.PARTIAL, EvidenceReason.TOO_LARGE,
        EvidenceReason.NOT_REPORTED, EvidenceReason.UNSUPPORTED_FORMAT, EvidenceReason.UNREADABLE,
    }
)  # fmt: skip
"""Why a scanner says nothing about a file that is its business."""


def out_of_sight(case: Case) -> str | None:
    """A sentence about a file or link that came since, and into which the finding's scanner cannot look, or None."""
    if was_proved(case.stored):
        return None
    scanner = case.finding.scanner
    for path in case.traces.scanned:
        evidence = case.result.target(scanner, path)
        if evidence is None or evidence.state is not EvidenceState.NOT_VERIFIED or evidence.reason not in _UNJUDGED:
            continue
        if path == case.path or path in case.traces.settled or is_foreign(path):
            continue
        if case.traces.newest.get(path, 0) > case.last_ms:
            detail = f"{evidence.reason}: {evidence.detail}" if evidence.detail else str(evidence.reason)
            return (
                f"{path} is new or changed, and {scanner} cannot judge it ({detail}), so the weakness may be there: "
                f"{_MENDING.get(evidence.reason, 'take it out, or bring it in after this claim')}, then verify again."
            )
    for link in case.traces.links:
        if link.arrived_ms > case.last_ms and link.path != case.path:
            return (
                f"{link.path} is a new symbolic link {link.why}, where nobody looks: put the file itself there, or "
                "remove the link, then verify again."
            )
    return None


_MENDING = {
    EvidenceReason.PARSE_FAILED: "repair its syntax",
    EvidenceReason.PARTIAL: "repair its syntax",
    EvidenceReason.TOO_LARGE: "split it",
}


def _is_reported(case: Case, path: str) -> bool:
    """Whether the same code is a finding of its own there: then it was compared as one."""
    code = unformatted(case.finding.code)
    return any(
        other.file_path == path and other.rule_id == case.finding.rule_id and unformatted(other.code) == code
        for other in case.result.findings
    )


def _is_the_same(finding: Finding, newcomer: Newcomer) -> bool:
    """Whether a finding that came since stands for the claimed one elsewhere."""
    other = newcomer.finding
    if set(finding.secret_digests) & set(other.secret_digests) and finding.category is Category.SECRET:
        return True
    if other.scanner is not finding.scanner or other.rule_id != finding.rule_id:
        return False
    if _is_equal(finding, other):
        return True
    if finding.category is Category.SECRET or not newcomer.appeared:
        return False
    if newcomer.certain and other.file_path != finding.file_path:
        return True  # the rule says that it is the same weakness, and nothing of it was there before
    if finding.category is Category.IAC:
        return _share_of_block(finding, other) >= SAME_BLOCK
    return newcomer.certain and call_shape(other.code) == call_shape(finding.code)


def _is_equal(finding: Finding, other: Finding) -> bool:
    return unformatted(other.code) == unformatted(finding.code)


def _share_of_block(finding: Finding, other: Finding) -> float:
    before = set(split_line_hashes(bytes.fromhex(finding.line_marks)))
    now = set(split_line_hashes(bytes.fromhex(other.line_marks)))
    return len(before & now) / len(before) if before else 0.0


def call_shape(code: str) -> str:
    """Flagged code without its names and values: what stays when variables are renamed on the way."""
    return unformatted(_NAME.sub("_", _VALUE_TEXT.sub("_", code)))
