"""What escapes stand for, in every language that has them: one table for all who undo them."""

import re
import unicodedata

_TWO_HEX = "[0-9a-fA-F]{2}"
_CODE_ESCAPES: tuple[tuple[int, str], ...] = (
    (16, rf"\\x(?:00)?({_TWO_HEX})"),
    (16, rf"\\u+00({_TWO_HEX})"),
    (16, rf"\\U000000({_TWO_HEX})"),
    (16, rf"[\\`][xuU]\{{0{{0,6}}({_TWO_HEX})\}}"),
    (16, rf"\\N\{{[Uu]\+0{{0,6}}({_TWO_HEX})\}}"),
    (8, r"\\o\{0{0,6}([0-7]{2,3})\}"),
    (8, r"\\0?(0[4-7][0-7]|1[0-7]{2}|[4-7][0-7])"),
    (16, rf"%({_TWO_HEX})"),
    (16, rf"&#[xX]0{{0,6}}({_TWO_HEX});"),
    (10, r"&#0{0,6}(\d{2,3});"),
)
"""Base of the code, and a form with the code in its one group. Octal ones that begin with 4 or more have two digits."""

_NAME_ESCAPE = r"\\N\{([A-Za-z][A-Za-z0-9 -]{0,60})\}"
ESCAPE_FORM = "|".join((*(form for _, form in _CODE_ESCAPES), _NAME_ESCAPE))
"""For use within a larger expression that has no groups of its own."""
_GROUP_BASES = (*(base for base, _ in _CODE_ESCAPES), 0)
_ANY_ESCAPE = re.compile(ESCAPE_FORM)


def without_escapes(text: str) -> str:
    """The text with the characters that escapes stand for; as many lines as before."""
    return _ANY_ESCAPE.sub(escaped_char, text)


def escaped_char(match: re.Match[str]) -> str:
    """Of a match of ``ESCAPE_FORM`` the character, where it is one that a secret may hold; empty where it is none."""
    group = match.lastindex
    if group is None:
        return ""
    base = _GROUP_BASES[group - 1]
    char = chr(int(match[group], base)) if base else _named_char(match[group])
    return char if "!" <= char <= "~" else match[0]


def _named_char(name: str) -> str:
    try:
        return unicodedata.lookup(name)
    except KeyError:
        return ""
