"""The pip-audit adapter: pinned packages in, advisories of the local copy out, at the line that asks for them.

pip-audit gets one generated lock file with exact pins and answers from our loopback responder: no pip, no
resolver, no index, nothing of the project is read by it. What cannot be put into that file (ranges, URLs, paths,
private names) is evidence, by name. Each pin must come back in its report.
"""

import contextlib
import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path

from appsecgate.advisories.lookup import MAX_AGE_DAYS, AdvisoryLookup, AdvisoryStatus
from appsecgate.advisories.merge import Advisory, AdvisoryAnswer
from appsecgate.advisories.osv import OSV_ECOSYSTEM, OsvRecord, parse_osv
from appsecgate.advisories.pep440 import VersionKey, canonical_name, parse_version
from appsecgate.embedded import read_embedded
from appsecgate.errors import AdvisoryError
from appsecgate.model import (
    Category,
    EvidenceReason,
    EvidenceState,
    Hit,
    Json,
    Package,
    Scanner,
    SentinelState,
    TargetEvidence,
)
from appsecgate.process import Completed, Limits
from appsecgate.scanners.advisory_responder import AdvisoryResponder
from appsecgate.scanners.base import Batch, Installation, Invocation, Report, StagedFile, Zygote
from appsecgate.scanners.classify import KIND_MANIFEST
from appsecgate.scanners.manifests import beside_manifest, resolve_manifests
from appsecgate.scanners.report_json import json_list, json_object, json_text, json_texts, load_report
from appsecgate.scanners.requirements import Origin, Requirement
from appsecgate.workspace import Source

PIP_AUDIT_READING = 2
"""Raised when manifests are read differently, so that cached answers are asked anew."""
_PIP_AUDIT_WORKER = "workers/pip_audit.py"
_SENTINEL_VERSION = "1.0"
_TIMEOUT_PER_PIN_S = 0.05
_PIP_AUDIT_GIB = 1024**3

_GAP_ORDER = (
    EvidenceReason.PARSE_FAILED,
    EvidenceReason.FILE_MISSING,
    EvidenceReason.PARTIAL,
    EvidenceReason.NOT_REPORTED,
    EvidenceReason.UNSUPPORTED_DEPENDENCY,
    EvidenceReason.UNPINNED_DEPENDENCY,
    EvidenceReason.UNKNOWN_PACKAGE,
)
"""The first of these that a manifest has is its reason; the detail names every one."""

PinKey = tuple[str, VersionKey]


@dataclass(frozen=True, slots=True)
class _Gap:
    """Something that a manifest asks for and nobody audited."""

    name: str
    line: int
    reason: EvidenceReason
    words: str


