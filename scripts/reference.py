"""The generated pages of docs/: what the sources say about themselves, laid out for reading."""

import re
import sqlite3
from pathlib import Path

from scripts.house import tree

TREE = re.compile(r"(?<=<!-- tree -->\n).*?(?=<!-- /tree -->)", re.S)
VIEWS_HEAD = """\
# Views

Generated from `schema.sql`; do not edit. `query_findings_db` sees these views and nothing else; a plain
SQLite shell reads them too. A column is never renamed or dropped: a changed view gets a new name (`_v2`),
and the old one lives for two more releases. Times are UTC, ISO 8601 with `Z`.

In a Parquet snapshot text is STRING, integer INT64, real DOUBLE, boolean BOOLEAN, and timestamp TIMESTAMP (UTC,
microseconds); a JSON array stays text. In NDJSON a boolean is `true` or `false` and a timestamp is text.
"""
_VIEW = re.compile(r"((?:^--[^\n]*\n)+)^CREATE VIEW (v_\w+) \((.*?)^\) AS$", re.M | re.S)
_COLUMN = re.compile(r"^\s*(\w+),?\s*-- (\w+): (.*)$")


def architecture_page(root: Path) -> str:
    """docs/architecture.md as it is, with the tree of the package between its two marks renewed."""
    text = (root / "docs/architecture.md").read_text("utf-8")
    if len(TREE.findall(text)) != 1:
        raise ValueError("docs/architecture.md: there is no one pair of <!-- tree --> and <!-- /tree -->")
    return TREE.sub(lambda _: f"```\n{tree(root)}```\n", text)


def views_page(root: Path) -> str:
    """docs/views.md: each public view of schema.sql with its comment, its columns and theirs.

    Raises ValueError where a column has no comment of the form ``type: meaning``, or the schema does not run.
    """
    schema = (root / "schema.sql").read_text("utf-8")
    connection = sqlite3.connect(":memory:")
    try:
        connection.executescript(schema)
        parts = [VIEWS_HEAD]
        for comment, name, body in _VIEW.findall(schema):
            columns = [row[1] for row in connection.execute(f"PRAGMA table_info({name})")]
            parts.append(f"\n## {name}\n\n{_plain(comment)}\n\n{_column_table(name, columns, body)}")
    except sqlite3.Error as error:
        raise ValueError(f"schema.sql does not run: {error}") from error
    finally:
        connection.close()
    return "".join(parts)


def _plain(comment: str) -> str:
    return "\n".join(line.lstrip("- ").rstrip() for line in comment.splitlines()).strip()


def _column_table(view: str, columns: list[str], body: str) -> str:
    matches = [match for line in body.strip("\n").splitlines() if (match := _COLUMN.match(line))]
    if [match[1] for match in matches] != columns:
        raise ValueError(f"schema.sql: {view}: each column needs a comment `-- type: meaning`")
    rows = "".join(f"| `{match[1]}` | {match[2]} | {_cell(match[3])} |\n" for match in matches)
    return f"| column | type | meaning |\n|---|---|---|\n{rows}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
