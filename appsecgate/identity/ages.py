"""Since when each line of a file stands there: what tells code that was moved in from code that was always there.

A line keeps its age where the line map finds it again, else where an equal line was left over (a move within the
file); every other line came with the file's last change. Ages are moments in milliseconds since 1970, packed as
runs (``1764500000000*120,1764500060000*3``), since most lines of a file are equally old.
"""

from collections import defaultdict
from collections.abc import Sequence

from appsecgate.identity.lines import LineMap, split_line_hashes


def carry_ages(old: bytes, old_ages: Sequence[int], new: bytes, changed_ms: int) -> list[int]:
    """The age of each new line, from the joined line hashes of both texts and the ages of the old lines."""
    before, after = split_line_hashes(old), split_line_hashes(new)
    if not before or len(old_ages) != len(before):
        return [changed_ms] * len(after)
    if old == new:
        return list(old_ages)
    ages: list[int | None] = [None] * len(after)
    left_over: dict[bytes, list[int]] = defaultdict(list)
    line_map = LineMap(old, new)
    for number, line in enumerate(before, 1):
        here = line_map.new_line(number)
        if here is None:
            left_over[line].append(old_ages[number - 1])
        else:
            ages[here - 1] = old_ages[number - 1]
    for waiting in left_over.values():
        waiting.sort(reverse=True)
    return [
        age if age is not None else left_over[line].pop() if left_over.get(line) else changed_ms
        for age, line in zip(ages, after, strict=True)
    ]


def pack_ages(ages: Sequence[int]) -> str:
    """The ages as one short text."""
    runs: list[list[int]] = []
    for age in ages:
        if runs and runs[-1][0] == age:
            runs[-1][1] += 1
        else:
            runs.append([age, 1])
    return ",".join(f"{age}*{count}" for age, count in runs)


def unpack_ages(text: str) -> list[int]:
    """What ``pack_ages`` packed; empty for any other text."""
    ages: list[int] = []
    for run in text.split(",") if text else ():
        age, star, count = run.partition("*")
        if not (star and age.isdigit() and count.isdigit()):
            return []
        ages += [int(age)] * int(count)
    return ages


def runs_of(lines: Sequence[bytes], wanted: Sequence[bytes]) -> list[int]:
    """Where ``wanted`` stands in ``lines`` as one run: indexes from 0."""
    if not wanted:
        return []
    first, size = wanted[0], len(wanted)
    return [at for at, line in enumerate(lines) if line == first and list(lines[at : at + size]) == list(wanted)]
