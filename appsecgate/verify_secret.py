"""Whether a text holds a known secret in another form: in parts, with escapes, encoded, backwards, as numbers.

The secret itself is known by its length and its keyed digest alone. So each form is undone, and what comes out is put
to the test at the edges of its words. What a program computes in a way of its own is not undone.
"""

import base64
import binascii
import itertools
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from appsecgate.identity.lines import line_hashes, split_line_hashes
from appsecgate.model import Finding
from appsecgate.redact.joined import Stretch, find_joined, joined_reading, scattered_readings, without_escapes
from appsecgate.redact.redactor import Redactor
from appsecgate.workspace import Source, source_from_bytes

MAX_SEARCHED_CHARS = 1_000_000
"""Of a file that is searched for a known secret."""
MAX_TESTS = 300_000
"""Values that are put to the test in one file, about half a second: beyond that nobody knows."""
MAX_NUMBERS = 5_000
"""In a row: more are data, no text."""
MARGIN_LINES = 12
"""Lines around new ones that are read with them: parts may stand there since before."""

_SHORTEST = 6
"""Characters: what is shorter is put together by chance."""
_KEY_LINE_CHARS = 24
_ENCODED = re.compile(r"[A-Za-z0-9+/_-]{6,20000}+={0,2}")
_BASE16 = re.compile(r"(?:[0-9a-fA-F]{2}){4,10000}")
_ANY_LINE = re.compile(r"[^\n]*+\n?")
_ANY_LITERAL = re.compile(r"\"([^\"\n]*+)\"|'([^'\n]*+)'|`([^`\n]*+)`|([^\s\"'`=:,;]++)")
_CHAR_CODE = re.compile(r"\b(?:0[xX]([0-9a-fA-F]{2})|(\d{2,3}))\b")
_WORD_EDGE = re.compile(r"[A-Za-z0-9_]+|[^\sA-Za-z0-9_]")
_UPPER, _LOWER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"
_ROT13 = str.maketrans(_UPPER + _LOWER, _UPPER[13:] + _UPPER[:13] + _LOWER[13:] + _LOWER[:13])


@dataclass(frozen=True, slots=True)
class Search:
    """``line``: where one of the values stands, if any; ``complete``: whether all could be looked through."""

    line: int | None
    complete: bool = True


class _OutOfTestsError(Exception):
    """More values than can be put to the test."""


class _Test:
    """Whether a value is one of the secrets; bounded."""

    def __init__(self, redactor: Redactor, digests: Collection[str]) -> None:
        self.lengths = frozenset(length for length in redactor.lengths_of(digests) if length >= _SHORTEST)
        self._digest = redactor.digest
        self._digests = frozenset(digests)
        self._known: dict[str, bool] = {}

    def accepts(self, value: str) -> bool:
        if len(value) not in self.lengths:
            return False
        found = self._known.get(value)
        if found is None:
            if len(self._known) >= MAX_TESTS:
                raise _OutOfTestsError
            found = self._known[value] = self._digest(value) in self._digests
        return found

    def finds_in(self, text: str) -> bool:
        """Whether a value stands in the text between two edges of words or signs."""
        edges = sorted({0, len(text), *(edge for match in _WORD_EDGE.finditer(text) for edge in match.span())})
        known = set(edges)
        return any(
            self.accepts(text[start : start + length])
            for start in edges
            for length in self.lengths
            if start + length in known
        )


def find_disguised(redactor: Redactor, source: Source, numbers: Collection[int], digests: Collection[str]) -> Search:
    """Look for the secrets with these digests in and around these lines of a file."""
    test = _Test(redactor, digests)
    if not test.lengths or not numbers:
        return Search(None)
    if len(source.text) > MAX_SEARCHED_CHARS:
        return Search(None, complete=False)
    lines, wanted = source.lines, frozenset(numbers)
    try:
        for first, last in _windows(numbers, len(lines)):
            text = "\n".join(lines[first - 1 : last])
            plain = without_escapes(text)
            for start, end in _disguised_places(text, plain, test):
                top, bottom = (first + plain.count("\n", 0, offset) for offset in (start, end))
                touched = wanted.intersection(range(top, bottom + 1))
                if touched:
                    return Search(min(touched))
    except _OutOfTestsError:
        return Search(None, complete=False)
    return Search(None)


