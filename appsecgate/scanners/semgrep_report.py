"""What semgrep-core said, understood: hits with character columns, and evidence for every file."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from appsecgate.model import (
    Category,
    EvidenceReason,
    EvidenceState,
    Hit,
    Json,
    Scanner,
    SentinelState,
    Severity,
    TargetEvidence,
)
from appsecgate.process import Completed
from appsecgate.scanners.base import Report, StagedFile
from appsecgate.scanners.inline_scripts import inline_scripts
from appsecgate.scanners.report_json import (
    json_integer,
    json_list,
    json_object,
    json_text,
    json_texts,
    load_report,
)
from appsecgate.scanners.semgrep_rules import whole_rule_id
from appsecgate.scanners.stage import staged_source
from appsecgate.spelling import Respelled, respell

PROBE_PREFIX = "appsecgate-probe-"
"""Ids of the rules that only make the core parse a file."""
_MESSAGE_MAX_CHARS = 2000
_PATCH_MAX_CHARS = 4000
_KEPT_METADATA = ("confidence", "impact", "likelihood", "remediation")

_SEVERITIES = {
    "ERROR": Severity.HIGH,
    "WARNING": Severity.MEDIUM,
    "INFO": Severity.LOW,
    "CRITICAL": Severity.CRITICAL,
    "HIGH": Severity.HIGH,
    "MEDIUM": Severity.MEDIUM,
    "LOW": Severity.LOW,
    "EXPERIMENT": Severity.INFO,
    "INVENTORY": Severity.INFO,
}
_PARSE_ERRORS = frozenset({"Syntax error", "Other syntax error", "Lexical error", "AST builder error"})
_PARTIAL_PARSING = "PartialParsing"
_RULE_ERRORS = frozenset(
    {"Rule parse error", "Pattern parse error", "PatternParseError", "Invalid YAML", "Incompatible rule"}
)
_GAVE_UP = "the taint analysis of a function took too long and was given up"
_NOSEM = re.compile(r"\bnosem(?:grep)?(?![\w-])", re.IGNORECASE)
_NOSEM_ALONE = re.compile(r"^\W*nosem(?:grep)?(?![\w-])", re.IGNORECASE)
"""On the line before, the comment counts only where nothing else stands there."""


@dataclass(slots=True)
class SemgrepExpectation:
    """What a run was asked. Keys of ``files`` and ``sentinels`` are absolute paths of copies."""

    version: str
    rules: frozenset[str]
    broken_rules: str = ""
    """Why rules that should have been used were not even handed over."""
    files: dict[str, StagedFile] = field(default_factory=dict)
    sentinels: dict[str, frozenset[str]] = field(default_factory=dict)
    """Each with the rules that must report it."""
    uncovered: set[str] = field(default_factory=set)
    """Project paths of source files that only rules for any text looked at."""
    unproven: dict[str, str] = field(default_factory=dict)
    """Project path → an analyzer for which there is no known-bad sample."""
    respelled: dict[str, str] = field(default_factory=dict)
    """Copies in plain spelling, which ``files`` holds too → their analyzer."""
    beside: set[str] = field(default_factory=set)
    """Copies that have one in plain spelling beside them: whether the file can be parsed is told by that."""


def read_semgrep_report(completed: Completed, asked: SemgrepExpectation) -> Report:
    """Understand the core's JSON; anything else, and any exit status but 0, is a failed run."""
    report = load_report(completed.stdout)
    if not isinstance(report, dict) or not isinstance(report.get("results"), list):
        return Report(
            failure=EvidenceReason.SCANNER_FAILED,
            detail=f"no JSON report (exit status {completed.exit_code})",
        )
    hits, reported, dropped = _semgrep_hits(json_list(report["results"]), asked)
    problems = _Problems(asked)
    for item in json_list(report.get("errors")):
        problems.add(json_object(item))
    for item in json_list(json_object(report.get("paths")).get("skipped")):
        problems.add_skipped(json_object(item))
    problems.add_given_up(json_object(report.get("time")).get("fixpoint_timeouts"))
    failure = problems.fatal
    if completed.exit_code != 0 and not failure:
        failure = f"exit status {completed.exit_code}"
    if failure:
        return Report(hits=hits, failure=EvidenceReason.SCANNER_FAILED, detail=failure, dropped=dropped)
    scanned = frozenset(json_texts(json_object(report.get("paths")).get("scanned")))
    alive = all(required and required <= reported.get(path, set()) for path, required in asked.sentinels.items())
    return Report(
        hits=hits,
        targets=problems.evidence(scanned),
        sentinel=SentinelState.ALIVE if alive and asked.sentinels else SentinelState.MISSED,
        dropped=dropped,
    )


