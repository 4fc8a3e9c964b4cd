"""Parquet files read back by a small reader of our own; the real readers are in test_parquet_readers.py."""

import io
import struct
import unittest
from typing import Any

from appsecgate.errors import CorruptDatabaseError
from appsecgate.exports.parquet import GROUP_CHARS, GROUP_ROWS, row_groups, write_parquet
from appsecgate.exports.parquet_chunk import PAGE_ROWS
from appsecgate.exports.parquet_values import STATISTICS_BYTES, utc_micros, value_bounds
from appsecgate.store.public_views import ColumnType, PublicView, ViewColumn, public_views
from appsecgate.store.rows import SqlValue
from tests.exports.columns import NAN, odd_rows, odd_view, parquet_bytes, plain_columns, real_bits
from tests.exports.parquet_file import BOOLEAN, BYTE_ARRAY, DOUBLE, INT64, read_parquet_file


def one_column(kind: ColumnType) -> PublicView:
    return PublicView("v_one", "One.", (ViewColumn("cell", kind, "a meaning"),))


def read_values(data: bytes) -> dict[str, list[Any]]:
    read = {}
    for name, values in read_parquet_file(data).columns.items():
        decoded = [value.decode() if isinstance(value, bytes) else value for value in values]
        read[name] = [real_bits(value) for value in decoded] if name.startswith("real") else decoded
    return read


