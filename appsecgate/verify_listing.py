"""What was there before: the files that a scan of a whole tree listed, those that vanished, and links into nowhere."""

import os
import posixpath
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from appsecgate.model import EvidenceReason, Scanner
from appsecgate.scan.result import ScanKind
from appsecgate.session import Session
from appsecgate.store.reader import Reader
from appsecgate.store.scans import ScanRecord
from appsecgate.workspace_arrivals import is_foreign

_EMPTY_SHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@dataclass(frozen=True, slots=True)
class Listed:
    """The files that a scan of a whole tree had before it."""

    below: str
    """The deepest directory that holds all of them, with a ``/`` at its end; "" for the project."""
    paths: frozenset[str]
    """Files, and directories that were left out with all that is in them."""

    def lacks(self, path: str) -> bool:
        """Whether the scan would have met this file, had it been there."""
        if not path.startswith(self.below) or path in self.paths:
            return False
        parents = path.split("/")[:-1]
        return not any("/".join(parents[:depth]) in self.paths for depth in range(1, len(parents) + 1))


def read_listed(reader: Reader, scan: ScanRecord) -> Listed | None:
    """None where the scan did not go through a tree, did not come to its end, or did not name every file."""
    if scan.kind != ScanKind.PROJECT:
        return None
    targets = reader.targets(scan.project_id, scan.scan_id)
    # the secrets scanner looks at any text: without it, a file of no known kind is not on record
    if not any(target.scanner is Scanner.DETECT_SECRETS and target.sha256 for target in targets):
        return None
    if any(target.reason is EvidenceReason.TOO_MANY_FILES for target in targets):
        return None
    paths = frozenset(target.path for target in targets)
    folder = posixpath.commonpath([posixpath.dirname(path) for path in paths])
    return Listed(f"{folder}/" if folder else "", paths)


class VanishedFiles:
    """Files that were looked at before a moment and are gone, by their content."""

    def __init__(self, session: Session, claimed: Collection[str], last_ms: int) -> None:
        self._session = session
        self._claimed = claimed
        self._last_ms = last_ms
        self._by_content: dict[str, set[str]] | None = None

    def take(self, sha256: str) -> str | None:
        """A vanished file with this content, which nobody claims; each is given once."""
        if sha256 == _EMPTY_SHA256:
            return None
        if self._by_content is None:
            self._by_content = self._read()
        paths = self._by_content.get(sha256, set())
        for path in sorted(paths):
            if not self._session.workspace.exists(path) and self._was_there(path):
                paths.discard(path)
                return path
        return None

    def _read(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        with self._session.store.read() as reader:
            checked = reader.checked_files(self._session.project_id)
        for (_, path), (sha256, _) in checked.items():
            if sha256 and path not in self._claimed:
                found.setdefault(sha256, set()).add(path)
        return found

    def _was_there(self, path: str) -> bool:
        with self._session.store.read() as reader:
            looks = reader.looks(self._session.project_id, [path])
        return path in looks and datetime.fromisoformat(looks[path][0]).timestamp() * 1000 <= self._last_ms


@dataclass(frozen=True, slots=True)
class NewLink:
    """A symbolic link that leads to where nobody looks."""

    path: str
    arrived_ms: int
    why: str
    """Where it leads, in words."""


def new_links(root: Path, links: Iterable[tuple[str, int]], names: Collection[str]) -> tuple[NewLink, ...]:
    """Those of the changed links behind which nobody looks. ``names``: of the claimed files.

    Other people's directories are full of links (programs, packages of a workspace): there only those count that are
    called like source of the claimed kind.
    """
    kinds = {posixpath.splitext(name)[1] for name in names} - {""}
    found = []
    for path, moment_ms in links:
        if is_foreign(path) and posixpath.splitext(path)[1] not in kinds:
            continue
        why = _where_unseen(root, path)
        if why:
            found.append(NewLink(path, moment_ms, why))
    return tuple(found)


def _where_unseen(root: Path, path: str) -> str:
    """Empty where the link leads to what is looked at under its own path, or to nothing."""
    target = Path(os.path.realpath(root / path))
    if not target.exists():
        return ""
    inside = os.path.relpath(target, root)
    if inside == ".." or inside.startswith(f"..{os.sep}"):
        return "out of the project"
    inside = inside.replace(os.sep, "/")
    if is_foreign(f"{inside}/x"):
        return f"to {inside}"
    kinds = [posixpath.splitext(name)[1].lower() for name in (path, inside)]
    return f"to {inside}, a file of another kind" if target.is_file() and kinds[0] != kinds[1] else ""
