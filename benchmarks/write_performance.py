"""``python3 -m benchmarks.write_performance [ROUNDS]`` runs the comparisons and writes docs/performance.md.

The pictures need matplotlib: in this Python, in the one that PLOT_PYTHON names, or it is fetched into a temporary
environment. What cannot be measured or drawn is named on the page, and the exit status is then 1.
"""

import os
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks import (
    bench_findings,
    bench_growth,
    bench_project,
    bench_scan_file,
    bench_semgrep_server,
    bench_session,
)
from benchmarks.curves import draw_all
from benchmarks.figures import Section, summary
from benchmarks.measuring import surroundings
from tests.support import ROOT

DOCS = ROOT / "docs"
EDITS = 100
HEAD = """# Performance

Written by `python3 -m benchmarks.write_performance`; do not edit. Ratios within one run are what counts: single
times vary with the machine and with what else it does.
"""
Say = Callable[[str], None]
Part = tuple[str, Callable[[], Sequence[Section]]]


def parts(rounds: int, say: Say) -> list[Part]:
    """The benchmarks in the order of the page; those that take long do fewer rounds."""
    few = min(rounds, 3)
    return [
        ("One file after an edit", lambda: [bench_scan_file.section(rounds, say)]),
        ("Beside semgrep's own MCP server", lambda: [bench_semgrep_server.section(rounds, say)]),
        ("A whole project, packs and verification", lambda: bench_project.sections(few, say)),
        (f"{EDITS} edits and scans in a row", lambda: [bench_session.section(EDITS, say)]),
        ("Growth with files", lambda: [bench_growth.section(say=say)]),
        ("Growth with findings", lambda: [bench_findings.section(say=say)]),
    ]


def measured(part: Part, say: Say) -> list[Section]:
    """Its sections; one that says why, where it broke: the others are still worth having."""
    title, run = part
    began = time.monotonic()
    try:
        return list(run())
    except Exception as error:
        traceback.print_exc()
        return [Section(title, f"Not measured: {type(error).__name__}: {str(error)[:300]}")]
    finally:
        say(f"== {title}: {time.monotonic() - began:.0f} s")


def page(sections: Sequence[Section], machine: str) -> str:
    promises = [item for section in sections for item in section.promises]
    bodies = "\n\n".join(section.markdown() for section in sections)
    return f"{HEAD}\n{machine}\n\n## Bounds\n\n{summary(promises)}\n\n{bodies}\n"


def write(sections: Sequence[Section], machine: str, docs: Path) -> bool:
    """The page and its pictures; whether everything was measured and drawn."""
    curves = {name: panels for section in sections for name, panels in section.curves.items()}
    text = page(sections, machine)
    if why := draw_all(curves, docs) if curves else "":
        for name in curves:
            (docs / f"{name}.png").unlink(missing_ok=True)  # an older one would belie the figures beside it
        text = "\n".join(
            f"(The picture was not drawn: {why}.)" if line.startswith("![") else line for line in text.split("\n")
        )
    (docs / "performance.md").write_text(text, encoding="utf-8")
    return not why and all(section.promises or "Not measured" not in section.text for section in sections)


def main(rounds: int) -> int:
    def say(line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    machine, began = surroundings(), time.monotonic()
    sections = [section for part in parts(rounds, say) for section in measured(part, say)]
    minutes = (time.monotonic() - began) / 60
    machine += f"; load average at the end, after {minutes:.0f} minutes of this work, {os.getloadavg()[0]:.1f}."
    return 0 if write(sections, machine, DOCS) else 1


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 7))
