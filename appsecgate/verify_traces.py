"""Where flagged code may have gone: files that arrived since, renames, and the flagged lines in other files.

Lines are compared by keyed hashes, so no text needs to be stored, and by their age (``identity.ages``): what stood
elsewhere before is no trace. A file that no scan has remembered is compared with the commit that was checked out when
the finding was first seen; where there is none either, its lines count as new.
"""

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from appsecgate.errors import GitError
from appsecgate.identity.ages import carry_ages, runs_of
from appsecgate.identity.lines import line_hashes, split_line_hashes
from appsecgate.model import Category, Finding, LifeStatus
from appsecgate.scan.looks import ages_now, arrived_ms, changed_ms
from appsecgate.scan.renames import pair_renames
from appsecgate.session import Control, Session
from appsecgate.store.findings import StoredFinding
from appsecgate.store.reader import Reader
from appsecgate.store.scans import FileShape, ScanRecord
from appsecgate.verify_listing import Listed, NewLink, VanishedFiles, new_links, read_listed
from appsecgate.workspace import LeftOut, source_from_bytes
from appsecgate.workspace_arrivals import arrivals_since, is_foreign

MAX_SCANNED = 400
"""Arrived files that are scanned beside the claimed ones; more are compared by their lines alone."""
MAX_COMPARED = 60_000
"""Arrived files that are looked into; of other people's files the rest is left out."""
MAX_COMPARED_BYTES = 64 << 20
"""Larger files are not compared: no interpreter runs source text of that size."""
LOOKING_SHARE = 0.4
"""Of a call's time: the rescan needs the rest."""
CLOCK_SLACK_MS = 2_000
UNKNOWN_SCAN_MS = 600_000
"""How long a scan may have taken of which nothing is known any more."""
MIN_CODE_CHARS = 6
"""Shorter flagged code is too common to say that it moved when it is merely found as text."""
BLOCK_LINES = 4
"""From so many different lines on, flagged code is looked for by the share of its lines."""
BLOCK_SHARE = 0.6


@dataclass(frozen=True, slots=True)
class Moments:
    """When a finding was first and last seen: the beginnings of those scans, in milliseconds since 1970."""

    first_ms: int
    last_ms: int
    first_commit: str | None
    """Checked out at the first sight."""
    listed: tuple[Listed, ...] = ()
    """What those scans listed that went through a whole tree."""

    def lacked(self, path: str) -> bool:
        """Whether such a scan says that there was no such file."""
        return any(listing.lacks(path) for listing in self.listed)


@dataclass(frozen=True, slots=True)
class Trail:
    """Flagged lines that stand in another file."""

    path: str
    since_last: bool
    """They came there after the finding was last seen."""
    exact: bool
    """As they stood, in one run; else most lines of a block."""


@dataclass(slots=True)
class Traces:
    scanned: tuple[str, ...] = ()
    """Arrived files that are to be scanned beside the claimed ones."""
    renames: dict[str, str] = field(default_factory=dict)
    """New path → the claimed, vanished path whose content it holds."""
    trails: dict[str, list[Trail]] = field(default_factory=dict)
    """Logical id → where its flagged lines stand since it was first seen."""
    brought: set[str] = field(default_factory=set)
    """Files that came along with a renamed directory, so that their own times say nothing."""
    remembered: set[str] = field(default_factory=set)
    """Arrived files that a scan had looked at before the findings were last seen."""
    complete: bool = True
    """Whether the whole tree could be looked through."""
    moments: dict[str, Moments] = field(default_factory=dict)
    """Logical id → when the finding was seen."""
    settled: dict[str, str] = field(default_factory=dict)
    """New path → the vanished, unclaimed path whose very content it holds: it was there before, and only there."""
    newest: dict[str, int] = field(default_factory=dict)
    """Arrived file → when the youngest of its lines came, in milliseconds."""
    links: tuple[NewLink, ...] = ()
    """Symbolic links that arrived, behind which nobody looks."""


def read_moments(
    reader: Reader, project_id: str, stored: StoredFinding, listings: dict[str, Listed | None] | None = None
) -> Moments:
    """From the scans that saw it; where they are forgotten, with room for a long scan. ``listings``: read before."""
    first = reader.scan_that_ended(project_id, stored.first_seen_at)
    last = reader.scan_that_ended(project_id, stored.last_seen_at)
    return Moments(
        _epoch_ms(first.started_at) if first else _epoch_ms(stored.first_seen_at) - UNKNOWN_SCAN_MS,
        _epoch_ms(last.started_at) if last else _epoch_ms(stored.last_seen_at) - UNKNOWN_SCAN_MS,
        first.git_head if first else None,
        _listings(reader, [scan for scan in (first, last) if scan], {} if listings is None else listings),
    )


