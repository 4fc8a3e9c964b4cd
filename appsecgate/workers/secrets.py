"""Runs inside detect-secrets' own interpreter (``python -I``): one JSON request a line in, one JSON answer a
line out.

Request:  {"files": [{"id": "1", "local": "/abs/copy", "name": "app.py", "lock": false, "shell": false}, …],
           "file_timeout_s": 20}
Answer:   {"files": {"1": {"state": "done", "hits": [["AWS Access Key", line, col, col_end, line_end, ["…"]],
…]}}}

Lines and columns count characters from 1, ends of columns are exclusive; columns are 0 where a value could
not be located; the last list names detectors whose hits on the same characters were folded in. ``state`` is
``done``, ``partial`` (with ``detail``) or ``failed``. No secret, and no other text of a file, is in an
answer.

The plugins' regular expressions are applied by ourselves, on the raw lines *and* on the lines as
detect-secrets transforms them (YAML, ini, ``key=value``), so that a secret in a comment, a second one on a
line and a second use of one are all seen, each with its columns; and nothing of detect-secrets that asks a
network is ever called.
"""

import contextlib
import functools
import io
import itertools
import json
import re
import signal
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any

Found = set[tuple[int, int, int, str]]
"""(line from 0, start, end, kind); start -1 where the value could not be located."""

NOT_SECRETS = frozenset({"Public IP (ipv4)"})
"""Detectors that report something else than a secret."""
PRIVATE_KEY, KEYWORD, TOKEN = "Private Key", "Secret Keyword", "JSON Web Token"
ENTROPY = ("Base64 High Entropy String", "Hex High Entropy String")
ANCHORS = re.compile(r"(?:^|[\s\[{,:-])([&*])([^\s\[\]{},]+)", re.MULTILINE)
MOST_VALUES = 1_000_000
PIECE, OVERLAP = 20000, 1000
"""Longer lines are scanned in pieces: several of the expressions take quadratic time."""
HITS_PER_FILE = 5000
KEY_LINES = 300
"""How far below its first line the end of a private key is looked for."""

UUID = re.compile(r"[a-f0-9]{8}-(?:[a-f0-9]{4}-){3}[a-f0-9]{12}", re.I)
ID_KEY = re.compile(r"(?:_id|^(?:id|myid|userid))s?[\"'\]]*\s*(?:=>|:=|=|:)\s*[\"']?$", re.I)
"""A key that says identifier, right before a value (detect-secrets lets one anywhere before it count)."""
CODE_VALUE = re.compile(r"[\w.\->:]+[(\[]")
VARIABLE = re.compile(r"\$(?:[A-Za-z_]\w*|[{(].*)")
NO_VALUE = re.compile(r"(?:null|none|nil|undefined|true|false|string|str)|(.)\1*", re.I)
PLAIN_ASSIGNMENT = re.compile(r"^\s*(?:export\s+|ENV\s+|ARG\s+|set\s+)?([A-Za-z_][\w.-]*)=([^\s\"'`$]+)\s*$")
KEY_END = re.compile(r"-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----")
TOKEN_TAIL = re.compile(r"[\w.+/=-]*", re.ASCII)
STRIPPED = " \t=:\"'`"
SEAM = re.compile(
    r"""["'`](?:(?:[\s\\+.&|~()]|(?:#|//)[^\n"'`]{0,200}\n){1,200}+[A-Za-z$@]{0,2})?["'`]+|\\\n[ \t]*+"""
    r"""|(?<=\w)["'`](?=\w)|\\x([2-7][0-9a-fA-F])|\\u\{?0{0,6}([2-7][0-9a-fA-F])\}?"""
)
MOST_SEAMS = 20_000  # between two literals that a program puts together; an escape is one too


class OutOfTimeError(Exception):
    """The time for a file is over."""


