"""How time and memory of scan_project grow with the number of files.

``python3 -m benchmarks.bench_growth [--plot PNG] [FILES …]`` prints Markdown; by default for 100 to 10,000
files. ``--plot`` draws the curves too, where matplotlib is installed.
"""

import argparse
import importlib
from pathlib import Path
from typing import Any

from benchmarks.bench_project import scan_whole
from benchmarks.measuring import place, resident_kib, seconds, table
from tests.support import PACKAGE, mcp_client

SIZES = (100, 300, 1000, 3000, 10_000)
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


def row(files: int) -> list[str]:
    with place() as here:
        grow(here.project, files)
        with mcp_client(PACKAGE, here.project, here.data) as client:
            cold, calls, answer = scan_whole(client)
            again = seconds(lambda: client.call("scan_project"))
            peak_kib = resident_kib(client.process.pid, "VmHWM")
    return [
        f"{files:,}", str(answer["total_available"]), f"{cold:.1f}", str(calls), f"{cold / files * 1000:.1f}",
        f"{again:.2f}", f"{peak_kib / 1024:.0f}",
    ]  # fmt: skip


def report(sizes: tuple[int, ...] = SIZES, picture: Path | None = None) -> str:
    head = ["files", "findings", "first scan, s", "calls", "ms per file", "unchanged, s", "peak of the server, MiB"]
    rows = [row(files) for files in sizes]
    if picture is not None:
        draw(sizes, rows, picture)
    return table(head, rows) + "\n\nGoal: a peak under 150 MiB for 10,000 files."


def draw(sizes: tuple[int, ...], rows: list[list[str]], picture: Path) -> None:
    """Time and memory over the number of files, which has the logarithmic axis."""
    importlib.import_module("matplotlib").use("Agg")
    plots: Any = importlib.import_module("matplotlib.pyplot")
    figure, (times, memory) = plots.subplots(1, 2, figsize=(9, 3.6))
    times.plot(sizes, [float(cells[2]) for cells in rows], marker="o", label="first scan")
    times.plot(sizes, [float(cells[5]) for cells in rows], marker="o", label="nothing changed")
    memory.plot(sizes, [float(cells[6]) for cells in rows], marker="o", label="peak of the server")
    memory.axhline(150, linestyle=":", label="goal")
    for axes, label in ((times, "seconds"), (memory, "MiB")):
        axes.set(xscale="log", xlabel="files in the project", ylabel=label, ylim=(0, None))
        axes.legend()
    figure.tight_layout()
    figure.savefig(picture, dpi=110)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", type=Path, metavar="PNG")
    parser.add_argument("files", nargs="*", type=int)
    given = parser.parse_args()
    print(report(tuple(given.files) or SIZES, given.plot))
