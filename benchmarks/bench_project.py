"""A whole project beside the four command lines, context packs, and verification in batches, over MCP.

``python3 -m benchmarks.bench_project [ROUNDS]`` prints Markdown.
"""

import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.figures import Section, promise, ratio
from benchmarks.measuring import Place, PlainTools, median, place, renew_data, seconds, table
from tests.support import PACKAGE, McpClient, mcp_client

BATCH = 20
GOAL_COLD, GOAL_UNCHANGED = 0.5, 0.05
LIMIT_S = 240.0
"""A scan of a project that is not finished after so long is given up, and the page says so."""
Say = Callable[[str], None]
Whole = dict[str, float]


def scan_whole(client: McpClient, limit_s: float = LIMIT_S) -> tuple[float, str, dict[str, Any]]:
    """Seconds and calls until no file is left for a next call, and the last answer: a long scan goes on where it
    stopped. The calls are text, which says so where the scan was given up, unfinished."""
    took, calls = 0.0, 0
    answer: dict[str, Any] = {}
    while took < limit_s:
        took += seconds(lambda: answer.update(client.call("scan_project")))
        calls += 1
        if not any(row["reason"] == "time_budget" for row in answer["evidence"]):
            return took, str(calls), answer
    return took, f"{calls}, unfinished", answer


def ours(here: Place, number: int) -> tuple[Whole, str, dict[str, Any]]:
    """Seconds of each kind of scan, from an empty data directory on; the calls and the answer of the first."""
    renew_data(here)
    with mcp_client(PACKAGE, here.project, here.data) as client:
        cold, calls, answer = scan_whole(client)
        again, _, _ = scan_whole(client)
        (here.project / "shop" / "app.py").open("a").write(f"\n# edited {number}\n")
        edited, _, _ = scan_whole(client)
    began = time.perf_counter()
    with mcp_client(PACKAGE, here.project, here.data) as client:
        scan_whole(client)
        restarted = time.perf_counter() - began
    return {"cold": cold, "again": again, "edited": edited, "restarted": restarted}, calls, answer


def whole_project(here: Place, rounds: int, say: Say) -> Section:
    """Both sides in every round, each first in turn."""
    files = sum(path.is_file() for path in here.project.rglob("*"))
    plain = PlainTools(here)
    theirs: list[dict[str, float]] = []
    mine: list[Whole] = []
    calls = ""
    answer: dict[str, Any] = {}
    for number in range(rounds):
        if number % 2 == 0:
            theirs.append(plain.on_project())
        took, calls, answer = ours(here, number)
        mine.append(took)
        if number % 2:
            theirs.append(plain.on_project())
        say(f"plain {theirs[-1]}, ours {took} in {calls} calls")
    base = median([sum(each.values()) for each in theirs])
    middle = {kind: median([each[kind] for each in mine]) for kind in mine[0]}
    labels = {
        "cold": (f"scan_project, nothing known ({calls} calls)", "≤ 0.5"),
        "again": ("scan_project, nothing changed", "≤ 0.05"),
        "restarted": ("scan_project, nothing changed, new server and its start", "≤ 0.05"),
        "edited": ("scan_project, one file edited", "–"),
    }
    rows = [["the four command lines, one after another", f"{base:.2f}", "1", "–"]]
    rows += [
        [label, f"{middle[kind]:.2f}", f"{middle[kind] / base:.3f}", goal] for kind, (label, goal) in labels.items()
    ]
    each = ", ".join(f"{name} {median([took[name] for took in theirs]):.1f} s" for name in theirs[0])
    text = (
        f"{files} files: the example project, four Python packages from the registry, generated Terraform modules,\n"
        f"Dockerfiles, manifests and scripts; {answer['total_available']} findings. Medians of {rounds} rounds, each\n"
        f"with an empty data directory. The command lines: {each}.\n\n"
    )
    start = "`scan_project` ÷ the four command lines, nothing"
    goals = {"known": ("cold", GOAL_COLD), "changed": ("again", GOAL_UNCHANGED)}
    goals["changed, new server"] = ("restarted", GOAL_UNCHANGED)
    return Section(
        "A whole project",
        text + table(["what", "s", "ratio", "goal"], rows),
        tuple(
            promise(f"{start} {what}", middle[kind] / base, goal=goal, show=ratio, sign="≤")
            for what, (kind, goal) in goals.items()
        ),
    )


def batch_round(here: Place, client: McpClient, number: int) -> tuple[list[float], float, float]:
    """Seconds of each single pack, of a batch of packs, of a verification of as many files that were mended."""
    pages = [here.project / "shop" / f"page{index}.py" for index in range(BATCH)]
    ids = []
    for index, page in enumerate(pages):
        page.write_text(f"def page{index}_{number}(x):\n    return eval(x)\n")
        found = client.call("scan_file", path=f"shop/{page.name}")["findings"]
        ids.append(next(item["logical_id"] for item in found if item["scanner"] == "semgrep"))
    singles = [seconds(partial(client.call, "get_fix_context", finding_id=i)) for i in ids]
    batch = seconds(lambda: client.call("get_fix_context_batch", finding_ids=ids))
    for index, page in enumerate(pages):
        page.write_text(f"def page{index}_{number}(x):\n    return int(x)\n")
    answer: dict[str, Any] = {}
    attempts = [{"finding_id": finding_id, "status": "fixed"} for finding_id in ids]
    verified = seconds(lambda: answer.update(client.call("verify_fix_batch", attempts=attempts)))
    if answer["summary"]["fixed"] != BATCH:
        raise AssertionError(f"not all were verified: {answer['summary']}")
    return singles, batch, verified


def batches(here: Place, rounds: int, say: Say) -> Section:
    with mcp_client(PACKAGE, here.project, here.data) as client:
        took = [batch_round(here, client, number) for number in range(rounds)]
    say(f"batches {[each[1:] for each in took]}")
    promises = (
        promise("`get_fix_context`", median([one for each in took for one in each[0]]), bound=0.5, goal=0.02),
        promise("`get_fix_context_batch` of 20", median([each[1] for each in took]), bound=5, goal=0.2),
        promise("`verify_fix_batch`, 20 files", median([each[2] for each in took]), bound=30, goal=5),
    )
    rows = [[item.what, item.measured, item.bound] for item in promises]
    note = f"Medians of {rounds} rounds: 20 files with a finding each, then mended; all are verified as fixed."
    return Section("Packs and verification", f"{note}\n\n{table(['what', 'median', 'bound'], rows)}", promises)


def sections(rounds: int, say: Say = lambda _: None) -> list[Section]:
    with place("large") as here:
        whole = whole_project(here, rounds, say)
    with place() as here:
        return [whole, batches(here, rounds, say)]


if __name__ == "__main__":
    done = sections(int(sys.argv[1]) if len(sys.argv) > 1 else 3, lambda line: print(line, file=sys.stderr))
    print("\n\n".join(section.markdown() for section in done))