def semgrep_severity(severity: str, metadata: dict[str, Json]) -> Severity:
    """The rule's severity; high impact together with high likelihood makes a high one critical."""
    level = _SEVERITIES.get(severity.upper(), Severity.MEDIUM)
    worst = all(json_text(metadata.get(key)).upper() == "HIGH" for key in ("impact", "likelihood"))
    return Severity.CRITICAL if worst and level is Severity.HIGH else level


def _semgrep_hits(
    results: Sequence[Json], asked: SemgrepExpectation
) -> tuple[tuple[Hit, ...], dict[str, set[str]], int]:
    """The hits about files, the rules reported per sample, and how many results were about neither."""
    hits: dict[tuple[object, ...], Hit] = {}
    reported: dict[str, set[str]] = {}
    lines: dict[str, list[str]] = {}
    ways: dict[str, Respelled | None] = {}
    dropped = 0
    for item in results:
        result = json_object(item)
        path, rule_id = json_text(result.get("path")), whole_rule_id(json_text(result.get("check_id")))
        if path in asked.sentinels:
            reported.setdefault(path, set()).add(rule_id)
        if path in asked.sentinels or rule_id.startswith(PROBE_PREFIX):
            continue
        file = asked.files.get(path)
        if file is None or rule_id not in asked.rules:
            dropped += 1
            continue
        if file.path not in lines:
            lines[file.path] = staged_source(file).text.split("\n")
        language = asked.respelled.get(path, "")
        if language:
            if path not in ways:
                ways[path] = _way_back(file, path, language)
            result = _in_base(result, ways[path])
        hit = replace(_semgrep_hit(result, rule_id, file, lines[file.path], asked.version), respelled=language)
        key = (hit.path, hit.rule_id, hit.line_start, hit.col_start, hit.line_end, hit.col_end)
        if language or key not in hits:
            hits[key] = hit
    return tuple(hits.values()), reported, dropped


def _semgrep_hit(result: dict[str, Json], rule_id: str, file: StagedFile, lines: list[str], version: str) -> Hit:
    extra = json_object(result.get("extra"))
    metadata = json_object(extra.get("metadata"))
    start, end = json_object(result.get("start")), json_object(result.get("end"))
    line_start = _line_within(json_integer(start.get("line"), 1), lines)
    line_end = max(line_start, _line_within(json_integer(end.get("line"), 1), lines))
    col_start = _character_column(lines[line_start - 1], json_integer(start.get("col"), 1))
    col_end = _character_column(lines[line_end - 1], json_integer(end.get("col"), 1))
    if line_end > line_start and col_end == 1:  # it ends with a line break: that is the line before
        line_end -= 1
        col_end = len(lines[line_end - 1]) + 1
    kept: dict[str, Json] = {key: metadata[key] for key in _KEPT_METADATA if isinstance(metadata.get(key), str)}
    patch = json_text(extra.get("fix"))
    if patch:
        kept["patch"] = patch[:_PATCH_MAX_CHARS]
    ignored = extra.get("is_ignored") is True
    return Hit(
        scanner=Scanner.SEMGREP,
        rule_id=rule_id,
        category=Category.SAST,
        severity=semgrep_severity(json_text(extra.get("severity")), metadata),
        path=file.path,
        line_start=line_start,
        line_end=line_end,
        message=json_text(extra.get("message"))[:_MESSAGE_MAX_CHARS],
        scanner_version=version,
        col_start=col_start,
        col_end=col_end,
        cwe=json_texts(metadata.get("cwe")),
        owasp=json_texts(metadata.get("owasp")),
        references=json_texts(metadata.get("references")),
        metadata=kept,
        suppressed_inline=ignored and _asks_for_silence(lines, line_start, line_end),
    )


def _way_back(file: StagedFile, path: str, language: str) -> Respelled | None:
    """From a copy in plain spelling to the copy that it was made of."""
    text = staged_source(file).text
    scripts = None if path == str(file.plain) else inline_scripts(text)
    return respell(language, text if scripts is None else scripts.text)


def _in_base(result: dict[str, Json], way: Respelled | None) -> dict[str, Json]:
    """A result about a copy in plain spelling, at the place that this has in the file."""
    if way is None:
        return result
    moved = dict(result)
    for name in ("start", "end"):
        place = json_object(result.get(name))
        at = json_integer(place.get("line"), 1), json_integer(place.get("col"), 1)
        line, column = way.place_in_base(*at, is_end=name == "end")
        moved[name] = {"line": line, "col": column}
    return moved


def _line_within(line: int, lines: Sequence[str]) -> int:
    return min(max(line, 1), len(lines))


def _character_column(line: str, byte_column: int) -> int:
    """The core's columns count bytes of UTF-8 from 1; ours count characters."""
    if line.isascii():
        return min(max(byte_column, 1), len(line) + 1)
    before = line.encode("utf-8", "surrogateescape")[: max(byte_column - 1, 0)]
    return len(before.decode("utf-8", "surrogateescape")) + 1


