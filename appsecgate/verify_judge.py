"""The conditions under which a finding counts as fixed, one small function each.

A condition answers ``None`` where it holds, else the judgement that ends the matter. They are asked in the order
of ``CONDITIONS``; the first answer counts. Whatever none of them objects to is fixed.
"""

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass

from appsecgate.identity.scopes import is_python_path, parse_python
from appsecgate.model import Category, EvidenceReason, EvidenceState, FixStatus, ReasonCode, TargetEvidence
from appsecgate.verify_case import Case, Newcomer, is_syntax_trouble
from appsecgate.verify_moved import moved_away, moved_within, out_of_sight
from appsecgate.verify_sink import disguised_word, hidden_sink_name, sink_window
from appsecgate.verify_syntax import brackets_match, is_braced
from appsecgate.workspace import Encoding


@dataclass(frozen=True, slots=True)
class Judgement:
    status: FixStatus
    code: ReasonCode
    reason: str
    """A sentence for the agent: what was found and what to do next."""

    @property
    def verified(self) -> bool:
        return self.status is FixStatus.FIXED


def judge(case: Case) -> Judgement:
    """The truth about one claim, whatever was claimed."""
    for condition in CONDITIONS:
        judgement = condition(case)
        if judgement is not None:
            return judgement
    return _fixed(case)


def _refuse(code: ReasonCode, reason: str) -> Judgement:
    return Judgement(FixStatus.NOT_FIXED, code, reason)


def it_was_judged_as_it_stands(case: Case) -> Judgement | None:
    """The bytes that the scanners saw are the bytes that are there."""
    evidence = case.evidence
    if not case.exists or evidence is None or case.source is None:
        return None
    if evidence.sha256 in ("", case.source.sha256):
        return None
    return _refuse(ReasonCode.FILE_CHANGED_DURING_RUN, f"{case.path} changed while it was scanned: verify again.")


def it_parses(case: Case) -> Judgement | None:
    evidence = case.evidence
    if evidence is not None and is_syntax_trouble(evidence):
        return _refuse(
            ReasonCode.PARSE_FAILED,
            f"{case.finding.scanner} cannot parse {case.path}{_in_brackets(evidence)}: repair its syntax, then verify "
            "again.",
        )
    if case.source is None:
        return None
    if not is_python_path(case.path):
        # what a parser mends in silence is a slip of the hand nonetheless, reported again or not
        reported = case.now is not None and is_braced(case.path)
        if not case.mended and (not reported or brackets_match(case.source.text)):
            return None
        return _refuse(
            ReasonCode.PARSE_FAILED, f"The brackets of {case.path} do not match: repair its syntax, then verify again."
        )
    if case.source.encoding in _NOT_FOR_PYTHON or parse_python(case.source.text) is None:
        # semgrep's own word is not enough: it takes wrong indentation, empty blocks and Python 2 for whole files
        return _refuse(
            ReasonCode.PARSE_FAILED,
            f"Python {sys.version_info.major}.{sys.version_info.minor} cannot parse {case.path}: repair it (or run the "
            "server under the newer Python that it needs), then verify again.",
        )
    return None


_NOT_FOR_PYTHON = frozenset({Encoding.UTF16, Encoding.UTF32})
"""What Python itself refuses to read as source text."""


def _in_brackets(evidence: TargetEvidence) -> str:
    return f" ({evidence.detail})" if evidence.detail else ""


def it_is_not_found_again(case: Case) -> Judgement | None:
    now = case.now
    if now is None:
        return None
    place = f"{now.file_path}:{now.line_start}"
    if now.suppressed_inline:
        return _refuse(
            ReasonCode.SUPPRESSED_INLINE,
            f"A suppression stands at {place}, but the weakness is still there: remove the comment or "
            "annotation and fix the code, or report wont_fix with a note.",
        )
    if moved_within(case, now):
        return _refuse(ReasonCode.MOVED, f"The flagged code moved to {place} and is reported there: fix it there.")
    if now.fingerprint == case.finding.fingerprint:
        return _refuse(
            ReasonCode.STILL_PRESENT,
            f"{case.finding.rule_id} is still reported at {place}, unchanged: get_fix_context says what to change.",
        )
    return _refuse(
        ReasonCode.CHANGED_STILL_PRESENT,
        f"The code changed, but {case.finding.rule_id} is still reported at {place}: the change does not remove the "
        "weakness.",
    )


