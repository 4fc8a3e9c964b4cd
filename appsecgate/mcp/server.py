"""The server: routes each message, keeps what little there is of a session, starts and ends."""

import enum
import os
import queue
import signal
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Generic

from appsecgate.errors import EXIT_DONE
from appsecgate.mcp.dispatch import BatchSink, BugReports, CallPool, CallRunner, OutboxSink, PendingCall, Sink
from appsecgate.mcp.era import (
    BATCH_VERSION,
    LATEST_LEGACY,
    MODERN_VERSION,
    Request,
    RequestId,
    ServerInfo,
    answered,
    call_result,
    check_envelope,
    discover_result,
    initialize_result,
    is_modern,
    is_request_id,
    list_result,
    negotiated_version,
    refused,
)
from appsecgate.mcp.roots import ClientFacts, RootsQuestion
from appsecgate.mcp.wire import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    Outbox,
    RpcError,
    Streams,
    always,
    parse_line,
    read_lines,
    take_stdio,
)
from appsecgate.model import Json
from appsecgate.process import kill_all
from appsecgate.tools.base import CALL_SECONDS, ServedTool, SessionT, failed_result

MAX_BATCH_MESSAGES: Final = 100
"""Messages in a batch: their results go into one line, and clients close on lines over 10 MiB."""


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """Times in seconds, sizes in bytes."""

    call_s: float = CALL_SECONDS
    roots_s: float = 3.0
    progress_interval_s: float = 1.0
    threads: int = 8
    waiting_calls: int = 64
    waiting_bytes: int = 64 * 1024 * 1024
    finish_s: float = 0.25
    """After the end of stdin, how long running calls may still finish before they are cancelled."""
    stop_s: float = 0.3
    """How long cancelled calls are waited for, and again how long for the last lines to be written."""
    exit_s: float = 0.95
    """After this the process ends, whatever still hangs."""


@dataclass(frozen=True, slots=True)
class ServerSetup(Generic[SessionT]):
    """All that a server is made of."""

    tools: Sequence[ServedTool[SessionT]]
    make_session: Callable[[ClientFacts], SessionT]
    """Called in a call's thread at the first tool call; after an AppSecGateError again at the next."""
    info: ServerInfo
    instructions: str
    redact: Callable[[str], str]
    """Applied to error texts and tracebacks before they leave."""
    wants_roots: Callable[[], bool] = lambda: False
    """Whether the client's roots would decide the project, asked once a client that has roots is ready."""
    limits: ServerLimits = field(default_factory=ServerLimits)


