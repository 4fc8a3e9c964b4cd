"""Which new file is a vanished one under another name: told by the lines that both have in common."""

import math
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from appsecgate.identity.lines import HASH_BYTES, line_hashes, split_line_hashes
from appsecgate.scan.result import Notice
from appsecgate.session import Session
from appsecgate.workspace import LeftOut

RENAME_SHARE = 0.5
"""A new file that holds at least this share of a vanished file's lines is that file under a new name; git's default."""
MAX_NEW_FILES = 5_000
"""New files whose lines are read to look for the vanished ones."""
MAX_RENAME_LINES = 1_500_000
"""Lines that are held in memory to be compared, of vanished and new files together: some 200 MB."""
RENAMING_S = 5.0
"""Of a call's time: the scan needs the rest."""
NOT_FOLLOWED = (
    "so much vanished and appeared that renamed files were not followed: findings in the new files count as new, those "
    "in the vanished ones as gone"
)


class TooManyRenamesError(Exception):
    """Who was renamed to what cannot be told within the bounds."""


def shared_lines(old: Counter[bytes], new: Counter[bytes]) -> float:
    """The share of the old text's lines that the new one has, each as often as it stands there."""
    return (old & new).total() / old.total() if old else 0.0


def pair_renames(
    gone: Mapping[str, Sequence[bytes]], new: Mapping[str, Sequence[bytes]], until: float = math.inf
) -> dict[str, str]:
    """New path → vanished path, one to one, the most alike first; the same name in another directory breaks a tie.

    Raises TooManyRenamesError where that is not over at ``until`` (``time.monotonic()`` seconds).
    """
    old_counts = {path: Counter(lines) for path, lines in gone.items()}
    new_counts = {path: Counter(lines) for path, lines in new.items()}
    holders: dict[bytes, list[str]] = {line: [] for counts in old_counts.values() for line in counts}
    for path, counts in new_counts.items():
        for line in counts.keys() & holders.keys():
            holders[line].append(path)
    scores = [
        (-share, old_path.rpartition("/")[2] != path.rpartition("/")[2], old_path, path)
        for old_path, old in old_counts.items()
        for path in _candidates_for(old, holders)
        if _in_time(until) and (share := shared_lines(old, new_counts[path])) >= RENAME_SHARE
    ]
    renames: dict[str, str] = {}
    taken: set[str] = set()
    for _, _, old_path, path in sorted(scores):
        if path not in renames and old_path not in taken:
            renames[path] = old_path
            taken.add(old_path)
    return renames


def _candidates_for(old: Counter[bytes], holders: Mapping[bytes, Sequence[str]]) -> set[str]:
    """The new files that may hold ``RENAME_SHARE`` of the old lines.

    Such a file holds at least one of any lines that make up more than the rest; the rarest are asked, since thousands
    of files have the common ones.
    """
    found: set[str] = set()
    asked = 0
    for line in sorted(old, key=lambda line: len(holders[line])):
        found.update(holders[line])
        asked += old[line]
        if asked > (1 - RENAME_SHARE) * old.total():
            break
    return found


def _in_time(until: float) -> bool:
    if time.monotonic() > until:
        raise TooManyRenamesError
    return True


def find_renames(
    session: Session, removed: Iterable[str], paths: Iterable[str], seconds: float = RENAMING_S
) -> tuple[dict[str, str], tuple[Notice, ...]]:
    """New path → vanished path for the files of a scan: ``removed`` had findings, ``paths`` are there now.

    Only a path that no scan has seen before is a new one. Where it takes too long, or too much memory, no file counts
    as renamed, and a notice says so.
    """
    until = time.monotonic() + seconds
    with session.store.read() as reader:
        shapes = reader.shapes(session.project_id, list(removed))
        if not shapes:
            return {}, ()
        candidates = list(paths)
        seen = reader.shapes(session.project_id, candidates)
    try:
        room = MAX_RENAME_LINES - sum(len(shape.line_hashes) for shape in shapes.values()) // HASH_BYTES
        new = _lines_of(session, [path for path in candidates if path not in seen][:MAX_NEW_FILES], room, until)
        gone = {path: split_line_hashes(shape.line_hashes) for path, shape in shapes.items()}
        return pair_renames(gone, new, until), ()
    except TooManyRenamesError:
        return {}, (Notice(".", NOT_FOLLOWED),)


def _lines_of(session: Session, paths: Iterable[str], room: int, until: float) -> dict[str, Sequence[bytes]]:
    """The line hashes of files; TooManyRenamesError for more than ``room`` lines together, or no more time."""
    found: dict[str, Sequence[bytes]] = {}
    for path in paths:
        _in_time(until)
        source = session.workspace.read(path, max_bytes=session.config.limits.max_file_bytes)
        if isinstance(source, LeftOut):
            continue
        hashes = line_hashes(source, session.store.key)
        room -= len(hashes) // HASH_BYTES
        if room < 0:
            raise TooManyRenamesError
        found[path] = split_line_hashes(hashes)
    return found
