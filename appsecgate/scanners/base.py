"""What a scanner adapter is: facts and pure functions. Running, timing, redacting and storing live elsewhere."""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

from appsecgate.model import Category, EvidenceReason, Hit, Scanner, SentinelState, TargetEvidence
from appsecgate.process import Completed, Limits
from appsecgate.workspace import Encoding, Source


@dataclass(frozen=True, slots=True)
class StagedFile:
    """A project file as the scanners get it: our own normalised copy, in a directory of ours."""

    path: str
    """Project-relative, as in ``workspace.Source.path``."""
    sha256: str
    """Of the bytes in the project, not of the copy."""
    size: int
    """Bytes in the project."""
    encoding: Encoding
    local: Path
    """The copy: ``Source.text`` as UTF-8 with surrogateescape; regular file, mode 0400, name without the project's."""
    language: str
    """``classify.language``: a semgrep language name, or "" where none is known."""
    kinds: frozenset[str]
    """``classify.kinds``: what else the file is: "text", "manifest", "terraform", "kubernetes", …"""
    plain: Path | None = None
    """A second copy in the language's plain spelling (``spelling.respell``), where that is another one."""


@dataclass(frozen=True, slots=True)
class Batch:
    """One run of a scanner. Companions are read beside the targets, hits in them are dropped."""

    targets: tuple[StagedFile, ...]
    companions: tuple[StagedFile, ...] = ()


@dataclass(frozen=True, slots=True)
class Installation:
    """A scanner on this machine."""

    scanner: Scanner
    version: str
    command: tuple[str, ...]
    """How its command line starts: an absolute executable, perhaps with leading arguments."""
    python: Path | None = None
    """The interpreter of its environment, where it has one of its own."""
    home: Path | None = None
    """The root of its environment."""


@dataclass(frozen=True, slots=True)
class Zygote:
    """A program of ours that can stay loaded in a scanner's interpreter, and answer in a fork per request.

    The program has ``load(directory)``, which imports all that it needs, and ``main(arguments)``, which does what
    it does when it is started alone.
    """

    python: Path
    program: str = field(repr=False)
    """Its text."""
    limits: Limits
    """Memory and CPU of the process, and of each of its forks."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """What ``load`` finds in its directory."""


@dataclass(frozen=True, slots=True)
class Standby:
    """A process that can be started before its work is known, and waits for a file that says what it is."""

    argv: tuple[str, ...]
    """``{directory}`` in it stands for the place of the files."""
    limits: Limits
    awaited: str
    """The file that it waits for: a name among ``Invocation.files``. It must open it twice."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """What is there from the start."""


@dataclass(frozen=True, slots=True)
class Invocation:
    """A process to start, and the files that it needs in its run directory."""

    argv: tuple[str, ...]
    limits: Limits
    executable: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    """Added to ``process.base_environment``."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Name below the run directory (may hold ``/``) → content."""
    links: Mapping[str, Path] = field(default_factory=dict)
    """Name below the run directory → a staged file of which the runner puts a copy or hard link there."""
    stdin: bytes | None = None
    zygote: Zygote | None = None
    """What can answer instead of a new process, with the same output, called with ``arguments``."""
    arguments: tuple[str, ...] = ()
    standby: Standby | None = None
    """The same for a program that is not ours."""


@dataclass(frozen=True, slots=True)
class Report:
    """A scanner's report, understood. ``targets`` has an entry for every target of the batch."""

    hits: tuple[Hit, ...] = ()
    targets: Mapping[str, TargetEvidence] = field(default_factory=dict)
    sentinel: SentinelState = SentinelState.NOT_RUN
    failure: EvidenceReason = EvidenceReason.NONE
    """Set where the run as a whole says nothing: every target is then not verified for this reason."""
    detail: str = ""
    dropped: int = 0
    """Hits about files that were no target of the batch."""
    packages: Mapping[str, Mapping[str, bool]] = field(default_factory=dict)
    """Manifests: path → normalised package name → whether it was audited (False: declared, not audited)."""


class Adapter(Protocol):
    """One scanner. No method starts a process, reads the project, redacts or stores."""

    @property
    def name(self) -> Scanner: ...

    @property
    def category(self) -> Category: ...

    def ruleset_hash(self) -> str:
        """16 hex digits over everything that decides what this scanner reports, but its version."""
        ...

    def has_rule(self, rule_id: str) -> bool:
        """Whether the loaded ruleset can still report this rule (the rule sentinel of verification)."""
        ...

    def rule_hash(self, rule_id: str) -> str:
        """16 hex digits over the rule's own definition where the project can change it, else ""."""
        ...

    def accepts(self, path: str, language: str, kinds: frozenset[str]) -> EvidenceReason:
        """NONE where the scanner looks at such a file, else why not (NOT_APPLICABLE, NO_RULES, …)."""
        ...

    def companions(self, path: str, source: Source, listing: Callable[[str], Sequence[str]]) -> Sequence[str]:
        """Project-relative paths that must lie beside the target; ``listing(dir)`` names a directory's files."""
        ...

    def batches(self, targets: Sequence[StagedFile], companions: Sequence[StagedFile]) -> Sequence[Batch]:
        """How the targets are shared out over processes; one batch wherever the scanner allows it."""
        ...

    def unready(self) -> tuple[EvidenceReason, str]:
        """(NONE, "") or why no run could say anything: no advisories, for example, and what mends it."""
        ...

    def service(self) -> contextlib.AbstractContextManager[str]:
        """Something that must be up during the run (an address goes to ``invocation``), else a null context."""
        ...

    def invocation(self, batch: Batch, tool: Installation, run_dir: Path, service: str) -> Invocation:
        """The process to start. Known-bad samples are part of every run, after the targets."""
        ...

    def parse(self, completed: Completed, batch: Batch, tool: Installation, run_dir: Path) -> Report:
        """Understand the report; hostile or broken output becomes evidence, never an exception."""
        ...


@runtime_checkable
class Loadable(Protocol):
    """An adapter whose program can be loaded before there is anything to scan."""

    def zygote(self, tool: Installation) -> Zygote | None:
        """The one that its invocations name; None where this installation has no interpreter of its own."""
        ...
