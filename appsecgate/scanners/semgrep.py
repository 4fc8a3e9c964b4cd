"""semgrep: its core is started directly, with our rules, our list of targets and our choice of analyzer per
file.

The core alone reads no ignore file, runs no git, knows no size limit and asks no network, and it parses
whatever analyzer we name, whatever the file is called. What it leaves silent otherwise is met here: a probe
rule per language makes it parse every file (with its filter for irrelevant rules a file that cannot be parsed
says nothing), and a known-bad sample per language rides along in every run.
"""

import contextlib
import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from appsecgate.embedded import read_embedded
from appsecgate.model import Category, EvidenceReason, Json, Scanner
from appsecgate.process import Completed, Limits
from appsecgate.scanners.base import Batch, Installation, Invocation, Report, StagedFile, Standby
from appsecgate.scanners.classify import KIND_BINARY, KIND_SOURCE, KIND_TEXT
from appsecgate.scanners.inline_scripts import inline_scripts
from appsecgate.scanners.report_json import json_object, json_text, json_texts
from appsecgate.scanners.semgrep_report import PROBE_PREFIX, SemgrepExpectation, read_semgrep_report
from appsecgate.scanners.semgrep_rules import WIDE_LANGUAGES, RulePack
from appsecgate.scanners.stage import copy_bytes, staged_source
from appsecgate.spelling import SPELLING_VERSION, respell
from appsecgate.workspace import Source

_RULE_TIMEOUT_S = 5
_RULES_TIMING_OUT_PER_FILE = 3
_TAINTED_VARIABLES = 100_000
"""In one function. The core's own bound is 50, and what is beyond it is dropped without a word: fifty more
assignments in front of a finding made it disappear."""
_SEMGREP_MEMORY_BYTES = 2 << 30
"""Address space: rules and ordinary files need 0.6 GB; a YAML alias bomb takes 9 GB in seconds without it."""
_PAGE_LANGUAGES = frozenset({"html", "vue"})
_TRANSLATED_FIRST = frozenset({"java"})
"""Languages in which escapes are translated before anything is read: the core, which does not do that, parses the
copy in plain spelling alone. In all others a file that does not parse as it stands is broken, whatever is undone."""
_TRANSLATED = re.compile(r"\\u+[0-9a-fA-F]{4}")
_PLAIN = "plain-"
"""How the name of a copy of scripts in plain spelling begins."""
_SAMPLES = "samples/semgrep.json"
_RULES_FILE = "rules.json"
_TARGETS_FILE = "targets.json"


@dataclass(frozen=True, slots=True)
class SemgrepSample:
    """A known-bad file, which rides along in every run that uses its analyzer."""

    file_name: str
    """Below the run directory."""
    text: str
    probe: str
    """A pattern that no filter leaves out and that hardly ever matches (``x = x``): it makes the core parse
    every
    file of the language, and it matches in the sample."""
    rules: tuple[str, ...]
    """Rules of ours that must report the sample; a taint rule among them where the language has one."""


