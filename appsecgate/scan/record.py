"""From raw hits to stored findings: seal, name, match with what is known, merge, store in one transaction."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from appsecgate.errors import GitError
from appsecgate.identity.duplicates import merge_duplicates
from appsecgate.identity.fingerprint import fingerprints
from appsecgate.identity.lines import LineMap, line_hashes
from appsecgate.identity.matching import Matching, match
from appsecgate.identity.scopes import ScopeMap, scope_map
from appsecgate.model import Category, EvidenceState, Finding, Hit, ScannerEvidence, TargetEvidence
from appsecgate.redact.redactor import Redactor, SecretMark
from appsecgate.redact.seal import seal
from appsecgate.scan.execute import Yield, scanner_evidence
from appsecgate.scan.looks import KnownBefore, Look, line_marks, looks_at, new_shapes
from appsecgate.scan.result import Notice, ScanRequest, ScanResult, verdict_of
from appsecgate.scanners.stage import Stage
from appsecgate.session import Session
from appsecgate.store.scans import DETAIL_CHARS, FileShape, ScanRecord
from appsecgate.store.writer import Writer
from appsecgate.workspace import Source


@dataclass(frozen=True, slots=True)
class Sealed:
    """One file's hits after redaction, and what is remembered of the file itself."""

    findings: tuple[Finding, ...]
    marks: tuple[SecretMark, ...]
    scopes: ScopeMap
    lines: bytes
    sha256: str


def seal_files(session: Session, redactor: Redactor, stage: Stage, hits: Iterable[Hit]) -> dict[str, Sealed]:
    """Seal the hits file by file; what is a secret in one of the files is one in all of them."""
    by_path: dict[str, list[Hit]] = {}
    for hit in hits:
        by_path.setdefault(hit.path, []).append(hit)
    redactor = redactor.with_known(_marks_in(redactor, stage, by_path))
    return {
        path: _seal_file(session, redactor, stage.source(path), members)
        for path, members in sorted(by_path.items())
    }


def _marks_in(redactor: Redactor, stage: Stage, hits: Mapping[str, Sequence[Hit]]) -> list[SecretMark]:
    """The secrets that this scan found, in the order of the files."""
    return [
        mark
        for path, members in sorted(hits.items())
        if any(hit.category is Category.SECRET for hit in members)
        for mark in redactor.mask_source(stage.source(path), members).marks
    ]


def _seal_file(session: Session, redactor: Redactor, source: Source, hits: Sequence[Hit]) -> Sealed:
    masked = redactor.mask_source(source, hits)
    lines = line_hashes(source, session.store.key)
    sealed = [_with_traces(session, seal(hit, masked, redactor), lines) for hit in hits]
    return Sealed(
        findings=tuple(fingerprints(sealed)),
        marks=masked.marks,
        scopes=scope_map(source).renamed(redactor.with_known(masked.marks).identifier),
        lines=lines,
        sha256=source.sha256,
    )


def _with_traces(session: Session, finding: Finding, lines: bytes) -> Finding:
    """Keep what a verification asks for: the flagged lines, and the rule where the project can change it."""
    rule_hash = session.adapter(finding.scanner).rule_hash(finding.rule_id)
    metadata = {**finding.metadata, "rule_hash": rule_hash} if rule_hash else finding.metadata
    return replace(finding, metadata=metadata, line_marks=line_marks(lines, finding.line_start, finding.line_end))


def record_scan(
    session: Session,
    request: ScanRequest,
    stage: Stage,
    yields: Sequence[Yield],
    started_at: str,
    notices: tuple[Notice, ...] = (),
    *,
    config_hash: str,
) -> ScanResult:
    """Seal, then match and store in one write transaction, so that parallel servers never mix.

    ``config_hash``: of the configuration that the scan began with; another call may have read a newer one meanwhile.
    """
    hits = [hit for brought in yields for hit in brought.hits]
    redactor = session.redactor()
    for brought in yields:
        _redact_details(brought, redactor)
    targets = tuple(row for brought in yields for row in brought.targets)
    sealed = seal_files(session, redactor, stage, hits)
    looks = looks_at(session, stage, targets, {path: part.lines for path, part in sealed.items()})
    evidence = tuple(row for brought in yields for row in scanner_evidence(brought))
    git_head = _git_head(session)
    with session.store.write() as writer:
        paths = {row.path for row in targets} | set(request.removed) | set(request.renames.values())
        before = _known_before(writer, session.project_id, request, paths, sealed, looks)
        matching = _match(request, before, sealed, targets)
        findings, gone = _settle(writer, session.project_id, request, before, matching, targets)
        evidence = _with_earlier_reports(evidence, findings, targets)
        result = ScanResult(
            scan_id=session.new_id(),
            kind=request.kind,
            verdict=verdict_of(evidence, findings, request.kind),
            evidence=evidence,
            targets=targets,
            findings=findings,
            matching=matching,
            gone=gone,
            packages={path: names for brought in yields for path, names in brought.packages.items()},
            notices=notices,
        )
        _store_scan(session, writer, request, result, started_at, git_head, config_hash)
        writer.add_secret_marks(session.project_id, [mark for part in sealed.values() for mark in part.marks])
        writer.put_shapes(session.project_id, new_shapes(looks, before, matching))
    return result


def _git_head(session: Session) -> str | None:
    """The commit checked out: what a file held when a finding was seen can be looked up there later."""
    git = session.workspace.git
    try:
        return git.head() if git.available() else None
    except GitError:
        return None