_FAILURES: dict[EvidenceReason, tuple[ReasonCode, str]] = {
    EvidenceReason.SCANNER_MISSING: (ReasonCode.SCANNER_MISSING, "is not installed: run python -P -m appsecgate setup"),
    EvidenceReason.SCANNER_DISABLED: (ReasonCode.SCANNER_DISABLED, "is switched off in config.toml"),
    EvidenceReason.SCANNER_FAILED: (ReasonCode.SCANNER_FAILED, "failed: run python -P -m appsecgate doctor"),
    EvidenceReason.OUTPUT_TOO_LARGE: (ReasonCode.SCANNER_FAILED, "printed more than can be read"),
    EvidenceReason.NOT_REPORTED: (ReasonCode.SCANNER_FAILED, "did not account for this file"),
    EvidenceReason.SCANNER_TIMEOUT: (ReasonCode.SCANNER_TIMEOUT, "did not end in time: call again"),
    EvidenceReason.TIME_BUDGET: (ReasonCode.SCANNER_TIMEOUT, "did not end in time: verify fewer findings at once"),
    EvidenceReason.CANCELLED: (ReasonCode.SCANNER_TIMEOUT, "was cancelled: call again"),
    EvidenceReason.SENTINEL_MISSED: (
        ReasonCode.SENTINEL_DEAD,
        "missed its known-bad sample, so its silence proves nothing: run python -P -m appsecgate doctor",
    ),
    EvidenceReason.PARSE_FAILED: (ReasonCode.PARSE_FAILED, "could not parse the file: repair its syntax"),
    EvidenceReason.PARTIAL: (
        ReasonCode.PARTIAL,
        "saw only a part of the file: repair its syntax, or simplify the code that a rule was too slow for",
    ),
    EvidenceReason.FILE_CHANGED: (ReasonCode.FILE_CHANGED_DURING_RUN, "saw a file that changed meanwhile: call again"),
    EvidenceReason.NO_ADVISORIES: (
        ReasonCode.ADVISORIES_MISSING,
        "has no advisory database: run python -P -m appsecgate advisories import PATH",
    ),
    EvidenceReason.UNPINNED_DEPENDENCY: (ReasonCode.UNPINNED, "cannot audit an unpinned dependency: pin name==version"),
}


def its_scanner_ran_and_saw_the_file_whole(case: Case) -> Judgement | None:
    if not case.exists or _is_blank(case):
        return None
    evidence = case.evidence
    name = case.finding.scanner
    if evidence is None:
        renamed = "" if case.path == case.finding.file_path else f", the new name of {case.finding.file_path}"
        return _refuse(
            ReasonCode.NOT_ANALYSED,
            f"{name} does not look at {case.path}{renamed} (its name or content is of no kind that it knows), so "
            "nothing is proved: give it back its name and kind.",
        )
    if evidence.state is EvidenceState.APPLIED:
        return None
    if case.finding.category is Category.SCA and evidence.reason in _OTHER_PACKAGES:
        return None
    code, text = _FAILURES.get(evidence.reason, (ReasonCode.NOT_ANALYSED, f"did not analyse it ({evidence.reason})"))
    return _refuse(code, f"{name} {text}{_in_brackets(evidence)}.")


def _is_blank(case: Case) -> bool:
    """An empty file is of no kind, and nothing can be wrong in it."""
    return case.evidence is None and case.source is not None and not case.source.data.strip()


_OTHER_PACKAGES = frozenset(
    {
        EvidenceReason.UNPINNED_DEPENDENCY,
        EvidenceReason.UNKNOWN_PACKAGE,
        EvidenceReason.UNSUPPORTED_DEPENDENCY,
        EvidenceReason.ADVISORIES_STALE,
    }
)
"""Reasons that may concern other lines of a manifest; this package is asked about by its own condition."""


