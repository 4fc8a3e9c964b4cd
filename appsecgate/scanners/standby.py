"""Processes of a scanner that are started before their work is known, and wait for it at a named pipe.

The program reads its rules, then opens the file that lists its targets, twice. That file is a named pipe at
first, at which it waits. When the work comes, the real file is renamed into the pipe's place and its content is
written into the pipe: the first reading gets it from there, the second from the file. One process answers one
request, so none can know anything of another.
"""

import errno
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from appsecgate.beneath import remove_tree
from appsecgate.embedded import read_embedded
from appsecgate.process import CancelToken, Completed, Ending, Limits, base_environment
from appsecgate.resident import Resident, ResidentError, StayLimits
from appsecgate.scanners.base import Standby
from appsecgate.scanners.stage import place_bytes

_KEEPER_PROGRAM = "workers/keeper.py"
_MOST_PIPED_BYTES = 60_000
"""A pipe takes 64 KiB without waiting for a reader."""
_READY_POLL_S = 0.004


class StandbyRack:
    """At most one waiting process per kind, and only for the kinds that were asked for last."""

    def __init__(
        self,
        fresh_directory: Callable[[], Path],
        in_background: Callable[[Callable[[], object]], None],
        stay: StayLimits,
    ) -> None:
        self._fresh_directory = fresh_directory
        self._in_background = in_background
        self._stay = stay
        self._lock = threading.Lock()
        self._waiting: dict[object, _Waiting] = {}
        self._closed = False

    def answer(self, standby: Standby, work: bytes, limits: Limits, cancel: CancelToken | None) -> Completed | None:
        """As ``WorkerPool.answer``; afterwards another one gets ready in the background."""
        if len(work) > _MOST_PIPED_BYTES:
            return None
        with self._lock:
            waiting = self._waiting.pop(_standby_key(standby), None)
        try:
            return waiting.release(work, limits, cancel, self._stay.answer_s) if waiting is not None else None
        finally:
            self._in_background(lambda: self.prepare(standby))

    def prepare(self, standby: Standby) -> None:
        """Have one waiting, instead of the one not asked for longest if there are too many; never raises."""
        key = _standby_key(standby)
        with self._lock:
            there = self._waiting.get(key)
            if self._closed or (there is not None and there.alive):
                return
        try:
            fresh = _Waiting(standby, self._fresh_directory(), self._stay.idle_s)
        except (OSError, ResidentError):
            return
        with self._lock:
            surplus = [fresh]
            if not self._closed:
                surplus = [old for old in (self._waiting.pop(key, None),) if old is not None]
                self._waiting[key] = fresh
                while len(self._waiting) > self._stay.standbys:
                    surplus.append(self._waiting.pop(next(iter(self._waiting))))
        for waiting in surplus:
            waiting.end()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            left = list(self._waiting.values())
            self._waiting.clear()
        for waiting in left:
            waiting.end()


class _Waiting:
    """One such process."""

    def __init__(self, standby: Standby, directory: Path, idle_s: float) -> None:
        """Start it. Raises OSError or ResidentError."""
        self._directory = directory
        self._pipe = directory / standby.awaited
        try:
            for name in ("cwd", "tmp"):
                (directory / name).mkdir(mode=0o700)
            for name, content in standby.files.items():
                place_bytes(directory, name, content)
            keeper = place_bytes(directory, "keeper.py", read_embedded(_KEEPER_PROGRAM).encode())
            os.mkfifo(self._pipe, 0o600)
            command = [part.replace("{directory}", str(directory)) for part in standby.argv]
            self._resident = Resident(
                [sys.executable, "-I", "-S", str(keeper), str(idle_s), *command],
                cwd=directory / "cwd",
                env=base_environment(directory / "tmp"),
                limits=standby.limits,
            )
        except BaseException:
            remove_tree(directory)
            raise

    def release(self, work: bytes, limits: Limits, cancel: CancelToken | None, answer_s: float) -> Completed | None:
        """Give it its work and see it through; None where that did not go as it should."""
        began = time.monotonic()
        try:
            self._resident.send(b"!")
            pipe = self._open_pipe(began + min(answer_s, limits.timeout_s), cancel)
            with open(pipe, "wb", buffering=0) as stream:
                real = place_bytes(self._directory, "real", work)
                real.replace(self._pipe)
                stream.write(work)
            completed = self._resident.complete(limits, cancel, began)
        except (OSError, ResidentError):
            return None
        finally:
            self.end()
        failed = completed.ending is Ending.EXITED and completed.exit_code != 0
        return None if failed or completed.ending is Ending.OUTPUT_TOO_LARGE else completed

    def _open_pipe(self, until: float, cancel: CancelToken | None) -> int:
        """Wait until it waits at the pipe: it is nearer to that than a new process would be."""
        while True:
            try:
                return os.open(self._pipe, os.O_WRONLY | os.O_NONBLOCK)
            except OSError as error:
                if error.errno != errno.ENXIO:
                    raise
            if not self._resident.alive or time.monotonic() > until or (cancel is not None and cancel.cancelled):
                raise ResidentError("it does not wait for work")
            time.sleep(_READY_POLL_S)

    @property
    def alive(self) -> bool:
        return self._resident.alive

    def end(self) -> None:
        self._resident.end()
        remove_tree(self._directory)


def _standby_key(standby: Standby) -> object:
    return standby.argv, standby.limits, standby.awaited, tuple(sorted(standby.files.items()))
