"""The part of YAML that advisory records are written in; the standard library reads none of it.

Block mappings and sequences, plain and quoted scalars over several lines, literal and folded blocks, comments, and
flow collections on one line. Everything is a string but ``null``, ``true``, ``false`` and empty values: a version
``1.10`` stays what it says. Anchors, aliases, tags and several documents are refused, so that nothing can
multiply or be built by a record.
"""

import re
from collections.abc import Sequence

from appsecgate.model import Json

_MAX_YAML_DEPTH = 40
_MAX_FLOW_CHARS = 10_000
_YAML_KEY = re.compile(
    r"""(?P<key>"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|(?:[^\s"'\[\]{}&*!|>%@`#,?-]|-[^\s])[^\n]*?)"""
    r"""[ ]?:(?:[ \t]+(?P<rest>.*)|$)"""
)
_YAML_QUOTED = re.compile(r""""(?:[^"\\]|\\.)*+"|'(?:[^']|'')*+'""", re.DOTALL)
_YAML_BLOCK = re.compile(r"[|>](?:(?P<indent>[1-9])?(?P<chomp>[+-])?|(?P<chomp2>[+-])(?P<indent2>[1-9]))[ \t]*(?:#.*)?")
_YAML_WORDS: dict[str, Json] = {"": None, "~": None, "null": None, "true": True, "false": False}
_YAML_ESCAPES = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "e": "\x1b", " ": " ",
    '"': '"', "/": "/", "\\": "\\", "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029",
}  # fmt: skip


def parse_yaml_subset(text: str) -> Json:
    """The document. Raises ValueError, naming the line, where it is not of the part that is read here."""
    reader = _YamlReader(text.replace("\r\n", "\n").split("\n"))
    value = reader.block(0, 0)
    reader.expect_end()
    return value


