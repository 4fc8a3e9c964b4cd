"""Whether a text holds a known secret in another form: in parts, with escapes, encoded, backwards, as numbers.

The secret itself is known by its length and its keyed digest alone. So each form is undone, and what comes out is put
to the test at the edges of its words. What a program computes in a way of its own is not undone.
"""

import itertools
import re
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from appsecgate.identity.lines import line_hashes, split_line_hashes
from appsecgate.model import Finding
from appsecgate.redact.escapes import without_escapes
from appsecgate.redact.joined import Stretch, find_joined, joined_reading, scattered_readings
from appsecgate.redact.redactor import Redactor
from appsecgate.spelling import Respelled
from appsecgate.verify_forms import MAX_NUMBERS, code_runs, filled_text, number_texts, token_texts, word_forms
from appsecgate.workspace import Source, source_from_bytes

MAX_SEARCHED_CHARS = 1_000_000
"""Of a file that is searched for a known secret."""
MAX_TESTS = 300_000
"""Values that are put to the test in one file, about half a second: beyond that nobody knows."""
MARGIN_LINES = 12
"""Lines around new ones that are read with them: parts may stand there since before."""

_SHORTEST = 6
"""Characters: what is shorter is put together by chance."""
_KEY_LINE_CHARS = 24
_ENCODED = re.compile(r"[A-Za-z0-9+/_-]{6,20000}+={0,2}")
_ANY_LINE = re.compile(r"[^\n]*+\n?")
_ANY_LITERAL = re.compile(r"\"([^\"\n]*+)\"|'([^'\n]*+)'|`([^`\n]*+)`|([^\s\"'`=:,;]++)")
_BARE_WORD = 4
"""The group of a word without quotes."""
_SHORT_WORD = re.compile(r"(?<![^\s\"'`])[^\s\"'`]{6,100}(?![^\s\"'`])")
"""From which a program may cut a value."""
_LONGEST_TOKEN = 20_000
_WORD_EDGE = re.compile(r"[A-Za-z0-9_]+|[^\sA-Za-z0-9_]")


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

    @property
    def has_room(self) -> bool:
        """Whether there is time for what is looked at on top of all forms."""
        return len(self._known) < MAX_TESTS // 2

    def is_within(self, word: str) -> bool:
        """Whether a value is cut out of a word, from anywhere to anywhere."""
        parts = ((start, length) for length in self.lengths for start in range(len(word) - length + 1))
        return any(self.accepts(word[start : start + length]) for start, length in parts)

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
            for top, bottom in _disguised_lines(text, test):
                touched = wanted.intersection(range(first + top, first + bottom + 1))
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


def _disguised_lines(text: str, test: _Test) -> Iterator[Stretch]:
    """First and last line, from 0, where a value stands in one of the forms."""
    plain = without_escapes(text if text.isascii() else unicodedata.normalize("NFKC", text))
    filled = filled_text(plain)
    if filled is None:
        raise _OutOfTestsError
    for reading in dict.fromkeys((plain, filled)):  # as many lines as the text
        for start, end in _disguised_places(text, reading, test):
            yield reading.count("\n", 0, start), reading.count("\n", 0, end)
    for match in _SHORT_WORD.finditer(filled):
        if test.has_room and test.is_within(match[0]):
            line = filled.count("\n", 0, match.start())
            yield line, line


def _disguised_places(text: str, plain: str, test: _Test) -> Iterator[Stretch]:
    """Where a value stands in one of the forms: offsets in the plain text, which has as many lines."""
    if plain != text:
        for match, before in zip(_ANY_LINE.finditer(plain), _ANY_LINE.finditer(text), strict=False):
            if match[0] != before[0] and test.finds_in(match[0]):
                yield match.span()
    readings = [reading for reading in (joined_reading(plain), *scattered_readings(plain)) if reading is not None]
    for reading in readings:
        for start, end in itertools.chain(_joined_places(reading, test), _encoded(reading.text, test)):
            yield reading.offset_in_base(start, is_end=False), reading.offset_in_base(end, is_end=True)
    yield from _encoded(plain, test)


def _joined_places(reading: Respelled, test: _Test) -> Iterator[Stretch]:
    for place, value in find_joined(reading, test.lengths, test.accepts, MAX_TESTS + 1):
        if value is None:
            raise _OutOfTestsError
        yield place


def _encoded(text: str, test: _Test) -> Iterator[Stretch]:
    """Where a value is encoded, backwards, a number, or a list of numbers."""
    shortest = min(test.lengths)
    for match in _ANY_LITERAL.finditer(text):
        word = match[match.lastindex or 0]
        if len(word) >= shortest and any(test.accepts(form) for form in word_forms(word)):
            yield match.span()
        is_other = match.lastindex != _BARE_WORD and shortest < len(word) <= _LONGEST_TOKEN and _has_odd_signs(word)
        if is_other and any(test.finds_in(form) for form in token_texts(word)):
            yield match.span()
    for match in _ENCODED.finditer(text):
        if len(match[0]) > shortest and any(test.finds_in(form) for form in token_texts(match[0])):
            yield match.span()
    for start, end, form in number_texts(text):
        if test.finds_in(form):
            yield start, end
    yield from _from_codes(text, test)


def _has_odd_signs(word: str) -> bool:
    """It is no token as it stands, but may be one in base 85, or hexadecimal with blanks."""
    return _ENCODED.fullmatch(word) is None


def _from_codes(text: str, test: _Test) -> Iterator[Stretch]:
    """Lists of the characters' codes, forwards or backwards."""
    shortest = min(test.lengths)
    for places, word in code_runs(text):
        if not shortest <= len(word) <= MAX_NUMBERS:
            continue
        for start, length in itertools.product(range(len(word) - shortest + 1), test.lengths):
            part = word[start : start + length]
            if len(part) == length and (test.accepts(part) or test.accepts(part[::-1])):
                yield places[start], places[start + length - 1]
