"""Matches the findings of a new scan with those known before, so that each keeps its identity.

Per rule and file, one to one, the strongest evidence first: equal code in the same scope, equal
code anywhere in the file, the same scope, a place near to where the old line is now; then the same
across a renamed file. Within each stage the line map decides (``pairing``). What nothing matches
gets the lowest free slot of its scope.
"""

import re
from collections import defaultdict
from collections.abc import Container, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from appsecgate.identity.evidence import (
    BY_CODE,
    BY_MEMORY,
    BY_PLACE,
    PACKAGE_SCOPE,
    RESOURCE_SCOPE,
    MatchKind,
    MatchStage,
    NewSide,
    OldSide,
)
from appsecgate.identity.fingerprint import finding_order, fingerprints, logical_id
from appsecgate.identity.lines import LineMap
from appsecgate.identity.pairing import NewSpot, OldSpot, pair_spots
from appsecgate.identity.scopes import ScopeMap, scope_key
from appsecgate.model import Finding, Scanner

_BUCKET_KEY = re.compile(r"L\d+(?=:|\Z)")
_PLACELESS_SCOPES = (PACKAGE_SCOPE, RESOURCE_SCOPE)


@dataclass(frozen=True, slots=True)
class Known:
    """What the store remembers of a finding: enough to recognise it."""

    logical_id: str
    fingerprint: str
    scanner: Scanner
    rule_id: str
    file_path: str
    scope_key: str
    slot: int
    code: str
    line_start: int
    line_end: int
    present: bool
    """Reported by the last complete scan; False for what was fixed or gone before."""


@dataclass(frozen=True, slots=True)
class Matching:
    """Every new finding with its identity, and what became of every known one."""

    findings: tuple[Finding, ...]
    """In the order given, with fingerprint, scope key, slot and logical id."""
    pairs: Mapping[str, Finding]
    """Known logical id -> the finding that it is now; returned ones included."""
    how: Mapping[str, MatchKind]
    appeared: tuple[str, ...]
    """Ids of findings that were not present before: new ones and returned ones."""
    returned: tuple[str, ...]
    """Those of ``appeared`` whose identity was known as fixed or gone."""
    vanished: tuple[str, ...]
    """Ids that were present and are matched by nothing."""
    ambiguous: frozenset[str]
    """Those of ``vanished`` that another finding may be: see ``pairing``. Not to be called fixed."""


def match(
    known: Sequence[Known],
    found: Sequence[Finding],
    *,
    scopes: Mapping[str, ScopeMap],
    line_maps: Mapping[str, LineMap],
    renames: Mapping[str, str] | None = None,
    reserved: Container[str] = frozenset(),
) -> Matching:
    """Gives every finding an identity: an inherited one where it matches, else a new one.

    ``known`` holds what was reported before in exactly the files (and by the scanners) that
    ``found`` speaks of, under a renamed file's old path too, and absent ones; ``found`` holds all
    findings of these files. ``scopes`` and ``line_maps`` go by the new path; a file without a line
    map counts as unchanged, one without scopes as not Python. ``renames`` maps new paths to old
    ones; such a file's line map starts from the old path's text. ``reserved`` are ids present in
    other files, which no new finding may take.
    """
    matcher = _Matcher(known, fingerprints(found), scopes, line_maps, renames or {})
    matcher.run()
    return matcher.result(reserved)


