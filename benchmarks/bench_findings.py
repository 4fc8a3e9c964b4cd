"""How time and memory grow with the number of findings: scanning, recording, queries, packs, exports.

``python3 -m benchmarks.bench_findings [FINDINGS …]`` prints Markdown; by default for 1,000 to 100,000 findings. Scans
are measured on generated files, the whole way: report, redaction, identity, store. One project's scans do not take
100,000 findings (they cut beyond a limit), so what is done with those in the store is measured on made-up findings.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from appsecgate.workspace import Workspace
from benchmarks.bench_project import Say, scan_whole
from benchmarks.curves import line, panel
from benchmarks.figures import Promise, Section, promise
from benchmarks.measuring import Place, median, place, seconds, table
from benchmarks.processes import await_rest, forget_peak, resident_kib
from tests.support import PACKAGE, ROOT, McpClient, ToolError, clean_environment, mcp_client

PICTURE = "growth_findings"
SIZES = (1000, 10_000, 100_000)
MOST_SCANNED = 30_000
"""A larger size is scanned with so many findings: beyond 50,000 in a project, scans keep few of their hits."""
PER_FILE = 50
ROUNDS = 7
FLAW = "def handler_{file}_{number}(request):\n    return eval(request.field_{number})\n\n\n"
FIRST, UNCHANGED = "scan_project, first: found and recorded", "scan_project, nothing changed"
SARIF = "command line: scan with nothing changed, as SARIF"
SCANNING = (FIRST, UNCHANGED, SARIF)
RECORD = "making up and recording, in portions of 20,000 (a process of its own)"
GROUP_FIRST, GROUP_AGAIN = "query_findings_db, GROUP BY, first after a scan", "query_findings_db, GROUP BY, again"
PAGE, PACK = "query_findings_db, the 50 worst", "get_fix_context"
NDJSON, PARQUET = "export_snapshot, NDJSON", "export_snapshot, Parquet"
KEEPING = (RECORD, GROUP_FIRST, GROUP_AGAIN, PAGE, PACK, NDJSON, PARQUET)
RECORDING = """
import resource, sys, time
from pathlib import Path
from benchmarks.bench_ledger import filled_store
began = time.perf_counter()
filled_store(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]).close()
print(time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6)
"""
GROUP = "SELECT severity, count(*) AS n{number} FROM v_findings GROUP BY severity"
WORST = (
    "SELECT logical_id, severity, rule_id, file_path, line_start, status FROM v_findings"
    " WHERE status IN ('open', 'shown')"
    " ORDER BY CASE severity WHEN 'critical' THEN 0 WHEN 'high' THEN 1 ELSE 2 END, file_path, line_start"
    " LIMIT 50 OFFSET {number}"
)
SOME = "SELECT logical_id, file_path FROM v_findings ORDER BY logical_id LIMIT 7"
ENDLESS = "SELECT count(*) FROM v_findings a, v_findings b, v_findings c, v_findings d, v_findings e"
STOP_S, GROUP_S, PACK_S, PACK_GOAL_S = 5.0, 0.05, 0.5, 0.02
Cost = tuple[float, float]
"""Seconds, and the peak of the process in MB."""


def grow(project: Path, findings: int) -> None:
    """Files with fifty findings each."""
    for file in range(findings // PER_FILE):
        folder = project / f"part{file // 100}"
        folder.mkdir(exist_ok=True)
        text = "".join(FLAW.format(file=file, number=number) for number in range(PER_FILE))
        (folder / f"module{file}.py").write_text(text)


class Costs:
    """What each operation on a server costs, in the order in which they are asked for."""

    def __init__(self, client: McpClient) -> None:
        self._client = client
        self.of: dict[str, Cost] = {}

    def take(self, name: str, works: Sequence[Callable[[], object]]) -> None:
        """The median time; the peak over all of them."""
        pid = self._client.process.pid
        forget_peak(pid)
        took = median([seconds(work) for work in works])
        self.of[name] = (took, resident_kib(pid, "VmHWM") * 1024 / 1e6)

    def query(self, sql: str) -> list[Callable[[], object]]:
        """Queries that differ, so that none is answered with an earlier result."""
        return [partial(self._client.call, "query_findings_db", sql=sql.format(number=k)) for k in range(ROUNDS)]


def scanning(here: Place) -> tuple[dict[str, Cost], int, str]:
    """What scans cost on this project, how many findings there are, and in how many calls the first found them."""
    whole: list[tuple[float, str, dict[str, Any]]] = []
    with mcp_client(PACKAGE, here.project, here.data) as client:
        costs = Costs(client)
        costs.take(FIRST, [lambda: whole.append(scan_whole(client))])
        await_rest(client.process.pid)
        costs.take(UNCHANGED, [lambda: scan_whole(client)])
    costs.of[SARIF] = sarif(here)
    _, calls, answer = whole[0]
    return costs.of, int(answer["total_available"]), calls


def record(here: Place, findings: int) -> Cost:
    """Write made-up findings of the project into the store, by a process of its own, with its own peak."""
    project_id = Workspace.open(here.project, key=None).project_id
    done = subprocess.run(
        [sys.executable, "-c", RECORDING, str(here.data), str(findings), project_id, str(here.project)],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    took, peak_mb = (float(word) for word in done.stdout.split())
    return took, peak_mb


def keeping(here: Place, findings: int) -> dict[str, Cost]:
    """What a server costs that has so many findings in its store."""
    recorded = record(here, findings)
    with mcp_client(PACKAGE, here.project, here.data) as client:
        await_rest(client.process.pid)
        costs = Costs(client)
        costs.of[RECORD] = recorded
        first, *more = costs.query(GROUP)
        costs.take(GROUP_FIRST, [first])
        costs.take(GROUP_AGAIN, more)
        costs.take(PAGE, costs.query(WORST))
        ids = []
        for logical_id, path in client.call("query_findings_db", sql=SOME)["rows"]:
            (here.project / path).parent.mkdir(parents=True, exist_ok=True)
            (here.project / path).write_text("sink(value)\n" * 1000)
            ids.append(logical_id)
        costs.take(PACK, [partial(client.call, "get_fix_context", finding_id=i) for i in ids])
        for name, form in ((NDJSON, "ndjson"), (PARQUET, "parquet")):
            costs.take(name, [partial(client.call, "export_snapshot", path=form, format=form)])
    return costs.of


def sarif(here: Place) -> Cost:
    """A process of its own, with its own peak."""
    began = time.perf_counter()
    child = subprocess.Popen(
        [*PACKAGE, "--project", str(here.project), "scan", "--format", "sarif"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=here.data,
        env=clean_environment(here.data),
    )
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 3):
        raise AssertionError(f"the scan ended with {child.returncode}")
    return time.perf_counter() - began, usage.ru_maxrss * 1024 / 1e6


def stopped_after(here: Place) -> float:
    """Seconds until a query without end was stopped."""
    with mcp_client(PACKAGE, here.project, here.data) as client:
        began = time.perf_counter()
        try:
            client.call("query_findings_db", sql=ENDLESS)
        except ToolError as error:
            if "timeout" in str(error):
                return time.perf_counter() - began
            raise
    raise AssertionError("a query without end was answered")


def promises(costs: Mapping[str, Cost], findings: int, stop_s: float | None) -> tuple[Promise, ...]:
    of = f"{findings:,} findings"
    rows = [
        promise(f"`query_findings_db`, GROUP BY over {of}", costs[GROUP_AGAIN][0], goal=GROUP_S),
        promise(f"`query_findings_db`, GROUP BY over {of}, first after a scan", costs[GROUP_FIRST][0], goal=GROUP_S),
        promise(f"`get_fix_context` among {of}", costs[PACK][0], bound=PACK_S, goal=PACK_GOAL_S),
    ]
    if stop_s is not None:
        rows.append(promise("`query_findings_db`, hard stop of a query without end", stop_s, bound=STOP_S))
    return tuple(rows)


def section(sizes: Sequence[int] = SIZES, say: Say = lambda _: None) -> Section:
    scanned: dict[int, dict[str, Cost]] = {}
    kept: dict[int, dict[str, Cost]] = {}
    calls: list[str] = []
    stop_s = None
    for size in sorted({min(size, MOST_SCANNED) for size in sizes}):
        with place() as here:
            grow(here.project, size)
            scanned[size], _, said = scanning(here)
        calls.append(said)
        say(f"scanned {size} in {said} calls: {scanned[size]}")
    for size in sizes:
        with place() as here:
            kept[size] = keeping(here, size)
            if size == sizes[-1]:
                stop_s = stopped_after(here)
        say(f"kept {size}: {kept[size]}")
    text = (
        f"Scans of generated files with {PER_FILE} findings each, one run; calls of the first: {', '.join(calls)}.\n"
        f"One project's scans do not take {SIZES[-1]:,}: beyond a limit they cut, and say so. The peak is that of the\n"
        "server's process during the operation, with what it still holds from earlier ones.\n\n"
        f"{costs_table(SCANNING, scanned)}\n\n"
        f"With so many made-up findings in the store. Queries and packs: medians of {ROUNDS}, no two alike.\n\n"
        f"{costs_table(KEEPING, kept)}\n\n"
        f"![Time and memory over the number of findings]({PICTURE}.png)"
    )
    return Section(
        "Growth with findings", text, promises(kept[sizes[-1]], sizes[-1], stop_s), {PICTURE: panels(scanned, kept)}
    )


def costs_table(names: Sequence[str], costs: Mapping[int, Mapping[str, Cost]]) -> str:
    head = ["what", *(f"{size:,}: {unit}" for size in costs for unit in ("ms", "peak, MB"))]
    return table(head, [[name, *(cell for size in costs for cell in cells(costs[size][name]))] for name in names])


def cells(cost: Cost) -> tuple[str, str]:
    took, peak = cost
    return f"{took * 1000:,.0f}", f"{peak:.0f}"


def panels(*measured: Mapping[int, Mapping[str, Cost]]) -> list[dict[str, object]]:
    both = [
        [
            line(name, [(size, cost[name][which]) for size, cost in costs.items()])
            for costs in measured
            for name in next(iter(costs.values()))
        ]
        for which in (0, 1)
    ]
    return [panel("findings", "seconds", both[0], log="xy"), panel("findings", "peak, MB", both[1], log="x")]


if __name__ == "__main__":
    chosen = tuple(int(word.replace("_", "")) for word in sys.argv[1:]) or SIZES
    print(section(chosen, lambda line: print(line, file=sys.stderr)).markdown())
