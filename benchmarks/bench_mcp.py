"""The server's manners: how soon it answers, also while it works, and how soon it stops working.

``python3 -m benchmarks.bench_mcp [ROUNDS]`` prints a Markdown table: what, the median, the worst, and the limit that
was promised. The last column is "no" where a limit was passed, and then the exit status is 1.
"""

import contextlib
import itertools
import json
import os
import shutil
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.processes import descendants_of, processor_ticks
from tests.support import OSV_EXAMPLES, PACKAGE, ROOT, SINGLE_FILE, McpClient, link_scanners, mcp_client, run_cli

EXAMPLE = ROOT / "examples" / "vulnerable-shop"
COPIES = 40
"""Of the example project: enough for the scanners to be at work for a while."""
PINGS_S = 0.02
WINDOW_S = 0.1
"""A process that used no processor time for this long does not work."""


def starts(command: tuple[str, ...], project: Path, data: Path) -> dict[str, float]:
    """Milliseconds from the start to each of the first answers."""
    began = time.perf_counter()
    with mcp_client(command, project, data) as client:
        hello = time.perf_counter()
        client.request("tools/list", {})
        listed = time.perf_counter()
        client.request("tools/list", {})
        return {
            "start to answered initialize": (hello - began) * 1000,
            "first tools/list": (listed - hello) * 1000,
            "second tools/list": (time.perf_counter() - listed) * 1000,
        }


def words(pid: int) -> str:
    """The command line of a process; "" where it is dead, also where nobody fetched its exit status yet."""
    if not Path(f"/proc/{pid}").exists():
        return ""
    return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")[:200]


def rest_ms(pid: int, limit_s: float = 20.0) -> float:
    """Until nothing below ``pid`` works any more, whether it ended or only waits."""
    began = time.perf_counter()
    before = processor_ticks(pid)
    while time.perf_counter() - began < limit_s:
        time.sleep(WINDOW_S)
        now = processor_ticks(pid)
        if all(before.get(child) == ticks for child, ticks in now.items()):
            return (time.perf_counter() - began - WINDOW_S) * 1000
        before = now
    return limit_s * 1000


def await_work(pid: int, limit_s: float = 10.0) -> None:
    """Wait until something below ``pid`` is at work."""
    began = time.perf_counter()
    before = processor_ticks(pid)
    while time.perf_counter() - began < limit_s:
        time.sleep(WINDOW_S / 2)
        now = processor_ticks(pid)
        if any(ticks > before.get(child, ticks) for child, ticks in now.items()):
            return
        before = now
    raise SystemExit("no scanner was at work: there was nothing to cancel")


class BusyClient(McpClient):
    """Keeps a scan going and asks other things meanwhile."""

    def __init__(self, project: Path, data: Path) -> None:
        super().__init__(PACKAGE, project, data)
        self._numbers = itertools.count(1000)

    def begin_scan(self) -> int:
        number = next(self._numbers)
        params: dict[str, Any] = {"name": "scan_project", "arguments": {}}
        self.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
        return number

    def pings_until(self, scan: int) -> list[float]:
        """Milliseconds of each ping until the scan is answered."""
        sent: dict[int, float] = {}
        times: list[float] = []
        over = threading.Event()

        def ping() -> None:
            while not over.wait(PINGS_S):
                number = next(self._numbers)
                sent[number] = time.perf_counter()
                self.send({"jsonrpc": "2.0", "id": number, "method": "ping"})

        thread = threading.Thread(target=ping)
        thread.start()
        try:
            while (answered := self._next_id_answered()) != scan:
                times.append((time.perf_counter() - sent[answered]) * 1000)
        finally:
            over.set()
            thread.join()
        return times

    def cancel(self, scan: int) -> None:
        self.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": scan}})

    def _next_id_answered(self) -> int:
        assert self.process.stdout is not None
        number: int = json.loads(self.process.stdout.readline())["id"]
        return number


def touch_all(project: Path) -> None:
    """New content everywhere, so that no answer comes from an earlier scan."""
    for path in project.rglob("*.py"):
        path.write_text(f"# {os.urandom(4).hex()}\n{path.read_text()}")


@contextlib.contextmanager
def busy_client(project: Path, data: Path) -> Iterator[BusyClient]:
    """A client of a fresh server, which must end well and leave no process."""
    touch_all(project)
    client = BusyClient(project, data)
    try:
        yield client
        left = descendants_of(client.process.pid)
        status, _ = client.end()
        time.sleep(0.2)  # who was killed may take a moment to die
        alive = [command for pid in left if (command := words(pid))]
        if status or alive:
            raise SystemExit(f"the server ended with {status} and left processes: {alive}")
    finally:
        client.process.kill()
        client.process.communicate()


def pings_during_a_scan(project: Path, data: Path) -> list[float]:
    """Milliseconds of each ping during a scan of everything."""
    with busy_client(project, data) as client:
        return client.pings_until(client.begin_scan())


def rest_after_cancel(project: Path, data: Path) -> float:
    """Milliseconds from a cancelled scan until nothing works any more."""
    with busy_client(project, data) as client:
        scan = client.begin_scan()
        await_work(client.process.pid)
        time.sleep(0.3)  # into the scanners' own work
        client.cancel(scan)
        return rest_ms(client.process.pid)


def row(name: str, times: Sequence[float], limit_ms: float | None) -> bool:
    """Print a line of the table; whether the limit was kept."""
    kept = limit_ms is None or max(times) <= limit_ms
    limit = "" if limit_ms is None else f"{limit_ms:.0f}"
    word = "yes" if kept else "no"
    print(f"| {name} | {statistics.median(times):.1f} | {max(times):.1f} | {limit} | {word} |", flush=True)
    return kept


def main(rounds: int) -> int:
    with tempfile.TemporaryDirectory() as name:
        project, data = Path(name) / "shop", Path(name) / "data"
        for copy in range(COPIES):
            shutil.copytree(EXAMPLE, project / f"copy{copy}")
        link_scanners(data)
        run_cli(PACKAGE, data, "advisories", "import", str(OSV_EXAMPLES))
        print("| what, ms | median | worst | limit | kept |\n|---|---|---|---|---|")
        firsts: dict[str, list[float]] = {}
        for _ in range(rounds):  # taking turns, so that a slow moment of the machine hits both
            for label, command in (("package", PACKAGE), ("single file", SINGLE_FILE)):
                for what, took in starts(command, project, data).items():
                    firsts.setdefault(f"{what}, {label}", []).append(took)
        kept = [row(what, times, 1000) for what, times in firsts.items()]
        few = range(max(1, rounds // 5))
        pings = [took for _ in few for took in pings_during_a_scan(project, data)]
        kept.append(row("ping during a project scan", pings, 200))
        kept.append(
            row("scanners at rest after a cancelled scan", [rest_after_cancel(project, data) for _ in few], 2000)
        )
    return 0 if all(kept) else 1


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 10))
