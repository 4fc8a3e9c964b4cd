"""Columns of odd values, and what a faithful reader must give back for them."""

import importlib
import io
import json
import os
import random
import struct
import sys
import unittest
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from appsecgate.exports.parquet import write_parquet
from appsecgate.store.public_views import ColumnType, PublicView, ViewColumn
from appsecgate.store.rows import SqlValue

TEXTS = (
    "", "a", " ", "\0", "a\0b", "\n\r\t", "é", "e\u0301", "日本語", "😀", "\U0010ffff", "\ufffd", "\ufeffx", "\x7f", "\x80",
    "x" * 64, "x" * 65, "é" * 40, "long " * 2_000, '["CWE-79","CWE-80"]', "[]", "null", "\ud800", "\udcff", "\\udcff", "'",
)  # fmt: skip
INTEGERS = (0, 1, -1, 255, 256, -(2**31), 2**31, 2**53 + 1, 2**63 - 1, -(2**63))
REALS = (0.0, -0.0, 1.5, -1.5, 1e308, 5e-324, float("inf"), float("-inf"), 0.1, 100.0)
NAN = float("nan")
TIMES = (
    "1970-01-01T00:00:00.000Z", "1969-12-31T23:59:59.999Z", "2026-03-01T12:00:00Z", "2026-03-01T12:00:00.000001Z",
    "0001-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999999Z", "2024-02-29T23:59:59.123Z",
)  # fmt: skip
POOLS: dict[ColumnType, tuple[SqlValue, ...]] = {
    ColumnType.TEXT: TEXTS,
    ColumnType.INTEGER: INTEGERS,
    ColumnType.REAL: REALS,
    ColumnType.BOOLEAN: (0, 1),
    ColumnType.TIMESTAMP: TIMES,
}
NULLS: dict[str, Callable[[random.Random, int], bool]] = {
    "none": lambda chance, row: False,
    "all": lambda chance, row: True,
    "some": lambda chance, row: chance.random() < 0.3,
    "runs": lambda chance, row: row // 100 % 2 == 1,
}


def odd_view() -> PublicView:
    """A column of each type with each pattern of NULLs, and one of each type that no dictionary helps."""
    names = [(f"{kind}_{nulls}", kind) for kind in ColumnType for nulls in (*NULLS, "distinct")]
    return PublicView("v_odd", "Odd.", tuple(ViewColumn(name, kind, "a meaning") for name, kind in names))


def odd_rows(count: int, seed: int) -> list[tuple[SqlValue, ...]]:
    """Rows of that view."""
    chance = random.Random(seed)
    columns: list[list[SqlValue]] = []
    for column in odd_view().columns:
        nulls = column.name.rpartition("_")[2]
        if nulls == "distinct":
            columns.append([distinct_value(chance, column.type) for _ in range(count)])
        else:
            pool, absent = POOLS[column.type], NULLS[nulls]
            columns.append([None if absent(chance, row) else chance.choice(pool) for row in range(count)])
    return list(zip(*columns, strict=True))


def distinct_value(chance: random.Random, kind: ColumnType) -> SqlValue:
    """Hardly ever the same one twice; NaN and NULL now and then."""
    if chance.random() < 0.1:
        return None
    match kind:
        case ColumnType.TEXT:
            return "".join(chr(chance.choice((65, 228, 0x3042, 0x1F600)) + chance.randrange(30)) for _ in range(9))
        case ColumnType.INTEGER:
            return chance.randrange(-(2**63), 2**63)
        case ColumnType.REAL:
            bits = chance.getrandbits(64).to_bytes(8, "little")
            value: float = struct.unpack("<d", bits)[0]
            return value if value == value else NAN
        case ColumnType.BOOLEAN:
            return chance.randrange(2)
        case ColumnType.TIMESTAMP:
            moment = datetime(1, 1, 1, tzinfo=UTC) + timedelta(milliseconds=chance.randrange(9998 * 31_556_952_000))
            return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def plain_value(kind: ColumnType, value: SqlValue) -> Any:
    """What readers are compared by: times as microseconds, reals as their bits, the rest as it is."""
    if value is None:
        return None
    if kind is ColumnType.TEXT:
        return str(value).encode("utf-8", "backslashreplace").decode()
    if kind is ColumnType.BOOLEAN:
        return bool(value)
    if kind is ColumnType.REAL:
        return real_bits(value)
    if kind is ColumnType.TIMESTAMP:
        return (datetime.fromisoformat(str(value)) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    return value


def real_bits(value: Any) -> Any:
    """The bits of a real, so that -0.0 is not 0.0; one word for every NaN."""
    if value is None:
        return None
    return "nan" if value != value else struct.pack("<d", float(value))


def plain_columns(view: PublicView, rows: Sequence[Sequence[SqlValue]]) -> dict[str, list[Any]]:
    """Column → the values that a reader must give."""
    return {
        column.name: [plain_value(column.type, row[index]) for row in rows] for index, column in enumerate(view.columns)
    }


def parquet_bytes(view: PublicView, rows: Sequence[Sequence[SqlValue]]) -> bytes:
    out = io.BytesIO()
    count = write_parquet(out, view, iter(rows))
    assert count == len(rows)
    return out.getvalue()


def require_readers(*names: str) -> list[Any]:
    """For ``setUpClass``: these modules, or the class is skipped (failed with ``APPSECGATE_TEST_FULL=1``)."""
    try:
        return [importlib.import_module(name) for name in names]
    except ImportError as error:
        message = f"{error.name} is not installed: pip install .[dev]"
    if os.environ.get("APPSECGATE_TEST_FULL") == "1":
        raise AssertionError(message)
    print(f"\nSKIPPED, NOT TESTED: {message}", file=sys.stderr)
    raise unittest.SkipTest(message)


def read_ndjson(data: bytes) -> list[dict[str, Any]]:
    """The rows of such a file."""
    return [json.loads(line) for line in data.split(b"\n") if line]
