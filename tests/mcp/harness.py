"""A client for tests: the real server in a thread, its two streams in memory."""

import json
import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from appsecgate.mcp.server import ServerLimits, ServerSetup
from appsecgate.mcp.serving import Serving
from appsecgate.mcp.wire import Streams
from tests.mcp.fixture_server import fixture_greeting, fixture_setup
from tests.mcp.fixture_tools import FixtureSession

Message = dict[str, Any]
TIMEOUT_S = 20.0
PV = "io.modelcontextprotocol/protocolVersion"
CC = "io.modelcontextprotocol/clientCapabilities"
ENVELOPE: Message = {PV: "2026-07-28", CC: {}}
QUICK = ServerLimits(finish_s=5.0, progress_interval_s=0.0)


class Client:
    """Sends lines and takes lines, in any order that a test likes."""

    def __init__(self, setup: ServerSetup[FixtureSession], limits: ServerLimits = QUICK) -> None:
        self.exit_status: int | None = None
        self.lines: list[bytes] = []
        self.unreadable = threading.Event()
        self._incoming: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._outgoing: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        streams = Streams(read=lambda _size: self._incoming.get(), write=self._take)
        self._thread = threading.Thread(target=self._serve, args=(setup, limits, streams), daemon=True)
        self._thread.start()

    def _serve(self, setup: ServerSetup[FixtureSession], limits: ServerLimits, streams: Streams) -> None:
        self.exit_status = Serving[FixtureSession](fixture_greeting(limits), streams).run(setup)

    def _take(self, line: bytes) -> None:
        if self.unreadable.is_set():
            raise BrokenPipeError
        self.lines.append(line)
        self._outgoing.put(line)

    def raw(self, data: bytes) -> None:
        """Some bytes, as they are."""
        self._incoming.put(data)

    def send(self, message: Any) -> None:
        """One message as a line."""
        self.raw(json.dumps(message).encode() + b"\n")

    def receive(self, timeout_s: float = TIMEOUT_S) -> Any:
        """The next message from the server."""
        return json.loads(self._outgoing.get(timeout=timeout_s))

    def request(self, request_id: Any, method: str, params: Any = None) -> None:
        """A request; ``params`` None leaves them out."""
        message: Message = {"jsonrpc": "2.0", "id": request_id, "method": method}
        self.send(message if params is None else message | {"params": params})

    def notify(self, method: str, params: Any = None) -> None:
        """A notification."""
        message: Message = {"jsonrpc": "2.0", "method": method}
        self.send(message if params is None else message | {"params": params})

    def ask(self, method: str, params: Any = None, request_id: Any = 1) -> Any:
        """A request and its response, where nothing else can come between."""
        self.request(request_id, method, params)
        return self.receive()

    def call(self, name: str, arguments: Any = None, request_id: Any = 1, **more: Any) -> Any:
        """A tool call and its response."""
        return self.ask("tools/call", {"name": name, "arguments": arguments or {}, **more}, request_id)

    def start(self, version: str = "2025-11-25", capabilities: Any = None) -> Any:
        """The legacy handshake; the result of initialize."""
        params = {"protocolVersion": version, "capabilities": capabilities or {}, "clientInfo": {"name": "t"}}
        answer = self.ask("initialize", params, request_id=0)
        self.notify("notifications/initialized")
        return answer["result"]

    def end(self) -> list[Any]:
        """The end of stdin; what the server still said."""
        self.raw(b"")
        self._thread.join(TIMEOUT_S)
        rest = []
        while not self._outgoing.empty():
            rest.append(json.loads(self._outgoing.get()))
        return rest


@contextmanager
def connected(*, limits: ServerLimits = QUICK, **options: Any) -> Iterator[Client]:
    """A client of a fresh server, ended afterwards."""
    client = Client(fixture_setup(**options), limits)
    try:
        yield client
    finally:
        client.end()
