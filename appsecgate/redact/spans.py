"""Spans of secrets in a text: collecting, merging, replacing, and mapping positions back and forth.

A placeholder that is already in the text is never part of a span, and no span crosses a line end: so
masking twice changes nothing, and the line count stays.
"""

import enum
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from appsecgate.redact.kinds import SECRET_PLACEHOLDER, SecretKind


class SpanRank(enum.IntEnum):
    """Who found the span. Where spans overlap, the lowest gives the placeholder its kind."""

    VENDOR = 0
    STRUCTURE = 1
    NAMED = 2
    LOCATED = 3
    REPEATED = 4
    RANDOM = 5
    LITERAL = 6


@dataclass(frozen=True, slots=True, repr=False)
class Span:
    """``text[start:end]`` is a secret, or a part of the secret given in ``secret``."""

    start: int
    end: int
    kind: SecretKind
    rank: SpanRank
    secret: str = ""
    """The whole secret where the span is only a line of it; empty where the span is all of it."""


def resolve_spans(text: str, spans: Iterable[Span]) -> list[Span]:
    """Sorted, disjoint, within single lines and beside the placeholders that ``text`` already holds."""
    held = [match.span() for match in SECRET_PLACEHOLDER.finditer(text)]
    starts = [start for start, _ in held]
    pieces = [piece for span in spans for piece in _free_pieces(text, span, held, starts)]
    pieces.sort(key=lambda piece: (piece.start, -piece.end, piece.rank))
    return list(_merge_overlapping(text, pieces))


def _free_pieces(text: str, span: Span, held: Sequence[tuple[int, int]], starts: Sequence[int]) -> Iterator[Span]:
    """The parts of a span outside of placeholders, line by line, without blanks at their ends.

    Where a placeholder divides the span, a part without a letter or digit is what joined two secrets.
    """
    start, end = max(span.start, 0), min(span.end, len(text))
    if not held:
        yield from _line_pieces(text, span, start, end, False)
        return
    index = max(bisect_right(starts, start) - 1, 0)
    cut = False
    while index < len(held) and held[index][0] < end:
        if held[index][1] > start:
            yield from _line_pieces(text, span, start, held[index][0], True)
            start = held[index][1]
            cut = True
        index += 1
    yield from _line_pieces(text, span, start, end, cut)


def _line_pieces(text: str, span: Span, start: int, end: int, cut: bool) -> Iterator[Span]:
    if start >= end or (cut and not any(map(str.isalnum, text[start:end]))):
        return
    whole = text[start:end]
    secret = span.secret or (whole if "\n" in whole else "")
    for line in whole.split("\n"):
        stripped = line.strip()
        if stripped:
            begin = start + line.index(stripped[0])
            yield Span(begin, begin + len(stripped), span.kind, span.rank, secret)
        start += len(line) + 1


def _merge_overlapping(text: str, pieces: Sequence[Span]) -> Iterator[Span]:
    cluster: list[Span] = []
    reach = -1
    for piece in pieces:
        if cluster and piece.start >= reach:
            yield _union(text, cluster, reach)
            cluster = []
        reach = max(reach, piece.end) if cluster else piece.end
        cluster.append(piece)
    if cluster:
        yield _union(text, cluster, reach)


def _union(text: str, cluster: Sequence[Span], end: int) -> Span:
    """One span over all of a cluster; the digest is of the whole secret where one piece tells it."""
    start = cluster[0].start
    best = min(cluster, key=lambda piece: (piece.rank, piece.start - piece.end))
    whole = (piece.secret for piece in cluster if piece.start == start and piece.end == end and piece.secret)
    return Span(start, end, best.kind, best.rank, next(whole, "") or text[start:end])


class Edits:
    """A text with its spans replaced; converts offsets between the original and ``text``.

    It keeps offsets alone, nothing of the original.
    """

    __slots__ = ("_ends", "_new_ends", "_new_starts", "_starts", "text")

    def __init__(self, original: str, spans: Sequence[Span], placeholder: Callable[[Span], str]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._new_starts: list[int] = []
        self._new_ends: list[int] = []
        parts: list[str] = []
        done = length = 0
        for span in spans:
            mask = placeholder(span)
            length += span.start - done
            parts += (original[done : span.start], mask)
            self._starts.append(span.start)
            self._ends.append(span.end)
            self._new_starts.append(length)
            length += len(mask)
            self._new_ends.append(length)
            done = span.end
        parts.append(original[done:])
        self.text = "".join(parts)

    def start_in_new(self, offset: int) -> int:
        """Where a range that starts at the original ``offset`` starts now: never inside a placeholder."""
        index = bisect_right(self._starts, offset) - 1
        if index < 0:
            return offset
        if offset < self._ends[index]:
            return self._new_starts[index]
        return offset - self._ends[index] + self._new_ends[index]

    def end_in_new(self, offset: int) -> int:
        """The same for the exclusive end of a range."""
        index = bisect_left(self._starts, offset) - 1
        if index < 0:
            return offset
        if offset <= self._ends[index]:
            return self._new_ends[index]
        return offset - self._ends[index] + self._new_ends[index]

    def in_original(self, span: Span) -> Span:
        """A span of the new text that touches no replacement, in offsets of the original."""
        index = bisect_right(self._new_starts, span.start) - 1
        shift = self._ends[index] - self._new_ends[index] if index >= 0 else 0
        return replace(span, start=span.start + shift, end=span.end + shift)


class LineTable:
    """Offsets of lines; takes any line and column and clamps it into the text."""

    __slots__ = ("_length", "_starts")

    def __init__(self, text: str) -> None:
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self._length = len(text)

    def line_span(self, line_start: int, line_end: int) -> tuple[int, int]:
        """Offsets of these lines (1-based, inclusive) without the last line end; empty when out of range."""
        first = max(line_start, 1)
        last = min(line_end, len(self._starts))
        if first > last:
            return self._length, self._length
        end = self._starts[last] - 1 if last < len(self._starts) else self._length
        return self._starts[first - 1], end

    def char_span(self, line_start: int, col_start: int | None, line_end: int, col_end: int | None) -> tuple[int, int]:
        """Offsets of a range (1-based, end column exclusive); a missing column means the whole line."""
        start, end = self.line_span(line_start, line_end)
        begin = start if col_start is None else min(start + max(col_start, 1) - 1, end)
        if col_end is not None and line_end <= len(self._starts):
            last, _ = self.line_span(max(line_start, line_end), line_end)
            end = min(end, last + max(col_end, 1) - 1)
        return begin, max(begin, end)
