"""A toy scanner and a memory of its findings, so that tests speak of texts and edits alone.

The scanner reports every ``sink(…)`` (without inner parentheses, over several lines too) under the
rule ``toy.sink``, and every ``leak(…)`` under ``toy.leak``.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from appsecgate.identity.fingerprint import fingerprints
from appsecgate.identity.lines import LineMap, line_hashes
from appsecgate.identity.matching import Known, Matching, match
from appsecgate.identity.scopes import ScopeMap, scope_map
from appsecgate.model import Category, Finding, Package, Scanner, Severity
from appsecgate.workspace import Source, source_from_bytes

KEY = b"k" * 32
_CALL = re.compile(r"\b(sink|leak)\([^()]*\)")


def finding(
    code: str = "sink(a)",
    *,
    line: int = 1,
    end: int | None = None,
    path: str = "a.py",
    rule: str = "toy.sink",
    scanner: Scanner = Scanner.SEMGREP,
    category: Category = Category.SAST,
    severity: Severity = Severity.HIGH,
    cwe: Sequence[str] = (),
    digests: Sequence[str] = (),
    resource: str | None = None,
    package: Package | None = None,
    logical: str = "",
) -> Finding:
    """A sealed finding with what a test cares for."""
    return Finding(
        scanner=scanner,
        rule_id=rule,
        category=category,
        severity=severity,
        file_path=path,
        line_start=line,
        line_end=line if end is None else end,
        message="",
        snippet=code,
        code=code,
        scanner_version="1",
        cwe=tuple(cwe),
        secret_digests=tuple(digests),
        resource=resource,
        package=package,
        logical_id=logical,
    )


def source(path: str, text: str) -> Source:
    return source_from_bytes(path, text.encode())


def report(path: str, text: str) -> list[Finding]:
    """What the toy scanner says about a text, in an order of its own."""
    normal = source(path, text).text
    found = []
    for call in _CALL.finditer(normal):
        line = normal.count("\n", 0, call.start()) + 1
        end = normal.count("\n", 0, call.end()) + 1
        folded = " ".join(call.group().split())
        found.append(finding(folded, line=line, end=end, path=path, rule=f"toy.{call.group(1)}"))
    return found[::-1]


def line_map(old: str, new: str, path: str = "a.py") -> LineMap:
    return LineMap(line_hashes(source(path, old), KEY), line_hashes(source(path, new), KEY))


def known(found: Finding, *, present: bool = True) -> Known:
    """What is remembered of an identified finding."""
    return Known(
        logical_id=found.logical_id,
        fingerprint=found.fingerprint,
        scanner=found.scanner,
        rule_id=found.rule_id,
        file_path=found.file_path,
        scope_key=found.scope_key,
        slot=found.slot,
        code=found.code,
        line_start=found.line_start,
        line_end=found.line_end,
        present=present,
    )


class Memory:
    """The toy scanner's findings of some files, scan after scan."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts: dict[str, str] = {}
        self.known: dict[str, Known] = {}
        self.scopes: dict[str, ScopeMap] = {}
        self.first = self.scan(texts)

    def scan(self, texts: Mapping[str, str], renames: Mapping[str, str] | None = None) -> Matching:
        """The files are these now (files left out are gone)."""
        renames = renames or {}
        maps: dict[str, LineMap] = {}
        for path, text in texts.items():
            old_path = renames.get(path, path)
            before = line_hashes(source(path, self.texts[old_path]), KEY) if old_path in self.texts else b""
            maps[path] = LineMap(before, line_hashes(source(path, text), KEY))
            scopes = scope_map(source(path, text))
            if not scopes.parsed and old_path in self.scopes:
                scopes = ScopeMap.from_json(self.scopes[old_path].to_json()).shifted(maps[path])
            self.scopes[path] = scopes
        found = [hit for path, text in texts.items() for hit in report(path, text)]
        done = match(list(self.known.values()), found, scopes=self.scopes, line_maps=maps, renames=renames)
        for identity in done.vanished:
            self.known[identity] = replace(self.known[identity], present=False)
        for new in done.findings:
            self.known[new.logical_id] = known(new)
        self.texts = dict(texts)
        return done

    def edit(self, text: str, path: str = "a.py") -> Matching:
        return self.scan({**self.texts, path: text})


def ids_by_code(done: Matching) -> dict[str, str]:
    """Code to logical id; codes are distinct in the texts where this is asked."""
    return {new.code: new.logical_id for new in done.findings}


def ids_by_line(done: Matching) -> dict[int, str]:
    return {new.line_start: new.logical_id for new in done.findings}


def identified(found: Sequence[Finding], scopes: ScopeMap | None = None) -> list[Finding]:
    """Findings of a first scan with their ids."""
    paths = {one.file_path for one in found}
    maps = {path: scopes or ScopeMap.buckets() for path in paths}
    return list(match([], fingerprints(found), scopes=maps, line_maps={}).findings)
