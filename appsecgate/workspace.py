"""The project: paths that cannot leave it, a file's bytes and text, and what its tree holds.

The tree is hostile. A path is resolved once, when it is named (``Workspace.relative``); from then on each
component is opened below the one before, never through a link, so that nothing that is swapped meanwhile
leads out. Only regular files are opened, without blocking, and read up to a bound.
"""

import enum
import hashlib
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from appsecgate.beneath import Folder, NotReadError, folder_beneath, kind_of_file, names_of
from appsecgate.covered import CoveredNames
from appsecgate.decoding import decode_bytes, decode_python
from appsecgate.errors import GitError, ProjectError
from appsecgate.git import Git
from appsecgate.model import EvidenceReason
from appsecgate.workspace_aside import LEADS_ASIDE, VENDORED_FOLDERS, is_gits_own, lies_aside
from appsecgate.workspace_names import DiskNames
from appsecgate.workspace_place import project_root

_MAX_FOLDER_DEPTH = 64
_MAX_BESIDE = 5_000
"""Entries of one directory that are looked through for what lies beside a file."""
_LOOKED_AT_PER_FILE = 8
"""A walk ends after so many times the files it may return, whatever the entries are."""


class Encoding(enum.StrEnum):
    """How a file's bytes were read as text."""

    UTF8 = "utf-8"
    UTF8_BOM = "utf-8-bom"
    UTF16 = "utf-16"
    UTF32 = "utf-32"
    LATIN1 = "latin-1"
    """One byte, one character: Windows-1252, or Latin-1 where bytes are not defined there."""
    DECLARED = "declared"
    """What a Python file's coding line names."""
    BINARY = "binary"
    """No text: nothing in it can be looked at."""


@dataclass(frozen=True, slots=True, repr=False)
class Source:
    """A file's bytes at one moment, and their text. It may hold secrets, so it has no ``repr``.

    ``text`` is the coordinate system of the whole program: lines are ``text.split("\\n")``, counted from
    1; columns count its characters, from 1.
    """

    path: str
    """Project-relative, with ``/``; bytes that are not UTF-8 as ``surrogateescape`` has them."""
    data: bytes
    """As on disk."""
    sha256: str
    """Of ``data``, 64 hex digits."""
    encoding: Encoding
    text: str
    """Without byte order mark; every line ends with ``\\n``, also where it was ``\\r\\n`` or ``\\r``."""
    _lines: list[str] | None = field(default=None, init=False, compare=False)

    @property
    def lines(self) -> list[str]:
        """Never empty: a text without line ends is one line. Not to be changed."""
        if self._lines is None:
            object.__setattr__(self, "_lines", self.text.split("\n"))
        return self._lines or []

    def slice(self, line_start: int, col_start: int | None, line_end: int, col_end: int | None) -> str:
        """The text of a span: lines from 1, both included; columns from 1, ``col_end`` excluded.

        Without a column the whole line. What lies outside the text is cut off.
        """
        lines = list(self.lines[max(line_start, 1) - 1 : max(line_end, 0)])
        if lines and col_end is not None and line_end <= len(self.lines):
            lines[-1] = lines[-1][: max(col_end - 1, 0)]
        if lines and col_start is not None and line_start >= 1:
            lines[0] = lines[0][max(col_start - 1, 0) :]
        return "\n".join(lines)


def source_from_bytes(path: str, data: bytes) -> Source:
    """The source of these bytes under this name; a Python file's coding line is heeded."""
    is_python = path.casefold().endswith((".py", ".pyi", ".pyw"))
    name, text = decode_python(data) if is_python else decode_bytes(data)
    return Source(path, data, hashlib.sha256(data).hexdigest(), Encoding(name), text)


