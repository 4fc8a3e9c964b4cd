"""Read the files of a scan once: classify, stage, and find what must lie beside them."""

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from appsecgate.errors import ProjectError
from appsecgate.model import EvidenceReason, Scanner
from appsecgate.process import CancelToken
from appsecgate.scanners.base import Adapter, StagedFile
from appsecgate.scanners.classify import classify
from appsecgate.scanners.inline_scripts import has_scripts, unjudged_scripts
from appsecgate.scanners.stage import Stage
from appsecgate.workspace import LeftOut, Source, Workspace, source_from_bytes
from appsecgate.workspace_aside import LEADS_ASIDE

COMPANIONS_PER_TARGET = 400
"""A module directory or a chain of includes larger than this is cut; the evidence then says partial."""
MAX_FOLLOWED = 100_000
"""Names of companions that one scan follows: hundreds of files may each name all the others."""
MAX_STAGED_BYTES = 4 << 30
"""Of all files of one scan: a repository must not be able to fill the disk."""


@dataclass(slots=True)
class Intake:
    """The files of one scan as they were when read."""

    files: dict[str, StagedFile] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)
    companions: dict[tuple[Scanner, str], tuple[StagedFile, ...]] = field(default_factory=dict)
    """(scanner, target path) → what it must see beside the target."""
    gaps: dict[tuple[Scanner, str], str] = field(default_factory=dict)
    """(scanner, target path) → what could not be laid beside it: an answer without that is a partial one."""
    changed_ns: dict[str, int | None] = field(default_factory=dict)
    """When the file's bytes or place last changed, taken before reading."""


class StagingReader:
    """Stages project files at most once each, however many scanners and targets ask for them."""

    def __init__(
        self, workspace: Workspace, stage: Stage, *, max_file_bytes: int, max_staged_bytes: int = MAX_STAGED_BYTES
    ) -> None:
        self._workspace = workspace
        self._stage = stage
        self._max_bytes = max_file_bytes
        self._room = max_staged_bytes
        self._staged: dict[str, StagedFile | LeftOut] = {}
        self._directories: dict[str, tuple[str, ...]] = {}

    def staged(self, path: str) -> StagedFile | LeftOut:
        if path not in self._staged:
            self._staged[path] = self._read(path)
        return self._staged[path]

    def beside(self, path: str) -> StagedFile | LeftOut:
        """What is to lie beside a target, through a link too if that stays in the project: a program that works with
        the target would follow it."""
        found = self.staged(path)
        if isinstance(found, StagedFile) or found.reason is not EvidenceReason.SYMLINK:
            return found
        try:
            there = self._workspace.read(self._workspace.relative(path), max_bytes=self._max_bytes)
        except ProjectError:
            return replace(found, reason=EvidenceReason.OUTSIDE_PROJECT)
        return there if isinstance(there, LeftOut) else self._put(source_from_bytes(path, there.data))

    def _read(self, path: str) -> StagedFile | LeftOut:
        found = self._workspace.read(path, max_bytes=self._max_bytes)
        return found if isinstance(found, LeftOut) else self._put(found)

    def _put(self, source: Source) -> StagedFile | LeftOut:
        if self._room < len(source.data):
            return LeftOut(source.path, EvidenceReason.TOO_LARGE, "the files of one scan hold too much together")
        try:
            staged = self._stage.add(source)
        except OSError as error:
            words = f"the temporary directory cannot take it: {error.strerror}"
            return LeftOut(source.path, EvidenceReason.UNREADABLE, words)
        self._room -= len(source.data)
        return staged

    def source(self, path: str) -> Source:
        return self._stage.source(path)

    def listing(self, directory: str) -> Sequence[str]:
        """Files directly inside a project directory, sorted; empty where it cannot be listed."""
        if directory not in self._directories:
            self._directories[directory] = self._workspace.files_in(directory)
        return self._directories[directory]


