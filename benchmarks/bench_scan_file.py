"""scan_file over MCP, by a server just started and by one that is warm, beside the scanners' own command lines.

``python3 -m benchmarks.bench_scan_file [ROUNDS]`` prints Markdown. Every round scans new content, so no answer
comes from an earlier one; the sides take turns, so that a slow moment of the machine hits all of them.
"""

import resource
import sys
import time
from collections.abc import Callable

from appsecgate.errors import EXIT_DONE, EXIT_INCOMPLETE
from benchmarks.measuring import Place, PlainTools, median, place, seconds, table
from tests.support import PACKAGE, McpClient, mcp_client, run_cli

FILES = {
    "Python": ("shop/app.py", "#"),
    "JavaScript": ("web/cart.js", "//"),
    "Terraform": ("infra/main.tf", "#"),
    "Dockerfile": ("Dockerfile", "#"),
    "requirements.txt": ("requirements.txt", "#"),
}
COLD_S, WARM_S, START_S = 2.0, 0.5, 0.15


def start_seconds(here: Place, rounds: int) -> list[float]:
    """From starting the process to the answered ``initialize``."""
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        with mcp_client(PACKAGE, here.project, here.data):
            times.append(time.perf_counter() - began)
    return times


class Edited:
    """A file of the project that is new at every look."""

    def __init__(self, here: Place, path: str, comment: str) -> None:
        self._target = here.project / path
        self._original = self._target.read_text("utf-8")
        self._comment = comment
        self._number = 0
        self.path = path

    def renew(self) -> None:
        self._number += 1
        self._target.write_text(f"{self._comment} round {self._number}\n{self._original}")

    def scan(self, client: McpClient) -> float:
        self.renew()
        answer: dict[str, object] = {}
        took = seconds(lambda: answer.update(client.call("scan_file", path=self.path)))
        if not answer["findings"]:
            raise AssertionError(f"nothing was found in {self.path}")
        return took


def scan_cold(here: Place, edited: Edited) -> float:
    """The first call to a server that was just started."""
    with mcp_client(PACKAGE, here.project, here.data) as client:
        return edited.scan(client)


def processor_seconds(here: Place, edited: Edited) -> float:
    """Of a scan without any server or worker, all processes together: what a busy machine does not change."""
    edited.renew()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = ("--project", str(here.project), "scan", edited.path)
    status, _, said = run_cli(PACKAGE, here.data, *command, cwd=here.project)
    if status not in (EXIT_DONE, EXIT_INCOMPLETE):
        raise AssertionError(said)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(here: Place, rounds: int, say: Callable[[str], None]) -> list[list[str]]:
    rows = []
    plain = PlainTools(here)
    with mcp_client(PACKAGE, here.project, here.data) as client:
        for label, (path, comment) in FILES.items():
            edited = Edited(here, path, comment)
            for _ in range(2):
                edited.scan(client)
            time.sleep(8)  # the workers load in the background
            cold, warm, theirs = [], [], []
            for _ in range(rounds):
                cold.append(scan_cold(here, edited))
                theirs.append(sum(plain.on_file(path).values()))
                warm.append(edited.scan(client))
            busy = median([processor_seconds(here, edited) for _ in range(3)])
            c, w, t = median(cold), median(warm), median(theirs)
            kept = "yes" if c < COLD_S and w < WARM_S else "NO"
            rows.append(
                [label, f"{c:.2f}", f"{w:.2f}", f"{t:.2f}", f"{c / t:.2f}", f"{w / t:.2f}", f"{busy:.2f}", kept]
            )
            say(f"{label}: {rows[-1][1:]}")
    return rows


def report(rounds: int, say: Callable[[str], None] = lambda _: None) -> str:
    with place() as here:
        starts = median(start_seconds(here, max(rounds, 5)))
        rows = measure(here, rounds, say)
    head = ["file", "cold, s", "warm, s", "command lines, s", "cold ÷ these", "warm ÷ these", "CPU s", "within bounds"]
    return (
        f"Medians of {rounds} rounds. Cold: the first call to a server that was started for it; warm: a call to a\n"
        "server that has its workers; CPU: processor time of a scan from the command line, without any worker.\n"
        f"Bounds: cold < {COLD_S:.0f} s, warm < {WARM_S} s.\n\n"
        f"{table(head, rows)}\n\n"
        f"Start of the server to the answered `initialize`: {starts * 1000:.0f} ms (goal < {START_S * 1000:.0f} ms)."
    )


if __name__ == "__main__":
    print(report(int(sys.argv[1]) if len(sys.argv) > 1 else 7, lambda line: print(line, file=sys.stderr)))
