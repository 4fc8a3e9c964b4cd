"""A server's beginning and its end: the process's streams, its signals, and how it stops within a second."""

import enum
import os
import queue
import signal
import threading
from typing import Generic

from appsecgate.errors import EXIT_DONE
from appsecgate.mcp.server import Greeting, McpServer, ServerSetup
from appsecgate.mcp.wire import Outbox, Streams, read_lines, take_stdio
from appsecgate.tools.base import SessionT


class ServerEnd(enum.Enum):
    """Why a server stops."""

    END_OF_INPUT = enum.auto()
    SIGNAL = enum.auto()
    NOBODY_READS = enum.auto()


class Serving(Generic[SessionT]):
    """A server that answers already, though it has no tools before ``run``.

    Without ``streams`` the process's own stdin and stdout are taken over, signals end the server, and the
    process ends within a second after that even where a thread hangs: make it in the main thread then, once.
    """

    def __init__(self, greeting: Greeting, streams: Streams | None = None) -> None:
        # SimpleQueue.put may interrupt itself, so a signal handler can use it; an Event's lock could deadlock.
        self._endings: queue.SimpleQueue[ServerEnd] = queue.SimpleQueue()
        self._limits = greeting.limits
        self._owns_process = streams is None
        wire = take_stdio() if streams is None else streams
        self._outbox = Outbox(wire.write, lambda: self._endings.put(ServerEnd.NOBODY_READS))
        self._server: McpServer[SessionT] = McpServer(greeting, self._outbox)
        if self._owns_process:
            _end_on_signals(self._endings)
        threading.Thread(target=self._read_all, args=(wire,), name="mcp-reader", daemon=True).start()

    def run(self, setup: ServerSetup[SessionT]) -> int:
        """Serve until stdin ends, nobody reads stdout, or a signal comes; the exit status."""
        self._server.equip(setup)
        ending = _wait_for_ending(self._endings)
        if self._owns_process:
            _exit_after(self._limits.exit_s)
        self._server.stop(self._limits.finish_s if ending is ServerEnd.END_OF_INPUT else 0.0)
        self._outbox.close(self._limits.stop_s)
        return EXIT_DONE

    def _read_all(self, wire: Streams) -> None:
        try:
            for line in read_lines(wire.read):
                self._server.feed(line)
        finally:
            self._endings.put(ServerEnd.END_OF_INPUT)


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
