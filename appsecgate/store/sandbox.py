"""Where queries run: a private in-memory copy of the public views, of one project's rows alone.

Whatever SQL is written, other projects' rows, base tables and files are not in that database. What may be
done in it is a short list (an authorizer); how much, is bounded by time (a progress handler) and size.
Two kinds of work are out of a progress handler's reach: preparing a statement and a single opcode.
Preparing is bounded by the memory limit: all the ways to make it explode multiply expressions. Opcodes
are bounded by the length of a value; functions that take quadratic time even so are replaced or left out.
"""
# ruff: noqa: S608 -- what is put into SQL texts are names and marks of this program, never values

import contextlib
import sqlite3
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from appsecgate.store.database import read_only_uri, retry_while_busy
from appsecgate.store.public_views import ColumnType, PublicView, public_view
from appsecgate.store.rows import SqlValue

QUERY_TIMEOUT_S = 4.0
"""Of the five seconds; the rest is for an opcode that runs over: sorting is one, however many rows there are."""
MEMORY_LIMIT_BYTES = 160 * 1024 * 1024
"""For all that SQLite holds in this process, the copy too (some 50 MB for 100,000 findings). SQLite knows no
limit per connection; where it was built without counting memory, this one does nothing."""
VALUE_LIMIT_BYTES = 65_536
OPCODES_BETWEEN_LOOKS = 500
INDEXED_ROWS = range(5_000, 200_000)
"""Of fewer a sort takes no time; of more the indexes would take too much of the memory."""
INDEX_COLUMNS = 4
INDEXES = 4
"""Of one copy; some 4 MB each for 100,000 findings."""

QUERY_FUNCTIONS = frozenset(
    """
    abs acos asin atan atan2 avg ceil ceiling char coalesce cos count cume_dist current_date current_time
    current_timestamp date datetime degrees dense_rank exp first_value floor glob group_concat hex ifnull iif
    instr json json_array json_array_length json_extract json_group_array json_group_object json_object
    json_quote json_type json_valid julianday lag last_value lead length like likelihood likely ln log log10
    log2 lower ltrim max min mod nth_value ntile nullif octet_length percent_rank pi pow power quote radians
    rank replace round row_number rtrim sign sin sqrt strftime string_agg substr substring sum tan time
    timediff total trim trunc typeof unhex unicode unixepoch unlikely upper -> ->>
    """.split()
)
"""Functions that only compute, in bounded time for bounded values."""
_TABLE_FUNCTIONS = frozenset({"json_each", "json_tree"})
_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: VALUE_LIMIT_BYTES,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 100_000,
    sqlite3.SQLITE_LIMIT_COLUMN: 128,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 200,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 50,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 50_000,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 32,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 200,
    sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 1_000,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 0,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
_PROJECT_COLUMN = "project_id"
_FINDINGS_VIEW = "v_findings"
_COLUMN_SQL = {
    ColumnType.TEXT: "TEXT",
    ColumnType.TIMESTAMP: "TEXT",
    ColumnType.INTEGER: "INTEGER",
    ColumnType.BOOLEAN: "INTEGER",
    ColumnType.REAL: "REAL",
}


@dataclass(slots=True)
class Denials:
    """What the authorizer said no to while a statement was prepared."""

    functions: list[str] = field(default_factory=list)
    tables: list[str] = field(default_factory=list)
    actions: int = 0

    def __bool__(self) -> bool:
        return bool(self.functions or self.tables or self.actions)


