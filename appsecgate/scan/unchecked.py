"""Files whose present bytes some scanner has not looked at: what a new session must not take for clean."""

import enum
import time
from collections.abc import Mapping
from dataclasses import dataclass

from appsecgate.model import EvidenceReason, EvidenceState, Scanner
from appsecgate.scanners.base import Adapter
from appsecgate.scanners.classify import classify
from appsecgate.session import Control, Session
from appsecgate.workspace import LeftOut, Source

READING_TIME_S = 5.0
"""A question about where the work stands must not take as long as a scan."""


class UncheckedReason(enum.StrEnum):
    """Why a file counts as unchecked; what is worst of several scanners."""

    NEVER = "never_analysed"
    """No scanner that has business with it has a word on it."""
    CHANGED = "changed_since"
    """It was looked at with other bytes."""
    INCOMPLETE = "not_verified"
    """It was handed over, and the answer was not complete."""


@dataclass(frozen=True, slots=True)
class UncheckedFile:
    path: str
    reason: UncheckedReason
    scanners: tuple[Scanner, ...]
    """Whose complete answer about the present bytes is missing."""


@dataclass(frozen=True, slots=True)
class Unchecked:
    files: tuple[UncheckedFile, ...]
    """In the order of their paths."""
    whole: bool
    """Whether every file of the project was compared; if not, there may be more."""


def unchecked_files(session: Session, control: Control) -> Unchecked:
    """Compare the project's files, by content, with the last word of each scanner that is switched on.

    A file is looked at by itself: that a file which it includes has changed, or the rules, is for the next scan
    to find. Raises CancelledError.
    """
    session = session.frozen()
    until = time.monotonic() + min(READING_TIME_S, control.remaining_s() / 2)
    listing = session.workspace.walk("", max_files=session.config.limits.max_files)
    with session.store.read() as reader:
        checked = reader.checked_files(session.project_id)
    adapters = [adapter for adapter in session.adapters if session.config.scanners[adapter.name].enabled]
    files: list[UncheckedFile] = []
    for path in listing.paths:
        control.cancel.check()
        if time.monotonic() > until:
            return Unchecked(tuple(files), whole=False)
        found = session.workspace.read(path, max_bytes=session.config.limits.max_file_bytes)
        unchecked = _unread(found) if isinstance(found, LeftOut) else _unchecked(found, adapters, checked)
        if unchecked is not None:
            files.append(unchecked)
    return Unchecked(tuple(files), whole=not listing.truncated)


def _unread(found: LeftOut) -> UncheckedFile | None:
    """A file that cannot be read is unchecked by everyone; one that went away meanwhile is not there."""
    if found.reason is EvidenceReason.FILE_MISSING:
        return None
    return UncheckedFile(found.path, UncheckedReason.INCOMPLETE, ())


def _unchecked(
    source: Source,
    adapters: list[Adapter],
    checked: Mapping[tuple[Scanner, str], tuple[str, EvidenceState]],
) -> UncheckedFile | None:
    kind = classify(source)
    wanted = [
        adapter.name
        for adapter in adapters
        if adapter.accepts(source.path, kind.language, kind.kinds) is EvidenceReason.NONE
    ]
    words = {scanner: checked.get((scanner, source.path)) for scanner in wanted}
    missing = tuple(scanner for scanner, word in words.items() if word != (source.sha256, EvidenceState.APPLIED))
    if not missing:
        return None
    known = [word for word in words.values() if word is not None]
    if not known:
        return UncheckedFile(source.path, UncheckedReason.NEVER, missing)
    changed = any(sha256 != source.sha256 for sha256, _ in known)
    return UncheckedFile(source.path, UncheckedReason.CHANGED if changed else UncheckedReason.INCOMPLETE, missing)
