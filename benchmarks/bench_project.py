"""A whole project, context packs, verification in batches, and a long session, over MCP.

``python3 -m benchmarks.bench_project [EDITS]`` prints Markdown.
"""

import sys
import time
from collections.abc import Callable
from typing import Any

from benchmarks.measuring import (
    Place,
    PlainTools,
    descendants_of,
    median,
    place,
    renew_data,
    resident_kib,
    seconds,
    table,
)
from tests.support import PACKAGE, McpClient, mcp_client

BATCH = 20
Say = Callable[[str], None]


def scan_whole(client: McpClient) -> tuple[float, int, dict[str, Any]]:
    """Seconds and calls until no file is left for a next call; a long scan goes on where it stopped."""
    took, calls = 0.0, 0
    answer: dict[str, Any] = {}
    while calls < 20:
        took += seconds(lambda: answer.update(client.call("scan_project")))
        calls += 1
        if not any(row["reason"] == "time_budget" for row in answer["evidence"]):
            break
    return took, calls, answer


def project_section(here: Place, say: Say) -> str:
    files = sum(path.is_file() for path in here.project.rglob("*"))
    theirs = PlainTools(here).on_project()
    say(f"plain {theirs}")
    plain = sum(theirs.values())
    renew_data(here)
    with mcp_client(PACKAGE, here.project, here.data) as client:
        cold, calls, answer = scan_whole(client)
        say(f"cold {cold} in {calls} calls")
        again, _, _ = scan_whole(client)
        (here.project / "shop" / "app.py").open("a").write("\n# edited\n")
        edited, _, _ = scan_whole(client)
    with mcp_client(PACKAGE, here.project, here.data) as client:
        unchanged, _, _ = scan_whole(client)
    rows = [
        ["the four command lines, one after another", f"{plain:.2f}", "1", "–"],
        [f"scan_project, nothing known ({calls} calls)", f"{cold:.2f}", f"{cold / plain:.2f}", "≤ 0.5"],
        ["scan_project, nothing changed", f"{again:.2f}", f"{again / plain:.3f}", "≤ 0.05"],
        ["scan_project, nothing changed, new server", f"{unchanged:.2f}", f"{unchanged / plain:.3f}", "≤ 0.05"],
        ["scan_project, one file edited", f"{edited:.2f}", f"{edited / plain:.3f}", "–"],
    ]
    each = ", ".join(f"{name} {took:.1f} s" for name, took in theirs.items())
    return (
        f"{files} files: the example project, four Python packages from the registry, generated Terraform modules,\n"
        f"Dockerfiles, manifests and scripts; {answer['total_available']} findings. The command lines: {each}.\n\n"
        + table(["what", "s", "ratio", "goal"], rows)
    )


def batch_section(here: Place, say: Say) -> str:
    """Packs and verifications of twenty files, each with a finding that is mended."""
    for number in range(BATCH):
        (here.project / "shop" / f"page{number}.py").write_text(f"def page{number}(x):\n    return eval(x)\n")
    with mcp_client(PACKAGE, here.project, here.data) as client:
        ids = []
        for number in range(BATCH):
            found = client.call("scan_file", path=f"shop/page{number}.py")["findings"]
            ids.append(next(item["logical_id"] for item in found if item["scanner"] == "semgrep"))
        singles = [seconds(lambda i=i: client.call("get_fix_context", finding_id=i)) for i in ids]  # type: ignore[misc]
        batches = [seconds(lambda: client.call("get_fix_context_batch", finding_ids=ids)) for _ in range(7)]
        for number in range(BATCH):
            (here.project / "shop" / f"page{number}.py").write_text(f"def page{number}(x):\n    return int(x)\n")
        answer: dict[str, Any] = {}
        attempts = [{"finding_id": finding_id, "status": "fixed"} for finding_id in ids]
        verified = seconds(lambda: answer.update(client.call("verify_fix_batch", attempts=attempts)))
        say(f"verified {answer['summary']}")
        sql = "SELECT severity, count(*) FROM v_findings GROUP BY severity"
        queries = [seconds(lambda: client.call("query_findings_db", sql=sql)) for _ in range(7)]
    if answer["summary"]["fixed"] != BATCH:
        raise AssertionError(f"not all were verified: {answer['summary']}")
    rows = [
        ["get_fix_context", f"{median(singles) * 1000:.0f} ms", "< 500 ms, goal < 20 ms"],
        ["get_fix_context_batch of 20", f"{median(batches) * 1000:.0f} ms", "< 5 s, goal < 200 ms"],
        ["verify_fix_batch, 20 files", f"{verified:.2f} s", "< 30 s, goal < 5 s"],
        ["query_findings_db, GROUP BY", f"{median(queries) * 1000:.0f} ms", "goal < 50 ms"],
    ]
    return table(["what", "median", "bound"], rows)


def session_section(here: Place, edits: int, say: Say) -> str:
    """Many edits and scans in a row: does anything grow, is anything left?"""
    paths = ["shop/app.py", "web/cart.js", "infra/main.tf", "Dockerfile", "requirements.txt"]
    texts = {path: (here.project / path).read_text("utf-8") for path in paths}
    comments = dict(zip(paths, ("#", "//", "#", "#", "#"), strict=True))
    samples: list[tuple[int, int, int, int, float]] = []
    took: list[float] = []
    with mcp_client(PACKAGE, here.project, here.data) as client:
        server = client.process.pid
        for number in range(1, edits + 1):
            path = paths[number % len(paths)]
            (here.project / path).write_text(f"{comments[path]} edit {number}\n{texts[path]}")
            took.append(seconds(lambda path=path: client.call("scan_file", path=path)))  # type: ignore[misc]
            if number % max(1, edits // 5) == 0:
                time.sleep(2)  # workers that were just used are replaced in the background
                below = descendants_of(server)
                workers = sum(resident_kib(pid) for pid in below)
                samples.append((number, resident_kib(server), workers, len(below), median(took[-20:])))
                say(f"{samples[-1]}")
        below = descendants_of(server)
        client.end()
    time.sleep(0.5)
    left = [pid for pid in below if resident_kib(pid)]
    rows = [
        [str(number), f"{own / 1024:.0f}", f"{workers / 1024:.0f}", str(count), f"{last * 1000:.0f}"]
        for number, own, workers, count, last in samples
    ]
    head = ["edits so far", "server, MiB", "workers, MiB", "processes", "median scan, ms"]
    end = f"After the end of the server {len(left)} of its processes were left."
    return f"Proportional set sizes.\n\n{table(head, rows)}\n\n{end}"


def report(edits: int, say: Say = lambda _: None) -> str:
    with place("large") as here:
        whole = project_section(here, say)
    with place() as here:
        batches = batch_section(here, say)
    with place() as here:
        session = session_section(here, edits, say)
    return (
        f"## A whole project\n\n{whole}\n\n## Packs, verification, queries\n\n{batches}\n\n"
        f"## {edits} edits and scans in a row\n\n{session}"
    )


if __name__ == "__main__":
    print(report(int(sys.argv[1]) if len(sys.argv) > 1 else 100, lambda line: print(line, file=sys.stderr)))
