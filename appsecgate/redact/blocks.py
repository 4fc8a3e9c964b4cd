"""Private key blocks: PEM, OpenSSH, PGP; whole or cut, over many lines or escaped on one line."""

import re
from collections.abc import Iterator

from appsecgate.redact.kinds import SecretKind
from appsecgate.redact.spans import Span, SpanRank

_LABEL = r"(?:[A-Z0-9]{1,20} ){0,5}PRIVATE KEY(?: BLOCK)?"
_BLOCK_EDGE = re.compile(rf"-----(BEGIN|END) {_LABEL}-----|---- (BEGIN|END) SSH2 ENCRYPTED PRIVATE KEY ----")
_LINE_LEAD = r"""[\s"'`>|#*/,;()\[\]]{0,12}(?:\d{1,7}\s?[│|:]\s?)?[+-]?[\s"'`]{0,12}"""
_LINE_TAIL = r"""(?:\\[nr]){0,4}[\s"'`+,;\\)\]]{0,12}"""
_BODY_LINE = re.compile(rf"{_LINE_LEAD}[A-Za-z0-9+/=]{{16,4000}}{_LINE_TAIL}")
"""A line as it may stand within a block: base64, perhaps in quotes, in a diff or numbered."""
_LAST_LINE = re.compile(rf"{_LINE_LEAD}[A-Za-z0-9+/=]{{2,80}}{_LINE_TAIL}")
_HEAD_LINE = re.compile(rf"{_LINE_LEAD}(?:[A-Za-z0-9-]{{1,40}}: [^\n]{{0,120}}|){_LINE_TAIL}")
_LEAD = re.compile(r"[\s>|#*/;+-]{1,12}|\s{0,12}[0-9]{1,7}\s?[│|:]\s?[+-]?")
_MARK_REST = re.compile(r"""(?:\\[nr]|[\s"'`+,;\\()])*""")
_ONE_LINE_BODY = re.compile(r"(?:\\[nr]|\s)*[A-Za-z0-9+/=]{16}")
_KEY_RUN = re.compile(r"[A-Za-z0-9+/=]{16}")

_PUBLIC_EDGE = re.compile(
    r"-----(BEGIN|END) (?:[A-Z0-9]{1,20} ){0,5}(?:CERTIFICATE|PUBLIC KEY|PUBLIC KEY BLOCK|X509 CRL|PGP SIGNATURE"
    r"|PGP MESSAGE|CERTIFICATE REQUEST|PARAMETERS)-----"
)
_WRAP = frozenset(" \t\r\"'`")
_WRAP_END = _WRAP | frozenset(",;\\)")
_ESCAPES = ("\\n", "\\r", "\\t")
_MAX_BLOCK_CHARS = 64_000
_NOT_KEY = re.compile(r"\\[nrt]|[^A-Za-z0-9+/=]")
PRIVATE_KEY_MARK = re.compile(rf"-*\s*(?:BEGIN|END) (?:{_LABEL}|SSH2 ENCRYPTED PRIVATE KEY)\s*-*")
"""What some scanners report as the "secret" of a key block: its first line, which is none."""


def find_private_keys(text: str) -> Iterator[Span]:
    """The bodies of private key blocks; their first and last lines stay."""
    if "PRIVATE KEY" not in text:
        return
    edges = list(_BLOCK_EDGE.finditer(text))
    for index, edge in enumerate(edges):
        begins = "BEGIN" in edge.groups()
        after = edges[index + 1] if index + 1 < len(edges) else None
        closed = after is not None and "END" in after.groups() and after.start() - edge.end() <= _MAX_BLOCK_CHARS
        before = edges[index - 1] if index else None
        if begins and after is not None and closed:
            yield from _body_spans(text, edge.start(), edge.end(), after.start())
        elif begins:
            limit = after.start() if after is not None else len(text)
            yield from _body_spans(text, edge.start(), edge.end(), _cut_end(text, edge, limit))
        elif before is None or "END" in before.groups() or edge.start() - before.end() > _MAX_BLOCK_CHARS:
            limit = before.end() if before is not None else 0
            yield from _body_spans(text, edge.start(), _cut_start(text, limit, edge.start()), edge.start())


