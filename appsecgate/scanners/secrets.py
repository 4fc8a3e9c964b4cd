"""detect-secrets: its detectors, driven by a small program of ours in its own interpreter.

Its command line stays silent about files that it takes for binary, locked or generated, about lines with an
allow-list comment, about a second secret of one kind on a line, and about everything outside the directory
where it starts. None of that is used: ``workers/secrets.py`` applies the detectors to the files that we name.
"""

import contextlib
import hashlib
import json
import re
from collections.abc import Callable, Sequence
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
from appsecgate.scanners.classify import KIND_BINARY, KIND_DOCKERFILE, KIND_LOCK, KIND_TEXT
from appsecgate.scanners.report_json import (
    json_integer,
    json_list,
    json_object,
    json_text,
    json_texts,
    load_report,
)
from appsecgate.scanners.stage import staged_source
from appsecgate.workspace import Source

_WORKER = "workers/secrets.py"
_WORKER_FILE = "secrets_worker.py"
_SECRETS_MEMORY_BYTES = 1 << 29
"""Address space: an ordinary run needs 0.1 GB; values that YAML aliases multiply end here."""
_FILE_TIMEOUT_S = 20

_ENTROPY_TYPES = ("Base64 High Entropy String", "Hex High Entropy String")
_CLOUD_TYPES = (
    "AWS Access Key",
    "Azure Storage Account access key",
    "IBM Cloud IAM Key",
    "IBM COS HMAC Credentials",
    "SoftLayer Credentials",
)
_OTHER_TYPES = (
    "Artifactory Credentials",
    "Basic Auth Credentials",
    "Cloudant Credentials",
    "Discord Bot Token",
    "GitHub Token",
    "GitLab Token",
    "JSON Web Token",
    "Mailchimp Access Key",
    "NPM tokens",
    "OpenAI Token",
    "PyPI Token",
    "Secret Keyword",
    "SendGrid API Key",
    "Slack Token",
    "Square OAuth Secret",
    "Stripe Access Key",
    "Telegram Bot Token",
    "Twilio API Key",
)
_SECRET_SEVERITIES = {
    "Private Key": Severity.CRITICAL,
    **dict.fromkeys(_CLOUD_TYPES, Severity.CRITICAL),
    **dict.fromkeys(_OTHER_TYPES, Severity.HIGH),
    **dict.fromkeys(_ENTROPY_TYPES, Severity.MEDIUM),
}
_REMEDIATION = (
    "Revoke and replace the secret first: history and every copy keep it. Then read it from the environment "
    "or a secret store, and keep the file that holds it out of the repository."
)
_COMMENT_START = r"(?:#|//|/\*|'|--|<!--|;|%|\{#|\brem\b|\*|\"\"\")"
_PRAGMA = re.compile(rf"{_COMMENT_START}[# \t]*pragma: ?(?:allow|white)list[ -]secret", re.IGNORECASE)
_PRAGMA_NEXT = re.compile(
    rf"^[ \t]*{_COMMENT_START}[# \t]*pragma: ?(?:allow|white)list[ -]nextline[ -]secret", re.IGNORECASE
)


