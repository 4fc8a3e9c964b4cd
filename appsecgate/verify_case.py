"""Everything that is known about one claim after the rescan: what the conditions are asked about."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from appsecgate.identity.ages import unpack_ages
from appsecgate.identity.lines import LineMap, line_hashes
from appsecgate.identity.scopes import scope_map
from appsecgate.model import Category, EvidenceReason, EvidenceState, Finding, Scanner, TargetEvidence
from appsecgate.redact.redactor import Redactor
from appsecgate.scan.looks import age_of
from appsecgate.scan.result import ScanResult
from appsecgate.session import Control, Session
from appsecgate.store.findings import StoredFinding
from appsecgate.store.scans import FileShape
from appsecgate.verify_secret import MAX_SEARCHED_CHARS, find_disguised, find_key_lines
from appsecgate.verify_syntax import was_mended
from appsecgate.verify_traces import Moments, Traces, Trail, ages_by_commit, was_proved
from appsecgate.workspace import LeftOut, Source
from appsecgate.workspace_arrivals import is_foreign

SEARCH_RESERVE_S = 2.0
"""Of a call's time, kept for the judgement: a search that is not over by then proves nothing."""


@dataclass(frozen=True, slots=True)
class Before:
    """What must be known before the rescan overwrites it."""

    lines: Mapping[str, bytes]
    """Logical id → the line hashes of its file as it was when the finding was last seen."""
    twins: Mapping[str, frozenset[str]]
    """Logical id → the ids that were merged with it."""
    traces: Traces


@dataclass(frozen=True, slots=True)
class Newcomer:
    """A finding whose code came to where it is after the claimed one was last seen."""

    finding: Finding
    certain: bool
    """It is known what its file held before."""
    appeared: bool
    """It was not in the books when the claimed one was last seen."""


@dataclass(frozen=True, slots=True)
class Case:
    stored: StoredFinding
    result: ScanResult
    path: str
    """Where the file is now: under its new name where it was renamed."""
    source: Source | None
    """The file as it is now; None where it no longer exists or cannot be read."""
    exists: bool
    rule_alive: bool
    rules_changed: bool
    """The rule that found it is not the same any more, and the repository had the power to change it."""
    twins: Collection[str]
    trails: Sequence[Trail]
    newcomers: Sequence[Newcomer]
    line_map: LineMap | None
    """From the text in which it was last seen to the present one; None where the former is not remembered."""
    new_lines: frozenset[int]
    """Lines of the file that came after it was last seen, from 1."""
    scope_names: frozenset[str]
    """The definitions of the file as it is now, where the finding is reported in another one than before."""
    secret_at: str | None
    """Where a claimed secret's value stands on a line that is new."""
    tree_complete: bool
    traces: Traces
    mended: bool
    """The file is in pieces, and the parser mended it in silence."""

    @property
    def finding(self) -> Finding:
        return self.stored.finding

    @property
    def evidence(self) -> TargetEvidence | None:
        return self.result.target(self.finding.scanner, self.path)

    @property
    def now(self) -> Finding | None:
        return self.result.matching.pairs.get(self.finding.logical_id)

    def applied(self, scanner: Scanner, path: str) -> bool:
        """Whether the scanner's word about a file is complete."""
        return _is_applied(self.result, scanner, path)

    @property
    def last_ms(self) -> int:
        """When it was last seen: the beginning of that scan, in milliseconds since 1970."""
        return self.traces.moments[self.finding.logical_id].last_ms

    @property
    def unchanged(self) -> bool:
        """Whether all flagged lines stand where they stood."""
        lines = range(self.finding.line_start, self.finding.line_end + 1)
        return self.line_map is not None and all(self.line_map.new_line(line) is not None for line in lines)


def build_case(
    session: Session, stored: StoredFinding, result: ScanResult, before: Before, control: Control
) -> Case:
    """Raises CancelledError."""
    control.cancel.check()
    finding = stored.finding
    renamed = {old: new for new, old in before.traces.renames.items()}
    gone = not session.workspace.exists(finding.file_path)
    path = renamed.get(finding.file_path, finding.file_path) if gone else finding.file_path
    found = session.workspace.read(path, max_bytes=session.config.limits.max_file_bytes)
    source = None if isinstance(found, LeftOut) else found
    moments = before.traces.moments[finding.logical_id]
    with session.store.read() as reader:
        shapes = reader.shapes(session.project_id, {path, *(other.file_path for other in result.findings)})
    ages = {name: unpack_ages(shape.ages) for name, shape in shapes.items()}
    proved = was_proved(stored)
    new_lines = frozenset(n for n, age in enumerate(ages.get(path, ()), 1) if age > moments.last_ms)
    line_map = _line_map(session, before.lines.get(finding.logical_id), source)
    secret_at, searched = None, True
    if not proved and finding.category is Category.SECRET and finding.secret_digests:
        there = frozenset(new_lines | _left_of_block(finding, line_map))
        secret_at, searched = _secret_at(session, finding, source, there, before.traces, moments, control)
    return Case(
        stored=stored,
        result=result,
        path=path,
        source=source,
        exists=not gone or path != finding.file_path,
        rule_alive=session.adapter(finding.scanner).has_rule(finding.rule_id),
        rules_changed=_rules_changed(session, finding),
        twins=before.twins[finding.logical_id],
        trails=before.traces.trails.get(finding.logical_id, ()),
        newcomers=() if proved else tuple(_newcomers(session, stored, result, before.traces, shapes)),
        line_map=line_map,
        new_lines=new_lines,
        scope_names=_scope_names(session, source, finding, result.matching.pairs.get(finding.logical_id)),
        secret_at=secret_at,
        tree_complete=before.traces.complete and searched,
        traces=before.traces,
        mended=source is not None and was_mended(session, source),
    )