def _listings(
    reader: Reader, scans: Sequence[ScanRecord], listings: dict[str, Listed | None]
) -> tuple[Listed, ...]:
    for scan in scans:
        if scan.scan_id not in listings:
            listings[scan.scan_id] = read_listed(reader, scan)
    found = {scan.scan_id: listings[scan.scan_id] for scan in scans}
    return tuple(listing for listing in found.values() if listing is not None)


def _epoch_ms(moment: str) -> int:
    return int(datetime.fromisoformat(moment).timestamp() * 1000)


def find_traces(
    session: Session, stored: Sequence[StoredFinding], moments: Mapping[str, Moments], control: Control
) -> Traces:
    """Look through the tree, for part of the call's time at the most. ``moments``: by logical id.

    Raises CancelledError.
    """
    until = time.monotonic() + control.remaining_s() * LOOKING_SHARE
    claimed = {item.finding.file_path for item in stored}
    since = min(moments[item.finding.logical_id].first_ms for item in stored) - CLOCK_SLACK_MS
    names = {path.rpartition("/")[2] for path in claimed}
    found = arrivals_since(
        session.workspace.root,
        since * 1_000_000,
        names,
        max_files=MAX_COMPARED,
        unknown=lambda path: not is_foreign(path) and any(moment.lacked(path) for moment in moments.values()),
    )
    traces = Traces(complete=found.complete, moments=dict(moments))
    with session.store.read() as reader:
        shapes = reader.shapes(session.project_id, {*found.paths, *claimed})
        last = min(moments[item.finding.logical_id].last_ms for item in stored)
        looks = reader.looks(session.project_id, found.paths)
    traces.remembered = {path for path, (at, _) in looks.items() if path in shapes and _epoch_ms(at) <= last}
    search = _Search(session, stored, moments, shapes, traces, last)
    search.carried = found.carried
    traces.links = new_links(session.workspace.root, found.links, names)
    search.last_looks = {path: _epoch_ms(at) for path, (_, at) in looks.items()}
    for path in found.paths:
        control.cancel.check()
        if time.monotonic() > until:
            traces.complete = False
            break
        search.look(path, since)
    search.pair_vanished([path for path in sorted(claimed) if not session.workspace.exists(path)])
    recent = [p for p in found.paths if p not in claimed and search.arrived.get(p, 0) >= last - CLOCK_SLACK_MS]
    ahead = {*traces.renames, *traces.settled, *(trail.path for trails in traces.trails.values() for trail in trails)}
    recent.sort(key=lambda path: (path not in ahead, is_foreign(path), traces.newest.get(path, 0) <= last))
    traces.scanned = tuple(recent[:MAX_SCANNED])
    if any(not is_foreign(path) and traces.newest.get(path, 0) > last for path in recent[MAX_SCANNED:]):
        traces.complete = False
    return traces


