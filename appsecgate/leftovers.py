"""What a killed process of ours left in the temporary directory: copies of a project, which must not stay there."""

import contextlib
import os
import re
import tempfile
import time
from pathlib import Path

from appsecgate.beneath import remove_tree

_OURS = re.compile(r"appsecgate-(?:[a-z]+-)*(\d+)-\w+")
GRACE_S = 3600.0
"""A younger directory is left alone: in another container the same number may be a living process."""


def sweep_leftovers(now: float | None = None) -> int:
    """Remove our user's private directories whose process is gone; how many there were. Never raises."""
    moment = time.time() if now is None else now
    swept = 0
    with contextlib.suppress(OSError):
        for entry in os.scandir(tempfile.gettempdir()):
            match = _OURS.fullmatch(entry.name)
            if match and _is_stale(entry, int(match[1]), moment):
                remove_tree(Path(entry.path))
                swept += 1
    return swept


def _is_stale(entry: "os.DirEntry[str]", process: int, moment: float) -> bool:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return False
    owner = getattr(os, "getuid", lambda: status.st_uid)()
    ours = entry.is_dir(follow_symlinks=False) and status.st_uid == owner
    return ours and moment - status.st_mtime > GRACE_S and not _is_alive(process)


def _is_alive(process: int) -> bool:
    """Whether a process has this number; where that cannot be asked without harm, it counts as alive."""
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