def take_in(
    workspace: Workspace,
    stage: Stage,
    paths: Iterable[str],
    adapters: Sequence[Adapter],
    *,
    max_file_bytes: int,
    cancel: CancelToken,
    until: float = math.inf,
) -> Intake:
    """Read every path; what cannot be read, or not before ``until`` (``time.monotonic()`` seconds), is named in
    ``left_out``. Raises CancelledError."""
    reader = StagingReader(workspace, stage, max_file_bytes=max_file_bytes)
    intake = Intake()
    finder = _CompanionFinder(reader, cancel, until)
    for path in paths:
        cancel.check()
        if time.monotonic() > until:
            intake.left_out.append(LeftOut(path, EvidenceReason.TIME_BUDGET))
            continue
        intake.changed_ns[path] = workspace.changed_ns(path)
        found = reader.staged(path)
        if isinstance(found, LeftOut):
            intake.left_out.append(_where_it_leads(workspace, found))
            continue
        if _hides_its_kind(workspace, reader, adapters, found):
            intake.left_out.append(LeftOut(path, EvidenceReason.UNSUPPORTED_FORMAT, _HIDDEN_KIND, directory=True))
            continue
        intake.files[path] = found
        for adapter in adapters:
            if adapter.accepts(path, found.language, found.kinds) is not EvidenceReason.NONE:
                continue
            beside, gap = finder.of(adapter, path)
            if adapter.name is Scanner.SEMGREP:
                gap = gap or _unjudged(reader, found)
            if beside:
                intake.companions[adapter.name, path] = beside
            if gap:
                intake.gaps[adapter.name, path] = gap
    return intake


_HIDDEN_KIND = "the secret in its name hides what kind of file it is: rename it"


def _hides_its_kind(
    workspace: Workspace, reader: StagingReader, adapters: Sequence[Adapter], file: StagedFile
) -> bool:
    """Whether some scanner would have business with the file under its real name, and not under the covered one."""
    name = workspace.names.on_disk(file.path)
    if name == file.path:
        return False
    kind = classify(replace(reader.source(file.path), path=name))
    return any(
        adapter.accepts(name, kind.language, kind.kinds) is not adapter.accepts(file.path, file.language, file.kinds)
        for adapter in adapters
    )


def _where_it_leads(workspace: Workspace, found: LeftOut) -> LeftOut:
    """A link inside the project is no gap, its target is looked at under its own path; one that leaves it is, and so is
    one to where no walk goes."""
    if found.reason is not EvidenceReason.SYMLINK:
        return found
    try:
        there = workspace.relative(found.path)
    except ProjectError:
        return replace(found, reason=EvidenceReason.OUTSIDE_PROJECT, detail="a link out of the project")
    if workspace.is_passed_over(there):
        return replace(found, reason=EvidenceReason.OUTSIDE_PROJECT, detail=LEADS_ASIDE)
    return found


def _unjudged(reader: StagingReader, file: StagedFile) -> str:
    """What of a page the scanner of source code is not given."""
    if file.language in ("html", "vue"):
        return unjudged_scripts(reader.source(file.path).text)
    if file.language == "php" and has_scripts(reader.source(file.path).text):
        return "JavaScript in the markup is not looked at"
    return ""


class _CompanionFinder:
    """What targets need beside them. What a file names is read once, whoever asks; all of it within a bound."""

    def __init__(self, reader: StagingReader, cancel: CancelToken, until: float) -> None:
        self._reader = reader
        self._cancel = cancel
        self._until = until
        self._named: dict[tuple[Scanner, str], tuple[str, ...]] = {}
        self._followed = 0

    def of(self, adapter: Adapter, path: str) -> tuple[tuple[StagedFile, ...], str]:
        """Followed transitively (a requirements file includes another), and what of that cannot be had. What is named
        but does not exist is the adapter's to report. Raises CancelledError."""
        found: dict[str, StagedFile] = {}
        gap = ""
        pending = [path]
        while pending and gap != _TOO_MANY:
            self._cancel.check()
            try:
                names = self._names(adapter, pending.pop())
            except Exception as error:  # the boundary: a file that breaks its reader must not end the scan
                return (), f"it cannot be read for what belongs to it ({type(error).__name__})"
            self._followed += len(names)
            for other in names:
                if other == path or other in found:
                    continue
                if len(found) >= COMPANIONS_PER_TARGET or self._is_spent():
                    gap = _TOO_MANY
                    break
                staged = self._reader.beside(other)
                if isinstance(staged, StagedFile):
                    found[other] = staged
                    pending.append(other)
                elif staged.reason is not EvidenceReason.FILE_MISSING:
                    gap = f"{other}, which belongs to it, cannot be read: {staged.reason}"
        return tuple(found[name] for name in sorted(found)), gap

    def _is_spent(self) -> bool:
        return self._followed > MAX_FOLLOWED or time.monotonic() > self._until

    def _names(self, adapter: Adapter, path: str) -> tuple[str, ...]:
        key = (adapter.name, path)
        if key not in self._named:
            self._named[key] = tuple(adapter.companions(path, self._reader.source(path), self._reader.listing))
        return self._named[key]


_TOO_MANY = "too many files belong to it"