class PipAuditAdapter:
    """See ``base.Adapter``."""

    name = Scanner.PIP_AUDIT
    category = Category.SCA

    def __init__(
        self,
        advisories: AdvisoryLookup,
        *,
        clock: Callable[[], datetime],
        timeout_s: float = 60.0,
        max_age_days: int = MAX_AGE_DAYS,
        public_names: Collection[str] = (),
    ) -> None:
        """``timeout_s``: for one run, some more for each pin. ``public_names``: packages that a person vouches
        for as public, beside the shipped list."""
        self._advisories = advisories
        self._clock = clock
        self._timeout_s = timeout_s
        self._max_age_days = max_age_days
        self._public = frozenset(map(canonical_name, public_names))

    def ruleset_hash(self) -> str:
        status = self._status()
        parts = [
            status.digest,
            str(status.is_stale(self._max_age_days)),
            read_embedded("samples/pip_audit_sentinel.json"),
            str(PIP_AUDIT_READING),
            " ".join(sorted(self._public | _shipped_public_names())),
        ]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]

    def has_rule(self, rule_id: str) -> bool:
        """Whether the copy still holds the advisory."""
        try:
            return self._advisories.knows_flaw(rule_id)
        except AdvisoryError:
            return False

    def rule_hash(self, rule_id: str) -> str:  # noqa: ARG002
        return ""

    def accepts(self, path: str, language: str, kinds: frozenset[str]) -> EvidenceReason:  # noqa: ARG002
        return EvidenceReason.NONE if KIND_MANIFEST in kinds else EvidenceReason.NOT_APPLICABLE

    def companions(self, path: str, source: Source, listing: Callable[[str], Sequence[str]]) -> Sequence[str]:
        return beside_manifest(path, source.text, listing)

    def batches(self, targets: Sequence[StagedFile], companions: Sequence[StagedFile]) -> Sequence[Batch]:
        return [Batch(tuple(targets), tuple(companions))] if targets else []

    def unready(self) -> tuple[EvidenceReason, str]:
        """Only a copy that is missing stops a run: an old one still finds what it knows (see ``parse``)."""
        status = self._status()
        if status.usable:
            return EvidenceReason.NONE, ""
        return EvidenceReason.NO_ADVISORIES, f"{status.problem}: run python -P -m appsecgate advisories import PATH"

    def service(self) -> contextlib.AbstractContextManager[str]:
        return AdvisoryResponder(self._advisories, (_sentinel_record(),))

    def invocation(self, batch: Batch, tool: Installation, run_dir: Path, service: str) -> Invocation:
        pins = {
            (requirement.name, requirement.version)
            for requirements in _resolved(batch).values()
            for requirement in requirements
            if requirement.name and requirement.version
        }
        starts = (str(tool.python), "-I", "-m", "pip_audit") if tool.python else tool.command
        arguments = (
            "-s", "osv", "--osv-url", service, "-f", "json", "--progress-spinner", "off", "--timeout", "30",
            "--cache-dir", str(run_dir / "cache"), "--locked", str(run_dir / "audit"),
        )  # fmt: skip
        return Invocation(
            argv=(*starts, *arguments),
            limits=self._limits(len(pins)),
            zygote=self.zygote(tool),
            arguments=arguments,
            env={"PIP_NO_INPUT": "1", "PIP_CONFIG_FILE": "/dev/null"},
            files={"audit/pylock.toml": _lock_file(sorted(pins))},
        )

    def zygote(self, tool: Installation) -> Zygote | None:
        """See ``base.Loadable``."""
        return Zygote(tool.python, read_embedded(_PIP_AUDIT_WORKER), self._limits(0)) if tool.python else None

    def _limits(self, pins: int) -> Limits:
        return Limits(timeout_s=self._timeout_s + _TIMEOUT_PER_PIN_S * pins, memory_bytes=2 * _PIP_AUDIT_GIB, cpu_s=600)

    def parse(self, completed: Completed, batch: Batch, tool: Installation, run_dir: Path) -> Report:  # noqa: ARG002
        """pip-audit ends with 1 for findings and for errors alike: the report on stdout decides."""
        document = load_report(completed.stdout)
        if not isinstance(document, dict) or not isinstance(document.get("dependencies"), list):
            return Report(failure=EvidenceReason.SCANNER_FAILED, detail=f"no report (exit {completed.exit_code})")
        if completed.exit_code not in (0, 1):
            return Report(failure=EvidenceReason.SCANNER_FAILED, detail=f"exit {completed.exit_code}")
        status = self._status()
        reading = _Reading(self._advisories, self._is_public, _reported(document), tool.version, status)
        try:
            audits = [reading.audit(file, found) for file, found in _resolved_targets(batch)]
        except AdvisoryError as error:
            return Report(failure=EvidenceReason.NO_ADVISORIES, detail=str(error))
        stale = status.is_stale(self._max_age_days)
        return Report(
            hits=tuple(hit for audit in audits for hit in audit.hits),
            targets={audit.file.path: _audit_evidence(audit, status, stale) for audit in audits},
            sentinel=reading.sentinel(),
            packages={audit.file.path: audit.packages() for audit in audits},
        )

    def _status(self) -> AdvisoryStatus:
        return self._advisories.status(self._clock())

    def _is_public(self, name: str) -> bool:
        return name in self._public or name in _shipped_public_names()


@dataclass(frozen=True, slots=True)
class _ManifestAudit:
    file: StagedFile
    requirements: tuple[Requirement, ...]
    hits: tuple[Hit, ...]
    gaps: tuple[_Gap, ...]

    def packages(self) -> dict[str, bool]:
        """Name → audited. The empty name, never audited, stands for requirements that may bring any package."""
        missed = {gap.name for gap in self.gaps}
        names = {requirement.name for requirement in self.requirements} - {""}
        unknown = {"": False} if any(requirement.may_be_any for requirement in self.requirements) else {}
        return {**unknown, **{name: name not in missed for name in sorted(names)}}


