"""The rules that semgrep runs: our own packs and, where the configuration names them, other rule files.

Rules are data. Every rule of another file gets the id ``custom.<id>``, so no file can pass its rule off as
one of ours. YAML rule files are turned into JSON once, by the YAML parser in semgrep's own environment (we
have none), so that one merged JSON file, which loads several times faster, is all that a run reads.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from appsecgate.embedded import embedded_names, read_embedded
from appsecgate.errors import ConfigError
from appsecgate.model import Json
from appsecgate.process import Ending, Limits, base_environment, private_directory, run
from appsecgate.redact.patterns import find_tokens
from appsecgate.scanners.base import Installation
from appsecgate.scanners.report_json import json_list, json_object, json_text, json_texts, load_report

CUSTOM_PREFIX = "custom."
WIDE_LANGUAGES = frozenset({"regex", "generic"})
"""Analyzers that look at any text."""
RULE_FILE_MAX_BYTES = 16 << 20
_RULE_ID = re.compile(r"\w[\w.:/-]{0,119}")
_CONVERT_S = 30.0
_CONVERT_PROGRAM = """
import sys, json, datetime
from ruamel.yaml import YAML
data = sys.stdin.buffer.read().decode("utf-8")
yaml = YAML(typ="safe", pure=True)
json.dump([d for d in yaml.load_all(data) if d is not None], sys.stdout, default=str)
"""

_ANALYZER_NAMES = {
    "py": "python", "python2": "python", "python3": "python", "js": "javascript", "ts": "typescript",
    "golang": "go", "c++": "cpp", "c#": "csharp", "sh": "bash", "kt": "kotlin", "tf": "terraform",
    "hcl": "terraform", "docker": "dockerfile", "sol": "solidity", "ex": "elixir", "none": "regex",
    "objective-c": "objc", "objectivec": "objc", "proto": "protobuf", "proto3": "protobuf",
}  # fmt: skip
"""Other names that rules may use → the name that ``classify`` uses."""


_PARTS = "parts"
_PART = ".part-"
_COMMON_TAINT = ("mode", "options", "pattern-sinks", "pattern-sanitizers")
_COMMON = ("languages", "severity", "message", "metadata", "fix", "fix-regex")


@dataclass(frozen=True, slots=True)
class RulePack:
    """The active rules, in order, with unique ids."""

    rules: tuple[dict[str, Json], ...]
    digest: str
    """16 hex digits over the rules' canonical JSON."""

    def identifiers(self) -> frozenset[str]:
        return frozenset(whole_rule_id(json_text(rule["id"])) for rule in self.rules)

    def languages(self) -> frozenset[str]:
        """Analyzers that at least one rule names, the wide ones included."""
        return frozenset(language for rule in self.rules for language in rule_languages(rule))

    def wide_custom(self) -> bool:
        """Whether a rule of another file looks at any text."""
        return any(
            json_text(rule["id"]).startswith(CUSTOM_PREFIX) and WIDE_LANGUAGES & rule_languages(rule)
            for rule in self.rules
        )

    def custom_hash(self, rule_id: str) -> str:
        """16 hex digits over the definition of a rule of another file; "" for a built-in or unknown one."""
        if not rule_id.startswith(CUSTOM_PREFIX):
            return ""
        for rule in self.rules:
            if rule["id"] == rule_id:
                canonical = json.dumps(rule, sort_keys=True, separators=(",", ":"))
                return hashlib.sha256(canonical.encode("utf-8", "replace")).hexdigest()[:16]
        return ""

    def restricted_to(self, analyzers: Iterable[str]) -> list[dict[str, Json]]:
        """The rules for these analyzers: each rule that is loaded costs start-up time."""
        wanted = frozenset(analyzers)
        return [rule for rule in self.rules if wanted & rule_languages(rule)]


def rule_languages(rule: Mapping[str, Json]) -> frozenset[str]:
    """The analyzers of a rule under the names that ``classify`` uses."""
    named = json_texts(rule.get("languages"))
    return frozenset(_ANALYZER_NAMES.get(name.lower(), name.lower()) for name in named)


def whole_rule_id(loaded_id: str) -> str:
    """The rule's id, from the id of one of its parts."""
    return loaded_id if loaded_id.startswith(CUSTOM_PREFIX) else loaded_id.partition(_PART)[0]


