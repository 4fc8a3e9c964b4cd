"""scan_file over MCP beside the scanners' own command lines, one after another, on the same file.

``python3 -m benchmarks.bench_scan_file [ROUNDS]`` prints a Markdown table. Every round scans new content, so no
answer comes from an earlier one; the two sides take turns, so that a slow moment of the machine hits both.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from appsecgate.model import Scanner
from appsecgate.scanners.installed import scanner_home
from tests.scanners.installed import scanners_directory
from tests.support import OSV_EXAMPLES, PACKAGE, ROOT, McpClient, link_scanners, mcp_client, run_cli

EXAMPLE = ROOT / "examples" / "vulnerable-shop"
FILES = {
    "Python": ("shop/app.py", "#"),
    "JavaScript": ("web/cart.js", "//"),
    "Terraform": ("infra/main.tf", "#"),
    "Dockerfile": ("Dockerfile", "#"),
    "requirements.txt": ("requirements.txt", "#"),
}


def seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def plain_commands(path: str) -> list[list[str]]:
    """What a user would otherwise run on this file, with the same rules."""
    data = scanners_directory().parent
    semgrep, secrets, checkov = (
        scanner_home(scanner, data) / "bin" / str(scanner)
        for scanner in (Scanner.SEMGREP, Scanner.DETECT_SECRETS, Scanner.CHECKOV)
    )
    commands = [[str(secrets), "scan", "--no-verify", path]]
    language = {".py": "python", ".js": "javascript"}.get(Path(path).suffix)
    if language:
        rules = str(ROOT / "appsecgate" / "rules" / f"{language}.json")
        quiet = ["--metrics=off", "--disable-version-check", "--quiet"]
        commands.append([str(semgrep), "scan", *quiet, "--config", rules, path])
    if path.endswith((".tf", "Dockerfile")):
        commands.append([str(checkov), "--compact", "--quiet", "--skip-download", "-f", path])
    return commands


def run_plain(project: Path, path: str) -> None:
    environ = {"PATH": os.environ["PATH"], "HOME": str(project.parent), "SEMGREP_ENABLE_VERSION_CHECK": "0"}
    for command in plain_commands(path):
        subprocess.run(command, cwd=project, env=environ, capture_output=True, check=False)


def start_seconds(project: Path, data: Path, rounds: int) -> list[float]:
    """From starting the process to the answered ``initialize``."""
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        with mcp_client(PACKAGE, project, data):
            times.append(time.perf_counter() - began)
    return times


def one_language(client: McpClient, project: Path, path: str, comment: str, rounds: int) -> tuple[list[float], list[float]]:
    ours, theirs = [], []
    original = (project / path).read_text()
    for number in range(rounds):
        (project / path).write_text(f"{comment} round {number}\n{original}")
        ours.append(seconds(lambda: client.call("scan_file", path=path)))
        theirs.append(seconds(lambda: run_plain(project, path)))
    return ours, theirs


def main(rounds: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        project, data = Path(name) / "shop", Path(name) / "data"
        shutil.copytree(EXAMPLE, project)
        link_scanners(data)
        run_cli(PACKAGE, data, "advisories", "import", str(OSV_EXAMPLES))
        starts = start_seconds(project, data, rounds)
        print(f"start to answered initialize: median {statistics.median(starts) * 1000:.0f} ms of {rounds}\n")
        print("| file | scan_file, median s | the command lines, median s | ratio |")
        print("|---|---|---|---|")
        with mcp_client(PACKAGE, project, data) as client:
            for label, (path, comment) in FILES.items():
                ours, theirs = one_language(client, project, path, comment, rounds)
                mine, plain = statistics.median(ours), statistics.median(theirs)
                print(f"| {label} | {mine:.2f} | {plain:.2f} | {mine / plain:.2f} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
