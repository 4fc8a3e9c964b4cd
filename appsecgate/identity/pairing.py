"""Pairs old places with new ones on one axis, nearest first, and says where that was a guess.

The closest pair of an old and a new place is always next to each other among all places in order,
so a heap over neighbours finds it again and again in O(n log n).
"""

import heapq
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from appsecgate.identity.lines import LineGap


@dataclass(frozen=True, slots=True)
class OldSpot:
    """An old finding, placed where its line is now."""

    index: int
    position: int
    """The line in the new text: exact where ``anchored``, else an estimate."""
    anchored: bool
    """Its first and last line are unchanged."""
    gap: LineGap | None
    """The changed stretch its first line was in, ``None`` for an unchanged line."""
    rival: int | None = None
    """The line that an equally good diff says it is on; see ``LineMap.rival_line``."""


@dataclass(frozen=True, slots=True)
class NewSpot:
    """A new finding and its line."""

    index: int
    position: int


@dataclass(frozen=True, slots=True)
class Pairing:
    """Who became whom, by index; ``doubtful`` are unpaired old ones that had an equal claim."""

    pairs: tuple[tuple[int, int], ...]
    doubtful: frozenset[int]


_SpotPair = tuple[OldSpot, NewSpot]


def pair_spots(olds: Sequence[OldSpot], news: Sequence[NewSpot], *, within: int | None = None) -> Pairing:
    """One-to-one pairs of the given candidates, which come in their order of precedence on a line.

    An unchanged line is paired with what is reported on it now. Of the rest, distance and then line
    decide who is paired, and order decides with whom: pairs do not cross, which makes no distance
    greater than the greatest was. Old ones whose unchanged line is silent now come last: what was
    reported there is no longer, so a place elsewhere is rather another one's. ``within`` is the
    greatest distance in lines (without it, any).
    """
    reported = {new.position for new in news}
    here = [old for old in olds if old.anchored and old.position in reported]
    changed = [old for old in olds if not old.anchored]
    silent = [old for old in olds if old.anchored and old.position not in reported]
    pairs = _pair_by_distance(here, news, 0)
    # an anchored one that lost its own line to another competes with the changed ones
    for rivals in (_without(here, pairs) + changed, silent):
        taken = {new.index for _, new in pairs}
        pairs = pairs + _pair_by_distance(rivals, [new for new in news if new.index not in taken], within)
    doubtful = _doubtful(_without(olds, pairs), pairs)
    return Pairing(tuple((old.index, new.index) for old, new in _uncrossed(pairs, olds, news)), doubtful)


def _uncrossed(pairs: Sequence[_SpotPair], olds: Sequence[OldSpot], news: Sequence[NewSpot]) -> list[_SpotPair]:
    """The same old and new ones, but for those on their own line paired in the order given."""
    fixed = [(old, new) for old, new in pairs if old.anchored and old.position == new.position]
    loose = [pair for pair in pairs if not (pair[0].anchored and pair[0].position == pair[1].position)]
    loose_olds, loose_news = {old.index for old, _ in loose}, {new.index for _, new in loose}
    in_order = zip(
        (old for old in olds if old.index in loose_olds),
        (new for new in news if new.index in loose_news),
        strict=True,
    )
    return [*fixed, *in_order]


def _without(olds: Sequence[OldSpot], pairs: Sequence[_SpotPair]) -> list[OldSpot]:
    paired = {old.index for old, _ in pairs}
    return [old for old in olds if old.index not in paired]


def _doubtful(unpaired: Iterable[OldSpot], pairs: Sequence[_SpotPair]) -> frozenset[int]:
    """Unpaired old ones that nothing but order told from a paired one.

    Another one was paired with what is on its own line, or on the line where an equally good diff has
    it. For a changed line: a paired one was as far from the same new place; or both were in one changed stretch that
    grew or shrank, where a distance is an estimate and proves nothing.
    """
    own_lines: set[int] = set()
    equal_claims: set[int] = set()
    blurred: set[LineGap] = set()
    for old, new in pairs:
        if old.anchored and old.position == new.position:
            own_lines.add(new.position)
            continue
        distance = abs(new.position - old.position)
        equal_claims |= {new.position - distance, new.position + distance}
        if old.gap is not None and old.gap.old_count != old.gap.new_count:
            blurred.add(old.gap)
    return frozenset(
        old.index
        for old in unpaired
        if old.rival in own_lines
        or (old.position in own_lines if old.anchored else old.position in equal_claims or old.gap in blurred)
    )