class McpServer(Generic[SessionT]):
    """Takes lines, answers through the outbox. One thread calls ``feed``; it never waits for a tool."""

    def __init__(self, setup: ServerSetup[SessionT], outbox: Outbox) -> None:
        limits = setup.limits
        self._setup = setup
        self._outbox = outbox
        self._sink = OutboxSink(outbox)
        self._tools = {tool.name: tool for tool in setup.tools}
        self._stopping = False
        self._lists: dict[str, dict[str, Json]] = {}
        self._legacy_version = LATEST_LEGACY
        self._roots = RootsQuestion(outbox, setup.wants_roots, limits.roots_s)
        self._session: SessionT | None = None
        self._session_lock = threading.Lock()
        self._pending: dict[tuple[bool, RequestId], PendingCall] = {}
        self._pending_lock = threading.Lock()
        self._bugs = BugReports(setup.redact)
        self._pool = CallPool(limits.threads, limits.waiting_calls, limits.waiting_bytes)
        self._runner = CallRunner(
            outbox,
            setup.info,
            self._get_session,
            self._bugs,
            call_seconds=limits.call_s,
            progress_interval_s=limits.progress_interval_s,
        )

    def feed(self, line: bytes | None) -> None:
        """Handle one line; None stands for one that was too long. Never raises."""
        if self._stopping or (line is not None and not line.strip()):
            return
        try:
            if line is None:
                raise RpcError(PARSE_ERROR, "Parse error: the line is too long")
            message = parse_line(line)
            if isinstance(message, list):
                self._feed_batch(message, len(line))
            else:
                self._feed_one(message, len(line), self._sink)
        except RpcError as error:
            self._sink.put(refused(None, error), always)

    def _feed_batch(self, messages: list[Json], size: int) -> None:
        if self._legacy_version != BATCH_VERSION:
            raise RpcError(INVALID_REQUEST, "Invalid request: no batches in this protocol version")
        if not 0 < len(messages) <= MAX_BATCH_MESSAGES:
            raise RpcError(INVALID_REQUEST, f"Invalid request: a batch of 1 to {MAX_BATCH_MESSAGES} messages")
        sink = BatchSink(self._outbox, len(messages))
        for message in messages:
            self._feed_one(message, size // len(messages), sink)

    def _feed_one(self, message: Json, size: int, sink: Sink) -> None:
        """Puts exactly one response (or None) into the sink, now or from a call's thread."""
        request_id: RequestId | None = None
        try:
            if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
                raise RpcError(INVALID_REQUEST, "Invalid request: not a JSON-RPC 2.0 message")
            if "method" not in message:
                self._take_response(message)
                sink.put(None, always)
                return
            if "id" not in message:
                self._take_notification(message)
                sink.put(None, always)
                return
            if not is_request_id(message["id"]):
                raise RpcError(INVALID_REQUEST, "Invalid request: id must be a string or an integer")
            request_id = message["id"]
            self._take_request(request_id, message, size, sink)
        except RpcError as error:
            sink.put(refused(request_id, error), always)
        except Exception as error:
            reference = self._bugs.reference()
            fault = RpcError(INTERNAL_ERROR, f"Internal error, reference {reference}")
            sink.put(None if request_id is None else refused(request_id, fault), always)
            self._bugs.write(reference, error)

    def _take_response(self, message: dict[str, Json]) -> None:
        if "result" not in message and "error" not in message:
            raise RpcError(INVALID_REQUEST, "Invalid request: neither a method nor a result")
        self._roots.take_answer(message)

    def _take_notification(self, message: dict[str, Json]) -> None:
        """Act on the few that matter, ignore the others, malformed ones too: nobody waits for an answer."""
        match message:
            case {"method": "notifications/cancelled", "params": {"requestId": key}} if is_request_id(key):
                self._cancel(key)
            case {"method": "notifications/initialized" | "notifications/roots/list_changed"}:
                if self._session is None:
                    self._roots.ask()
            case _:
                pass

    def _take_request(self, request_id: RequestId, message: dict[str, Json], size: int, sink: Sink) -> None:
        method, params = message["method"], message.get("params")
        if not isinstance(method, str):
            raise RpcError(INVALID_REQUEST, "Invalid request: method must be a string")
        if params is None:
            params = {}
        if not isinstance(params, dict):
            raise RpcError(INVALID_PARAMS, "Invalid params: params must be an object")
        modern = is_modern(method, params)
        if modern:
            check_envelope(params)
        version = MODERN_VERSION if modern else self._legacy_version
        request = Request(request_id, method, params, version)
        if method == "tools/call":
            self._start_call(request, size, sink)
        else:
            sink.put(answered(request, self._answer(request), self._setup.info), always)

    def _answer(self, request: Request) -> dict[str, Json]:
        """The result of everything but tools/call."""
        match request.method:
            case "initialize" if not request.modern:
                return self._initialize(request)
            case "ping" if not request.modern:
                return {}
            case "server/discover":
                return discover_result(self._setup.instructions)
            case "tools/list":
                return self._list_tools(request)
            case method:
                raise RpcError(METHOD_NOT_FOUND, f"Method not found: {method[:100]}")

    def _initialize(self, request: Request) -> dict[str, Json]:
        requested = request.params.get("protocolVersion")
        capabilities = request.params.get("capabilities") or {}
        client = request.params.get("clientInfo") or {}
        if not isinstance(requested, str):
            raise RpcError(INVALID_PARAMS, "Invalid params: protocolVersion must be a string")
        if not isinstance(capabilities, dict) or not isinstance(client, dict):
            raise RpcError(INVALID_PARAMS, "Invalid params: capabilities and clientInfo must be objects")
        self._legacy_version = negotiated_version(requested)
        self._roots.declare(isinstance(capabilities.get("roots"), dict), self._legacy_version)
        return initialize_result(self._setup.info, self._setup.instructions, self._legacy_version)

    def _list_tools(self, request: Request) -> dict[str, Json]:
        if request.params.get("cursor") is not None:
            raise RpcError(INVALID_PARAMS, "Invalid params: unknown cursor; all tools are on the first page")
        if request.version not in self._lists:
            cards = [tool.card() for tool in self._setup.tools]
            self._lists[request.version] = list_result(cards, request.version)
        return self._lists[request.version]

    def _start_call(self, request: Request, size: int, sink: Sink) -> None:
        name, arguments = request.params.get("name"), request.params.get("arguments")
        if not isinstance(name, str):
            raise RpcError(INVALID_PARAMS, "Invalid params: name must be a string")
        if (tool := self._tools.get(name)) is None:
            raise RpcError(INVALID_PARAMS, f"Unknown tool: {name[:100]}")
        if arguments is None:
            arguments = {}
        if not isinstance(arguments, dict):
            raise RpcError(INVALID_PARAMS, "Invalid params: arguments must be an object")
        pending = PendingCall(request, time.monotonic())
        if not self._register(pending):
            # Without the id: the first call's answer is the one that the client will take for this one's.
            fault = RpcError(INVALID_REQUEST, "Invalid request: a call with this id is running")
            sink.put(refused(None, fault), always)
        elif not self._pool.submit(lambda: self._run_call(pending, tool, arguments, sink), size):
            self._forget(pending)
            busy = failed_result("Too many calls wait already; repeat this one when others have answered.")
            sink.put(answered(request, call_result(busy, request.version), self._setup.info), pending.end)

    def _run_call(
        self, pending: PendingCall, tool: ServedTool[SessionT], arguments: dict[str, Json], sink: Sink
    ) -> None:
        try:
            self._runner.run(pending, tool, arguments, sink)
        finally:
            self._forget(pending)

    def _register(self, pending: PendingCall) -> bool:
        with self._pending_lock:
            return self._pending.setdefault(_pending_key(pending.request.id), pending) is pending

    def _forget(self, pending: PendingCall) -> None:
        with self._pending_lock:
            if self._pending.get(_pending_key(pending.request.id)) is pending:
                del self._pending[_pending_key(pending.request.id)]

    def _cancel(self, request_id: RequestId) -> None:
        with self._pending_lock:
            pending = self._pending.get(_pending_key(request_id))
        if pending is not None and self._outbox.settle(pending.end):
            self._forget(pending)
            pending.cancel.cancel()

    def _get_session(self) -> SessionT:
        with self._session_lock:
            if self._session is None:
                self._session = self._setup.make_session(ClientFacts(roots=self._roots.wait()))
            return self._session

    def stop(self, finish_s: float) -> None:
        """Let calls finish for ``finish_s``, then cancel them and end their processes."""
        limits = self._setup.limits
        self._pool.wait_idle(finish_s)
        self._stopping = True
        with self._pending_lock:
            calls = list(self._pending.values())
        for pending in calls:
            self._outbox.settle(pending.end)
            pending.cancel.cancel()
        kill_all()
        if not self._pool.wait_idle(limits.stop_s):
            kill_all()  # what a call started in between


def _pending_key(request_id: RequestId) -> tuple[bool, RequestId]:
    return isinstance(request_id, str), request_id  # 0 is not "0"


class ServerEnd(enum.Enum):
    """Why a server stops."""

    END_OF_INPUT = enum.auto()
    SIGNAL = enum.auto()
    NOBODY_READS = enum.auto()


def serve(setup: ServerSetup[SessionT], streams: Streams | None = None) -> int:
    """Serve until stdin ends, nobody reads stdout, or a signal comes; the exit status.

    Without ``streams`` the process's own stdin and stdout are taken over, signals end the server, and the
    process ends within a second after that even where a thread hangs: call it in the main thread then, as the
    last thing that the program does.
    """
    # SimpleQueue.put may interrupt itself, so a signal handler can use it; an Event's lock could deadlock.
    endings: queue.SimpleQueue[ServerEnd] = queue.SimpleQueue()
    wire = take_stdio() if streams is None else streams
    outbox = Outbox(wire.write, lambda: endings.put(ServerEnd.NOBODY_READS))
    server = McpServer(setup, outbox)
    if streams is None:
        _end_on_signals(endings)
    reader = threading.Thread(target=_read_all, args=(wire, server, endings), name="mcp-reader", daemon=True)
    reader.start()
    ending = _wait_for_ending(endings)
    if streams is None:
        _exit_after(setup.limits.exit_s)
    server.stop(setup.limits.finish_s if ending is ServerEnd.END_OF_INPUT else 0.0)
    outbox.close(setup.limits.stop_s)
    return EXIT_DONE


def _read_all(wire: Streams, server: McpServer[SessionT], endings: "queue.SimpleQueue[ServerEnd]") -> None:
    try:
        for line in read_lines(wire.read):
            server.feed(line)
    finally:
        endings.put(ServerEnd.END_OF_INPUT)


def _end_on_signals(endings: "queue.SimpleQueue[ServerEnd]") -> None:
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK"):
        if (number := getattr(signal, name, None)) is not None:
            signal.signal(number, lambda _number, _frame: endings.put(ServerEnd.SIGNAL))


def _wait_for_ending(endings: "queue.SimpleQueue[ServerEnd]") -> ServerEnd:
    if os.name == "posix":
        return endings.get()
    while True:  # elsewhere a wait without end would not notice Ctrl-C
        try:
            return endings.get(timeout=0.5)
        except queue.Empty:
            continue


def _exit_after(seconds: float) -> None:
    timer = threading.Timer(seconds, os._exit, (EXIT_DONE,))
    timer.daemon = True
    timer.start()
