"""What a benchmark hands to the page: text, the promises it measured, and the curves."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.measuring import table

Show = Callable[[float], str]


@dataclass(frozen=True, slots=True)
class Promise:
    """A row of the summary. ``holds``: "yes", "goal missed" (the bound is kept), "NO" or "not measured"."""

    what: str
    bound: str
    measured: str
    holds: str


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page. ``curves``: plain data for benchmarks/curves.py, by the name of the picture."""

    title: str
    text: str
    promises: tuple[Promise, ...] = ()
    curves: Mapping[str, object] = field(default_factory=dict)

    def markdown(self) -> str:
        return f"## {self.title}\n\n{self.text}"


def duration(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.2f}".rstrip("0").rstrip(".") + " s"


def ratio(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".") + "×"


def megabytes(value: float) -> str:
    return f"{value:.0f} MB"


def promise(
    what: str,
    value: float,
    *,
    bound: float = math.inf,
    goal: float = math.inf,
    show: Show = duration,
    sign: str = "<",
) -> Promise:
    """Compare a measured value with its upper limits. ``sign``: "<", or "≤" where a goal may be reached."""
    said = [f"< {show(bound)}"] if bound < math.inf else []
    said += [f"goal {sign} {show(goal)}"] if goal < math.inf else []
    met = value < goal or (sign == "≤" and value == goal)
    holds = "NO" if value >= bound else "yes" if met else "goal missed"
    return Promise(what, ", ".join(said), show(value), holds)


SPEED_TABLE = (
    *(
        f"`scan_file`, {kind}, {state} server"
        for kind in ("Python", "JavaScript", "Terraform", "Dockerfile", "requirements.txt")
        for state in ("cold", "warm")
    ),
    "`get_fix_context`",
    "`get_fix_context_batch` of 20",
    "`query_findings_db`, hard stop",
    "`query_findings_db`, GROUP BY",
    "`verify_fix_batch`, 20 files",
    "`scan_project` ÷ the four command lines, nothing known",
    "`scan_project` ÷ the four command lines, nothing changed",
    "server start to answered `initialize`",
    "peak memory of the server, 10,000 files",
)
"""How the rows begin that the summary must have: what the project promises of its speed."""


def summary(promises: Sequence[Promise]) -> str:
    """Every promise with what was measured; one that no benchmark measured is named as such."""
    rows: list[Promise] = []
    for start in SPEED_TABLE:
        found = [item for item in promises if item.what.startswith(start)]
        rows += found or [Promise(start, "–", "not measured", "not measured")]
    rows += [item for item in promises if item not in rows]
    rows = list(dict.fromkeys(rows))
    broken = sum(item.holds != "yes" for item in rows)
    head = ["what", "bound", "measured", "holds"]
    said = f"{broken} of {len(rows)} do not hold, or were not measured." if broken else "Every bound and goal holds."
    return f"{table(head, [[item.what, item.bound, item.measured, item.holds] for item in rows])}\n\n{said}"
