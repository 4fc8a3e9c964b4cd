"""A small Parquet reader that shares no line with the writer: what the quick tests read files back with."""

import struct
import zlib
from dataclasses import dataclass
from typing import Any

BOOLEAN, INT64, DOUBLE, BYTE_ARRAY = 0, 2, 5, 6


class Thrift:
    """Reads the compact protocol: a struct becomes {field number: value}."""

    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data = data
        self.at = at

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def varint(self) -> int:
        number = shift = 0
        while True:
            byte = self.byte()
            number |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                return number

    def zigzag(self) -> int:
        number = self.varint()
        return (number >> 1) ^ -(number & 1)

    def value(self, kind: int) -> Any:
        if kind in (1, 2):
            return kind == 1
        if kind in (4, 5, 6):
            return self.zigzag()
        if kind == 8:
            size = self.varint()
            self.at += size
            return self.data[self.at - size : self.at]
        if kind == 9:
            head = self.byte()
            size = head >> 4 if head >> 4 != 15 else self.varint()
            return [self.value(head & 15) for _ in range(size)]
        if kind == 12:
            return self.struct()
        raise ValueError(f"no such type: {kind}")

    def struct(self) -> dict[int, Any]:
        found: dict[int, Any] = {}
        number = 0
        while head := self.byte():
            number = number + (head >> 4) if head >> 4 else self.zigzag()
            found[number] = self.value(head & 15)
        return found


@dataclass
class ParquetFile:
    meta: dict[int, Any]
    columns: dict[str, list[Any]]
    """Texts as bytes, times as integers."""


def read_parquet_file(data: bytes) -> ParquetFile:
    assert data[:4] == data[-4:] == b"PAR1"
    size = int.from_bytes(data[-8:-4], "little")
    footer = Thrift(data, len(data) - 8 - size)
    meta = footer.struct()
    assert footer.at == len(data) - 8
    names = [element[4].decode() for element in meta[2][1:]]
    columns: dict[str, list[Any]] = {name: [] for name in names}
    end = 4
    for group in meta[4]:
        for name, chunk in zip(names, group[1], strict=True):
            facts = chunk[3]
            assert facts[3] == [name.encode()]
            assert facts.get(11, facts[9]) == end, "chunks follow one another"
            end += facts[7]
            values = _read_chunk(data, facts)
            assert len(values) == facts[5] == group[3]
            columns[name] += values
    assert end == len(data) - 8 - size
    return ParquetFile(meta, columns)


def _read_chunk(data: bytes, facts: dict[int, Any]) -> list[Any]:
    at, begin = facts.get(11, facts[9]), facts.get(11, facts[9])
    dictionary: list[Any] = []
    values: list[Any] = []
    uncompressed = 0
    while at < begin + facts[7]:
        thrift = Thrift(data, at)
        header = thrift.struct()
        body = data[thrift.at : thrift.at + header[3]]
        assert header[4] & 0xFFFFFFFF == zlib.crc32(body)
        page = zlib.decompress(body, 31)
        assert len(page) == header[2]
        uncompressed += thrift.at - at + len(page)
        at = thrift.at + header[3]
        if header[1] == 2:
            dictionary = _plain(facts[1], page, header[7][1])
        else:
            values += _data_page(facts[1], page, header[5], dictionary)
    assert uncompressed == facts[6]
    return values


def _data_page(kind: int, page: bytes, header: dict[int, Any], dictionary: list[Any]) -> list[Any]:
    size = int.from_bytes(page[:4], "little")
    levels = _hybrid(page[4 : 4 + size], 1, header[1])
    rest, count = page[4 + size :], sum(levels)
    if header[2] == 8:
        present = [dictionary[place] for place in _hybrid(rest[1:], rest[0], count)]
    else:
        present = _plain(kind, rest, count)
    given = iter(present)
    return [next(given) if level else None for level in levels]


def _hybrid(data: bytes, width: int, count: int) -> list[int]:
    """Encodings.md: runs, and groups of eight bit-packed numbers."""
    thrift, found = Thrift(data), list[int]()
    while len(found) < count:
        head = thrift.varint()
        size = (head >> 1) * width if head & 1 else (width + 7) // 8
        number = int.from_bytes(data[thrift.at : thrift.at + size], "little")
        thrift.at += size
        if head & 1:
            found += [number >> place * width & (1 << width) - 1 for place in range((head >> 1) * 8)]
        else:
            found += [number] * (head >> 1)
    assert thrift.at == len(data)
    return found[:count]


def _plain(kind: int, data: bytes, count: int) -> list[Any]:
    if kind == BOOLEAN:
        return [bool(data[place // 8] >> place % 8 & 1) for place in range(count)]
    if kind in (INT64, DOUBLE):
        assert len(data) == 8 * count
        return list(struct.unpack(f"<{count}{'q' if kind == INT64 else 'd'}", data))
    found, at = [], 0
    for _ in range(count):
        size = int.from_bytes(data[at : at + 4], "little")
        found.append(data[at + 4 : at + 4 + size])
        at += 4 + size
    assert at == len(data)
    return found
