"""The values of a Parquet column: from what SQLite gives to physical values, their bytes and their statistics.

Source: Encodings.md, LogicalTypes.md and parquet.thrift of the Apache Parquet format. Everything here is about
one column of one row group; NULLs are told apart from values by definition levels (1 = there is a value).
"""

import array
import math
import re
import struct
import sys
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

from appsecgate.errors import CorruptDatabaseError
from appsecgate.exports.thrift_compact import uleb128
from appsecgate.store.public_views import ColumnType
from appsecgate.store.rows import SqlValue

PhysicalValues: TypeAlias = list[bytes] | list[int] | list[float] | list[bool]

STATISTICS_BYTES = 64
"""Longer texts get no minimum and maximum: a cut one would be a bound that older readers take for a value."""
DICTIONARY_ENTRIES = 65_536
"""So many numbers fit 16 bits."""

_UTC_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3}|\.\d{6})?Z", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_BINARY_DIGITS = bytes([0x30, 0x31, *range(2, 256)])
_GIVEN_TYPES: dict[ColumnType, set[type]] = {
    ColumnType.TEXT: {str},
    ColumnType.TIMESTAMP: {str},
    ColumnType.INTEGER: {int},
    ColumnType.BOOLEAN: {int},
    ColumnType.REAL: {int, float},
}


def utc_micros(text: str) -> int:
    """Microseconds since 1970 of a time as the store writes it: ISO 8601, ``T``, ``Z``, 0, 3 or 6 decimals.

    Raises ValueError for any other text (LogicalTypes.md, TIMESTAMP: isAdjustedToUTC, MICROS).
    """
    if not _UTC_TIME.fullmatch(text):
        raise ValueError("not a UTC time")
    return (datetime.fromisoformat(text) - _EPOCH) // _MICROSECOND


def refuse_other_types(kind: ColumnType, present: Iterable[SqlValue]) -> None:
    """Raises CorruptDatabaseError for a value that is not of the column's type: SQLite itself keeps anything."""
    found = set(map(type, present)) - _GIVEN_TYPES[kind]
    if found:
        raise CorruptDatabaseError(f"a {kind} column holds {min(item.__name__ for item in found)}.")


def physical_values(kind: ColumnType, present: Sequence[SqlValue]) -> PhysicalValues:
    """Values, no NULL among them, as Parquet's physical types have them.

    Text becomes UTF-8; half a surrogate pair, which UTF-8 cannot carry, becomes ``\\udc80`` and the like, as
    in the store. Raises CorruptDatabaseError for a text that is no time. The types are as ``refuse_other_types``
    wants them.
    """
    return _CONVERTERS[kind](present)


def _text_values(present: Sequence[SqlValue]) -> list[bytes]:
    return [str.encode(value, "utf-8", "backslashreplace") for value in present]  # type: ignore[arg-type]


def _time_values(present: Sequence[SqlValue]) -> list[int]:
    try:
        return [utc_micros(str(value)) for value in present]
    except ValueError:
        raise CorruptDatabaseError("a timestamp column holds what is no UTC time.") from None


def _integer_values(present: Sequence[SqlValue]) -> list[int]:
    return list(present)  # type: ignore[arg-type]


def _real_values(present: Sequence[SqlValue]) -> list[float]:
    return [float(value) for value in present]  # type: ignore[arg-type]


def _boolean_values(present: Sequence[SqlValue]) -> list[bool]:
    return [bool(value) for value in present]


_CONVERTERS: dict[ColumnType, Callable[[Sequence[SqlValue]], PhysicalValues]] = {
    ColumnType.TEXT: _text_values,
    ColumnType.TIMESTAMP: _time_values,
    ColumnType.INTEGER: _integer_values,
    ColumnType.BOOLEAN: _boolean_values,
    ColumnType.REAL: _real_values,
}


def plain_bytes(kind: ColumnType, values: Sequence[bytes | int | float]) -> bytes:
    """Values one after another (Encodings.md, "Plain: (PLAIN = 0)")."""
    if kind is ColumnType.BOOLEAN:
        return _packed_bits(bytes(values))  # type: ignore[arg-type]
    if kind is ColumnType.TEXT:
        return _counted_texts(values)  # type: ignore[arg-type]
    return _little_endian("d" if kind is ColumnType.REAL else "q", values)


def _counted_texts(values: Sequence[bytes]) -> bytes:
    """Each text behind its length, 4 bytes, little-endian."""
    count = struct.Struct("<I").pack
    parts: list[bytes] = [b""] * (2 * len(values))
    parts[::2] = map(count, map(len, values))
    parts[1::2] = values
    return b"".join(parts)


def _little_endian(code: str, values: Iterable[bytes | int | float]) -> bytes:
    numbers = array.array(code, values)  # type: ignore[type-var]
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def _packed_bits(flags: bytes) -> bytes:
    """Bytes that are 0 or 1 as bits, the first one lowest."""
    bits = int(flags[::-1].translate(_BINARY_DIGITS) or b"0", 2)
    return bits.to_bytes((len(flags) + 7) // 8, "little")


def level_bytes(levels: bytes) -> bytes:
    """Definition levels, 0 or 1 each, behind their length as data pages of version 1 have it.

    Encodings.md, "Run Length Encoding / Bit-Packing Hybrid (RLE = 3)": one run where all are equal, else
    one bit-packed run.
    """
    if len(set(levels)) == 1:
        body = uleb128(len(levels) << 1) + levels[:1]
    else:
        body = uleb128(((len(levels) + 7) // 8) << 1 | 1) + _packed_bits(levels)
    return struct.pack("<I", len(body)) + body


def dictionary_of(kind: ColumnType, values: Sequence[SqlValue]) -> dict[SqlValue, int] | None:
    """Distinct value → its place in a dictionary; None where one does not pay.

    Reals have none, as 0.0 and -0.0 would be one entry, and NaN many; booleans are bits already.
    """
    if not values or kind in (ColumnType.REAL, ColumnType.BOOLEAN):
        return None
    distinct = dict.fromkeys(values, 0)
    if len(distinct) > min(len(values) // 2, DICTIONARY_ENTRIES):
        return None
    for place, value in enumerate(distinct):
        distinct[value] = place
    return distinct


def index_bytes(places: Sequence[int], entries: int) -> bytes:
    """Places in a dictionary of so many entries (Encodings.md, "Dictionary Encoding": RLE_DICTIONARY = 8).

    A width of 8 or 16 bits is wider than need be, but makes packing a copy; compression takes it back.
    """
    code, width = ("B", 8) if entries <= 256 else ("H", 16)
    groups = (len(places) + 7) // 8
    packed = _little_endian(code, places).ljust(groups * width, b"\0")
    return bytes([width]) + uleb128(groups << 1 | 1) + packed


def value_bounds(kind: ColumnType, values: Sequence[bytes | int | float]) -> tuple[bytes, bytes] | None:
    """Minimum and maximum as PLAIN without a length, None where there is none or it would not be safe.

    parquet.thrift, ColumnOrder.TYPE_ORDER: UTF-8 compares by unsigned bytes; no bounds where a NaN is
    among reals, and a zero minimum is written -0.0, a zero maximum +0.0.
    """
    if not values or (kind is ColumnType.REAL and any(map(math.isnan, values))):  # type: ignore[arg-type]
        return None
    low, high = min(values), max(values)
    if isinstance(low, bytes) and isinstance(high, bytes):
        return None if max(len(low), len(high)) > STATISTICS_BYTES else (low, high)
    if kind is ColumnType.REAL:
        low, high = low or -0.0, high or 0.0
    return plain_bytes(kind, [low]), plain_bytes(kind, [high])
