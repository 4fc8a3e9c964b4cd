"""The redactor: masks secrets in texts, JSON values and whole files."""

import hmac
import itertools
import math
import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from appsecgate.errors import ConfigError
from appsecgate.model import Hit, Json
from appsecgate.redact.assignments import Dialect, dialect_of, find_assignments, is_secret_value
from appsecgate.redact.blocks import find_private_keys
from appsecgate.redact.cleaning import clean_text
from appsecgate.redact.connections import find_connections
from appsecgate.redact.entropy import find_base64_keys, find_random, looks_random
from appsecgate.redact.joined import joined_reading
from appsecgate.redact.joined_tokens import find_joined_tokens
from appsecgate.redact.kinds import SECRET_PLACEHOLDER, SecretKind, known_kind
from appsecgate.redact.known import KnownSecrets, word_ranges
from appsecgate.redact.locate import SHORT_SECRET, Located, is_about_secret, locate_secret
from appsecgate.redact.names import is_vocabulary
from appsecgate.redact.patterns import find_prefixed_tokens, find_tokens, may_hold_token
from appsecgate.redact.spans import Edits, LineTable, Span, SpanRank, resolve_spans
from appsecgate.workspace import Source

_MAX_PASSES = 6
"""Masking is repeated on its own result until nothing more is found; two passes are the rule."""

_MAX_REPEATED = 300
"""Values whose further occurrences in the same file are searched character by character."""

_MAX_MARKS = 1_000
_MAX_DEPTH = 32
_CACHED_CHARS = 2_000
_CACHED_TEXTS = 512

_SHORTEST_TOKEN = 12
"""Characters: no name that is shorter holds a token."""
_NO_WORD = re.compile("[A-Z0-9]")
_NAME_ENDINGS = re.compile(r"(?:\.[A-Za-z][A-Za-z0-9]{0,9}){0,3}\Z")
"""Of a file's name: they say what kind of file it is, so no token may swallow them."""

_Place = tuple[int, int, str | None]


@dataclass(frozen=True, slots=True)
class SecretMark:
    """How a secret is recognised again: its length in characters and the digits of its placeholder."""

    kind: str
    length: int
    digest: str


class Masked:
    """A file after masking, and where its original lines and columns are now. It holds nothing raw."""

    __slots__ = ("_edits", "_places", "_table", "lines", "marks")

    def __init__(
        self,
        edits: Edits,
        table: LineTable,
        lines: tuple[str, ...],
        marks: tuple[SecretMark, ...],
        places: dict[_Place, tuple[int, int]],
    ) -> None:
        self.lines = lines
        """The masked lines, without control characters; as many as the file has."""
        self.marks = marks
        """How this file's secrets are recognised elsewhere and later."""
        self._edits = edits
        self._table = table
        self._places = places

    def text(self, line_start: int, line_end: int) -> str:
        """These lines (1-based, inclusive, clamped to the file), joined by line ends."""
        return "\n".join(self.lines[max(line_start, 1) - 1 : max(line_end, 0)])

    def cut(self, line_start: int, col_start: int | None, line_end: int, col_end: int | None) -> str:
        """The masked text of a range given in lines and columns of the original; placeholders stay whole."""
        return self._between(*self._table.char_span(line_start, col_start, line_end, col_end))

    def secret_of(self, hit: Hit) -> str | None:
        """The placeholder of the secret that ``hit`` reports, where it was located exactly."""
        place = self._places.get((hit.line_start, hit.line_end, hit.secret_sha1))
        return None if place is None else self._between(*place)

    def _between(self, start: int, end: int) -> str:
        return self._edits.text[self._edits.start_in_new(start) : self._edits.end_in_new(end)] if start < end else ""


