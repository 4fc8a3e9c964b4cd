"""A long session: many edits and scans in a row, with the memory of the server and of its workers.

``python3 -m benchmarks.bench_session [EDITS]`` prints Markdown.
"""

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.bench_scan_file import FILES, Edited, Say
from benchmarks.curves import line, panel
from benchmarks.figures import Promise, Section
from benchmarks.measuring import Place, median, place, table
from benchmarks.processes import await_rest, descendants_of, resident_kib
from tests.support import PACKAGE, mcp_client

PICTURE = "session"
STEP = 5
FLAT = 1.1
"""How much more than after the first fifth of the session the end may hold and be called flat."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A session after some edits. Memory in MiB, proportional set sizes, at rest; ``scan_s``: median since the last."""

    edits: int
    server: float
    workers: float
    processes: int
    scan_s: float


def run(here: Place, edits: int, say: Say) -> tuple[list[Sample], int]:
    """A sample after every few edits, and how many processes were left when the server had ended."""
    files = [Edited(here, path, comment) for path, comment in FILES.values()]
    samples: list[Sample] = []
    took: list[float] = []
    with mcp_client(PACKAGE, here.project, here.data) as client:
        server = client.process.pid
        for number in range(1, edits + 1):
            took.append(files[number % len(files)].scan(client))
            if number % STEP == 0 or number == edits:
                await_rest(server)  # workers that were just used are replaced in the background
                below = descendants_of(server)
                workers = sum(resident_kib(pid) for pid in below) / 1024
                own = resident_kib(server) / 1024
                samples.append(Sample(number, own, workers, len(below), median(took[-STEP:])))
        below = descendants_of(server)
        client.end()
    time.sleep(0.5)
    left = [pid for pid in below if Path(f"/proc/{pid}/exe").exists()]
    say(f"session {samples[-1]}, left {left}")
    return samples, len(left)


def judged(samples: Sequence[Sample], left: int) -> tuple[Promise, ...]:
    """Flat: the end holds at most a tenth more than after the first fifth of the session, where all workers live."""
    early = next(item for item in samples if item.edits >= samples[-1].edits / 5)
    last = samples[-1]
    rows = []
    for name, before, after in (
        ("the server", early.server, last.server),
        ("the workers", early.workers, last.workers),
    ):
        holds = "yes" if after <= before * FLAT else "NO"
        rows.append(
            Promise(
                f"memory of {name} after {last.edits} edits",
                f"≤ {FLAT}× that after {early.edits}",
                f"{after:.0f} MiB, {after / before if before else 1:.2f}×",
                holds,
            )
        )
    rows.append(Promise("processes left after the end of the server", "0", str(left), "yes" if not left else "NO"))
    return tuple(rows)


def section(edits: int, say: Say = lambda _: None) -> Section:
    with place() as here:
        samples, left = run(here, edits, say)
    shown = [item for item in samples if item.edits % max(1, edits // 5) == 0]
    rows = [
        [str(item.edits), f"{item.server:.0f}", f"{item.workers:.0f}", str(item.processes), f"{item.scan_s * 1000:.0f}"]
        for item in shown
    ]
    head = ["edits so far", "server, MiB", "workers, MiB", "processes", "median scan, ms"]
    text = (
        "Proportional set sizes, when the server is at rest; the edits go round the five kinds of file.\n\n"
        f"{table(head, rows)}\n\nAfter the end of the server {left} of its processes were left.\n\n"
        f"![Memory and processes over the edits]({PICTURE}.png)"
    )
    memory = panel(
        "edits and scans",
        "MiB",
        [
            line("workers", [(item.edits, item.workers) for item in samples]),
            line("server itself", [(item.edits, item.server) for item in samples]),
        ],
    )
    count = [line("processes below the server", [(item.edits, item.processes) for item in samples])]
    times = [line("scan, median of five", [(item.edits, item.scan_s * 1000) for item in samples])]
    panels = [memory, panel("edits and scans", "processes", count), panel("edits and scans", "ms", times)]
    return Section(f"{edits} edits and scans in a row", text, judged(samples, left), {PICTURE: panels})


if __name__ == "__main__":
    done = section(int(sys.argv[1]) if len(sys.argv) > 1 else 100, lambda line: print(line, file=sys.stderr))
    print(done.markdown())
