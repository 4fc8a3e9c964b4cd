"""Tool calls on their way: threads, cancellation, progress, and the boundary where a tool's bugs end."""

import math
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Generic, Protocol

from appsecgate.bugs import BugReports
from appsecgate.errors import AppSecGateError, CancelledError
from appsecgate.mcp.era import (
    Request,
    RequestId,
    ServerInfo,
    answered,
    call_result,
    progress_message,
    refused,
)
from appsecgate.mcp.wire import Outbox, RpcError, encode_message
from appsecgate.model import Json
from appsecgate.process import CancelToken
from appsecgate.shown import shown_text
from appsecgate.tools.base import Call, ServedTool, SessionT, ToolResult, failed_result, no_progress

MAX_RESULT_CHARS: Final = 40_000
"""Clients cut or drop larger results."""
MAX_ERROR_CHARS: Final = 8_000


@dataclass(eq=False, slots=True)
class PendingCall:
    """A tool call without an answer yet."""

    request: Request
    received: float
    """``time.monotonic()`` seconds."""
    cancel: CancelToken = field(default_factory=CancelToken)
    ended: bool = False

    def withdrawn(self) -> bool:
        """Whether nobody waits for the answer any more."""
        return self.cancel.cancelled

    def end(self) -> bool:
        """True the first time: whoever gets it may answer, or withdraw. Only inside a step of the outbox."""
        first = not self.ended
        self.ended = True
        return first


class Sink(Protocol):
    """Where the response to a message goes: out, or into the answer to a batch."""

    def put(self, response: Json, allowed: Callable[[], bool]) -> None:
        """Called once per message, with None where it gets no response. ValueError for NaN in it."""
        ...


class OutboxSink:
    """Each response is a line of its own."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox

    def put(self, response: Json, allowed: Callable[[], bool]) -> None:
        """Send the response."""
        if response is not None:
            self._outbox.send(encode_message(response), allowed)


class BatchSink:
    """Collects the responses to ``expected`` messages and sends them as one line."""

    def __init__(self, outbox: Outbox, expected: int) -> None:
        self._outbox = outbox
        self._missing = expected
        self._parts: list[bytes] = []

    def put(self, response: Json, allowed: Callable[[], bool]) -> None:
        """Keep the response; after the last one, send them all."""
        part = b"" if response is None else encode_message(response)
        if self._outbox.settle(lambda: self._is_last(part, allowed)) and self._parts:
            self._outbox.send(b"[" + b",".join(self._parts) + b"]")

    def _is_last(self, part: bytes, allowed: Callable[[], bool]) -> bool:
        if part and allowed():
            self._parts.append(part)
        self._missing -= 1
        return self._missing == 0


class Progress:
    """Reports one call's progress: strictly increasing, not too often, nothing after the end."""

    def __init__(self, outbox: Outbox, call: PendingCall, token: RequestId, interval_s: float) -> None:
        self._outbox = outbox
        self._call = call
        self._token = token
        self._interval_s = interval_s
        self._next_time = 0.0
        self._last = -math.inf

    def __call__(self, done: float, total: float | None, message: str) -> None:
        """See ``Call.progress``."""
        if not self._is_due(done) or not math.isfinite(done) or not math.isfinite(total or 0):
            return
        line = progress_message(self._token, done, total, message, self._call.request.version)
        self._outbox.offer(encode_message(line), lambda: self._accept(done))

    def _is_due(self, done: float) -> bool:
        return done > self._last and time.monotonic() >= self._next_time

    def _accept(self, done: float) -> bool:
        if self._call.ended or not self._is_due(done):
            return False
        self._last = done
        self._next_time = time.monotonic() + self._interval_s
        return True


