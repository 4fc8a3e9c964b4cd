"""The checkov adapter: infrastructure code, checked runner by runner through a small program of ours.

checkov never sees the project: it gets copies under canonical names in a private directory, so that no
configuration, external check or module of the repository can be loaded (``checkov_layout``). The program
(``workers/checkov.py``) tells which files each runner really took in; without that, "no findings" and "not
parsed" look alike.
"""

import contextlib
import hashlib
import json
import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from appsecgate.embedded import read_embedded
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
from appsecgate.process import Completed, Limits
from appsecgate.scanners.base import Batch, Installation, Invocation, Report, StagedFile, Zygote
from appsecgate.scanners.checkov_layout import (
    CHECKOV_FRAMEWORKS,
    CheckovGroup,
    checkov_frameworks,
    checkov_groups,
    checkov_sample_name,
    is_terraform_source,
    is_terraform_values,
)
from appsecgate.scanners.classify import KIND_ANSIBLE, KIND_BICEP, KIND_HELM, KIND_SERVERLESS, KIND_TERRAFORM
from appsecgate.scanners.report_json import (
    json_integer,
    json_list,
    json_object,
    json_text,
    json_texts,
    load_report,
)
from appsecgate.workspace import Source

CHECKOV_READING = 1
"""Raised when files are laid out or reports are read differently, so that cached answers are asked anew."""
_CHECKOV_WORKER = "workers/checkov.py"
_CHECKOV_CHECKS = "samples/checkov_checks.json"
_CHECKOV_MORE_S = 2.0
_CHECKOV_SLOW_TO_LOAD = frozenset({KIND_ANSIBLE, KIND_BICEP})
"""Runners that few projects need and that take seconds to load: a worker leaves that to the request."""
_CHECKOV_GIB = 1024**3


class CheckovAdapter:
    """See ``base.Adapter``."""

    name = Scanner.CHECKOV
    category = Category.IAC

    def __init__(self, *, timeout_s: float = 60.0, group_s: int = 20) -> None:
        """``timeout_s``: for one run, some more for each module or file in it; ``group_s``: for one of these."""
        self._timeout_s = timeout_s
        self._group_s = group_s

    def ruleset_hash(self) -> str:
        """checkov's rules come with its version; ours to decide are the layout, the samples and the severities."""
        parts = [str(CHECKOV_READING), read_embedded(_CHECKOV_WORKER), read_embedded(_CHECKOV_CHECKS)]
        parts += [read_embedded(checkov_sample_name(framework)) for framework in CHECKOV_FRAMEWORKS]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]

    def has_rule(self, rule_id: str) -> bool:
        """Every check of the pinned version is always loaded."""
        return rule_id.startswith(("CKV_", "CKV2_"))

    def rule_hash(self, rule_id: str) -> str:  # noqa: ARG002
        return ""

    def accepts(self, path: str, language: str, kinds: frozenset[str]) -> EvidenceReason:  # noqa: ARG002
        if set(checkov_frameworks(kinds)) - {KIND_TERRAFORM}:
            return EvidenceReason.NONE
        if KIND_TERRAFORM in kinds:
            return EvidenceReason.NONE if is_terraform_source(path) else EvidenceReason.UNSUPPORTED_FORMAT
        if KIND_SERVERLESS in kinds:  # its runner reads other files that the template names
            return EvidenceReason.UNSUPPORTED_FORMAT
        if KIND_HELM in kinds and not posixpath.basename(path).lower().startswith("chart."):
            return EvidenceReason.NO_RULES  # values say nothing until a chart is rendered, by a program of its own
        return EvidenceReason.NOT_APPLICABLE

    def companions(self, path: str, source: Source, listing: Callable[[str], Sequence[str]]) -> Sequence[str]:  # noqa: ARG002
        """The rest of a Terraform module: variables, locals and references live in any of its files, and the values
        of variables in files beside them."""
        if not is_terraform_source(path):
            return ()
        folder = posixpath.dirname(path)
        names = (posixpath.basename(entry) for entry in listing(folder))
        return [
            posixpath.join(folder, name) for name in names if is_terraform_source(name) or is_terraform_values(name)
        ]

    def batches(self, targets: Sequence[StagedFile], companions: Sequence[StagedFile]) -> Sequence[Batch]:
        return [Batch(tuple(targets), tuple(companions))] if targets else []

    def unready(self) -> tuple[EvidenceReason, str]:
        return EvidenceReason.NONE, ""

    def service(self) -> contextlib.AbstractContextManager[str]:
        return contextlib.nullcontext("")

    def invocation(self, batch: Batch, tool: Installation, run_dir: Path, service: str) -> Invocation:  # noqa: ARG002
        groups = checkov_groups(batch)
        request = {
            "groups": [
                {
                    "framework": group.framework,
                    "files": [str(run_dir / name) for name in group.names],
                    "sample": bool(group.sample),
                    "values": [str(run_dir / name) for name, _ in group.values],
                }
                for group in groups
            ],
            "group_s": self._group_s,
        }
        files = {
            group.sample: read_embedded(checkov_sample_name(group.framework)).encode()
            for group in groups
            if group.sample
        }
        return Invocation(
            argv=(str(tool.python), "-I", str(run_dir / "worker.py"), str(run_dir / "request.json")),
            limits=self._limits(len(groups)),
            files={
                "worker.py": read_embedded(_CHECKOV_WORKER).encode(),
                "request.json": json.dumps(request).encode(),
                **files,
            },
            links={name: file.local for group in groups for name, file in (*group.files, *group.values)},
            zygote=self.zygote(tool),
            arguments=(str(run_dir / "request.json"),),
        )

    def zygote(self, tool: Installation) -> Zygote | None:
        """See ``base.Loadable``. The runners are loaded with it, each by its sample."""
        if tool.python is None:
            return None
        quick = [framework for framework in CHECKOV_FRAMEWORKS if framework not in _CHECKOV_SLOW_TO_LOAD]
        return Zygote(tool.python, read_embedded(_CHECKOV_WORKER), self._limits(0), _samples_to_load(quick))

    def _limits(self, groups: int) -> Limits:
        return Limits(
            timeout_s=self._timeout_s + _CHECKOV_MORE_S * groups,
            memory_bytes=3 * _CHECKOV_GIB,
            cpu_s=self._group_s * 4,
        )

    def parse(self, completed: Completed, batch: Batch, tool: Installation, run_dir: Path) -> Report:
        document = json_object(load_report(completed.stdout))
        groups = checkov_groups(batch)
        answers = [json_object(answer) for answer in json_list(document.get("groups"))]
        if completed.exit_code != 0 or document.get("worker") != 1 or len(answers) != len(groups):
            return Report(failure=EvidenceReason.SCANNER_FAILED, detail=f"no report (exit {completed.exit_code})")
        reading = _CheckovReading(tool.version, run_dir)
        for group, answer in zip(groups, answers, strict=True):
            reading.take(group, answer)
        targets = {file.path: reading.evidence(file) for file in batch.targets}
        return Report(
            hits=tuple(reading.hits.values()),
            targets=targets,
            sentinel=SentinelState.ALIVE if reading.samples_found else SentinelState.MISSED,
            detail=reading.missed,
            dropped=reading.dropped,
        )


