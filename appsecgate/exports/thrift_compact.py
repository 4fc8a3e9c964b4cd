"""Thrift's compact protocol, the writing half: what a Parquet footer and its page headers are made of.

Source: "Thrift Compact protocol encoding" (doc/specs/thrift-compact-protocol.md of Apache Thrift).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

THRIFT_TRUE = 1
THRIFT_FALSE = 2
THRIFT_I16 = 4
THRIFT_I32 = 5
THRIFT_I64 = 6
THRIFT_BINARY = 8
THRIFT_LIST = 9
THRIFT_STRUCT = 12

_SHORT_LIST = 14
"""Up to so many items the size of a list shares a byte with their type."""
_SHORT_DELTA = 15
"""Up to so far apart the number of a field shares a byte with its type."""


@dataclass(frozen=True, slots=True)
class ThriftValue:
    """A value as the protocol writes it, and the type by which it is announced."""

    type: int
    data: bytes


def uleb128(number: int) -> bytes:
    """A number from 0, seven bits a byte, the low ones first (section "Integer encoding": varint)."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _zigzag(number: int) -> bytes:
    """Small numbers of either sign in few bytes (section "Integer encoding": zigzag)."""
    return uleb128(number << 1 if number >= 0 else (-number << 1) - 1)


def thrift_bool(value: bool) -> ThriftValue:
    """A field's boolean: the type is the value (section "Boolean encoding"). Not for lists."""
    return ThriftValue(THRIFT_TRUE if value else THRIFT_FALSE, b"")


def thrift_i16(value: int) -> ThriftValue:
    return ThriftValue(THRIFT_I16, _zigzag(value))


def thrift_i32(value: int) -> ThriftValue:
    return ThriftValue(THRIFT_I32, _zigzag(value))


def thrift_i64(value: int) -> ThriftValue:
    return ThriftValue(THRIFT_I64, _zigzag(value))


def thrift_binary(value: bytes) -> ThriftValue:
    return ThriftValue(THRIFT_BINARY, uleb128(len(value)) + value)


def thrift_text(value: str) -> ThriftValue:
    return thrift_binary(value.encode("utf-8"))


def thrift_list(item_type: int, items: Sequence[ThriftValue]) -> ThriftValue:
    """Items of one type (section "List and Set"). The type is given, as there may be none of them."""
    if len(items) <= _SHORT_LIST:
        head = bytes([len(items) << 4 | item_type])
    else:
        head = bytes([0xF0 | item_type]) + uleb128(len(items))
    return ThriftValue(THRIFT_LIST, head + b"".join(item.data for item in items))


def thrift_struct(fields: Mapping[int, ThriftValue | None]) -> ThriftValue:
    """Field number → value, in ascending order; None leaves an optional field out (section "Struct encoding")."""
    out = bytearray()
    last = 0
    for number, value in fields.items():
        if value is None:
            continue
        if 0 < number - last <= _SHORT_DELTA:
            out.append((number - last) << 4 | value.type)
        else:
            out.append(value.type)
            out += _zigzag(number)
        out += value.data
        last = number
    out.append(0)
    return ThriftValue(THRIFT_STRUCT, bytes(out))