class _Matcher:
    """The state of one ``match``: what is still unmatched on both sides."""

    def __init__(
        self,
        known: Sequence[Known],
        found: Sequence[Finding],
        scopes: Mapping[str, ScopeMap],
        line_maps: Mapping[str, LineMap],
        renames: Mapping[str, str],
    ) -> None:
        self._known = sorted(known, key=_known_order)
        self._found = found
        self._scopes = scopes
        self._line_maps = line_maps
        self._advisories = _advisory_names(found, scopes)
        self._new_paths: dict[str, list[str]] = defaultdict(list)
        for new_path, old_path in sorted(renames.items()):
            self._new_paths[old_path].append(new_path)
        self._news = self._new_sides()
        self._by_path: dict[str, list[NewSide]] = defaultdict(list)
        for new in self._news:
            self._by_path[new.group[2]].append(new)
        self._pairs: dict[int, int] = {}
        self._matched: set[int] = set()
        self._kinds: dict[int, MatchKind] = {}
        self._doubtful: set[int] = set()

    def run(self) -> None:
        """All stages in order; a returning finding is recognised before mere places are compared."""
        present = [i for i, old in enumerate(self._known) if old.present]
        absent = [i for i, old in enumerate(self._known) if not old.present]
        here, moved = self._in_place(present), self._renamed(present)
        self._match(here, BY_CODE)
        for sides in moved:
            self._match(sides, BY_CODE, MatchKind.RENAMED)
        for sides in (self._in_place(absent), *self._renamed(absent)):
            self._match(sides, BY_MEMORY, MatchKind.RETURNED)
        self._match(here, BY_PLACE)
        for sides in moved:
            self._match(sides, BY_PLACE, MatchKind.RENAMED)

    def result(self, reserved: Container[str]) -> Matching:
        """Ids for all, inherited ones first, then new ones from the top of each file down."""
        taken = {old.logical_id for old in self._known if old.present}
        done: dict[int, Finding] = {}
        for old_index, new_index in self._pairs.items():
            old = self._known[old_index]
            taken.add(old.logical_id)
            done[new_index] = self._identified(new_index, old.logical_id, old.slot)
        known_ids = {old.logical_id: i for i, old in enumerate(self._known)}
        next_slots: dict[tuple[str, str, str], int] = defaultdict(lambda: 1)
        for new in self._news:
            index = new.spot.index
            if index in done:
                continue
            place = (new.group[1], new.group[2], new.scope)
            free = logical_id(*place, next_slots[place])
            while free in taken or free in reserved:
                next_slots[place] += 1
                free = logical_id(*place, next_slots[place])
            taken.add(free)
            done[index] = self._identified(index, free, next_slots[place])
            if free in known_ids:  # the plain slot of a finding that was fixed or gone
                self._pairs[known_ids[free]] = index
                self._kinds[known_ids[free]] = MatchKind.RETURNED
        return self._summary([done[i] for i in range(len(self._found))])

    def _summary(self, findings: Sequence[Finding]) -> Matching:
        known = self._known
        pairs = {known[old].logical_id: findings[new] for old, new in self._pairs.items()}
        kept = {known[old].logical_id for old in self._pairs if known[old].present}
        vanished = [i for i, old in enumerate(known) if old.present and i not in self._pairs]
        return Matching(
            findings=tuple(findings),
            pairs=pairs,
            how={known[old].logical_id: kind for old, kind in self._kinds.items()},
            appeared=tuple(f.logical_id for f in findings if f.logical_id not in kept),
            returned=tuple(f.logical_id for f in findings if f.logical_id in pairs and f.logical_id not in kept),
            vanished=tuple(known[i].logical_id for i in vanished),
            ambiguous=frozenset(known[i].logical_id for i in vanished if i in self._doubtful),
        )

    def _identified(self, index: int, identity: str, slot: int) -> Finding:
        finding = self._found[index]
        return replace(finding, scope_key=self._scope_of(finding), slot=slot, logical_id=identity)

    def _scope_of(self, finding: Finding) -> str:
        return scope_key(finding, self._scopes.get(finding.file_path, _NO_SCOPES))

    def _match(self, olds: Sequence[OldSide], stages: Sequence[MatchStage], kind: MatchKind | None = None) -> None:
        paths = sorted({old.group[2] for old in olds})
        for stage in stages:
            self._match_stage(olds, [new for path in paths for new in self._by_path[path]], stage, kind)

    def _match_stage(
        self, olds: Sequence[OldSide], news: Sequence[NewSide], stage: MatchStage, kind: MatchKind | None
    ) -> None:
        candidates: dict[Hashable, tuple[list[OldSpot], list[NewSpot]]] = {}
        for old in olds:
            if old.spot.index not in self._pairs and (key := stage.key(old)) is not None:
                candidates.setdefault((old.group, key), ([], []))[0].append(old.spot)
        for new in news:
            if new.spot.index not in self._matched and (key := (new.group, stage.key(new))) in candidates:
                candidates[key][1].append(new.spot)
        for old_spots, new_spots in candidates.values():
            pairing = pair_spots(old_spots, new_spots, within=stage.within)
            self._doubtful |= pairing.doubtful
            for old_index, new_index in pairing.pairs:
                self._pairs[old_index] = new_index
                self._matched.add(new_index)
                self._kinds[old_index] = kind or stage.kind

    def _new_sides(self) -> list[NewSide]:
        order = sorted(range(len(self._found)), key=lambda i: finding_order(self._found[i]))
        return [self._new_side(index, self._found[index]) for index in order]

    def _new_side(self, index: int, finding: Finding) -> NewSide:
        return NewSide(
            group=(finding.scanner.value, finding.rule_id, finding.file_path),
            scope=self._scope_of(finding),
            code=finding.code,
            fingerprint=finding.fingerprint,
            spot=NewSpot(index, finding.line_start),
        )

    def _in_place(self, indexes: Iterable[int]) -> list[OldSide]:
        return [self._old_side(i, self._known[i].file_path) for i in indexes]

    def _renamed(self, indexes: Sequence[int]) -> list[list[OldSide]]:
        """The findings of renamed files as they would stand under each new path."""
        by_path: dict[str, list[OldSide]] = defaultdict(list)
        for i in indexes:
            for new_path in self._new_paths.get(self._known[i].file_path, ()):
                by_path[new_path].append(self._old_side(i, new_path))
        return [by_path[path] for path in sorted(by_path)]

    def _old_side(self, index: int, path: str) -> OldSide:
        old = self._known[index]
        rule_id = self._advisories.get((path, old.scope_key, old.rule_id), old.rule_id)
        spot = self._old_spot(index, old, path)
        scope = self._present_scope(old, path, spot.position)
        return OldSide((old.scanner.value, rule_id, path), scope, old.code, old.fingerprint, spot)

    def _old_spot(self, index: int, old: Known, path: str) -> OldSpot:
        lines = self._line_maps.get(path)
        # the lines of an absent one belong to a text from before the last scan
        if lines is None or not old.present:
            return OldSpot(index, old.line_start, anchored=False, gap=None)
        start, end = lines.new_line(old.line_start), lines.new_line(old.line_end)
        return OldSpot(
            index,
            position=lines.nearest(old.line_start),
            anchored=start is not None and end is not None and end - start == old.line_end - old.line_start,
            gap=lines.gap(old.line_start),
            rival=lines.rival_line(old.line_start),
        )

    def _present_scope(self, old: Known, path: str, position: int) -> str:
        """The old scope in the terms of the new text: a bucket is that of the line where it is now."""
        if old.scope_key.startswith(_PLACELESS_SCOPES):
            return old.scope_key
        scopes = self._scopes.get(path, _NO_SCOPES)
        if scopes.python and not _BUCKET_KEY.match(old.scope_key):
            return old.scope_key
        suffix = f":{old.rule_id}" if old.scope_key.endswith(f":{old.rule_id}") else ""
        return scopes.at(position) + suffix


_NO_SCOPES = ScopeMap.buckets()


def _known_order(old: Known) -> tuple[str, int, int, str, str, str, int, str]:
    """As ``finding_order`` orders findings, so that equal places keep their order."""
    return (
        old.file_path,
        old.line_start,
        old.line_end,
        old.scanner.value,
        old.rule_id,
        old.code,
        old.slot,
        old.logical_id,
    )


def _advisory_names(found: Sequence[Finding], scopes: Mapping[str, ScopeMap]) -> dict[tuple[str, str, str], str]:
    """(file, package scope, any name of a flaw) -> the rule it is reported under now.

    An advisory gets its CVE number later, and its findings change their rule: same flaw, same id.
    """
    names: dict[tuple[str, str, str], str] = {}
    for finding in sorted(found, key=finding_order):
        if finding.package is not None:
            scope = scope_key(finding, scopes.get(finding.file_path, _NO_SCOPES))
            for name in finding.package.advisory_ids:
                names.setdefault((finding.file_path, scope, name), finding.rule_id)
    return names
