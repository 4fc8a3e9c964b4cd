"""The words of the program: hits, findings, evidence, verdicts, attempts, and the closed sets.

A *hit* is what a scanner said: raw, in memory only. A *finding* is sealed: redacted, safe to store
and to show. Nothing here does any work beyond its own fields.
"""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


class Scanner(enum.StrEnum):
    """The four scanners, in the order in which results are listed."""

    SEMGREP = "semgrep"
    DETECT_SECRETS = "detect-secrets"
    PIP_AUDIT = "pip-audit"
    CHECKOV = "checkov"


class Category(enum.StrEnum):
    SAST = "sast"
    SECRET = "secret"
    SCA = "sca"
    IAC = "iac"
    LICENSE = "license"


class Severity(enum.StrEnum):
    """Worst first: ``rank`` 0 is critical, so sorting by rank lists the worst first."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    INFO = "info"

    @property
    def rank(self) -> int:
        return list(Severity).index(self)


class EvidenceState(enum.StrEnum):
    """What a scanner did with a target: looked at it, had no business with it, or failed to."""

    APPLIED = "applied"
    SKIPPED = "skipped"
    NOT_VERIFIED = "not_verified"


class EvidenceReason(enum.StrEnum):
    """Why a target was skipped or not verified. The list is closed: the database refuses others."""

    NONE = ""
    CACHED = "cached"
    # skipped: nothing is missing
    NOT_APPLICABLE = "not_applicable"
    VENDORED = "vendored"
    SYMLINK = "symlink"
    OUTSIDE_PROJECT = "outside_project"
    NOT_REGULAR = "not_regular"
    # skipped when the name promises no text, not_verified when it does
    BINARY = "binary"
    # not verified: a statement about this target is missing
    SCANNER_MISSING = "scanner_missing"
    SCANNER_DISABLED = "scanner_disabled"
    SCANNER_FAILED = "scanner_failed"
    SCANNER_TIMEOUT = "scanner_timeout"
    OUTPUT_TOO_LARGE = "output_too_large"
    SENTINEL_MISSED = "sentinel_missed"
    NOT_REPORTED = "not_reported"
    PARSE_FAILED = "parse_failed"
    PARTIAL = "partial"
    TOO_LARGE = "too_large"
    TOO_MANY_FILES = "too_many_files"
    UNREADABLE = "unreadable"
    FILE_MISSING = "file_missing"
    FILE_CHANGED = "file_changed_during_run"
    NO_RULES = "no_rules"
    NO_ADVISORIES = "no_advisories"
    ADVISORIES_STALE = "advisories_stale"
    UNPINNED_DEPENDENCY = "unpinned_dependency"
    UNKNOWN_PACKAGE = "unknown_package"
    UNSUPPORTED_DEPENDENCY = "unsupported_dependency"
    UNSUPPORTED_FORMAT = "unsupported_format"
    TIME_BUDGET = "time_budget"
    CANCELLED = "cancelled"


CUT_HITS = "more than are kept: "
"""How the detail of a file begins that has more hits than one scan keeps."""


class SentinelState(enum.StrEnum):
    """Whether the known-bad sample in the same run was reported."""

    ALIVE = "alive"
    MISSED = "missed"
    NOT_RUN = "not_run"


class ScanVerdict(enum.StrEnum):
    """``clean`` is said only with complete evidence; ``incomplete`` outranks it, not findings."""

    FINDINGS = "findings"
    CLEAN = "clean"
    INCOMPLETE = "incomplete"


class LifeStatus(enum.StrEnum):
    """The life of a finding, as ``v_findings.status`` shows it."""

    OPEN = "open"
    SHOWN = "shown"
    FIXED = "fixed"
    NOT_FIXED = "not_fixed"
    WONT_FIX = "wont_fix"
    FALSE_POSITIVE = "false_positive"
    SUPPRESSED = "suppressed"
    GONE = "gone"


class FixStatus(enum.StrEnum):
    """What an agent may report and what verification may answer."""

    FIXED = "fixed"
    NOT_FIXED = "not_fixed"
    WONT_FIX = "wont_fix"


class FeedbackVerdict(enum.StrEnum):
    TRUE_POSITIVE = "TRUE_POSITIVE"
    FALSE_POSITIVE = "FALSE_POSITIVE"
    WONT_FIX = "WONT_FIX"
    ROTATED = "ROTATED"


class ReasonCode(enum.StrEnum):
    """Why a verification ended as it did. The first group goes with ``fixed``."""

    FIXED = "fixed"
    CODE_REMOVED = "code_removed"
    FILE_DELETED = "file_deleted"
    ROTATION_REQUIRED = "rotation_required"
    SINK_STILL_NAMED = "sink_still_named"
    WONT_FIX = "wont_fix"
    # not fixed: the weakness is there
    STILL_PRESENT = "still_present"
    CHANGED_STILL_PRESENT = "changed_still_present"
    AMBIGUOUS = "ambiguous"
    MOVED = "moved"
    TWIN_PRESENT = "twin_present"
    SUPPRESSED_INLINE = "suppressed_inline"
    SUPPRESSED_BY_CONFIG = "suppressed_by_config"
    # not fixed: nothing can be said
    SCANNER_MISSING = "scanner_missing"
    SCANNER_DISABLED = "scanner_disabled"
    SCANNER_FAILED = "scanner_failed"
    SCANNER_TIMEOUT = "scanner_timeout"
    SENTINEL_DEAD = "sentinel_dead"
    RULE_MISSING = "rule_missing"
    PARSE_FAILED = "parse_failed"
    PARTIAL = "partial"
    NOT_ANALYSED = "not_analysed"
    FILE_CHANGED_DURING_RUN = "file_changed_during_run"
    ADVISORIES_MISSING = "advisories_missing"
    UNPINNED = "unpinned"


@dataclass(frozen=True, slots=True)
class Package:
    """A dependency as an advisory speaks of it; ``name`` is normalised as PEP 503 says."""

    ecosystem: str
    name: str
    installed_version: str
    fixed_version: str | None = None
    """The smallest version above the installed one that is outside every vulnerable range."""
    advisory_ids: tuple[str, ...] = ()
    """Every name of the flaw, the canonical one (CVE, else GHSA, else PYSEC) first."""


@dataclass(frozen=True, slots=True, repr=False)
class Hit:
    """What a scanner said, raw: it may hold secrets, so it has no ``repr`` and is never stored.

    Lines and columns are 1-based and count characters of the normalised text (see
    ``workspace.Source``); ``line_end`` is inclusive, ``col_end`` exclusive; columns are ``None``
    where the scanner gives lines alone.
    """

    scanner: Scanner
    rule_id: str
    category: Category
    severity: Severity
    path: str
    line_start: int
    line_end: int
    message: str
    scanner_version: str
    col_start: int | None = None
    col_end: int | None = None
    cwe: tuple[str, ...] = ()
    owasp: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    metadata: Mapping[str, Json] = field(default_factory=dict)
    """Free facts of the rule: ``patch``, ``remediation``, ``confidence``, …"""
    secret_sha1: str | None = None
    """SHA-1 of the secret's value where that is all the scanner tells; locates it, then dropped."""
    resource: str | None = None
    """IaC: the resource's address, e.g. ``aws_s3_bucket.logs``."""
    package: Package | None = None
    suppressed_inline: bool = False
    """A comment, annotation or metadata in the file asks scanners to stay silent about this hit."""
    respelled: str = ""
    """The language in whose plain spelling it was found, where the file is written in another (``spelling``)."""