class RoundTripTest(unittest.TestCase):
    def test_every_value_comes_back(self) -> None:
        view = odd_view()
        for count in (0, 1, 7, 8, 9, 300, PAGE_ROWS, PAGE_ROWS + 1):
            with self.subTest(count):
                rows = odd_rows(count, seed=count)
                self.assertEqual(read_values(parquet_bytes(view, rows)), plain_columns(view, rows))

    def test_rows_come_in_groups_of_bounded_size(self) -> None:
        view = one_column(ColumnType.TEXT)
        cases = [
            ("many", "x", GROUP_ROWS * 2 + 1, GROUP_ROWS),
            ("long", "y" * 10_000, 2_000, GROUP_CHARS // 10_000 + 500),
        ]
        for name, text, count, most in cases:
            with self.subTest(name):
                sizes = [len(columns[0]) for columns in row_groups(((text,) for _ in range(count)), view)]
                self.assertEqual(sum(sizes), count)
                self.assertGreater(len(sizes), 1)
                self.assertLessEqual(max(sizes), most)

    def test_several_groups_read_as_one_table(self) -> None:
        view = one_column(ColumnType.INTEGER)
        file = read_parquet_file(parquet_bytes(view, [(row,) for row in range(GROUP_ROWS + 5)]))
        self.assertEqual(len(file.meta[4]), 2)
        self.assertEqual(file.columns["cell"], list(range(GROUP_ROWS + 5)))

    def test_equal_rows_give_equal_bytes(self) -> None:
        rows = odd_rows(500, seed=3)
        self.assertEqual(parquet_bytes(odd_view(), rows), parquet_bytes(odd_view(), rows))

    def test_the_rows_are_read_once_and_not_ahead(self) -> None:
        """The writer writes a row group before it asks for the rows of the one after the next batch."""
        view, out, ahead = one_column(ColumnType.INTEGER), io.BytesIO(), []

        def rows() -> Any:
            for row in range(GROUP_ROWS * 2):
                ahead.append(out.tell())
                yield (row,)

        write_parquet(out, view, rows())
        self.assertGreater(ahead[-1], ahead[0])


class DescriptionTest(unittest.TestCase):
    def test_each_type_is_declared_as_readers_know_it(self) -> None:
        cases: dict[ColumnType, tuple[int, int | None, object]] = {
            ColumnType.TEXT: (BYTE_ARRAY, 0, {1: {}}),
            ColumnType.INTEGER: (INT64, None, None),
            ColumnType.REAL: (DOUBLE, None, None),
            ColumnType.BOOLEAN: (BOOLEAN, None, None),
            ColumnType.TIMESTAMP: (INT64, 10, {8: {1: True, 2: {2: {}}}}),
        }
        for kind, (physical, converted, logical) in cases.items():
            with self.subTest(kind):
                meta = read_parquet_file(parquet_bytes(one_column(kind), [])).meta
                element = meta[2][1]
                self.assertEqual((element[1], element.get(6), element.get(10)), (physical, converted, logical))
                self.assertEqual((element[3], element[4]), (1, b"cell"))
                self.assertEqual((meta[3], meta[7]), (0, [{1: {}}]))

    def test_every_public_view_can_be_written_empty(self) -> None:
        for name, view in public_views().items():
            with self.subTest(name):
                file = read_parquet_file(parquet_bytes(view, []))
                self.assertEqual(list(file.columns), [column.name for column in view.columns])

    def test_bounds_are_exact_or_absent(self) -> None:
        word = struct.Struct("<q").pack
        real = struct.Struct("<d").pack
        text, number, reals = ColumnType.TEXT, ColumnType.INTEGER, ColumnType.REAL
        cases: list[tuple[ColumnType, list[SqlValue], tuple[bytes, bytes] | None]] = [
            (text, ["b", "a", None, "é"], (b"a", "é".encode())),
            (text, ["\uffff", "\U00010000"], ("\uffff".encode(), "\U00010000".encode())),
            (text, [""], (b"", b"")),
            (text, ["x" * STATISTICS_BYTES], (b"x" * STATISTICS_BYTES,) * 2),
            (text, ["a", "x" * (STATISTICS_BYTES + 1)], None),
            (text, [None, None], None),
            (number, [3, -(2**63), None], (word(-(2**63)), word(3))),
            (reals, [1.5, -2.0], (real(-2.0), real(1.5))),
            (reals, [0.0, 0.0], (real(-0.0), real(0.0))),
            (reals, [-0.0, -0.0], (real(-0.0), real(0.0))),
            (reals, [1.0, NAN], None),
            (ColumnType.BOOLEAN, [0, 1], (b"\x00", b"\x01")),
            (ColumnType.TIMESTAMP, ["1970-01-01T00:00:00.001Z"], (word(1000),) * 2),
        ]
        for kind, cells, bounds in cases:
            with self.subTest(kind=kind, cells=cells):
                file = read_parquet_file(parquet_bytes(one_column(kind), [(cell,) for cell in cells]))
                statistics = file.meta[4][0][1][0][3][12]
                self.assertEqual(statistics[3], cells.count(None))
                found = (statistics[6], statistics[5]) if 5 in statistics else None
                self.assertEqual(found, bounds)
                self.assertEqual(statistics.get(7), None if bounds is None else True)

    def test_without_values_there_are_no_bounds(self) -> None:
        self.assertIsNone(value_bounds(ColumnType.INTEGER, []))


class RefusalTest(unittest.TestCase):
    def test_a_value_of_another_type_is_named_and_not_bent(self) -> None:
        cases: list[tuple[ColumnType, SqlValue]] = [
            (ColumnType.TEXT, 1),
            (ColumnType.TEXT, b"blob"),
            (ColumnType.INTEGER, "1"),
            (ColumnType.INTEGER, 1.0),
            (ColumnType.BOOLEAN, "yes"),
            (ColumnType.REAL, "0.5"),
            (ColumnType.TIMESTAMP, 1_700_000_000),
        ]
        for kind, value in cases:
            with self.subTest(kind=kind, value=value), self.assertRaisesRegex(CorruptDatabaseError, "v_one.cell: "):
                parquet_bytes(one_column(kind), [(None,), (value,)])

    def test_only_times_as_the_store_writes_them_are_times(self) -> None:
        self.assertEqual(utc_micros("1970-01-01T00:00:01Z"), 1_000_000)
        for text in (
            "", "yesterday", "2026-03-01", "2026-03-01T12:00Z", "2026-03-01 12:00:00Z", "2026-03-01T12:00:00",
            "2026-03-01T12:00:00+00:00", "2026-03-01T12:00:00.1Z", "2026-02-30T12:00:00Z", "2026-03-01T12:00:00Z\n",
            "２０２６-03-01T12:00:00Z", "2026-03-01T12:00:00,000Z", "20260301T120000Z",
        ):  # fmt: skip
            with self.subTest(text):
                self.assertRaises(ValueError, utc_micros, text)
                with self.assertRaises(CorruptDatabaseError):
                    parquet_bytes(one_column(ColumnType.TIMESTAMP), [(text,)])


if __name__ == "__main__":
    unittest.main()