class ViewCopy:
    """A private copy of one project's rows. Not for several threads at once."""

    def __init__(self, ledger: Path, project_id: str) -> None:
        self._ledger = ledger
        self._project_id = project_id
        self._deadline = 0.0
        self.denials = Denials()
        self._views: dict[str, int] = {}
        """View → rows."""
        self._columns: dict[str, frozenset[str]] = {}
        """View → which of its columns are there."""
        self._indexes: set[tuple[str, tuple[str, ...]]] = set()
        self._named_here: frozenset[str] = frozenset()
        self._db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False, uri=True)
        self._db.execute(f"PRAGMA hard_heap_limit = {MEMORY_LIMIT_BYTES}")
        self._db.execute("PRAGMA temp_store = MEMORY")  # so that sorting counts as memory and no disk fills
        self._db.execute("PRAGMA trusted_schema = OFF")
        self._db.text_factory = _decode
        self._db.set_progress_handler(self._is_late, OPCODES_BETWEEN_LOOKS)
        for name, strip in _STRIPPERS.items():
            self._db.create_function(name, 2, strip, deterministic=True)
        # their first use declares a table, which the authorizer would refuse
        self.start_clock()
        self._db.execute("SELECT 1 FROM json_each('[]'), json_tree('[]')").fetchall()

    def start_clock(self, seconds: float = QUERY_TIMEOUT_S) -> None:
        """What follows ends after this time with an ``interrupted`` error."""
        self._deadline = time.monotonic() + seconds

    def _is_late(self) -> bool:
        return time.monotonic() > self._deadline

    def load(self, names: Sequence[str], columns: Collection[str] | None = None) -> None:
        """Copy these views, unless they are there. Raises sqlite3.Error, MemoryError.

        ``columns``: names that a query can mean; columns with other names may be left out. Without: all. A view
        that a second query wants more of is copied whole.
        """
        missing = {name: wanted for name in names if (wanted := self._still_wanted(name, columns))}
        if not missing:
            return
        self._unlock()
        self._indexes = {key for key in self._indexes if key[0] not in missing}
        self._db.execute("ATTACH ? AS ledger", (read_only_uri(self._ledger),))
        try:
            retry_while_busy(lambda: self._db.execute("BEGIN"))
            counts = {name: self._copy(public_view(name), wanted) for name, wanted in missing.items()}
            self._db.execute("COMMIT")
            self._views |= counts
            self._columns |= missing
        finally:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            self._db.execute("DETACH ledger")

    def _still_wanted(self, name: str, columns: Collection[str] | None) -> frozenset[str]:
        """The columns with which to copy a view; none where the copy at hand will do."""
        every = frozenset(column.name for column in public_view(name).columns)
        wanted = every if columns is None else every & frozenset(columns) or frozenset({_PROJECT_COLUMN})
        if name not in self._views:
            return wanted
        return frozenset() if wanted <= self._columns[name] else every

    def _copy(self, view: PublicView, wanted: Collection[str]) -> int:
        """How many rows there are."""
        kept = [column for column in view.columns if column.name in wanted]
        columns = ", ".join(f"{column.name} {_COLUMN_SQL[column.type]}" for column in kept)
        names = ", ".join(column.name for column in kept)
        self._db.execute(f"DROP TABLE IF EXISTS main.{view.name}")
        self._db.execute(f"CREATE TABLE main.{view.name} ({columns})")
        walk = "+" if view.name == _FINDINGS_VIEW and self._has_most_findings() else ""
        return self._db.execute(
            f"INSERT INTO main.{view.name} SELECT {names} FROM ledger.{view.name} WHERE {walk}project_id = ?",
            (self._project_id,),
        ).rowcount

    def _has_most_findings(self) -> bool:
        """Whether a walk through all findings is shorter than one along an index, which jumps to each row."""
        sql = "SELECT (SELECT count(*) FROM ledger.findings WHERE project_id = ?) * 4, count(*) FROM ledger.findings"
        own, whole = self._db.execute(sql, (self._project_id,)).fetchone()
        return int(own) > int(whole)

    def index(self, view: str, columns: tuple[str, ...]) -> None:
        """Order a loaded view by these of its columns: what groups by them then walks, and need not sort.

        Costs about a tenth of the copying, once. Done where it pays and there is room; a query runs without
        it as well.
        """
        key = (view, columns)
        pays = 0 < len(columns) <= INDEX_COLUMNS and self._views[view] in INDEXED_ROWS
        if not pays or key in self._indexes or len(self._indexes) >= INDEXES:
            return
        self._indexes.add(key)
        self._unlock()
        with contextlib.suppress(sqlite3.Error, MemoryError):
            self._db.execute(f"CREATE INDEX i_{'_'.join((view, *columns))} ON {view} ({', '.join(columns)})")

    def execute(
        self, sql: str, values: Sequence[SqlValue] | dict[str, SqlValue], named_here: frozenset[str]
    ) -> sqlite3.Cursor:
        """Begin a query under all limits. ``named_here``: the names that it gives to its own subqueries.

        Raises sqlite3.Error, MemoryError, and what binding raises.
        """
        self.denials = Denials()
        self._named_here = named_here
        self._lock()
        return self._db.execute(sql, values)

    def _lock(self) -> None:
        for limit, value in _LIMITS.items():
            self._db.setlimit(limit, value)
        self._db.set_authorizer(self._authorize)

    def _unlock(self) -> None:
        self._db.set_authorizer(None)
        self._db.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 1)
        self._db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1_000_000)

    def _authorize(
        self, action: int, first: str | None, second: str | None, _database: str | None, _inner: str | None
    ) -> int:
        if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_READ:
            table = (first or "").lower()
            # a subquery's own name is asked about only where none of its columns is read
            own = second == "" and table in self._named_here and not table.startswith(("sqlite_", "pragma_"))
            if own or table in self._views or table in _TABLE_FUNCTIONS:
                return sqlite3.SQLITE_OK
            self.denials.tables.append(table)
        elif action == sqlite3.SQLITE_FUNCTION:
            if (second or "").lower() in QUERY_FUNCTIONS:
                return sqlite3.SQLITE_OK
            self.denials.functions.append((second or "").lower())
        else:
            self.denials.actions += 1
        return sqlite3.SQLITE_DENY

    def close(self) -> None:
        self._db.close()


def _decode(data: bytes) -> str:
    """Text that a query made by CAST need not be UTF-8."""
    return data.decode("utf-8", "replace")


def _strip_both(text: SqlValue, characters: SqlValue) -> str | None:
    return None if text is None or characters is None else str(text).strip(str(characters))


def _strip_left(text: SqlValue, characters: SqlValue) -> str | None:
    return None if text is None or characters is None else str(text).lstrip(str(characters))


def _strip_right(text: SqlValue, characters: SqlValue) -> str | None:
    return None if text is None or characters is None else str(text).rstrip(str(characters))


_STRIPPERS: dict[str, Callable[[SqlValue, SqlValue], str | None]] = {
    "trim": _strip_both,
    "ltrim": _strip_left,
    "rtrim": _strip_right,
}
"""SQLite's own take a second for a long list of characters."""
