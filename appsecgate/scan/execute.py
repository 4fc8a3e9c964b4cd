"""Plan every scanner's share of a scan and run the shares side by side."""

import secrets
import threading
import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from appsecgate.model import (
    EvidenceReason,
    EvidenceState,
    Hit,
    Scanner,
    ScannerEvidence,
    SentinelState,
    TargetEvidence,
)
from appsecgate.redact.cleaning import clean_text
from appsecgate.redact.redactor import Redactor
from appsecgate.scan.hit_limits import HitRoom, keep_hits
from appsecgate.scan.intake import Intake
from appsecgate.scan.plan import Share, choose_targets, failed_before, input_hash, left_out_evidence, not_verified
from appsecgate.scanners.base import Adapter, Installation, StagedFile
from appsecgate.scanners.runner import run_adapter
from appsecgate.scanners.stage import Stage
from appsecgate.session import Control, Session
from appsecgate.store.settled import LastingFailure
from appsecgate.workspace import LeftOut

CHUNK_FILES = 300
"""Files per process of a long scan: small enough that little is lost when the time of a call is over."""
LATE_PARTS = 4


@dataclass(frozen=True, slots=True)
class Past:
    """What earlier scans knew of the files of this one."""

    settled: Mapping[tuple[Scanner, str], str]
    """(scanner, path) → the input hash of its last complete evidence."""
    failed: Mapping[tuple[Scanner, str], LastingFailure]
    """(scanner, path) → a failure that equal input would bring again."""
    unfinished: Collection[tuple[Scanner, str]]
    """Runs that ended before they had answered."""


@dataclass(slots=True)
class Yield:
    """What one scanner brought in."""

    scanner: Scanner
    hits: list[Hit] = field(default_factory=list)
    targets: list[TargetEvidence] = field(default_factory=list)
    packages: dict[str, Mapping[str, bool]] = field(default_factory=dict)
    sentinel: SentinelState = SentinelState.NOT_RUN
    version: str = ""
    ruleset_hash: str = ""
    duration_ms: int = 0
    started_at: str = ""
    not_applicable: int = 0
    cut: Counter[str] = field(default_factory=Counter)
    """Path → hits in it that are not kept (see ``hit_limits``)."""
    dropped: int = 0
    """Reports about files that were not handed over."""
    detail: str = ""


def plan_share(
    session: Session,
    adapter: Adapter,
    intake: Intake,
    left_out: Sequence[LeftOut],
    past: Past,
    *,
    fresh: Collection[str],
) -> Share:
    """One scanner's work; ``fresh``: paths that are looked at even where equal input was answered before."""
    targets, known, foreign = choose_targets(adapter, intake.files.values())
    unread, foreign_unread = left_out_evidence(adapter, left_out)
    known += unread
    foreign += foreign_unread
    if not session.config.scanners[adapter.name].enabled:
        known += not_verified(adapter.name, targets, EvidenceReason.SCANNER_DISABLED)
        return Share(adapter, None, (), (), known=tuple(known), not_applicable=foreign)
    tool = session.installation(adapter.name) if targets else None
    if targets and tool is None:
        known += not_verified(adapter.name, targets, EvidenceReason.SCANNER_MISSING)
        return Share(adapter, None, (), (), known=tuple(known), not_applicable=foreign)
    reason, detail = adapter.unready() if targets else (EvidenceReason.NONE, "")
    if reason is not EvidenceReason.NONE:
        known += not_verified(adapter.name, targets, reason, detail)
        return Share(adapter, tool, (), (), known=tuple(known), not_applicable=foreign)
    return _split_settled(adapter, tool, intake, targets, known, foreign, past, fresh=fresh)