class Redactor:
    """Masks secrets under one key. Threads share it: nothing changes but its caches.

    A placeholder is ``[REDACTED:<kind>:<8 hex>]``; the digits are the first of an HMAC-SHA256 of the secret.
    Whoever has the key could find a weak secret from its digits and length by trying; the key stays in the
    data directory, and without it the digits tell nothing.
    """

    def __init__(self, key: bytes, *, known: Collection[SecretMark] = (), extra_patterns: Sequence[str] = ()) -> None:
        """``extra_patterns``: regular expressions of the human; group 1, else the match, is masked.

        Raises ``ConfigError`` for one that does not compile.
        """
        self._key = key
        self._extra_patterns = tuple(extra_patterns)
        self._extra = tuple(_compiled(pattern) for pattern in extra_patterns)
        self._marks_known = frozenset(known)
        self._known = KnownSecrets(((mark.kind, mark.length, mark.digest) for mark in known), self.digest)
        self._cache: dict[tuple[str, bool], str] = {}
        self._derived: dict[tuple[SecretMark, ...], Redactor] = {}

    def digest(self, secret: str) -> str:
        """Eight hex digits of the HMAC-SHA256 of ``secret`` under the key."""
        return hmac.digest(self._key, secret.encode("utf-8", "surrogatepass"), "sha256").hex()[:8]

    def lengths_of(self, digests: Collection[str]) -> frozenset[int]:
        """How many characters those known secrets have whose placeholders show these digits."""
        return self._known.lengths_of(digests)

    def placeholder(self, kind: str, secret: str) -> str:
        """What stands in place of ``secret``; an unknown kind becomes ``secret``."""
        return f"[REDACTED:{known_kind(kind)}:{self.digest(secret)}]"

    def with_known(self, marks: Collection[SecretMark]) -> "Redactor":
        """A redactor that recognises these secrets too."""
        if self._marks_known.issuperset(marks):
            return self
        key = tuple(marks)
        derived = self._derived.get(key)
        if derived is None:
            union = self._marks_known.union(marks)
            derived = Redactor(self._key, known=union, extra_patterns=self._extra_patterns)
            self._derived = {key: derived}  # the findings of one file come one after the other
        return derived

    def text(self, text: str, *, entropy: bool = False) -> str:
        """``text`` with its secrets masked: line count kept, placeholders left alone, idempotent.

        ``entropy`` masks whatever looks random as well, except evident digests, ids, names, paths and URLs.
        """
        cached = self._cache.get((text, entropy))
        if cached is not None:
            return cached
        spans = self._to_fixpoint(text, (), lambda part: self._find(part, Dialect.UNKNOWN, entropy))
        masked = Edits(text, spans, self._mask).text if spans else text
        if len(text) <= _CACHED_CHARS and len(self._cache) < _CACHED_TEXTS:
            self._cache[text, entropy] = masked
        return masked

    def name(self, name: str) -> str:
        """A file's or directory's name without the tokens that their prefix gives away, and no others: what a build
        makes has random names. What already looks like a placeholder is masked whole, endings aside, so that no file
        can be taken for another by its name."""
        if len(name) < _SHORTEST_TOKEN or not (may_hold_token(name) or "[REDACTED:" in name):
            return name
        endings = _NAME_ENDINGS.search(name)
        stem = name[: endings.start()] if endings else name
        if "[REDACTED:" in name:
            return self.placeholder(SecretKind.CUSTOM, name) + name[len(stem) :]
        # all of them hold digits or capitals, or nearly; without any, it is words
        found = resolve_spans(stem, find_prefixed_tokens(stem))
        spans = [span for span in found if _NO_WORD.search(stem, span.start, span.end)]
        return Edits(stem, spans, self._mask).text + name[len(stem) :] if spans else name

    def identifier(self, name: str) -> str:
        """A name in code without the tokens that their prefix gives away, and without known secrets: a qualified name,
        a scope. Other names stay as they are, however random they look, since identities are made of them."""
        if len(name) < SHORT_SECRET:
            return name
        tokens = (span for span in find_prefixed_tokens(name) if _NO_WORD.search(name, span.start, span.end))
        spans = resolve_spans(name, [*tokens, *self._known.spans(name)])
        return Edits(name, spans, self._mask).text if spans else name

    def json(self, value: Json) -> Json:
        """``value`` with every string in it masked, keys too; what a secret's name keys is masked whole.

        Lists of strings are read as the lines of one text. Deeper than 32 levels is dropped; a float that
        is no number becomes a string, since JSON has none.
        """
        return self._json(value, "", 0)

    def mask_source(self, source: Source, hits: Sequence[Hit]) -> Masked:
        """The whole file masked once: patterns, randomness, known secrets, and what the hits report.

        The values found are masked wherever else they occur in the file.
        """
        text, table = source.text, LineTable(source.text)
        located = [(hit, locate_secret(text, table, hit)) for hit in _distinct(hits)]
        flagged = resolve_spans(text, (span for _, found in located for span in found.spans))
        dialect = dialect_of(source.path)
        spans = resolve_spans(text, [*flagged, *self._find(text, dialect, True)])
        spans = resolve_spans(text, [*spans, *self._repeated(text, spans, flagged)])
        spans = self._to_fixpoint(text, spans, lambda part: self._find(part, dialect, True))
        edits = Edits(text, spans, self._mask)
        return Masked(edits, table, self._lines(edits.text), self._marks(text, spans, flagged), _places(located))

    def _lines(self, masked: str) -> tuple[str, ...]:
        """Cleaned lines; masked again where a control character had been dividing something."""
        clean = clean_text(masked)
        return tuple((clean if clean == masked else self.text(clean, entropy=True)).split("\n"))

    def _mask(self, span: Span) -> str:
        return self.placeholder(span.kind, span.secret)

    def _find(self, text: str, dialect: Dialect, entropy: bool) -> Iterator[Span]:
        yield from find_tokens(text)
        yield from find_private_keys(text)
        yield from find_connections(text)
        yield from find_assignments(text, dialect)
        yield from find_base64_keys(text)
        for pattern in self._extra:
            for match in pattern.finditer(text):
                group = 1 if pattern.groups and match[1] is not None else 0
                yield Span(match.start(group), match.end(group), SecretKind.CUSTOM, SpanRank.STRUCTURE)
        reading = joined_reading(text)
        if reading is not None:
            yield from find_joined_tokens(reading)
        yield from self._known.spans(text, reading)
        if entropy:
            yield from find_random(text)

    def _to_fixpoint(self, text: str, spans: Iterable[Span], find: Callable[[str], Iterable[Span]]) -> list[Span]:
        """``spans`` and all that ``find`` finds, also in the masked text: so masking twice changes nothing."""
        done = list(spans)
        for _ in range(_MAX_PASSES):
            edits = Edits(text, done, self._mask)
            more = resolve_spans(edits.text, find(edits.text))
            if not more:
                break
            done = resolve_spans(text, [*done, *(edits.in_original(span) for span in more)])
        return done

    def _repeated(self, text: str, spans: Sequence[Span], flagged: Sequence[Span]) -> Iterator[Span]:
        """Further occurrences of the values found: of ``_MAX_REPEATED``, the flagged ones first, wherever they stand,
        and of the others between the edges of words and signs."""
        values: dict[str, Span] = {}
        for span in sorted(spans, key=lambda span: not _overlaps(flagged, span)):
            value = text[span.start : span.end]
            if _is_telling(span, value, _overlaps(flagged, span)):
                values.setdefault(value, span)
        for value, span in itertools.islice(values.items(), _MAX_REPEATED):
            form = re.escape(value)
            bounded = f"(?<![A-Za-z0-9]){form}(?![A-Za-z0-9])" if value.isalpha() else form
            for match in re.finditer(bounded, text):
                yield Span(match.start(), match.end(), span.kind, span.rank, span.secret)
        if len(values) > _MAX_REPEATED:
            for start, end in word_ranges(text, frozenset(map(len, values))):
                found = values.get(text[start:end])
                if found is not None:
                    yield Span(start, end, found.kind, found.rank, found.secret)

    def _marks(self, text: str, spans: Sequence[Span], flagged: Sequence[Span]) -> tuple[SecretMark, ...]:
        marks: dict[SecretMark, None] = {}
        for span in sorted(spans, key=lambda span: not _overlaps(flagged, span)):
            value = text[span.start : span.end]
            by_hit = _overlaps(flagged, span)
            if span.secret == value and len(marks) < _MAX_MARKS:
                if _is_telling(span, value, by_hit):
                    marks.setdefault(SecretMark(span.kind, len(value), self.digest(value)))
                elif by_hit:
                    marks.setdefault(SecretMark(SecretKind.LITERAL, len(value), self.digest(value)))
        return tuple(marks)

    def _json(self, value: Json, name: str, depth: int) -> Json:
        if depth > _MAX_DEPTH:
            return None
        if isinstance(value, str):
            return self._named(name, value)
        if isinstance(value, float) and not math.isfinite(value):
            return str(value)
        if isinstance(value, list):
            texts = [item for item in value if isinstance(item, str)]
            if len(texts) == len(value) and not name:
                return list(self._text_list(texts))
            return [self._json(item, name, depth + 1) for item in value]
        if isinstance(value, dict):
            return {self.text(key): self._json(item, _name_of(value, key), depth + 1) for key, item in value.items()}
        if isinstance(value, int) and not isinstance(value, bool) and is_secret_value(name, str(value)):
            return self.placeholder(SecretKind.SECRET, str(value))
        return value

    def _named(self, name: str, value: str) -> str:
        masked = self.text(value)
        if not name or not is_secret_value(name, SECRET_PLACEHOLDER.sub("", masked)):
            return masked
        whole = Span(0, len(masked), SecretKind.SECRET, SpanRank.NAMED)
        return Edits(masked, resolve_spans(masked, [whole]), self._mask).text

    def _text_list(self, texts: Sequence[str]) -> Iterator[str]:
        lines = self.text("\n".join(texts)).split("\n")
        at = 0
        for text in texts:
            count = text.count("\n") + 1
            yield "\n".join(lines[at : at + count])
            at += count


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ConfigError(f"not a regular expression: {pattern!r} ({error}).") from error


