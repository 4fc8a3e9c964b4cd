"""What arrived in a project since a moment: files whose bytes or name changed, wherever they lie.

The inode's change time cannot be set by a program, so copies, renamed files and files with a backdated modification
time are found. A file that came along with a renamed directory keeps its own times: one that is called like a file
that is looked for, below a directory that changed, counts too, and every file below a directory that was moved or whose
contents nobody knew. Other people's directories are walked as well, since moving code out of sight is not a fix; the
``.git`` of the project itself is not. No link is followed, but a new one is named.
"""

import stat
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from appsecgate.beneath import Folder, NotReadError, folder_beneath
from appsecgate.workspace_aside import VENDORED_FOLDERS

MAX_WALKED = 400_000
"""Entries that are looked at; a larger tree is not walked to its end, and ``Arrivals.complete`` says so."""
_MAX_WALK_DEPTH = 100


@dataclass(frozen=True, slots=True)
class Arrivals:
    paths: tuple[str, ...]
    """Project-relative: changed files, then those that may have come with a directory, then other people's files."""
    complete: bool
    """Whether the whole tree was walked and every changed file of the project's own is named."""
    carried: frozenset[str] = frozenset()
    """Those of the paths that lie below a directory which got its name or its place since."""
    links: tuple[tuple[str, int], ...] = ()
    """Symbolic links that changed, with when, in milliseconds since 1970."""


def nothing_unknown(path: str) -> bool:
    """Where no scan of the whole tree tells which files there were."""
    del path
    return False


def arrivals_since(
    root: Path,
    moment_ns: int,
    names: Collection[str],
    *,
    max_files: int,
    unknown: Callable[[str], bool] = nothing_unknown,
) -> Arrivals:
    """Regular files that changed at or after a moment (ns since 1970), and files of these ``names`` that may have.

    ``unknown``: whether a path was not there when the whole tree was looked through.
    """
    walk = _ArrivalWalk(moment_ns, frozenset(names), unknown)
    try:
        with folder_beneath(root, []) as folder:
            walk.folder("", folder, arrived=False, moved=False, depth=0)
    except NotReadError:
        walk.complete = False
    changed = sorted(walk.changed, key=lambda path: (is_foreign(path), path))
    own = sum(not is_foreign(path) for path in changed)
    paths = (*changed[:own], *sorted(walk.brought), *changed[own:])
    complete = walk.complete and own <= max_files
    return Arrivals(paths[:max_files], complete, frozenset(walk.carried), tuple(walk.links))


def is_foreign(path: str) -> bool:
    """Whether a file lies in a directory of other people's code, or in one that calls itself git's."""
    return any(part in VENDORED_FOLDERS or part.lower() == ".git" for part in path.split("/")[:-1])


class _ArrivalWalk:
    def __init__(self, moment_ns: int, names: frozenset[str], unknown: Callable[[str], bool]) -> None:
        self.changed: list[str] = []
        self.brought: list[str] = []
        self.carried: list[str] = []
        self.links: list[tuple[str, int]] = []
        self.complete = True
        self._moment_ns = moment_ns
        self._names = names
        self._unknown = unknown
        self._looked = 0

    def folder(self, prefix: str, folder: Folder, *, arrived: bool, moved: bool, depth: int) -> None:
        """``arrived``: it or one above it changed; ``moved``: by its name or place, and not by what is in it."""
        for entry in folder.entries(MAX_WALKED - self._looked + 1):
            self._looked += 1
            if self._looked > MAX_WALKED or depth > _MAX_WALK_DEPTH:
                self.complete = False
                return
            try:
                status = entry.stat(follow_symlinks=False)
                changed_ns = max(status.st_mtime_ns, status.st_ctime_ns)
                recent = changed_ns >= self._moment_ns
                path = prefix + entry.name
                if stat.S_ISREG(status.st_mode):
                    self._file(path, entry.name, recent=recent, arrived=arrived, moved=moved)
                elif stat.S_ISLNK(status.st_mode) and recent:
                    self.links.append((path, changed_ns // 1_000_000))
                elif stat.S_ISDIR(status.st_mode) and path != ".git":
                    renamed = recent and status.st_mtime_ns < self._moment_ns
                    with folder.folder(entry.name) as inner:
                        self.folder(
                            f"{path}/", inner, arrived=arrived or recent, moved=moved or renamed, depth=depth + 1
                        )
            except (OSError, NotReadError):
                continue  # it went away, or nobody can read it

    def _file(self, path: str, name: str, *, recent: bool, arrived: bool, moved: bool) -> None:
        if recent:
            self.changed.append(path)
        elif arrived and (name in self._names or moved or self._unknown(path)):
            self.brought.append(path)
        if moved:
            self.carried.append(path)
