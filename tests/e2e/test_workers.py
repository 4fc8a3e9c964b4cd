"""A server with resident workers: its answers are those of the command line, and nothing of it stays behind."""

import os
import signal
import sys
import tempfile
import time
import unittest
from collections.abc import Callable
from pathlib import Path

from tests.support import OSV_EXAMPLES, PACKAGE, McpClient, ScannerCase, mcp_client, run_cli

FILES = {
    "app.py": "def page(x):\n    return eval(x)\n",
    "main.tf": 'resource "aws_security_group" "open" {\n  ingress {\n    from_port = 22\n    to_port = 22\n'
    '    protocol = "tcp"\n    cidr_blocks = ["0.0.0.0/0"]\n  }\n}\n',
    "requirements.txt": "requests==2.19.0\n",
}


def children_of(pid: int) -> list[int]:
    """Live processes below this one."""
    below: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            below += [int(child), *children_of(int(child))]
    return below


def alive(pids: list[int]) -> list[int]:
    return [pid for pid in pids if Path(f"/proc/{pid}/cmdline").exists() and Path(f"/proc/{pid}/cmdline").read_bytes()]


def soon(condition: Callable[[], bool], seconds: float = 60) -> bool:
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


@unittest.skipUnless(sys.platform == "linux", "needs /proc")
class WorkersTest(ScannerCase):
    def setUp(self) -> None:
        super().setUp()
        holder = tempfile.TemporaryDirectory(prefix="appsecgate-test-")
        self.addCleanup(holder.cleanup)
        self.temporary = Path(holder.name)
        run_cli(PACKAGE, self.data, "advisories", "import", str(OSV_EXAMPLES))
        for path, text in FILES.items():
            self.write(path, text)

    def look(self, client: McpClient, mark: int) -> set[tuple[str, int]]:
        """Every finding of every file, which is new at each look."""
        found = set()
        for path, text in FILES.items():
            self.write(path, f"{text}# look {mark}\n")
            answer = client.call("scan_file", path=path)
            self.assertLessEqual({item["reason"] for item in answer["missing"]}, {"advisories_stale"})
            found |= {(item["rule_id"], item["line_start"]) for item in answer["findings"]}
        return found

    def warm(self, client: McpClient) -> list[int]:
        """The processes of a server that has all its workers: three that stay, one that waits with its keeper."""
        self.assertTrue(soon(lambda: len(children_of(client.process.pid)) >= 5))
        return children_of(client.process.pid)

    def test_workers_killed_between_calls_change_no_answer(self) -> None:
        with mcp_client(PACKAGE, self.project, self.data, TMPDIR=str(self.temporary)) as client:
            first = self.look(client, 0)
            self.assertGreaterEqual(len(first), 3)
            for mark in range(1, 4):
                for pid in self.warm(client):
                    os.kill(pid, signal.SIGKILL)
                self.assertEqual(self.look(client, mark), first)
            self.warm(client)
            self.assertEqual(self.look(client, 4), first)

    def test_nothing_stays_behind(self) -> None:
        for mark, end in enumerate(("hang up", "SIGTERM", "SIGKILL")):
            with self.subTest(end), mcp_client(PACKAGE, self.project, self.data, TMPDIR=str(self.temporary)) as client:
                self.look(client, mark)
                workers = self.warm(client)
                if end == "hang up":
                    client.end()
                else:
                    client.process.send_signal(signal.Signals[end])
                    client.process.wait(20)
                self.assertTrue(soon(lambda: not alive(workers), 10))  # noqa: B023
                if end != "SIGKILL":
                    self.assertEqual(list(self.temporary.iterdir()), [])

    def test_there_is_no_worker_before_the_first_scan(self) -> None:
        with mcp_client(PACKAGE, self.project, self.data) as client:
            client.call("get_config")
            self.assertEqual(children_of(client.process.pid), [])


if __name__ == "__main__":
    unittest.main()
