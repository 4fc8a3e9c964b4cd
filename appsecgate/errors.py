"""The error tree.

Every failure that a user can cause or mend is one of these. Each class carries a stable ``code``
(for programs), an ``exit_status`` (for the command line) and a default ``hint`` (what to do next)::

    AppSecGateError
    ├── UsageError                  a call that cannot be carried out as it stands
    │   ├── ArgumentError           a wrong, missing or ill-typed argument
    │   ├── ProjectError            no usable project, or a path that leaves it
    │   ├── ConfigError             an unknown key, a bad type, a key this source may not set
    │   ├── UnknownFindingError     no finding with this id in the project
    │   ├── GitError                the project is not a git work tree, or git failed
    │   └── QueryError              a query that is refused, wrong or over its limits
    ├── StorageError                the data directory or the database
    │   ├── SchemaVersionError      written by a newer program
    │   ├── CorruptDatabaseError    not a database, or damaged
    │   ├── UnwritableError         read-only, no permission
    │   └── DiskFullError
    ├── SetupError                  installing or finding a scanner
    ├── AdvisoryError               the local copy of the advisory database
    └── CancelledError              the caller withdrew the call
"""

from typing import ClassVar

from appsecgate.start import as_started

EXIT_DONE = 0
EXIT_FINDINGS = 1
EXIT_USAGE = 2
EXIT_INCOMPLETE = 3
EXIT_INTERNAL = 4


class AppSecGateError(Exception):
    """Root of the tree. ``str(error)`` is what happened, ``error.hint`` what to do about it."""

    code: ClassVar[str] = "error"
    exit_status: ClassVar[int] = EXIT_INTERNAL
    default_hint: ClassVar[str] = ""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = self.default_hint if hint is None else hint

    def explain(self) -> str:
        """The message and the hint as one text for a person or a model."""
        message = str(self)
        if message and self.hint and message[-1] not in ".!?:;…":
            message += "."
        return as_started(f"{message} {self.hint}".strip())


class UsageError(AppSecGateError):
    code = "usage"
    exit_status = EXIT_USAGE


class ArgumentError(UsageError):
    code = "bad_argument"


class ProjectError(UsageError):
    code = "project"
    default_hint = "Name the project with --project DIR or APPSECGATE_PROJECT."


class ConfigError(UsageError):
    code = "config"
    default_hint = "get_config lists every key with its type and origin."


class UnknownFindingError(UsageError):
    code = "unknown_finding"
    default_hint = (
        "Take a logical_id from scan_file, scan_project or "
        "query_findings_db(sql=\"SELECT logical_id, rule_id, file_path FROM v_findings\")."
    )


class GitError(UsageError):
    code = "git"


class QueryError(UsageError):
    code = "query"


class StorageError(AppSecGateError):
    code = "storage"


class SchemaVersionError(StorageError):
    code = "schema_version"
    default_hint = "Use the newer program, or another data directory (--data-dir)."


class CorruptDatabaseError(StorageError):
    code = "corrupt_database"
    default_hint = "Move the file aside and scan again; the old file is left untouched."


class UnwritableError(StorageError):
    code = "unwritable"
    default_hint = "Name a writable directory with --data-dir DIR or APPSECGATE_DATA_DIR."


class DiskFullError(StorageError):
    code = "disk_full"
    default_hint = "Free some space and repeat the call; nothing of it was stored."


class SetupError(AppSecGateError):
    code = "setup"
    exit_status = EXIT_INCOMPLETE
    default_hint = "Run: python -P -m appsecgate doctor"


class AdvisoryError(AppSecGateError):
    code = "advisories"
    exit_status = EXIT_INCOMPLETE
    default_hint = "Run: python -P -m appsecgate advisories import PATH"


class CancelledError(AppSecGateError):
    code = "cancelled"