class CallPool:
    """A bounded pool of daemon threads; a call that does not fit is refused, never waited for."""

    def __init__(self, max_threads: int, max_waiting: int, max_waiting_bytes: int) -> None:
        self._max_threads = max_threads
        self._max_waiting = max_waiting
        self._max_waiting_bytes = max_waiting_bytes
        self._changed = threading.Condition(threading.Lock())
        self._waiting: deque[tuple[Callable[[], None], int]] = deque()
        self._waiting_bytes = 0
        self._threads = 0
        self._busy = 0

    def submit(self, job: Callable[[], None], size: int) -> bool:
        """Run ``job`` soon; False where too many wait already. ``size`` is the memory it holds, in bytes."""
        with self._changed:
            too_large = bool(self._waiting) and self._waiting_bytes + size > self._max_waiting_bytes
            if len(self._waiting) >= self._max_waiting or too_large:
                return False
            self._waiting.append((job, size))
            self._waiting_bytes += size
            if self._busy + len(self._waiting) > self._threads and self._threads < self._max_threads:
                self._threads += 1
                threading.Thread(target=self._work, name=f"mcp-call-{self._threads}", daemon=True).start()
            self._changed.notify_all()
            return True

    def wait_idle(self, timeout_s: float) -> bool:
        """Whether all calls ended within the time."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._waiting and not self._busy, timeout_s)

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: bool(self._waiting))
                job, size = self._waiting.popleft()
                self._waiting_bytes -= size
                self._busy += 1
            try:
                job()
            finally:
                del job
                with self._changed:
                    self._busy -= 1
                    self._changed.notify_all()


class CallRunner(Generic[SessionT]):
    """Carries out one call and gives its sink the response."""

    def __init__(
        self,
        outbox: Outbox,
        info: ServerInfo,
        session: Callable[[], SessionT],
        bugs: BugReports,
        *,
        call_seconds: float,
        progress_interval_s: float,
    ) -> None:
        self._outbox = outbox
        self._info = info
        self._session = session
        self._bugs = bugs
        self._call_seconds = call_seconds
        self._progress_interval_s = progress_interval_s

    def run(
        self, pending: PendingCall, tool: ServedTool[SessionT], arguments: dict[str, Json], sink: Sink
    ) -> None:
        """Run the tool. Never raises: this is the boundary that answers for whatever goes wrong."""
        bug: BaseException | None = None
        reference = ""
        try:
            response = self._outcome(pending, tool, arguments)
            sink.put(response, pending.end)
        except BaseException as error:
            bug, reference = error, self._bugs.reference()
            sink.put(self._response(pending, internal_failure(reference)), pending.end)
        if bug is not None:
            self._bugs.write(reference, bug)

    def _outcome(self, pending: PendingCall, tool: ServedTool[SessionT], arguments: dict[str, Json]) -> Json:
        if pending.withdrawn():
            return None
        try:
            carry_out = tool.bind(arguments)
            result = carry_out(self._call(pending))
        except RpcError as error:
            return refused(pending.request.id, error)
        except AppSecGateError as error:
            if isinstance(error, CancelledError) and pending.withdrawn():
                return None
            result = failed_result(shortened(shown_text(self._bugs.redacted(error.explain())), MAX_ERROR_CHARS))
        return self._response(pending, size_checked(result))

    def _call(self, pending: PendingCall) -> Call[SessionT]:
        token = pending.request.progress_token
        return Call(
            session=self._session(),
            cancel=pending.cancel,
            deadline=pending.received + self._call_seconds,
            progress=no_progress
            if token is None
            else Progress(self._outbox, pending, token, self._progress_interval_s),
        )

    def _response(self, pending: PendingCall, result: ToolResult) -> Json:
        return answered(pending.request, call_result(result, pending.request.version), self._info)


def internal_failure(reference: str) -> ToolResult:
    """What a client hears about a bug of ours: a result, so that the model can go on without the tool."""
    return failed_result(
        f"internal error, reference {reference}. This is a bug of the server, not of the call; "
        "its stderr has the details under this reference. Other tools and other arguments may still work."
    )


def size_checked(result: ToolResult) -> ToolResult:
    """The result, or a failure that says to narrow the call where clients would cut or drop it."""
    size = sum(len(text) for block in result.content if isinstance(text := block.get("text"), str))
    if size <= MAX_RESULT_CHARS:
        return result
    return failed_result(
        f"The result has {size:,} characters, more than the {MAX_RESULT_CHARS:,} that clients take. "
        "Ask for less: fewer ids, one path, a smaller limit, fewer columns."
    )


def shortened(text: str, max_chars: int) -> str:
    """The text, or its head and its tail where it is longer than ``max_chars``."""
    if len(text) <= max_chars:
        return text
    mark = f" … [{len(text) - max_chars:,} characters left out] … "
    room = max_chars - len(mark)
    return text[: room * 2 // 3] + mark + text[-(room - room * 2 // 3) :]
