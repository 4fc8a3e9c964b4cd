"""The plain spelling of a source text: what a language takes for the same, written as everybody writes it.

Python folds identifiers by NFKC (a full-width ``eval`` is ``eval``), JavaScript, Java and C# read ``\\u0065val`` as
``eval``, C joins a name over a line's end, PHP does not care for the case of a function's name, Kotlin and C# put
names into signs, a shell drops quotes within a word; and escapes in a literal spell the value that rules look at.
A scanner that compares characters sees none of that. So such a text is looked at a second time in its plain spelling.

Only what the language itself makes of single characters and words is undone here, in linear time and without
parsing. What is a comment or a raw literal changes too. So nothing may be undone that would make code of a comment, or
a comment of code: the plain text has its literals, comments and lines where the text as it stands has them.
"""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from appsecgate.spelling_forms import (
    CALLABLE_NAMES,
    CSHARP_FORM,
    CSHARP_KEYWORDS,
    ESCAPE_FORMS,
    KOTLIN_FORM,
    KOTLIN_KEYWORDS,
    NEIGHBOURS_OF_A_SLASH,
    PHP_FORM,
    PHP_NAMES,
    PLAIN_SIGNS,
    SHELL_FORM,
    SHELL_FORM_OF_A_LINE,
    SHELL_PIECE,
    TRIGGERS,
    WORD_LITERALS,
)

SPELLING_VERSION = 2
"""Raised with every change of what is undone here: results of before are then no answer any more."""

_FORM_FEED = re.compile(r"(?<=[^\n\f])\f")
"""At the start of a line it takes back the indentation, so it stays there."""
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f][A-Za-z0-9_\x80-\U0010ffff]*+")
_ASCII_WORD = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_SPELLING_LETTERS = frozenset("xuUN01234567")
_ROUNDS = 3
"""One disguise may hide in another: an escape that goes on in the next line."""
_SINGLE_ROUND = frozenset({"java"})
"""Its escapes are translated once, wherever they stand; what they give begins no other."""
_COMMENT_AHEAD = re.compile(r"//|/\*|(?<!\w)#")
_HERE_DOCUMENT = re.compile(r"(?<!<)<<(?!<)")
_LONE_WORD = re.compile(r"[ \t]*+[\w.-]++[ \t]*+(?:\n|\Z)")
_LONGEST_NAME = 200
"""Characters of a name that is folded; no rule knows a longer one."""

Change = tuple[int, int, str]
"""``text[start:end]`` becomes the third."""
Finder = Callable[[str], Iterator[Change]]


@dataclass(frozen=True)
class Respelled:
    """A text in plain spelling, and the way back to the text as it stands."""

    base: str
    text: str
    changes: tuple[Change, ...]
    """In the base; sorted, none within another."""
    below: "Respelled | None" = None
    """How the base itself came about, where it was respelled already."""

    def place_in_base(self, line: int, byte_column: int, *, is_end: bool) -> tuple[int, int]:
        """The line and column (from 1, columns in bytes of UTF-8) in the base of a place given so in ``text``; a place
        within something that was respelled is at its start or, as the end of a range, at its end."""
        starts = self._text_lines
        line = min(max(line, 1), len(starts))
        content = _line_at(self.text, starts, line)
        offset = starts[line - 1] + len(_bytes_of(content)[: max(byte_column - 1, 0)].decode("utf-8", "ignore"))
        there = self.offset_in_base(offset, is_end)
        found = bisect_right(self._base_lines, there)
        column = len(_bytes_of(self.base[self._base_lines[found - 1] : there])) + 1
        return (found, column) if self.below is None else self.below.place_in_base(found, column, is_end=is_end)

    def offset_in_base(self, offset: int, is_end: bool) -> int:
        index = (bisect_left if is_end else bisect_right)(self.places, offset, key=lambda place: place[0]) - 1
        if index < 0:
            return offset
        _, end, base_start, base_end = self.places[index]
        if offset >= end:
            return offset - end + base_end
        return base_end if is_end else base_start

    @cached_property
    def places(self) -> list[tuple[int, int, int, int]]:
        """Start and end of every change, in ``text`` and in the base."""
        places, shift = [], 0
        for start, end, plain in self.changes:
            places.append((start + shift, start + shift + len(plain), start, end))
            shift += len(plain) - (end - start)
        return places

    @cached_property
    def _text_lines(self) -> list[int]:
        return _line_starts(self.text)

    @cached_property
    def _base_lines(self) -> list[int]:
        return _line_starts(self.base)


