"""The newcomer's first scan: install the scanners, scan the vulnerable example, show its worst finding.

``python3 scripts/demo.py`` prints each command before it runs it, so that one can type the next oneself.
Data goes to the default data directory, or to APPSECGATE_DATA_DIR.
"""

import json
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHOP = "examples/vulnerable-shop"
ADVISORIES = "examples/advisories"
DONE, FINDINGS, INCOMPLETE = 0, 1, 3
"""Exit statuses of ``scan`` that are answers, not failures."""
WORST = (
    "SELECT logical_id FROM v_findings WHERE status IN ('open', 'shown', 'not_fixed') ORDER BY CASE severity "
    "WHEN 'critical' THEN 0 WHEN 'high' THEN 1 WHEN 'medium' THEN 2 ELSE 3 END, "
    "category <> 'sast', file_path, line_start LIMIT 1"
)


class DemoError(Exception):
    """A step that did not go as it must."""


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "appsecgate", *arguments]


def show(*arguments: str) -> None:
    """Print a command as one would type it."""
    print(f"\n$ python3 -m appsecgate {shlex.join(arguments)}", flush=True)


def step(*arguments: str, good: Sequence[int] = (DONE,)) -> None:
    """Show a command and run it. Raises DemoError for an exit status that is not among ``good``."""
    show(*arguments)
    status = subprocess.run(command(*arguments), cwd=ROOT, check=False).returncode
    if status not in good:
        raise DemoError(f"it ended with exit status {status}")


def ask(*arguments: str) -> str:
    """Run a command unseen and return what it says."""
    ran = subprocess.run(command(*arguments), cwd=ROOT, check=False, capture_output=True, text=True)
    return ran.stdout


def has_advisories() -> bool:
    """Whether there is a copy of the advisory database already, which the example's records must not replace."""
    return ask("advisories", "status").split(" ")[0].isdecimal()


def worst_finding() -> str:
    """The logical id of the worst open finding; code before the rest, since there is code to look at."""
    rows = json.loads(ask("query", "--json", "--project", SHOP, WORST) or "{}").get("rows")
    if not rows:
        raise DemoError("the scan left no findings")
    return str(rows[0][0])


def main() -> int:
    """Exit status 0 when every step went well, else 1."""
    try:
        step("setup")
        if not has_advisories():
            step("advisories", "import", ADVISORIES)
        step("scan", SHOP, good=(DONE, FINDINGS, INCOMPLETE))
        step("context", "--project", SHOP, worst_finding())
    except DemoError as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1
    print("\nNow a project of your own: python3 -m appsecgate scan PATH")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
