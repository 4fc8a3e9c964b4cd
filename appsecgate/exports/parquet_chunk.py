"""One column of one Parquet row group as bytes: a dictionary page where one pays, and data pages of version 1."""

import zlib
from collections.abc import Iterator, Sequence

from appsecgate.exports.parquet_footer import (
    ChunkFacts,
    PageSizes,
    ParquetEncoding,
    data_page_header,
    dictionary_page_header,
)
from appsecgate.exports.parquet_values import (
    PhysicalValues,
    dictionary_of,
    index_bytes,
    level_bytes,
    physical_values,
    plain_bytes,
    refuse_other_types,
    value_bounds,
)
from appsecgate.store.public_views import ViewColumn
from appsecgate.store.rows import SqlValue

PAGE_ROWS = 10_000
_COMPRESSION_LEVEL = 1
"""Of zlib. Dictionaries have taken most of what repeats; higher levels cost far more than they save."""
_GZIP_FRAME = 31
"""For zlib: the codec GZIP is a member of RFC 1952 (Compression.md)."""


def encode_chunk(column: ViewColumn, cells: Sequence[SqlValue], at: int) -> tuple[bytes, ChunkFacts]:
    """The chunk's bytes, which are to begin ``at`` this place of the file, and what the footer says of them.

    Raises CorruptDatabaseError for a value of another type than the column's.
    """
    levels = bytes(cell is not None for cell in cells) if None in cells else b"\x01" * len(cells)
    present = [cell for cell in cells if cell is not None]
    refuse_other_types(column.type, present)
    entries = dictionary_of(column.type, present)
    values = physical_values(column.type, present if entries is None else list(entries))
    pages = _Pages()
    if entries is not None:
        pages.add_dictionary(plain_bytes(column.type, values), len(values))
    data_at = at + pages.compressed
    if entries is None:
        _add_plain_pages(pages, column, levels, values)
    else:
        _add_index_pages(pages, levels, list(map(entries.__getitem__, present)), len(entries))
    facts = ChunkFacts(
        column=column,
        values=len(cells),
        nulls=len(cells) - len(present),
        bounds=value_bounds(column.type, values),
        dictionary_at=None if entries is None else at,
        data_at=data_at,
        uncompressed=pages.uncompressed,
        compressed=pages.compressed,
    )
    return b"".join(pages.parts), facts


def _add_plain_pages(pages: "_Pages", column: ViewColumn, levels: bytes, values: PhysicalValues) -> None:
    for part, (begin, end) in _page_parts(levels):
        pages.add_data(
            level_bytes(part) + plain_bytes(column.type, values[begin:end]), len(part), ParquetEncoding.PLAIN
        )


def _add_index_pages(pages: "_Pages", levels: bytes, places: Sequence[int], entries: int) -> None:
    for part, (begin, end) in _page_parts(levels):
        body = level_bytes(part) + index_bytes(places[begin:end], entries)
        pages.add_data(body, len(part), ParquetEncoding.RLE_DICTIONARY)


def _page_parts(levels: bytes) -> Iterator[tuple[bytes, tuple[int, int]]]:
    """The levels of each page, and where its values begin and end."""
    begin = 0
    for start in range(0, len(levels), PAGE_ROWS):
        part = levels[start : start + PAGE_ROWS]
        end = begin + sum(part)
        yield part, (begin, end)
        begin = end


class _Pages:
    """Pages one after another, and their sizes with headers, which count as they are on either side."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.uncompressed = 0
        self.compressed = 0

    def add_dictionary(self, body: bytes, entries: int) -> None:
        packed, sizes = _compress_page(body)
        self._add(dictionary_page_header(entries, sizes), packed, sizes)

    def add_data(self, body: bytes, values: int, encoding: ParquetEncoding) -> None:
        packed, sizes = _compress_page(body)
        self._add(data_page_header(values, encoding, sizes), packed, sizes)

    def _add(self, header: bytes, packed: bytes, sizes: PageSizes) -> None:
        self.parts += (header, packed)
        self.uncompressed += len(header) + sizes.uncompressed
        self.compressed += len(header) + sizes.compressed


def _compress_page(body: bytes) -> tuple[bytes, PageSizes]:
    packed = zlib.compress(body, _COMPRESSION_LEVEL, _GZIP_FRAME)
    return packed, PageSizes(len(body), len(packed), zlib.crc32(packed))