class Detectors:
    """The installed detectors, loaded once."""

    def __init__(self) -> None:
        plugins = import_module("detect_secrets.core.plugins.util").get_mapping_from_secret_type_to_class()
        base = import_module("detect_secrets.plugins.base").RegexBasedDetector
        keyword = import_module("detect_secrets.plugins.keyword")
        heuristic = import_module("detect_secrets.filters.heuristic")
        self.file_type = import_module("detect_secrets.util.filetype").determine_file_type
        self.other_type = import_module("detect_secrets.util.filetype").FileType.OTHER
        self.yaml_type = import_module("detect_secrets.util.filetype").FileType.YAML
        self.transformed = import_module("detect_secrets.transformers").get_transformed_file
        self.patterns: list[tuple[str, re.Pattern[str], Any]] = []
        self.entropy: list[tuple[str, Any]] = []
        for kind, plugin_class in sorted(plugins.items()):
            if kind in NOT_SECRETS or kind == KEYWORD:
                continue
            plugin = plugin_class()
            if kind in ENTROPY:
                self.entropy.append((kind, plugin))
            elif isinstance(plugin, base):
                check = plugin.analyze_string if plugin_class.analyze_string is not base.analyze_string else None
                self.patterns += [(kind, regex, check) for regex in plugin.denylist]
        self.keyword_default = keyword.QUOTES_REQUIRED_DENYLIST_REGEX_TO_GROUP
        self.keyword_by_type = keyword.REGEX_BY_FILETYPE
        self.sequential = heuristic.is_sequential_string
        self.templated = heuristic.is_templated_secret
        if not self.patterns or len(self.entropy) != len(ENTROPY):
            raise RuntimeError("detectors are missing")

    def spans(self, line: str, name: str, lock: bool) -> Iterator[tuple[str, int, int]]:
        """Every (kind, start, end) in a line, counted from 0."""
        keyword = self.keyword_by_type.get(self.file_type(name), self.keyword_default)
        return in_pieces(line, lambda piece: self._piece(piece, keyword, lock))

    def pattern_spans(self, line: str) -> Iterator[tuple[str, int, int]]:
        """The same of the expressions that know a secret by its own form."""
        return in_pieces(line, self._pattern_spans)

    def _piece(self, line: str, keyword: Any, lock: bool) -> Iterator[tuple[str, int, int]]:
        yield from self._pattern_spans(line)
        yield from self._keyword_spans(line, keyword)
        if not lock:
            yield from self._entropy_spans(line)

    def _pattern_spans(self, line: str) -> Iterator[tuple[str, int, int]]:
        for kind, regex, check in self.patterns:
            for match in regex.finditer(line):
                start, end = secret_span(match)
                if kind == TOKEN:  # its expression stops before the signature
                    end = max(end, TOKEN_TAIL.match(line, end).end())  # type: ignore[union-attr]
                if check and not any(check(match[0])):
                    continue
                if kind == PRIVATE_KEY and match[0].startswith("BEGIN") and "-" not in line[max(0, start - 6) : start]:
                    continue  # prose about keys
                if not self.nonsense(line[start:end]):
                    yield kind, start, end

    def _keyword_spans(self, line: str, keyword: Any) -> Iterator[tuple[str, int, int]]:
        for regex, group in keyword.items():
            for match in regex.finditer(line):
                value = match[group]
                if value and not self.nonsense(value) and not is_reference(value):
                    yield KEYWORD, match.start(group), match.start(group) + len(value.rstrip())

    def _entropy_spans(self, line: str) -> Iterator[tuple[str, int, int]]:
        for kind, plugin in self.entropy:
            for match in plugin.regex.finditer(line):
                value, start = match[2], match.start(2)
                if plugin.calculate_shannon_entropy(value) > plugin.entropy_limit and not (
                    self.nonsense(value) or UUID.fullmatch(value) or ID_KEY.search(line[max(0, start - 80) : start])
                ):
                    yield kind, start, match.end(2)

    def nonsense(self, value: str) -> bool:
        """Values that are no secret, whoever reports them."""
        return bool(self.sequential(value) or self.templated(value)) or not re.search(r"[A-Za-z]|\d{6}", value)


def in_pieces(line: str, look: Callable[[str], Iterator[tuple[str, int, int]]]) -> Iterator[tuple[str, int, int]]:
    """What a look finds in each piece of a line, counted from the line's start."""
    for offset in range(0, max(len(line), 1), PIECE):
        for kind, start, end in look(line[offset : offset + PIECE + OVERLAP]):
            yield kind, offset + start, offset + end


def secret_span(match: re.Match[str]) -> tuple[int, int]:
    """A group is the secret only where it is not merely a prefix; blanks and quotes round a match are none of
    it."""
    groups = [number for number in range(1, (match.re.groups or 0) + 1) if len(match[number] or "") >= 8]
    start, end = match.span(groups[0]) if groups else match.span()
    text = match.string
    while start < end and text[start] in STRIPPED:
        start += 1
    while end > start and text[end - 1] in STRIPPED:
        end -= 1
    return start, end


def is_reference(value: str) -> bool:
    """A call, an index, a variable or a word for nothing in the place of a password."""
    return bool(CODE_VALUE.match(value) or VARIABLE.fullmatch(value) or NO_VALUE.fullmatch(value.strip()))


