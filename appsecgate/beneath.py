"""Directories of a hostile tree, opened one below the other and never through a link.

Whoever swaps a directory for a link between two calls gets an error, not a file from elsewhere. Where
the system cannot open relative to a directory (Windows), each component is looked at before it is used.
"""

import contextlib
import errno
import itertools
import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType

from appsecgate.model import EvidenceReason

_BY_DESCRIPTOR = os.open in os.supports_dir_fd and os.scandir in os.supports_fd and hasattr(os, "O_NOFOLLOW")
_FOLDER_FLAGS = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_FILE_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)
_READ_AGAIN = 3
"""How often a file that changes under our eyes is read before we give up."""


class NotReadError(Exception):
    """A path was not read; ``reason`` and ``detail`` are for the evidence."""

    def __init__(self, reason: EvidenceReason, detail: str = "") -> None:
        super().__init__(detail or reason.value)
        self.reason = reason
        self.detail = detail


class Folder:
    """An open directory. Its methods take a name in it, never a path."""

    def __init__(self, path: Path, descriptor: int | None) -> None:
        self._path = path
        self._descriptor = descriptor

    @classmethod
    def root(cls, path: Path) -> "Folder":
        """Open a directory that is trusted with its whole path."""
        try:
            return cls(path, os.open(path, _FOLDER_FLAGS) if _BY_DESCRIPTOR else None)
        except OSError as error:
            raise _not_read(error) from None

    def __enter__(self) -> "Folder":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)

    def _at(self, name: str) -> str:
        return name if self._descriptor is not None else str(self._path / name)

    def status(self, name: str) -> os.stat_result:
        """Of the name itself, even if it is a link. Raises NotReadError."""
        try:
            return os.stat(self._at(name), dir_fd=self._descriptor, follow_symlinks=False)
        except (OSError, ValueError) as error:
            raise _not_read(error) from None

    def holds(self, name: str) -> bool:
        try:
            self.status(name)
        except NotReadError:
            return False
        return True

    def folder(self, name: str) -> "Folder":
        """Open a directory in this one. Raises NotReadError, also for a link to a directory."""
        mode = self.status(name).st_mode
        if stat.S_ISLNK(mode):
            raise NotReadError(EvidenceReason.SYMLINK)
        if not stat.S_ISDIR(mode):
            raise NotReadError(EvidenceReason.FILE_MISSING, "a file stands where a directory is named")
        if self._descriptor is None:
            return Folder(self._path / name, None)
        try:
            return Folder(self._path / name, os.open(name, _FOLDER_FLAGS, dir_fd=self._descriptor))
        except OSError as error:
            raise _not_read(error) from None

    def entries(self, at_most: int) -> list["os.DirEntry[str]"]:
        """Some or all of the entries, by name. Raises NotReadError."""
        try:
            with os.scandir(self._path if self._descriptor is None else self._descriptor) as found:
                return sorted(itertools.islice(found, at_most), key=lambda entry: os.fsencode(entry.name))
        except OSError as error:
            raise _not_read(error) from None

    def read(self, name: str, max_bytes: int) -> bytes:
        """A regular file's bytes at one moment. Never blocks. Raises NotReadError."""
        for _ in range(_READ_AGAIN):
            # before it is opened: opening alone can have effects on a device
            _check_regular(self.status(name), max_bytes)
            try:
                data = self._read_once(name, max_bytes)
            except OSError as error:
                raise _not_read(error) from None
            if data is not None:
                return data
        raise NotReadError(EvidenceReason.FILE_CHANGED, "the file was written to while it was read")

    def _read_once(self, name: str, max_bytes: int) -> bytes | None:
        with open(os.open(self._at(name), _FILE_FLAGS, dir_fd=self._descriptor), "rb") as file:
            before = os.fstat(file.fileno())
            _check_regular(before, max_bytes)
            data = file.read(max_bytes + 1)
            after = os.fstat(file.fileno())
        unchanged = (before.st_mtime_ns, before.st_ctime_ns) == (after.st_mtime_ns, after.st_ctime_ns)
        return data if unchanged and len(data) == after.st_size else None


def _check_regular(status: os.stat_result, max_bytes: int) -> None:
    mode = status.st_mode
    if stat.S_ISLNK(mode):
        raise NotReadError(EvidenceReason.SYMLINK)
    if not stat.S_ISREG(mode):
        raise NotReadError(EvidenceReason.NOT_REGULAR, kind_of_file(mode))
    if status.st_size > max_bytes:
        raise NotReadError(EvidenceReason.TOO_LARGE, f"{status.st_size} bytes, the limit is {max_bytes}")


def kind_of_file(mode: int) -> str:
    """What a name is that is no regular file, in words."""
    kinds = {
        stat.S_IFDIR: "a directory",
        stat.S_IFIFO: "a named pipe",
        stat.S_IFSOCK: "a socket",
        stat.S_IFCHR: "a device",
        stat.S_IFBLK: "a device",
    }
    return kinds.get(stat.S_IFMT(mode), "not a regular file")


_REASONS = {
    errno.ENOENT: EvidenceReason.FILE_MISSING,
    errno.ENOTDIR: EvidenceReason.FILE_MISSING,
    errno.ELOOP: EvidenceReason.SYMLINK,
    errno.EMLINK: EvidenceReason.SYMLINK,
    errno.ENXIO: EvidenceReason.NOT_REGULAR,
}


def _not_read(error: OSError | ValueError) -> NotReadError:
    if not isinstance(error, OSError):
        return NotReadError(EvidenceReason.UNREADABLE, "a name that this system cannot have")
    return NotReadError(_REASONS.get(error.errno or 0, EvidenceReason.UNREADABLE), error.strerror or "")


@contextlib.contextmanager
def folder_beneath(root: Path, names: Sequence[str]) -> Iterator[Folder]:
    """The directory that the names lead to from a trusted one. Raises NotReadError."""
    with contextlib.ExitStack() as opened:
        folder = opened.enter_context(Folder.root(root))
        for name in names:
            folder = opened.enter_context(folder.folder(name))
        yield folder


def names_of(relative: str) -> list[str]:
    """The components of a project-relative path, "" being the project.

    Raises NotReadError for anything but plain names.
    """
    names = relative.split("/") if relative else []
    if any(name in ("", ".", "..") or "\0" in name or os.sep in name for name in names):
        raise NotReadError(EvidenceReason.OUTSIDE_PROJECT, "not a plain path below the project")
    return names


def remove_tree(path: Path) -> None:
    """Remove a directory of ours as far as that goes, also where what ran in it took its own rights away."""
    shutil.rmtree(path, ignore_errors=True)
    if path.exists():
        _open_up(path)
        shutil.rmtree(path, ignore_errors=True)


def _open_up(path: Path) -> None:
    path.chmod(stat.S_IRWXU)
    for folder, names, _ in os.walk(path):
        for name in names:
            # before os.walk goes down into it; never the target of a link
            if not (inner := Path(folder, name)).is_symlink():
                inner.chmod(stat.S_IRWXU)
