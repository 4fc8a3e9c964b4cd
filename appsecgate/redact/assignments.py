"""``password = "…"`` in every dialect: code, JSON, YAML, TOML, INI, env, shell, Terraform, Dockerfile, XML.

A key is found by a word in it (``names.SECRET_WORD``), then what follows is read once, to the right. Quoted
values count in every language; bare ones where the text is configuration, not code.
"""

import enum
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from appsecgate.redact.entropy import looks_random
from appsecgate.redact.kinds import SECRET_PLACEHOLDER, SecretKind
from appsecgate.redact.names import SECRET_WORD, KeyStrength, is_no_secret, is_type, key_strength, name_words
from appsecgate.redact.spans import Span, SpanRank


class Dialect(enum.StrEnum):
    """Whether a bare word may be a value."""

    CODE = "code"
    CONFIG = "config"
    UNKNOWN = "unknown"


_CODE_SUFFIXES = name_words(
    "py pyi pyw js jsx ts tsx mjs cjs mts cts java go rb php cs c h cc cpp cxx hpp hh rs kt kts scala swift m mm "
    "lua pl pm dart vue svelte tf hcl tfvars json json5 toml sql groovy gradle ex exs erl clj r jl sol bicep "
    "ipynb css scss"
)
_CONFIG_SUFFIXES = name_words(
    "yaml yml ini cfg conf cnf properties env sh bash zsh ksh fish dockerfile netrc npmrc pypirc"
)

_NAME_CHARS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
_NAME_REST = re.compile(r"[\w-]{0,64}", re.ASCII)
_MAX_NAME = 64
_MAX_JUDGED = 400
"""Longer values are never "evidently no secret": they are not looked at twice."""

_TYPED_NAME = re.compile(r"""\s{0,4}\??:\s{0,4}[A-Za-z_][\w.\[\]|, ?]{0,60}\s=(?!=)[ \t]{0,40}""")
_SEPARATOR = re.compile(
    r"""(?:\\{0,2}["'`]?\s{0,2}\]?)[ \t]{0,40}(=>|:=|:-|\?=|\+=|\|\|=|={1,3}|!={1,2}|:|,|>|\()"""
    r"""[ \t]{0,40}(?:\\?\r?\n[ \t]{0,40}(?=["'`(]))?"""
)
_BLANK = re.compile(r"""[ \t]{1,8}(?=["'\w/+$!@#%^&*-])""")
_PAIR = re.compile(
    r"""\\{0,2}["']?\s{0,4}[,;{]?\s{0,40}(?:(?:type|sensitive|description)\s{0,10}=[^\n]{1,120}\n\s{1,40}){0,3}"""
    r"""\\{0,2}["']?(?:value|default)\\{0,2}["']?\s{0,20}[:=]\s{0,20}"""
)
"""From a name to the value beside it: ``name: X, value: …``, ``variable "x" { default = … }``."""

_QUOTE = re.compile(r"""([rRbBuUfFL@$]{0,2})(\"\"\"|\'\'\'|\\{1,3}["']|["'`])""")
_JOINED = re.compile(r"""[ \t]{0,8}(?:[+\\.][ \t]{0,40}\n?[ \t]{0,40})?[rRbBuUfF]{0,2}(["'])""")
_CLOSING = re.compile(r"""["'`][ \t]{0,20}(?:[+,;.%)\]}]|\n|$)""")
_FIELD = re.compile(r"\{[^{}\n]{1,200}\}")
_WRAPPER = re.compile(
    r"(?:[\w.]{0,60}\.)?(?:Secret\w{0,20}|String|str|bytes|bytearray|Buffer\.from|b64decode|fromhex|unhexlify|Password\w{0,20}"
    r"|Credentials?)\(\s{0,20}(?=[rRbBuUfF]{0,2}[\"'])"
)
"""Calls that only wrap a literal."""
_FETCH = re.compile(r"[\w.$:>-]{1,120}[(\[]|(?:new|await|return|not|lambda|if|typeof)\s")
_BARE = re.compile(r"""(?:\$\{[^{}\n]{0,200}\}|\{\{[^{}\n]{0,200}\}\}|[^\s"'`,;)}\]<>]){1,400}""")
_QUERY = re.compile(r"\w{1,12}=[^&\s]{0,80}&")
_BARE_REST = re.compile(r"[^\s\"'`;]*")
_COMMENT = re.compile(r"\s[#;]|\s//|</")
_RANDOM_LITERAL = re.compile(r"""\"([^"\\\n]{12,400})\"|'([^'\\\n]{12,400})'""")
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|->|::)[A-Za-z_$][\w$]*)*", re.ASCII)
_TOKEN_IN_CODE = re.compile(r"(?!0x)[A-Za-z0-9+/=_-]{20,}")
_BLOCK_SCALAR = re.compile(r"[|>][+-]?\d?[ \t]*\n")
_KEY_LEAD = re.compile(
    r"[ \t]*(?:[+-][ \t]?)?(?:- )?(?:export |set |setx |declare -x |ENV |ARG |LABEL )?[ \t]*\\{0,2}[\"']?"
)
_COMMAND_LEAD = re.compile(r"\s*[+-]?\s*(?:ENV|ARG|setx|setenv|set -gx|set -Ux)\s+")
_MAX_LIST = 400
_MAX_SCALAR_LINES = 50