@dataclass(frozen=True, slots=True)
class _Reading:
    """pip-audit's report beside what the copy says: each pin must be in the one, each flaw in both."""

    advisories: AdvisoryLookup
    is_public: Callable[[str], bool]
    reported: Mapping[PinKey, frozenset[str]]
    scanner_version: str
    status: AdvisoryStatus

    def sentinel(self) -> SentinelState:
        record = _sentinel_record()
        key = _pin_key(record.packages[0].name, _SENTINEL_VERSION)
        return SentinelState.ALIVE if record.id in self.reported.get(key, ()) else SentinelState.MISSED

    def audit(self, file: StagedFile, requirements: tuple[Requirement, ...]) -> _ManifestAudit:
        hits: dict[tuple[str, str, str], Hit] = {}
        gaps: list[_Gap] = []
        for requirement in requirements:
            if requirement.problem is not EvidenceReason.NONE:
                gaps.append(_Gap(requirement.name, requirement.line, requirement.problem, requirement.detail))
            if not requirement.name or requirement.version is None:
                continue
            answer = self.advisories.lookup(requirement.name, requirement.version)
            gaps += self._gaps(requirement, answer)
            for advisory in self._confirmed(requirement, answer):
                key = (requirement.name, requirement.version, advisory.id)
                hits.setdefault(key, self._hit(file, requirement, answer, advisory))
        return _ManifestAudit(file, requirements, tuple(hits.values()), tuple(gaps))

    def _confirmed(self, requirement: Requirement, answer: AdvisoryAnswer) -> list[Advisory]:
        ids = self.reported.get(_pin_key(requirement.name, requirement.version or ""), frozenset())
        return [advisory for advisory in answer.advisories if not ids.isdisjoint(advisory.ids)]

    def _gaps(self, requirement: Requirement, answer: AdvisoryAnswer) -> Iterator[_Gap]:
        name, line, said = requirement.name, requirement.line, f"{requirement.name} {requirement.version}"
        if _pin_key(name, requirement.version or "") not in self.reported:
            yield _Gap(name, line, EvidenceReason.NOT_REPORTED, f"{said} is not in the report")
        elif len(self._confirmed(requirement, answer)) < len(answer.advisories):
            yield _Gap(name, line, EvidenceReason.NOT_REPORTED, f"{said}: the report lacks an advisory of the copy")
        if answer.undecided:
            words = f"{said} cannot be compared with the versions of {', '.join(answer.undecided[:3])}"
            yield _Gap(name, line, EvidenceReason.PARTIAL, words)
        if not (answer.known or requirement.origin in (Origin.PUBLIC, Origin.OWN) or self.is_public(name)):
            where = "from another index" if requirement.origin is Origin.PRIVATE else "private, rare or misspelt"
            yield _Gap(name, line, EvidenceReason.UNKNOWN_PACKAGE, f"{said} is in no advisory ({where})")

    def _hit(self, file: StagedFile, requirement: Requirement, answer: AdvisoryAnswer, advisory: Advisory) -> Hit:
        version = requirement.version or ""
        aliases = f" ({', '.join(advisory.ids[1:])})" if len(advisory.ids) > 1 else ""
        mend = f"Fixed in {advisory.fixed_version}." if advisory.fixed_version else "No fixed version is known."
        return Hit(
            scanner=Scanner.PIP_AUDIT,
            rule_id=advisory.id,
            category=Category.SCA,
            severity=advisory.severity,
            path=file.path,
            line_start=requirement.line,
            line_end=requirement.line,
            message=f"{requirement.name} {version}: {advisory.id}{aliases}. {advisory.summary} {mend}",
            scanner_version=self.scanner_version,
            cwe=advisory.cwe,
            owasp=("A06:2021",),
            references=advisory.references,
            metadata=_hit_metadata(requirement, answer, advisory, self.status),
            package=Package(OSV_ECOSYSTEM.lower(), requirement.name, version, advisory.fixed_version, advisory.ids),
        )


def _hit_metadata(
    requirement: Requirement, answer: AdvisoryAnswer, advisory: Advisory, status: AdvisoryStatus
) -> dict[str, Json]:
    installed, safe = parse_version(requirement.version or ""), parse_version(answer.safe_version or "")
    metadata: dict[str, Json] = {
        "aliases": list(advisory.ids[1:]),
        "fixed_versions": list(advisory.fixed_versions[:20]),
        "safe_version": answer.safe_version,
        "major_jump": bool(installed and safe and installed.major != safe.major),
        "severity_source": advisory.severity_source or "default: the advisory gives no severity",
        "published": advisory.published,
        "modified": advisory.modified,
        "advisories_from": status.source_date,
    }
    if requirement.pinned_in:
        metadata["pinned_in"] = requirement.pinned_in
    if answer.safe_version:
        where = f" in {requirement.pinned_in.rpartition(':')[0]}" if requirement.pinned_in else ""
        metadata["remediation"] = (
            f"Raise {requirement.name} to {answer.safe_version} or later{where}: the smallest version known to be"
            " outside every vulnerable range; then renew the lock file, if there is one."
        )
    return metadata


