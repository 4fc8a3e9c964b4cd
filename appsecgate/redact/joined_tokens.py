"""Tokens with a known prefix that are put together out of literals, or written with escapes: masked part by part."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from appsecgate.redact.joined import pieces_in_base
from appsecgate.redact.patterns import TOKEN_PATTERNS, TokenPattern, may_start_token
from appsecgate.redact.spans import Span, SpanRank
from appsecgate.spelling import Respelled

_LONGEST_EXACT = 64
"""Characters of any token that has one length."""
_NOT_GOING_ON = r"(?![A-Za-z0-9])"
"""How the forms of such tokens end; in a reading the next literal may begin there."""
_FARTHEST_SEAM = 600
"""Characters from the start of a token to the first seam in it: prefix and form are shorter up to there."""


def find_joined_tokens(reading: Respelled) -> Iterator[Span]:
    """The parts in the base of every token of the table that crosses a seam of the reading."""
    finder = _JoinedTokens(reading)
    for pattern in TOKEN_PATTERNS:
        for prefix in pattern.prefixes:
            yield from finder.spans(pattern, prefix)


class _JoinedTokens:
    """A reading and where its seams are."""

    def __init__(self, reading: Respelled) -> None:
        self.reading = reading
        self.starts = [start for start, _, _, _ in reading.places]
        self.part_starts = frozenset(end for _, end, _, _ in reading.places)
        base = reading.base
        self.lists = [start for start, _, first, last in reading.places if "," in base[first:last]]
        """Seams between the members of a list: most often they are texts of their own."""

    def spans(self, pattern: TokenPattern, prefix: str) -> Iterator[Span]:
        text = self.reading.text
        position = text.find(prefix)
        while position >= 0:
            after = position + len(prefix)
            if self._may_cross(position) and self._may_start(position, pattern, prefix):
                match = self._match(position, pattern)
                if match is not None:
                    after = match.end()
                    yield from self._parts(match, pattern)
            position = text.find(prefix, after)

    def _may_cross(self, position: int) -> bool:
        index = bisect_left(self.starts, position)
        if index < len(self.starts) and self.starts[index] == position and position in self.part_starts:
            index += 1
        return index < len(self.starts) and self.starts[index] - position < _FARTHEST_SEAM

    def _may_start(self, position: int, pattern: TokenPattern, prefix: str) -> bool:
        return position in self.part_starts or may_start_token(self.reading.text, position, pattern, prefix)

    def _match(self, position: int, pattern: TokenPattern) -> re.Match[str] | None:
        """The token, up to the first end of a part where it is whole: of any part, or of a member of a list."""
        text, form = self.reading.text, pattern.form
        if pattern.exact:
            if not re.compile(form.pattern.removesuffix(_NOT_GOING_ON)).match(text, position):
                return None
            last = bisect_right(self.starts, position + _LONGEST_EXACT)
            stops = [*self.starts[bisect_right(self.starts, position) : last], len(text)]
            found = next((match for stop in stops if (match := form.match(text, position, stop))), None)
        else:
            found = form.match(text, position)
            found = self._shortened(found, form) if found else None
        return found if found and (pattern.check is None or pattern.check(found[0])) else None

    def _shortened(self, found: re.Match[str], form: re.Pattern[str]) -> re.Match[str]:
        stops = self.lists[bisect_right(self.lists, found.start()) : bisect_left(self.lists, found.end())]
        low, high = 0, len(stops)
        while low < high:
            middle = (low + high) // 2
            shorter = form.match(self.reading.text, found.start(), stops[middle])
            if shorter is None:
                low = middle + 1
            else:
                found, high = shorter, middle
        return found

    def _parts(self, match: re.Match[str], pattern: TokenPattern) -> Iterator[Span]:
        start, end = match.span(1 if pattern.form.groups else 0)
        secret = self.reading.text[start:end]
        pieces = pieces_in_base(self.reading, (start, end))
        if [self.reading.base[first:last] for first, last in pieces] != [secret]:
            for first, last in pieces:
                yield Span(first, last, pattern.kind, SpanRank.VENDOR, secret)
