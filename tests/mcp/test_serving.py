"""The server as a process: its streams, its signals, its end."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SERVER = [sys.executable, "-W", "error", "-m", "tests.mcp.fixture_server"]
HANDSHAKE = {"protocolVersion": "2025-11-25", "capabilities": {}}


def line(request_id: Any, method: str, params: Any = None) -> bytes:
    """A request as a line."""
    message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params or {}}
    return json.dumps(message).encode() + b"\n"


def call(request_id: Any, name: str, **arguments: Any) -> bytes:
    """A tool call as a line."""
    return line(request_id, "tools/call", {"name": name, "arguments": arguments})


class Serving(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def start(self, *arguments: str, **options: Any) -> "subprocess.Popen[bytes]":
        server = subprocess.Popen(
            [*SERVER, *arguments],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            **options,
        )

        def close() -> None:
            server.kill()
            server.communicate()

        self.addCleanup(close)
        return server

    def say(self, server: "subprocess.Popen[bytes]", data: bytes) -> None:
        assert server.stdin is not None
        server.stdin.write(data)

    def hear(self, server: "subprocess.Popen[bytes]") -> Any:
        assert server.stdout is not None
        return json.loads(server.stdout.readline())

    def start_child(self, server: "subprocess.Popen[bytes]") -> int:
        """A tool call that runs a process; that process's id."""
        pid_file = self.folder / "pid"
        self.say(server, call("child", "child", pid_file=str(pid_file)))
        end = time.monotonic() + 20
        while time.monotonic() < end:
            if pid_file.exists() and pid_file.read_text():
                return int(pid_file.read_text())
            time.sleep(0.01)
        raise AssertionError("the child did not start")

    def assert_gone(self, pid: int) -> None:
        end = time.monotonic() + 2
        while time.monotonic() < end:
            try:
                os.kill(pid, 0)
            except ProcessLookupError:
                return
            time.sleep(0.01)
        self.fail(f"process {pid} is still there")

    def assert_ended_quietly(self, server: "subprocess.Popen[bytes]", began: float) -> None:
        self.assertEqual(server.wait(5), 0)
        self.assertLess(time.monotonic() - began, 1.3)  # 1 s, and a loaded machine
        assert server.stderr is not None
        self.assertEqual(server.stderr.read(), b"")

    def test_the_handshake_is_answered_and_the_end_of_input_ends_it(self) -> None:
        server = self.start()
        out, err = server.communicate(line(0, "initialize", HANDSHAKE), timeout=20)
        self.assertEqual(json.loads(out)["result"]["protocolVersion"], "2025-11-25")
        self.assertEqual((server.returncode, err), (0, b""))

    def test_every_end_takes_the_children_along(self) -> None:
        def end_of_input(server: "subprocess.Popen[bytes]") -> None:
            assert server.stdin is not None
            server.stdin.close()
            server.stdin = None

        def nobody_reads(server: "subprocess.Popen[bytes]") -> None:
            assert server.stdout is not None
            server.stdout.close()
            server.stdout = None
            self.say(server, line(1, "ping"))

        ends: dict[str, Callable[[subprocess.Popen[bytes]], None]] = {
            "end of input": end_of_input,
            "nobody reads": nobody_reads,
            "SIGINT": lambda server: server.send_signal(signal.SIGINT),
            "SIGTERM": lambda server: server.send_signal(signal.SIGTERM),
        }
        for name, end in ends.items():
            with self.subTest(name):
                server = self.start()
                child = self.start_child(server)
                began = time.monotonic()
                end(server)
                self.assert_ended_quietly(server, began)
                self.assert_gone(child)
                (self.folder / "pid").unlink()

    def test_a_cancelled_call_takes_its_child_along(self) -> None:
        server = self.start()
        child = self.start_child(server)
        note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "child"}}
        self.say(server, json.dumps(note).encode() + b"\n")
        self.assert_gone(child)
        self.say(server, line("after", "ping"))
        self.assertEqual(self.hear(server)["id"], "after")

    def test_a_call_that_hangs_does_not_delay_the_end(self) -> None:
        server = self.start()
        self.say(server, call(1, "wait", seconds=60, stubborn=True) + line(2, "ping"))
        self.assertEqual(self.hear(server)["id"], 2)
        began = time.monotonic()
        server.send_signal(signal.SIGTERM)
        self.assert_ended_quietly(server, began)

    def test_a_client_that_does_not_read_does_not_delay_the_end(self) -> None:
        server = self.start()
        self.say(server, b"".join(line(number, "tools/list") for number in range(200)))
        time.sleep(0.3)  # its stdout is full by now
        began = time.monotonic()
        server.send_signal(signal.SIGTERM)
        self.assertEqual(server.wait(5), 0)
        self.assertLess(time.monotonic() - began, 1.3)

    def test_stray_output_goes_to_stderr(self) -> None:
        server = self.start()
        out, err = server.communicate(call(1, "fail", how="noise"), timeout=20)
        self.assertEqual([json.loads(text)["id"] for text in out.splitlines()], [1])
        self.assertIn(b"stray output", err)

    def test_streams_that_are_closed_from_the_start_are_survived(self) -> None:
        for redirect, reads in (("<&-", False), (">&-", False), ("2>&-", True), ("<&- >&- 2>&-", False)):
            with self.subTest(redirect):
                command = ["sh", "-c", f'exec "$@" {redirect}', "sh", *SERVER]
                done = subprocess.run(
                    command, cwd=ROOT, input=line(1, "ping"), stdout=subprocess.PIPE, timeout=20
                )
                self.assertEqual(done.returncode, 0)
                self.assertEqual(bool(done.stdout), reads)

    def test_a_program_may_come_in_pieces(self) -> None:
        server = self.start()
        for byte in line("slow", "ping"):
            self.say(server, bytes([byte]))
        self.assertEqual(self.hear(server)["id"], "slow")
