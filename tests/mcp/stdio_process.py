"""One server process behind the bridge: its messages, sorted by the request that they belong to."""

import contextlib
import itertools
import json
import queue
import subprocess
import threading
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

Message = dict[str, Any]
SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId"
EXIT_S = 5.0


class Exchange:
    """A request that waits for its answer, and what the server says about it meanwhile."""

    def __init__(self, message: Message, wire_id: Any) -> None:
        self.original_id = message["id"]
        self.wire_id = wire_id
        self.method = message["method"]
        self.token = meta_of(message).get("progressToken")
        self.messages: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        """None: the process ended."""


class StdioServer:
    """One server process: sends it messages and sorts what comes back by the request that it belongs to."""

    _numbers: ClassVar[Any] = itertools.count(1)

    def __init__(self, command: Sequence[str], report: Callable[[str], None]) -> None:
        self._report = report
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._lock = threading.Lock()
        self._open: dict[str, Exchange] = {}
        self.unasked: queue.SimpleQueue[Message] = queue.SimpleQueue()
        """Messages that belong to no request: for the session's own stream."""
        self.ended = threading.Event()
        threading.Thread(target=self._read, daemon=True).start()

    def send(self, message: Message) -> None:
        """One message as a line."""
        line = json.dumps(message, separators=(",", ":")).encode() + b"\n"
        assert self._process.stdin is not None
        with self._lock, contextlib.suppress(OSError, ValueError):
            self._process.stdin.write(line)
            self._process.stdin.flush()

    def begin(self, message: Message) -> Exchange:
        """Send a request. Its id is kept, unless another request of that id still waits on this process."""
        with self._lock:
            taken = json.dumps(message["id"]) in self._open
            wire_id = f"bridge-{next(self._numbers)}" if taken else message["id"]
            exchange = Exchange(message, wire_id)
            self._open[json.dumps(wire_id)] = exchange
        self.send(message | {"id": wire_id})
        if self.ended.is_set():
            exchange.messages.put(None)
        return exchange

    def finish(self, exchange: Exchange) -> None:
        """Nobody waits for this one any more."""
        with self._lock:
            self._open.pop(json.dumps(exchange.wire_id), None)

    def close(self) -> None:
        """End its stdin; a server that stays is ended, and reported."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(EXIT_S)
        except subprocess.TimeoutExpired:
            self._report(f"the server outlived the end of its stdin by {EXIT_S:.0f} s")
            self._process.kill()
            self._process.wait()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                message = _read_message(line)
                if message is None:
                    self._report(f"no message on stdout: {line[:200]!r}")
                else:
                    self._route(message)
        self.ended.set()
        with self._lock:
            waiting = list(self._open.values())
        for exchange in waiting:
            exchange.messages.put(None)

    def _route(self, message: Message) -> None:
        with self._lock:
            exchange = self._open.get(json.dumps(message["id"])) if "method" not in message else self._concerned(message)
        if exchange is not None:
            final = "method" not in message
            exchange.messages.put(message | {"id": exchange.original_id} if final else message)
        elif "method" in message:
            self.unasked.put(message)
        elif message["id"] is not None:
            self._report(f"an answer to no request: id {message['id']!r}")

    def _concerned(self, message: Message) -> Exchange | None:
        """The request that a notification is about, where it says so."""
        params = message.get("params") or {}
        if message["method"] == "notifications/progress":
            token = params.get("progressToken")
            return next((e for e in self._open.values() if e.token is not None and e.token == token), None)
        return self._open.get(json.dumps(meta_of(message).get(SUBSCRIPTION_KEY)))


def meta_of(message: Message) -> Message:
    """``params._meta`` where there is one."""
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    return meta if isinstance(meta, dict) else {}


def _read_message(line: bytes) -> Message | None:
    """The JSON-RPC message of a whole line; None where it is none."""
    try:
        message = json.loads(line.decode("utf-8", "strict"))
    except ValueError:
        return None
    if not line.endswith(b"\n") or not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return None
    answer = "id" in message and ("result" in message) != ("error" in message)
    return message if "method" in message or answer else None