def find_key_lines(key: bytes, finding: Finding, source: Source, numbers: Collection[int]) -> int | None:
    """The first of these lines that holds a whole line of what a flagged block had between its first and last: of a
    private key whose header is put together at run time. ``key``: of the lines' hashes."""
    within = frozenset(split_line_hashes(bytes.fromhex(finding.line_marks))[1:-1])
    if not within or len(source.text) > MAX_SEARCHED_CHARS:
        return None
    found: list[tuple[int, str]] = []
    for number in sorted(numbers):
        if 0 < number <= len(source.lines):
            line = source.lines[number - 1].replace("\\n", " ")
            found += [(number, match[0]) for match in _ENCODED.finditer(line) if len(match[0]) >= _KEY_LINE_CHARS]
    words = source_from_bytes("x", "\n".join(word for _, word in found).encode())
    hashes = split_line_hashes(line_hashes(words, key)) if found else []
    return next((number for (number, _), digest in zip(found, hashes, strict=True) if digest in within), None)


def _windows(numbers: Collection[int], count: int) -> Iterator[tuple[int, int]]:
    """Ranges of lines around the given ones."""
    first = last = 0
    for number in sorted(number for number in numbers if 0 < number <= count):
        if last and number - MARGIN_LINES <= last + 1:
            last = min(number + MARGIN_LINES, count)
            continue
        if last:
            yield first, last
        first, last = max(number - MARGIN_LINES, 1), min(number + MARGIN_LINES, count)
    if last:
        yield first, last


def _disguised_places(text: str, plain: str, test: _Test) -> Iterator[Stretch]:
    """Where a value stands in one of the forms: offsets in the text without escapes, which has as many lines."""
    if plain != text:
        for match, before in zip(_ANY_LINE.finditer(plain), _ANY_LINE.finditer(text), strict=False):
            if match[0] != before[0] and test.finds_in(match[0]):
                yield match.span()
    readings = [reading for reading in (joined_reading(plain), *scattered_readings(plain)) if reading is not None]
    for reading in readings:
        places = (place for place, _ in find_joined(reading, test.lengths, test.accepts, MAX_TESTS + 1))
        for start, end in itertools.chain(places, _encoded(reading.text, test)):
            yield reading.offset_in_base(start, is_end=False), reading.offset_in_base(end, is_end=True)
    yield from _encoded(plain, test)


def _encoded(text: str, test: _Test) -> Iterator[Stretch]:
    """Where a value is encoded, backwards, or a list of numbers."""
    shortest = min(test.lengths)
    for match in _ANY_LITERAL.finditer(text):
        word = match[match.lastindex or 0]
        if any(test.accepts(form) for form in (word[::-1], word.translate(_ROT13), word.translate(_ROT13)[::-1])):
            yield match.span()
    for match in _ENCODED.finditer(text):
        if len(match[0]) > shortest and any(test.finds_in(form) for form in _decoded_token(match[0])):
            yield match.span()
    yield from _from_codes(text, test)


def _decoded_token(token: str) -> Iterator[str]:
    """What a token stands for in base 64, 32 and 16, as far as it is text."""
    bare = token.rstrip("=").translate({ord("-"): "+", ord("_"): "/"})
    for decode, width in ((base64.b64decode, 4), (base64.b32decode, 8)):
        with_end = bare + "=" * (-len(bare) % width)
        try:
            data = decode(with_end)
        except (ValueError, binascii.Error):
            continue
        if data.isascii():
            yield data.decode("ascii")
    if _BASE16.fullmatch(token):
        data = bytes.fromhex(token)
        if data.isascii():
            yield data.decode("ascii")


def _from_codes(text: str, test: _Test) -> Iterator[Stretch]:
    """Lists of the characters' codes."""
    codes = [(match.start(), int(match[1], 16) if match[1] else int(match[2])) for match in _CHAR_CODE.finditer(text)]
    shortest = min(test.lengths)
    run: list[tuple[int, int]] = []
    for place, code in [*codes, (len(text), 0)]:
        if 33 <= code <= 126:
            run.append((place, code))
            continue
        if shortest <= len(run) <= MAX_NUMBERS:
            word = "".join(chr(code) for _, code in run)
            for start in range(len(word) - shortest + 1):
                for length in test.lengths:
                    if start + length <= len(word) and test.accepts(word[start : start + length]):
                        yield run[start][0], run[start + length - 1][0]
        run = []
