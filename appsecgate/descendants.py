"""What a child starts itself: found by a mark in its environment, in whatever process group it hides.

Linux alone has the means (``/proc``, pidfds, ``prlimit``); elsewhere these functions do nothing, and the
process group, the deadline and the output cap remain.
"""

import contextlib
import os
import select
import signal
import sys
import time
from collections.abc import Collection
from pathlib import Path

_DEATH_S = 5.0
"""How long a killed process may take to die; only one stuck in the kernel takes longer."""

_MOST_LATE = 64
"""Descendants that can have been started before their ancestor was limited; a fork bomb has more."""


def exit_code_of(info: "os.waitid_result | None") -> int:
    """0-255, or minus the signal that ended the child."""
    assert info is not None  # only a call that does not wait has no answer
    return info.si_status if info.si_code == os.CLD_EXITED else -info.si_status


def _bears(pid: int, marks: Collection[bytes]) -> bool:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:
        return not set(marks).isdisjoint(file.read().split(b"\0"))
    return False


def marked_processes(marks: Collection[bytes]) -> list[int]:
    """Numbers of the live processes, in any group, that were started with one of these marks (Linux)."""
    numbers: list[int] = []
    # no such directory, no such process: elsewhere than on Linux there is nothing to be found
    if sys.platform == "linux":  # pragma: no branch
        with contextlib.suppress(OSError):
            numbers = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal()]
    return [pid for pid in numbers if _bears(pid, marks)]


def kill_marked(marks: Collection[bytes]) -> None:
    """Kill those who left their group, until none is found; what they start meanwhile bears the mark too."""
    deadline = time.monotonic() + _DEATH_S
    while time.monotonic() < deadline:
        if not [pid for pid in marked_processes(marks) if _kill_one(pid, marks)]:
            return


def _kill_one(pid: int, marks: Collection[bytes]) -> bool:
    """Kill a process if it bears one of the marks, and wait until it is dead."""
    try:
        handle = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        # looked at again under the handle, which cannot come to mean a later process of this number
        if not _bears(pid, marks):
            return False
        signal.pidfd_send_signal(handle, signal.SIGKILL)
        death = select.poll()
        death.register(handle, select.POLLIN)
        return bool(death.poll(_DEATH_S * 1000))
    except OSError:
        return False
    finally:
        os.close(handle)


def limit_usage(pid: int, mark: bytes, *, memory_bytes: int | None, cpu_s: int | None) -> None:
    """Limit a process just started, then whatever it started before that; later ones inherit the limits."""
    if sys.platform != "linux" or memory_bytes is cpu_s is None:
        return
    limited: set[int] = set()
    late = {pid}
    while late and len(limited) < _MOST_LATE:
        for number in late:
            _limit_one(number, memory_bytes, cpu_s)
        limited |= late
        late = set(marked_processes([mark])) - limited


def _limit_one(pid: int, memory_bytes: int | None, cpu_s: int | None) -> None:
    import resource

    wanted = {resource.RLIMIT_CORE: (0, 0)}
    if memory_bytes is not None:
        wanted[resource.RLIMIT_AS] = (memory_bytes, memory_bytes)
    if cpu_s is not None:
        # the soft limit ends it with a signal that tells why, the hard one ends those who ignore that
        wanted[resource.RLIMIT_CPU] = (cpu_s, cpu_s + 1)
    for kind, pair in wanted.items():
        # gone already, or a sandbox that forbids it: the deadline and the output cap hold all the same
        with contextlib.suppress(OSError):
            most = resource.prlimit(pid, kind)[1]
            soft, hard = (value if most == resource.RLIM_INFINITY else min(value, most) for value in pair)
            resource.prlimit(pid, kind, (soft, hard))
