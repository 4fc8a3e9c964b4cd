"""Records of the OSV schema (version 1): reading, checking, and whether a version is affected.

A record may come from anywhere, so every field is checked and bounded. What is kept is what an audit
needs; ``osv_document`` writes it back in the same schema, so that a record is read by one piece of code
whether it comes from a dump or from our index.
"""

import enum
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from appsecgate.advisories.cvss import cvss2_base_score, cvss3_base_score, severity_of_score, severity_of_word
from appsecgate.advisories.cvss4 import cvss4_score
from appsecgate.advisories.pep440 import PackageVersion, canonical_name, parse_version
from appsecgate.errors import AdvisoryError
from appsecgate.model import Json, Severity

OSV_ECOSYSTEM = "PyPI"
MAX_SUMMARY_CHARS = 400
MAX_REFERENCES = 12
MAX_ALIASES = 64
MAX_EVENTS = 2_000
MAX_VERSIONS = 20_000

_OSV_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:+-]{1,99}", re.ASCII)
_OSV_CWE = re.compile(r"CWE-[0-9]{1,6}", re.ASCII)
_OSV_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)", re.ASCII)
_OSV_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,213}[A-Za-z0-9])?", re.ASCII)
_EVENT_RANK = {"fixed": 0, "limit": 0, "introduced": 1, "last_affected": 2}
"""Order of events at one version: a new interval may begin where the last one was fixed, and one may begin
and end with the same last affected version."""


class Affected(enum.StrEnum):
    """What a record says about a version. Undecided: its range or the version cannot be compared."""

    YES = "yes"
    NO = "no"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class OsvEvent:
    kind: str
    """``introduced``, ``fixed``, ``last_affected`` or ``limit``."""
    version: str
    """``0`` in an introduced event means: before every version."""


@dataclass(frozen=True, slots=True)
class OsvPackage:
    """One ``affected`` entry for a Python package."""

    name: str
    """Normalised (PEP 503)."""
    ranges: tuple[tuple[OsvEvent, ...], ...]
    """ECOSYSTEM ranges (a SEMVER one is read alike); GIT ranges say nothing about versions."""
    versions: tuple[str, ...]
    """Affected versions that no range covers."""
    listed: bool
    """The record enumerates versions, so that what is not in it is not affected."""


@dataclass(frozen=True, slots=True)
class OsvRecord:
    id: str
    aliases: tuple[str, ...]
    modified: str
    """RFC 3339, as the record gives it."""
    published: str
    withdrawn: bool
    summary: str
    """One line, at most ``MAX_SUMMARY_CHARS``."""
    references: tuple[str, ...]
    cwe: tuple[str, ...]
    severity: Severity | None
    """None where the record has neither a vector that can be scored nor a known word."""
    severity_source: str
    """The vector with its score, or the database's word; "" without a severity."""
    packages: tuple[OsvPackage, ...]


def parse_osv(document: Json) -> OsvRecord:
    """Read one record; raises AdvisoryError where it is none, or of a schema that is not version 1."""
    if not isinstance(document, dict):
        raise AdvisoryError("not an OSV record: the top level is no object")
    record_id = _osv_text(document.get("id"))
    if not _OSV_ID.fullmatch(record_id):
        raise AdvisoryError("not an OSV record: no usable id")
    if not re.fullmatch(r"(?:1(?:\..*)?)?", _osv_text(document.get("schema_version"))):
        raise AdvisoryError(f"{record_id}: schema version {_osv_text(document['schema_version'])[:20]!r} is not 1.x")
    modified = _osv_text(document.get("modified"))
    if not _OSV_TIME.fullmatch(modified):
        raise AdvisoryError(f"{record_id}: no usable modified time")
    if not isinstance(document.get("affected"), list):
        raise AdvisoryError(f"{record_id}: no affected packages")
    severity, source = _osv_severity(document)
    published = _osv_text(document.get("published"))
    return OsvRecord(
        id=record_id,
        aliases=_osv_ids(document.get("aliases"), record_id),
        modified=modified,
        published=published if _OSV_TIME.fullmatch(published) else "",
        withdrawn=bool(document.get("withdrawn")),
        summary=_osv_summary(document),
        references=_osv_references(document.get("references")),
        cwe=_osv_cwe(document),
        severity=severity,
        severity_source=source,
        packages=tuple(_osv_packages(document["affected"], record_id)),
    )


