"""Looking at processes from outside: what is below one, what it holds, whether it works (Linux: /proc)."""

import contextlib
import time
from pathlib import Path

QUIET_TICKS = 1
"""Processor time, in ticks of 10 ms, that all together may use in a window and still count as at rest."""


def descendants_of(pid: int) -> list[int]:
    """Live processes below this one."""
    below: list[int] = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                below += [int(child), *descendants_of(int(child))]
    return below


def resident_kib(pid: int, key: str = "Pss") -> int:
    """Proportional set size: pages shared with a parent count once; ``VmHWM``: the peak of the resident size."""
    for name in ("smaps_rollup", "status"):
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{pid}/{name}").read_text().splitlines():
                if line.startswith(f"{key}:"):
                    return int(line.split()[1])
    return 0


def forget_peak(pid: int) -> None:
    """Let ``VmHWM`` begin anew; where the system forbids it, later peaks are peaks since the start, never less."""
    with contextlib.suppress(OSError):
        Path(f"/proc/{pid}/clear_refs").write_text("5")


def processor_ticks(pid: int) -> dict[int, int]:
    """Process below ``pid``, itself included → processor time that it and its dead children used."""
    used = {}
    for each in (pid, *descendants_of(pid)):
        with contextlib.suppress(OSError):
            used[each] = sum(map(int, Path(f"/proc/{each}/stat").read_text().rsplit(") ", 1)[1].split()[11:15]))
    return used


def await_rest(pid: int, *, window_s: float = 0.2, limit_s: float = 10.0) -> None:
    """Wait until neither the process nor anything below it works: what is measured next has the machine for itself."""
    began = time.monotonic()
    before = processor_ticks(pid)
    while time.monotonic() - began < limit_s:
        time.sleep(window_s)
        now = processor_ticks(pid)
        if now.keys() == before.keys() and sum(now.values()) - sum(before.values()) <= QUIET_TICKS:
            return
        before = now