def find_public_blocks(text: str) -> list[tuple[int, int]]:
    """Ranges of certificates and public keys: base64 in them is no secret."""
    ranges: list[tuple[int, int]] = []
    begin: int | None = None
    for edge in _PUBLIC_EDGE.finditer(text) if "-----BEGIN " in text else ():
        if edge[1] == "BEGIN":
            begin = edge.end()
        elif begin is not None:
            ranges.append((begin, edge.start()))
            begin = None
    return ranges


def _cut_end(text: str, edge: re.Match[str], limit: int) -> int:
    """Where a block without an end stops: before the first line that cannot belong to it."""
    start = edge.end()
    end = _line_end(text, start, limit)
    if _ONE_LINE_BODY.match(text, start, end):
        return end
    if not _MARK_REST.fullmatch(text, start, end):
        return start
    wanted: tuple[re.Pattern[str], ...] = (_HEAD_LINE, _BODY_LINE)
    while end < limit:
        line_end = _line_end(text, end + 1, limit)
        matching = [form for form in wanted if form.fullmatch(text, end + 1, line_end)]
        if not matching:
            break
        wanted = wanted if matching[0] is _HEAD_LINE else (_BODY_LINE,)
        end = line_end
    lead = text[text.rfind("\n", 0, edge.start()) + 1 : edge.start()]
    alone = not text[start : _line_end(text, start, limit)].strip() and bool(_LEAD.fullmatch(lead) or not lead)
    if (
        end < limit
        and (alone or len(wanted) == 1)
        and _LAST_LINE.fullmatch(text, end + 1, _line_end(text, end + 1, limit))
    ):
        return _line_end(text, end + 1, limit)
    return end


def _cut_start(text: str, limit: int, end: int) -> int:
    """Where a block without a beginning starts: after the last line that cannot belong to it."""
    start = max(text.rfind("\n", limit, end) + 1, limit)
    if _KEY_RUN.search(text, start, end):
        return start
    wanted = _LAST_LINE, _BODY_LINE
    while start > limit:
        line_start = max(text.rfind("\n", limit, start - 1) + 1, limit)
        if not any(form.fullmatch(text, line_start, start - 1) for form in wanted):
            break
        wanted = _BODY_LINE, _BODY_LINE
        start = line_start
    return start


def _line_end(text: str, start: int, limit: int) -> int:
    end = text.find("\n", start, limit)
    return limit if end < 0 else end


def _plausible(body: str) -> bool:
    """Key material, not code that merely names both marks."""
    if _KEY_RUN.search(body):
        return True
    lines = [line.strip(" \t\r\"'`,;+\\") for line in body.replace("\\n", "\n").split("\n")]
    return any(lines) and not any(" " in line for line in lines)


def _body_spans(text: str, edge: int, start: int, end: int) -> Iterator[Span]:
    """One span a line, all with the digest of the whole key, however it is wrapped."""
    body = text[start:end]
    if not _plausible(body):
        return
    lead = _lead_form(text[text.rfind("\n", 0, edge) + 1 : edge])
    ranges: list[tuple[int, int]] = []
    position = start
    for number, line in enumerate(body.split("\n")):
        led = lead.match(line) if lead and (number or start < edge) else None
        first, last = _unwrapped(line, led.end() if led else 0)
        if first < last:
            ranges.append((position + first, position + last))
        position += len(line) + 1
    secret = _NOT_KEY.sub("", "".join(text[first:last] for first, last in ranges))
    for first, last in ranges:
        yield Span(first, last, SecretKind.PRIVATE_KEY, SpanRank.STRUCTURE, secret)


def _lead_form(lead: str) -> re.Pattern[str] | None:
    """What stands before a mark on its line, as it stands before the other lines: ``+``, ``# ``, ``  42 │ ``."""
    if not lead.strip() or not _LEAD.fullmatch(lead):
        return None
    form = re.sub(r"[0-9]+", "[0-9]+", re.escape(lead)).replace(r"\ ", " ?")
    return re.compile("[+-]" + form[2:] if form.startswith((r"\+", r"\-")) else form)


def _unwrapped(line: str, first: int) -> tuple[int, int]:
    """The range of a line without quotes, blanks and escaped line ends round it."""
    last = len(line)
    while first < last and (line[first] in _WRAP or line.startswith(_ESCAPES, first)):
        first += 1 if line[first] in _WRAP else 2
    while first < last and (line[last - 1] in _WRAP_END or line.startswith(_ESCAPES, last - 2)):
        last -= 1 if line[last - 1] in _WRAP_END else 2
    return first, last
