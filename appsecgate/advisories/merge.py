"""One flaw, many names: canonical ids, groups of records, fixed versions."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from appsecgate.advisories.osv import Affected, OsvRecord, record_affects
from appsecgate.advisories.pep440 import PackageVersion, VersionKey, parse_version
from appsecgate.model import Severity

_ID_KINDS = ("CVE-", "GHSA-", "PYSEC-")


@dataclass(frozen=True, slots=True)
class Advisory:
    """A flaw that affects a package at a version: every record of it that says so, as one."""

    ids: tuple[str, ...]
    """The canonical id first (CVE, else GHSA, else PYSEC, else another), then the rest in the same order."""
    record_ids: tuple[str, ...]
    """The records that were merged."""
    severity: Severity
    """The highest that a record gives, or high where none gives one."""
    severity_source: str
    """The vector and its score, the database's word, or "" where ``severity`` is the default."""
    summary: str
    references: tuple[str, ...]
    cwe: tuple[str, ...]
    published: str
    modified: str
    fixed_versions: tuple[str, ...]
    """Versions above the audited one that end a vulnerable range of this flaw and lie in no other, smallest first."""

    @property
    def id(self) -> str:
        return self.ids[0]

    @property
    def fixed_version(self) -> str | None:
        """The smallest fixed version; a final release where there is one."""
        return preferred_version(self.fixed_versions)


@dataclass(frozen=True, slots=True)
class AdvisoryAnswer:
    """What a local copy says about one version of one package."""

    name: str
    version: str
    known: bool
    """Some advisory speaks of this package. False is normal for a package without a known flaw, or a private one."""
    advisories: tuple[Advisory, ...] = ()
    undecided: tuple[str, ...] = ()
    """Records about the package whose ranges cannot be compared with this version."""
    safe_version: str | None = None
    """The smallest version above this one that is outside every vulnerable range of the package."""


def id_order(name: str) -> tuple[int, tuple[int | str, ...], str]:
    """Sorting key: CVE before GHSA before PYSEC before others; older CVE and PYSEC numbers first."""
    kind = next((rank for rank, prefix in enumerate(_ID_KINDS) if name.upper().startswith(prefix)), len(_ID_KINDS))
    numbers = tuple(int(number) for number in re.findall(r"[0-9]{1,18}", name)) if kind in (0, 2) else ()
    return kind, numbers, name


def names_of_flaws(records: Iterable[tuple[str, Sequence[str]]]) -> dict[str, tuple[str, ...]]:
    """Record id → all names of its flaw, canonical first.

    Two records are one flaw where a chain of shared names joins them (union-find), so also where each of
    them shares a name with a third only.
    """
    parent: dict[str, str] = {}

    def root(name: str) -> str:
        while parent.setdefault(name, name) != name:
            parent[name] = parent[parent[name]]
            name = parent[name]
        return name

    ids = []
    for record_id, aliases in records:
        ids.append(record_id)
        for alias in aliases:
            parent[root(alias)] = root(record_id)
        root(record_id)
    groups: dict[str, list[str]] = {}
    for name in parent:
        groups.setdefault(root(name), []).append(name)
    ordered = {key: tuple(sorted(names, key=id_order)) for key, names in groups.items()}
    return {record_id: ordered[root(record_id)] for record_id in ids}


def answer_for(
    name: str, version: str, records: Sequence[OsvRecord], names: Mapping[str, tuple[str, ...]]
) -> AdvisoryAnswer:
    """What ``records`` (all that speak of ``name``, none withdrawn) say about ``version``.

    ``names``: record id → names of its flaw, as ``names_of_flaws`` gives them.
    """
    groups: dict[str, list[OsvRecord]] = {}
    undecided = []
    for record in records:
        answer = record_affects(record, name, version)
        if answer is Affected.YES:
            groups.setdefault(names[record.id][0], []).append(record)
        elif answer is Affected.UNDECIDED:
            undecided.append(record.id)
    advisories = tuple(
        _merged(group, names[group[0].id], name, version)
        for _, group in sorted(groups.items(), key=lambda g: id_order(g[0]))
    )
    covered = {record_id for advisory in advisories for record_id in advisory.ids}
    return AdvisoryAnswer(
        name,
        version,
        bool(records),
        advisories,
        tuple(sorted(set(undecided) - covered)),
        preferred_version(fixed_versions(name, version, records)) if advisories else None,
    )


def fixed_versions(name: str, version: str, records: Sequence[OsvRecord]) -> Iterator[str]:
    """Fixed versions above ``version`` that none of the records counts as affected, smallest first."""
    installed = parse_version(version)
    candidates: dict[VersionKey, PackageVersion] = {}
    for text in _fixed_events(name, records):
        parsed = parse_version(text)
        if parsed is not None and (installed is None or parsed.key > installed.key):
            candidates[parsed.key] = parsed
    for _, candidate in sorted(candidates.items()):
        if all(record_affects(record, name, candidate.text) is Affected.NO for record in records):
            yield candidate.text


def _fixed_events(name: str, records: Sequence[OsvRecord]) -> Iterator[str]:
    for record in records:
        for package in record.packages:
            if package.name == name:
                yield from (event.version for events in package.ranges for event in events if event.kind == "fixed")


def preferred_version(versions: Iterable[str]) -> str | None:
    """The first final release of a sorted list, else its first entry."""
    first = None
    for text in versions:
        parsed = parse_version(text)
        if parsed is not None and not parsed.prerelease:
            return text
        first = first or text
    return first


def _merged(group: Sequence[OsvRecord], names: tuple[str, ...], name: str, version: str) -> Advisory:
    group = sorted(group, key=lambda record: id_order(record.id))
    rated = [(record.severity.rank, record.severity, record.severity_source) for record in group if record.severity]
    _, severity, source = min(rated, default=(0, Severity.HIGH, ""))
    return Advisory(
        ids=names,
        record_ids=tuple(record.id for record in group),
        severity=severity,
        severity_source=source,
        summary=next((record.summary for record in group if record.summary), ""),
        references=tuple(dict.fromkeys(url for record in group for url in record.references)),
        cwe=tuple(dict.fromkeys(cwe for record in group for cwe in record.cwe)),
        published=min((record.published for record in group if record.published), default=""),
        modified=max(record.modified for record in group),
        fixed_versions=tuple(fixed_versions(name, version, group)),
    )
