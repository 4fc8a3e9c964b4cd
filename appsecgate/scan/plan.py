"""Which scanner sees which file, what needs no second look, and what nobody can look at."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from appsecgate.model import Category, EvidenceReason, EvidenceState, Scanner, TargetEvidence
from appsecgate.scanners.base import Adapter, Installation, StagedFile
from appsecgate.scanners.classify import (
    file_kinds,
    file_language,
    is_archive,
    is_foreign_manifest,
    promises_text,
)
from appsecgate.store.scans import DETAIL_CHARS
from appsecgate.store.settled import LastingFailure
from appsecgate.workspace import LeftOut

_HARMLESS_REASONS = frozenset(
    {
        EvidenceReason.NOT_APPLICABLE,
        EvidenceReason.VENDORED,
        EvidenceReason.SYMLINK,
        EvidenceReason.NOT_REGULAR,
    }
)
"""Reasons for which nothing is missing: the scanner has no business with the file, or what it leads to is looked at
under its own path."""


@dataclass(frozen=True, slots=True)
class Share:
    """What one scanner is to do in a scan."""

    adapter: Adapter
    tool: Installation | None
    targets: tuple[StagedFile, ...]
    companions: tuple[StagedFile, ...]
    input_hashes: Mapping[str, str] = field(default_factory=dict)
    gaps: Mapping[str, str] = field(default_factory=dict)
    """Target path → what could not be laid beside it."""
    late: frozenset[str] = frozenset()
    """Targets that an earlier run did not end with: they come last, so that they keep nobody else waiting."""
    known: tuple[TargetEvidence, ...] = ()
    """Evidence that stands before any process starts: cached, refused, out of reach."""
    not_applicable: int = 0
    """Files that are none of this scanner's business; counted, not listed."""


def state_of(reason: EvidenceReason) -> EvidenceState:
    """Whether a reason means that something is missing."""
    if reason in (EvidenceReason.NONE, EvidenceReason.CACHED):
        return EvidenceState.APPLIED
    return EvidenceState.SKIPPED if reason in _HARMLESS_REASONS else EvidenceState.NOT_VERIFIED


def input_hash(adapter: Adapter, tool: Installation, target: StagedFile, companions: Sequence[StagedFile]) -> str:
    """32 hex digits over all that the scanner's answer about the target depends on (see ``TargetEvidence``)."""
    parts = [adapter.name, tool.version, adapter.ruleset_hash(), target.path, target.sha256]
    for companion in sorted(companions, key=lambda file: file.path):
        parts += [companion.path, companion.sha256]
    text = "\0".join(parts).encode("utf-8", "surrogateescape")
    return hashlib.sha256(text).hexdigest()[:32]


def left_out_evidence(adapter: Adapter, left_out: Iterable[LeftOut]) -> tuple[list[TargetEvidence], int]:
    """Evidence for the files that were not even read, and how many of them are not this scanner's business.

    A file that could not be read is judged by its name alone: if the scanner would have looked at such a
    file, something is missing. A directory may hold anything.
    """
    evidence: list[TargetEvidence] = []
    foreign = 0
    for item in left_out:
        state = _left_out_state(item)
        if state is not EvidenceState.SKIPPED and not item.directory and not _wants_by_name(adapter, item.path):
            words = _nobodys_business(adapter.category, item.path)
            if words:
                reason = EvidenceReason.UNSUPPORTED_FORMAT
                evidence.append(TargetEvidence(adapter.name, item.path, "", EvidenceState.SKIPPED, reason, words))
            foreign += not words
            continue
        evidence.append(TargetEvidence(adapter.name, item.path, "", state, item.reason, item.detail))
    return evidence, foreign


def _left_out_state(item: LeftOut) -> EvidenceState:
    """A socket holds nothing to look at; a pipe or device under the name of a source file is a trap."""
    if item.reason is EvidenceReason.NOT_REGULAR and promises_text(item.path):
        return EvidenceState.NOT_VERIFIED
    return state_of(item.reason)


def _wants_by_name(adapter: Adapter, path: str) -> bool:
    wanted = adapter.accepts(path, file_language(path, ""), file_kinds(path, ""))
    return wanted is not EvidenceReason.NOT_APPLICABLE


def choose_targets(
    adapter: Adapter, files: Iterable[StagedFile]
) -> tuple[list[StagedFile], list[TargetEvidence], int]:
    """Split files into targets, refusals that must be told, and files that are not its business."""
    targets: list[StagedFile] = []
    refused: list[TargetEvidence] = []
    foreign = 0
    for file in files:
        reason = adapter.accepts(file.path, file.language, file.kinds)
        if reason is EvidenceReason.NONE:
            targets.append(file)
        elif reason is EvidenceReason.NOT_APPLICABLE:
            words = _nobodys_business(adapter.category, file.path)
            if words:
                refused.append(_passed_over(adapter, file, words))
            foreign += not words
        else:
            refused.append(TargetEvidence(adapter.name, file.path, file.sha256, state_of(reason), reason))
    return targets, refused, foreign


def _nobodys_business(category: Category, path: str) -> str:
    """Why no scanner at all looks into a file that may hold a weakness; "" for any other file."""
    if category is Category.SCA and is_foreign_manifest(path):
        return "dependencies of this ecosystem are audited by no scanner here"
    return "archives are not opened" if category is Category.SECRET and is_archive(path) else ""


def _passed_over(adapter: Adapter, file: StagedFile, words: str) -> TargetEvidence:
    """Nothing is missing from what is promised, but whoever reads the result must see that nobody looked."""
    reason = EvidenceReason.UNSUPPORTED_FORMAT
    return TargetEvidence(adapter.name, file.path, file.sha256, EvidenceState.SKIPPED, reason, words)


def not_verified(
    scanner: Scanner, targets: Iterable[StagedFile], reason: EvidenceReason, detail: str = ""
) -> list[TargetEvidence]:
    """One row per target for a scanner that could not run at all."""
    return [
        TargetEvidence(scanner, file.path, file.sha256, EvidenceState.NOT_VERIFIED, reason, detail)
        for file in targets
    ]


def failed_before(scanner: Scanner, target: StagedFile, failure: LastingFailure) -> TargetEvidence:
    """A failure that is not tried again, since nothing that it depends on has changed."""
    words = f"{failure.detail[: DETAIL_CHARS - len(_CACHED_FAILURE) - 2]}; " if failure.detail else ""
    return TargetEvidence(
        scanner,
        target.path,
        target.sha256,
        EvidenceState.NOT_VERIFIED,
        failure.reason,
        f"{words}{_CACHED_FAILURE}",
        input_hash=failure.input_hash,
        repeated=True,
    )


_CACHED_FAILURE = "cached: the same content failed so in an earlier scan"