def _audit_evidence(audit: _ManifestAudit, status: AdvisoryStatus, stale: bool) -> TargetEvidence:
    """Applied only where every requirement was audited against a copy that is young enough."""
    gaps = sorted(audit.gaps, key=lambda gap: (_gap_rank(gap.reason), gap.line, gap.name))
    state, reason = EvidenceState.APPLIED, EvidenceReason.NONE
    audited = sum(audit.packages().values())
    # a file that asks for nothing was read whole by us: that is how a removed dependency looks
    words = [f"{audited} packages checked against advisories of {status.source_date[:10]}"]
    if stale:
        state, reason = EvidenceState.NOT_VERIFIED, EvidenceReason.ADVISORIES_STALE
        words = [f"the advisories are {status.age_days} days old ({status.source_date[:10]})"]
    if not audit.requirements:
        state, reason, words = EvidenceState.APPLIED, EvidenceReason.NONE, ["it declares no dependencies"]
    if gaps:
        state, reason = EvidenceState.NOT_VERIFIED, gaps[0].reason
        more = [f"and {len(gaps) - 6} more"] if len(gaps) > 6 else []
        named = [f"line {gap.line}: {gap.words}" for gap in gaps[:6]]
        words = [*(words if stale else []), *named, *more]
    return TargetEvidence(Scanner.PIP_AUDIT, audit.file.path, audit.file.sha256, state, reason, "; ".join(words)[:300])


def _gap_rank(reason: EvidenceReason) -> int:
    return _GAP_ORDER.index(reason) if reason in _GAP_ORDER else -1


def _reported(document: Mapping[str, Json]) -> dict[PinKey, frozenset[str]]:
    """(name, version) → every advisory name that the report gives for it; what it skipped is not in here."""
    found: dict[PinKey, frozenset[str]] = {}
    for entry in map(json_object, json_list(document.get("dependencies"))):
        if "skip_reason" in entry or not isinstance(entry.get("vulns"), list):
            continue
        ids: set[str] = set()
        for flaw in map(json_object, json_list(entry["vulns"])):
            ids.update((json_text(flaw.get("id")), *json_texts(flaw.get("aliases"))))
        found[_pin_key(json_text(entry.get("name")), json_text(entry.get("version")))] = frozenset(ids)
    return found


def _pin_key(name: str, version: str) -> PinKey:
    parsed = parse_version(version)
    return canonical_name(name), parsed.key if parsed else (-1, (), (0, 0), 0, (0, 0), ())


def _lock_file(pins: Sequence[tuple[str, str | None]]) -> bytes:
    """A pylock.toml (PEP 751) with the pins and, last, the known-bad sample. Names and versions are normalised."""
    sample = (_sentinel_record().packages[0].name, _SENTINEL_VERSION)
    lines = ['lock-version = "1.0"', 'created-by = "appsecgate"']
    for name, version in (*(pin for pin in pins if pin != sample), sample):
        lines += ["[[packages]]", f"name = {json.dumps(name)}", f"version = {json.dumps(version)}"]
    return ("\n".join(lines) + "\n").encode("ascii")


def _resolved(batch: Batch) -> dict[str, tuple[Requirement, ...]]:
    texts = {file.path: _staged_text(file) for file in (*batch.companions, *batch.targets)}
    return resolve_manifests([file.path for file in batch.targets], texts)


def _resolved_targets(batch: Batch) -> list[tuple[StagedFile, tuple[Requirement, ...]]]:
    resolved = _resolved(batch)
    return [(file, resolved[file.path]) for file in batch.targets]


def _staged_text(file: StagedFile) -> str:
    return file.local.read_bytes().decode("utf-8", "surrogateescape")


@lru_cache(maxsize=1)
def _sentinel_record() -> OsvRecord:
    return parse_osv(json.loads(read_embedded("samples/pip_audit_sentinel.json")))


@lru_cache(maxsize=1)
def _shipped_public_names() -> frozenset[str]:
    """Names that are public beyond doubt, so that no advisory about them is good news and not ignorance."""
    document = json_object(json.loads(read_embedded("samples/public_packages.json")))
    return frozenset(name for line in json_texts(document.get("names")) for name in line.split())
