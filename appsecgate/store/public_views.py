"""The public views: their columns and types, read from the comments in schema.sql."""

import enum
import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass

from appsecgate.embedded import read_embedded


class ColumnType(enum.StrEnum):
    """What a view's column holds, besides NULL."""

    TEXT = "text"
    INTEGER = "integer"
    REAL = "real"
    BOOLEAN = "boolean"
    """0 and 1 in SQL."""
    TIMESTAMP = "timestamp"
    """UTC, ISO 8601 with ``Z``, as text."""


@dataclass(frozen=True, slots=True)
class ViewColumn:
    name: str
    type: ColumnType
    meaning: str


@dataclass(frozen=True, slots=True)
class PublicView:
    name: str
    meaning: str
    columns: tuple[ViewColumn, ...]


_VIEW_TEXT = re.compile(
    r"((?:^--[^\n]*\n)+)^CREATE VIEW (v_\w+) \(\n(.*?)\n\) AS\n", re.MULTILINE | re.DOTALL
)
_COLUMN_TEXT = re.compile(r"\s*(\w+),?\s+-- (\w+): (.+)")


def parse_views(schema: str) -> dict[str, PublicView]:
    """Name → view, in the order of the schema. Raises ValueError for a column without type and meaning."""
    views = {}
    for comment, name, body in _VIEW_TEXT.findall(schema):
        meaning = " ".join(line.lstrip("- ").strip() for line in comment.splitlines())
        columns = tuple(_parse_view_column(name, line) for line in body.splitlines())
        views[name] = PublicView(name, meaning, columns)
    return views


def _parse_view_column(view: str, line: str) -> ViewColumn:
    match = _COLUMN_TEXT.fullmatch(line)
    if match is None:
        raise ValueError(f"{view}: no type and meaning in {line.strip()!r}")
    return ViewColumn(match[1], ColumnType(match[2]), match[3])


@functools.cache
def public_views() -> Mapping[str, PublicView]:
    """The views that queries and exports see, by name."""
    return parse_views(read_embedded("schema.sql"))


def public_view(name: str) -> PublicView:
    """Raises KeyError for a view that is not public."""
    return public_views()[name]
