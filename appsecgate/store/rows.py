"""How values go into rows and come out of them."""
# ruff: noqa: S608 -- what is put into SQL texts are names and marks of this program, never values

import functools
import json
import re
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TypeAlias, TypeVar

from appsecgate.model import Json

SqlValue: TypeAlias = str | int | float | bytes | None
Clock: TypeAlias = Callable[[], datetime]

MESSAGE_CHARS = 10_000
"""Texts are cut here, so that no row grows beyond what queries may handle."""
SNIPPET_CHARS = 100_000
IDS_PER_QUERY = 500

_V = TypeVar("_V")
_ESCAPED = re.compile(r"\\u(005c|dc[89a-f][0-9a-f])")


def utc_text(moment: datetime) -> str:
    """UTC, ISO 8601 with milliseconds and ``Z``: such texts sort as the times do."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def path_to_db(path: str) -> str:
    """A path as text that any program can read: bytes that are not UTF-8 become ``\\udc80`` … ``\\udcff``.

    A backslash before ``u`` is written ``\\u005c``, so that ``path_from_db`` gives back the very path.
    """
    if "\\u" in path:
        path = path.replace("\\u", "\\u005cu")
    return path if path.isascii() else path.encode("utf-8", "backslashreplace").decode()


def path_from_db(text: str) -> str:
    """The path whose stored form this is."""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text) if "\\u" in text else text


def clip(text: str, chars: int = MESSAGE_CHARS) -> str:
    """At most so many characters, the cut shown."""
    return text if len(text) <= chars else text[: chars - 1] + "…"


def to_json(value: object) -> str:
    """Compact JSON; tuples are arrays, mappings are objects."""
    return json.dumps(_plain_json(value), ensure_ascii=False, separators=(",", ":"))


def _plain_json(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): _plain_json(item) for key, item in value.items()}
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, Sequence):
        return [_plain_json(item) for item in value]
    return value


def from_json(text: str | None, default: Json = None) -> Json:
    """The value of stored JSON; ``default`` for NULL and for what is no JSON."""
    try:
        value: Json = json.loads(text) if text else default
    except ValueError:
        return default
    return value


@functools.lru_cache(maxsize=1024)
def texts_from_json(text: str | None) -> tuple[str, ...]:
    """A stored JSON array of texts. Remembered, since all findings of a rule have the same ones."""
    value = from_json(text)
    return tuple(str(item) for item in value) if isinstance(value, list) else ()


def in_parts(values: Collection[_V], size: int = IDS_PER_QUERY) -> Iterator[list[_V]]:
    """The values in lists short enough for one ``IN (…)``."""
    ordered = list(values)
    for start in range(0, len(ordered), size):
        yield ordered[start : start + size]


def marks_for(values: Sequence[object]) -> str:
    """``?, ?, ?`` for that many values."""
    return ", ".join("?" * len(values))


def _storable(value: SqlValue) -> SqlValue:
    """Text as SQLite can keep it: no lone surrogates, no NUL."""
    if not isinstance(value, str):
        return value
    if not value.isascii():
        value = value.encode("utf-8", "backslashreplace").decode()
    return value.replace("\0", "\ufffd") if "\0" in value else value


class Rows:
    """A connection inside a transaction, and the time. The classes that ask the questions derive from it."""

    def __init__(self, db: sqlite3.Connection, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    def now(self) -> str:
        """The present time as the database keeps it."""
        return utc_text(self._clock())

    def _rows(self, sql: str, values: Iterable[SqlValue] = ()) -> list[sqlite3.Row]:
        return self._db.execute(sql, [_storable(value) for value in values]).fetchall()

    def _row(self, sql: str, values: Iterable[SqlValue] = ()) -> sqlite3.Row | None:
        rows = self._rows(sql, values)
        return rows[0] if rows else None

    def _run(self, sql: str, values: Iterable[SqlValue] = ()) -> int:
        """Run a change; the number of rows it changed."""
        return self._db.execute(sql, [_storable(value) for value in values]).rowcount

    def _run_many(self, sql: str, rows: Iterable[Iterable[SqlValue]]) -> None:
        self._db.executemany(sql, ([_storable(value) for value in row] for row in rows))

    def projects_in(self, tables: Iterable[str]) -> list[str]:
        """The projects that have rows in any of these tables."""
        union = " UNION ".join(f"SELECT project_id FROM {table}" for table in tables)
        return [str(row[0]) for row in self._rows(f"{union} ORDER BY 1")]

    def replace_texts(self, project_id: str, table: str, column: str, change: Callable[[str], str]) -> int:
        """Put every text of a project in a column through ``change``; how many rows came out different.

        Where a changed text is part of a key that is taken, the row that had it goes.
        """
        known: dict[str, str] = {}

        def changed(text: SqlValue) -> SqlValue:
            if not isinstance(text, str):
                return text
            if text not in known:
                known[text] = change(text)
            return known[text]

        self._db.create_function("changed_text", 1, changed)
        try:
            return self._run(
                f"UPDATE OR REPLACE {table} SET {column} = changed_text({column}) WHERE project_id = ? "
                f"AND changed_text({column}) <> {column}",
                (project_id,),
            )
        finally:
            self._db.create_function("changed_text", 1, None)