def decode(data: bytes) -> tuple[Encoding, str]:
    """The text of a file, its line ends made ``\\n``; ``(BINARY, "")`` where it is none."""
    name, text = decode_bytes(data)
    return Encoding(name), text


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A path that was not read, and why."""

    path: str
    reason: EvidenceReason
    detail: str = ""
    directory: bool = False
    """It stands for all that is below it, of whatever kind."""


@dataclass(frozen=True, slots=True)
class Listing:
    """What a walk found."""

    paths: tuple[str, ...]
    """Regular files, sorted."""
    left_out: tuple[LeftOut, ...]
    """Sorted by path. A directory that was left out stands for all that is in it."""
    truncated: bool
    """The walk met one of its bounds: there is more."""


class Workspace:
    """A project on disk: read, never written. Names that hold secrets go by covered ones (see ``covered``)."""

    def __init__(self, root: Path, project_id: str, names: CoveredNames | None = None) -> None:
        self.root = root
        """The real path."""
        self.project_id = project_id
        self.alias_default = root.name
        """The directory's name."""
        self.names = DiskNames(root, names or CoveredNames(str))
        """What the files are really called."""
        self.git = Git(root, self._text_of_file, _text_of_bytes, self.names.shown, self.names.on_disk)

    @classmethod
    def open(cls, path: Path, *, key: str | None) -> "Workspace":
        """The project at ``path``; ``key`` takes the path's place in its id where containers share one.

        Raises ProjectError for no directory, the root, a home, and a bare mount point without a key.
        """
        root = project_root(path, named=bool(key))
        identity = key.encode("utf-8", "surrogateescape") if key else os.fsencode(root)
        return cls(root, hashlib.sha256(identity).hexdigest()[:16])

    def with_names(self, names: CoveredNames) -> "Workspace":
        """The same project under names that this covers."""
        return Workspace(self.root, self.project_id, names)

    def relative(self, path: str) -> str:
        """A path as a caller names it, absolute or not, made project-relative; "" is the project itself.

        Links are resolved here, so what is read is the file itself under its own path. It need not exist.
        Raises ProjectError where it leads out of the project.
        """
        try:
            if not path or "\0" in path:
                raise ProjectError(f"{path!r} is no path.", hint=_PATH_HINT)
            relative = Path(os.path.realpath(self.root / self.names.as_called(path))).relative_to(self.root)
            os.fsencode(relative)
        except (OSError, ValueError):
            raise ProjectError(
                f"The project is fixed for this session: {str(self.root)!r}. {path!r} is not in it.",
                hint=_PATH_HINT,
            ) from None
        return "" if relative == Path() else self.names.shown(relative.as_posix())

    def read(self, relative: str, *, max_bytes: int) -> Source | LeftOut:
        """A file's source, or why it was not read: missing, a link, a pipe, over ``max_bytes``, …"""
        try:
            names = names_of(self.names.real(relative))
            if not names:
                return LeftOut(relative, EvidenceReason.NOT_REGULAR, "a directory")
            with folder_beneath(self.root, names[:-1]) as folder:
                return source_from_bytes(relative, folder.read(names[-1], max_bytes))
        except NotReadError as error:
            return LeftOut(relative, error.reason, error.detail)

    def exists(self, relative: str) -> bool:
        """Whether anything has this name. False only where that is certain: then the file is gone."""
        try:
            self._status(relative)
        except NotReadError as error:
            return error.reason is not EvidenceReason.FILE_MISSING
        return True

    def is_directory(self, relative: str) -> bool:
        """Whether a directory, not a link to one, has this name."""
        try:
            return stat.S_ISDIR(self._status(relative).st_mode)
        except NotReadError:
            return False

    def files_in(self, directory: str) -> tuple[str, ...]:
        """Paths of the files directly in a directory, links too, sorted; none where it cannot be read."""
        prefix = f"{directory}/" if directory else ""
        try:
            with folder_beneath(self.root, names_of(self.names.real(directory))) as folder:
                entries = folder.entries(_MAX_BESIDE)
                files = (entry for entry in entries if entry.is_symlink() or entry.is_file(follow_symlinks=False))
                return tuple(prefix + self.names.shown(entry.name) for entry in files)
        except (NotReadError, OSError):
            return ()

    def changed_ns(self, relative: str) -> int | None:
        """When the name last changed (content or inode), in ns since 1970; None where it cannot be told."""
        try:
            status = self._status(relative)
        except NotReadError:
            return None
        return max(status.st_mtime_ns, status.st_ctime_ns)

    def _status(self, relative: str) -> os.stat_result:
        names = names_of(self.names.real(relative))
        if not names:
            return self.root.stat()
        with folder_beneath(self.root, names[:-1]) as folder:
            return folder.status(names[-1])

    def _text_of_file(self, relative: str) -> str | None:
        source = self.read(relative, max_bytes=_MAX_COMPARED_BYTES)
        return _text_or_none(source) if isinstance(source, Source) else None

    def walk(self, start: str = "", *, max_files: int) -> Listing:
        """The regular files at or below a path, sorted, and what was left out and why. No link is followed.

        Other people's directories are left out, but for the files that git tracks in them; one that is
        named as ``start`` is walked.
        """
        walk = _Walk(self.root, max_files)
        walk.start(self.names.real(start))
        walk.add_tracked(self._tracked(walk.vendored) if walk.vendored else set())
        for path, target in sorted(walk.links.items()):
            walk.add_link(path, self._is_passed_over(target))
        return walk.listing(self.names.shown)

    def is_passed_over(self, target: str) -> bool:
        """Whether what a link leads to lies where no walk goes, so that it is not looked at under its own path."""
        return self._is_passed_over(self.names.real(target))

    def _is_passed_over(self, target: str) -> bool:
        if not os.path.lexists(self.root / target) or not lies_aside(self.root, target):
            return False
        return self.is_directory(target) or target not in self._tracked([target])

    def _tracked(self, folders: list[str]) -> set[str]:
        """Names as on disk, here and there."""
        try:
            names = self.git.tracked(folders) if self.git.available() else set()
            return {self.names.on_disk(name) for name in names}
        except GitError:
            return set()


_MAX_COMPARED_BYTES = 8 << 20
"""Of a file whose lines are compared with git's."""
_PATH_HINT = "Name a file or directory of the project, relative to it or absolute."