def _redact_details(brought: Yield, redactor: Redactor) -> None:
    """Details may quote the project, so they are redacted before they go anywhere."""
    brought.detail = redactor.text(brought.detail)[:DETAIL_CHARS]
    brought.targets = [
        replace(row, detail=redactor.text(row.detail)[:DETAIL_CHARS]) if row.detail else row for row in brought.targets
    ]


def _known_before(
    writer: Writer,
    project_id: str,
    request: ScanRequest,
    paths: Collection[str],
    sealed: Mapping[str, Sealed],
    looks: Mapping[str, Look],
) -> KnownBefore:
    shapes = writer.shapes(project_id, paths)
    known = tuple(writer.known(project_id, paths))
    mapped = set(sealed) | {k.file_path for k in known if k.present and k.file_path in looks}
    line_maps: dict[str, LineMap] = {}
    scopes: dict[str, ScopeMap] = {}
    for path in sorted(mapped):
        shape = shapes.get(request.renames.get(path, path)) or shapes.get(path)
        lines = sealed[path].lines if path in sealed else looks[path].lines
        line_maps[path] = LineMap(shape.line_hashes if shape else b"", lines)
        if path in sealed:
            scopes[path] = _usable_scopes(sealed[path].scopes, shape, line_maps[path])
    return KnownBefore(known, shapes, line_maps, scopes)


def _match(
    request: ScanRequest,
    before: KnownBefore,
    sealed: Mapping[str, Sealed],
    targets: Sequence[TargetEvidence],
) -> Matching:
    """Match this run's findings with the known ones, leaving alone what was answered from earlier evidence."""
    cached = {(t.scanner, t.path) for t in targets if t.is_known}
    known = [k for k in before.known if (k.scanner, k.file_path) not in cached or not k.present]
    found = [finding for part in sealed.values() for finding in part.findings]
    reserved = {k.logical_id for k in before.known if k.present and (k.scanner, k.file_path) in cached}
    return match(
        known,
        found,
        scopes=before.scopes,
        line_maps=before.line_maps,
        renames=request.renames,
        reserved=reserved,
    )


def _usable_scopes(scopes: ScopeMap, shape: FileShape | None, line_map: LineMap) -> ScopeMap:
    if scopes.parsed or shape is None or not shape.scopes_json:
        return scopes
    return ScopeMap.from_json(shape.scopes_json).shifted(line_map)


def _settle(
    writer: Writer,
    project_id: str,
    request: ScanRequest,
    before: KnownBefore,
    matching: Matching,
    targets: Sequence[TargetEvidence],
) -> tuple[tuple[Finding, ...], tuple[str, ...]]:
    """What is present now in the scanned files, and what complete evidence no longer shows."""
    looked = {(t.scanner, t.path) for t in targets if _whole(t)}
    kept_ids: list[str] = []
    gone: list[str] = []
    matched = set(matching.pairs)
    for known in before.known:
        if not known.present or known.logical_id in matched:
            continue
        missing = known.file_path in request.removed or (known.scanner, known.file_path) in looked
        (gone if missing else kept_ids).append(known.logical_id)
    kept = [stored.finding for stored in writer.findings_by_id(project_id, kept_ids)]
    merged = merge_duplicates([*matching.findings, *(_shifted(f, before.line_maps) for f in kept)])
    ordered = sorted(merged, key=lambda f: (f.severity.rank, f.file_path, f.line_start, f.rule_id, f.logical_id))
    return tuple(ordered), tuple(sorted(gone))


def _with_earlier_reports(
    evidence: Sequence[ScannerEvidence], findings: Iterable[Finding], targets: Iterable[TargetEvidence]
) -> tuple[ScannerEvidence, ...]:
    """An answer from earlier evidence stands for what was reported then: a row of it must not say 0."""
    known = {(target.scanner, target.path): target.reason for target in targets if target.is_known}
    places = ((finding.scanner, finding.file_path) for finding in findings)
    counts = Counter((place[0], known[place]) for place in places if place in known)
    return tuple(replace(row, findings=row.findings + counts[row.scanner, row.reason]) for row in evidence)


def _shifted(finding: Finding, line_maps: Mapping[str, LineMap]) -> Finding:
    """A finding that nobody could look at again, at the place where its lines are now."""
    line_map = line_maps.get(finding.file_path)
    if line_map is None:
        return finding
    start = line_map.nearest(finding.line_start)
    return replace(finding, line_start=start, line_end=start + finding.line_end - finding.line_start)


def _whole(target: TargetEvidence) -> bool:
    """Whether the target was looked at whole in this very scan, so that silence about it means absence."""
    return target.state is EvidenceState.APPLIED and not target.is_known


def _store_scan(
    session: Session,
    writer: Writer,
    request: ScanRequest,
    result: ScanResult,
    started_at: str,
    git_head: str | None,
    config_hash: str,
) -> None:
    project_id = session.project_id
    record = ScanRecord(
        scan_id=result.scan_id,
        project_id=project_id,
        session_id=session.session_id,
        kind=request.kind,
        started_at=started_at,
        ended_at=session.now(),
        verdict=result.verdict,
        config_hash=config_hash,
        git_head=git_head,
    )
    writer.add_scan(
        record, findings=result.findings, evidence=result.evidence, targets=result.targets, gone=result.gone
    )
    writer.apply_suppressions(project_id, session.config.suppressions, session.now())