def _scope_names(session: Session, source: Source | None, finding: Finding, now: Finding | None) -> frozenset[str]:
    """Masked as stored ones are."""
    if source is None or now is None or now.scope_key == finding.scope_key:
        return frozenset()
    return frozenset(span.key for span in scope_map(source).renamed(session.redactor().identifier).spans)


def _rules_changed(session: Session, finding: Finding) -> bool:
    """Whether the definition of the finding's rule differs from the one that found it."""
    then = finding.metadata.get("rule_hash")
    now = session.adapter(finding.scanner).rule_hash(finding.rule_id)
    return isinstance(then, str) and bool(now) and then != now


def _line_map(session: Session, lines: bytes | None, source: Source | None) -> LineMap | None:
    return None if lines is None or source is None else LineMap(lines, line_hashes(source, session.store.key))


def _left_of_block(finding: Finding, line_map: LineMap | None) -> set[int]:
    """Lines that stood between the first and the last flagged one and are still there."""
    within = range(finding.line_start + 1, finding.line_end) if line_map else ()
    return {now for now in (line_map.new_line(line) for line in within if line_map) if now is not None}


def _newcomers(
    session: Session, stored: StoredFinding, result: ScanResult, traces: Traces, shapes: Mapping[str, FileShape]
) -> list[Newcomer]:
    """Reported findings whose code came to where it is after the claimed one was last seen."""
    finding, moments = stored.finding, traces.moments[stored.finding.logical_id]
    reported = {other.logical_id for other in result.matching.findings}
    others = [
        other
        for other in result.findings
        if other.logical_id != finding.logical_id
        and other.file_path in shapes
        and other.file_path not in traces.settled
        and (other.logical_id in reported or _is_applied(result, other.scanner, other.file_path))
    ]
    with session.store.read() as reader:
        books = {
            item.finding.logical_id: item.first_seen_at
            for item in reader.findings_by_id(session.project_id, [other.logical_id for other in others])
        }
    found = []
    by_commit: dict[str, list[int] | None] = {}
    for other in others:
        path = other.file_path
        certain = path == finding.file_path or path in traces.remembered or path in traces.brought
        certain = certain or (not is_foreign(path) and moments.lacked(path))
        age = age_of(other, unpack_ages(shapes[path].ages))
        young = path in traces.brought or age is None or age > moments.last_ms
        if young and not certain:
            if path not in by_commit:
                lines = shapes[path].line_hashes
                by_commit[path] = ages_by_commit(session, moments.first_commit, path, lines, moments.last_ms + 1)
            certain = by_commit[path] is not None
            age = age_of(other, by_commit[path] or ())
            young = age is None or age > moments.last_ms
        if young:
            appeared = books.get(other.logical_id, stored.last_seen_at) > stored.last_seen_at
            found.append(Newcomer(other, certain, appeared))
    return found


def _is_applied(result: ScanResult, scanner: Scanner, path: str) -> bool:
    evidence = result.target(scanner, path)
    return evidence is not None and evidence.state is EvidenceState.APPLIED


def _secret_at(
    session: Session,
    finding: Finding,
    source: Source | None,
    new_lines: Collection[int],
    traces: Traces,
    moments: Moments,
    control: Control,
) -> tuple[str | None, bool]:
    """Where the value of a claimed secret was written since, whether or not a detector takes it for one there; and
    whether there was the time to look everywhere."""
    redactor = session.redactor()
    if source is not None:
        place, whole = _line_with(session, redactor, source, new_lines, finding)
        if place or not whole:
            return place, whole
    with session.store.read() as reader:
        shapes = reader.shapes(session.project_id, traces.scanned)
    for path in traces.scanned:
        if control.remaining_s() < SEARCH_RESERVE_S:
            return None, False
        other = session.workspace.read(path, max_bytes=MAX_SEARCHED_CHARS)
        if path == finding.file_path or isinstance(other, LeftOut) or path not in shapes:
            continue
        ages = unpack_ages(shapes[path].ages)
        if path not in traces.remembered:
            lines = shapes[path].line_hashes
            ages = ages_by_commit(session, moments.first_commit, path, lines, moments.last_ms + 1) or ages
        young = [number for number, age in enumerate(ages, 1) if age > moments.last_ms]
        place, whole = _line_with(session, redactor, other, young, finding)
        if place or not whole:
            return place, whole
    return None, True


def _line_with(
    session: Session, redactor: Redactor, source: Source, numbers: Collection[int], finding: Finding
) -> tuple[str | None, bool]:
    """``path:line`` where one of the values stands on these lines, in whatever form; and whether all could be
    looked through."""
    if not numbers or len(source.text) > MAX_SEARCHED_CHARS:
        return None, True
    masked = redactor.text(source.text).split("\n")
    for number in sorted(numbers):
        if number <= len(masked) and any(f":{digest}]" in masked[number - 1] for digest in finding.secret_digests):
            return f"{source.path}:{number}", True
    found = find_disguised(redactor, source, numbers, finding.secret_digests)
    line = found.line or find_key_lines(session.store.key, finding, source, numbers)
    return (None if line is None else f"{source.path}:{line}"), found.complete


def is_syntax_trouble(evidence: TargetEvidence) -> bool:
    """Whether the scanner could not parse (all of) the file, as after a slip of the hand."""
    return evidence.reason is EvidenceReason.PARSE_FAILED or (
        evidence.reason is EvidenceReason.PARTIAL and "pars" in evidence.detail.lower()
    )
