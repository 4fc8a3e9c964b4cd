"""A changed redaction policy applied to what is stored."""

from collections.abc import Callable
from typing import Protocol

from appsecgate.covered import MARK
from appsecgate.model import Json
from appsecgate.store.rows import Rows, from_json, to_json

STORED_TEXTS: dict[str, tuple[str, ...]] = {
    "findings": ("message", "code"),
    "finding_context": ("snippet", "message", "remediation"),
    "fix_attempts": ("note", "reason"),
    "feedback": ("comment",),
    "suppressions": ("reason",),
    "sql_audit_log": ("sql",),
    "scan_evidence": ("detail",),
    "scan_targets": ("detail",),
}
"""Table → columns that hold texts of a project."""
STORED_NAMES: dict[str, tuple[str, ...]] = {
    "findings": ("scope_key", "resource", "package", "installed_version", "fixed_version"),
}
"""Table → columns that hold names out of a project's code."""
STORED_JSON: dict[str, tuple[str, ...]] = {
    "finding_context": ("metadata_json",),
    "config_values": ("value_json",),
    "config_log": ("old_json", "new_json"),
    "file_shapes": ("scopes_json",),
}
"""Table → columns that hold JSON with such texts in it."""
STORED_PATHS: dict[str, tuple[str, ...]] = {
    "projects": ("project_alias", "project_path"),
    "findings": ("file_path",),
    "shown_findings": ("file_path",),
    "shown_archive": ("file_path",),
    "finding_identity": ("file_path",),
    "finding_context": ("file_path",),
    "fix_attempts": ("file_path",),
    "scan_targets": ("path",),
    "target_states": ("path",),
    "file_shapes": ("path",),
    "past_shapes": ("path",),
    "suppressions": ("path",),
}
"""Table → columns that hold names of files and directories."""


class TextRedactor(Protocol):
    """The redactor, as far as stored texts need it."""

    def text(self, text: str) -> str:
        """The text with its secrets masked; what is masked already stays so."""
        ...

    def name(self, name: str) -> str:
        """The name of a file without the tokens in it."""
        ...

    def identifier(self, name: str) -> str:
        """A name in code without the tokens and known secrets in it."""
        ...

    def json(self, value: Json) -> Json:
        """The value with every text in it masked."""
        ...


def reindex_texts(rows: Rows, redactor_of: Callable[[str], TextRedactor]) -> int:
    """Mask every stored text anew, each with what its own project's redactor knows; how many changed.

    One project's secrets say nothing about another's texts: a word that is a password here is a word there.
    """
    projects = rows.projects_in(sorted({*STORED_TEXTS, *STORED_NAMES, *STORED_JSON, *STORED_PATHS}))
    return sum(_reindex_project(rows, project_id, redactor_of(project_id)) for project_id in projects)


def _reindex_project(rows: Rows, project_id: str, redactor: TextRedactor) -> int:
    ways: tuple[tuple[dict[str, tuple[str, ...]], Callable[[str], str]], ...] = (
        (STORED_TEXTS, redactor.text),
        (STORED_NAMES, redactor.identifier),
        (STORED_JSON, lambda text: _mask_json(text, redactor)),
        (STORED_PATHS, lambda path: _mask_path(path, redactor)),
    )
    return sum(
        rows.replace_texts(project_id, table, column, change)
        for stored, change in ways
        for table, columns in stored.items()
        for column in columns
    )


def _mask_path(path: str, redactor: TextRedactor) -> str:
    """What is masked already stays so."""
    return "/".join(name if MARK in name else redactor.name(name) for name in path.split("/"))


def _mask_json(text: str, redactor: TextRedactor) -> str:
    if not text:
        return text
    value = from_json(text)
    masked = redactor.json(value)
    return text if masked == value else to_json(masked)