class SecretsAdapter:
    """The adapter for detect-secrets; see ``base.Adapter`` for what each method promises."""

    name = Scanner.DETECT_SECRETS
    category = Category.SECRET

    def __init__(self, *, timeout_s: float = 60.0) -> None:
        self._timeout_s = timeout_s

    def ruleset_hash(self) -> str:
        settings = (
            read_embedded(_WORKER),
            _SECRETS_MEMORY_BYTES,
            _FILE_TIMEOUT_S,
            sorted(_SECRET_SEVERITIES),
        )
        return hashlib.sha256(repr(settings).encode()).hexdigest()[:16]

    def has_rule(self, rule_id: str) -> bool:
        return any(secret_rule_id(kind) == rule_id for kind in _SECRET_SEVERITIES)

    def rule_hash(self, rule_id: str) -> str:
        """The detectors are the scanner's own."""
        del rule_id
        return ""

    def accepts(self, path: str, language: str, kinds: frozenset[str]) -> EvidenceReason:
        del path, language
        if KIND_TEXT not in kinds:
            return EvidenceReason.NOT_APPLICABLE
        return EvidenceReason.BINARY if KIND_BINARY in kinds else EvidenceReason.NONE

    def companions(self, path: str, source: Source, listing: Callable[[str], Sequence[str]]) -> Sequence[str]:
        del path, source, listing
        return ()

    def batches(self, targets: Sequence[StagedFile], companions: Sequence[StagedFile]) -> Sequence[Batch]:
        del companions
        return [Batch(tuple(targets))]

    def unready(self) -> tuple[EvidenceReason, str]:
        return EvidenceReason.NONE, ""

    def service(self) -> contextlib.AbstractContextManager[str]:
        return contextlib.nullcontext("")

    def invocation(self, batch: Batch, tool: Installation, run_dir: Path, service: str) -> Invocation:
        del service
        samples = secret_samples()
        entries: list[Json] = [_file_entry(str(number), file) for number, file in enumerate(batch.targets)]
        entries += [
            {
                "id": name,
                "local": str(run_dir / "samples" / name),
                "name": name,
                "lock": False,
                "shell": False,
            }
            for name in samples
        ]
        request: Json = {"files": entries, "file_timeout_s": _FILE_TIMEOUT_S}
        zygote = self.zygote(tool)
        return Invocation(
            argv=(str(zygote.python), "-I", str(run_dir / _WORKER_FILE)),
            limits=zygote.limits,
            files={
                _WORKER_FILE: read_embedded(_WORKER).encode(),
                **{f"samples/{name}": text.encode() for name, (text, _) in samples.items()},
            },
            stdin=json.dumps(request).encode() + b"\n",
            zygote=zygote,
        )

    def zygote(self, tool: Installation) -> Zygote:
        """See ``base.Loadable``."""
        limits = Limits(self._timeout_s, memory_bytes=_SECRETS_MEMORY_BYTES, cpu_s=int(self._timeout_s) + 5)
        return Zygote(tool.python or Path(tool.command[0]).with_name("python"), read_embedded(_WORKER), limits)

    def parse(self, completed: Completed, batch: Batch, tool: Installation, run_dir: Path) -> Report:
        del run_dir
        report = load_report(completed.stdout)
        answers = json_object(json_object(report).get("files"))
        if completed.exit_code != 0 or not answers:
            detail = f"no answer (exit status {completed.exit_code})"
            return Report(failure=EvidenceReason.SCANNER_FAILED, detail=detail)
        hits: list[Hit] = []
        targets: dict[str, TargetEvidence] = {}
        for number, file in enumerate(batch.targets):
            answer = json_object(answers.get(str(number)))
            targets[file.path] = _answer_evidence(file, answer)
            hits += _secret_hits(file, json_list(answer.get("hits")), tool.version)
        alive = all(
            required <= _reported_types(json_object(answers.get(name)))
            for name, (_, required) in secret_samples().items()
        )
        return Report(
            hits=tuple(hits),
            targets=targets,
            sentinel=SentinelState.ALIVE if alive else SentinelState.MISSED,
        )


def secret_rule_id(kind: str) -> str:
    """``AWS Access Key`` → ``aws-access-key``."""
    return re.sub(r"[^a-z0-9]+", "-", kind.lower()).strip("-")


def secret_samples() -> dict[str, tuple[str, frozenset[str]]]:
    """Known-bad files: name → text and the detectors that must report it.

    The values are put together here, so that no scanner finds them in this file.
    """
    aws = "AKIA" + "IOSFODNN7" + "EXAMPLE"
    word = "correct" + "-horse-" + "battery"
    base64_value = "q7Zt1XkP" + "w9LmB3vR" + "y6NcD2sH" + "f8GjK4eU"
    hex_value = "9f86d081" + "884c7d65" + "9a2feaa0" + "c55ad015"
    python = (
        f'client = connect("{aws}")\n'
        f'password = "{word}"\n'
        f'value = "{base64_value}"\n'
        f'other = "{hex_value}"\n'
        f'text = "{"-" * 5}BEGIN RSA {"PRIVATE"} KEY{"-" * 5}"\n'
    )
    every = frozenset({"AWS Access Key", "Secret Keyword", "Private Key", *_ENTROPY_TYPES})
    return {
        "sample.py": (python, every),
        "sample.yaml": (f"value: {base64_value}\n", frozenset({"Base64 High Entropy String"})),
    }


