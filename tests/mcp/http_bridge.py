"""HTTP in front of a server that speaks stdio, since the official conformance suite knows no other way in.

``python -m tests.mcp.http_bridge PORT COMMAND...`` serves ``http://127.0.0.1:PORT/mcp``. Both eras of the protocol:

* A legacy ``initialize`` starts a process of its own; the session id in the answer leads back to it, DELETE ends it.
* Every modern request goes to one process that all of them share.

What only HTTP has is answered here: Host and Origin, the headers that repeat the body, statuses, event streams.
All else is the server's own word: messages pass as they are, and anything on its stdout that is no message is kept
in ``Bridge.faults``, as is a server that outlives the end of its stdin.
"""

import contextlib
import json
import queue
import select
import socket
import sys
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, ClassVar
from urllib.parse import urlsplit

from tests.mcp.stdio_process import Exchange, Message, StdioServer, meta_of

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
ANSWER_S = 60.0
LOOK_S = 0.2
"""How often a waiting request looks whether its HTTP client is still there."""
LOCAL = ("localhost", "127.0.0.1", "::1")
STATUS_OF_ERROR = {-32601: 404, **dict.fromkeys((-32700, -32600, -32602, -32020, -32021, -32022), 400)}
"""JSON-RPC error code → HTTP status, in the modern era alone."""
NAME_IN_PARAMS = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""Method → the parameter that the Mcp-Name header repeats."""


class Bridge:
    """Serves HTTP in threads of its own, from entering until leaving the context."""

    def __init__(self, command: Sequence[str], port: int = 0) -> None:
        self._command = tuple(command)
        self.faults: list[str] = []
        """What the server did that no server should, in words."""
        self._sessions: dict[str, StdioServer] = {}
        self._shared: StdioServer | None = None
        self._lock = threading.Lock()
        handler = type("BoundHandler", (_Handler,), {"bridge": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", port), handler)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/mcp"

    def __enter__(self) -> "Bridge":
        threading.Thread(target=self._http.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.shutdown()
        self._http.server_close()
        for server in (*self._sessions.values(), self._shared):
            if server is not None:
                server.close()

    def open_session(self) -> tuple[str, StdioServer]:
        """A fresh process and the id that leads to it."""
        session_id, server = uuid.uuid4().hex, StdioServer(self._command, self.faults.append)
        with self._lock:
            self._sessions[session_id] = server
        return session_id, server

    def session(self, session_id: str) -> StdioServer | None:
        server = self._sessions.get(session_id)
        return None if server is None or server.ended.is_set() else server

    def end_session(self, session_id: str) -> None:
        with self._lock:
            server = self._sessions.pop(session_id, None)
        if server is not None:
            server.close()

    def shared(self) -> StdioServer:
        """The process of all modern requests; a new one where it ended."""
        with self._lock:
            if self._shared is None or self._shared.ended.is_set():
                self._shared = StdioServer(self._command, self.faults.append)
            return self._shared


class _HttpError(Exception):
    """An answer that never reaches the server."""

    def __init__(self, status: int, code: int, text: str, message_id: Any = None) -> None:
        super().__init__(text)
        self.status = status
        self.body = {"jsonrpc": "2.0", "id": message_id, "error": {"code": code, "message": text}}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    bridge: ClassVar[Bridge]

    def log_message(self, *_arguments: Any) -> None:
        """The suite has its own log."""

    def handle(self) -> None:
        with contextlib.suppress(ConnectionError):  # the suite resets connections that it is done with
            super().handle()

    def do_POST(self) -> None:
        self._answer(self._post)

    def do_GET(self) -> None:
        self._answer(self._stream)

    def do_DELETE(self) -> None:
        self._answer(self._delete)

    def _answer(self, work: Callable[[bytes], None]) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            self._check_origin()
            work(body)
        except _HttpError as error:
            self._send(error.status, error.body)
        except OSError:
            self.close_connection = True

    def _check_origin(self) -> None:
        """A page in a browser must not reach a local server, whatever name it resolved to it."""
        host = urlsplit(f"//{self.headers.get('Host') or ''}").hostname
        origin = self.headers.get("Origin")
        if host not in LOCAL or (origin is not None and urlsplit(origin).hostname not in LOCAL):
            self.close_connection = True
            raise _HttpError(403, -32000, "Forbidden: not a local Host or Origin")

    def _session(self, message_id: Any = None) -> StdioServer | None:
        """The session that the headers name; None where they name none."""
        session_id = self.headers.get("Mcp-Session-Id")
        if session_id is None:
            return None
        server = self.bridge.session(session_id)
        if server is None:
            raise _HttpError(404, -32001, "Session not found", message_id)
        return server

    def _delete(self, _body: bytes) -> None:
        if self._session() is None:
            raise _HttpError(405, -32000, "Method not allowed: no session")
        self.bridge.end_session(self.headers["Mcp-Session-Id"])
        self._send(200, None)

    def _stream(self, _body: bytes) -> None:
        """What the server says unasked in a session, until either side ends it."""
        server = self._session()
        if server is None:
            raise _HttpError(405, -32000, "Method not allowed: no session")
        self._begin_events(())
        while not server.ended.is_set() and not self._client_left():
            with contextlib.suppress(queue.Empty):
                self._event(server.unasked.get(timeout=LOOK_S))
        self._end_events()

    def _post(self, body: bytes) -> None:
        message = self._message(body)
        message_id = message.get("id")
        server = self._session(message_id)
        headers: tuple[tuple[str, str], ...] = ()
        modern = server is None and (message.get("method") != "initialize" or VERSION_KEY in meta_of(message))
        if modern:
            self._check_headers(message)
            server = self.bridge.shared()
        elif server is None:
            session_id, server = self.bridge.open_session()
            headers = (("Mcp-Session-Id", session_id),)
        assert server is not None
        if message_id is None or "method" not in message:
            server.send(message)
            self._send(202, None)
            return
        exchange = server.begin(message)
        try:
            self._carry(server, exchange, modern, headers)
        finally:
            server.finish(exchange)

    def _message(self, body: bytes) -> Message:
        try:
            message = json.loads(body)
        except ValueError:
            raise _HttpError(400, -32700, "Parse error") from None
        if not isinstance(message, dict):
            raise _HttpError(400, -32600, "Invalid request: one message per POST")
        return message

    def _check_headers(self, message: Message) -> None:
        """Modern requests repeat version, method and name in headers, for those who route without reading bodies."""
        version = meta_of(message).get(VERSION_KEY)
        if version is None:
            return  # the server itself says what is missing
        wanted = {"MCP-Protocol-Version": version, "Mcp-Method": message.get("method")}
        if (parameter := NAME_IN_PARAMS.get(str(message.get("method")))) is not None:
            wanted["Mcp-Name"] = message["params"].get(parameter)
        for name, value in wanted.items():
            if (self.headers.get(name) or "").strip() != value:
                raise _HttpError(400, -32020, f"Header mismatch: {name}", message.get("id"))

    def _carry(
        self, server: StdioServer, exchange: Exchange, modern: bool, headers: tuple[tuple[str, str], ...]
    ) -> None:
        """Hand on what the server says about a request: an event stream as soon as it says more than the answer."""
        message = self._next(server, exchange)
        if "method" in message:
            self._begin_events(headers)
            try:
                while "method" in message:
                    self._event(message)
                    message = self._next(server, exchange)
            except _HttpError as error:
                message = error.body
            self._event(message)
            self._end_events()
            return
        code = message.get("error", {}).get("code")
        self._send(STATUS_OF_ERROR.get(code, 200) if modern else 200, message, headers)

    def _next(self, server: StdioServer, exchange: Exchange) -> Message:
        end = time.monotonic() + ANSWER_S
        while exchange.method == "subscriptions/listen" or time.monotonic() < end:
            with contextlib.suppress(queue.Empty):
                if (message := exchange.messages.get(timeout=LOOK_S)) is None:
                    raise _HttpError(502, -32603, "the server process ended", exchange.original_id)
                return message
            if self._client_left():
                params = {"requestId": exchange.wire_id, "reason": "the client left"}
                server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
                raise ConnectionAbortedError
        raise _HttpError(504, -32603, "the server did not answer", exchange.original_id)

    def _client_left(self) -> bool:
        if not select.select([self.connection], [], [], 0)[0]:
            return False
        try:
            return not self.connection.recv(1, socket.MSG_PEEK)
        except OSError:
            return True

    def _send(self, status: int, body: Message | None, headers: tuple[tuple[str, str], ...] = ()) -> None:
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        if body is not None:
            self.send_header("Content-Type", "application/json")
        for name, value in (*headers, ("Content-Length", str(len(data)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _begin_events(self, headers: tuple[tuple[str, str], ...]) -> None:
        self.send_response(200)
        stream = (("Content-Type", "text/event-stream"), ("Cache-Control", "no-store"), ("Transfer-Encoding", "chunked"))
        for name, value in (*stream, *headers):
            self.send_header(name, value)
        self.end_headers()
        self._chunk(b": open\n\n")

    def _event(self, message: Message) -> None:
        self._chunk(f"event: message\ndata: {json.dumps(message)}\n\n".encode())

    def _end_events(self) -> None:
        self._chunk(b"")

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()


if __name__ == "__main__":
    with Bridge(sys.argv[2:], int(sys.argv[1])) as bridge:
        print(bridge.url, flush=True)
        threading.Event().wait()
