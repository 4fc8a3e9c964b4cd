"""Scope keys: which definition, line bucket, package or resource a finding belongs to.

A Python scope is named as ``__qualname__`` names it, so that text inserted above a function, or a
function moved within its file, changes nothing. Other languages fall back to buckets of twenty
lines; there the matching, not the key, keeps an identity stable.
"""

import ast
import json
import sys
import threading
import warnings
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from appsecgate.identity.evidence import PACKAGE_SCOPE, RESOURCE_SCOPE
from appsecgate.identity.lines import LineMap
from appsecgate.model import Category, Finding
from appsecgate.workspace import Encoding, Source

MODULE_SCOPE = "<module>"
BUCKET_LINES = 20
PYTHON_SUFFIXES = (".py", ".pyi", ".pyw")

_ScopeDefinition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_UNPARSABLE_ERRORS = (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError)
_WARNING_FILTERS_LOCK = threading.Lock()


@dataclass(frozen=True, slots=True)
class ScopeSpan:
    """One definition: its lines (1-based, inclusive, decorators included) and its qualified name."""

    start: int
    end: int
    key: str


class ScopeMap:
    """Which scope a line of one file belongs to.

    ``parsed`` is False where the text did not parse: the map then holds buckets, or, made by
    ``shifted``, the scopes of the last version that did parse.
    """

    __slots__ = ("_keys", "_starts", "parsed", "python", "spans")

    def __init__(self, spans: Sequence[ScopeSpan], *, python: bool, parsed: bool = True) -> None:
        self.spans = tuple(sorted(spans, key=lambda span: (span.start, -span.end)))
        self.python = python
        """Keys are qualified names; otherwise they are buckets."""
        self.parsed = parsed
        self._starts, self._keys = _scope_changes(self.spans)

    @classmethod
    def buckets(cls, *, parsed: bool = True) -> "ScopeMap":
        """The map of a file in another language, or of Python that never parsed."""
        return cls((), python=False, parsed=parsed)

    def at(self, line: int) -> str:
        """The scope key of a line (1-based): the innermost definition, the module, or a bucket."""
        if not self.python:
            return f"L{line // BUCKET_LINES}"
        index = bisect_right(self._starts, line) - 1
        return self._keys[index] if index >= 0 else MODULE_SCOPE

    def enclosing(self, line: int) -> ScopeSpan | None:
        """The innermost definition around a line, ``None`` at module level and in other languages."""
        around = [span for span in self.spans if span.start <= line <= span.end]
        return max(around, key=lambda span: (span.start, -span.end), default=None)

    def shifted(self, lines: LineMap) -> "ScopeMap":
        """These scopes at the lines where a newer text, which does not parse, has them now."""
        moved = (_shifted_span(span, lines) for span in self.spans)
        return ScopeMap([span for span in moved if span is not None], python=self.python, parsed=False)

    def renamed(self, change: Callable[[str], str]) -> "ScopeMap":
        """The same scopes under changed names: of what is written as a name the redactor decides what is kept."""
        spans = [replace(span, key=change(span.key)) for span in self.spans]
        return ScopeMap(spans, python=self.python, parsed=self.parsed)

    def to_json(self) -> str:
        """The map as a text that ``from_json`` reads: what is kept as the last good scopes."""
        spans = [[span.start, span.end, span.key] for span in self.spans]
        value = {"python": self.python, "parsed": self.parsed, "spans": spans}
        return json.dumps(value, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> "ScopeMap":
        """The map that ``to_json`` wrote. Raises ``ValueError`` for any other text."""
        try:
            value = json.loads(text)
            spans = [ScopeSpan(int(start), int(end), str(key)) for start, end, key in value["spans"]]
            return cls(spans, python=bool(value["python"]), parsed=bool(value["parsed"]))
        except (KeyError, TypeError) as error:
            raise ValueError("not a scope map") from error


def is_python_path(path: str) -> bool:
    """Whether scopes of this file are Python definitions."""
    return path.lower().endswith(PYTHON_SUFFIXES)


def parse_python(text: str) -> ast.Module | None:
    """The syntax tree of a text, ``None`` where this interpreter cannot parse it. Never raises.

    Hostile text (deep nesting, NUL, lone surrogates) ends as ``None``; warnings about its literals
    are dropped, since they would quote it. The filters are process-wide, hence the lock.
    """
    with _WARNING_FILTERS_LOCK, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text)
        except _UNPARSABLE_ERRORS:
            return None