class _SpotLine:
    """All places of old and new candidates in order, as a linked list that places drop out of."""

    def __init__(self, olds: Iterable[OldSpot], news: Iterable[NewSpot]) -> None:
        self.olds: dict[int, list[OldSpot]] = defaultdict(list)
        self.news: dict[int, list[NewSpot]] = defaultdict(list)
        for old in olds:
            self.olds[old.position].append(old)
        for new in news:
            self.news[new.position].append(new)
        self.positions = sorted({*self.olds, *self.news})
        self.before = dict(zip(self.positions[1:], self.positions, strict=False))
        self.after = dict(zip(self.positions, self.positions[1:], strict=False))

    def take(self, old_at: int, new_at: int) -> list[_SpotPair]:
        """As many pairs of two places as there are, in order, leaving those that face other places."""
        olds, news = self.olds[old_at], self.news[new_at]
        count = min(len(olds), len(news))
        if old_at <= new_at:
            taken = list(zip(olds[:count], news[len(news) - count :], strict=True))
            self.olds[old_at], self.news[new_at] = olds[count:], news[: len(news) - count]
        else:
            taken = list(zip(olds[len(olds) - count :], news[:count], strict=True))
            self.olds[old_at], self.news[new_at] = olds[: len(olds) - count], news[count:]
        return taken

    def drop_if_empty(self, position: int) -> None:
        if self.olds.get(position) or self.news.get(position):
            return
        before, after = self.before.pop(position, None), self.after.pop(position, None)
        if before is not None:
            self.after.pop(before, None)
        if after is not None:
            self.before.pop(after, None)
        if before is not None and after is not None:
            self.before[after], self.after[before] = before, after

    def candidate(self, left: int, right: int) -> tuple[int, int, int] | None:
        """Distance, old place, new place of two neighbours, where one can be paired with the other."""
        if self.olds.get(left) and self.news.get(right):
            return (right - left, left, right)
        if self.news.get(left) and self.olds.get(right):
            return (right - left, right, left)
        return None


def _pair_by_distance(olds: Sequence[OldSpot], news: Sequence[NewSpot], within: int | None) -> list[_SpotPair]:
    """The nearest pair first, the upper one where two are as near, until none is left."""
    line = _SpotLine(olds, news)
    pairs: list[_SpotPair] = []
    for position in line.positions:
        pairs += line.take(position, position)
        line.drop_if_empty(position)
    left = list(line.after.items())
    heap = [found for pair in left if (found := line.candidate(*pair)) is not None]
    heapq.heapify(heap)
    while heap:
        distance, old_at, new_at = heapq.heappop(heap)
        if within is not None and distance > within:
            break
        first, second = min(old_at, new_at), max(old_at, new_at)
        if line.after.get(first) != second:
            continue  # one of them has dropped out since
        pairs += line.take(old_at, new_at)
        before, after = line.before.get(first), line.after.get(second)
        line.drop_if_empty(first)
        line.drop_if_empty(second)
        for pair in _neighbours(line, before, first, second, after):
            found = line.candidate(*pair)
            if found is not None:
                heapq.heappush(heap, found)
    return pairs


def _neighbours(
    line: _SpotLine, before: int | None, first: int, second: int, after: int | None
) -> list[tuple[int, int]]:
    """The pairs of neighbours that dropping one or both of two places has made."""
    run = [place for place in (before, first, second, after) if place is not None]
    alive = [place for place in run if line.olds.get(place) or line.news.get(place)]
    return list(pairwise(alive))
