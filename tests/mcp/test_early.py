"""The handshake is answered before there are tools, and what needs tools waits for them."""

import json
import queue
import subprocess
import sys
import threading
import time
import unittest
from typing import Any

from appsecgate.mcp.early import will_serve
from appsecgate.mcp.server import MAX_KEPT_MESSAGES
from appsecgate.mcp.serving import Serving
from appsecgate.mcp.wire import Streams
from tests.mcp.fixture_server import fixture_greeting, fixture_setup
from tests.mcp.fixture_tools import FixtureSession

HEAVY = ("appsecgate.cli", "appsecgate.session", "appsecgate.store", "appsecgate.scanners", "sqlite3", "argparse")


class Early(unittest.TestCase):
    def test_only_what_needs_tools_waits_for_them(self) -> None:
        incoming: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        outgoing: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        serving: Serving[FixtureSession] = Serving(
            fixture_greeting(), Streams(lambda _size: incoming.get(), outgoing.put)
        )

        def ask(request_id: int, method: str, **params: Any) -> None:
            message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
            incoming.put(json.dumps(message).encode() + b"\n")

        def answer() -> Any:
            return json.loads(outgoing.get(timeout=10))

        ask(1, "initialize", protocolVersion="2025-11-25")
        self.assertEqual(answer()["result"]["serverInfo"]["name"], "fixture")
        ask(2, "ping")
        self.assertEqual(answer(), {"jsonrpc": "2.0", "id": 2, "result": {}})
        ask(3, "no/such")
        self.assertEqual(answer()["error"]["code"], -32601)
        ask(4, "tools/call", name="echo", arguments={"text": "a"})
        ask(5, "tools/list")
        ask(6, "tools/call", name="wait", arguments={"seconds": 60})
        incoming.put(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":6}}\n')
        ask(7, "ping")
        self.assertEqual(answer(), {"jsonrpc": "2.0", "id": 7, "result": {}})
        with self.assertRaises(queue.Empty):
            outgoing.get(timeout=0.2)
        status: list[int] = []
        runner = threading.Thread(target=lambda: status.append(serving.run(fixture_setup())))
        runner.start()
        self.assertEqual({answer()["id"], answer()["id"]}, {4, 5})
        began = time.monotonic()
        incoming.put(b"")
        runner.join(10)
        self.assertEqual(status, [0])
        self.assertLess(time.monotonic() - began, 10, "the cancelled call ran on")
        self.assertTrue(outgoing.empty())

    def test_a_client_that_cannot_wait_is_made_to(self) -> None:
        incoming: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        outgoing: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        serving: Serving[FixtureSession] = Serving(
            fixture_greeting(), Streams(lambda _size: incoming.get(), outgoing.put)
        )
        count = MAX_KEPT_MESSAGES + 50
        for number in range(count):
            message = {"jsonrpc": "2.0", "id": number, "method": "tools/list"}
            incoming.put(json.dumps(message).encode() + b"\n")
        runner = threading.Thread(target=lambda: serving.run(fixture_setup()))
        runner.start()
        ids = [json.loads(outgoing.get(timeout=10))["id"] for _ in range(count)]
        self.assertEqual(ids, list(range(count)))
        incoming.put(b"")
        runner.join(10)

    def test_a_command_line_that_is_in_doubt_begins_nothing(self) -> None:
        cases = (
            ((), True),
            (("serve",), True),
            (("--project", "x"), True),
            (("--project=x", "--data-dir", "scan", "serve"), True),
            (("scan",), False),
            (("--help",), False),
            (("serve", "--help"), False),
            (("--proj", "x"), False),
            (("--project",), False),
        )
        for arguments, serves in cases:
            with self.subTest(arguments):
                self.assertEqual(will_serve(arguments), serves)

    def test_the_first_answer_needs_little(self) -> None:
        """Whoever imports more into the way of the first answer makes every client wait for it."""
        code = "import sys; from appsecgate.mcp.early import begin_early; print(*sys.modules)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
        loaded = done.stdout.split()
        self.assertEqual([name for name in loaded if name.startswith(HEAVY)], [])
