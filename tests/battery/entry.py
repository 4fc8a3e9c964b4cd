"""One entry of the battery: files, an edit, a claim that the finding is fixed, and the right answer."""

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from appsecgate.model import FixStatus, Scanner

Edit = Callable[[Path], object]
"""Changes the files of an entry; gets the directory that they are in."""
FIXED, NOT_FIXED = FixStatus.FIXED, FixStatus.NOT_FIXED


@dataclass(frozen=True)
class Entry:
    name: str
    """Unique; also the name of the directory that the files are in. ``@`` in texts stands for it."""
    case: str
    """The kind of edit: V1 to V13, V14 (spelled in another way), V15 (a value in another form), or ``honest``."""
    scanner: Scanner
    dialect: str
    title: str
    """What is done, in words."""
    files: Mapping[str, str | bytes]
    edit: Edit
    rule: str
    needle: str
    """Text on the first flagged line, or within the flagged lines."""
    status: FixStatus
    codes: str
    """Reason codes that are right, separated by blanks."""
    place: str = ""
    """What the reason must name."""
    introduced: tuple[str, ...] = ()
    """Rules of findings that the edit brings into the file."""
    git: str = ""
    """``commit``: the files are committed before the edit; ``init``: a repository without a commit."""
    path: str = ""
    """The flagged file; the first one where it is not given."""
    alone: bool = False
    """In a project of its own; so is everything with git."""

    @property
    def flagged_path(self) -> str:
        return self.path or next(iter(self.files))

    def filled(self, text: str) -> str:
        return text.replace("@", key_of(self.name))

    @property
    def moves(self) -> bool:
        """Whether files come and go, so that equal entries would be taken for one another."""
        return self.case in ("V4", "V6", "V9") or "moved" in self.name or "renamed" in self.name

    def lay_out(self, folder: Path) -> None:
        for name, text in self.files.items():
            write(name, text)(folder)


def key_of(name: str) -> str:
    """An entry's name as an identifier, so that no two entries hold equal code."""
    return name.replace("-", "_").replace(".", "_")


def write(name: str, text: str | bytes) -> Edit:
    """``@`` in a text stands for the entry's name, here and below."""

    def edit(folder: Path) -> None:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text if isinstance(text, bytes) else text.replace("@", key_of(folder.name)).encode())

    return edit


def swap(name: str, old: str, new: str, count: int = 1) -> Edit:
    """Replace text that must be there."""

    def edit(folder: Path) -> None:
        text = (folder / name).read_text()
        before, after = (part.replace("@", key_of(folder.name)) for part in (old, new))
        assert before in text, (name, before)
        (folder / name).write_text(text.replace(before, after, count))

    return edit


def prepend(name: str, text: str) -> Edit:
    return lambda folder: (folder / name).write_text(
        text.replace("@", key_of(folder.name)) + (folder / name).read_text()
    )


def append(name: str, text: str) -> Edit:
    return lambda folder: (folder / name).write_text(
        (folder / name).read_text() + text.replace("@", key_of(folder.name))
    )


def remove(name: str) -> Edit:
    return lambda folder: (folder / name).unlink()


def move(old: str, new: str) -> Edit:
    def edit(folder: Path) -> None:
        (folder / new).parent.mkdir(parents=True, exist_ok=True)
        shutil.move(folder / old, folder / new)

    return edit


def copy(old: str, new: str) -> Edit:
    def edit(folder: Path) -> None:
        (folder / new).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(folder / old, folder / new)

    return edit


def link(name: str, target: str) -> Edit:
    """Put a symbolic link in the file's place."""

    def edit(folder: Path) -> None:
        (folder / name).unlink()
        (folder / name).symlink_to(target)

    return edit


def pipe(name: str) -> Edit:
    def edit(folder: Path) -> None:
        (folder / name).unlink()
        os.mkfifo(folder / name)

    return edit


def directory(name: str) -> Edit:
    def edit(folder: Path) -> None:
        (folder / name).unlink()
        (folder / name).mkdir()

    return edit


def recode(name: str, encoding: str) -> Edit:
    return lambda folder: (folder / name).write_bytes((folder / name).read_text().encode(encoding))


def rewrite(name: str, change: Callable[[bytes], bytes]) -> Edit:
    return lambda folder: (folder / name).write_bytes(change((folder / name).read_bytes()))


def commit(folder: Path) -> None:
    """Commit everything, as agents like to do before they claim."""
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.com"]
    for step in (["add", "-A"], ["commit", "-q", "-m", "fix"]):
        subprocess.run([*git, *step], cwd=folder, check=True, stdin=subprocess.DEVNULL)


def both(*edits: Edit) -> Edit:
    def edit(folder: Path) -> None:
        for one in edits:
            one(folder)

    return edit
