"""Where a flagged secret stands: by its columns, by its hash, or else every literal of its lines."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from appsecgate.model import Category, Hit
from appsecgate.redact.assignments import Dialect, find_assignments
from appsecgate.redact.blocks import PRIVATE_KEY_MARK, find_private_keys
from appsecgate.redact.entropy import find_random
from appsecgate.redact.kinds import SecretKind
from appsecgate.redact.names import is_vocabulary
from appsecgate.redact.spans import LineTable, Span, SpanRank

HARDCODED_SECRET_CWES = frozenset(("798", "259", "321"))
"""Hard-coded credentials, password, cryptographic key: a finding with these is about a secret."""

SHORT_SECRET = 6
"""Shorter values are masked only where they were flagged."""

_MAX_LINES = 200
_MAX_LINE_CHARS = 100_000
_MAX_HASHES = 20_000
_LITERAL_ON_LINE = re.compile(r"""\"((?:[^"\\\n]|\\.)*)\"|'((?:[^'\\\n]|\\.)*)'|`([^`\n]*)`|["'`]([^\n]*)""")
_AFTER_SIGN = re.compile(r"[=:]\s{0,20}([^\n]+)")
_EDGE = re.compile(r"\s+|[A-Za-z0-9_]+|[^\sA-Za-z0-9_]")
_WORD_CHARS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_MAX_REACH = 512


@dataclass(frozen=True, slots=True, repr=False)
class Located:
    """What is masked on behalf of a hit. ``place`` is the secret itself, where that is known exactly."""

    spans: tuple[Span, ...]
    place: tuple[int, int] | None = None


def is_about_secret(hit: Hit) -> bool:
    """A hit whose flagged code holds a secret, whichever scanner says so."""
    if hit.category is Category.SECRET:
        return True
    return any(number in HARDCODED_SECRET_CWES for cwe in hit.cwe for number in re.findall(r"\d{1,6}", cwe[:40])[:1])


def locate_secret(text: str, table: LineTable, hit: Hit) -> Located:
    """The spans to mask for ``hit``; never raises, whatever lines and columns it names."""
    lines = _bounded(text, *table.line_span(hit.line_start, min(hit.line_end, hit.line_start + _MAX_LINES)))
    region = lines
    if hit.col_start is not None or hit.col_end is not None:
        region = _bounded(text, *table.char_span(hit.line_start, hit.col_start, hit.line_end, hit.col_end))
    place = _exact_place(text, hit, lines, region)
    if place is not None and PRIVATE_KEY_MARK.fullmatch(text[place[0] : place[1]][:100]):
        return Located((), place)
    if PRIVATE_KEY_MARK.match(text, *region):
        return Located(tuple(_key_block(text, *region)))
    spans: list[Span] = []
    if place is not None:
        start, end = _whole_word(text, *place)
        common = len(text[start:end]) < SHORT_SECRET or is_vocabulary(text[start:end])
        kind, rank = (SecretKind.LITERAL, SpanRank.LITERAL) if common else (SecretKind.SECRET, SpanRank.LOCATED)
        spans.append(Span(start, end, kind, rank))
    elif hit.category is Category.SECRET:
        spans += _every_literal(text, *lines)
        spans += _region_span(text, lines, region)
    else:
        inside = _is_enclosed(text, *region)
        spans += [Span(*region, SecretKind.SECRET, SpanRank.LOCATED)] if inside else _literals(text, *region)
    if hit.category is Category.SECRET:
        spans += _strict_spans(text, *lines)
    return Located(tuple(spans), place)


def _bounded(text: str, start: int, end: int) -> tuple[int, int]:
    return start, min(end, start + _MAX_LINE_CHARS, len(text))


def _exact_place(text: str, hit: Hit, lines: tuple[int, int], region: tuple[int, int]) -> tuple[int, int] | None:
    """The secret's own range: the columns where they hold exactly it, else where its hash says."""
    start, end = region
    if hit.secret_sha1:
        if _has_hash(text[start:end], hit.secret_sha1):
            return region
        return next(
            (place for place in _hash_candidates(text, *lines) if _has_hash(text[slice(*place)], hit.secret_sha1)),
            None,
        )
    if hit.category is not Category.SECRET or region == lines or start >= end:
        return None
    return region if _is_enclosed(text, start, end) or not re.search(r"[\"'`\n]", text[start:end]) else None