def _text_of_bytes(path: str, data: bytes) -> str | None:
    return _text_or_none(source_from_bytes(path, data))


def _text_or_none(source: Source) -> str | None:
    return None if source.encoding is Encoding.BINARY else source.text


class _Walk:
    """One walk over the tree, depth first, each directory in order."""

    def __init__(self, root: Path, max_files: int) -> None:
        self.vendored: list[str] = []
        self.links: dict[str, str] = {}
        """Link → what it leads to, in the project."""
        self._root = root
        self._max_files = max_files
        self._looks_left = max_files * _LOOKED_AT_PER_FILE + 1000
        self._paths: list[str] = []
        self._left_out: list[LeftOut] = []
        self._full = self._too_deep = False

    def start(self, start: str) -> None:
        try:
            names = names_of(start)
            with folder_beneath(self._root, names[:-1]) as folder:
                if not names:
                    self._folder("", folder, 0)
                elif stat.S_ISDIR(folder.status(names[-1]).st_mode):
                    with folder.folder(names[-1]) as named:
                        self._folder(f"{start}/", named, 0)
                else:
                    self._other(start, folder.status(names[-1]).st_mode)
        except NotReadError as error:
            self._leave_out(start, error.reason, error.detail, directory=True)

    def _leave_out(self, path: str, reason: EvidenceReason, detail: str = "", *, directory: bool = False) -> None:
        self._left_out.append(LeftOut(path, reason, detail, directory))

    def _folder(self, prefix: str, folder: Folder, depth: int) -> None:
        for entry in folder.entries(self._looks_left + 1):
            self._looks_left -= 1
            if self._full or self._looks_left < 0:
                self._full = True
                return
            path = prefix + entry.name
            try:
                if is_gits_own(folder, prefix, entry):
                    self._leave_out(path, EvidenceReason.VENDORED, "git's own", directory=True)
                elif entry.is_dir(follow_symlinks=False):
                    self._inner_folder(path, folder, entry.name, depth + 1)
                else:
                    self._other(path, entry.stat(follow_symlinks=False).st_mode)
            except OSError as error:
                self._leave_out(path, EvidenceReason.UNREADABLE, error.strerror or "")
            except NotReadError as error:
                # only a directory is opened here
                self._leave_out(path, error.reason, error.detail, directory=True)

    def _inner_folder(self, path: str, parent: Folder, name: str, depth: int) -> None:
        with parent.folder(name) as folder:
            foreign = (name in VENDORED_FOLDERS and name != ".git") or folder.holds("pyvenv.cfg")
            if foreign:
                self.vendored.append(path)
            elif depth > _MAX_FOLDER_DEPTH:
                self._too_deep = True
                detail = f"below {_MAX_FOLDER_DEPTH} directories"
                self._leave_out(path, EvidenceReason.TOO_MANY_FILES, detail, directory=True)
            else:
                self._folder(f"{path}/", folder, depth)

    def _other(self, path: str, mode: int) -> None:
        if stat.S_ISLNK(mode):
            self._link(path)
        elif not stat.S_ISREG(mode):
            self._leave_out(path, EvidenceReason.NOT_REGULAR, kind_of_file(mode))
        elif len(self._paths) < self._max_files:
            self._paths.append(path)
        else:
            self._full = True

    def _link(self, path: str) -> None:
        """What it leads to is looked at under its own path if it is in the project, and nowhere if it is not."""
        there = Path(os.path.realpath(self._root / path))
        if there.is_relative_to(self._root):
            self.links[path] = there.relative_to(self._root).as_posix()
        else:
            vendored = path.rpartition("/")[2] in VENDORED_FOLDERS
            reason = EvidenceReason.VENDORED if vendored else EvidenceReason.OUTSIDE_PROJECT
            self._leave_out(path, reason, "a link out of the project", directory=vendored or there.is_dir())

    def add_link(self, path: str, passed_over: bool) -> None:
        if passed_over and path.rpartition("/")[2] not in VENDORED_FOLDERS:
            self._leave_out(path, EvidenceReason.OUTSIDE_PROJECT, LEADS_ASIDE, directory=(self._root / path).is_dir())
        else:
            self._leave_out(path, EvidenceReason.SYMLINK)

    def add_tracked(self, names: set[str]) -> None:
        """Take the files that git tracks in vendored directories: they are the project's own after all."""
        for name in sorted(names):
            if not self._full:
                self.start(name)
        for folder in self.vendored:
            taken = sum(name.startswith(f"{folder}/") for name in names)
            detail = f"but for {taken} files that git tracks" if taken else ""
            self._leave_out(folder, EvidenceReason.VENDORED, detail, directory=True)

    def listing(self, shown: Callable[[str], str]) -> Listing:
        left_out = [replace(item, path=shown(item.path)) for item in self._left_out]
        return Listing(
            paths=tuple(sorted(map(shown, self._paths))),
            left_out=tuple(sorted(left_out, key=lambda item: item.path)),
            truncated=self._full or self._too_deep,
        )
