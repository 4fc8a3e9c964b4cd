"""JavaScript inside HTML and Vue files: a copy in which all but the scripts is blank, so positions stay the
same."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

_SCRIPT_START = re.compile(r"<script(?=[\s/>])", re.IGNORECASE)
_SCRIPT_TAG = re.compile(r"""<script((?:[^<>"']|"[^"<]*+"|'[^'<]*+')*+)>""", re.IGNORECASE)
_SCRIPT_END = re.compile(r"</script\b", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""([^\s=/"'<>]++)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'<>]++)))?""")
_CODE_TYPE = re.compile(
    r"(?:text|application)/(?:x-)?(?:java|ecma|live|j|type)script[\d.]*|text/(?:babel|jsx|ts|tsx)|module|javascript|"
)
_DATA_TYPE = re.compile(
    r".*(?:json|template|html|plain|xml|handlebars|mustache|markdown|shader|glsl|csv|yaml|toml|css)[\w-]*"
    r"|importmap|speculationrules|text/(?:ng|x-tmpl|x-mathjax-config.*)"
)
_HANDLER = re.compile(
    r"""(?<=[\s"'/])(?:on[a-z]{3,25}|(?:@|v-on:)[a-z][\w.:-]{0,60})\s*+=\s*+(?:"([^"<]*+)"|'([^'<]*+)'|([^\s"'<>]++))""",
    re.IGNORECASE,
)
_PLAIN_HANDLER = re.compile(r"\s*(?:return\s+)?([\w$.]*)\s*(?:\([\w$.,\s]*\))?\s*;?\s*")
_DANGEROUS_CALLS = frozenset({"eval", "Function", "execScript", "setTimeout", "setInterval", "write", "writeln"})
_SCRIPT_URL = re.compile(r"""["'=\s]javascript:(?!\s*(?:void\b|;|//|["'\s]))""", re.IGNORECASE)
_RAW_HTML = re.compile(r"\bv-html\s*=", re.IGNORECASE)
_NOT_BLANK = re.compile(r"[^\n]")


@dataclass(frozen=True, slots=True)
class InlineScripts:
    """``analyzer``: javascript or typescript; ``text``: as long as the file, line for line."""

    analyzer: str
    text: str


@dataclass(frozen=True, slots=True)
class _Page:
    """Where the scripts of a page are."""

    spans: tuple[tuple[int, int], ...]
    typed: bool
    unread: str
    """Why a script in it is none of these; "" where all are."""


def inline_scripts(text: str) -> InlineScripts | None:
    """The scripts of a page, ``None`` where it has no code at all; a script without an end reaches to the end of the
    file."""
    page = _read_page(text)
    if not any(text[start:stop].strip() for start, stop in page.spans) and not unjudged_scripts(text):
        return None
    return InlineScripts("typescript" if page.typed else "javascript", _blanked(text, page.spans))


def unjudged_scripts(text: str) -> str:
    """What code a page holds beside its scripts, at which nobody looks, in words; "" where there is none.

    A handler that only names a function, or calls one with names, is none: what it does stands in a script.
    """
    page = _read_page(text)
    if page.unread:
        return page.unread
    bounds = [0, *(place for span in page.spans for place in span), len(text)]
    for start, stop in zip(bounds[::2], bounds[1::2], strict=True):
        markup = text[start:stop]
        if any(_holds_code(match[1] or match[2] or match[3] or "") for match in _HANDLER.finditer(markup)):
            return "event handlers in the markup are not looked at"
        if _SCRIPT_URL.search(markup):
            return "javascript: addresses in the markup are not looked at"
        if _RAW_HTML.search(markup):
            return "v-html in the markup is not looked at"
    return ""


def has_scripts(text: str) -> bool:
    """Whether there is any code in a page."""
    return inline_scripts(text) is not None


def _holds_code(handler: str) -> bool:
    plain = _PLAIN_HANDLER.fullmatch(handler)
    return plain is None or plain[1].rpartition(".")[2] in _DANGEROUS_CALLS


def _read_page(text: str) -> _Page:
    spans: list[tuple[int, int]] = []
    typed = False
    unread = ""
    position = 0
    while (start := _SCRIPT_START.search(text, position)) is not None:
        tag = _SCRIPT_TAG.match(text, start.start())
        if tag is None:
            unread = "the tag of a script cannot be read"
            position = start.end()
            continue
        end = _SCRIPT_END.search(text, tag.end())
        stop = end.start() if end else len(text)
        attributes = _attributes_of(tag[1])
        kind = attributes.get("type", "").partition(";")[0].strip().lower()
        if _CODE_TYPE.fullmatch(kind):
            spans.append((tag.end(), stop))
            typed = typed or attributes.get("lang", "").lower() in ("ts", "tsx") or "typescript" in kind
        elif not _DATA_TYPE.fullmatch(kind) and text[tag.end() : stop].strip():
            unread = unread or "a script of a type of its own is not looked at"
        position = stop
    return _Page(tuple(spans), typed, unread)


def _attributes_of(words: str) -> dict[str, str]:
    """Names in small letters; of several with one name the first counts, as in browsers."""
    found: dict[str, str] = {}
    for match in _ATTRIBUTE.finditer(words):
        found.setdefault(match[1].lower(), match[2] or match[3] or match[4] or "")
    return found


def _blanked(text: str, spans: Sequence[tuple[int, int]]) -> str:
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