def respell(language: str, text: str) -> Respelled | None:
    """The text in the plain spelling of its language (semgrep's name); None where it is in that already, or where
    nothing is known about the language. Time grows with the text's length alone."""
    found = None
    for _ in range(1 if language in _SINGLE_ROUND else _ROUNDS):
        changes = tuple(_changes(language, text))
        if not changes:
            break
        found = Respelled(text, apply_changes(text, changes), changes, found)
        text = found.text
    return found


def plain_code(language: str, code: str) -> str:
    """A piece of code in plain spelling."""
    respelled = respell(language, code)
    return code if respelled is None else respelled.text


def _changes(language: str, text: str) -> Iterator[Change]:
    """Of those that overlap the one that begins first, and then the longest."""
    found = [change for find in _FINDERS.get(language, ()) for change in find(text)]
    last = 0
    for start, end, plain in sorted(found, key=lambda change: (change[0], -change[1])):
        if start >= last and text[start:end] != plain:
            last = end
            yield start, end, plain


def apply_changes(text: str, changes: tuple[Change, ...]) -> str:
    parts: list[str] = []
    last = 0
    for start, end, plain in changes:
        parts += (text[last:start], plain)
        last = end
    parts.append(text[last:])
    return "".join(parts)


def _line_starts(text: str) -> list[int]:
    return [0, *(match.end() for match in re.finditer("\n", text))]


def _line_at(text: str, starts: list[int], line: int) -> str:
    return text[starts[line - 1] : starts[line] - 1 if line < len(starts) else len(text)]


