"""From a file's bytes to its text, whatever it was written in; encodings are named as by ``workspace``."""

import codecs
import re

_NO_TEXT = "binary"


def decode_bytes(data: bytes) -> tuple[str, str]:
    """The text of a file, its line ends made ``\\n``; ``("binary", "")`` where it is none.

    A byte order mark decides; without one UTF-8, then UTF-16 whose every other byte is 0 (as Latin text
    is written by Windows), then one byte per character. Text with a NUL in it counts as binary.
    """
    for mark, encoding, codec in _BYTE_ORDER_MARKS:
        if data.startswith(mark) and (text := _decoded(data[len(mark) :], codec)) is not None:
            return encoding, text
    if data.startswith(_WIDE_MARKS):
        return _NO_TEXT, ""
    if b"\0" in data:
        text = _latin_utf16(data)
        return (_NO_TEXT, "") if text is None else ("utf-16", text)
    if (text := _decoded(data, "utf-8")) is not None:
        return "utf-8", text
    if _has_many_controls(data):
        return _NO_TEXT, ""
    body = data.removeprefix(codecs.BOM_UTF8)
    text = _decoded(body, "cp1252")
    return "latin-1", _unified(body.decode("latin-1")) if text is None else text


_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32", "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32", "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16", "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16", "utf-16-be"),
    (codecs.BOM_UTF8, "utf-8-bom", "utf-8"),
)
_WIDE_MARKS = (codecs.BOM_UTF32_BE, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_NO_CONTROLS = bytes({*range(256)} - {*range(1, 9), *range(14, 27), *range(28, 32), 127})
_FEWEST_PER_CONTROL = 20
"""Bytes that are no UTF-8 and hold more than one control character in so many are no text either."""


def _decoded(data: bytes, codec: str) -> str | None:
    try:
        text = data.decode(codec)
    except UnicodeError:
        return None
    return None if "\0" in text else _unified(text)


def _unified(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _has_many_controls(data: bytes) -> bool:
    return len(data.translate(None, _NO_CONTROLS)) * _FEWEST_PER_CONTROL > len(data)


def _latin_utf16(data: bytes) -> str | None:
    """UTF-16 that shows itself by its NULs: every other byte, all but always, and nowhere else."""
    evens, odds = data[0::2].count(0), data[1::2].count(0)
    if min(evens, odds) > 0 or max(evens, odds) * 10 < len(data) // 2 * 7:
        return None
    text = _decoded(data, "utf-16-le" if odds else "utf-16-be")
    return None if text is None or _has_many_controls(text.encode()) else text


_CODING_LINE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
"""As PEP 263 has it; valid in the first two lines."""
_CODING_WITHIN_BYTES = 65_536
_PLAIN_CODECS = frozenset(
    {
        "ascii", "big5", "cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257",
        "cp1258", "cp437", "cp850", "cp852", "cp855", "cp866", "cp932", "cp949", "euc_jp", "euc_kr",
        "gb18030", "gb2312", "gbk", "iso8859-1", "iso8859-2", "iso8859-3", "iso8859-4", "iso8859-5",
        "iso8859-6", "iso8859-7", "iso8859-8", "iso8859-9", "iso8859-10", "iso8859-13", "iso8859-14",
        "iso8859-15", "iso8859-16", "koi8-r", "koi8-u", "mac-cyrillic", "mac-roman", "shift_jis",
        "tis-620", "utf-8", "utf-8-sig",
    }
)  # fmt: skip
"""Codecs in which ASCII bytes mean ASCII: what Python runs is what a reader of the bytes sees."""


def decode_python(data: bytes) -> tuple[str, str]:
    """Python text as Python decodes it.

    A coding line may name UTF-7, ``unicode_escape`` and the like, under which a comment can hold running
    code that no scanner sees: such a file counts as binary, so that it is never called clean.
    """
    encoding, text = decode_bytes(data)
    head = data[:_CODING_WITHIN_BYTES].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    named = [found[1] for line in head.split(b"\n", 2)[:2] if (found := _CODING_LINE.match(line))]
    if not named or encoding not in ("utf-8", "latin-1"):
        return encoding, text
    try:
        codec = codecs.lookup(named[0].decode("ascii", "replace")).name
    except LookupError:
        return encoding, text
    if codec not in _PLAIN_CODECS:
        return _NO_TEXT, ""
    if codec.startswith("utf-8") or codec == "ascii" or (declared := _decoded(data, codec)) is None:
        return encoding, text
    return "declared", declared