def scope_map(source: Source) -> ScopeMap:
    """The scopes of a file's present text; ``parsed`` tells whether it is Python that parses.

    Where it does not, and scopes of an earlier version are known, use their ``shifted`` instead.
    """
    if not is_python_path(source.path):
        return ScopeMap.buckets()
    tree = None if source.encoding is Encoding.BINARY else parse_python(source.text)
    if tree is None:
        return ScopeMap.buckets(parsed=False)
    return ScopeMap(list(_spans_of(tree)), python=True)


def scope_key(finding: Finding, scopes: ScopeMap) -> str:
    """A finding's scope key, without a slot: by package, by resource, or by where its first line is.

    A secret's key names the detector's type too; a package or resource without a name falls back
    to the place.
    """
    if finding.package is not None and finding.category in (Category.SCA, Category.LICENSE):
        return f"{PACKAGE_SCOPE}{finding.package.ecosystem}/{finding.package.name}"
    if finding.resource and finding.category is Category.IAC:
        return f"{RESOURCE_SCOPE}{finding.resource}"
    place = scopes.at(finding.line_start)
    return f"{place}:{finding.rule_id}" if finding.category is Category.SECRET else place


def _spans_of(tree: ast.Module) -> Iterator[ScopeSpan]:
    """Every definition with its qualified name, by CPython's rule (``compiler_set_qualname``)."""
    waiting: list[tuple[list[ast.stmt], str]] = [(tree.body, "")]
    while waiting:
        body, prefix = waiting.pop()
        statements = list(_own_statements(body))
        # a name that the enclosing body declares global is bound in the module, and named so
        global_names = {name for node in statements if isinstance(node, ast.Global) for name in node.names}
        for node in statements:
            if isinstance(node, _ScopeDefinition):
                key = node.name if node.name in global_names else prefix + node.name
                yield ScopeSpan(_definition_start(node), node.end_lineno or node.lineno, key)
                inner = "." if isinstance(node, ast.ClassDef) else ".<locals>."
                waiting.append((node.body, key + inner))


def _definition_start(node: _ScopeDefinition) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def _own_statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of one scope: into ``if``, ``try``, ``match`` …, not into definitions."""
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.stmt):
            yield node
        if not isinstance(node, _ScopeDefinition):
            for field in ("body", "orelse", "finalbody", "handlers", "cases"):
                inner = getattr(node, field, ())
                # ``body`` of an expression (lambda, conditional) is no list and holds no definition
                waiting.extend(inner if isinstance(inner, list) else ())


def _shifted_span(span: ScopeSpan, lines: LineMap) -> ScopeSpan | None:
    """A definition where it is in a newer text; ``None`` where nothing of it is left."""
    first, last = lines.gap(span.start), lines.gap(span.end)
    if first is not None and first == last and not first.new_count:
        return None
    start = lines.nearest(span.start)
    end = last.new_first - 1 if last is not None and not last.new_count else lines.nearest(span.end)
    return ScopeSpan(start, max(start, end), span.key)


def _scope_changes(spans: Sequence[ScopeSpan]) -> tuple[list[int], list[str]]:
    """Lines at which the innermost scope changes, and what it changes to.

    Spans nest; where shifting made two of them overlap, the upper one ends where the lower begins.
    """
    starts: list[int] = []
    keys: list[str] = []
    around: list[ScopeSpan] = []
    end_of_text = ScopeSpan(sys.maxsize, sys.maxsize, "")
    for span in (*spans, end_of_text):
        while around and around[-1].end < span.end:
            starts.append(min(around.pop().end + 1, span.start))
            keys.append(around[-1].key if around else MODULE_SCOPE)
        around.append(span)
        starts.append(span.start)
        keys.append(span.key)
    return starts[:-1], keys[:-1]
