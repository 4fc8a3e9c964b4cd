"""A changed redaction policy applied to what is stored."""

from typing import Protocol

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
STORED_JSON: dict[str, tuple[str, ...]] = {
    "finding_context": ("metadata_json",),
    "config_values": ("value_json",),
    "config_log": ("old_json", "new_json"),
}
"""Table → columns that hold JSON with such texts in it."""


class TextRedactor(Protocol):
    """The redactor, as far as stored texts need it."""

    def text(self, text: str) -> str:
        """The text with its secrets masked; what is masked already stays so."""
        ...

    def json(self, value: Json) -> Json:
        """The value with every text in it masked."""
        ...


def reindex_texts(rows: Rows, redactor: TextRedactor) -> int:
    """Mask every stored text anew; how many changed."""
    changed = 0
    for table, columns in STORED_TEXTS.items():
        for column in columns:
            changed += rows.replace_texts(table, column, redactor.text)
    for table, columns in STORED_JSON.items():
        for column in columns:
            changed += rows.replace_texts(table, column, lambda text: _mask_json(text, redactor))
    return changed


def _mask_json(text: str, redactor: TextRedactor) -> str:
    value = from_json(text)
    masked = redactor.json(value)
    return text if masked == value else to_json(masked)
