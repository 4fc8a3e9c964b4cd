"""What a Parquet file says about itself: page headers, column chunks, row groups, schema.

Source: parquet.thrift of the Apache Parquet format; each function builds the struct that its docstring names,
field numbers as there.
"""

import enum
from collections.abc import Sequence
from dataclasses import dataclass

from appsecgate import __version__
from appsecgate.exports.thrift_compact import (
    THRIFT_BINARY,
    THRIFT_I32,
    THRIFT_STRUCT,
    ThriftValue,
    thrift_binary,
    thrift_bool,
    thrift_i16,
    thrift_i32,
    thrift_i64,
    thrift_list,
    thrift_struct,
    thrift_text,
)
from appsecgate.store.public_views import ColumnType, PublicView, ViewColumn

PARQUET_MAGIC = b"PAR1"
PARQUET_VERSION = 2
"""Of the footer; data pages are of version 1, which every reader knows."""


class ParquetType(enum.IntEnum):
    """parquet.thrift, enum Type: those that occur here."""

    BOOLEAN = 0
    INT64 = 2
    DOUBLE = 5
    BYTE_ARRAY = 6


class ParquetEncoding(enum.IntEnum):
    """parquet.thrift, enum Encoding: those that occur here."""

    PLAIN = 0
    RLE = 3
    RLE_DICTIONARY = 8


class ParquetPage(enum.IntEnum):
    """parquet.thrift, enum PageType: those that occur here."""

    DATA = 0
    DICTIONARY = 2


_OPTIONAL = 1
_GZIP = 2
_CONVERTED_UTF8 = 0
_CONVERTED_TIMESTAMP_MICROS = 10
_NOTHING = thrift_struct({})
_STRING = thrift_struct({1: _NOTHING})
_UTC_MICROS = thrift_struct({8: thrift_struct({1: thrift_bool(True), 2: thrift_struct({2: _NOTHING})})})

PHYSICAL_TYPES: dict[ColumnType, ParquetType] = {
    ColumnType.TEXT: ParquetType.BYTE_ARRAY,
    ColumnType.INTEGER: ParquetType.INT64,
    ColumnType.REAL: ParquetType.DOUBLE,
    ColumnType.BOOLEAN: ParquetType.BOOLEAN,
    ColumnType.TIMESTAMP: ParquetType.INT64,
}


@dataclass(frozen=True, slots=True)
class PageSizes:
    """A page's bytes without its header."""

    uncompressed: int
    compressed: int
    crc: int
    """CRC-32 of the compressed bytes, from 0."""


@dataclass(frozen=True, slots=True)
class ChunkFacts:
    """A column of a row group, written."""

    column: ViewColumn
    values: int
    """NULLs too."""
    nulls: int
    bounds: tuple[bytes, bytes] | None
    """The least and the greatest value."""
    dictionary_at: int | None
    """Where in the file its dictionary page begins, if it has one."""
    data_at: int
    """Where its first data page begins."""
    uncompressed: int
    """Bytes, page headers too."""
    compressed: int


@dataclass(frozen=True, slots=True)
class GroupFacts:
    """A row group, written."""

    rows: int
    chunks: tuple[ChunkFacts, ...]


def data_page_header(values: int, encoding: ParquetEncoding, sizes: PageSizes) -> bytes:
    """PageHeader with DataPageHeader; ``values`` counts NULLs too."""
    levels = thrift_i32(ParquetEncoding.RLE)
    inner = thrift_struct({1: thrift_i32(values), 2: thrift_i32(encoding), 3: levels, 4: levels})
    return _page_header(ParquetPage.DATA, sizes, 5, inner)


def dictionary_page_header(entries: int, sizes: PageSizes) -> bytes:
    """PageHeader with DictionaryPageHeader."""
    inner = thrift_struct({1: thrift_i32(entries), 2: thrift_i32(ParquetEncoding.PLAIN)})
    return _page_header(ParquetPage.DICTIONARY, sizes, 7, inner)


def _page_header(kind: ParquetPage, sizes: PageSizes, number: int, inner: ThriftValue) -> bytes:
    signed_crc = sizes.crc - (1 << 32) if sizes.crc >= 1 << 31 else sizes.crc
    fields: dict[int, ThriftValue | None] = {
        1: thrift_i32(kind),
        2: thrift_i32(sizes.uncompressed),
        3: thrift_i32(sizes.compressed),
        4: thrift_i32(signed_crc),
        number: inner,
    }
    return thrift_struct(fields).data