@dataclass(frozen=True, slots=True)
class _SecretName:
    """A key found in the text."""

    name: str
    start: int
    end: int
    strength: KeyStrength

    @property
    def kind(self) -> SecretKind:
        return SecretKind.PASSWORD if self.strength is KeyStrength.PASSWORD else SecretKind.SECRET


def dialect_of(path: str) -> Dialect:
    """By the file's name alone."""
    name = path.rpartition("/")[2].lower()
    suffix = name.rpartition(".")[2]
    if suffix in _CODE_SUFFIXES:
        return Dialect.CODE
    if suffix in _CONFIG_SUFFIXES or name.startswith(("dockerfile", "containerfile", ".env", "env.")):
        return Dialect.CONFIG
    return Dialect.UNKNOWN


def find_assignments(text: str, dialect: Dialect = Dialect.UNKNOWN, *, strict: bool = False) -> Iterator[Span]:
    """The values of secret names. ``strict``: names that say little count like those that say much."""
    return _AssignmentScan(text, dialect, strict).spans()


def is_secret_value(name: str, value: str, *, strict: bool = False) -> bool:
    """Whether the literal ``value`` of the key ``name`` is to be masked."""
    return _is_masked(_SecretName(name, 0, 0, key_strength(name)), value, strict)


def _is_masked(key: _SecretName, value: str, strict: bool) -> bool:
    if key.strength is KeyStrength.NONE or is_no_secret(value, key.name):
        return False
    if key.strength is KeyStrength.WEAK and not strict:
        return looks_random(value)
    return len(value) >= (6 if key.strength is KeyStrength.PASSWORD else 8)


