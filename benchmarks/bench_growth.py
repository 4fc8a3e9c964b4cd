"""How time and memory of scan_project grow with the number of files.

``python3 -m benchmarks.bench_growth [FILES …]`` prints Markdown; by default for 100, 1000 and 10000 files.
"""

import sys
from pathlib import Path

from benchmarks.bench_project import scan_whole
from benchmarks.measuring import place, resident_kib, seconds, table
from tests.support import PACKAGE, mcp_client

SIZES = (100, 1000, 10_000)
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


def report(sizes: tuple[int, ...] = SIZES) -> str:
    head = ["files", "findings", "first scan, s", "calls", "ms per file", "unchanged, s", "peak of the server, MiB"]
    return table(head, [row(files) for files in sizes]) + "\n\nGoal: a peak under 150 MiB for 10,000 files."


if __name__ == "__main__":
    print(report(tuple(map(int, sys.argv[1:])) or SIZES))
