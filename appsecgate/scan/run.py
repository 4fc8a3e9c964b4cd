"""A scan from its request to its stored result."""

import time
from collections.abc import Collection
from dataclasses import replace

from appsecgate.covered import MARK
from appsecgate.model import EvidenceReason, EvidenceState, TargetEvidence
from appsecgate.scan.execute import Past, Yield, plan_share, run_shares
from appsecgate.scan.intake import Intake, take_in
from appsecgate.scan.notices import repository_notices
from appsecgate.scan.record import record_scan
from appsecgate.scan.renames import find_renames
from appsecgate.scan.result import ScanKind, ScanRequest, ScanResult
from appsecgate.scanners.stage import Stage
from appsecgate.session import Control, Session
from appsecgate.workspace import LeftOut

READING_SHARE = 0.5
"""Of a call's time that reading may take: what is read should also be looked at."""


def run_scan(session: Session, request: ScanRequest, control: Control) -> ScanResult:
    """Read, run, seal, match, store. Raises CancelledError, StorageError, ConfigError; scanner trouble is evidence."""
    session = session.frozen()
    started_at = session.now()
    config = session.config
    adapters = session.adapters
    with Stage() as stage:
        intake = take_in(
            session.workspace,
            stage,
            request.paths,
            adapters,
            max_file_bytes=config.limits.max_file_bytes,
            cancel=control.cancel,
            until=time.monotonic() + control.remaining_s() * READING_SHARE,
        )
        intake.gaps.update(
            {(adapter.name, path): words for adapter in adapters for path, words in request.gaps.items()}
        )
        fresh = request.fresh | request.gaps.keys()
        left_out = [*request.left_out, *intake.left_out]
        past = _past(session, list(intake.files))
        shares = [plan_share(session, adapter, intake, left_out, past, fresh=fresh) for adapter in adapters]
        yields = run_shares(session, shares, stage, control)
        _distrust_changed_files(session, intake, yields)
        notices = (*request.notices, *repository_notices(session, request, intake, stage))
        result = record_scan(session, request, stage, yields, started_at, notices, config_hash=config.hash)
    session.warm_workers()  # from now on the next scan is waited for
    return result


def _past(session: Session, paths: Collection[str]) -> Past:
    with session.store.read() as reader:
        project_id = session.project_id
        return Past(
            reader.settled_inputs(project_id, paths),
            reader.lasting_failures(project_id, paths),
            reader.unfinished(project_id),
        )


def _distrust_changed_files(session: Session, intake: Intake, yields: Collection[Yield]) -> None:
    """Evidence is about bytes: where a file changed while the scanners ran, it is about no file that exists."""
    changed = {
        path
        for path in intake.files
        if session.workspace.changed_ns(path) != intake.changed_ns[path]
        and not _same_bytes(session, intake, path)
    }
    if not changed:
        return
    for brought in yields:
        brought.targets = [_changed(row) if row.path in changed else row for row in brought.targets]


def _changed(row: TargetEvidence) -> TargetEvidence:
    if row.state is not EvidenceState.APPLIED:
        return row
    return replace(row, state=EvidenceState.NOT_VERIFIED, reason=EvidenceReason.FILE_CHANGED)


def _same_bytes(session: Session, intake: Intake, path: str) -> bool:
    found = session.workspace.read(path, max_bytes=session.config.limits.max_file_bytes)
    return getattr(found, "sha256", None) == intake.files[path].sha256


def whole_project(session: Session, start: str = "") -> ScanRequest:
    """Every file below ``start``, and the known ones that no longer exist.

    A file with a finding is looked at again wherever it lies, also where a walk does not go (a file of
    ``node_modules/`` that was named once): its finding would else stand beside a clean verdict.
    """
    listing = session.workspace.walk(start, max_files=session.config.limits.max_files)
    with session.store.read() as reader:
        known = reader.known_paths(session.project_id)
    prefix = f"{start}/" if start else ""
    listed = {*listing.paths, *(item.path for item in listing.left_out)}
    others = sorted(path for path in known if path.startswith(prefix) and path not in listed)
    # one stored with a secret in its name, as older versions did, goes by another name now
    named = (path for path in others if MARK in path or session.workspace.names.shown(path) == path)
    there = [path for path in named if session.workspace.exists(path)]
    left_out = list(listing.left_out)
    if listing.truncated:
        words = f"more than {session.config.limits.max_files} files, or too deep a tree: the rest was not looked at"
        left_out.append(LeftOut(start or ".", EvidenceReason.TOO_MANY_FILES, words, directory=True))
    removed = tuple(path for path in others if path not in there)
    renames, notices = find_renames(session, removed, listing.paths)
    return ScanRequest(
        ScanKind.PROJECT,
        tuple(sorted({*listing.paths, *there})),
        tuple(left_out),
        removed=removed,
        renames=renames,
        notices=notices,
    )