def checkov_saver(python: Path, directory: Path) -> Invocation:
    """What ``setup`` runs once: it keeps what takes long to make in checkov's own environment."""
    return Invocation(
        argv=(str(python), "-I", str(directory / "worker.py"), "--save", str(directory)),
        limits=Limits(timeout_s=300.0, memory_bytes=3 * _CHECKOV_GIB),
        files={"worker.py": read_embedded(_CHECKOV_WORKER).encode(), **_samples_to_load(list(CHECKOV_FRAMEWORKS))},
    )


def _samples_to_load(frameworks: Sequence[str]) -> dict[str, bytes]:
    """The files of a directory that the worker's ``load`` reads."""
    names = {framework: f"samples/{framework}/{CHECKOV_FRAMEWORKS[framework][0]}" for framework in frameworks}
    groups: list[Json] = [{"framework": framework, "files": [name]} for framework, name in names.items()]
    samples = {name: read_embedded(checkov_sample_name(framework)).encode() for framework, name in names.items()}
    return {"request.json": json.dumps({"groups": groups}).encode(), **samples}


class _CheckovReading:
    """Gathers the answers of all groups."""

    def __init__(self, scanner_version: str, run_dir: Path) -> None:
        self.hits: dict[tuple[str, str, str, int, int, bool], Hit] = {}
        self.dropped = 0
        self.samples_found = True
        self.missed = ""
        self._scanner_version = scanner_version
        self._run_dir = run_dir
        self._gaps: dict[str, list[tuple[EvidenceReason, str]]] = {}
        self._parsed: set[str] = set()
        self._seen: set[str] = set()

    def take(self, group: CheckovGroup, answer: Mapping[str, Json]) -> None:
        records = [json_object(record) for record in json_list(answer.get("records"))]
        if group.sample:
            wanted = CHECKOV_FRAMEWORKS[group.framework][1]
            if not any(record.get("check_id") == wanted and not record.get("skipped") for record in records):
                self.samples_found = False
                self.missed = self.missed or f"the {group.framework} sample was not reported"
            return
        staged = {str(self._run_dir / name): file for name, file in group.files}
        error = json_text(answer.get("error"))
        parsed = set(json_texts(answer.get("parsed")))
        partial = json_object(answer.get("partial"))
        for name, file in staged.items():
            self._seen.add(file.path)
            if name in parsed and not error:
                self._parsed.add(file.path)
            gap = _checkov_gap(group.framework, file, error, name in parsed, json_text(partial.get(name)))
            if gap is not None:
                self._gaps.setdefault(file.path, []).append(gap)
        for record in records:
            origin = staged.get(json_text(record.get("path")))
            if origin is None:
                self.dropped += 1
                continue
            hit = _checkov_hit(record, origin, self._scanner_version)
            self.hits.setdefault(
                (hit.path, hit.rule_id, hit.resource or "", hit.line_start, hit.line_end, hit.suppressed_inline), hit
            )

    def evidence(self, file: StagedFile) -> TargetEvidence:
        gaps = self._gaps.get(file.path, [])
        if file.path in self._parsed:  # by another runner: it is well-formed, and no such thing as this one reads
            gaps = [gap for gap in gaps if gap[0] is not EvidenceReason.PARSE_FAILED]
        if file.path not in self._seen:
            gaps = [(EvidenceReason.NOT_REPORTED, "")]
        state = EvidenceState.NOT_VERIFIED if gaps else EvidenceState.APPLIED
        reason = gaps[0][0] if gaps else EvidenceReason.NONE
        detail = "; ".join(dict.fromkeys(words for _, words in gaps if words))
        return TargetEvidence(Scanner.CHECKOV, file.path, file.sha256, state, reason, detail[:300])