def osv_document(record: OsvRecord) -> dict[str, Json]:
    """The record in the OSV schema, reduced to what ``parse_osv`` keeps: reading it again gives the same record."""
    affected: list[Json] = []
    for package in record.packages:
        ranges: list[Json] = [
            {"type": "ECOSYSTEM", "events": [{event.kind: event.version} for event in events]}
            for events in package.ranges
        ]
        entry: dict[str, Json] = {"package": {"ecosystem": OSV_ECOSYSTEM, "name": package.name}, "ranges": ranges}
        if package.listed:
            entry["versions"] = list(package.versions)
        affected.append(entry)
    word: Json = {"severity": str(record.severity or ""), "severity_source": record.severity_source}
    return {
        "schema_version": "1.0.0",
        "id": record.id,
        "aliases": list(record.aliases),
        "modified": record.modified,
        "published": record.published,
        "summary": record.summary,
        "affected": affected,
        "references": [{"url": url} for url in record.references],
        "database_specific": {"cwe_ids": list(record.cwe), "appsecgate": word},
        **({"withdrawn": record.modified} if record.withdrawn else {}),
    }


def record_affects(record: OsvRecord, name: str, version: str) -> Affected:
    """What the record says about this version of the package ``name`` (normalised)."""
    answers = [package_affects(package, version) for package in record.packages if package.name == name]
    if Affected.YES in answers:
        return Affected.YES
    return Affected.UNDECIDED if Affected.UNDECIDED in answers else Affected.NO


def package_affects(package: OsvPackage, version: str) -> Affected:
    """The OSV schema's evaluation: in the list of versions, or inside a range."""
    parsed = parse_version(version)
    if _is_listed(package.versions, version, parsed):
        return Affected.YES
    answers = [_range_affects(events, parsed) for events in package.ranges]
    if Affected.YES in answers:
        return Affected.YES
    if Affected.UNDECIDED in answers or not (answers or package.listed):
        return Affected.UNDECIDED
    return Affected.NO


def _is_listed(versions: Iterable[str], text: str, parsed: PackageVersion | None) -> bool:
    if parsed is None:
        return text.strip() in versions
    for listed in versions:
        other = parse_version(listed)
        if other is not None and other.key in (parsed.key, parsed.public_key):
            return True
    return False


def _range_affects(events: tuple[OsvEvent, ...], version: PackageVersion | None) -> Affected:
    """Walk the events in version order; the state after the last one that is not above the version counts."""
    ordered = _ordered_events(events)
    if version is None or not ordered:
        return Affected.UNDECIDED
    inside = all(kind != "introduced" for kind, _ in ordered)  # a range without a beginning covers all before
    for kind, at in ordered:
        # a local version (1.0+cu118) is a build of its public one, unless the record itself names local ones
        own = version.key if at is not None and at.local else version.public_key
        if kind == "introduced":
            inside = inside or at is None or own >= at.key
        elif at is not None and (own > at.key if kind == "last_affected" else own >= at.key):
            inside = False
    return Affected.YES if inside else Affected.NO


@lru_cache(maxsize=8192)
def _ordered_events(events: tuple[OsvEvent, ...]) -> tuple[tuple[str, PackageVersion | None], ...]:
    """(kind, version or None for the beginning), in order; empty where a version cannot be read."""
    placed = []
    for event in events:
        beginning = event.kind == "introduced" and event.version == "0"
        at = None if beginning else parse_version(event.version)
        if at is None and not beginning:
            return ()
        place = () if at is None else (at.key, _EVENT_RANK[event.kind])
        placed.append((place, event.kind, at))
    placed.sort(key=lambda item: item[0])
    return tuple((kind, at) for _, kind, at in placed)


def _osv_text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _osv_list(value: Json, limit: int) -> list[Json]:
    return value[:limit] if isinstance(value, list) else []


def _osv_ids(value: Json, own: str) -> tuple[str, ...]:
    ids = [text for text in map(_osv_text, _osv_list(value, MAX_ALIASES)) if _OSV_ID.fullmatch(text) and text != own]
    return tuple(dict.fromkeys(ids))


def _osv_summary(document: Mapping[str, Json]) -> str:
    text = _osv_text(document.get("summary")) or _osv_text(document.get("details"))
    text = " ".join(text[: MAX_SUMMARY_CHARS * 4].split())
    text = "".join(char for char in text if char.isprintable())
    return text if len(text) <= MAX_SUMMARY_CHARS else text[: MAX_SUMMARY_CHARS - 1].rstrip() + "…"