class Scan:
    """One file under scan: what was found, and what could not be done."""

    def __init__(self, detectors: Detectors, text: str, entry: dict[str, Any]) -> None:
        self.detectors = detectors
        self.text = text
        self.lines = text.split("\n")
        self.name = str(entry["name"]).lower()
        self.lock = bool(entry["lock"])
        self.shell = bool(entry["shell"])
        self.found: Found = set()
        self.joined: list[tuple[int, int, int, int, str]] = []  # first line, start, last line, end, kind
        self.notes: list[str] = []

    def run(self) -> None:
        """The raw lines first: they need no parser that a file could lead astray."""
        for number, line in enumerate(self.lines):
            if line.strip():
                for kind, start, end in self.detectors.spans(line, self.name, self.lock):
                    self.found.add((number, start, end, kind))
            if self.shell and (plain := PLAIN_ASSIGNMENT.match(line)):
                self.add_transformed(number, f'{plain[1]} = "{plain[2]}"')
            if len(self.found) > HITS_PER_FILE:
                self.notes.append(f"more than {HITS_PER_FILE} hits")
                return
        self.add_joined()
        for offset, part in self.parts():
            for number, line in enumerate(self.transformed(part, False)):
                self.add_transformed(offset + number, line)
        if self.detectors.file_type(self.name) is self.detectors.other_type:
            for number, line in enumerate(self.transformed(self.text, True)):
                self.add_transformed(number, line)

    def add_joined(self) -> None:
        """What the expressions find across the seams of the text as a program puts it together."""
        seams = list(itertools.islice(SEAM.finditer(self.text), MOST_SEAMS + 1))
        self.notes += [f"more than {MOST_SEAMS} seams between literals"] if len(seams) > MOST_SEAMS else []
        pieces, starts = [""], list[int]()  # starts of what follows each seam, in the joined text
        last = length = offset = 0
        for seam in seams:
            code = int(seam[1] or seam[2] or "0", 16)
            pieces.append(self.text[last : seam.start()] + (chr(code) if code > 32 else seam[0] if code else ""))
            length += len(pieces[-1])
            starts.append(length)
            last = seam.end()
        for line in "".join([*pieces, self.text[last:]]).split("\n") if seams else ():
            first, stop = bisect_left(starts, offset), bisect_right(starts, offset + len(line))
            if first < stop:
                for kind, start, end in self.detectors.pattern_spans(line):
                    begin, crossed = bisect_right(starts, offset + start), bisect_left(starts, offset + end)
                    if begin < crossed:
                        base = offset + start - starts[begin - 1] + seams[begin - 1].end() if begin else offset + start
                        there = offset + end - starts[crossed - 1] + seams[crossed - 1].end()
                        self.joined.append((*self.place(base), *self.place(there), kind))
            offset += len(line) + 1

    def place(self, offset: int) -> tuple[int, int]:  # line and column from 0
        return self.text.count("\n", 0, offset), offset - self.text.rfind("\n", 0, offset) - 1

    def parts(self) -> list[tuple[int, str]]:
        """The documents of a YAML file, since the transformer gives up on more than one; else the file."""
        if self.detectors.file_type(self.name) is not self.detectors.yaml_type:
            return [(0, self.text)]
        marks = [
            0,
            *(number for number, line in enumerate(self.lines) if line.rstrip() == "---"),
            len(self.lines),
        ]
        return [(a, "\n".join(self.lines[a:b])) for a, b in itertools.pairwise(marks) if b > a]

    def transformed(self, text: str, eager: bool) -> list[str]:
        """The lines as detect-secrets rewrites them; what cannot be rewritten has been scanned raw."""
        is_yaml = self.detectors.file_type(self.name) is self.detectors.yaml_type
        if is_yaml and expanded_size(text) > MOST_VALUES:
            self.notes.append("its aliases multiply beyond bounds")
            return []
        stream = io.StringIO(text)
        stream.name = self.name
        try:
            return self.detectors.transformed(stream, use_eager_transformers=eager) or []
        except (MemoryError, RecursionError) as error:
            self.notes.append(f"its values could not be expanded: {type(error).__name__}")
        except OutOfTimeError:
            raise
        except Exception:  # noqa: S110  it only looks like YAML or ini
            pass
        return []

    def add_transformed(self, number: int, line: str) -> None:
        """Hits in a rewritten line, located in the raw line (or, for a folded value, in those below it)."""
        if not line.strip() or number >= len(self.lines):
            return
        for kind, start, end in set(self.detectors.spans(line, self.name, self.lock)):
            value = line[start:end].replace('\\"', '"')
            last = min(number + 1 + line.count("\n"), len(self.lines))
            for below in range(number, last):
                places = occurrences(self.lines[below], value)
                self.found.update((below, place, place + len(value), kind) for place in places)
                if places:
                    break
            else:
                if not any(at == number and other == kind for at, _, _, other in self.found):
                    self.found.add((number, -1, -1, kind))


