"""Logical ids and fingerprints: the two names of a finding.

A fingerprint says "this code, as this rule flags it" and holds no line number; a logical id says
"this rule in this scope" and sticks to the finding through matching.
"""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from appsecgate.model import Category, Finding

LOGICAL_ID_DIGITS = 16
FINGERPRINT_DIGITS = 32

CodeKey = tuple[str, str, str, str]
"""Scanner, rule, file and what stands for the flagged code: equal for equal findings of a file."""


def identity_bytes(text: str) -> bytes:
    """A text as hashed: UTF-8, a path's undecodable bytes as they are on disk."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a lone surrogate that no file name produces
        return text.encode("utf-8", "surrogatepass")


def logical_id(rule_id: str, file_path: str, scope_key: str, slot: int = 1) -> str:
    """The id of the ``slot``-th concurrent finding (from 1) of a rule in a scope: 16 hex digits."""
    scope = scope_key if slot == 1 else f"{scope_key}#{slot}"
    return hashlib.sha256(identity_bytes(f"{rule_id}:{file_path}:{scope}")).hexdigest()[:LOGICAL_ID_DIGITS]


def code_key(finding: Finding) -> CodeKey:
    """What a fingerprint is made of, without the ordinal."""
    return (finding.scanner.value, finding.rule_id, finding.file_path, _flagged_code(finding))


def fingerprints(findings: Sequence[Finding]) -> list[Finding]:
    """The findings with their fingerprints, in the order given.

    Equal findings of one file are counted from 1 by line, so ``findings`` holds all of a file. The
    result does not depend on the order in which a scanner reported them.
    """
    counts: Counter[CodeKey] = Counter()
    done: dict[int, Finding] = {}
    for index in sorted(range(len(findings)), key=lambda i: finding_order(findings[i])):
        key = code_key(findings[index])
        counts[key] += 1
        material = "\0".join((*key, str(counts[key])))
        digest = hashlib.sha256(identity_bytes(material)).hexdigest()[:FINGERPRINT_DIGITS]
        done[index] = replace(findings[index], fingerprint=digest)
    return [done[index] for index in range(len(findings))]


def finding_order(finding: Finding) -> tuple[str, int, int, str, str, str, str, str]:
    """A total order by place and content, for results that no report order can change.

    Findings that compare equal differ in nothing that identity looks at.
    """
    return (
        finding.file_path,
        finding.line_start,
        finding.line_end,
        finding.scanner.value,
        finding.rule_id,
        finding.code,
        finding.message,
        finding.snippet,
    )


def _flagged_code(finding: Finding) -> str:
    if finding.category is Category.SCA and finding.package is not None:
        package = finding.package
        return f"{package.name} {package.installed_version} {finding.rule_id}"
    if finding.category is Category.IAC and finding.resource:
        return f"{finding.resource} {finding.code}"
    return finding.code