class _YamlReader:
    """Recursive descent over lines; ``_at`` is the next line that was not read."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = list(lines)
        self._at = 0
        if self._next_indent() == 0 and self._lines[self._at].rstrip() == "---":
            self._at += 1

    def block(self, indent: int, depth: int) -> Json:
        """The value that starts at the next line, which is indented by at least ``indent``."""
        if depth > _MAX_YAML_DEPTH:
            raise self._error("nested too deeply")
        found = self._next_indent()
        if found is None or found < indent:
            return None
        content = self._lines[self._at][found:]
        if _is_item(content):
            return self._sequence(found, depth)
        if _YAML_KEY.fullmatch(content.rstrip()):
            return self._mapping(found, depth)
        self._at += 1
        return self._scalar(content, found - 1, depth)

    def expect_end(self) -> None:
        if self._next_indent() is not None and self._lines[self._at].rstrip() != "...":
            raise self._error("something is left after the document")

    def _mapping(self, indent: int, depth: int) -> Json:
        entries: dict[str, Json] = {}
        while self._next_indent() == indent:
            match = _YAML_KEY.fullmatch(self._lines[self._at][indent:].rstrip())
            if match is None:
                break
            self._at += 1
            key = str(_unquoted_yaml(match["key"]))
            if key in entries:
                raise self._error("a key stands twice")
            entries[key] = self._value(match["rest"] or "", indent, depth, under_key=True)
        return entries

    def _sequence(self, indent: int, depth: int) -> Json:
        items: list[Json] = []
        while self._next_indent() == indent and _is_item(self._lines[self._at][indent:]):
            rest = self._lines[self._at][indent + 1 :]
            inner = indent + 1 + len(rest) - len(rest.lstrip(" "))
            content = rest.strip()
            if _is_item(content) or _YAML_KEY.fullmatch(content):
                self._lines[self._at] = " " * inner + rest.lstrip(" ")  # a collection that starts on the dash's line
                items.append(self.block(inner, depth + 1))
            else:
                self._at += 1
                items.append(self._value(rest.strip(), indent, depth, under_key=False))
        return items

    def _value(self, rest: str, indent: int, depth: int, *, under_key: bool) -> Json:
        """What follows a key or a dash; ``indent`` is that of the key or dash."""
        if rest and not rest.startswith("#"):
            return self._scalar(rest, indent, depth)
        found = self._next_indent()
        if found is not None and found > indent:
            return self.block(found, depth + 1)
        if under_key and found == indent and _is_item(self._lines[self._at][indent:]):
            return self._sequence(indent, depth + 1)
        return None

    def _scalar(self, first: str, indent: int, depth: int) -> Json:
        if first[0] in "|>":
            return self._block_scalar(first, indent)
        if first[0] in "\"'":
            return self._quoted(first)
        if first[0] in "[{":
            return _flow_value(_without_comment(first), depth)
        if first[0] in "&*!%@`?":
            raise self._error("anchors, aliases, tags and directives are not read")
        return self._plain(first, indent)

    def _plain(self, first: str, indent: int) -> Json:
        text = _without_comment(first)
        if "#" in first and text != first.rstrip():
            return _YAML_WORDS.get(text, text)
        lines = [text, *(_without_comment(line) for line in self._continued(indent))]
        joined = _folded(lines)
        return _YAML_WORDS.get(joined, joined)

    def _continued(self, indent: int) -> list[str]:
        """The lines that belong to a scalar: those indented deeper, and the blank ones between them."""
        lines: list[str] = []
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line.strip() and len(line) - len(line.lstrip(" ")) <= indent:
                break
            lines.append(line.strip())
            self._at += 1
        while lines and not lines[-1]:
            lines.pop()
        return lines

    def _quoted(self, first: str) -> Json:
        lines = [first]
        while not (match := _YAML_QUOTED.match("\n".join(lines))):
            if self._at >= len(self._lines) or self._lines[self._at].startswith(("---", "...")):
                raise self._error("a quoted text does not end")
            lines.append(self._lines[self._at])
            self._at += 1
        after = "\n".join(lines)[match.end() :].strip()
        if after and not after.startswith("#"):
            raise self._error("something follows a quoted text")
        return _unquoted_yaml(match.group())

    def _block_scalar(self, first: str, indent: int) -> str:
        match = _YAML_BLOCK.fullmatch(first.rstrip())
        if match is None:
            raise self._error("a block's header is odd")
        named = match["indent"] or match["indent2"]
        lines: list[str] = []
        inner = max(indent, 0) + int(named) if named else None
        while self._at < len(self._lines):
            line = self._lines[self._at]
            found = len(line) - len(line.lstrip(" "))
            if line.strip():
                inner = found if inner is None else inner
                if found < inner or inner <= indent:
                    break
            lines.append(line[inner or found :])
            self._at += 1
        text = "\n".join(lines) if first[0] == "|" else _folded_block(lines)
        chomp = match["chomp"] or match["chomp2"]
        return text + "\n" if chomp == "+" else text.rstrip("\n") + ("" if chomp == "-" or not text.strip() else "\n")

    def _next_indent(self) -> int | None:
        """Skip blank lines and comments; the indentation of the next line, None at the end."""
        while self._at < len(self._lines):
            line = self._lines[self._at]
            bare = line.lstrip(" ")
            if bare.strip() and not bare.startswith("#"):
                if bare.startswith("\t"):
                    raise self._error("a tab indents")
                return len(line) - len(bare)
            self._at += 1
        return None

    def _error(self, why: str) -> ValueError:
        return ValueError(f"line {min(self._at + 1, len(self._lines))}: {why}")


def _is_item(content: str) -> bool:
    return content.startswith("- ") or content.rstrip() == "-"


def _without_comment(text: str) -> str:
    return re.split(r"\s#", text, maxsplit=1)[0].rstrip()


def _folded(lines: Sequence[str]) -> str:
    """Line breaks become blanks, an empty line a line break."""
    text = lines[0]
    blank = 0
    for line in lines[1:]:
        if not line:
            blank += 1
            continue
        text += ("\n" * blank or " ") + line
        blank = 0
    return text


def _folded_quoted(text: str) -> str:
    """As ``_folded``; blanks at the very beginning and end are the text's own."""
    first, *rest = text.split("\n")
    if not rest:
        return text
    last = rest.pop().lstrip(" \t")
    lines = [first.rstrip(" \t"), *(line.strip(" \t") for line in rest)]
    while len(lines) > 1 and not lines[-1]:
        lines.pop()
    blank = 1 + len(rest) - len(lines)
    return _folded(lines) + ("\n" * blank or " ") + last


