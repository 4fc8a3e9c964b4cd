"""The forms in which a program may write a text other than as it stands, and how each is undone: one table.

Everything here takes linear time and keeps lines: what is read in a form stands on the lines that it came from.
"""

import base64
import itertools
import re
from collections.abc import Callable, Iterator

MAX_NUMBERS = 20_000
"""In a row: more are data, no text."""
MAX_FILLED_CHARS = 2_000_000
"""Of a text with the values of its names in their places: beyond that nobody knows."""

_UPPER, _LOWER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"
_ROT13 = str.maketrans(_UPPER + _LOWER, _UPPER[13:] + _UPPER[:13] + _LOWER[13:] + _LOWER[:13])
_SEPARATORS = "-_ .:,/|"


def _rotated(word: str) -> str:
    return word.translate(_ROT13)


_WORD_FORMS: tuple[Callable[[str], str], ...] = (
    lambda word: word[::-1],
    _rotated,
    lambda word: _rotated(word)[::-1],
    str.swapcase,
    str.upper,
    str.lower,
    lambda word: word[::2],
    lambda word: word[1::2],
)


def word_forms(word: str) -> Iterator[str]:
    """What a literal may stand for as a whole: backwards, rotated, in the other case, every other sign, without what
    separates its signs."""
    yield from (form(word) for form in _WORD_FORMS)
    yield from (word.replace(sign, "") for sign in _SEPARATORS if sign in word)


def _base64(token: str) -> bytes:
    bare = token.rstrip("=").translate({ord("-"): "+", ord("_"): "/"})
    return base64.b64decode(bare + "=" * (-len(bare) % 4))


def _base32(token: str) -> bytes:
    bare = token.rstrip("=")
    return base64.b32decode(bare + "=" * (-len(bare) % 8))


def _base16(token: str) -> bytes:
    return bytes.fromhex(re.sub(r"\A(?:0[xX]|[xX]['\"]?)", "", token))


_TOKEN_FORMS: tuple[Callable[[str], bytes], ...] = (_base64, _base32, _base16, base64.b85decode, base64.a85decode)


def token_texts(token: str) -> Iterator[str]:
    """What a token stands for in the bases 64, 32, 16 and 85, or backwards, as far as it is text."""
    for decode, word in itertools.product(_TOKEN_FORMS, (token, token[::-1])):
        try:
            data = decode(word)
        except ValueError:
            continue
        if data and data.isascii():
            yield data.decode("ascii")


_LONG_NUMBER = re.compile(
    r"\b(0[xX][0-9a-fA-F_]{10,8000}|0[oO][0-7_]{14,3000}|0[bB][01_]{40,9000}|[1-9][0-9_]{13,1500})[nlL]?\b"
)


def number_texts(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and text of every number whose bytes are text, from either end."""
    for match in _LONG_NUMBER.finditer(text):
        try:
            number = int(match[1], 0)
        except ValueError:
            continue
        data = number.to_bytes((number.bit_length() + 7) // 8, "big")
        if data.isascii():
            yield match.start(), match.end(), data.decode("ascii")
            yield match.start(), match.end(), data[::-1].decode("ascii")


_PREFIXED_CODE = r"0[xX](?P<b16>[0-9a-fA-F]{2,4})|0[oO](?P<b8>[0-7]{2,4})|0[bB](?P<b2>[01]{6,9})"
_CODE_BASES = {"b16": 16, "b8": 8, "b2": 2}
_BARE_CODES = {10: r"\d{2,3}", 16: "[0-9a-fA-F]{2}", 8: "0?[0-7]{2,3}", 2: "[01]{6,8}"}
"""Base → a character's code in it without a prefix."""
_CODES = {base: re.compile(rf"\b(?:{_PREFIXED_CODE}|(?P<bare>{form}))\b") for base, form in _BARE_CODES.items()}


def code_runs(text: str) -> Iterator[tuple[list[int], str]]:
    """Lists of characters' codes in one base: where each stands, and what they spell."""
    for base, form in _CODES.items():
        places: list[int] = []
        signs: list[str] = []
        for match in form.finditer(text):
            group = match.lastgroup or ""
            code = int(match[group], _CODE_BASES.get(group, base))
            if 33 <= code <= 126:
                places.append(match.start())
                signs.append(chr(code))
            elif places:
                yield places, "".join(signs)
                places, signs = [], []
        if places:
            yield places, "".join(signs)


_QUOTED = re.compile(r"\"([^\"\n]*+)\"|'([^'\n]*+)'|`([^`\n]*+)`")
_NAMED_LITERAL = re.compile(
    r"""(?<![\w$])[$"']?([A-Za-z_]\w{0,60})["']?\s{0,4}(?::\s{0,4}[\w.]{1,30}\s{0,4})?(?::=|=>|=|:)[\s(]{0,6}[A-Za-z@]{0,2}"""
    r"""["'`]([^"'`\n]{1,200})["'`]"""
)
_NAME_HOLE = re.compile(
    r"%\((\w{1,60})\)s|[$#]?\{\s?([A-Za-z_]\w{0,60})(?:[!:][^{}\n]{0,20})?\s?\}|\$([A-Za-z_]\w{0,60})"
)
_MEMBER = re.compile(r"(?<![\w.$])\$?[A-Za-z_]\w{0,60}\[[\"']([A-Za-z_]\w{0,60})[\"']\](?!\s{0,4}=(?!=))")
_BARE_NAME = re.compile(r"(?<![\w.\"'`$%{])\$?([A-Za-z_]\w{0,60})(?![\w\"'`(}]|\s{0,4}(?::=|=>|=(?!=)|:))")
_ORDERED_HOLE = re.compile(r"%(?:(\d)\$)?[sdvr]|\{(\d?)(?:[!:][^{}\n]{0,20})?\}")
_ARGUMENTS_WITHIN = 600
"""Characters behind a template in which its arguments are looked for."""


def filled_text(text: str) -> str | None:
    """The text with the values of literals in the place of their names, and in the holes of templates; as many lines.

    None where it would become too long.
    """
    values = {match[1]: match[2] for match in _NAMED_LITERAL.finditer(text)}
    left = [MAX_FILLED_CHARS - len(text)]

    def named(match: re.Match[str], quote: str = "") -> str:
        value = values.get(match[match.lastindex or 0])
        if value is None or left[0] < 0:
            return match[0]
        left[0] -= len(value)
        return f"{quote}{value}{quote}"

    if values:
        text = _NAME_HOLE.sub(named, text)
        for form in (_MEMBER, _BARE_NAME):
            text = form.sub(lambda match: named(match, '"'), text)
    text = _QUOTED.sub(lambda match: _filled_template(match, left), text)
    return text if left[0] >= 0 else None


def _filled_template(match: re.Match[str], left: list[int]) -> str:
    """A literal with the literals behind it in its holes, by their number or in their order."""
    content, quote = match[match.lastindex or 0], match[0][0]
    if not _ORDERED_HOLE.search(content) or left[0] < 0:
        return match[0]
    behind = _QUOTED.finditer(match.string, match.end(), match.end() + _ARGUMENTS_WITHIN)
    arguments = [argument[argument.lastindex or 0] for argument in behind]
    order = iter(range(len(arguments)))

    def filled(hole: re.Match[str]) -> str:
        number = int(hole[1]) - 1 if hole[1] else int(hole[2]) if hole[2] else next(order, -1)
        value = arguments[number] if 0 <= number < len(arguments) else hole[0]
        left[0] -= len(value)
        return value

    return quote + _ORDERED_HOLE.sub(filled, content) + quote