def _has_hash(value: str, sha1: str) -> bool:
    digest = hashlib.sha1(value.encode("utf-8", "surrogatepass"), usedforsecurity=False)
    return digest.hexdigest() == sha1.lower()


def _hash_candidates(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Ranges in which the secret may be, the likely ones first, at most ``_MAX_HASHES``."""
    budget = _MAX_HASHES
    for place in (*literal_ranges(text, start, end), *value_ranges(text, start, end)):
        budget -= 1
        yield place
    edges = sorted({edge for match in _EDGE.finditer(text, start, end) for edge in match.span()})
    for reach in range(1, len(edges)):
        for begin, stop in zip(edges, edges[reach:], strict=False):
            budget -= 1
            if budget < 0:
                return
            if stop - begin <= _MAX_REACH:
                yield begin, stop


def literal_ranges(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The contents of the literals in a part of the text that begins at the start of a line."""
    matches = _LITERAL_ON_LINE.finditer(text, start, end)
    return [match.span(match.lastindex or 0) for match in matches if match[match.lastindex or 0]]


def value_ranges(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """What follows the first ``=`` or ``:`` of each line."""
    ranges: list[tuple[int, int]] = []
    at = start
    for line in text[start:end].split("\n"):
        match = _AFTER_SIGN.search(line)
        if match:
            ranges.append((at + match.start(1), at + len(line.rstrip())))
        at += len(line) + 1
    return ranges


def _whole_word(text: str, start: int, end: int) -> tuple[int, int]:
    """The range, widened so that no part of a longer token is left: some scanners hash a prefix alone."""
    first = max(start - _MAX_REACH, 0)
    lead, rest = text[first:start], text[end : end + _MAX_REACH]
    if text[start : start + 1] in _WORD_CHARS:
        start -= len(lead) - len(lead.rstrip("".join(_WORD_CHARS)))
    if text[end - 1 : end] in _WORD_CHARS:
        end += len(rest) - len(rest.lstrip("".join(_WORD_CHARS)))
    return start, end


def _key_block(text: str, start: int, end: int) -> Iterator[Span]:
    """A flagged key block, from its first line to its last: what is between them, whatever it looks like."""
    found = False
    for span in find_private_keys(text[start:end]):
        found = True
        yield replace(span, start=span.start + start, end=span.end + start)
    if not found:
        inner = PRIVATE_KEY_MARK.sub("\0", text[start:end]).split("\0")
        body = max(inner, key=len)
        begin = text.index(body, start)
        yield Span(begin, begin + len(body), SecretKind.PRIVATE_KEY, SpanRank.STRUCTURE)


def _every_literal(text: str, start: int, end: int) -> Sequence[Span]:
    """Every literal; on lines without one what follows the sign; else the line."""
    found = _literals(text, start, end)
    ranges = [] if found else value_ranges(text, start, end) or [(start, end)]
    return found or [Span(begin, stop, SecretKind.LITERAL, SpanRank.LITERAL) for begin, stop in ranges]


def _literals(text: str, start: int, end: int) -> list[Span]:
    return [
        Span(begin, stop, SecretKind.LITERAL, SpanRank.LITERAL) for begin, stop in literal_ranges(text, start, end)
    ]


def _is_enclosed(text: str, start: int, end: int) -> bool:
    """The range is the content of a literal."""
    quote = text[start - 1 : start] if start else ""
    return start < end and quote in ("'", '"', "`") and text[end : end + 1] == quote and quote not in text[start:end]


def _region_span(text: str, lines: tuple[int, int], region: tuple[int, int]) -> list[Span]:
    """The columns of a hit whose hash is elsewhere, unless they hold literals or are the whole line."""
    start, end = region
    if region == lines or start >= end or re.search(r"[\"'`]", text[start:end]):
        return []
    return [Span(*_whole_word(text, start, end), SecretKind.LITERAL, SpanRank.LITERAL)]


def _strict_spans(text: str, start: int, end: int) -> Iterator[Span]:
    """On a flagged line nothing is exempt."""
    part = text[start:end]
    for span in (*find_random(part, exempt=False), *find_assignments(part, Dialect.UNKNOWN, strict=True)):
        yield Span(span.start + start, span.end + start, span.kind, span.rank)
