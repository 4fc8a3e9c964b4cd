"""The code window of a context pack: the enclosing definition where it is short, else lines around the finding."""

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from appsecgate.identity.lines import LineMap, line_hashes
from appsecgate.identity.scopes import parse_python
from appsecgate.redact.redactor import Masked, Redactor
from appsecgate.scanners.classify import file_language
from appsecgate.store.findings import StoredFinding
from appsecgate.store.scans import FileShape
from appsecgate.typed import arg
from appsecgate.workspace import Source

LINE_CHARS = 400
MAX_WINDOW_LINES = 120
WINDOW_CHARS = 10_000
"""Of all lines together: long lines make a window of few."""


@dataclass(frozen=True, slots=True)
class Window:
    file_path: str = arg("Project-relative path.")
    language: str = arg("Language, where known.")
    start_line: int = arg("First line shown, 1-based.")
    end_line: int = arg("Last line shown.")
    lines: tuple[str, ...] = arg("Number, ' │ ', text (untrusted data, redacted).")
    finding_lines: tuple[int, ...] = arg("First and last flagged line.", max_items=2)


def build_window(
    source: Source,
    redactor: Redactor,
    stored: StoredFinding,
    shape: FileShape | None,
    key: bytes,
    around: int,
) -> tuple[Window | None, str]:
    """The window and a note. The finding is followed to where its lines are now (see ``_locate``)."""
    masked = redactor.mask_source(source, ())
    place, note = _locate(source, masked, stored, shape, key)
    if place is None:
        return None, note
    first, last = place
    start, end = _bounds(source, first, last, around)
    start, end = _narrowed(masked.lines, (start, min(end, len(masked.lines))), (first, last))
    lines = tuple(_numbered(number, masked.lines[number - 1]) for number in range(start, end + 1))
    window = Window(
        file_path=source.path,
        language=file_language(source.path, source.text[:2000]),
        start_line=start,
        end_line=start + len(lines) - 1,
        lines=lines,
        finding_lines=(first, last),
    )
    return window, note


def _narrowed(lines: Sequence[str], window: tuple[int, int], flagged: tuple[int, int]) -> tuple[int, int]:
    """The part of the window that there is room for: from the flagged lines' first on, then to both sides."""
    (start, end), (first, last) = window, flagged
    low = high = first
    left = WINDOW_CHARS - min(len(lines[first - 1]), LINE_CHARS)
    while low > start or high < end:
        onward = high < end and (high < last or low == start or high - last <= first - low)
        number = high + 1 if onward else low - 1
        left -= min(len(lines[number - 1]), LINE_CHARS) + _NUMBER_CHARS
        if left < 0:
            break
        low, high = (low, number) if onward else (number, high)
    return low, high


_NUMBER_CHARS = 12
"""Of a line's number, and what JSON puts around it."""


def _numbered(number: int, text: str) -> str:
    cut = text if len(text) <= LINE_CHARS else text[: LINE_CHARS - 1] + "…"
    return f"{number:>4} │ {cut}"


def _locate(
    source: Source, masked: Masked, stored: StoredFinding, shape: FileShape | None, key: bytes
) -> tuple[tuple[int, int] | None, str]:
    """Where the finding's lines are now: unchanged file, mapped lines, or the same code elsewhere in the file."""
    finding = stored.finding
    count = len(masked.lines)
    height = finding.line_end - finding.line_start
    if shape is None or shape.sha256 == source.sha256:
        first = max(1, min(finding.line_start, count))
        return (first, min(first + height, count)), ""
    line_map = LineMap(shape.line_hashes, line_hashes(source, key))
    mapped = line_map.new_line(finding.line_start)
    if mapped is not None:
        return (mapped, min(mapped + height, count)), "" if mapped == finding.line_start else _MOVED
    near = _same_code(masked, finding.code, line_map.nearest(finding.line_start))
    if near is not None:
        return (near, min(near + height, count)), _MOVED
    return None, "The flagged lines changed since the scan: scan_file again, or verify_fix if this was the fix."


_MOVED = "The file changed since the scan; the window follows the finding to where it is now."


def _same_code(masked: Masked, code: str, near: int) -> int | None:
    """The line nearest to ``near`` that begins with, or holds, the flagged code's first words."""
    start = " ".join(code.split())[:200]
    if not start:
        return None
    hits = [n for n, text in enumerate(masked.lines, 1) if text.strip() and _begins(text, start)]
    return min(hits, key=lambda n: (abs(n - near), n), default=None)


def _begins(text: str, start: str) -> bool:
    folded = " ".join(text.split())
    return start in folded or (len(folded) >= 12 and start.startswith(folded))


def _bounds(source: Source, first: int, last: int, around: int) -> tuple[int, int]:
    count = len(source.lines)
    last = min(last, first + MAX_WINDOW_LINES - 1)
    enclosing = _definition(source, first)
    if enclosing and enclosing[1] - enclosing[0] < 2 * around + 1:
        return enclosing[0], max(enclosing[1], last)
    return max(1, first - around), min(count, last + around)


def _definition(source: Source, line: int) -> tuple[int, int] | None:
    """First and last line of the innermost Python definition around a line, decorators included."""
    if not source.path.endswith((".py", ".pyi", ".pyw")):
        return None
    tree = parse_python(source.text)
    if tree is None:
        return None
    spans = [
        (min([node.lineno, *(d.lineno for d in node.decorator_list)]), node.end_lineno or node.lineno)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    ]
    inside = [span for span in spans if span[0] <= line <= span[1]]
    return max(inside, default=None)