def _split_settled(
    adapter: Adapter,
    tool: Installation | None,
    intake: Intake,
    targets: Sequence[StagedFile],
    known: list[TargetEvidence],
    foreign: int,
    past: Past,
    *,
    fresh: Collection[str],
) -> Share:
    """Leave out the targets about which equal input was answered before: evidence says ``cached``, or why it failed."""
    pending: list[StagedFile] = []
    hashes: dict[str, str] = {}
    companions: dict[str, StagedFile] = {}
    for target in targets:
        beside = intake.companions.get((adapter.name, target.path), ())
        digest = input_hash(adapter, tool, target, beside) if tool else ""
        if target.path not in fresh and digest and past.settled.get((adapter.name, target.path)) == digest:
            applied, cached = EvidenceState.APPLIED, EvidenceReason.CACHED
            known.append(TargetEvidence(adapter.name, target.path, target.sha256, applied, cached, input_hash=digest))
            continue
        failure = past.failed.get((adapter.name, target.path))
        if target.path not in fresh and digest and failure is not None and failure.input_hash == digest:
            known.append(failed_before(adapter.name, target, failure))
            continue
        pending.append(target)
        hashes[target.path] = digest
        companions.update((file.path, file) for file in beside)
    return Share(
        adapter=adapter,
        tool=tool,
        targets=tuple(pending),
        companions=tuple(companions.values()),
        input_hashes=hashes,
        gaps={path: words for (scanner, path), words in intake.gaps.items() if scanner is adapter.name},
        late=frozenset(file.path for file in pending if (adapter.name, file.path) in past.unfinished),
        known=tuple(known),
        not_applicable=foreign,
    )