def _osv_references(value: Json) -> tuple[str, ...]:
    urls = [_osv_text(entry.get("url")) for entry in _osv_list(value, 200) if isinstance(entry, dict)]
    good = [url for url in urls if re.fullmatch(r"https?://[!-~]{3,300}", url)]
    return tuple(dict.fromkeys(good))[:MAX_REFERENCES]


def _osv_database_words(document: Mapping[str, Json]) -> list[Mapping[str, Json]]:
    """``database_specific`` of the record and of its affected entries, where databases keep words of their own."""
    words = [entry.get(key) for entry in _osv_entries(document) for key in ("database_specific", "ecosystem_specific")]
    return [item for item in words if isinstance(item, dict)]


def _osv_entries(document: Mapping[str, Json]) -> list[Mapping[str, Json]]:
    """The record and its affected entries: severities and words stand in either."""
    return [document, *(entry for entry in _osv_list(document.get("affected"), 1000) if isinstance(entry, dict))]


def _osv_cwe(document: Mapping[str, Json]) -> tuple[str, ...]:
    found = [
        text
        for words in _osv_database_words(document)
        for text in map(_osv_text, _osv_list(words.get("cwe_ids"), 32))
        if _OSV_CWE.fullmatch(text)
    ]
    return tuple(dict.fromkeys(found))


def _osv_severity(document: Mapping[str, Json]) -> tuple[Severity | None, str]:
    """The best vector's rating (version 4, 3, then 2), else the database's own word."""
    items = [item for entry in _osv_entries(document) for item in _osv_list(entry.get("severity"), 16)]
    scored = [_scored_vector(_osv_text(item.get("score"))) for item in items if isinstance(item, dict)]
    best = max((item for item in scored if item is not None), default=None)
    if best is not None:
        _, score, vector = best
        return severity_of_score(score), f"{vector} ({score:.1f})"
    for words in _osv_database_words(document):
        kept = words.get("appsecgate")
        if isinstance(kept, dict) and kept.get("severity") in set(Severity):
            return Severity(_osv_text(kept.get("severity"))), _osv_text(kept.get("severity_source"))[:200]
        severity = severity_of_word(_osv_text(words.get("severity")))
        if severity is not None:
            return severity, _osv_text(words.get("severity")).strip().lower()
    return None, ""


def _scored_vector(vector: str) -> tuple[int, float, str] | None:
    """(version of the formula, score, vector)."""
    vector = vector.strip()[:200]
    for version, score in ((4, cvss4_score), (3, cvss3_base_score), (2, cvss2_base_score)):
        value = score(vector)
        if value is not None:
            return version, value, vector
    return None


def _osv_packages(entries: Json, record_id: str) -> Iterable[OsvPackage]:
    for entry in _osv_list(entries, 10_000):
        package = entry.get("package") if isinstance(entry, dict) else None
        if not isinstance(entry, dict) or not isinstance(package, dict) or package.get("ecosystem") != OSV_ECOSYSTEM:
            continue
        name = _osv_text(package.get("name"))
        if not _OSV_NAME.fullmatch(name):
            raise AdvisoryError(f"{record_id}: {name[:60]!r} is no package name")
        yield _osv_package(canonical_name(name), entry)


def _osv_package(name: str, entry: Mapping[str, Json]) -> OsvPackage:
    ranges = tuple(
        _osv_events(item.get("events"))
        for item in _osv_list(entry.get("ranges"), 1000)
        if isinstance(item, dict) and item.get("type") in ("ECOSYSTEM", "SEMVER")
    )
    listed = [text.strip() for text in map(_osv_text, _osv_list(entry.get("versions"), MAX_VERSIONS)) if text.strip()]
    bare = OsvPackage(name, ranges, (), bool(listed) or _marked_listed(entry))
    rest = tuple(version for version in dict.fromkeys(listed) if package_affects(bare, version) is not Affected.YES)
    return OsvPackage(name, ranges, rest, bare.listed)


def _marked_listed(entry: Mapping[str, Json]) -> bool:
    """An empty list beside a range: every listed version was inside the range (as our own documents write it)."""
    return bool(entry.get("ranges")) and entry.get("versions") == []


def _osv_events(value: Json) -> tuple[OsvEvent, ...]:
    """Events that name a version; one that is odd is kept with no version, which makes the range undecided."""
    events = []
    for item in _osv_list(value, MAX_EVENTS):
        for kind, version in item.items() if isinstance(item, dict) else (("fixed", ""),):
            if kind == "limit" and version == "*":
                continue
            known = kind in _EVENT_RANK
            events.append(OsvEvent(kind if known else "fixed", _osv_text(version).strip()[:200] if known else ""))
    return tuple(events)
