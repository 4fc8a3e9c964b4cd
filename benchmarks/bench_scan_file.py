"""scan_file over MCP, by a server just started and by one that is warm, beside the scanners' own command lines.

``python3 -m benchmarks.bench_scan_file [ROUNDS]`` prints Markdown. Every look at a file is at new content, so no
answer comes from an earlier one, and each is checked to be none; the sides take turns, in another order each round,
and each begins when the warm server and its workers are at rest.
"""

import resource
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from appsecgate.errors import EXIT_DONE, EXIT_INCOMPLETE
from benchmarks.figures import Promise, Section, promise
from benchmarks.measuring import Place, PlainTools, median, place, seconds, table
from benchmarks.processes import await_rest
from tests.support import PACKAGE, McpClient, mcp_client, run_cli

FILES = {
    "Python": ("shop/app.py", "#"),
    "JavaScript": ("web/cart.js", "//"),
    "Terraform": ("infra/main.tf", "#"),
    "Dockerfile": ("Dockerfile", "#"),
    "requirements.txt": ("requirements.txt", "#"),
}
COLD_S, WARM_S, START_S = 2.0, 0.5, 0.15
Say = Callable[[str], None]


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

    def restore(self) -> None:
        self._target.write_text(self._original)

    def scan(self, client: McpClient) -> float:
        """Seconds of a call on content that was never seen; whether it was scanned indeed is checked."""
        self.renew()
        answer: dict[str, object] = {}
        took = seconds(lambda: answer.update(client.call("scan_file", path=self.path)))
        if not scanned(answer):
            raise AssertionError(f"{self.path} was not scanned: {answer['evidence']}")
        return took


def scanned(answer: Mapping[str, object]) -> bool:
    """Whether scanners found something, and no answer came out of the store."""
    evidence = answer["evidence"]
    assert isinstance(evidence, list)
    return bool(answer["findings"]) and all(row["reason"] != "cached" for row in evidence)


def scan_cold(here: Place, edited: Edited, **environ: str) -> float:
    """From the start of a server to its first answer: the start and the handshake are part of it."""
    began = time.perf_counter()
    with mcp_client(PACKAGE, here.project, here.data, **environ) as client:
        edited.scan(client)
        return time.perf_counter() - began


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


def in_turns(sides: Mapping[str, Callable[[], float]], rounds: int, ready: Callable[[], None]) -> dict[str, float]:
    """The median of each side; in each round another one comes first, and each when ``ready`` returns."""
    names = list(sides)
    times: dict[str, list[float]] = {name: [] for name in names}
    for number in range(rounds):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            ready()
            times[name].append(sides[name]())
    return {name: median(each) for name, each in times.items()}


def command_lines(plain: PlainTools, edited: Edited) -> float:
    """Seconds that the plain scanners take for the file, one after another."""
    return sum(plain.on_file(edited.path).values())


def measure(here: Place, rounds: int, kinds: Sequence[str], say: Say) -> tuple[list[list[str]], list[Promise]]:
    rows, promises = [], []
    plain = PlainTools(here)
    with mcp_client(PACKAGE, here.project, here.data) as client:

        def rest() -> None:
            await_rest(client.process.pid)

        for label in kinds:
            edited = Edited(here, *FILES[label])
            for _ in range(2):
                edited.scan(client)
            took = in_turns(
                {
                    "cold": partial(scan_cold, here, edited),
                    "theirs": partial(command_lines, plain, edited),
                    "warm": partial(edited.scan, client),
                },
                rounds,
                rest,
            )
            busy = median([processor_seconds(here, edited) for _ in range(min(rounds, 3))])
            cold, theirs, warm = took["cold"], took["theirs"], took["warm"]
            figures = (cold, warm, theirs, cold / theirs, warm / theirs, busy)
            rows.append([label, *(f"{figure:.2f}" for figure in figures)])
            promises.append(promise(f"`scan_file`, {label}, cold server", cold, bound=COLD_S))
            promises.append(promise(f"`scan_file`, {label}, warm server", warm, bound=WARM_S))
            say(f"{label}: {rows[-1][1:]}")
    return rows, promises


def section(rounds: int, say: Say = lambda _: None, kinds: Sequence[str] = tuple(FILES)) -> Section:
    with place() as here:
        starts = median(start_seconds(here, max(rounds, 5)))
        rows, promises = measure(here, rounds, kinds, say)
    promises.append(promise("server start to answered `initialize`", starts, goal=START_S))
    head = ["file", "cold, s", "warm, s", "command lines, s", "cold ÷ these", "warm ÷ these", "CPU s"]
    text = (
        f"Medians of {rounds} rounds, in which the three sides take turns; every scan is of new content. Cold: from\n"
        "the start of a server to its first answer; warm: a call to a server that has its workers; CPU: processor\n"
        "time of a scan from the command line, without any worker. The command lines are those of the scanners that\n"
        "apply to the file, one after another. The operating system has the programs in its file cache, for all.\n\n"
        f"{table(head, rows)}\n\n"
        f"Start of the server to the answered `initialize`: {starts * 1000:.0f} ms (goal < {START_S * 1000:.0f} ms)."
    )
    return Section("One file after an edit", text, tuple(promises))


if __name__ == "__main__":
    done = section(int(sys.argv[1]) if len(sys.argv) > 1 else 7, lambda line: print(line, file=sys.stderr))
    print(done.markdown())