def expanded_size(text: str) -> int:
    """About how many values a YAML text stands for: an anchor weighs as much as what stands until the next one."""
    weights: dict[str, int] = {}
    name, weight, total = "", 0, 0
    for mark, word in ANCHORS.findall(text):
        if mark == "&":
            weights[name], name, weight = weight, word, 1
        weight += weights.get(word, 1)
        total = min(total + weights.get(word, 1), MOST_VALUES + 1)
        weight = min(weight, MOST_VALUES + 1)
    return total


def occurrences(line: str, value: str) -> list[int]:
    """Where a value starts in a line, at most 20 times."""
    places: list[int] = []
    position = line.find(value)
    while position >= 0 and len(places) < 20:
        places.append(position)
        position = line.find(value, position + len(value))
    return places


def folded(found: Found, lines: list[str]) -> list[list[Any]]:
    """One hit per secret: the most specific detector's; others on the same characters are named beside it."""
    rank = {KEYWORD: 2, **dict.fromkeys(ENTROPY, 3)}
    by_line: dict[int, list[tuple[str, int, int, set[str]]]] = {}
    order = sorted(found, key=lambda hit: (hit[0], rank.get(hit[3], 1), hit[1] - hit[2], hit))
    for number, start, end, kind in order:
        kept = by_line.setdefault(number, [])
        twin = next((hit for hit in kept if start >= 0 and hit[1] < end and start < hit[2]), None)
        if twin is None:
            kept.append((kind, start, end, set()))
        elif kind != twin[0]:
            twin[3].add(kind)
    hits: list[list[Any]] = []
    for number, kept in sorted(by_line.items()):
        for kind, start, end, others in sorted(kept, key=lambda hit: (hit[1], hit[0])):
            last, first, stop = number, start, end
            if kind == PRIVATE_KEY:
                last, first, stop = private_key_extent(lines, number, start, end)
            hits.append([kind, number + 1, first + 1, stop + 1, last + 1, sorted(others)])
    return hits


def private_key_extent(lines: list[str], number: int, start: int, end: int) -> tuple[int, int, int]:
    """From the dashes before the header to the end line, where there is one near."""
    if start >= 0 and lines[number][:start].endswith("-----"):
        start -= 5
    for last in range(number, min(number + KEY_LINES, len(lines))):
        match = KEY_END.search(lines[last], end if last == number else 0)
        if match:
            return last, start, match.end()
    return number, start, end


def answer_file(detectors: Detectors, entry: dict[str, Any], seconds: float) -> dict[str, Any]:
    """One file's answer; whatever it does to us, the others get theirs. Names errors by their class alone."""
    try:
        with open(entry["local"], encoding="utf-8", errors="surrogateescape", newline="") as stream:
            scan = Scan(detectors, stream.read(), entry)
        try:
            with deadline(seconds):
                scan.run()
        except OutOfTimeError:
            scan.notes.append("out of time")
        except (MemoryError, RecursionError) as error:
            scan.notes.append(type(error).__name__)
        hits = folded(scan.found, scan.lines)
        taken = {(hit[0], number) for hit in hits for number in range(hit[1], hit[4] + 1)}
        for first, start, last, stop, kind in scan.joined[:HITS_PER_FILE]:
            if taken.isdisjoint((kind, number) for number in range(first + 1, last + 2)):
                hits.append([kind, first + 1, start + 1, stop + 1, last + 1, []])
    except Exception as error:
        return {"state": "failed", "detail": type(error).__name__, "hits": []}
    return {"state": "partial" if scan.notes else "done", "detail": "; ".join(scan.notes), "hits": hits}


@contextlib.contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Raise OutOfTimeError in the block after so many seconds, where the system has such a timer."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def expire(_number: int, _frame: object) -> None:
        raise OutOfTimeError

    before = signal.signal(signal.SIGALRM, expire)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@functools.cache
def detectors() -> Detectors:
    """All of them, loaded once."""
    return Detectors()


def load(_directory: str = "") -> None:
    """Import all that ``main`` needs."""
    detectors()


def main(_arguments: Sequence[str] = ()) -> None:
    """Answer requests until there are no more; nothing but answers reaches stdout."""
    out = sys.stdout
    sys.stdout = sys.stderr
    load()
    for line in sys.stdin:
        request = json.loads(line)
        seconds = float(request.get("file_timeout_s", 20))
        files = {entry["id"]: answer_file(detectors(), entry, seconds) for entry in request["files"]}
        out.write(json.dumps({"files": files}) + "\n")
        out.flush()


if __name__ == "__main__":
    main()