class SemgrepAdapter:
    """The adapter for semgrep-core; see ``base.Adapter`` for what each method promises."""

    name = Scanner.SEMGREP
    category = Category.SAST

    def __init__(self, pack: RulePack, *, timeout_s: float = 60.0, broken: str = "") -> None:
        """``broken``: why a configured rule file is not in the pack; no file then counts as seen whole."""
        self._broken = broken
        self._pack = pack
        self._timeout_s = timeout_s
        self._identifiers = pack.identifiers()
        self._languages = pack.languages() - WIDE_LANGUAGES
        self._wide_custom = pack.wide_custom()
        self._samples = load_semgrep_samples()

    def ruleset_hash(self) -> str:
        limits = (_RULE_TIMEOUT_S, _RULES_TIMING_OUT_PER_FILE, _TAINTED_VARIABLES, _SEMGREP_MEMORY_BYTES)
        switches = (self._pack.digest, self._broken, limits, SPELLING_VERSION)
        return hashlib.sha256(repr(switches).encode()).hexdigest()[:16]

    def has_rule(self, rule_id: str) -> bool:
        return rule_id in self._identifiers

    def rule_hash(self, rule_id: str) -> str:
        """Of a rule that is not built in: the project may be able to change it."""
        return self._pack.custom_hash(rule_id)

    def accepts(self, path: str, language: str, kinds: frozenset[str]) -> EvidenceReason:
        del path
        covered = language in self._languages or (
            language in _PAGE_LANGUAGES and KIND_SOURCE in kinds and "javascript" in self._languages
        )
        if covered or (self._wide_custom and KIND_TEXT in kinds):
            reason = EvidenceReason.NONE
        elif KIND_SOURCE in kinds:
            reason = EvidenceReason.NO_RULES
        else:
            return EvidenceReason.NOT_APPLICABLE
        return EvidenceReason.BINARY if KIND_BINARY in kinds else reason

    def companions(self, path: str, source: Source, listing: Callable[[str], Sequence[str]]) -> Sequence[str]:
        del path, source, listing
        return ()

    def batches(self, targets: Sequence[StagedFile], companions: Sequence[StagedFile]) -> Sequence[Batch]:
        del companions
        return [Batch(tuple(targets))]

    def unready(self) -> tuple[EvidenceReason, str]:
        if not self._pack.rules:
            return EvidenceReason.NO_RULES, self._broken or "no semgrep rules are active"
        return EvidenceReason.NONE, ""

    def service(self) -> contextlib.AbstractContextManager[str]:
        return contextlib.nullcontext("")

    def invocation(self, batch: Batch, tool: Installation, run_dir: Path, service: str) -> Invocation:
        del service
        files: dict[str, bytes] = {}
        entries: list[Json] = []
        analyzers: set[str] = set()
        for number, file in enumerate(batch.targets):
            for analyzer, local in self._looks(file, number, run_dir, files):
                analyzers.add(analyzer)
                entries.append(_target_entry(local, file.path, analyzer))
        samples = [(analyzer, self._samples[analyzer]) for analyzer in sorted(analyzers & self._samples.keys())]
        for analyzer, sample in samples:
            local = run_dir / sample.file_name
            files[sample.file_name] = sample.text.encode()
            entries.append(_target_entry(local, sample.file_name, analyzer))
        rules: list[Json] = [*self._pack.restricted_to(analyzers), *_probe_rules(dict(samples))]
        files[_RULES_FILE] = json.dumps({"rules": rules}).encode("utf-8", "replace")
        files[_TARGETS_FILE] = json.dumps(["Targets", entries]).encode()
        limits = Limits(self._timeout_s, memory_bytes=_SEMGREP_MEMORY_BYTES, cpu_s=int(self._timeout_s) + 5)
        core = str(semgrep_core_path(tool))
        return Invocation(
            argv=_core_command(core, str(run_dir)),
            limits=limits,
            files=files,
            standby=Standby(
                _core_command(core, "{directory}"), limits, _TARGETS_FILE, {_RULES_FILE: files[_RULES_FILE]}
            ),
        )

    def parse(self, completed: Completed, batch: Batch, tool: Installation, run_dir: Path) -> Report:
        expectation = SemgrepExpectation(tool.version, self._identifiers, broken_rules=self._broken)
        for number, file in enumerate(batch.targets):
            looks = self._looks(file, number, run_dir, {})
            for analyzer, local in looks:
                expectation.files[str(local)] = file
                if local == file.plain or local.name.startswith(_PLAIN):
                    expectation.respelled[str(local)] = analyzer
                elif analyzer in _TRANSLATED_FIRST and file.plain is not None and _has_translated(file):
                    expectation.beside.add(str(local))
                sample = self._samples.get(analyzer)
                if sample is None:
                    expectation.unproven[file.path] = analyzer
                else:
                    expectation.sentinels[str(run_dir / sample.file_name)] = self._required(sample, analyzer)
            if KIND_SOURCE in file.kinds and all(analyzer in WIDE_LANGUAGES for analyzer, _ in looks):
                expectation.uncovered.add(file.path)
        return read_semgrep_report(completed, expectation)

    def _looks(self, file: StagedFile, number: int, run_dir: Path, files: dict[str, bytes]) -> list[tuple[str, Path]]:
        """Each (analyzer, copy) under which the core looks at a file; copies of scripts in pages go to
        ``files``."""
        looks: list[tuple[str, Path]] = []
        if file.language in self._languages:
            looks += [(file.language, local) for local in (file.local, file.plain) if local is not None]
        if file.language in _PAGE_LANGUAGES and KIND_SOURCE in file.kinds:
            scripts = inline_scripts(staged_source(file).text)
            if scripts is not None and scripts.analyzer in self._languages:
                name = f"scripts/{number}.{'ts' if scripts.analyzer == 'typescript' else 'js'}"
                files[name] = scripts.text.encode("utf-8", "surrogateescape")
                looks.append((scripts.analyzer, run_dir / name))
                respelled = respell(scripts.analyzer, scripts.text)
                if respelled is not None:
                    plain = _plain_copy(file, run_dir / name)
                    files[f"scripts/{plain.name}"] = copy_bytes(respelled.text)
                    looks.append((scripts.analyzer, plain))
        if looks or self._wide_custom:
            looks += [(wide, file.local) for wide in sorted(WIDE_LANGUAGES & self._pack.languages())]
        return looks

    def _required(self, sample: SemgrepSample, analyzer: str) -> frozenset[str]:
        """What must be reported about a sample: the probe, and those of its rules that are loaded."""
        probe = {PROBE_PREFIX + analyzer} if sample.probe else set()
        return frozenset(probe | (set(sample.rules) & self._identifiers))