class _AssignmentScan:
    """One pass over a text; its offsets only grow, which keeps it linear."""

    def __init__(self, text: str, dialect: Dialect, strict: bool) -> None:
        self.text = text
        self.dialect = dialect
        self.strict = strict
        self.resume = 0
        self.listed = 0
        self.line = 0, -1
        """A line, or its end, that was looked for last: from where, and where it ends."""

    def spans(self) -> Iterator[Span]:
        for match in SECRET_WORD.finditer(self.text):
            if match.start() < self.resume:
                continue
            lead = self.text[max(match.start() - _MAX_NAME, self.resume) : match.start()]
            start = match.start() - (len(lead) - len(lead.rstrip(_NAME_CHARS)))
            rest = _NAME_REST.match(self.text, match.end())
            self.resume = end = rest.end() if rest else match.end()
            if self.text.startswith("[REDACTED:", start - 10 if start >= 10 else len(self.text)):
                continue
            strength = key_strength(self.text[start:end])
            if strength is not KeyStrength.NONE:
                yield from self._values(_SecretName(self.text[start:end].strip("-."), start, end, strength))

    def _values(self, key: _SecretName) -> Iterator[Span]:
        typed = _TYPED_NAME.match(self.text, key.end)
        plain = typed or _SEPARATOR.match(self.text, key.end)
        if plain:
            yield from self._after_operator(key, plain.end(), "=" if typed else plain[1])
        elif self._spaced(key):
            blank = _BLANK.match(self.text, key.end)
            yield from self._value(key, blank.end(), " ") if blank else ()
        pair = _PAIR.match(self.text, key.end) if self.resume == key.end else None
        if pair:
            yield from self._value(key, pair.end(), ":")

    def _after_operator(self, key: _SecretName, at: int, operator: str) -> Iterator[Span]:
        before = self.text[max(key.start - 9, 0) : key.start]
        quoted = _QUOTE.match(self.text, at)
        if operator == "(":
            if quoted and key.name.lower().startswith("set"):
                yield from self._value(replace(key, name=key.name[3:]), at, operator)
        elif operator == ",":
            defined = before.rstrip("\"' ").endswith("define(")
            if quoted:
                yield from self._value(key if defined else replace(key, strength=KeyStrength.WEAK), at, operator)
        elif before[-1:] not in ("?", "&") and (operator != ">" or before[-1:] in ("<", ":")):
            yield from self._value(key, at, operator)

    def _spaced(self, key: _SecretName) -> bool:
        """Where a blank separates key and value: ``--token x``, ``ENV TOKEN x``, ``setx TOKEN x``."""
        if self.text.startswith("--", key.start):
            return True
        lead = self.text[self.text.rfind("\n", max(key.start - 40, 0), key.start) + 1 : key.start]
        return bool(_COMMAND_LEAD.fullmatch(lead[-40:]))

    def _value(self, key: _SecretName, at: int, operator: str) -> Iterator[Span]:
        held = SECRET_PLACEHOLDER.match(self.text, at)
        if held:
            self.resume = held.end()
            return
        wrapper = _WRAPPER.match(self.text, at)
        at = wrapper.end() if wrapper else at
        quote = _QUOTE.match(self.text, at)
        scalar = _BLOCK_SCALAR.match(self.text, at) if operator == ":" else None
        if quote and self._closes(quote):
            return
        if quote:
            yield from self._quoted(key, quote)
        elif scalar:
            yield from self._scalar(key, scalar.end())
        elif self._fetched(at):
            yield from self._literals(key, at)
        elif operator not in ("==", "===", "!=", "!==", ","):
            yield from self._bare(key, at, operator)

    def _closes(self, quote: re.Match[str]) -> bool:
        """The quote ends a literal that the key is in, as in ``"token=" + value``."""
        if not _CLOSING.match(self.text, quote.start()):
            return False
        before = self.text[max(quote.start() - _MAX_JUDGED, 0) : quote.start()].rpartition("\n")[2]
        return before.count(quote[2][0]) % 2 == 1

    def _fetched(self, at: int) -> bool:
        """A list, a mapping, a call or a subscript: not itself a value."""
        if self.text[at : at + 1] in ("[", "{", "("):
            return True
        if not _FETCH.match(self.text, at):
            return False
        return self.dialect is not Dialect.CONFIG or self._line(at)[-1:] in (")", "]", "{", "(")

    def _line(self, at: int) -> str:
        """The rest of the line, at most as much as is judged."""
        return self.text[at : at + _MAX_JUDGED].partition("\n")[0].rstrip()

    def _quoted(self, key: _SecretName, quote: re.Match[str]) -> Iterator[Span]:
        """A literal, and those that are joined to it by ``+``, ``\\`` or nothing."""
        parts: list[tuple[int, int]] = []
        begin, mark = quote.end(), quote[2]
        while True:
            end = self._literal_end(begin, mark)
            parts.append((begin, end))
            more = _JOINED.match(self.text, end + len(mark)) if len(parts) < _MAX_JUDGED else None
            if not more:
                break
            begin, mark = more.end(), more[1]
        value = "".join(self.text[begin:end] for begin, end in parts)
        rest = _FIELD.sub("", value) if "f" in quote[1].lower() else value
        if _is_masked(key, value, self.strict) and (rest == value or looks_random(rest)):
            self.resume = parts[-1][1]
            for begin, end in parts:
                yield Span(begin, end, key.kind, SpanRank.NAMED)

    def _literal_end(self, begin: int, mark: str) -> int:
        """Where the literal ends: at its mark, else at the end of the line."""
        long = len(mark) == 3 and mark[0] != "\\"
        limit = len(self.text) if long else self._line_end(begin)
        end = self.text.find(mark, begin, limit)
        while end > begin and mark[0] != "\\" and self._escaped(begin, end):
            end = self.text.find(mark, end + 1, limit)
        return limit if end < 0 else end

    def _line_end(self, at: int) -> int:
        if not self.line[0] <= at <= self.line[1]:
            end = self.text.find("\n", at)
            self.line = at, len(self.text) if end < 0 else end
        return self.line[1]

    def _escaped(self, begin: int, at: int) -> bool:
        """An odd number of backslashes stands before this place (at most 64 are counted)."""
        run = self.text[max(at - 64, begin) : at]
        return (len(run) - len(run.rstrip("\\"))) % 2 == 1

    def _literals(self, key: _SecretName, at: int) -> Iterator[Span]:
        """Literals that look random in a list or in the arguments of a call: defaults of a look-up."""
        end = min(at + _MAX_LIST, len(self.text))
        for match in _RANDOM_LITERAL.finditer(self.text, max(at, self.listed), end):
            group = match.lastindex or 1
            if looks_random(match[group]) and not is_no_secret(match[group]):
                yield Span(match.start(group), match.end(group), key.kind, SpanRank.NAMED)
        self.listed = max(self.listed, end)

    def _scalar(self, key: _SecretName, at: int) -> Iterator[Span]:
        """The lines of a YAML block: those indented deeper than the key."""
        indent = key.start - (self.text.rfind("\n", 0, key.start) + 1)
        for _ in range(_MAX_SCALAR_LINES):
            end = self._line_end(at)
            line = self.text[at:end]
            if not line.strip() or len(line) - len(line.lstrip()) <= indent:
                return
            if _is_masked(key, line.strip(), self.strict):
                self.resume = end
                yield Span(at, end, key.kind, SpanRank.NAMED)
            at = end + 1

    def _bare(self, key: _SecretName, at: int, operator: str) -> Iterator[Span]:
        word = _BARE.match(self.text, at)
        if not word or _QUERY.match(word[0]) or (operator == ">" and not self.text.startswith("</", word.end())):
            return
        alone = self._alone(key)
        line = _COMMENT.split(self._line(at), maxsplit=1)[0].rstrip()
        value = line if alone and " " in line and '"' not in line else word[0]
        whole = alone and value == line
        if not _is_masked(key, value, self.strict) or not self._bare_secret(key, value, at, operator, whole):
            return
        end = at + len(value)
        if len(value) >= _MAX_JUDGED:
            rest = _BARE_REST.match(self.text, end)
            end = rest.end() if rest else end
        self.resume = end
        yield Span(at, end, key.kind, SpanRank.NAMED)

    def _bare_secret(self, key: _SecretName, value: str, at: int, operator: str, whole: bool) -> bool:
        """Whether a bare text is a value rather than an expression. ``whole``: nothing else is on the line."""
        if self.dialect is Dialect.CODE:
            return looks_random(value) and bool(_TOKEN_IN_CODE.fullmatch(value))
        if self.dialect is Dialect.CONFIG:
            return True
        if " " in value or is_type(value):
            return any(looks_random(part) or _mixed(part) for part in value.split())
        if _IDENTIFIER.fullmatch(value):
            tight = operator == "=" and at == key.end + 1
            named = "_" in value or "." in value or bool(SECRET_WORD.search(value))
            return (not named and (_mixed(value) or (whole and (tight or operator != "=")))) or operator == " "
        return not value.isdigit() or whole

    def _alone(self, key: _SecretName) -> bool:
        """The key is the first thing on its line."""
        line_start = self.text.rfind("\n", max(key.start - 80, 0), key.start) + 1
        return bool(_KEY_LEAD.fullmatch(self.text, line_start, key.start))


def _mixed(value: str) -> bool:
    """Letters and digits, as in a password that happens to look like a name."""
    return len(value) >= 6 and bool(re.search("[0-9]", value) and re.search("[A-Za-z]", value))
