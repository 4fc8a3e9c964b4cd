"""A server with resident workers: its answers are those of the command line, and nothing of it stays behind."""

import contextlib
import os
import signal
import sys
import tempfile
import threading
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

    def workers_while(self, client: McpClient, work: Callable[[], object]) -> set[str]:
        """The worker programs that ran at any moment of the work and for a while afterwards."""
        seen: set[str] = set()
        ended = threading.Event()

        def watch() -> None:
            while not ended.wait(0.01):
                with contextlib.suppress(OSError):  # whoever ends meanwhile
                    for pid in children_of(client.process.pid):
                        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
                        seen.update(Path(word).name for word in words if word.endswith(("/zygote.py", "/keeper.py")))

        watching = threading.Thread(target=watch)
        watching.start()
        try:
            work()
            time.sleep(2)
        finally:
            ended.set()
            watching.join()
        return seen

    def test_switched_off_there_is_none_at_any_time_and_the_answers_are_the_same(self) -> None:
        found: dict[str, set[tuple[str, int]]] = {}
        for setting in ("true", "false"):
            with self.subTest(setting), mcp_client(
                PACKAGE, self.project, self.data, APPSECGATE_LIMITS_WORKERS=setting
            ) as client:
                seen = self.workers_while(client, lambda: found.update({setting: self.look(client, 0)}))  # noqa: B023
                self.assertEqual(bool(seen), setting == "true", seen)
                row = next(row for row in client.call("get_config")["settings"] if row["key"] == "limits.workers")
                self.assertEqual((row["value"], row["origin"]), (setting == "true", "environment"))
        self.assertEqual(found["true"], found["false"])

    def test_a_person_can_switch_them_off_and_on_while_a_server_runs(self) -> None:
        with mcp_client(PACKAGE, self.project, self.data) as client:
            first = self.look(client, 0)
            self.warm(client)
            settings = self.data / "config.toml"
            settings.write_text("limits.workers = false\n")
            client.call("get_config")
            self.assertEqual(children_of(client.process.pid), [])
            self.assertEqual(self.workers_while(client, lambda: self.assertEqual(self.look(client, 1), first)), set())
            settings.unlink()
            self.assertEqual(self.look(client, 2), first)
            self.warm(client)

    def test_the_repository_and_the_agent_cannot_switch_them(self) -> None:
        self.write(".appsecgate.toml", "limits.workers = false\n")
        with mcp_client(PACKAGE, self.project, self.data) as client:
            self.assertIn("limits.workers", client.refusal("update_config", patch={"limits.workers": False}))
            self.assertIn("limits.workers", str(client.call("get_config")["problems"]))
            self.look(client, 0)
            self.warm(client)

    def test_there_is_no_worker_before_the_first_scan(self) -> None:
        with mcp_client(PACKAGE, self.project, self.data) as client:
            client.call("get_config")
            self.assertEqual(children_of(client.process.pid), [])


if __name__ == "__main__":
    unittest.main()
