"""Texts as a program puts them together: literals without what stands between them, escapes as what they stand for.

A secret that is written as ``"AKIA" + "IOSF…"``, over two lines, or with ``\\x41`` in it is the same secret. A reading
is such a text with the way back; only what crosses a seam is looked for in it, since the rest is seen as it stands.
"""

import itertools
import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator

from appsecgate.spelling import Change, Respelled, apply_changes

_BETWEEN_PARTS = r"(?:[\s\\+.&|,~()\[\]<>]|(?:#|//|--)[^\n\"'`]{0,200}\n|/\*[^*\"'`]{0,200}\*/)"
_ESCAPE_FORM = (
    r"\\x(?P<hex_two>[0-9a-fA-F]{2})|\\u\{?0{0,6}(?P<hex_unicode>[0-9a-fA-F]{2,4})\}?"
    r"|\\(?P<octal>[0-7]{3})|%(?P<hex_percent>[0-9a-fA-F]{2})|&#x0{0,4}(?P<hex_entity>[0-9a-fA-F]{2});"
    r"|&#0{0,4}(?P<decimal>\d{2,3});"
)
_SEAM_FORM = re.compile(
    rf"""["'`](?:{_BETWEEN_PARTS}{{1,200}}+[A-Za-z$@]{{0,2}})?["'`]+"""
    r"""|\\\n[ \t]*+"""
    r"""|(?<=\w)["'`]{1,2}(?=\w)"""
    rf"|{_ESCAPE_FORM}"
)
"""What joins two literals in one of many languages, or stands for a character."""
_ANY_ESCAPE = re.compile(_ESCAPE_FORM)
_QUOTE_SIGN = re.compile(r"[\"'`]")
_PART_EDGE = re.compile(r"[A-Za-z0-9_]+|[^\sA-Za-z0-9_]")
_FARTHEST = 400
"""Characters of code between two literals that are taken for parts of one text."""
_MAX_JOINED_CHARS = 2_000_000

Stretch = tuple[int, int]


def joined_reading(text: str, most: int | None = None) -> Respelled | None:
    """Literals that are put together where they stand (at ``most`` so many seams, where that is given); None where
    there are none."""
    if len(text) > _MAX_JOINED_CHARS:
        return None
    seams = itertools.islice(_SEAM_FORM.finditer(text), most)
    return _reading_of(text, ((*match.span(), _escaped_char(match)) for match in seams))


def without_escapes(text: str) -> str:
    """The text with the characters that escapes stand for; as many lines as before."""
    return _ANY_ESCAPE.sub(_escaped_char, text)


def scattered_readings(text: str) -> Iterator[Respelled]:
    """Literals alone, whatever stands between them. Which quote opens one is not known, so there are two readings."""
    if len(text) > _MAX_JOINED_CHARS:
        return
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
    for first, last, plain in reading.changes[index:]:
        if first >= stop:
            break
        if not plain:
            cuts += (first, last)
    cuts.append(stop)
    return [(a, b) for a, b in zip(cuts[::2], cuts[1::2], strict=True) if a < b]


def find_joined(
    reading: Respelled, lengths: Collection[int], accepts: Callable[[str], bool], most: int
) -> Iterator[tuple[Stretch, str]]:
    """Ranges of the reading, and the values there, that a test accepts; it ends after so many different values, or
    twenty times as many ranges."""
    tested: dict[str, bool] = {}
    for start, end in itertools.islice(joined_candidates(reading, lengths), 20 * most):
        value = reading.text[start:end]
        if value not in tested:
            if len(tested) >= most:
                return
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


def _escaped_char(match: re.Match[str]) -> str:
    """Of an escape the character, where it is one that a secret may hold."""
    group = match.lastgroup
    if group is None:
        return ""
    base = 8 if group == "octal" else 10 if group == "decimal" else 16
    code = int(match[group], base)
    return chr(code) if 33 <= code <= 126 else match[0]
