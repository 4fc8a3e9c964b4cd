"""What arrived in a project since a moment: files whose bytes or name changed, wherever they lie.

The inode's change time cannot be set by a program, so copies, renamed files and files with a backdated modification
time are found. A file that came along with a renamed directory keeps its own times: one that is called like a file
that is looked for, below a directory that changed, counts too. Other people's directories are walked as well, since
moving code out of sight is not a fix; git's own is not. No link is followed.
"""

import stat
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from appsecgate.beneath import Folder, NotReadError, folder_beneath
from appsecgate.workspace import VENDORED_FOLDERS

MAX_WALKED = 400_000
"""Entries that are looked at; a larger tree is not walked to its end, and ``Arrivals.complete`` says so."""
_MAX_WALK_DEPTH = 100


@dataclass(frozen=True, slots=True)
class Arrivals:
    paths: tuple[str, ...]
    """Project-relative: changed files, then those that may have come with a directory, then other people's files."""
    complete: bool
    """Whether the whole tree was walked and every changed file of the project's own is named."""


def arrivals_since(root: Path, moment_ns: int, names: Collection[str], *, max_files: int) -> Arrivals:
    """Regular files that changed at or after a moment (ns since 1970), and files of these ``names`` that may have."""
    walk = _ArrivalWalk(moment_ns, frozenset(names))
    try:
        with folder_beneath(root, []) as folder:
            walk.folder("", folder, arrived=False, depth=0)
    except NotReadError:
        walk.complete = False
    changed = sorted(walk.changed, key=lambda path: (is_foreign(path), path))
    own = sum(not is_foreign(path) for path in changed)
    paths = (*changed[:own], *sorted(walk.brought), *changed[own:])
    return Arrivals(paths[:max_files], walk.complete and own <= max_files)


def is_foreign(path: str) -> bool:
    """Whether a file lies in a directory of other people's code."""
    return not VENDORED_FOLDERS.isdisjoint(path.split("/")[:-1])


class _ArrivalWalk:
    def __init__(self, moment_ns: int, names: frozenset[str]) -> None:
        self.changed: list[str] = []
        self.brought: list[str] = []
        self.complete = True
        self._moment_ns = moment_ns
        self._names = names
        self._looked = 0

    def folder(self, prefix: str, folder: Folder, *, arrived: bool, depth: int) -> None:
        for entry in folder.entries(MAX_WALKED - self._looked + 1):
            self._looked += 1
            if self._looked > MAX_WALKED or depth > _MAX_WALK_DEPTH:
                self.complete = False
                return
            try:
                status = entry.stat(follow_symlinks=False)
                recent = max(status.st_mtime_ns, status.st_ctime_ns) >= self._moment_ns
                if stat.S_ISREG(status.st_mode):
                    self._file(prefix + entry.name, entry.name, recent, arrived)
                elif stat.S_ISDIR(status.st_mode) and entry.name != ".git":
                    with folder.folder(entry.name) as inner:
                        self.folder(f"{prefix}{entry.name}/", inner, arrived=arrived or recent, depth=depth + 1)
            except (OSError, NotReadError):
                continue  # it went away, or nobody can read it

    def _file(self, path: str, name: str, recent: bool, arrived: bool) -> None:
        if recent:
            self.changed.append(path)
        elif arrived and name in self._names:
            self.brought.append(path)