def its_package_was_audited(case: Case) -> Judgement | None:
    package = case.finding.package
    if package is None or not case.exists:
        return None
    audited = case.result.packages.get(case.path)
    if audited is None:
        return _refuse(ReasonCode.NOT_ANALYSED, f"{case.path} was not audited, so nothing is proved: verify again.")
    if not audited.get(package.name, True):
        return _refuse(
            ReasonCode.UNPINNED, f"{package.name} is not pinned, so its version is unknown: pin name==version."
        )
    if package.name not in audited and not audited.get("", True):
        return _refuse(
            ReasonCode.UNPINNED,
            f"{case.path} asks for a package whose name cannot be told (a URL, a path, a list that cannot be read), "
            f"which may be {package.name}: pin name==version, or write name @ URL.",
        )
    lines = case.source.lines if case.source else []
    for number in sorted(case.new_lines):
        if number <= len(lines) and _REFERENCE.search(lines[number - 1]) and not all(audited.values()):
            return _refuse(
                ReasonCode.UNPINNED,
                f"{case.path}:{number} asks for a package by a URL or a path, which may be {package.name}: pin "
                "name==version.",
            )
    return None


_REFERENCE = re.compile(
    r"^\s*(?:-e\b|--editable\b|(?:\w+\+)?\w+://|git@|\.{0,2}/)|\s@\s*\S|[{,]\s*(?:git|url|path)\s*=|"
    r"^[^#=<>~!]*\.(?:whl|zip|tar\.\w+|tgz)\b"
)
"""A requirement by a URL, a repository or a path, as the various manifests write it."""


def its_rule_is_still_loaded(case: Case) -> Judgement | None:
    if not case.exists or (case.evidence is not None and case.evidence.reason is EvidenceReason.NO_ADVISORIES):
        return None
    if not case.rule_alive:
        return _refuse(
            ReasonCode.RULE_MISSING,
            f"The rule {case.finding.rule_id} is no longer loaded, so silence proves nothing: restore it.",
        )
    if case.rules_changed:
        return _refuse(
            ReasonCode.SUPPRESSED_BY_CONFIG,
            f"The rules or settings for {case.finding.rule_id} changed since it was found: restore them, then verify.",
        )
    return None


def the_match_is_certain(case: Case) -> Judgement | None:
    if case.finding.logical_id not in case.result.matching.ambiguous:
        return None
    return _refuse(
        ReasonCode.AMBIGUOUS,
        f"{case.finding.rule_id} is reported nearby and may be the same weakness: fix or verify those findings first.",
    )


def it_was_not_silenced(case: Case) -> Judgement | None:
    """The flagged code stands as it stood, no longer reported, and a new line asks scanners to be silent."""
    if case.source is None or not case.unchanged:
        return None
    for number in sorted(case.new_lines):
        if number <= len(case.source.lines) and _SILENCER.search(case.source.lines[number - 1]):
            return _refuse(
                ReasonCode.SUPPRESSED_INLINE,
                f"The flagged code is unchanged and a suppression was added at {case.path}:{number}: remove it and "
                "fix the code, or report wont_fix with a note.",
            )
    return None


_SILENCER = re.compile(
    r"nosem|pragma: ?(?:allow|white)list|\b(?:checkov|bridgecrew|cortex)\b.{0,20}\bskip|"
    r"\b(?:checkov|bridgecrew)\.io/skip|NOSONAR|\bnosec\b",
    re.IGNORECASE,
)
"""Every dialect that the scanners know, and what begins like one."""


def no_other_secret_took_its_place(case: Case) -> Judgement | None:
    if case.finding.category is not Category.SECRET:
        return None
    gap = case.line_map.gap(case.finding.line_start) if case.line_map else None
    for newcomer in case.newcomers:
        other = newcomer.finding
        here = gap is not None and gap.new_first <= other.line_start < gap.new_first + gap.new_count
        if other.category is Category.SECRET and other.file_path == case.path and here:
            return _refuse(
                ReasonCode.CHANGED_STILL_PRESENT,
                f"Another hard-coded secret took its place at {other.file_path}:{other.line_start}: read it from the "
                "environment or a secret store.",
            )
    if case.secret_at is not None:
        inside = case.secret_at.startswith(f"{case.path}:")
        return _refuse(
            ReasonCode.CHANGED_STILL_PRESENT if inside else ReasonCode.MOVED,
            f"The same secret value stands at {case.secret_at}: take it out of the code altogether.",
        )
    return None


