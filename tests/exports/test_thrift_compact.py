"""The compact protocol, against bytes worked out by hand from its specification."""

import unittest

from appsecgate.exports.thrift_compact import (
    THRIFT_I32,
    ThriftValue,
    thrift_binary,
    thrift_bool,
    thrift_i16,
    thrift_i32,
    thrift_i64,
    thrift_list,
    thrift_struct,
    thrift_text,
    uleb128,
)
from tests.exports.parquet_file import Thrift


class ThriftCompactTest(unittest.TestCase):
    def test_numbers_are_short_when_they_are_small(self) -> None:
        cases = {
            0: "00",
            -1: "01",
            1: "02",
            -2: "03",
            63: "7e",
            64: "8001",
            2**31 - 1: "feffffff0f",
            -(2**31): "ffffffff0f",
        }
        for number, want in cases.items():
            with self.subTest(number):
                self.assertEqual(thrift_i32(number).data.hex(), want)
        self.assertEqual(uleb128(50_399).hex(), "df8903")
        self.assertEqual(thrift_i64(-(2**63)).data.hex(), "ff" * 9 + "01")

    def test_a_struct_names_its_fields_by_the_distance_to_the_last(self) -> None:
        cases: list[tuple[dict[int, ThriftValue | None], str]] = [
            ({}, "00"),
            ({1: thrift_i32(1)}, "150200"),
            ({1: None, 3: thrift_i64(-1)}, "360100"),
            ({1: thrift_bool(True), 2: thrift_bool(False)}, "111200"),
            ({15: thrift_i16(1), 31: thrift_i16(1)}, "f402043e0200"),
            ({2: thrift_text("é")}, "2802c3a900"),
        ]
        for fields, want in cases:
            with self.subTest(want):
                self.assertEqual(thrift_struct(fields).data.hex(), want)

    def test_lists_of_any_length_come_back(self) -> None:
        for count in (0, 1, 14, 15, 300):
            with self.subTest(count):
                numbers = list(range(count))
                written = thrift_struct({1: thrift_list(THRIFT_I32, [thrift_i32(number) for number in numbers])})
                self.assertEqual(Thrift(written.data).struct(), {1: numbers})

    def test_bytes_stay_bytes(self) -> None:
        data = bytes(range(256))
        self.assertEqual(Thrift(thrift_struct({1: thrift_binary(data)}).data).struct(), {1: data})


if __name__ == "__main__":
    unittest.main()
