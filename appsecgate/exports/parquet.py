"""Parquet on the standard library alone: typed columns, NULLs, row groups of bounded memory, GZIP.

Source: the Apache Parquet format (github.com/apache/parquet-format). A column's type is the one that the
view's comments in schema.sql declare: text is STRING, integer INT64, real DOUBLE, boolean BOOLEAN, timestamp
TIMESTAMP (UTC, microseconds). Every column is OPTIONAL. A list, such as ``cwe``, stays the JSON text that it
is in the view and in NDJSON, so that one query reads all three.
"""

import itertools
from collections.abc import Iterator, Sequence

from appsecgate.errors import CorruptDatabaseError
from appsecgate.exports.ndjson import ByteSink
from appsecgate.exports.parquet_chunk import encode_chunk
from appsecgate.exports.parquet_footer import PARQUET_MAGIC, ChunkFacts, GroupFacts, parquet_footer
from appsecgate.store.public_views import ColumnType, PublicView, ViewColumn
from appsecgate.store.rows import SqlValue

GROUP_ROWS = 20_000
GROUP_CHARS = 12_000_000
"""A row group ends at so many rows, or so much text: what is in memory at once."""
_BATCH_ROWS = 500


def write_parquet(out: ByteSink, view: PublicView, rows: Iterator[Sequence[SqlValue]]) -> int:
    """Write every row; how many there were.

    Raises CorruptDatabaseError where a value is of another type than its column, or a timestamp is none.
    """
    writer = ParquetWriter(out, view)
    for columns in row_groups(rows, view):
        writer.add_group(columns)
    return writer.finish()


def row_groups(rows: Iterator[Sequence[SqlValue]], view: PublicView) -> Iterator[list[list[SqlValue]]]:
    """The rows turned into columns, a bounded number of them at a time."""
    texts = [index for index, column in enumerate(view.columns) if column.type is ColumnType.TEXT]
    columns: list[list[SqlValue]] = [[] for _ in view.columns]
    chars = 0
    while batch := list(itertools.islice(rows, _BATCH_ROWS)):
        for column, cells in zip(columns, zip(*batch, strict=True), strict=True):
            column.extend(cells)
        chars += sum(_chars(columns[index][-len(batch) :]) for index in texts)
        if len(columns[0]) + _BATCH_ROWS > GROUP_ROWS or chars > GROUP_CHARS:
            yield columns
            columns, chars = [[] for _ in view.columns], 0
    if columns[0]:
        yield columns


def _chars(cells: Sequence[SqlValue]) -> int:
    return sum(map(len, map(str, filter(None, cells))))


class ParquetWriter:
    """Writes one file front to back; ``finish`` ends it."""

    def __init__(self, out: ByteSink, view: PublicView) -> None:
        self._out = out
        self._view = view
        self._position = 0
        self._groups: list[GroupFacts] = []
        self._write(PARQUET_MAGIC)

    def _write(self, data: bytes) -> None:
        self._out.write(data)
        self._position += len(data)

    def add_group(self, columns: list[list[SqlValue]]) -> None:
        """Write a row group. The lists are emptied on the way, to give their memory back."""
        rows = len(columns[0])
        chunks = []
        for column, cells in zip(self._view.columns, columns, strict=True):
            data, facts = self._encode(column, cells)
            cells.clear()
            self._write(data)
            chunks.append(facts)
        self._groups.append(GroupFacts(rows, tuple(chunks)))

    def _encode(self, column: ViewColumn, cells: list[SqlValue]) -> tuple[bytes, ChunkFacts]:
        try:
            return encode_chunk(column, cells, self._position)
        except CorruptDatabaseError as error:
            raise CorruptDatabaseError(
                f"{self._view.name}.{column.name}: {error}",
                hint="Another program has written into the database; correct that row and export again.",
            ) from None

    def finish(self) -> int:
        """Write the footer; how many rows there are."""
        self._write(parquet_footer(self._view, self._groups))
        return sum(group.rows for group in self._groups)