def run_shares(session: Session, shares: Sequence[Share], stage: Stage, control: Control) -> list[Yield]:
    """Run every share in a thread of its own; a share that fails is evidence, never an exception."""
    yields = [Yield(share.adapter.name) for share in shares]
    with session.store.read() as reader:
        room = HitRoom(control.remaining_s(), reader.present_count(session.project_id))
    threads = [
        threading.Thread(
            target=_run_share, args=(session, share, into, stage, control, room), name=f"scan-{share.adapter.name}"
        )
        for share, into in zip(shares, yields, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    control.cancel.check()
    for share, into in zip(shares, yields, strict=True):
        _account_for_all(share, into)
    return yields


def _account_for_all(share: Share, into: Yield) -> None:
    """Whatever went wrong on the way: a target without evidence must not look as if it had been looked at."""
    told = {row.path for row in into.targets}
    lost = [file for file in share.targets if file.path not in told]
    into.targets += not_verified(share.adapter.name, lost, EvidenceReason.SCANNER_FAILED, into.detail)


def _run_share(session: Session, share: Share, into: Yield, stage: Stage, control: Control, room: HitRoom) -> None:
    into.targets += share.known
    into.not_applicable = share.not_applicable
    try:
        _run_chunks(session, share, into, stage, control, room)
    except Exception as error:  # the boundary: a share that fails is evidence, see _account_for_all
        into.detail = session.note_bug(error)


def _run_chunks(session: Session, share: Share, into: Yield, stage: Stage, control: Control, room: HitRoom) -> None:
    into.started_at = session.now()
    into.ruleset_hash = share.adapter.ruleset_hash()
    into.version = share.tool.version if share.tool else ""
    begun = time.monotonic()
    redactor = session.redactor()
    chunks = [
        *_chunks([file for file in share.targets if file.path not in share.late]),
        *_late_chunks([file for file in share.targets if file.path in share.late]),
    ]
    for position, chunk in enumerate(chunks):
        late = control.remaining_s() <= room.reserve_s
        if share.tool is None or control.cancel.cancelled or late:
            rest = [file for part in chunks[position:] for file in part]
            reason = EvidenceReason.CANCELLED if control.cancel.cancelled else EvidenceReason.TIME_BUDGET
            into.targets += not_verified(share.adapter.name, rest, reason)
            break
        _run_chunk(session, share, share.tool, chunk, into, stage, control, redactor, room)
        control.progress(position + 1, len(chunks), f"{share.adapter.name}: {position + 1}/{len(chunks)}")
    into.duration_ms = int((time.monotonic() - begun) * 1000)


def _run_chunk(
    session: Session,
    share: Share,
    tool: Installation,
    chunk: Sequence[StagedFile],
    into: Yield,
    stage: Stage,
    control: Control,
    redactor: Redactor,
    room: HitRoom,
) -> None:
    run = run_adapter(
        share.adapter,
        tool,
        chunk,
        share.companions,
        stage=stage,
        cancel=control.cancel,
        deadline=control.deadline - room.reserve_s,
        redact=lambda words: redactor.text(clean_text(words), entropy=True),
        pool=session.workers,
        name_bug=session.note_bug,
    )
    kept = keep_hits(run.hits, run.targets, room)
    into.hits += kept.hits
    into.cut += kept.cut
    into.packages.update(run.packages)
    into.sentinel = _worse(into.sentinel, run.sentinel)
    into.dropped += run.dropped
    into.detail = into.detail or run.detail
    for evidence in kept.targets:
        told = replace(evidence, input_hash=share.input_hashes.get(evidence.path, ""))
        gap = share.gaps.get(evidence.path, "")
        if gap and told.state is EvidenceState.APPLIED:
            told = replace(told, state=EvidenceState.NOT_VERIFIED, reason=EvidenceReason.PARTIAL, detail=gap)
        into.targets.append(told)


def _worse(one: SentinelState, other: SentinelState) -> SentinelState:
    order = (SentinelState.MISSED, SentinelState.ALIVE, SentinelState.NOT_RUN)
    return min(one, other, key=order.index)


def _chunks(targets: Sequence[StagedFile]) -> list[list[StagedFile]]:
    """Whole directories together, since modules and includes belong together; ``CHUNK_FILES`` each where possible."""
    chunks: list[list[StagedFile]] = []
    last = None
    for target in sorted(targets, key=lambda file: (file.path.rpartition("/")[0], file.path)):
        directory = target.path.rpartition("/")[0]
        full = bool(chunks) and len(chunks[-1]) >= CHUNK_FILES
        if not chunks or (full and (directory != last or len(chunks[-1]) >= 4 * CHUNK_FILES)):
            chunks.append([])
        chunks[-1].append(target)
        last = directory
    return chunks


def _late_chunks(targets: Sequence[StagedFile]) -> list[list[StagedFile]]:
    """In another order each time and in ever smaller parts, so that call by call the cause ends up alone.

    One file that keeps a scanner busy (semgrep was measured at six minutes on one) would else take the same others
    down with it in every call.
    """
    order = sorted(targets, key=lambda _file: secrets.token_bytes(8))
    size = max(1, min(CHUNK_FILES, len(order) // LATE_PARTS))
    return [order[start : start + size] for start in range(0, len(order), size)]


def scanner_evidence(brought: Yield) -> list[ScannerEvidence]:
    """The share of one scanner as rows per state and reason, in a stable order."""
    groups: dict[tuple[EvidenceState, EvidenceReason], list[TargetEvidence]] = {}
    for target in brought.targets:
        groups.setdefault((target.state, target.reason), []).append(target)
    counts = {key: len(rows) for key, rows in groups.items()}
    if brought.not_applicable:
        counts[EvidenceState.SKIPPED, EvidenceReason.NOT_APPLICABLE] = brought.not_applicable
    if not counts:
        counts[EvidenceState.SKIPPED, EvidenceReason.NOT_APPLICABLE] = 0
    hits_by_path = brought.cut + Counter(hit.path for hit in brought.hits)
    rows = []
    for (state, reason), targets in sorted(counts.items()):
        members = groups.get((state, reason), [])
        seen = len(members) if state is EvidenceState.APPLIED or reason is EvidenceReason.PARTIAL else 0
        detail = next((row.detail for row in members if row.detail), "")
        if state is EvidenceState.APPLIED and brought.dropped:
            detail = f"{brought.dropped} reports about files that were not handed over were dropped"
        rows.append(
            ScannerEvidence(
                scanner=brought.scanner,
                state=state,
                reason=reason,
                targets=targets,
                targets_seen=seen,
                findings=sum(hits_by_path[row.path] for row in members),
                scanner_version=brought.version,
                ruleset_hash=brought.ruleset_hash,
                sentinel=brought.sentinel,
                duration_ms=brought.duration_ms,
                started_at=brought.started_at,
                detail=detail or (brought.detail if state is EvidenceState.NOT_VERIFIED else ""),
            )
        )
    return rows