def _bytes_of(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


def _plain_char(match: re.Match[str], signs: frozenset[str]) -> str | None:
    """The character that an escape stands for, where it can be written plainly."""
    group = match.lastgroup or ""
    digits = match[group] if group else ""
    try:
        if group == "anywhere":  # translated before anything else is read, whatever it is
            char = chr(int(digits, 16))
            plain = char.isascii() and (char.isprintable() or char.isspace()) and char != "\\"
            return {"\r": "\n"}.get(char, char) if plain else None
        if group.startswith("hex"):
            char = chr(int(digits, 16))
        elif group == "octal":
            char = chr(int(digits, 8))
        elif group == "name":
            char = unicodedata.lookup(digits)
        else:
            return None
    except (ValueError, OverflowError, KeyError):
        return None
    if char == "/" and not NEIGHBOURS_OF_A_SLASH.isdisjoint(_around(match)):
        return None
    return char if char in _ASCII_WORD or char in signs else None


def _around(match: re.Match[str]) -> str:
    """The characters before and after it."""
    return match.string[max(match.start() - 1, 0) : match.start()] + match.string[match.end() : match.end() + 1]


def _may_join(text: str, start: int) -> bool:
    """Whether a line that goes on is surely code: nothing before it on its line looks like a comment's beginning."""
    return _COMMENT_AHEAD.search(text, text.rfind("\n", 0, start) + 1, start) is None


def _escapes(language: str) -> Finder:
    """Escapes, also those of letters within literals of one word."""
    form, signs = re.compile(ESCAPE_FORMS[language]), PLAIN_SIGNS[language]
    trigger = re.compile(TRIGGERS.get(language, r"\\[0-7xuUN]"))
    literals = WORD_LITERALS.get(language)
    whole = re.compile(f"{literals}|{form.pattern}") if literals else form

    def plain(match: re.Match[str]) -> str:
        if match.lastgroup == "pair" and match["pair"] not in _SPELLING_LETTERS:
            return "" if match["pair"] == "\n" else match["pair"]
        return _plain_char(match, signs) or match[0]

    def find(text: str) -> Iterator[Change]:
        if trigger.search(text) is None:
            return
        for match in whole.finditer(text):
            if literals and match["word"] is not None:
                if "\n" in match["word"] and not _may_join(text, match.start()):
                    continue
                yield match.start("word"), match.end("word"), form.sub(plain, match["word"])
            elif match.lastgroup == "joined":
                yield match.start(), match.end(), ""
            elif (char := _plain_char(match, signs)) is not None:
                yield match.start(), match.end(), char

    return find


def _folded_names(text: str) -> Iterator[Change]:
    """Identifiers that Python reads in another form, and form feeds, which it takes for blanks."""
    if "\f" in text:
        yield from ((match.start(), match.end(), " ") for match in _FORM_FEED.finditer(text))
    if text.isascii():
        return
    last = 0
    for match in _BEYOND_ASCII.finditer(text):
        start, end = match.span()
        while start > last and text[start - 1] in _ASCII_WORD and end - start < _LONGEST_NAME:
            start -= 1
        last = end
        name = text[start:end]
        if len(name) < _LONGEST_NAME:
            folded = unicodedata.normalize("NFKC", name)
            if folded != name and folded.isidentifier():
                yield start, end, folded


def _ends_of_comments(text: str) -> Iterator[Change]:
    """C#: line ends that other languages do not know, behind a comment."""
    last = 0
    for match in _OTHER_LINE_ENDS.finditer(text):
        if "//" in text[max(last, text.rfind("\n", last, match.start())) : match.start()]:
            yield match.start(), match.end(), "\n"
        last = match.end()


def _signed_names(text: str) -> Iterator[Change]:
    """C#: ``@name``, literals of one word in other quotes, characters that count for nothing in a name."""
    for match in _CSHARP.finditer(text):
        literal = match["verbatim"] or match["raw"]
        if literal:
            yield match.start(), match.end(), f'"{literal}"'
        elif match["at"] not in CSHARP_KEYWORDS:
            yield match.start(), match.end(), match["at"] or ""


def _ticked_names(text: str) -> Iterator[Change]:
    """Kotlin: names between back ticks."""
    for match in _KOTLIN.finditer(text) if "`" in text else ():
        name = match["member"] or match["ticked"]
        if name not in KOTLIN_KEYWORDS:
            yield match.start(), match.end(), name


def _functions_of_php(text: str) -> Iterator[Change]:
    """Names in another case or with their namespace, in calls and as the whole of a literal."""
    for match in _PHP.finditer(text):
        name, known = match["called"], PHP_NAMES
        if name is None:
            name, known = _PHP_ESCAPE.sub(_plain_in_php, match["named"]), CALLABLE_NAMES
        plain = name.lstrip("\\").lower()
        if plain in known:
            group = "called" if match["called"] is not None else "named"
            yield match.start(group), match.end(group), plain


def _plain_in_php(match: re.Match[str]) -> str:
    return _plain_char(match, PLAIN_SIGNS["php"]) or match[0]


def _shell_words(text: str) -> Iterator[Change]:
    here = _HERE_DOCUMENT.search(text) is not None
    for match in _SHELL.finditer(text):
        if "\n" not in match[0] or (_may_join(text, match.start()) and not (here and _ends_document(match))):
            yield match.start(), match.end(), _SHELL_PIECE.sub(_without_quotes, match[0])
            continue
        for word in _SHELL_OF_A_LINE.finditer(text, match.start(), match.end()):
            yield word.start(), word.end(), _SHELL_PIECE.sub(_without_quotes, word[0])


def _ends_document(match: re.Match[str]) -> bool:
    """Whether the last line of the word may be the word that ends a here-document."""
    begin = match.string.rfind("\n", match.start(), match.end()) + 1
    return _LONE_WORD.match(match.string, begin) is not None


def _without_quotes(match: re.Match[str]) -> str:
    ansi = match["ansi"]
    if ansi is None:
        return match["double"] or match["single"] or match["escaped"] or ""
    plain = _SHELL_ESCAPE.sub(lambda found: _plain_char(found, PLAIN_SIGNS["bash"]) or found[0], ansi)
    return match[0] if "\\" in plain else plain


_CSHARP = re.compile(CSHARP_FORM)
_KOTLIN = re.compile(KOTLIN_FORM)
_PHP = re.compile(PHP_FORM)
_PHP_ESCAPE = re.compile(ESCAPE_FORMS["php"])
_OTHER_LINE_ENDS = re.compile(r"[\x85\u2028\u2029]")
_SHELL = re.compile(SHELL_FORM)
_SHELL_OF_A_LINE = re.compile(SHELL_FORM_OF_A_LINE)
_SHELL_PIECE = re.compile(SHELL_PIECE)
_SHELL_ESCAPE = re.compile(ESCAPE_FORMS["bash"])
_FINDERS: dict[str, tuple[Finder, ...]] = {
    **{language: (_escapes(language),) for language in ESCAPE_FORMS if language != "bash"},
    "python": (_escapes("python"), _folded_names),
    "csharp": (_escapes("csharp"), _signed_names, _ends_of_comments),
    "kotlin": (_escapes("kotlin"), _ticked_names),
    "php": (_escapes("php"), _functions_of_php),
    "bash": (_shell_words,),
}
