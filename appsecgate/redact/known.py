"""Secrets that were seen before, recognised by length and keyed digest, without being stored."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator

from appsecgate.redact.joined import find_joined, joined_reading, pieces_in_base
from appsecgate.redact.kinds import SecretKind, known_kind
from appsecgate.redact.names import SECRET_WORD
from appsecgate.redact.spans import Span, SpanRank

_MAX_DIGESTS = 100_000
"""Different candidates whose HMAC is computed for one text, about 0.2 s: beyond that only patterns mask."""

_MAX_JOINED_DIGESTS = 20_000
"""The same for values that are put together out of several literals."""

_MAX_SEAMS = 50_000

_REACH = 12
"""A candidate holds at most so many words and signs, unless it is a whole literal."""

_MAX_KNOWN_CHARS = 4096
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

    def spans(self, text: str) -> Iterator[Span]:
        """Every place where a known secret stands between word edges, or as a literal."""
        if not self._anywhere and not self._beside_names:
            return
        yield from self._joined(text)
        seen: dict[str, SecretKind | None] = {}
        for start, end, table in self._candidates(text):
            value = text[start:end]
            if value not in seen:
                if len(seen) >= _MAX_DIGESTS:
                    return
                seen[value] = table[end - start].get(self._digest(value))
            kind = seen[value]
            if kind is not None:
                yield Span(start, end, kind, SpanRank.LITERAL if kind is SecretKind.LITERAL else SpanRank.REPEATED)

    def lengths_of(self, digests: Collection[str]) -> frozenset[int]:
        """How many characters the secrets with these digits have."""
        tables = (self._anywhere, self._beside_names)
        return frozenset(
            length for table in tables for length, known in table.items() if not known.keys().isdisjoint(digests)
        )

    def _joined(self, text: str) -> Iterator[Span]:
        """The parts of known secrets that are put together out of several literals, or hold escapes."""
        reading = joined_reading(text, _MAX_SEAMS) if self._anywhere else None
        if reading is None:
            return
        lengths = frozenset(self._anywhere)

        def is_known(value: str) -> bool:
            return self._digest(value) in self._anywhere[len(value)]

        for place, value in find_joined(reading, lengths, is_known, _MAX_JOINED_DIGESTS):
            kind = self._anywhere[len(value)][self._digest(value)]
            for start, end in pieces_in_base(reading, place):
                yield Span(start, end, kind, SpanRank.REPEATED, value)

    def _candidates(self, text: str) -> Iterator[tuple[int, int, dict[int, dict[str, SecretKind]]]]:
        for match in _WHOLE_LITERAL.finditer(text):
            length = match.end() - match.start()
            if length in self._anywhere:
                yield match.start(), match.end(), self._anywhere
            if length in self._beside_names and _beside_name(text, match.start()):
                yield match.start(), match.end(), self._beside_names
        if self._anywhere:
            for start, end in _word_ranges(text, frozenset(self._anywhere)):
                yield start, end, self._anywhere


def _word_ranges(text: str, lengths: frozenset[int]) -> Iterator[tuple[int, int]]:
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
