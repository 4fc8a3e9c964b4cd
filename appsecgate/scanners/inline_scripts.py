"""JavaScript inside HTML and Vue files: a copy in which all but the scripts is blank, so positions stay the
same."""

import re
from dataclasses import dataclass

_SCRIPT_TAG = re.compile(r"<script\b([^<>]{0,2000})>", re.IGNORECASE)
_SCRIPT_END = re.compile(r"</script\b", re.IGNORECASE)
_TYPE_ATTRIBUTE = re.compile(r"""(?:^|\s)type\s*=\s*["']?([^"'\s>]+)""", re.IGNORECASE)
_LANG_ATTRIBUTE = re.compile(r"""(?:^|\s)lang\s*=\s*["']?tsx?\b""", re.IGNORECASE)
_CODE_TYPES = frozenset(
    {
        "text/javascript",
        "application/javascript",
        "module",
        "text/babel",
        "text/ecmascript",
        "application/ecmascript",
    }
)
_NOT_BLANK = re.compile(r"[^\n]")


@dataclass(frozen=True, slots=True)
class InlineScripts:
    """``analyzer``: javascript or typescript; ``text``: as long as the file, line for line."""

    analyzer: str
    text: str


def inline_scripts(text: str) -> InlineScripts | None:
    """The scripts of a page, ``None`` where it has none; a script without an end reaches to the end of the
    file."""
    spans: list[tuple[int, int]] = []
    typed = False
    position = 0
    while (tag := _SCRIPT_TAG.search(text, position)) is not None:
        end = _SCRIPT_END.search(text, tag.end())
        stop = end.start() if end else len(text)
        named = _TYPE_ATTRIBUTE.search(tag[1])
        if named is None or named[1].lower() in _CODE_TYPES:
            spans.append((tag.end(), stop))
            typed = typed or bool(_LANG_ATTRIBUTE.search(tag[1]))
        position = stop
    if not any(text[start:stop].strip() for start, stop in spans):
        return None
    return InlineScripts("typescript" if typed else "javascript", _blanked(text, spans))


def _blanked(text: str, spans: list[tuple[int, int]]) -> str:
    """Every character outside the spans as a space (a wide one as several: columns are counted in bytes)."""
    parts: list[str] = []
    last = 0
    for start, stop in spans:
        parts += [_NOT_BLANK.sub(_spaces, text[last:start]), text[start:stop]]
        last = stop
    parts.append(_NOT_BLANK.sub(_spaces, text[last:]))
    return "".join(parts)


def _spaces(match: re.Match[str]) -> str:
    return " " * len(match[0].encode("utf-8", "surrogateescape"))
