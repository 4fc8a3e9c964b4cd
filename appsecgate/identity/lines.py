"""Where a line of the old text is in the new one, from line hashes alone.

A short stretch is aligned by a longest common subsequence, in which a line that occurs once on both
sides counts for more; of several, by one that takes the fewest edits, a replaced line being one edit.
A long stretch is cut first, as a patience diff (Bram Cohen) does: lines that occur once on both sides
are anchors, and the longest increasing run of them is kept. A budget of steps bounds both for texts
made to be slow (all lines equal, few distinct lines, anchors that appear one by one); past it, the
k-th occurrence of a line is paired with the k-th.
"""

from bisect import bisect_left
from collections.abc import Container, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from appsecgate.workspace import Source

HASH_BYTES = 8
_MAX_LCS_CELLS = 40_000
_LINE_WEIGHT = 2 * _MAX_LCS_CELLS
_UNIQUE_LINE_WEIGHT = 3 * _MAX_LCS_CELLS
_ALIGN_STEPS_PER_LINE = 24
_ALIGN_EXTRA_STEPS = 1_000_000

LinePair = tuple[int, int]
"""Indexes from 0 of one line in the old and in the new text."""


def line_hashes(source: Source, key: bytes) -> bytes:
    """Eight keyed bytes for each line of a text, joined: comparable later, readable by nobody.

    Runs of white space count as one blank and the margin as none, so that indented or retabbed
    code keeps its lines. ``key`` has at most 64 bytes.
    """
    hashed = bytearray()
    for line in source.lines:
        folded = " ".join(line.split()).encode("utf-8", "surrogatepass")
        hashed += blake2b(folded, digest_size=HASH_BYTES, key=key).digest()
    return bytes(hashed)


def split_line_hashes(joined: bytes) -> list[bytes]:
    """One item per line from what ``line_hashes`` joined."""
    return [joined[at : at + HASH_BYTES] for at in range(0, len(joined), HASH_BYTES)]


@dataclass(frozen=True, slots=True)
class LineGap:
    """A stretch of old lines that has no equal in the new text, and what stands in its place."""

    old_first: int
    old_count: int
    new_first: int
    new_count: int


class LineMap:
    """Old lines to new ones, both counted from 1. Monotone; maps equal lines only."""

    __slots__ = ("_new", "_new_lines", "_old", "_old_lines", "_upward", "new_count", "old_count")

    def __init__(self, old: bytes, new: bytes) -> None:
        """From the ``line_hashes`` of two texts, taken under one key; without ``old`` nothing is known."""
        before, after = split_line_hashes(old), split_line_hashes(new)
        numbers: dict[bytes, int] = {}
        self._old = [numbers.setdefault(line, len(numbers)) for line in before]
        self._new = [numbers.setdefault(line, len(numbers)) for line in after]
        self._upward: dict[int, int] | None = None
        self.old_count = len(self._old)
        self.new_count = len(self._new)
        pairs = _LineAligner(self._old, self._new).pairs()
        self._old_lines = [old_index + 1 for old_index, _ in pairs]
        self._new_lines = [new_index + 1 for _, new_index in pairs]

    def new_line(self, old_line: int) -> int | None:
        """Where an unchanged line is now; ``None`` where it was changed, removed or never there."""
        at = bisect_left(self._old_lines, old_line)
        found = at < len(self._old_lines) and self._old_lines[at] == old_line
        return self._new_lines[at] if found else None

    def rival_line(self, old_line: int) -> int | None:
        """Where a line is when the texts are aligned from their ends upwards.

        Where it differs from ``new_line``, the diff is not the only one: of two equal lines next to
        each other one was removed, and nothing tells which.
        """
        if len(self._old_lines) == self.old_count:
            return self.new_line(old_line)  # no line was removed
        if self._upward is None:
            pairs = _LineAligner(self._old[::-1], self._new[::-1]).pairs()
            self._upward = {self.old_count - old: self.new_count - new for old, new in pairs}
        return self._upward.get(old_line)

    def gap(self, old_line: int) -> LineGap | None:
        """The changed stretch that a line belongs to; ``None`` for an unchanged line."""
        old_line = max(old_line, 1)
        at = bisect_left(self._old_lines, old_line)
        if at < len(self._old_lines) and self._old_lines[at] == old_line:
            return None
        old_before, new_before = (self._old_lines[at - 1], self._new_lines[at - 1]) if at else (0, 0)
        ends = at == len(self._old_lines)
        old_after = max(self.old_count + 1, old_line + 1) if ends else self._old_lines[at]
        new_after = self.new_count + 1 if ends else self._new_lines[at]
        return LineGap(old_before + 1, old_after - old_before - 1, new_before + 1, new_after - new_before - 1)

    def nearest(self, old_line: int) -> int:
        """Where a line is now, or where the text that replaced it is: at the same share of a stretch.

        Within 1 and the number of new lines (at least 1), whatever ``old_line`` is.
        """
        old_line = max(old_line, 1)
        gap = self.gap(old_line)
        if gap is None:
            return self.new_line(old_line) or 1
        if not self.old_count:  # the old text is unknown: the best guess is that nothing moved
            return max(1, min(old_line, self.new_count))
        offset = (old_line - gap.old_first) * gap.new_count // gap.old_count
        return max(1, min(gap.new_first + offset, self.new_count))


