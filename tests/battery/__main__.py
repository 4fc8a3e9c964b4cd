"""``python3 -m tests.battery [--scan-between | --files-only] [WORD …]``: run the battery and print it in Markdown.

With words, only the entries that have one of them in their names. ``--scan-between``: the project is scanned between
the edit and the claim; ``--files-only``: nothing but the flagged file was scanned before.
"""

import sys

from tests.battery.bench import MODES, PLAIN, all_entries, as_markdown, bench


def main(words: list[str]) -> int:
    """Exit status 1 where an answer is not the right one."""
    mode = next((mode for mode in MODES if f"--{mode}" in words), PLAIN)
    wanted = [word for word in words if not word.startswith("--")]
    entries = [entry for entry in all_entries() if not wanted or any(word in entry.name for word in wanted)]
    with bench() as run:
        outcomes = run.run(entries, mode=mode)
    print(as_markdown(outcomes))
    for outcome in outcomes:
        if not outcome.right:
            print(f"{outcome.entry.name}: {outcome.problem}", file=sys.stderr)
    return 0 if all(outcome.right for outcome in outcomes) else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
