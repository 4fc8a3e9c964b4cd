"""Secrets that were seen before, recognised by length and keyed digest, without being stored."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator

from appsecgate.redact.joined import find_joined, pieces_in_base
from appsecgate.redact.kinds import SecretKind, known_kind
from appsecgate.redact.locate import literal_ranges, value_ranges
from appsecgate.redact.names import SECRET_WORD
from appsecgate.redact.spans import Span, SpanRank
from appsecgate.spelling import Respelled

_MAX_DIGESTS = 100_000
"""Different candidates whose HMAC is computed for one text, about 0.2 s. Beyond that every literal is masked."""

_MAX_JOINED_DIGESTS = 20_000
"""The same for values that are put together out of several literals."""

_REACH = 12
"""A candidate holds at most so many words and signs, unless it is a whole literal."""

_MAX_KNOWN_CHARS = 4096
_LITERAL_QUOTE = re.compile("[\"'`]")
_WORD_OR_SIGN = re.compile(r"\s+|[A-Za-z0-9_]+|[^\sA-Za-z0-9_]")
_WHOLE_LITERAL = re.compile(
    r"""(?<=")[^"\n]+(?=")|(?<=')[^'\n]+(?=')|(?<=`)[^`\n]+(?=`)|(?<=[=:>])[^\s"'`;,<]+|(?<=[=:] )[^\s"'`;,<]+"""
)


class KnownSecrets:
    """An index over marks (kind, length in characters, digest); immutable."""

    def __init__(self, marks: Iterable[tuple[str, int, str]], digest: Callable[[str], str]) -> None:
        self._digest = digest
        self._anywhere: dict[int, dict[str, SecretKind]] = {}
        self._beside_names: dict[int, dict[str, SecretKind]] = {}
        for name, length, digits in sorted(marks, reverse=True):
            kind = known_kind(name)
            table = self._beside_names if kind is SecretKind.LITERAL else self._anywhere
            if 0 < length <= _MAX_KNOWN_CHARS:
                table.setdefault(length, {})[digits] = kind

    def spans(self, text: str, reading: Respelled | None = None) -> Iterator[Span]:
        """Every place where a known secret stands between word edges, or as a literal; what is put together where it
        stands by ``reading``. What there was no time to look at is masked literal by literal."""
        if not self._anywhere and not self._beside_names:
            return
        if reading is not None and self._anywhere:
            yield from self._joined(reading)
        seen: dict[str, SecretKind | None] = {}
        for candidates, is_in_order in ((self._literals(text), False), (self._words(text), True)):
            for start, end, table in candidates:
                value = text[start:end]
                if value not in seen:
                    if len(seen) >= _MAX_DIGESTS:
                        yield from _coarse_spans(text, start if is_in_order else 0, bare=True)
                        return
                    seen[value] = table[end - start].get(self._digest(value))
                kind = seen[value]
                if kind is not None:
                    rank = SpanRank.LITERAL if kind is SecretKind.LITERAL else SpanRank.REPEATED
                    yield Span(start, end, kind, rank)

    def lengths_of(self, digests: Collection[str]) -> frozenset[int]:
        """How many characters the secrets with these digits have."""
        tables = (self._anywhere, self._beside_names)
        return frozenset(
            length for table in tables for length, known in table.items() if not known.keys().isdisjoint(digests)
        )

    def _joined(self, reading: Respelled) -> Iterator[Span]:
        """The parts of known secrets that are put together out of several literals, or hold escapes."""

        def is_known(value: str) -> bool:
            return self._digest(value) in self._anywhere[len(value)]

        for place, value in find_joined(reading, frozenset(self._anywhere), is_known, _MAX_JOINED_DIGESTS):
            if value is None:
                yield from _coarse_spans(reading.base, reading.offset_in_base(place[0], is_end=False), bare=False)
                return
            kind = self._anywhere[len(value)][self._digest(value)]
            for start, end in pieces_in_base(reading, place):
                yield Span(start, end, kind, SpanRank.REPEATED, value)

    def _literals(self, text: str) -> Iterator[tuple[int, int, dict[int, dict[str, SecretKind]]]]:
        for match in _WHOLE_LITERAL.finditer(text):
            length = match.end() - match.start()
            if length in self._anywhere:
                yield match.start(), match.end(), self._anywhere
            if length in self._beside_names and _beside_name(text, match.start()):
                yield match.start(), match.end(), self._beside_names

    def _words(self, text: str) -> Iterator[tuple[int, int, dict[int, dict[str, SecretKind]]]]:
        if self._anywhere:
            for start, end in word_ranges(text, frozenset(self._anywhere)):
                yield start, end, self._anywhere


def _coarse_spans(text: str, offset: int, *, bare: bool) -> Iterator[Span]:
    """Every literal from the line of this offset on; ``bare``: on lines without one what follows the sign, else all."""
    start = text.rfind("\n", 0, offset) + 1
    for line in text[start:].split("\n") if bare else ():
        if not _LITERAL_QUOTE.search(line):
            for begin, end in value_ranges(line, 0, len(line)) or [(0, len(line))]:
                if start + end > offset:
                    yield Span(max(start + begin, offset), start + end, SecretKind.LITERAL, SpanRank.LITERAL)
        start += len(line) + 1
    start = text.rfind("\n", 0, offset) + 1
    for begin, end in literal_ranges(text, start, len(text)):
        yield Span(begin, end, SecretKind.LITERAL, SpanRank.LITERAL)


def word_ranges(text: str, lengths: frozenset[int]) -> Iterator[tuple[int, int]]:
    """Ranges of these lengths that start and end at the edges of words or signs."""
    ends = [match.end() for match in _WORD_OR_SIGN.finditer(text)]
    longest = max(lengths)
    start = 0
    for index, edge in enumerate(ends):
        for end in ends[index : index + _REACH]:
            if end - start > longest:
                break
            if end - start in lengths:
                yield start, end
        start = edge


def _beside_name(text: str, at: int) -> bool:
    """The line, as far as 200 characters before this place, speaks of a secret."""
    return bool(SECRET_WORD.search(text[max(at - 200, 0) : at].rpartition("\n")[2]))