@dataclass(frozen=True, slots=True)
class Twin:
    """Another report of the same weakness that was merged into a finding."""

    scanner: Scanner
    rule_id: str
    logical_id: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A sealed hit: every text in it is redacted. Made by ``redact.seal`` alone.

    ``seal`` leaves ``fingerprint``, ``scope_key`` and ``logical_id`` empty; ``identity`` fills them
    by ``dataclasses.replace``. The store refuses a finding whose ids are empty.
    """

    scanner: Scanner
    rule_id: str
    category: Category
    severity: Severity
    file_path: str
    line_start: int
    line_end: int
    message: str
    snippet: str
    code: str
    """The flagged code, redacted and whitespace-folded: what a fingerprint is made of."""
    scanner_version: str
    fingerprint: str = ""
    scope_key: str = ""
    """Without the slot suffix ``#k``."""
    slot: int = 1
    logical_id: str = ""
    cwe: tuple[str, ...] = ()
    owasp: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    metadata: Mapping[str, Json] = field(default_factory=dict)
    resource: str | None = None
    package: Package | None = None
    secret_digests: tuple[str, ...] = ()
    """The eight hex digits of each placeholder in the flagged code: one secret, one digest."""
    suppressed_inline: bool = False
    line_marks: str = ""
    """Keyed hashes of the flagged lines in hexadecimal (see ``identity.lines``): where they go can be followed."""
    also_reported_by: tuple[Twin, ...] = ()
    merged_into: str | None = None
    """The logical_id of the finding that stands for this one, where duplicates were merged."""


@dataclass(frozen=True, slots=True)
class TargetEvidence:
    """What one scanner did with one file whose bytes had this hash."""

    scanner: Scanner
    path: str
    sha256: str
    """Empty where the bytes could not be read."""
    state: EvidenceState
    reason: EvidenceReason = EvidenceReason.NONE
    detail: str = ""
    """Redacted, at most 300 characters: which line did not parse, which package is not pinned."""
    input_hash: str = ""
    """Over everything that the scanner's answer about this target depends on: its bytes, its companions' bytes,
    the ruleset and the scanner's version. Equal hash, equal answer."""
    repeated: bool = False
    """A failure that an earlier scan met with equal input, and which nothing but other input could mend."""

    @property
    def is_known(self) -> bool:
        """Whether it was answered from earlier evidence, without another look."""
        return self.repeated or self.reason is EvidenceReason.CACHED


@dataclass(frozen=True, slots=True)
class ScannerEvidence:
    """A scanner's share of a scan, one row per state and reason."""

    scanner: Scanner
    state: EvidenceState
    reason: EvidenceReason
    targets: int
    """Files that this row speaks of."""
    targets_seen: int
    """Those of them that the scanner's own report accounts for."""
    findings: int
    scanner_version: str
    ruleset_hash: str
    sentinel: SentinelState
    duration_ms: int
    started_at: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One accepted call of verify_fix, as ``fix_attempts`` keeps it."""

    logical_id: str
    fingerprint: str
    rule_id: str
    file_path: str
    reported_status: FixStatus
    verified_status: FixStatus
    verified: bool
    reason_code: ReasonCode
    reason: str
    note: str
    session_id: str
    agent_reported_at: str
    verified_at: str
