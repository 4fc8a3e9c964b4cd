"""One weakness reported several times: which finding stands for it, which are merged into it.

A group has something in common that all its members share: the lines and the CWE number, the lines
and the secret's value, or the advisory of one package; and it has at most one finding per rule. So
a rule that flags a whole class cannot draw in what lies far apart inside it, and five hundred hits
of one rule stay five hundred.
"""

import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from appsecgate.model import Category, Finding, Scanner, Twin

CREDENTIAL_CWES = frozenset({259, 321, 522, 540, 547, 798})
"""Weaknesses that are about a secret in the text, by CWE number."""

_CWE_NUMBER = re.compile(r"\bCWE[-_ ]?0*(\d{1,6})\b", re.IGNORECASE)
_SCANNER_ORDER = {scanner: order for order, scanner in enumerate(Scanner)}


def cwe_numbers(finding: Finding) -> frozenset[int]:
    """The CWE numbers of a finding, whatever follows them (``CWE-78: …``)."""
    return frozenset(int(number) for text in finding.cwe for number in _CWE_NUMBER.findall(text))


def merge_duplicates(findings: Sequence[Finding]) -> list[Finding]:
    """The findings in the order given, duplicates pointing at the one that stands for them.

    The worst severity stands for a group, then the scanner listed first, then the rule id. Takes
    findings with logical ids; earlier merges are forgotten.
    """
    fresh = [replace(f, also_reported_by=(), merged_into=None) for f in findings]
    done = dict(enumerate(fresh))
    for group in [*_weakness_groups(fresh), *_advisory_groups(fresh)]:
        if len(group) > 1:
            first, *others = sorted(group, key=lambda i: _standing(fresh[i]))
            twins = tuple(Twin(fresh[i].scanner, fresh[i].rule_id, fresh[i].logical_id) for i in others)
            done[first] = replace(fresh[first], also_reported_by=twins)
            for i in others:
                done[i] = replace(fresh[i], merged_into=fresh[first].logical_id)
    return [done[i] for i in range(len(fresh))]


def _standing(finding: Finding) -> tuple[int, int, str, int, int, str]:
    order = _SCANNER_ORDER[finding.scanner]
    rank = finding.severity.rank
    return (rank, order, finding.rule_id, finding.line_start, finding.line_end, finding.logical_id)


def _weakness_marks(finding: Finding) -> frozenset[Hashable]:
    """What makes a finding the same weakness as another on the same lines.

    The value, for what is about a secret whose value is known; else the CWE numbers. Two CVEs of a
    package share lines and CWE and are two flaws, so packages have no marks.
    """
    if finding.package is not None and finding.category in (Category.SCA, Category.LICENSE):
        return frozenset()
    numbers = cwe_numbers(finding)
    about_secret = finding.category is Category.SECRET or bool(numbers & CREDENTIAL_CWES)
    if about_secret and finding.secret_digests:
        return frozenset(("secret", digest) for digest in finding.secret_digests)
    return frozenset(("cwe", number) for number in numbers)


def _distinct_rule(finding: Finding) -> str:
    """Of which a group has one. Each check of a resource is about another setting, whatever its CWE."""
    return "iac" if finding.category is Category.IAC else f"{finding.scanner}:{finding.rule_id}"


@dataclass(slots=True)
class _TwinGroup:
    """Findings with a line and a mark common to all."""

    marks: frozenset[Hashable]
    line_end: int
    members: list[int] = field(default_factory=list)
    rules: set[str] = field(default_factory=set)


class _TwinShelf:
    """The groups of one file and mark in order, with how far each rule has passed over them.

    Findings come by first line, and a group only ever loses lines and marks and gains rules: what
    a rule has passed over once it can never join.
    """

    def __init__(self) -> None:
        self._groups: list[_TwinGroup] = []
        self._passed: dict[str, int] = defaultdict(int)
        self._ended = 0

    def add(self, group: _TwinGroup) -> None:
        self._groups.append(group)

    def first_open(self, mark: Hashable, rule: str, line: int) -> _TwinGroup | None:
        """The first group that a finding of this rule beginning on this line can join."""
        while self._ended < len(self._groups) and self._groups[self._ended].line_end < line:
            self._ended += 1
        at = max(self._passed[rule], self._ended)
        while at < len(self._groups):
            group = self._groups[at]
            if group.line_end >= line and mark in group.marks and rule not in group.rules:
                break
            at += 1
        self._passed[rule] = at
        return self._groups[at] if at < len(self._groups) else None


def _weakness_groups(findings: Sequence[Finding]) -> Iterable[list[int]]:
    """Groups by lines and marks: one sweep down each file."""
    shelves: dict[tuple[str, Hashable], _TwinShelf] = defaultdict(_TwinShelf)
    groups: list[_TwinGroup] = []
    for index in sorted(range(len(findings)), key=lambda i: _sweep_order(findings[i])):
        finding = findings[index]
        marks = _weakness_marks(finding)
        rule = _distinct_rule(finding)
        group = None
        for mark in sorted(marks, key=str):
            group = shelves[finding.file_path, mark].first_open(mark, rule, finding.line_start)
            if group is not None:
                break
        if group is None:
            group = _TwinGroup(marks, finding.line_end)
            groups.append(group)
            for mark in marks:
                shelves[finding.file_path, mark].add(group)
        group.marks &= marks
        group.line_end = min(group.line_end, finding.line_end)
        group.members.append(index)
        group.rules.add(rule)
    return [group.members for group in groups]


def _sweep_order(finding: Finding) -> tuple[str, int, tuple[int, int, str, int, int, str]]:
    return (finding.file_path, finding.line_start, _standing(finding))


def _advisory_groups(findings: Sequence[Finding]) -> list[list[int]]:
    """Groups by names of one flaw, chained over shared aliases, per package entry of a manifest."""
    entries: dict[Hashable, list[int]] = defaultdict(list)
    for index in sorted(range(len(findings)), key=lambda i: _sweep_order(findings[i])):
        finding = findings[index]
        package = finding.package
        if package is not None and finding.category is Category.SCA:
            version = package.installed_version
            entry = (finding.file_path, package.ecosystem, package.name, version, finding.line_start)
            entries[entry].append(index)
    return [group for members in entries.values() for group in _chained(findings, members)]


def _chained(findings: Sequence[Finding], members: Sequence[int]) -> list[list[int]]:
    """Members joined where they share a name, directly or through others; one per rule."""
    parent = {index: index for index in members}

    def root(index: int) -> int:
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = parent[index]
        return index

    owner: dict[str, int] = {}
    for index in members:
        package = findings[index].package
        for name in {findings[index].rule_id, *(package.advisory_ids if package else ())}:
            parent[root(index)] = root(owner.setdefault(name, index))
    chains: dict[int, dict[str, int]] = defaultdict(dict)
    for index in members:
        chains[root(index)].setdefault(findings[index].rule_id, index)
    return [list(chain.values()) for chain in chains.values()]