def builtin_rules() -> list[dict[str, Json]]:
    """Our own packs, in the order of their files' names; a rule's parts follow it under ids of their own."""
    packs = [json_object(json.loads(read_embedded(name))) for name in embedded_names("rules/")]
    rules = [json_object(rule) for pack in packs for rule in json_list(pack.get("rules"))]
    return [loaded for rule in rules for loaded in _with_parts(rule)]


def _with_parts(rule: dict[str, Json]) -> list[dict[str, Json]]:
    """The core leaves a whole rule out of a file that has none of the names in it. So an alternative that could be
    in any file is a rule of its own for the core, and so is a source of taint that takes much of the time in which the
    core must be done: a part says its patterns, or its sources, and all else is the rule's."""
    common = {key: rule[key] for key in _COMMON if key in rule}
    whole = {key: value for key, value in rule.items() if key != _PARTS}
    taint = {key: rule[key] for key in _COMMON_TAINT if key in rule}
    parts = [
        {**taint, **part} if "pattern-sources" in part else part
        for part in map(json_object, json_list(rule.get(_PARTS)))
    ]
    identifier = json_text(rule["id"])
    return [whole, *({**common, **part, "id": f"{identifier}{_PART}{n}"} for n, part in enumerate(parts, 2))]


def custom_rules(name: str, data: bytes, tool: Installation | None) -> list[dict[str, Json]]:
    """The rules of another file, JSON or YAML. ``tool``: semgrep, whose environment reads YAML.

    Raises ConfigError, naming the file, where it cannot be read as rules.
    """
    if len(data) > RULE_FILE_MAX_BYTES:
        raise ConfigError(f"The rule file {name} is larger than {RULE_FILE_MAX_BYTES} bytes.")
    documents = [load_report(data)] if name.lower().endswith(".json") else _yaml_documents(name, data, tool)
    rules = [json_object(rule) for document in documents for rule in json_list(json_object(document).get("rules"))]
    if not rules:
        raise ConfigError(f"The rule file {name} holds no semgrep rules (a list under the key rules).")
    for rule in rules:
        if not json_text(rule.get("id")) or not json_texts(rule.get("languages")):
            raise ConfigError(f"A rule in {name} has no id or no languages.")
        # an id is part of a finding's identity, so it is never masked: it must have nothing to mask
        if not _RULE_ID.fullmatch(json_text(rule["id"])) or any(find_tokens(json_text(rule["id"]))):
            raise ConfigError(
                f"A rule in {name} has an id that is no name: letters, digits, dots, dashes, at most 120, no secret."
            )
    return rules


def make_rule_pack(builtin: Sequence[dict[str, Json]], custom: Sequence[dict[str, Json]] = ()) -> RulePack:
    """Merge, giving every custom rule an id of its own."""
    rules = [dict(rule) for rule in builtin]
    taken = {json_text(rule["id"]) for rule in rules}
    for rule in custom:
        wanted = CUSTOM_PREFIX + json_text(rule.get("id"))
        identifier, count = wanted, 1
        while identifier in taken:
            count += 1
            identifier = f"{wanted}.{count}"
        taken.add(identifier)
        rules.append({**rule, "id": identifier})
    canonical = json.dumps(rules, sort_keys=True, separators=(",", ":"))
    return RulePack(tuple(rules), hashlib.sha256(canonical.encode("utf-8", "replace")).hexdigest()[:16])


def _yaml_documents(name: str, data: bytes, tool: Installation | None) -> list[Json]:
    if tool is None or tool.python is None:
        raise ConfigError(
            f"The rule file {name} is YAML, and semgrep, whose environment reads it, is not installed.",
            hint="Run: python -P -m appsecgate setup (or write the rules as JSON).",
        )
    with private_directory() as directory:
        completed = run(
            (str(tool.python), "-I", "-c", _CONVERT_PROGRAM),
            cwd=Path(directory),
            env=base_environment(Path(directory)),
            limits=Limits(timeout_s=_CONVERT_S, memory_bytes=1 << 30, max_output_bytes=4 * RULE_FILE_MAX_BYTES),
            stdin=data,
        )
    if completed.ending is not Ending.EXITED or completed.exit_code != 0:
        raise ConfigError(f"The rule file {name} is not valid YAML.")
    return json_list(load_report(completed.stdout))
