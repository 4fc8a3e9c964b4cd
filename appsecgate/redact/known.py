"""Secrets that were seen before, recognised by length and keyed digest, without being stored."""

import re
from collections.abc import Callable, Iterable, Iterator

from appsecgate.redact.kinds import SecretKind, known_kind
from appsecgate.redact.names import SECRET_WORD
from appsecgate.redact.spans import Span, SpanRank

_MAX_DIGESTS = 100_000
"""Different candidates whose HMAC is computed for one text, about 0.2 s: beyond that only patterns mask."""

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