class _LineAligner:
    """Aligns two sequences of line numbers; ``steps`` left is what bounds it."""

    def __init__(self, old: Sequence[int], new: Sequence[int]) -> None:
        self._old = old
        self._new = new
        self._pairs: list[LinePair] = []
        self._steps = _ALIGN_EXTRA_STEPS + _ALIGN_STEPS_PER_LINE * (len(old) + len(new))

    def pairs(self) -> list[LinePair]:
        """Pairs of equal lines, increasing in both."""
        waiting = [(0, len(self._old), 0, len(self._new))]
        while waiting:
            old_lo, old_hi, new_lo, new_hi = self._trimmed(*waiting.pop())
            if old_lo == old_hi or new_lo == new_hi:
                continue
            anchors, final = self._align(old_lo, old_hi, new_lo, new_hi)
            self._pairs += anchors
            if not final:
                ends = [*anchors, (old_hi, new_hi)]
                for old_end, new_end in ends:
                    waiting.append((old_lo, old_end, new_lo, new_end))
                    old_lo, new_lo = old_end + 1, new_end + 1
        return sorted(self._pairs)

    def _trimmed(self, old_lo: int, old_hi: int, new_lo: int, new_hi: int) -> tuple[int, int, int, int]:
        """The region without its common beginning and end, which are paired as they stand."""
        old, new = self._old, self._new
        while old_lo < old_hi and new_lo < new_hi and old[old_lo] == new[new_lo]:
            self._pairs.append((old_lo, new_lo))
            old_lo, new_lo = old_lo + 1, new_lo + 1
        while old_lo < old_hi and new_lo < new_hi and old[old_hi - 1] == new[new_hi - 1]:
            old_hi, new_hi = old_hi - 1, new_hi - 1
            self._pairs.append((old_hi, new_hi))
        return old_lo, old_hi, new_lo, new_hi

    def _align(self, old_lo: int, old_hi: int, new_lo: int, new_hi: int) -> tuple[list[LinePair], bool]:
        """Pairs within a region, and whether they are its last word."""
        olds, news = range(old_lo, old_hi), range(new_lo, new_hi)
        self._steps -= len(olds) + len(news)
        unique = self._unique(olds, news)
        cells = len(olds) * len(news)
        if cells <= min(_MAX_LCS_CELLS, self._steps):
            self._steps -= cells
            return self._common_subsequence(olds, news, {self._old[index] for index, _ in unique}), True
        anchors = _increasing_run(unique) if self._steps > 0 else []
        if anchors:
            return anchors, False
        return _increasing_run(self._by_occurrence(olds, news)), True

    def _unique(self, olds: range, news: range) -> list[LinePair]:
        """Pairs of lines that occur once on both sides, in old order."""
        old_places, new_places = _line_places(self._old, olds), _line_places(self._new, news)
        return [
            (places[0], new_places[line][0])
            for line, places in old_places.items()
            if len(places) == 1 and len(new_places.get(line, ())) == 1
        ]

    def _by_occurrence(self, olds: range, news: range) -> list[LinePair]:
        """The k-th occurrence of each line with the k-th on the other side, in old order."""
        new_places = _line_places(self._new, news)
        pairs: list[LinePair] = []
        for line, places in _line_places(self._old, olds).items():
            pairs += zip(places, new_places.get(line, ()), strict=False)
        return sorted(pairs)

    def _common_subsequence(self, olds: range, news: range, unique: Container[int]) -> list[LinePair]:
        """The heaviest common subsequence, then the fewest edits, by the textbook table."""
        old, new = self._old[olds.start : olds.stop], self._new[news.start : news.stop]
        table = _edit_table(old, new, unique)
        pairs: list[LinePair] = []
        row = column = 0
        while row < len(old) and column < len(new):
            if old[row] == new[column]:
                pairs.append((olds.start + row, news.start + column))
                row, column = row + 1, column + 1
                continue
            below, right, across = table[row + 1][column], table[row][column + 1], table[row + 1][column + 1]
            best = max(below, right, across)
            if best == across:
                row, column = row + 1, column + 1
            elif best == below:
                row += 1
            else:
                column += 1
        return pairs


def _edit_table(old: Sequence[int], new: Sequence[int], unique: Container[int]) -> list[list[int]]:
    """For each pair of suffixes, the weight of the equal lines of the best alignment less its edits."""
    rows, columns = len(old), len(new)
    table = [[column - columns for column in range(columns + 1)] for _ in range(rows + 1)]
    for row in range(rows - 1, -1, -1):
        below, here, line = table[row + 1], table[row], old[row]
        weight = _UNIQUE_LINE_WEIGHT if line in unique else _LINE_WEIGHT
        here[columns] = after = row - rows
        for column in range(columns - 1, -1, -1):
            if line == new[column]:
                after = below[column + 1] + weight
            else:
                after = max(below[column], after, below[column + 1]) - 1
            here[column] = after
    return table


def _line_places(lines: Sequence[int], where: range) -> dict[int, list[int]]:
    """Where each line occurs, in order of first occurrence."""
    places: dict[int, list[int]] = {}
    for index in where:
        places.setdefault(lines[index], []).append(index)
    return places


def _increasing_run(pairs: Sequence[LinePair]) -> list[LinePair]:
    """The longest run of pairs (given in old order) that increases in the new text: patience sort."""
    tops: list[int] = []
    piles: list[int] = []
    before: list[int] = []
    for index, (_, new_index) in enumerate(pairs):
        pile = bisect_left(tops, new_index)
        before.append(piles[pile - 1] if pile else -1)
        if pile == len(tops):
            tops.append(new_index)
            piles.append(index)
        else:
            tops[pile], piles[pile] = new_index, index
    run: list[LinePair] = []
    at = piles[-1] if piles else -1
    while at >= 0:
        run.append(pairs[at])
        at = before[at]
    return run[::-1]