class _Search:
    def __init__(
        self,
        session: Session,
        stored: Sequence[StoredFinding],
        moments: Mapping[str, Moments],
        shapes: Mapping[str, FileShape],
        traces: Traces,
        last_ms: int,
    ) -> None:
        self.session = session
        self.arrived: dict[str, int] = {}
        """Path → when it came, in milliseconds; unchanged ones are left out."""
        self.last_looks: dict[str, int] = {}
        """Path → when a scan last looked at it."""
        self._tokens = _tokens(item.finding for item in stored)
        self._stored = [item for item in stored if not was_proved(item)]
        self._names = {item.finding.file_path.rpartition("/")[2] for item in stored}
        self._last_ms = last_ms
        self._moments = moments
        self._shapes = shapes
        self._traces = traces
        self._trivial = _trivial_lines(session)
        self.carried: frozenset[str] = frozenset()
        """Files below a directory that was moved."""
        self._vanished = VanishedFiles(session, {item.finding.file_path for item in stored}, last_ms)
        self._new_lines: dict[str, Sequence[bytes]] = {}
        self._folders: dict[str, int] = {}

    def look(self, path: str, since_ms: int) -> None:
        """Compare one arrived file with every claimed finding."""
        shape = self._shapes.get(path)
        remembered = path in self._traces.remembered
        own_ms, came_ms = changed_ms(self.session, path), arrived_ms(self.session, path, self._folders)
        named = path.rpartition("/")[2] in self._names
        brought = own_ms <= self._last_ms < came_ms and (named or self._came_unseen(path, remembered))
        if shape is not None and not named and own_ms < self.last_looks.get(path, 0):
            # nobody has written to it since it was looked at
            hashes, sha256, same = shape.line_hashes, shape.sha256, True
        else:
            source = self.session.workspace.read(path, max_bytes=MAX_COMPARED_BYTES)
            if isinstance(source, LeftOut) or (shape is None and not self._may_matter(source.text)):
                if not is_foreign(path):
                    self.arrived[path] = self._traces.newest[path] = came_ms if brought else own_ms
                return
            sha256 = source.sha256
            same = shape is not None and shape.sha256 == source.sha256
            hashes = line_hashes(source, self.session.store.key)
        brought = brought and not (remembered and same)
        self.arrived[path] = moment = came_ms if brought or (shape is not None and not same) else own_ms
        if brought:
            self._traces.brought.add(path)
        ages = ages_now(shape if remembered or not brought else None, hashes, moment)
        lines = split_line_hashes(hashes)
        self._traces.newest[path] = max(ages, default=moment)
        self._new_lines[path] = [line for line, age in zip(lines, ages, strict=True) if age >= since_ms]
        vanished = None if remembered else self._vanished.take(sha256)
        if vanished is not None:
            self._traces.settled[path] = vanished
            self._traces.brought.discard(path)
            return
        for item in self._stored:
            if item.finding.file_path != path:
                self._compare(item.finding, path, hashes, ages)

    def _came_unseen(self, path: str, remembered: bool) -> bool:
        """Whether a file that is older than its directory's change must have come along with that."""
        if path in self.carried:
            return True
        return not remembered and not is_foreign(path) and any(one.lacked(path) for one in self._moments.values())

    def _may_matter(self, text: str) -> bool:
        """Whether a word of the flagged code is in a text at all: most of other people's files need no closer look."""
        return not self._tokens or any(token in text for token in self._tokens)

    def _compare(self, finding: Finding, path: str, hashes: bytes, ages: Sequence[int]) -> None:
        moments = self._moments[finding.logical_id]
        flagged = _flagged(finding)
        if self._stands_since(finding, flagged, hashes, ages, moments.first_ms) is None:
            return
        if path not in self._traces.remembered:
            before = ages_by_commit(self.session, moments.first_commit, path, hashes, max(ages))
            ages = ages if before is None else before
        exact = self._stands_since(finding, flagged, hashes, ages, moments.first_ms)
        if exact is not None:
            lately = self._stands_since(finding, flagged, hashes, ages, moments.last_ms) is not None
            self._traces.trails.setdefault(finding.logical_id, []).append(Trail(path, lately, exact))

    def _stands_since(
        self, finding: Finding, flagged: Sequence[bytes], hashes: bytes, ages: Sequence[int], moment_ms: int
    ) -> bool | None:
        """True: the flagged lines came after a moment, in one run; False: most lines of the block; None: neither."""
        lines = split_line_hashes(hashes)
        lines_here = runs_of(lines, flagged) if flagged and flagged[0] in hashes else []
        if any(max(ages[at : at + len(flagged)]) > moment_ms for at in lines_here):
            return True
        block = set(flagged) - self._trivial
        if len(block) < BLOCK_LINES or finding.category is Category.SECRET:
            return None
        new = {line for line, age in zip(lines, ages, strict=True) if age > moment_ms}
        return False if len(block & new) >= BLOCK_SHARE * len(block) else None

    def pair_vanished(self, vanished: Sequence[str]) -> None:
        """Vanished claimed files whose lines are the new lines of another file."""
        gone = {path: split_line_hashes(self._shapes[path].line_hashes) for path in vanished if path in self._shapes}
        if gone:
            self._traces.renames = pair_renames(gone, self._new_lines)


def ages_by_commit(
    session: Session, commit: str | None, path: str, hashes: bytes, moment_ms: int
) -> list[int] | None:
    """Ages of a file's lines where a commit tells what was there before; None where it cannot be asked.

    What the commit holds is of age 0, the rest came at ``moment_ms``; a file that is not in it is wholly new.
    """
    if commit is None:
        return None
    try:
        text = session.workspace.git.text_at(commit, path)
    except GitError:
        return None
    data = (text or "").encode("utf-8", "surrogateescape")
    old = b"" if text is None else line_hashes(source_from_bytes(path, data), session.store.key)
    return carry_ages(old, [0] * len(split_line_hashes(old)), hashes, moment_ms)


def was_proved(stored: StoredFinding) -> bool:
    """A verified fix that nothing has contradicted since: what came later is no trace of this finding."""
    return stored.status is LifeStatus.FIXED and not stored.present


def _tokens(findings: Iterable[Finding]) -> set[str]:
    """The longest word of each flagged code; empty where one has none."""
    words = [max(_WORD.findall(_PLACEHOLDER.sub(" ", finding.code)), key=len, default="") for finding in findings]
    return set(words) if all(words) else set()


_WORD = re.compile(r"[A-Za-z_]\w{2,}")
_PLACEHOLDER = re.compile(r"\[REDACTED:[^\]]*\]")


def _flagged(finding: Finding) -> list[bytes]:
    if len(finding.code) < MIN_CODE_CHARS:
        return []
    return split_line_hashes(bytes.fromhex(finding.line_marks))


def _trivial_lines(session: Session) -> frozenset[bytes]:
    """Lines that say nothing about where a block came from."""
    text = "\n".join(("", "{", "}", "(", ")", "[", "]", "},", "),", "],", "};", ");", "})", "});", "end", "fi", "---"))
    return frozenset(split_line_hashes(line_hashes(source_from_bytes("x", text.encode()), session.store.key)))
