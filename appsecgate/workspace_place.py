"""Where a project may lie: in a directory that can be read and is no more than one project."""

import os
from pathlib import Path

from appsecgate.errors import ProjectError

_GENERIC_MOUNTS = frozenset(
    {
        "/app", "/build", "/code", "/data", "/mnt", "/project", "/projects", "/repo", "/repository",
        "/source", "/src", "/usr/src/app", "/volume", "/work", "/workdir", "/workspace", "/workspaces",
    }
)  # fmt: skip
"""Mount points that every container gives to another project."""


def project_root(path: Path, *, named: bool) -> Path:
    """The real path of a project's directory; ``named``: it has a key of its own, so its path need not identify it.

    Raises ProjectError.
    """
    try:
        root = Path(os.path.realpath(path, strict=True))
        os.scandir(root).close()
    except (OSError, ValueError):
        raise ProjectError(f"{str(path)!r} is not a directory that can be read.") from None
    _refuse_too_wide(root)
    if not named and root.as_posix() in _GENERIC_MOUNTS:
        raise ProjectError(
            f"{str(root)!r} is where any project may be mounted, so its name identifies none.",
            hint="Set APPSECGATE_PROJECT_KEY to a name of the project's own, or mount it elsewhere.",
        )
    return root


def _refuse_too_wide(root: Path) -> None:
    try:
        home = Path(os.path.realpath(Path.home()))
    except RuntimeError:
        # nobody's: there is no home to protect
        home = Path(root.anchor)
    if root == Path(root.anchor):
        what = "the root of the file system"
    elif root == home:
        what = "your home directory"
    elif root.as_posix() in ("/home", "/Users"):
        what = "where home directories are"
    else:
        return
    raise ProjectError(f"{str(root)!r} is {what}, not a project.")