def parquet_footer(view: PublicView, groups: Sequence[GroupFacts]) -> bytes:
    """FileMetaData, its length and the closing magic (README.md of the format, "File format")."""
    root = thrift_struct({4: thrift_text("schema"), 5: thrift_i32(len(view.columns))})
    elements = [root, *(_schema_element(column) for column in view.columns)]
    order = thrift_struct({1: _NOTHING})  # ColumnOrder: TYPE_ORDER
    note = thrift_struct({1: thrift_text("appsecgate.view"), 2: thrift_text(view.name)})
    meta = thrift_struct(
        {
            1: thrift_i32(PARQUET_VERSION),
            2: thrift_list(THRIFT_STRUCT, elements),
            3: thrift_i64(sum(group.rows for group in groups)),
            4: thrift_list(THRIFT_STRUCT, [_row_group(number, group) for number, group in enumerate(groups)]),
            5: thrift_list(THRIFT_STRUCT, [note]),
            6: thrift_text(f"appsecgate version {__version__}"),
            7: thrift_list(THRIFT_STRUCT, [order] * len(view.columns)),
        }
    ).data
    return meta + len(meta).to_bytes(4, "little") + PARQUET_MAGIC


def _schema_element(column: ViewColumn) -> ThriftValue:
    """SchemaElement: an optional column; old readers know the converted type, new ones the logical type."""
    converted = logical = None
    if column.type is ColumnType.TEXT:
        converted, logical = thrift_i32(_CONVERTED_UTF8), _STRING
    elif column.type is ColumnType.TIMESTAMP:
        converted, logical = thrift_i32(_CONVERTED_TIMESTAMP_MICROS), _UTC_MICROS
    return thrift_struct(
        {
            1: thrift_i32(PHYSICAL_TYPES[column.type]),
            3: thrift_i32(_OPTIONAL),
            4: thrift_text(column.name),
            6: converted,
            10: logical,
        }
    )


def _row_group(number: int, group: GroupFacts) -> ThriftValue:
    """RowGroup."""
    first = group.chunks[0]
    return thrift_struct(
        {
            1: thrift_list(THRIFT_STRUCT, [_column_chunk(chunk) for chunk in group.chunks]),
            2: thrift_i64(sum(chunk.uncompressed for chunk in group.chunks)),
            3: thrift_i64(group.rows),
            5: thrift_i64(first.data_at if first.dictionary_at is None else first.dictionary_at),
            6: thrift_i64(sum(chunk.compressed for chunk in group.chunks)),
            7: thrift_i16(number) if number < 1 << 15 else None,
        }
    )


def _column_chunk(chunk: ChunkFacts) -> ThriftValue:
    """ColumnChunk with ColumnMetaData; file_offset is deprecated and, as advised, 0."""
    encodings = [ParquetEncoding.PLAIN, ParquetEncoding.RLE]
    if chunk.dictionary_at is not None:
        encodings.append(ParquetEncoding.RLE_DICTIONARY)
    meta = thrift_struct(
        {
            1: thrift_i32(PHYSICAL_TYPES[chunk.column.type]),
            2: thrift_list(THRIFT_I32, [thrift_i32(encoding) for encoding in encodings]),
            3: thrift_list(THRIFT_BINARY, [thrift_text(chunk.column.name)]),
            4: thrift_i32(_GZIP),
            5: thrift_i64(chunk.values),
            6: thrift_i64(chunk.uncompressed),
            7: thrift_i64(chunk.compressed),
            9: thrift_i64(chunk.data_at),
            11: None if chunk.dictionary_at is None else thrift_i64(chunk.dictionary_at),
            12: _chunk_statistics(chunk),
        }
    )
    return thrift_struct({2: thrift_i64(0), 3: meta})


def _chunk_statistics(chunk: ChunkFacts) -> ThriftValue:
    """Statistics: max_value and min_value, which are exact; the deprecated max and min are left out."""
    low, high = chunk.bounds or (None, None)
    exact = None if chunk.bounds is None else thrift_bool(True)
    return thrift_struct(
        {
            3: thrift_i64(chunk.nulls),
            5: None if high is None else thrift_binary(high),
            6: None if low is None else thrift_binary(low),
            7: exact,
            8: exact,
        }
    )