def _checkov_gap(
    framework: str, file: StagedFile, error: str, parsed: bool, partial: str
) -> tuple[EvidenceReason, str] | None:
    """Why the runner's silence about a file proves nothing, or None."""
    if error == "timeout":
        return EvidenceReason.SCANNER_TIMEOUT, f"the {framework} runner took too long"
    if error:
        return EvidenceReason.SCANNER_FAILED, f"the {framework} runner failed ({error[:60]})"
    if not parsed and KIND_HELM in file.kinds:
        return EvidenceReason.UNSUPPORTED_FORMAT, "a Helm template is not rendered"
    if not parsed:
        return EvidenceReason.PARSE_FAILED, f"not readable as {framework.replace('_', ' ')}"
    if partial:
        return EvidenceReason.PARTIAL, partial
    return None


def _checkov_hit(record: Mapping[str, Json], file: StagedFile, scanner_version: str) -> Hit:
    check_id = json_text(record.get("check_id"))
    known = check_facts(check_id, json_text(record.get("check_name")))
    severity = json_text(record.get("severity")).lower() or json_text(known.get("severity"))
    guideline = json_text(record.get("guideline")) or json_text(known.get("guideline"))
    lines = [max(json_integer(value, 1), 1) for value in json_list(record.get("lines"))[:2]]
    first = min(lines, default=1)
    last = min(max([first, *lines[1:]]), max(first, _line_count(file)))
    metadata: dict[str, Json] = {"check_name": json_text(record.get("check_name"))}
    if known.get("remediation"):
        metadata["remediation"] = known["remediation"]
    if record.get("skipped"):
        metadata["suppress_comment"] = json_text(record.get("comment"))
    return Hit(
        scanner=Scanner.CHECKOV,
        rule_id=check_id,
        category=Category.IAC,
        severity=Severity(severity) if severity in set(Severity) else Severity.MEDIUM,
        path=file.path,
        line_start=first,
        line_end=last,
        message=json_text(record.get("check_name")) or check_id,
        scanner_version=scanner_version,
        cwe=json_texts(known.get("cwe")),
        references=(guideline,) if guideline else (),
        metadata=metadata,
        resource=_resource_address(json_text(record.get("resource")), json_text(record.get("path"))),
        suppressed_inline=bool(record.get("skipped")),
    )


def _resource_address(resource: str, staged_path: str) -> str:
    """The resource without our staged path, which some runners put before it (``/run/files/0/Dockerfile.RUN``)."""
    bare = resource.replace(staged_path, "").lstrip(".") if staged_path else resource
    return bare or "file"


def _line_count(file: StagedFile) -> int:
    return file.local.read_bytes().count(b"\n") + 1


@lru_cache(maxsize=4096)
def check_facts(check_id: str, check_name: str) -> Mapping[str, Json]:
    """Severity, CWE and remediation of a check: from our table by its id, else by the theme of its name."""
    checks, themes = _checkov_table()
    if check_id in checks:
        return checks[check_id]
    return next((facts for pattern, facts in themes if pattern.search(check_name)), {})


@lru_cache(maxsize=1)
def _checkov_table() -> tuple[Mapping[str, Mapping[str, Json]], Sequence[tuple[re.Pattern[str], Mapping[str, Json]]]]:
    document = json_object(json.loads(read_embedded(_CHECKOV_CHECKS)))
    checks = {check_id: json_object(facts) for check_id, facts in json_object(document.get("checks")).items()}
    themes = [json_object(theme) for theme in json_list(document.get("themes"))]
    return checks, [(re.compile(json_text(theme.get("pattern")), re.IGNORECASE), theme) for theme in themes]