def _folded_block(lines: Sequence[str]) -> str:
    """As ``>`` folds: lines that are indented further keep their breaks."""
    text = ""
    previous: str | None = None
    blank = 0
    for line in lines:
        if not line.strip():
            blank += 1
            continue
        kept = line.startswith((" ", "\t")) or (previous or "").startswith((" ", "\t"))
        if previous is None:
            text = "\n" * blank + line
        else:
            text += ("\n" * (blank + 1) if kept else "\n" * blank or " ") + line
        previous, blank = line, 0
    return text + "\n" * blank


def _unquoted_yaml(text: str) -> str:
    """A quoted text over one or more lines, or a plain one as it is."""
    if text[:1] == "'":
        return _folded_quoted(text[1:-1]).replace("''", "'")
    if text[:1] != '"':
        return text
    body = _folded_quoted(re.sub(r"\\[ \t]*\n[ \t]*", "", text[1:-1]))
    return re.sub(r"\\(x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", _yaml_escape, body, flags=re.DOTALL)


def _yaml_escape(match: re.Match[str]) -> str:
    code = match[1]
    if code[0] in "xuU" and len(code) > 1:
        number = int(code[1:], 16)
        if number > 0x10FFFF:
            raise ValueError("an escape names no character")
        return chr(number)
    if code not in _YAML_ESCAPES:
        raise ValueError(f"unknown escape \\{code}")
    return _YAML_ESCAPES[code]


def _flow_value(text: str, depth: int) -> Json:
    """``[a, "b"]``, ``{a: b}`` and their nestings, on one line."""
    if len(text) > _MAX_FLOW_CHARS:
        raise ValueError("a flow collection is too long")
    tokens = re.findall(
        r"""[\[\]{},]|:(?=\s|$)|"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s\[\]{},:"'][^\[\]{},]*?(?=\s*(?:[\[\]{},]|:\s|:$|$))""",
        text,
    )
    value, rest = _flow_part(tokens, depth)
    if rest or "".join(tokens).replace(" ", "") != re.sub(r"\s", "", text):
        raise ValueError("a flow collection is odd or does not end on its line")
    return value


def _flow_part(tokens: Sequence[str], depth: int) -> tuple[Json, Sequence[str]]:
    if not tokens or depth > _MAX_YAML_DEPTH:
        raise ValueError("a flow collection does not end on its line, or is too deep")
    head, rest = tokens[0], tokens[1:]
    if head == "[":
        items: list[Json] = []
        while rest and rest[0] != "]":
            item, rest = _flow_part(rest, depth + 1)
            items.append(item)
            rest = rest[1:] if rest and rest[0] == "," else rest
        return items, _closed(rest)
    if head == "{":
        entries: dict[str, Json] = {}
        while rest and rest[0] != "}":
            if len(rest) < 3 or rest[1] != ":":
                raise ValueError("a flow mapping has no key")
            key = _unquoted_yaml(rest[0])
            entries[key], rest = _flow_part(rest[2:], depth + 1)
            rest = rest[1:] if rest and rest[0] == "," else rest
        return entries, _closed(rest)
    if head in "]},:&*!" or head[0] in "&*!":
        raise ValueError("a flow collection is odd")
    return (_YAML_WORDS.get(head, head) if head[0] not in "\"'" else _unquoted_yaml(head)), rest


def _closed(tokens: Sequence[str]) -> Sequence[str]:
    if not tokens:
        raise ValueError("a flow collection does not end on its line")
    return tokens[1:]
