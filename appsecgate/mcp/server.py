"""The server: routes each message, keeps what little there is of a session."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Generic

from appsecgate.bugs import BugReports
from appsecgate.mcp.dispatch import BatchSink, CallPool, CallRunner, OutboxSink, PendingCall, Sink
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
    always,
    parse_line,
)
from appsecgate.model import Json
from appsecgate.process import kill_all
from appsecgate.tools.base import CALL_SECONDS, ServedTool, SessionT, failed_result

MAX_BATCH_MESSAGES: Final = 100
"""Messages in a batch: their results go into one line, and clients close on lines over 10 MiB."""


MAX_KEPT_MESSAGES: Final = 100
NEEDING_TOOLS: Final = (
    "tools/list",
    "tools/call",
    "notifications/initialized",
    "notifications/roots/list_changed",
    "notifications/cancelled",
)
"""Methods whose messages are kept, in their order, while there are no tools yet."""


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
class Greeting:
    """What a server can say before it can do anything: enough for every message but those about tools."""

    info: ServerInfo
    instructions: str
    limits: ServerLimits = field(default_factory=ServerLimits)


@dataclass(frozen=True, slots=True)
class ServerSetup(Generic[SessionT]):
    """All else that a server is made of."""

    tools: Sequence[ServedTool[SessionT]]
    make_session: Callable[[ClientFacts], SessionT]
    """Called in a call's thread at the first tool call; after an AppSecGateError again at the next."""
    redact: Callable[[str], str]
    """Applied to error texts and tracebacks before they leave."""
    wants_roots: Callable[[], bool] = lambda: False
    """Whether the client's roots would decide the project, asked once a client that has roots is ready."""


class McpServer(Generic[SessionT]):
    """Takes lines, answers through the outbox. One thread calls ``feed``; it never waits for a tool.

    It answers at once, and keeps messages about tools until it is equipped.
    """

    def __init__(self, greeting: Greeting, outbox: Outbox) -> None:
        limits = greeting.limits
        self._greeting = greeting
        self._setup: ServerSetup[SessionT] | None = None
        self._equipped = threading.Event()
        self._kept: list[tuple[Json, int, Sink]] = []
        self._kept_lock = threading.Lock()
        self._outbox = outbox
        self._sink = OutboxSink(outbox)
        self._tools: dict[str, ServedTool[SessionT]] = {}
        self._stopping = False
        self._lists: dict[str, dict[str, Json]] = {}
        self._legacy_version = LATEST_LEGACY
        self._roots = RootsQuestion(outbox, lambda: self._ready_setup().wants_roots(), limits.roots_s)
        self._session: SessionT | None = None
        self._session_lock = threading.Lock()
        self._pending: dict[tuple[bool, RequestId], PendingCall] = {}
        self._pending_lock = threading.Lock()
        self._bugs = BugReports(lambda text: self._ready_setup().redact(text))
        self._pool = CallPool(limits.threads, limits.waiting_calls, limits.waiting_bytes)
        self._runner = CallRunner(
            outbox,
            greeting.info,
            self._get_session,
            self._bugs,
            call_seconds=limits.call_s,
            progress_interval_s=limits.progress_interval_s,
        )

    def equip(self, setup: ServerSetup[SessionT]) -> None:
        """From now on there are tools. What was kept comes before what comes later."""
        with self._kept_lock:
            self._tools = {tool.name: tool for tool in setup.tools}
            self._setup = setup
            for message, size, sink in self._kept:
                self._handle(message, size, sink)
            self._kept.clear()
            self._equipped.set()

    def _is_kept(self, message: Json, size: int, sink: Sink) -> bool:
        """Whether the message waits for tools. A client that sends many meanwhile waits too."""
        if not isinstance(message, dict) or message.get("method") not in NEEDING_TOOLS:
            return False
        if len(self._kept) >= MAX_KEPT_MESSAGES:
            self._equipped.wait()
        with self._kept_lock:
            if self._setup is None:
                self._kept.append((message, size, sink))
                return True
        return False

    def _ready_setup(self) -> ServerSetup[SessionT]:
        assert self._setup is not None, "messages about tools are kept until there are tools"
        return self._setup

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
        if self._equipped.is_set() or not self._is_kept(message, size, sink):
            self._handle(message, size, sink)

    def _handle(self, message: Json, size: int, sink: Sink) -> None:
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
            sink.put(answered(request, self._answer(request), self._greeting.info), always)

    def _answer(self, request: Request) -> dict[str, Json]:
        """The result of everything but tools/call."""
        match request.method:
            case "initialize" if not request.modern:
                return self._initialize(request)
            case "ping" if not request.modern:
                return {}
            case "server/discover":
                return discover_result(self._greeting.instructions)
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
        return initialize_result(self._greeting.info, self._greeting.instructions, self._legacy_version)

    def _list_tools(self, request: Request) -> dict[str, Json]:
        if request.params.get("cursor") is not None:
            raise RpcError(INVALID_PARAMS, "Invalid params: unknown cursor; all tools are on the first page")
        if request.version not in self._lists:
            cards = [tool.card() for tool in self._ready_setup().tools]
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
            sink.put(answered(request, call_result(busy, request.version), self._greeting.info), pending.end)

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
                self._session = self._ready_setup().make_session(ClientFacts(roots=self._roots.wait()))
            return self._session

    def stop(self, finish_s: float) -> None:
        """Let calls finish for ``finish_s``, then cancel them and end their processes."""
        limits = self._greeting.limits
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
