"""Five thousand odd messages: the server lives, and every line out is one JSON-RPC message."""

import json
import random
import unittest
from typing import Any

from appsecgate.mcp.server import ServerLimits
from tests.mcp.fixture_server import fixture_setup
from tests.mcp.harness import CC, ENVELOPE, PV, Client

MESSAGES = 5000
METHODS = (
    "tools/call", "tools/call", "tools/call", "initialize", "ping", "tools/list", "tools/call", "server/discover", "subscriptions/listen", "logging/setLevel",
    "notifications/cancelled", "notifications/initialized", "notifications/roots/list_changed", "", "x", None, 5,
)  # fmt: skip
NAMES: tuple[Any, ...] = ("echo", "fail", "roots", "steps", "wait", "zz", "", None, [])
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 10**40, "", "x", "\u2028", "\ud800", "é😀", [], {}, [[]], {"a": {}}, "2026-07-28",
    "2025-03-26", "2025-11-25", "2099-01-01",
)  # fmt: skip
KEYS = (
    "jsonrpc",
    "id",
    "method",
    "params",
    "result",
    "error",
    "_meta",
    "name",
    "arguments",
    "cursor",
    "requestId",
)


class Odd:
    """A seeded maker of messages, from nearly right to noise."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def value(self) -> Any:
        return self.random.choice(VALUES)

    def maybe(self, good: Any, chance: float = 0.8) -> Any:
        return good if self.random.random() < chance else self.value()

    def meta(self) -> Any:
        envelope = dict(ENVELOPE) | {"progressToken": self.value()}
        if self.random.random() < 0.3:
            envelope[self.random.choice((PV, CC))] = self.value()
        return self.maybe(envelope)

    def arguments(self) -> Any:
        return self.maybe(
            {
                "text": self.maybe("hi"),
                "how": self.maybe(self.random.choice(("refused", "huge", "surrogate", "cancelled"))),
                "values": self.maybe([1, 2, self.value()]),
                "seconds": self.maybe(0.001),
                "times": self.maybe(2),
            }
        )

    def params(self) -> Any:
        params: dict[str, Any] = {"name": self.random.choice(NAMES), "arguments": self.arguments()}
        if self.random.random() < 0.4:
            params["_meta"] = self.meta()
        if self.random.random() < 0.4:
            params |= {"protocolVersion": self.value(), "capabilities": self.maybe({"roots": {}})}
        if self.random.random() < 0.3:
            params |= {"requestId": self.value(), "cursor": self.value()}
        return self.maybe(params)

    def message(self) -> Any:
        message = {
            "jsonrpc": self.maybe("2.0", 0.95),
            "method": self.random.choice(METHODS),
            "params": self.params(),
        }
        if self.random.random() < 0.85:
            message["id"] = self.maybe(self.random.randrange(10**6))
        if self.random.random() < 0.1:
            message.pop(self.random.choice(list(message)))
        if self.random.random() < 0.1:
            message[self.random.choice(KEYS)] = self.value()
        return message

    def line(self) -> bytes:
        kind = self.random.random()
        if kind < 0.05:
            return self.random.randbytes(self.random.randrange(60)).replace(b"\n", b"")
        if kind < 0.1:
            return json.dumps([self.message() for _ in range(self.random.randrange(4))]).encode()
        text = json.dumps(self.message(), ensure_ascii=self.random.random() < 0.5).encode(
            "utf-8", "surrogatepass"
        )
        if kind < 0.2:  # damaged somewhere
            place = self.random.randrange(len(text))
            text = (
                text[:place]
                + self.random.randbytes(1).replace(b"\n", b"")
                + text[place + self.random.randrange(9) :]
            )
        return text


class Fuzz(unittest.TestCase):
    def check(self, message: Any) -> None:
        """One outgoing message: a response, a progress report, or the question for roots."""
        self.assertIsInstance(message, dict)
        self.assertEqual(message["jsonrpc"], "2.0")
        if "method" in message:
            self.assertIn(message["method"], ("notifications/progress", "roots/list"))
            return
        self.assertEqual(("result" in message) + ("error" in message), 1)
        self.assertIn("id", message)
        if "error" in message:
            self.assertIsInstance(message["error"]["code"], int)
            self.assertIsInstance(message["error"]["message"], str)
            self.assertNotEqual(message["error"]["code"], -32603, message)
        elif "content" in message["result"]:
            self.assertNotIn("internal error", str(message["result"]["content"]))

    def test_nothing_kills_the_server(self) -> None:
        odd = Odd(20261130)
        limits = ServerLimits(roots_s=0.01, waiting_calls=MESSAGES, finish_s=30, progress_interval_s=0)
        client = Client(fixture_setup(wants_roots=True), limits)
        for _ in range(MESSAGES):
            client.raw(odd.line() + b"\n")
        client.request("the end", "ping", {})
        client.end()
        self.assertEqual(client.exit_status, 0)
        ids = []
        for line in client.lines:
            self.assertTrue(line.endswith(b"\n") and line.count(b"\n") == 1 and line.isascii())
            message = json.loads(line)
            for entry in message if isinstance(message, list) else [message]:
                self.check(entry)
                ids.append(entry.get("id"))
        self.assertIn("the end", ids)
        self.assertGreater(len(client.lines), MESSAGES // 2)
