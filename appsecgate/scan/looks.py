"""What a scan remembers of every file it looked at: its lines, by keyed hashes, and since when they stand there."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from appsecgate.identity.ages import carry_ages, pack_ages, unpack_ages
from appsecgate.identity.evidence import MatchKind, unformatted
from appsecgate.identity.lines import HASH_BYTES, LineMap, line_hashes
from appsecgate.identity.matching import Known, Matching
from appsecgate.identity.scopes import ScopeMap
from appsecgate.model import Finding, TargetEvidence
from appsecgate.scanners.stage import Stage
from appsecgate.session import Session
from appsecgate.store.scans import FileShape

MARKED_LINES = 60
"""Flagged lines of one finding that are remembered; a longer block is recognised by its beginning."""


@dataclass(frozen=True, slots=True)
class Look:
    """A file as a scan saw it."""

    sha256: str
    lines: bytes
    """Keyed hashes, see ``identity.lines``."""
    changed_ms: int
    """When its bytes or its name last changed, in milliseconds since 1970."""
    arrived_ms: int
    """The same, but that a directory above it may have changed later: it may have come along with that."""


@dataclass(frozen=True, slots=True)
class KnownBefore:
    """What the store knew of the files of this scan, and where old lines are in the files now."""

    known: tuple[Known, ...]
    shapes: Mapping[str, FileShape]
    line_maps: Mapping[str, LineMap]
    scopes: Mapping[str, ScopeMap]
    """A file that does not parse has the last good scopes, shifted to where its lines are now."""


def line_marks(lines: bytes, line_start: int, line_end: int) -> str:
    """The hashes of these lines (from 1, both included) in hexadecimal."""
    last = min(line_end, line_start + MARKED_LINES - 1)
    return lines[(line_start - 1) * HASH_BYTES : last * HASH_BYTES].hex()


def looks_at(
    session: Session, stage: Stage, targets: Iterable[TargetEvidence], hashed: Mapping[str, bytes]
) -> dict[str, Look]:
    """Every file that some scanner was given in this scan, cached answers left out. ``hashed``: lines known already."""
    looks: dict[str, Look] = {}
    folders: dict[str, int] = {}
    for target in targets:
        path = target.path
        if path in looks or not target.sha256 or target.is_known:
            continue
        lines = hashed.get(path)
        if lines is None:
            lines = line_hashes(stage.source(path), session.store.key)
        looks[path] = Look(target.sha256, lines, changed_ms(session, path), arrived_ms(session, path, folders))
    return looks


def changed_ms(session: Session, path: str) -> int:
    """When a file last changed, in milliseconds since 1970; now, where nobody can tell."""
    return (session.workspace.changed_ns(path) or time.time_ns()) // 1_000_000


def arrived_ms(session: Session, path: str, folders: dict[str, int]) -> int:
    """When a file or a directory above it last changed; ``folders`` remembers those that were asked for."""
    latest = changed_ms(session, path)
    while "/" in path:
        path = path.rpartition("/")[0]
        if path not in folders:
            folders[path] = changed_ms(session, path)
        latest = max(latest, folders[path])
    return latest


def new_shapes(looks: Mapping[str, Look], before: KnownBefore, matching: Matching) -> list[FileShape]:
    """The files as they are to be remembered. The ages of lines are carried over from the same path alone."""
    ages: dict[str, list[int]] = {}
    for path, look in looks.items():
        shape = before.shapes.get(path)
        # what was not there at the last look came after it, whatever the file's own times say
        ages[path] = ages_now(shape, look.lines, look.arrived_ms if shape else look.changed_ms)
    for old_finding in before.known:
        new = matching.pairs.get(old_finding.logical_id)
        kept = matching.how.get(old_finding.logical_id) is not MatchKind.RETURNED and old_finding.present
        if new is not None and kept and new.file_path in ages:
            _keep_flagged_ages(ages[new.file_path], old_finding, new, before.shapes.get(old_finding.file_path))
    return [
        FileShape(path, look.sha256, look.lines, _scopes_text(before.scopes.get(path)), pack_ages(ages[path]))
        for path, look in looks.items()
    ]


def ages_now(shape: FileShape | None, lines: bytes, moment_ms: int) -> list[int]:
    """The ages of a file's lines, from what was remembered of it; a line that is new came at ``moment_ms``."""
    old, ages = (shape.line_hashes, unpack_ages(shape.ages)) if shape else (b"", [])
    return carry_ages(old, ages, lines, moment_ms)


def _scopes_text(scopes: ScopeMap | None) -> str:
    """Empty where nobody asked for the scopes: what was remembered of them stays."""
    return "" if scopes is None else scopes.to_json()


def _keep_flagged_ages(ages: list[int], old: Known, new: Finding, shape: FileShape | None) -> None:
    """Flagged code that was only formatted or renamed along with its file is as old as it was."""
    if shape is None or unformatted(old.code) != unformatted(new.code):
        return
    before = unpack_ages(shape.ages)[old.line_start - 1 : old.line_end]
    if before:
        for number in range(new.line_start - 1, min(new.line_end, len(ages))):
            ages[number] = min(ages[number], max(before))


def age_of(finding: Finding, ages: Sequence[int]) -> int | None:
    """Since when the flagged code stands where it is: the age of its youngest line; None where that is unknown."""
    flagged = ages[finding.line_start - 1 : finding.line_end]
    return max(flagged) if flagged else None
