"""What a scan is asked for and what it gives."""

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from appsecgate.identity.matching import Matching
from appsecgate.model import (
    EvidenceState,
    Finding,
    Scanner,
    ScannerEvidence,
    ScanVerdict,
    TargetEvidence,
)
from appsecgate.workspace import LeftOut


class ScanKind(enum.StrEnum):
    FILE = "file"
    DIFF = "diff"
    PROJECT = "project"
    VERIFY = "verify"


@dataclass(frozen=True, slots=True)
class ScanRequest:
    """Which files to look at. All paths are project-relative."""

    kind: ScanKind
    paths: tuple[str, ...]
    left_out: tuple[LeftOut, ...] = ()
    """Files that the walk did not hand out, with the reason; they get evidence too."""
    removed: tuple[str, ...] = ()
    """Paths that no longer exist: their findings are gone unless they were renamed."""
    renames: Mapping[str, str] = field(default_factory=dict)
    """New path → old path."""
    fresh: frozenset[str] = frozenset()
    """Files at which the scanners look even where equal input was answered before."""
    notices: tuple["Notice", ...] = ()
    """What is to be said beside what the repository brings."""
    gaps: Mapping[str, str] = field(default_factory=dict)
    """Path → what belongs to it and is not looked at; an answer about such a file is a partial one."""


@dataclass(frozen=True, slots=True)
class Notice:
    """A file of the project that elsewhere configures, silences or stands in for a scanner; here it had no effect."""

    path: str
    what: str
    """What it is, in our own words; about our settings file in words that may quote it."""


@dataclass(frozen=True, slots=True)
class ScanResult:
    """A finished scan, as it was stored."""

    scan_id: str
    kind: ScanKind
    verdict: ScanVerdict
    evidence: tuple[ScannerEvidence, ...]
    targets: tuple[TargetEvidence, ...]
    findings: tuple[Finding, ...]
    """Present in the scanned files after the scan, merged ones included, worst first."""
    matching: Matching
    gone: tuple[str, ...]
    """Logical ids that complete evidence no longer shows."""
    packages: Mapping[str, Mapping[str, bool]] = field(default_factory=dict)
    """Manifests: path → package → whether it was audited."""
    notices: tuple[Notice, ...] = ()

    @property
    def complete(self) -> bool:
        return is_complete(self.evidence, self.kind)

    def target(self, scanner: Scanner, path: str) -> TargetEvidence | None:
        return next((t for t in self.targets if t.scanner is scanner and t.path == path), None)


def is_complete(evidence: Sequence[ScannerEvidence], kind: ScanKind) -> bool:
    """Whether nothing is missing: no row is not verified, and at least one scanner looked at something.

    A directory or file at which nobody looked is not clean: most likely the path is not the one that was meant. A
    diff is different, for git vouches for its list: where nothing changed, or nothing that a scanner has business
    with, there is nothing to miss.
    """
    states = {row.state for row in evidence}
    looked = EvidenceState.APPLIED in states or kind is ScanKind.DIFF
    return EvidenceState.NOT_VERIFIED not in states and looked


def verdict_of(evidence: Sequence[ScannerEvidence], findings: Sequence[Finding], kind: ScanKind) -> ScanVerdict:
    """``findings`` where there is one, shown or hidden; ``clean`` only with complete evidence."""
    if findings:
        return ScanVerdict.FINDINGS
    return ScanVerdict.CLEAN if is_complete(evidence, kind) else ScanVerdict.INCOMPLETE
