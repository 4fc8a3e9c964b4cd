"""Newline-delimited JSON: one object per row, the view's columns as keys."""

import json
from collections.abc import Iterator, Sequence
from typing import Protocol

from appsecgate.store.public_views import ColumnType, PublicView
from appsecgate.store.rows import SqlValue


class ByteSink(Protocol):
    """Where a writer puts its bytes, front to back."""

    def write(self, data: bytes, /) -> int:
        """Take all of ``data``."""
        ...


def write_ndjson(out: ByteSink, view: PublicView, rows: Iterator[Sequence[SqlValue]]) -> int:
    """Write every row as a line of UTF-8; how many there were. Booleans are ``true`` and ``false``.

    Half a surrogate pair, which UTF-8 cannot carry, becomes its JSON escape.
    """
    names = [column.name for column in view.columns]
    truths = [index for index, column in enumerate(view.columns) if column.type is ColumnType.BOOLEAN]
    encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
    count = 0
    for row in rows:
        values = list(row)
        for index in truths:
            values[index] = None if values[index] is None else bool(values[index])
        out.write(encode(dict(zip(names, values, strict=True))).encode("utf-8", "backslashreplace") + b"\n")
        count += 1
    return count
