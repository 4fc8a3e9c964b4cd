"""``query_findings_db``: one SELECT over the public views of the current project, audited."""

import json
import math
import sqlite3
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from appsecgate.errors import QueryError
from appsecgate.model import Json
from appsecgate.store.audit import AuditEntry, QueryOutcome
from appsecgate.store.connection import Store
from appsecgate.store.database import storage_error
from appsecgate.store.public_views import public_view, public_views
from appsecgate.store.rows import SqlValue, utc_text
from appsecgate.store.sandbox import QUERY_FUNCTIONS, QUERY_TIMEOUT_S, VALUE_LIMIT_BYTES, Denials, ViewCopy
from appsecgate.store.sql_text import SqlShape, columns_meant, grouped_by, named_in, sql_shape

MAX_SQL_CHARS = 20_000
ROWS_BY_DEFAULT = 1_000
ROWS_AT_MOST = 10_000
CELL_CHARS = 250
"""To this a text is cut where not even the first row has room: 128 such columns do."""
COLUMN_NAME_CHARS = 100
QUERY_EXAMPLE = "Example: SELECT severity, count(*) AS n FROM v_findings GROUP BY severity"
_NO_ROOM = ("SQLITE_NOMEM", "SQLITE_TOOBIG")


class TextMask(Protocol):
    """The redactor, as far as a query needs it."""

    def text(self, text: str) -> str:
        """The text with its secrets masked."""
        ...


