"""``python3 -m benchmarks.write_performance [ROUNDS]`` runs the comparisons and writes docs/performance.md."""

import importlib.util
import sys

from benchmarks import bench_growth, bench_project, bench_scan_file
from benchmarks.measuring import surroundings
from tests.support import ROOT

TARGET = ROOT / "docs" / "performance.md"
PICTURE = ROOT / "docs" / "growth.png"
HEAD = """# Performance

Written by `python3 -m benchmarks.write_performance`; do not edit. Ratios within one run are what counts: single
times vary with the machine and with what else it does.

"""


def main(rounds: int) -> None:
    def say(line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    text = f"{HEAD}{surroundings()}\n\n## One file after an edit\n\n{bench_scan_file.report(rounds, say)}\n\n"
    text += bench_project.report(100, say)
    picture = PICTURE if importlib.util.find_spec("matplotlib") else None
    text += f"\n\n## Growth\n\n{bench_growth.report(picture=picture)}\n\n![Time and memory]({PICTURE.name})\n"
    TARGET.write_text(text.rstrip("\n") + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
