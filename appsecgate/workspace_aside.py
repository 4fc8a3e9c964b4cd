"""Where a walk over a project does not go: other people's directories, and git's own."""

import os
from pathlib import Path, PurePosixPath

from appsecgate.beneath import Folder, NotReadError

VENDORED_FOLDERS = frozenset(
    {
        ".bzr", ".cache", ".eggs", ".git", ".gradle", ".hg", ".mypy_cache", ".nox", ".pytest_cache",
        ".ruff_cache", ".serverless", ".svn", ".terraform", ".tox", ".venv", ".yarn", "__pycache__",
        "bower_components", "jspm_packages", "node_modules", "site-packages", "vendor", "venv",
    }
)  # fmt: skip
"""Directories of other people's code, or of none: a walk leaves them out, but for what git tracks in them."""
LEADS_ASIDE = "a link to where no scan goes by itself"
_GIT_ENTRIES = frozenset(
    {
        "branches", "commondir", "config", "config.worktree", "description", "gitdir", "hooks", "index", "info", "lfs",
        "logs", "modules", "objects", "packed-refs", "refs", "shallow", "worktrees",
    }
)  # fmt: skip
_MAX_GIT_ENTRIES = 200


def is_gits_own(folder: Folder, prefix: str, entry: "os.DirEntry[str]") -> bool:
    """Whether an entry is a git directory: that of the project by its name, any other by what is in it, and by there
    being nothing else."""
    if entry.name.casefold() != ".git":
        return False
    if entry.name == ".git" and not prefix:
        return True
    if not entry.is_dir(follow_symlinks=False):
        return False
    try:
        with folder.folder(entry.name) as inside:
            names = {found.name for found in inside.entries(_MAX_GIT_ENTRIES)}
    except NotReadError:
        return False
    others = {name for name in names - _GIT_ENTRIES if not name.isupper() or "." in name}
    return {"HEAD", "objects", "refs"} <= names and not others


def lies_aside(root: Path, path: str) -> bool:
    """Whether a path of the project is, or lies in, a directory that a walk leaves out."""
    place = PurePosixPath(path)
    if path == ".git" or path.startswith(".git/") or not VENDORED_FOLDERS.isdisjoint(place.parts):
        return True
    return any(os.path.lexists(root / folder / "pyvenv.cfg") for folder in (place, *place.parents) if folder.parts)
