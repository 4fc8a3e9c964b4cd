"""The one question that the server asks: which directories does the client work in?

It is asked only when nobody named a project, the client said that it has roots, and the handshake is
over; a client that does not answer costs the first call a few seconds, nothing else.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from appsecgate.mcp.wire import Outbox, encode_message
from appsecgate.model import Json

ROOTS_SINCE: Final = "2025-03-26"
"""Clients of 2024-11-05 declare roots and then hang on any message that they did not ask for."""
MAX_ROOTS: Final = 32


@dataclass(frozen=True, slots=True)
class ClientFacts:
    """What a new session may know of the client."""

    roots: tuple[str, ...] = ()
    """Its roots as ``file://`` URIs, in its own order; empty where they are not known."""


class RootsQuestion:
    """``declare``, ``ask`` and ``take_answer`` are called by the reading thread, ``wait`` by calls."""

    def __init__(self, outbox: Outbox, wanted: Callable[[], bool], limit_s: float) -> None:
        self._outbox = outbox
        self._wanted = wanted
        self._limit_s = limit_s
        self._declared = False
        self._asked = 0
        self._asked_at = 0.0
        self._answered = threading.Event()
        self._answered.set()
        self._roots: tuple[str, ...] = ()

    def declare(self, has_roots: bool, version: str) -> None:
        """What the client said in its handshake."""
        self._declared = has_roots and version >= ROOTS_SINCE

    def ask(self) -> None:
        """Send the question where it is wanted and allowed."""
        if not self._declared or not self._wanted():
            return
        self._asked += 1
        self._asked_at = time.monotonic()
        self._answered.clear()
        question: Json = {"jsonrpc": "2.0", "id": self._current_id(), "method": "roots/list"}
        self._outbox.send(encode_message(question))

    def take_answer(self, message: dict[str, Json]) -> None:
        """A response of the client; any but the one to the latest question is ignored."""
        if self._asked == 0 or message.get("id") != self._current_id():
            return
        match message:
            case {"result": {"roots": list() as roots}}:
                uris = [root.get("uri") for root in roots[:MAX_ROOTS] if isinstance(root, dict)]
                self._roots = tuple(uri for uri in uris if isinstance(uri, str))
            case _:
                self._roots = ()
        self._answered.set()

    def wait(self) -> tuple[str, ...]:
        """The roots, waiting for the rest of the time limit while the question is open."""
        self._answered.wait(max(0.0, self._asked_at + self._limit_s - time.monotonic()))
        return self._roots

    def _current_id(self) -> str:
        return f"roots-{self._asked}"
