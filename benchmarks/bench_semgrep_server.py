"""scan_file beside semgrep's own MCP server, for a file, cold and warm.

``python3 -m benchmarks.bench_semgrep_server [ROUNDS]`` prints Markdown. See benchmarks/semgrep_server.py for what it
takes to run theirs without a network.
"""

import contextlib
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from benchmarks.bench_scan_file import FILES, Edited, Say, in_turns, scan_cold
from benchmarks.figures import Section
from benchmarks.measuring import Place, place, seconds, table
from benchmarks.processes import await_rest, descendants_of, resident_kib
from benchmarks.semgrep_server import NotMeasuredError, merged_rules, metadata_responder, semgrep_server
from tests.support import PACKAGE, McpClient, mcp_client

TITLE = "Beside semgrep's own MCP server"
LANGUAGES = {"Python": "python", "JavaScript": "javascript"}
ALONE = {"APPSECGATE_SCANNERS_ENABLED": "semgrep"}
WORK = """The same file, the same rules of ours, each scan of new content; medians of {rounds} rounds in which the sides
take turns. Cold: from the start of a server to its first answer; warm: a further call. Theirs is `semgrep mcp` of the
installed version, asked with `semgrep_scan` by a plain client; it reports as many findings as semgrep does for ours.

The work differs: theirs runs semgrep and returns its report; ours runs every scanner that applies (here semgrep and
detect-secrets), a known-bad sample with each, compares with what was known, redacts, and stores findings and evidence.
"Semgrep alone" is ours with the other scanners switched off. Without the paid engine theirs starts a semgrep process
for every call. To run without a network, theirs gets from a responder on loopback, at once, the OAuth metadata that it
would fetch from its vendor at its start; SEMGREP_RULES names the rule file in place of the registry's rules, and its
traces are off: each of the three saves theirs requests over the network."""


def memory_mib(pid: int) -> float:
    """A server and everything below it, when it has nothing to do."""
    await_rest(pid)
    return sum(resident_kib(each) for each in (pid, *descendants_of(pid))) / 1024


def count_of(edited: Edited, client: McpClient) -> int:
    """What ours finds with semgrep, as theirs counts: the report of the scanner."""
    edited.renew()
    evidence = client.call("scan_file", path=edited.path)["evidence"]
    return sum(int(row["findings"]) for row in evidence if row["scanner"] == "semgrep")


def one_file(here: Place, label: str, rounds: int, url: str, scratch: Path) -> list[list[str]]:
    """Rows of the table; NotMeasuredError where their server does not do its part."""
    edited = Edited(here, *FILES[label])
    rules = merged_rules(LANGUAGES[label], scratch)
    found = 0

    def their_cold() -> float:
        edited.renew()
        began = time.perf_counter()
        with semgrep_server(here.project, url, rules) as fresh:
            fresh.scan(edited.path)
            return time.perf_counter() - began

    with contextlib.ExitStack() as stack:
        theirs = stack.enter_context(semgrep_server(here.project, url, rules))
        ours = stack.enter_context(mcp_client(PACKAGE, here.project, here.data))
        alone = stack.enter_context(mcp_client(PACKAGE, here.project, here.data, **ALONE))
        for _ in range(2):
            edited.scan(ours)
            edited.scan(alone)
            found = theirs.scan(edited.path)
        if found != (own := count_of(edited, alone)):
            raise NotMeasuredError(f"their server reports {found} findings, ours {own} with the same rules")

        def their_warm() -> float:
            edited.renew()
            return seconds(lambda: theirs.scan(edited.path))

        def rest() -> None:
            await_rest(ours.process.pid)
            await_rest(alone.process.pid, window_s=0.1)

        took = in_turns(
            {
                "cold theirs": their_cold,
                "cold ours": lambda: scan_cold(here, edited),
                "cold alone": lambda: scan_cold(here, edited, **ALONE),
                "warm theirs": their_warm,
                "warm ours": lambda: edited.scan(ours),
                "warm alone": lambda: edited.scan(alone),
            },
            rounds,
            rest,
        )
        clients = {"theirs": theirs.process.pid, "ours": ours.process.pid, "alone": alone.process.pid}
        memory = {side: memory_mib(pid) for side, pid in clients.items()}
    edited.restore()
    return [
        side_row(label, name, side, took, memory)
        for name, side in (("semgrep's MCP server", "theirs"), ("ours", "ours"), ("ours, semgrep alone", "alone"))
    ]


def side_row(
    label: str, name: str, side: str, took: Mapping[str, float], memory: Mapping[str, float]
) -> list[str]:
    cold, warm = took[f"cold {side}"], took[f"warm {side}"]
    ratios = (cold / took["cold theirs"], warm / took["warm theirs"])
    return [label, name, f"{cold:.2f}", f"{warm:.2f}", *(f"{each:.2f}" for each in ratios), f"{memory[side]:.0f}"]


def section(rounds: int, say: Say = lambda _: None, kinds: tuple[str, ...] = tuple(LANGUAGES)) -> Section:
    head = ["file", "server", "cold, s", "warm, s", "cold ÷ theirs", "warm ÷ theirs", "memory at rest, MiB"]
    rows: list[list[str]] = []
    with place() as here, tempfile.TemporaryDirectory() as scratch, metadata_responder() as url:
        for label in kinds:
            try:
                rows += one_file(here, label, rounds, url, Path(scratch))
                say(f"{rows[-3:]}")
            except NotMeasuredError as reason:
                rows.append([label, f"not measured: {reason}", *["–"] * 5])
    return Section(TITLE, f"{WORK.format(rounds=rounds)}\n\n{table(head, rows)}")


if __name__ == "__main__":
    done = section(int(sys.argv[1]) if len(sys.argv) > 1 else 5, lambda line: print(line, file=sys.stderr))
    print(done.markdown())
