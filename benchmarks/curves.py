"""Draws the pictures of docs/performance.md from plain data; any Python that has matplotlib can run this file.

``python3 benchmarks/curves.py DATA.json DIRECTORY``. DATA: picture name → panels; a panel has a title, axis labels,
whether each axis is logarithmic, and lines (label → [x, y] pairs).
"""

import importlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

FEW = 4
"""So many lines find room for their names in the panel; more have them below the picture, once for all panels."""


def line(label: str, points: list[tuple[float, float]], *, dotted: bool = False) -> dict[str, object]:
    return {"label": label, "points": points, "dotted": dotted}


def panel(xlabel: str, ylabel: str, lines: list[dict[str, object]], *, log: str = "") -> dict[str, object]:
    """``log``: which axes are logarithmic, "x", "xy" or none."""
    return {"xlabel": xlabel, "ylabel": ylabel, "lines": lines, "log": log}


def draw(panels: list[dict[str, Any]], picture: Path) -> None:
    importlib.import_module("matplotlib").use("Agg")
    plots: Any = importlib.import_module("matplotlib.pyplot")
    shared = any(len(wanted["lines"]) > FEW for wanted in panels)
    figure, boxes = plots.subplots(1, len(panels), figsize=(4.6 * len(panels), 3.8 + shared), squeeze=False)
    for axes, wanted in zip(boxes[0], panels, strict=True):
        for each in wanted["lines"]:
            style: dict[str, object] = {"linestyle": ":"} if each["dotted"] else {"marker": "o", "markersize": 3}
            axes.plot([x for x, _ in each["points"]], [y for _, y in each["points"]], label=each["label"], **style)
        axes.set(xlabel=wanted["xlabel"], ylabel=wanted["ylabel"])
        if "x" in wanted["log"]:
            axes.set_xscale("log")
        if "y" in wanted["log"]:
            axes.set_yscale("log")
        else:
            axes.set_ylim(0, None)
        if not shared:
            axes.legend(fontsize=7)
        axes.grid(alpha=0.3)
    figure.tight_layout(rect=(0, 0.2 if shared else 0, 1, 1))
    if shared:
        figure.legend(*boxes[0][0].get_legend_handles_labels(), loc="lower center", ncol=2, fontsize=7)
    figure.savefig(picture, dpi=110, metadata={"Software": None})
    plots.close(figure)


def pythons_with_matplotlib(scratch: Path) -> Iterator[str]:
    """This Python, the one that PLOT_PYTHON names, at last a fresh environment with matplotlib from the registry."""
    yield from (python for python in (sys.executable, os.environ.get("PLOT_PYTHON")) if python)
    made = scratch / "bin" / "python"
    for command in (
        [sys.executable, "-m", "venv", str(scratch)],
        [str(made), "-m", "pip", "install", "-qq", "--disable-pip-version-check", "matplotlib"],
    ):
        if subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=240, check=False).returncode:
            return
    yield str(made)


def draw_all(curves: Mapping[str, object], folder: Path) -> str:
    """Empty, or why there is no picture."""
    with tempfile.TemporaryDirectory(prefix="appsecgate-plots-") as name:
        data = Path(name) / "curves.json"
        data.write_text(json.dumps(curves))
        said = "no Python with matplotlib"
        for python in pythons_with_matplotlib(Path(name) / "venv"):
            command = [python, str(Path(__file__).resolve()), str(data), str(folder)]
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
            if done.returncode == 0:
                return ""
            said = (done.stderr.strip().splitlines() or [said])[-1]
        return said


if __name__ == "__main__":
    for title, wanted_panels in json.loads(Path(sys.argv[1]).read_text()).items():
        draw(wanted_panels, Path(sys.argv[2]) / f"{title}.png")
