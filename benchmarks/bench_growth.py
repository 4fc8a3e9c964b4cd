"""How time and memory of scan_project grow with the number of files.

``python3 -m benchmarks.bench_growth [FILES …]`` prints Markdown; by default for 100 to 10,000 files.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.bench_project import Say, scan_whole
from benchmarks.curves import line, panel
from benchmarks.figures import Section, megabytes, promise
from benchmarks.measuring import median, place, seconds, table
from benchmarks.processes import resident_kib
from tests.support import PACKAGE, mcp_client

PICTURE = "growth"
SIZES = (100, 300, 1000, 3000, 10_000)
REPEATED = 1000
"""Up to this size a row is the median of three runs; beyond it, where noise is small beside the time, of one."""
PEAK_MB = 150
MODULE = '''"""Module {number}."""

import subprocess


def run_{number}(name: str) -> int:
    """Start something."""
    return subprocess.run(["tool", name, "{number}"], check=True).returncode


class Thing{number}:
    limit = {number}

    def size(self, items: list[str]) -> int:
        total = 0
        for item in items:
            total += len(item) * self.limit
        return total
'''
FLAWED = MODULE + "\n\ndef flaw_{number}(text: str) -> object:\n    return eval(text)\n"


def grow(project: Path, files: int) -> None:
    """One file in ten has a flaw."""
    for number in range(files):
        folder = project / f"part{number // 100}"
        folder.mkdir(exist_ok=True)
        text = FLAWED if number % 10 == 0 else MODULE
        (folder / f"module{number}.py").write_text(text.format(number=number))


@dataclass(frozen=True, slots=True)
class Grown:
    """A first scan and one with nothing changed, of a project with so many files (and the example's own)."""

    files: int
    findings: int
    first_s: float
    calls: str
    unchanged_s: float
    peak_kib: int


def one(files: int) -> Grown:
    with place() as here:
        grow(here.project, files)
        with mcp_client(PACKAGE, here.project, here.data) as client:
            cold, calls, answer = scan_whole(client)
            again = seconds(lambda: client.call("scan_project"))
            peak = resident_kib(client.process.pid, "VmHWM")
    return Grown(files, int(answer["total_available"]), cold, calls, again, peak)


def grown(files: int, say: Say) -> Grown:
    """The median of several runs, where one is short."""
    runs = [one(files) for _ in range(3 if files <= REPEATED else 1)]
    last = runs[-1]
    first, again = median([run.first_s for run in runs]), median([run.unchanged_s for run in runs])
    say(f"growth {last}")
    return Grown(files, last.findings, first, last.calls, again, max(run.peak_kib for run in runs))


def section(sizes: Sequence[int] = SIZES, say: Say = lambda _: None) -> Section:
    return written([grown(files, say) for files in sizes])


def written(runs: Sequence[Grown]) -> Section:
    head = ["files", "findings", "first scan, s", "calls", "ms per file", "unchanged, s", "peak of the server, MB"]
    rows = [
        [
            f"{run.files:,}", f"{run.findings:,}", f"{run.first_s:.1f}", run.calls,
            f"{run.first_s / run.files * 1000:.1f}", f"{run.unchanged_s:.2f}", f"{peak_mb(run):.0f}",
        ]
        for run in runs
    ]  # fmt: skip
    text = (
        f"Generated modules, one in ten with a flaw. Up to {REPEATED:,} files medians of three runs, beyond that one\n"
        f"run; the peak is that of the server process alone (goal: {PEAK_MB} MB for 10,000 files).\n\n"
        f"{table(head, rows)}\n\n"
        f"![Time and memory over the number of files]({PICTURE}.png)"
    )
    largest = max(runs, key=lambda run: run.files)
    what = f"peak memory of the server, {largest.files:,} files"
    peak = promise(what, peak_mb(largest), goal=PEAK_MB, show=megabytes)
    return Section("Growth with files", text, (peak,), {PICTURE: panels(runs)})


def peak_mb(run: Grown) -> float:
    return run.peak_kib * 1024 / 1e6


def panels(runs: Sequence[Grown]) -> list[dict[str, object]]:
    """Time and memory over the number of files, which has the logarithmic axis."""
    times = [
        line("first scan", [(run.files, run.first_s) for run in runs]),
        line("nothing changed", [(run.files, run.unchanged_s) for run in runs]),
    ]
    memory = [
        line("peak of the server", [(run.files, peak_mb(run)) for run in runs]),
        line("goal", [(run.files, PEAK_MB) for run in runs], dotted=True),
    ]
    return [panel("files", "seconds", times, log="x"), panel("files", "MB", memory, log="x")]


if __name__ == "__main__":
    chosen = tuple(int(word.replace("_", "")) for word in sys.argv[1:]) or SIZES
    print(section(chosen, lambda line: print(line, file=sys.stderr)).markdown())
