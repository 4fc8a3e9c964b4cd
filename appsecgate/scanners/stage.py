"""Our own copies of the project's files, the only thing that a scanner ever reads.

A copy is the normalised text (UTF-8 without a byte order mark, line ends ``\\n``), so a position in a report
is a position in ``Source.text``; the bytes scanned are the bytes hashed, whatever happens in the project
meanwhile; and a name that would keep a scanner silent, or that it would take for an option, never reaches it.
"""

import contextlib
import os
import re
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from types import TracebackType

from appsecgate.process import private_directory
from appsecgate.scanners.base import StagedFile
from appsecgate.scanners.classify import classify
from appsecgate.spelling import respell
from appsecgate.workspace import Encoding, Source

_SAFE_SUFFIX = re.compile(r"\.[a-z0-9]{1,12}\Z")
"""Kept on a copy's name, in lower case: semgrep tells TSX from TypeScript by it."""


class Stage:
    """A private directory with one copy of each project file; a context manager that removes it.

    Files may be added by several threads. One path has one copy: other bytes under the same path take its
    place for later runs, while runs that already hold the older ``StagedFile`` keep reading the older copy.
    """

    def __init__(self, parent: Path | None = None) -> None:
        self._context = private_directory(parent, prefix="appsecgate-stage-")
        self._lock = threading.Lock()
        self._files: dict[str, StagedFile] = {}
        self._count = 0
        self._root: Path | None = None

    def __enter__(self) -> "Stage":
        self._root = self._context.__enter__()
        (self._root / "files").mkdir(mode=0o700)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._context.__exit__(kind, error, trace)

    @property
    def root(self) -> Path:
        """The directory; only inside the ``with`` block."""
        if self._root is None:
            raise RuntimeError("the stage is used outside its with block")
        return self._root

    def add(self, source: Source) -> StagedFile:
        """Put the file's copy in place (once) and say what it is.

        Raises OSError where the temporary directory cannot take it.
        """
        known = self._files.get(source.path)
        if known is not None and known.sha256 == source.sha256:
            return known
        local = self._fresh_path(source.path)
        _write_private_file(local, copy_bytes(source.text))
        kind = classify(source)
        plain = None
        if (respelled := respell(kind.language, source.text)) is not None:
            plain = self._fresh_path(source.path)
            _write_private_file(plain, copy_bytes(respelled.text))
        staged = StagedFile(
            path=source.path,
            sha256=source.sha256,
            size=len(source.data),
            encoding=source.encoding,
            local=local,
            language=kind.language,
            kinds=kind.kinds,
            plain=plain,
        )
        with self._lock:
            self._files[source.path] = staged
        return staged

    def get(self, path: str) -> StagedFile | None:
        """The staged file of this project path."""
        return self._files.get(path)

    def source(self, path: str) -> Source:
        """The file again, from its copy: text, hash and encoding as they were, ``data`` the *normalised*
        bytes.

        Raises KeyError where the path was never added.
        """
        staged = self._files[path]
        return staged_source(staged)

    @contextlib.contextmanager
    def run_directory(self) -> Iterator[Path]:
        """A fresh private directory for one process, removed afterwards."""
        with self._lock:
            self._count += 1
            directory = self.root / f"run-{self._count}"
        directory.mkdir(mode=0o700)
        try:
            yield directory
        finally:
            shutil.rmtree(directory, ignore_errors=True)

    def _fresh_path(self, path: str) -> Path:
        suffix = _SAFE_SUFFIX.search(path.lower())
        with self._lock:
            self._count += 1
            return self.root / "files" / f"f{self._count}{suffix[0] if suffix else ''}"


def staged_source(staged: StagedFile) -> Source:
    """The ``Source`` of a staged file, read back from the copy; ``data`` holds the normalised bytes."""
    data = staged.local.read_bytes()
    text = "" if staged.encoding is Encoding.BINARY else data.decode("utf-8", "surrogateescape")
    return Source(path=staged.path, data=data, sha256=staged.sha256, encoding=staged.encoding, text=text)


def place_bytes(directory: Path, name: str, content: bytes) -> Path:
    """Write a file below a run directory. Raises ValueError for a name that leaves it."""
    target = _path_inside(directory, name)
    _write_private_file(target, content)
    return target


def place_copy(directory: Path, name: str, original: Path) -> Path:
    """A hard link to a staged file (a copy where links do not work) below a run directory.

    Raises ValueError for a name that leaves it, FileExistsError where the name is taken.
    """
    target = _path_inside(directory, name)
    try:
        os.link(original, target)
    except FileExistsError:
        raise
    except OSError:
        _write_private_file(target, original.read_bytes())
    return target


def copy_bytes(text: str) -> bytes:
    """UTF-8; a lone surrogate, which UTF-16 can carry, becomes one ``?`` so that columns stay right."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


def _path_inside(directory: Path, name: str) -> Path:
    parts = PurePosixPath(name).parts
    if not parts or name.startswith("/") or ".." in parts or "\0" in name:
        raise ValueError("a file of a run must lie below its directory")
    target = directory.joinpath(*parts)
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return target


def _write_private_file(path: Path, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o400)
    with open(descriptor, "wb") as stream:
        stream.write(content)