@dataclass(frozen=True, slots=True)
class QueryResult:
    """What a query gave."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Json, ...], ...]
    """A BLOB comes as SQLite writes it, ``X'00FF'``; an infinite number as a text."""
    row_count: int
    truncated: bool
    """There are more rows than fit, or a text was cut."""
    duration_ms: int


@dataclass(frozen=True, slots=True)
class QueryBounds:
    """How long a query may run and how much it may bring back; memory and row counts are fixed."""

    timeout_s: float = QUERY_TIMEOUT_S
    result_chars: int = 36_000
    """Characters of JSON that rows and column names may take together."""


QUERY_BOUNDS = QueryBounds()


class _QueryEnd(Exception):  # noqa: N818 -- an end, which is an error only for the caller
    """A query that gave no result, and how that counts."""

    def __init__(self, outcome: QueryOutcome, message: str, hint: str) -> None:
        super().__init__(message)
        self.outcome = outcome
        self.hint = hint


def run_query(
    store: Store,
    project_id: str,
    session_id: str,
    sql: str,
    params: Json = None,
    *,
    redactor: TextMask,
    bounds: QueryBounds = QUERY_BOUNDS,
) -> QueryResult:
    """Run one SELECT over this project's rows of the public views, and write it to the query log.

    ``params``: an array for ``?``, an object for ``:name``. Raises QueryError, which says what there is to
    query, and StorageError. Queries of one process run one after the other.
    """
    started, executed_at = time.monotonic(), utc_text(store.clock())
    outcome, row_count = QueryOutcome.FAILED, 0
    with store.queries.lock:
        try:
            result = _answer(store, project_id, sql, params, bounds)
            outcome = QueryOutcome.TRUNCATED if result.truncated else QueryOutcome.OK
            row_count = result.row_count
        except _QueryEnd as end:
            outcome = end.outcome
            raise QueryError(redactor.text(str(end)), hint=end.hint) from None
        finally:
            audited = redactor.text(sql[:MAX_SQL_CHARS] if isinstance(sql, str) else "")
            entry = AuditEntry(session_id, audited, _since(started), row_count, executed_at, outcome)
            store.queries.audit(project_id, entry)
    return result


def _since(started: float) -> int:
    return round((time.monotonic() - started) * 1000)


def _answer(store: Store, project_id: str, sql: str, params: Json, bounds: QueryBounds) -> QueryResult:
    started = time.monotonic()
    shape = _check_text(sql)
    values = _check_params(params)
    copy = store.queries.fresh_copy(project_id)
    copy.start_clock(bounds.timeout_s)
    try:
        _load(copy, sql)
        cursor = copy.execute(sql.rstrip("; \t\r\n"), values, shape.named_here)
        try:
            columns, rows, truncated = _collect(cursor, shape, bounds)
        finally:
            cursor.close()
    except MemoryError:
        store.queries.drop_copy()
        raise _too_big() from None
    except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError) as error:
        raise _explain(error, copy.denials) from None
    return QueryResult(columns, tuple(rows), len(rows), truncated, _since(started))


def _check_text(sql: str) -> SqlShape:
    """The outline of the query. Raises _QueryEnd for what is not one SELECT."""
    if not isinstance(sql, str) or not sql.strip():
        raise _refused("there is no query.")
    if len(sql) > MAX_SQL_CHARS:
        raise _refused(f"the query has {len(sql):,} characters; at most {MAX_SQL_CHARS:,} are read.")
    if "\0" in sql or not _is_unicode(sql):
        raise _refused("the query holds a NUL character or half a surrogate pair.")
    shape = sql_shape(sql)
    if shape.first_word not in ("SELECT", "WITH"):
        raise _refused(f"a query begins with SELECT or WITH, not with {shape.first_word[:40] or 'nothing'}.")
    if shape.statements > 1:
        raise _refused("one statement at a time: there is more after the ';'.")
    return shape


def _is_unicode(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _check_params(params: Json) -> list[SqlValue] | dict[str, SqlValue]:
    if params is None:
        return []
    if isinstance(params, list):
        return [_check_param(f"params[{index}]", value) for index, value in enumerate(params)]
    if isinstance(params, dict):
        return {name.lstrip(":@$"): _check_param(f"params.{name}", value) for name, value in params.items()}
    raise _failed("params is an array for ? placeholders, or an object for :name placeholders.")


def _check_param(name: str, value: Json) -> SqlValue:
    if isinstance(value, list | dict):
        raise _failed(f"{name[:60]} is no text, number, boolean or null; for a list write one ? per value.")
    if isinstance(value, str) and not (_is_unicode(value) and len(value.encode()) < VALUE_LIMIT_BYTES):
        raise _failed(
            f"{name[:60]} is longer than {VALUE_LIMIT_BYTES:,} bytes, or holds half a surrogate pair."
        )
    return value


def _load(copy: ViewCopy, sql: str) -> None:
    """Copy the views that the text names. Trouble with the ledger itself is a StorageError."""
    names = named_in(sql, tuple(public_views()))
    try:
        copy.load(names, columns_meant(sql))
    except sqlite3.Error as error:
        if _error_name(error) in ("SQLITE_INTERRUPT", *_NO_ROOM):
            raise
        raise storage_error(error) from error
    if len(names) == 1:
        copy.index(names[0], grouped_by(sql, {column.name for column in public_view(names[0]).columns}))


def _error_name(error: BaseException) -> str:
    return getattr(error, "sqlite_errorname", "") or ""


def _collect(
    cursor: sqlite3.Cursor, shape: SqlShape, bounds: QueryBounds
) -> tuple[tuple[str, ...], list[tuple[Json, ...]], bool]:
    """Column names, rows, and whether there was more."""
    limit = ROWS_AT_MOST if shape.limited else ROWS_BY_DEFAULT
    columns = tuple(str(column[0])[:COLUMN_NAME_CHARS] for column in cursor.description)
    room = bounds.result_chars - len(json.dumps(columns, ensure_ascii=False))
    rows: list[tuple[Json, ...]] = []
    truncated = False
    for values in cursor:
        row = tuple(_cell(value) for value in values)
        room -= len(json.dumps(row, ensure_ascii=False)) + 2
        if room < 0 and not rows:
            rows.append(_cut(row))
        truncated = room < 0 or len(rows) >= limit
        if truncated:
            break
        rows.append(row)
    return columns, rows, truncated


def _cell(value: SqlValue) -> Json:
    if isinstance(value, bytes):
        return f"X'{value.hex().upper()}'"
    if isinstance(value, float) and not math.isfinite(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def _cut(row: Iterable[Json]) -> tuple[Json, ...]:
    return tuple(
        value[: CELL_CHARS - 1] + "…" if isinstance(value, str) and len(value) > CELL_CHARS else value
        for value in row
    )


def _explain(error: BaseException, denials: Denials) -> _QueryEnd:
    """What was wrong, in words that lead to a query that works."""
    name = _error_name(error)
    if denials:
        return _denied(denials)
    if name in _NO_ROOM:
        return _too_big()
    if name == "SQLITE_INTERRUPT":
        return _QueryEnd(
            QueryOutcome.STOPPED,
            "timeout: the query was stopped, it may run for 5 s.",
            "Narrow it: WHERE, LIMIT, fewer joins.",
        )
    return _failed(f"{error}.")


def _denied(denials: Denials) -> _QueryEnd:
    if denials.functions:
        return _QueryEnd(
            QueryOutcome.REFUSED,
            f"the function {denials.functions[0][:60]}() is not available here.",
            f"There are: {', '.join(sorted(QUERY_FUNCTIONS))}.",
        )
    if denials.tables:
        return _refused(f"{denials.tables[0][:60]} cannot be read.")
    return _refused("a query only reads: SELECT, or WITH … SELECT.")


def _too_big() -> _QueryEnd:
    return _QueryEnd(
        QueryOutcome.STOPPED,
        "the query needs too much memory, or makes a text longer than 64 KiB.",
        "Select fewer or shorter columns, aggregate, or read in pages with LIMIT and OFFSET.",
    )


def _refused(message: str) -> _QueryEnd:
    return _QueryEnd(QueryOutcome.REFUSED, message, query_help())


def _failed(message: str) -> _QueryEnd:
    return _QueryEnd(QueryOutcome.FAILED, message, query_help())


def query_help() -> str:
    """What there is to query, in a few lines."""
    views = "; ".join(
        f"{view.name}({', '.join(column.name for column in view.columns)})"
        for view in public_views().values()
    )
    return f"Views: {views}. {QUERY_EXAMPLE}"
