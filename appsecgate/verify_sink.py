"""Whether a name of the flagged code still stands where it was, though nothing is reported any more: handed on
uncalled, or spelled in another way."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator

from appsecgate.model import Category, Finding
from appsecgate.scanners.classify import language_by_name
from appsecgate.spelling import plain_code
from appsecgate.verify_case import Case

WINDOW_LINES = 10
"""Lines above and below the place in which the sink's name is looked for."""
_CALLED_NAME = re.compile(r"([A-Za-z_][\w.]{0,120})\s{0,4}\(")


def sink_window(case: Case) -> str:
    """The lines around the place where the finding was."""
    if case.source is None:
        return ""
    line = case.finding.line_start
    near = case.line_map.nearest(line) if case.line_map else line
    window = "\n".join(case.source.lines[max(0, near - 1 - WINDOW_LINES) : near + WINDOW_LINES])
    return plain_code(language_by_name(case.path), window)


def hidden_sink_name(finding: Finding, window: str) -> str | None:
    """The name of the flagged call, where it still stands in the window as a string, or is handed on uncalled.

    ``getattr(module, "eval")(x)`` and ``run = eval`` escape every pattern for ``eval(x)``; an honest fix seldom
    leaves the bare name behind.
    """
    if finding.category is not Category.SAST:
        return None
    called = _CALLED_NAME.search(finding.code)
    if called is None:
        return None
    name = called.group(1).rpartition(".")[2]
    word = re.escape(name)
    bare = re.compile(
        rf"""["'](?:[\w.]*\.)?{word}["']"""
        rf"""|[=(,\[{{:]\s{{0,4}}(?:\w+\.){{0,4}}{word}\s{{0,4}}(?:[,)\]}};]|$)""",
        re.MULTILINE,
    )
    return name if len(name) > 2 and bare.search(window) else None


def disguised_word(case: Case) -> str | None:
    """A word of the flagged code that the new lines hold in another spelling.

    A language has more ways to write a word than any scanner knows, and whether one of them stands in a comment or in
    a literal takes the language's own reader to tell. So the new lines are read here with every escape, every line
    that goes on, every sign without width undone, wherever it stands: an honest fix does not write the flagged words
    like that.
    """
    if case.finding.category is not Category.SAST or case.source is None:
        return None
    language = language_by_name(case.path)
    code = plain_code(language, case.finding.code)
    words = frozenset(word for word in _SPELLED_WORD.findall(code.lower()) if len(word) > 2 or word in _SHORT_SHELLS)
    for part in _new_parts(case.source.lines, case.new_lines):
        hidden = (_words_read(language, part) - _words_written(part)).keys() & words
        if language in _CASELESS_LANGUAGES:
            hidden |= _words_before_comments(part) & words
        if hidden:
            return min(hidden)
    return None


def _words_before_comments(part: str) -> frozenset[str]:
    """Words with capitals, in lower case. A call in another case is plain to the scanner, unless a comment parts it."""
    return frozenset(word.lower() for word in _WORD_BEFORE_COMMENT.findall(part) if word != word.lower())


def _new_parts(lines: list[str], new_lines: frozenset[int]) -> Iterator[str]:
    """Runs of new lines, with a line before and after where a line goes on in the next."""
    part: list[str] = []
    for number, line in enumerate(lines, 1):
        goes_on = bool(part) and _LINE_GOES_ON.search(part[-1]) is not None
        begins = number + 1 in new_lines and _LINE_GOES_ON.search(line) is not None
        if number in new_lines or goes_on or begins:
            part.append(line)
        elif part:
            yield "\n".join(part)
            part = []
    if part:
        yield "\n".join(part)


def _words_written(part: str) -> Counter[str]:
    return Counter(_SPELLED_WORD.findall(part.lower()))


def _words_read(language: str, part: str) -> Counter[str]:
    joined = _JOINED_LINES.sub("", part)
    if language == "bash":
        joined = _SHELL_QUOTES.sub("", joined)
    plain = _ANY_SPELLING.sub(_spelled_character, joined)
    if not plain.isascii():
        visible = (char for char in unicodedata.normalize("NFKC", plain) if unicodedata.category(char) != "Cf")
        plain = "".join(visible)
    return Counter(_SPELLED_WORD.findall(plain.lower()))


def _spelled_character(escape: re.Match[str]) -> str:
    """What an escape of any language stands for; the sign alone goes where it stands for nothing."""
    code = escape["two"] or escape["four"] or escape["eight"]
    codes = escape["braced"].split() if escape["braced"] else [code] if code else []
    try:
        if escape["octal"]:
            return chr(int(escape["octal"], 8))
        if escape["name"]:
            return unicodedata.lookup(escape["name"])
        other = escape["other"] or ""
        return "".join(chr(int(code, 16)) for code in codes) or (" " if other in _CONTROL_LETTERS else other)
    except (ValueError, OverflowError, KeyError):
        return escape[0]


_SPELLED_WORD = re.compile(r"\w+")
_WORD_BEFORE_COMMENT = re.compile(r"(\w++)\s*+(?=/\*|//|#)")
_SHORT_SHELLS = frozenset({"sh"})
_CASELESS_LANGUAGES = frozenset({"php"})
_LINE_GOES_ON = re.compile(r"(?:\\|\?\?/)\s*\Z")
_JOINED_LINES = re.compile(r"(?:\\|\?\?/)[ \t]{0,8}[\n\u2028\u2029]")
_SHELL_QUOTES = re.compile(r"[\"'`]")
_CONTROL_LETTERS = frozenset("nrtfvb")
_ANY_SPELLING = re.compile(
    r"(?:\\|\?\?/)(?:u\{(?P<braced>[0-9a-fA-F ]{1,200})\}|N\{(?P<name>[A-Za-z0-9 -]{1,80})\}"
    r"|x0*(?P<two>[0-9a-fA-F]{1,2})|u+(?P<four>[0-9a-fA-F]{4})|U(?P<eight>[0-9a-fA-F]{8})|(?P<octal>[0-7]{1,3})|(?P<other>.)|)",
    re.DOTALL,
)