def _file_entry(identifier: str, file: StagedFile) -> Json:
    """``lock``: integrity hashes are no secrets; ``shell``: values stand without quotes."""
    base_name = file.path.rpartition("/")[2].lower()
    return {
        "id": identifier,
        "local": str(file.local),
        "name": base_name.encode("utf-8", "surrogateescape").decode("utf-8", "replace"),
        "lock": KIND_LOCK in file.kinds,
        "shell": file.language == "bash" or KIND_DOCKERFILE in file.kinds or base_name.startswith(".env"),
    }


def _answer_evidence(file: StagedFile, answer: dict[str, Json]) -> TargetEvidence:
    reason = {
        "done": EvidenceReason.NONE,
        "partial": EvidenceReason.PARTIAL,
        "failed": EvidenceReason.SCANNER_FAILED,
    }.get(json_text(answer.get("state")), EvidenceReason.NOT_REPORTED)
    state = EvidenceState.APPLIED if reason is EvidenceReason.NONE else EvidenceState.NOT_VERIFIED
    detail = json_text(answer.get("detail"))
    return TargetEvidence(Scanner.DETECT_SECRETS, file.path, file.sha256, state, reason, detail)


def _reported_types(answer: dict[str, Json]) -> frozenset[str]:
    """Those that stand beside a folded hit count too."""
    kinds: set[str] = set()
    for item in json_list(answer.get("hits")):
        fields = json_list(item)
        if len(fields) == 6:
            kinds |= {json_text(fields[0]), *json_texts(fields[5])}
    return frozenset(kinds)


def _secret_hits(file: StagedFile, items: Sequence[Json], version: str) -> list[Hit]:
    if not items:
        return []
    lines = staged_source(file).text.split("\n")
    hits = []
    for item in items:
        fields = json_list(item)
        if len(fields) == 6 and json_text(fields[0]):
            hits.append(_secret_hit(file, fields, lines, version))
    return hits


def _secret_hit(file: StagedFile, fields: Sequence[Json], lines: Sequence[str], version: str) -> Hit:
    kind = json_text(fields[0])
    line_start = min(max(json_integer(fields[1], 1), 1), len(lines))
    line_end = min(max(json_integer(fields[4], line_start), line_start), len(lines))
    col_start, col_end = json_integer(fields[2]), json_integer(fields[3])
    located = col_start > 0 and col_end > 0
    entropy = kind in _ENTROPY_TYPES
    metadata: dict[str, Json] = {
        "detector": kind,
        "confidence": "LOW" if entropy else "MEDIUM" if kind == "Secret Keyword" else "HIGH",
        "remediation": _REMEDIATION,
    }
    others: list[Json] = list(json_texts(fields[5]))
    if others:
        metadata["also_detected_by"] = others
    return Hit(
        scanner=Scanner.DETECT_SECRETS,
        rule_id=secret_rule_id(kind),
        category=Category.SECRET,
        severity=_SECRET_SEVERITIES.get(kind, Severity.HIGH),
        path=file.path,
        line_start=line_start,
        line_end=line_end,
        message=f"{kind}: what looks like a secret stands here in plain text.",
        scanner_version=version,
        col_start=col_start if located else None,
        col_end=col_end if located else None,
        cwe=("CWE-798: Use of Hard-coded Credentials",),
        owasp=("A07:2021 - Identification and Authentication Failures",),
        references=("https://cwe.mitre.org/data/definitions/798.html",),
        metadata=metadata,
        suppressed_inline=_is_allow_listed(lines, line_start, line_end),
    )


def _is_allow_listed(lines: Sequence[str], line_start: int, line_end: int) -> bool:
    before = lines[line_start - 2] if line_start > 1 else ""
    here = (lines[line_start - 1], lines[line_end - 1])
    return bool(_PRAGMA_NEXT.match(before)) or any(_PRAGMA.search(line) for line in here)