def _distinct(hits: Sequence[Hit]) -> list[Hit]:
    """The hits about secrets, one for each place and hash."""
    places: dict[tuple[object, ...], Hit] = {}
    for hit in hits:
        if is_about_secret(hit):
            key = (hit.line_start, hit.col_start, hit.line_end, hit.col_end, hit.secret_sha1, hit.category)
            places.setdefault(key, hit)
    return list(places.values())


def _places(located: Sequence[tuple[Hit, Located]]) -> dict[_Place, tuple[int, int]]:
    return {
        (hit.line_start, hit.line_end, hit.secret_sha1): found.place
        for hit, found in located
        if found.place is not None and hit.secret_sha1
    }


def _overlaps(flagged: Sequence[Span], span: Span) -> bool:
    """Whether any of the sorted, disjoint ``flagged`` touches ``span``."""
    index = bisect_left(flagged, span.end, key=lambda other: other.start) - 1
    return index >= 0 and flagged[index].end > span.start


def _is_telling(span: Span, value: str, by_hit: bool) -> bool:
    """The value is a secret wherever it stands: not short, no common word, nothing that merely looked random."""
    if span.rank is SpanRank.LITERAL or len(value) < SHORT_SECRET or is_vocabulary(value):
        return False
    if by_hit or span.rank is SpanRank.VENDOR:
        return True
    return span.rank in (SpanRank.NAMED, SpanRank.STRUCTURE) and looks_random(value)


def _name_of(value: dict[str, Json], key: str) -> str:
    """The name that says what ``value[key]`` is: the key, or its neighbour in ``{"name": …, "value": …}``."""
    if key.lower() in ("value", "default"):
        for other in ("name", "key", "Name", "Key"):
            named = value.get(other)
            if isinstance(named, str):
                return named
    return key
