"""Lines of JSON: reading and parsing, encoding, one writer, and the process's own two streams.

One message is one line. Bytes are split at ``\\n`` alone (texts may hold other line separators), and
what is written is ASCII, so that no console code page can spoil it.
"""

import contextlib
import json
import os
import re
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, NoReturn

from appsecgate.model import Json

MAX_LINE_BYTES: Final = 16 * 1024 * 1024
"""A longer line is dropped while it arrives, and answered as one that cannot be parsed."""
MAX_NESTING: Final = 100
"""Deeper arrays and objects are refused: code behind the wire may walk values recursively."""
MAX_QUEUED_BYTES: Final = 32 * 1024 * 1024
"""Unsent answers beyond this make their senders wait: the client reads too slowly."""
_WIRE_CHUNK_BYTES: Final = 64 * 1024
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_HALF_PAIR: Final = re.compile("[\ud800-\udfff]")

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
UNSUPPORTED_VERSION: Final = -32022


class RpcError(Exception):
    """A protocol fault: answered as a JSON-RPC error, never as a tool's result."""

    def __init__(self, code: int, message: str, data: Json = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data

    def as_json(self) -> dict[str, Json]:
        """The ``error`` member of a response."""
        error: dict[str, Json] = {"code": self.code, "message": str(self)}
        return error if self.data is None else error | {"data": self.data}


def read_lines(read: Callable[[int], bytes], max_bytes: int = MAX_LINE_BYTES) -> Iterator[bytes | None]:
    """The lines of a stream without their ends; None for one over ``max_bytes``; an unended last line too.

    ``read(n)`` gives at most n bytes as soon as there are any, b"" at the end.
    """
    line = bytearray()
    over = False
    while chunk := read(_WIRE_CHUNK_BYTES):
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            over = over or len(line) + len(piece) > max_bytes
            yield None if over else bytes(line + piece)
            line.clear()
            over = False
        over = over or len(line) + len(rest) > max_bytes
        if over:
            line.clear()
        else:
            line += rest
    if over or line:
        yield None if over else bytes(line)


def parse_line(line: bytes) -> Json:
    """The JSON value of a line. ``RpcError`` for what is not JSON, NaN and too deep nesting included."""
    try:
        text = line.removeprefix(_BYTE_ORDER_MARK).decode("utf-8")
        value: Json = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise RpcError(PARSE_ERROR, "Parse error: the line is not one JSON value in UTF-8") from error
    if text.count("[") + text.count("{") > MAX_NESTING and is_deeper(value, MAX_NESTING):
        raise RpcError(PARSE_ERROR, f"Parse error: nested deeper than {MAX_NESTING} levels")
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def is_deeper(value: Json, levels: int) -> bool:
    """Whether arrays and objects nest deeper than ``levels``; walks breadth first, so it cannot overflow."""
    layer = [value] if isinstance(value, dict | list) else []
    for _ in range(levels):
        layer = [
            child
            for item in layer
            for child in (item.values() if isinstance(item, dict) else item)
            if isinstance(child, dict | list)
        ]
    return bool(layer)


def encode_message(message: Json) -> bytes:
    """One message as ASCII JSON without a line end. ValueError for NaN and infinities.

    Half surrogate pairs (bytes of file names that are not UTF-8) become U+FFFD: strict JSON parsers
    refuse the whole line otherwise.
    """
    text = _compact(message)
    if "\\ud" in text:
        raw = json.dumps(message, ensure_ascii=False, allow_nan=False)
        if _HALF_PAIR.search(raw):
            text = _compact(json.loads(_HALF_PAIR.sub("\ufffd", raw)))
    return text.encode("ascii")


def _compact(message: Json) -> str:
    return json.dumps(message, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def always() -> bool:
    """The condition of a message that nothing can withdraw."""
    return True


class Outbox:
    """The one way out. A thread of its own writes, so that a client that reads slowly stops nobody else.

    Whether a message may still go is decided in the same locked step that queues it: nothing about a call can
    follow its answer.
    """

    def __init__(self, write: Callable[[bytes], None], on_broken: Callable[[], None]) -> None:
        """``write`` takes a whole line; its OSError means that nobody reads, and ``on_broken`` is called."""
        self._write = write
        self._on_broken = on_broken
        self._changed = threading.Condition(threading.Lock())
        self._queue: deque[bytes] = deque()
        self._queued_bytes = 0
        self._closing = False
        self._broken = False
        self._thread = threading.Thread(target=self._pump, name="mcp-writer", daemon=True)
        self._thread.start()

    def send(self, line: bytes, allowed: Callable[[], bool] = always) -> None:
        """Queue a line if ``allowed()``; waits while the queue is full."""
        with self._changed:
            while self._queued_bytes > MAX_QUEUED_BYTES and not self._broken and not self._closing:
                self._changed.wait()
            self._queue_if(line, allowed)

    def offer(self, line: bytes, allowed: Callable[[], bool]) -> None:
        """Queue a line if ``allowed()`` and nothing else waits to be sent; else drop it."""
        with self._changed:
            if not self._queue:
                self._queue_if(line, allowed)

    def settle(self, decide: Callable[[], bool]) -> bool:
        """Decide something about a call at a moment when no message about it is on its way."""
        with self._changed:
            return decide()

    def _queue_if(self, line: bytes, allowed: Callable[[], bool]) -> None:
        if allowed() and not self._broken and not self._closing:
            self._queue.append(line + b"\n")
            self._queued_bytes += len(line)
            self._changed.notify_all()

    def close(self, timeout_s: float) -> None:
        """Take no more; wait at most ``timeout_s`` for what is queued to be written."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join(timeout_s)

    def _pump(self) -> None:
        while line := self._next():
            try:
                self._write(line)
            except (OSError, ValueError):  # ValueError: a closed stream object
                with self._changed:
                    self._broken = True
                    self._queue.clear()
                    self._changed.notify_all()
                self._on_broken()
                return
            with self._changed:
                self._queued_bytes -= len(line) - 1
                self._changed.notify_all()

    def _next(self) -> bytes:
        with self._changed:
            while not self._queue and not self._closing:
                self._changed.wait()
            return self._queue.popleft() if self._queue else b""


@dataclass(frozen=True, slots=True)
class Streams:
    """The two ends of the wire."""

    read: Callable[[int], bytes]
    """At most n bytes as soon as there are any; b"" at the end."""
    write: Callable[[bytes], None]
    """All of the bytes; OSError when nobody reads."""


def take_stdio() -> Streams:
    """The process's stdin and stdout, from now on private to the wire.

    File descriptor 0 becomes the null device and 1 the same as 2, for this process and its children: a
    stray ``print`` or a child that reads its stdin cannot touch the protocol.
    """
    null = os.open(os.devnull, os.O_RDWR)
    wire_in, wire_out = _private_copy(0, null), _private_copy(1, null)
    os.dup2(null, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # no stderr
        os.dup2(null, 1)
        os.dup2(null, 2)
    if null > 2:
        os.close(null)
    sys.stdout = sys.stderr
    if (reconfigure := getattr(sys.stderr, "reconfigure", None)) is not None:
        reconfigure(errors="backslashreplace")
    return Streams(lambda size: _read_some(wire_in, size), lambda data: _write_all(wire_out, data))


def _private_copy(descriptor: int, null: int) -> int:
    try:
        copy = os.dup(descriptor)
    except OSError:  # closed by whoever started us
        copy = os.dup(null)
    if os.name == "posix":
        with contextlib.suppress(OSError):
            os.set_blocking(copy, True)
    return copy


def _read_some(descriptor: int, size: int) -> bytes:
    try:
        return os.read(descriptor, size)
    except OSError:  # a terminal that went away: the same as its end
        return b""


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