def it_was_not_moved(case: Case) -> Judgement | None:
    place = moved_away(case)
    if place is not None:
        return _refuse(ReasonCode.MOVED, place)
    hidden = out_of_sight(case)
    if hidden is not None:
        return _refuse(ReasonCode.NOT_ANALYSED, hidden)
    if not case.tree_complete:
        return _refuse(
            ReasonCode.NOT_ANALYSED,
            "So many files changed that nobody can tell whether the flagged code moved into one of them: scan_project, "
            "then verify again, fewer findings at once.",
        )
    return None


def no_twin_is_left(case: Case) -> Judgement | None:
    present = {other.logical_id: other for other in case.result.findings}
    for twin in sorted(case.twins):
        other = present.get(twin)
        if other is None:
            continue
        if not case.applied(other.scanner, other.file_path):
            return _refuse(
                ReasonCode.TWIN_PRESENT,
                f"{other.scanner} reported the same weakness as {other.rule_id} and could not look again: run "
                "python -P -m appsecgate doctor.",
            )
        return _refuse(
            ReasonCode.TWIN_PRESENT,
            f"{other.scanner} still reports the same weakness as {other.rule_id} at "
            f"{other.file_path}:{other.line_start}: fix that too.",
        )
    return None


def it_is_not_written_in_disguise(case: Case) -> Judgement | None:
    word = disguised_word(case)
    if word is None:
        return None
    return _refuse(
        ReasonCode.CHANGED_STILL_PRESENT,
        f"{case.finding.rule_id} is not reported, but the new lines write {word!r} in a spelling of their own: "
        "write it plainly, and verify again.",
    )


CONDITIONS: tuple[Callable[[Case], Judgement | None], ...] = (
    it_was_judged_as_it_stands,
    it_parses,
    it_is_not_found_again,
    its_rule_is_still_loaded,
    its_scanner_ran_and_saw_the_file_whole,
    its_package_was_audited,
    the_match_is_certain,
    it_was_not_silenced,
    no_other_secret_took_its_place,
    it_was_not_moved,
    it_is_not_written_in_disguise,
    no_twin_is_left,
)


def _fixed(case: Case) -> Judgement:
    """Fixed, with the mark that lets the ways of getting there be counted apart."""
    rule = case.finding.rule_id
    hidden = hidden_sink_name(case.finding, sink_window(case))
    if not case.exists:
        code, text = ReasonCode.FILE_DELETED, f"{case.path} no longer exists, and {rule} with it."
    elif case.finding.category is Category.SECRET:
        code, text = ReasonCode.ROTATION_REQUIRED, "The secret left the code."
    elif hidden is not None:
        code = ReasonCode.SINK_STILL_NAMED
        text = f"{rule} is no longer reported, but {hidden!r} is still named there without being called: check by eye."
    elif _is_blank(case) or removed_whole(case):
        code, text = ReasonCode.CODE_REMOVED, f"The flagged code was removed without a replacement: {rule} is gone."
    else:
        code, text = ReasonCode.FIXED, f"{rule} is no longer reported; the scanner ran and saw the whole file."
    if case.finding.category is Category.SECRET:
        text += " Tell the person to rotate it: history keeps it. Record that with submit_feedback(verdict='ROTATED')."
    akin = next((one.finding for one in case.newcomers if _came_instead(case, one)), None)
    if akin is not None:
        text = f"{text.rstrip('.')}, but the edit brings in {akin.rule_id} at line {akin.line_start}: see new_findings."
    evidence = case.evidence
    if evidence is not None and evidence.reason is EvidenceReason.ADVISORIES_STALE:
        text += f" That goes for this advisory; newer ones are not known here{_in_brackets(evidence)}."
    return Judgement(FixStatus.FIXED, code, text)


def _came_instead(case: Case, newcomer: Newcomer) -> bool:
    """Whether a finding is new in the same file and of a kind with the claimed one."""
    other = newcomer.finding
    here = newcomer.appeared and other.file_path == case.path and other.merged_into is None
    return here and not set(other.cwe).isdisjoint(case.finding.cwe)


def removed_whole(case: Case) -> bool:
    """None of the flagged lines is left and the lines around them now touch: nothing replaced them."""
    line_map, finding = case.line_map, case.finding
    if line_map is None or any(line_map.new_line(n) for n in range(finding.line_start, finding.line_end + 1)):
        return False
    gap = line_map.gap(finding.line_start)
    return gap is not None and gap.new_count == 0