def _asks_for_silence(lines: Sequence[str], line_start: int, line_end: int) -> bool:
    """Whether a ``nosem`` comment stands there; the core itself also takes ``nosemantic`` for one."""
    before = lines[line_start - 2] if line_start > 1 else ""
    return bool(_NOSEM_ALONE.match(before)) or any(_NOSEM.search(line) for line in lines[line_start - 1 : line_end])


class _Problems:
    """What the core's errors mean for each file."""

    def __init__(self, asked: SemgrepExpectation) -> None:
        self._asked = asked
        self._by_file: dict[str, tuple[EvidenceReason, str]] = {}
        self._for_all = asked.broken_rules
        self.fatal = ""

    def add(self, error: dict[str, Json]) -> None:
        kind = _error_kind(error.get("error_type"))
        location = json_object(error.get("location"))
        path = json_text(location.get("path"))
        rule_id = whole_rule_id(json_text(error.get("rule_id")))
        line = json_integer(json_object(location.get("start")).get("line"))
        if path in self._asked.sentinels:
            return  # a sample that was not seen whole is not reported either, and that is what counts
        if path in self._asked.beside and (kind in _PARSE_ERRORS or kind == _PARTIAL_PARSING):
            return
        file = self._asked.files.get(path)
        if file is not None:
            self._note(file.path, *_file_problem(kind, rule_id, line))
        elif kind in _RULE_ERRORS or rule_id:
            self._for_all = self._for_all or f"the rule {rule_id or '?'} could not be used: {kind}"
        else:
            self.fatal = self.fatal or kind

    def add_skipped(self, item: dict[str, Json]) -> None:
        file = self._asked.files.get(json_text(item.get("path")))
        if file is not None:
            self._note(file.path, EvidenceReason.PARTIAL, f"skipped: {json_text(item.get('reason'))}")

    def add_given_up(self, items: Json) -> None:
        """Functions in which the taint analysis gave up after its own time: the core mentions them beside the
        timing figures alone, ends with status 0 and an empty list of errors."""
        if not isinstance(items, list):
            self._for_all = self._for_all or "the core does not say where its taint analysis gave up"
        for item in json_list(items):
            error = json_object(item)
            if json_text(json_object(error.get("location")).get("path")) not in self._asked.files:
                self._for_all = self._for_all or _GAVE_UP
            self.add({**error, "error_type": _GAVE_UP})

    def evidence(self, scanned: frozenset[str]) -> dict[str, TargetEvidence]:
        """One entry per project path."""
        entries: dict[str, TargetEvidence] = {}
        for local, file in self._asked.files.items():
            reason, detail = self._by_file.get(file.path, (EvidenceReason.NONE, ""))
            if reason is EvidenceReason.NONE and local not in scanned:
                reason = EvidenceReason.NOT_REPORTED
            if reason is EvidenceReason.NONE and file.path in entries:
                continue
            if reason is EvidenceReason.NONE and file.path in self._asked.uncovered:
                reason, detail = EvidenceReason.NO_RULES, "only rules for any text looked at it"
            if reason is EvidenceReason.NONE and file.path in self._asked.unproven:
                reason = EvidenceReason.SENTINEL_MISSED
                detail = f"no known-bad sample for {self._asked.unproven[file.path]}"
            if reason is EvidenceReason.NONE and self._for_all:
                reason, detail = EvidenceReason.PARTIAL, self._for_all
            state = EvidenceState.APPLIED if reason is EvidenceReason.NONE else EvidenceState.NOT_VERIFIED
            entries[file.path] = TargetEvidence(Scanner.SEMGREP, file.path, file.sha256, state, reason, detail)
        return entries

    def _note(self, path: str, reason: EvidenceReason, detail: str) -> None:
        if self._by_file.get(path, (EvidenceReason.NONE, ""))[0] is not EvidenceReason.PARSE_FAILED:
            self._by_file[path] = (reason, detail)


def _error_kind(value: Json) -> str:
    """A kind is a text, or a list of a text and its data."""
    parts = json_list(value)
    return json_text(parts[0]) if parts else json_text(value) or "unknown error"


def _file_problem(kind: str, rule_id: str, line: int) -> tuple[EvidenceReason, str]:
    """The error's own words are left out: they quote the file."""
    where = f"line {line}: " if line > 0 else ""
    about = f" (rule {rule_id})" if rule_id else ""
    if kind in _PARSE_ERRORS:
        return EvidenceReason.PARSE_FAILED, f"{where}{kind}"
    if kind == "Missing plugin":
        return EvidenceReason.UNSUPPORTED_FORMAT, "semgrep's open core has no parser for this language"
    return EvidenceReason.PARTIAL, f"{where}{kind}{about}"