def load_semgrep_samples() -> dict[str, SemgrepSample]:
    """Analyzer → its known-bad sample. An analyzer without one is never reported as clean."""
    table: dict[str, SemgrepSample] = {}
    for analyzer, value in json_object(json.loads(read_embedded(_SAMPLES))).items():
        fields = json_object(value)
        table[analyzer] = SemgrepSample(
            file_name=f"samples/{analyzer}{json_text(fields.get('suffix'))}",
            text=json_text(fields.get("text")),
            probe=json_text(fields.get("probe")),
            rules=json_texts(fields.get("rules")),
        )
    return table


def _has_translated(file: StagedFile) -> bool:
    return _TRANSLATED.search(staged_source(file).text) is not None


def _plain_copy(file: StagedFile, local: Path) -> Path:
    """Where the copy in plain spelling of a copy is, if there is one."""
    return file.plain or local if local == file.local else local.with_name(_PLAIN + local.name)


def semgrep_core_path(tool: Installation) -> Path:
    """The core's executable: the command itself, or where the package keeps it below the environment."""
    command = Path(tool.command[0])
    if command.name.startswith("semgrep-core") or tool.home is None:
        return command
    found = sorted(tool.home.glob("[Ll]ib/**/site-packages/semgrep/bin/semgrep-core*"))
    return found[0] if found else tool.home / "semgrep-core"


def _core_command(core: str, directory: str) -> tuple[str, ...]:
    return (
        core, "-json_nodots", "-rules", f"{directory}/{_RULES_FILE}", "-targets", f"{directory}/{_TARGETS_FILE}",
        "-fast", "-j", "1", "-timeout", str(_RULE_TIMEOUT_S), "-timeout_threshold", str(_RULES_TIMING_OUT_PER_FILE),
        "-max_tainted_vars", str(_TAINTED_VARIABLES),
    )  # fmt: skip


def _probe_rules(samples: Mapping[str, SemgrepSample]) -> list[Json]:
    return [
        {
            "id": PROBE_PREFIX + analyzer,
            "languages": [analyzer],
            "severity": "INFO",
            "message": "parsed",
            "pattern": sample.probe,
        }
        for analyzer, sample in samples.items()
        if sample.probe
    ]


def _target_entry(local: Path, path: str, analyzer: str) -> Json:
    """``path``, which rules' ``paths:`` look at, must be valid Unicode for the core's JSON reader."""
    shown = "/" + path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return [
        "CodeTarget",
        {"path": {"fpath": str(local), "ppath": shown}, "analyzer": analyzer, "products": ["sast"]},
    ]
