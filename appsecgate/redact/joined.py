"""Texts as a program puts them together: literals without what stands between them, escapes as what they stand for.

A secret that is written as ``"AKIA" + "IOSF…"``, over two lines, or with ``\\x41`` in it is the same secret. A reading
is such a text with the way back; only what crosses a seam is looked for in it, since the rest is seen as it stands.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator

from appsecgate.redact.escapes import ESCAPE_FORM, escaped_char
from appsecgate.spelling import Change, Respelled, apply_changes

_BETWEEN_PARTS = (
    r"(?:\.\s{0,20}[A-Za-z_]{1,16}\s?\(|(?:#|//|--)[^\n\"'`]{0,200}\n|/\*[^*\"'`]{0,200}\*/|[\s\\+.&|,~%()\[\]<>-])"
)
"""A call too (``.concat(``, ``.format(``), comments, and the signs at the start of a diff's lines."""
_HOLE = r"(?:%[sdvr]|[$#]?\{\w{0,40}\})"
_SEAM_FORM = re.compile(
    rf"""{_HOLE}{{0,4}}["'`](?:{_BETWEEN_PARTS}{{1,200}}+[A-Za-z$@]{{0,2}})?["'`]+"""
    r"""|\\\n[ \t]*+"""
    r"""|(?<=\w)["'`]{1,2}(?=\w)"""
    rf"|{ESCAPE_FORM}"
)
"""What joins two literals in one of many languages, or stands for a character."""
_QUOTE_SIGN = re.compile(r"[\"'`]")
_PART_EDGE = re.compile(r"[A-Za-z0-9_]+|[^\sA-Za-z0-9_]")
_FARTHEST = 400
"""Characters of code between two literals that are taken for parts of one text."""

Stretch = tuple[int, int]


def joined_reading(text: str) -> Respelled | None:
    """Literals that are put together where they stand; None where there are none."""
    return _reading_of(text, ((*match.span(), escaped_char(match)) for match in _SEAM_FORM.finditer(text)))


def scattered_readings(text: str) -> Iterator[Respelled]:
    """Literals alone, whatever stands between them. Which quote opens one is not known, so there are two readings."""
    quotes = [match.start() for match in _QUOTE_SIGN.finditer(text)]
    for first in (0, 1):
        pairs = zip(quotes[first::2], quotes[first + 1 :: 2], strict=False)
        reading = _reading_of(text, ((a, b + 1, "") for a, b in pairs if b - a <= _FARTHEST))
        if reading is not None:
            yield reading


def joined_candidates(reading: Respelled, lengths: Iterable[int]) -> Iterator[Stretch]:
    """Ranges of the reading of one of these lengths that cross a seam and begin and end at the edge of a word, a sign
    or a part. Each one once."""
    wanted = sorted(set(lengths))
    if not wanted:
        return
    seams = [(start, end) for start, end, _, _ in reading.places]
    edges = _edges_of(reading.text, seams)
    known = set(edges)
    last = -1
    for start, end in seams:
        at = bisect_left(edges, max(start - wanted[-1] + 1, last + 1))
        while at < len(edges) and (edges[at] < start or edges[at] == start < end):
            begin = edges[at]
            for length in wanted:
                stop = begin + length
                if stop > start and stop >= end and stop in known:
                    yield begin, stop
            last = begin
            at += 1


def pieces_in_base(reading: Respelled, place: Stretch) -> list[Stretch]:
    """The parts of the text of which a range of its reading is made."""
    start, end = place
    begin, stop = reading.offset_in_base(start, is_end=False), reading.offset_in_base(end, is_end=True)
    cuts = [begin]
    index = bisect_left(reading.changes, begin, key=lambda change: change[0])
    end_index = bisect_left(reading.changes, stop, key=lambda change: change[0])
    for first, last, plain in reading.changes[index:end_index]:
        if not plain:
            cuts += (first, last)
    cuts.append(stop)
    return [(a, b) for a, b in zip(cuts[::2], cuts[1::2], strict=True) if a < b]


def find_joined(
    reading: Respelled, lengths: Collection[int], accepts: Callable[[str], bool], most: int
) -> Iterator[tuple[Stretch, str | None]]:
    """Ranges of the reading, and the values there, that a test accepts. After ``most`` different values, or twenty
    times as many ranges, it ends with the range that is left, and None."""
    tested: dict[str, bool] = {}
    for count, (start, end) in enumerate(joined_candidates(reading, lengths)):
        value = reading.text[start:end]
        if count >= 20 * most or (value not in tested and len(tested) >= most):
            yield (start, len(reading.text)), None
            return
        if value not in tested:
            tested[value] = accepts(value)
        if tested[value]:
            yield (start, end), value


def _reading_of(text: str, changes: Iterable[Change]) -> Respelled | None:
    kept = tuple(change for change in changes if text[change[0] : change[1]] != change[2])
    return Respelled(text, apply_changes(text, kept), kept) if kept else None


def _edges_of(text: str, seams: Iterable[Stretch]) -> list[int]:
    found = {0, len(text)}
    for match in _PART_EDGE.finditer(text):
        found.update(match.span())
    for start, end in seams:
        found.update((start, end))
    return sorted(found)
