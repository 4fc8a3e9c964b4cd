"""The resident workers of a server: what can answer an invocation without starting a scanner.

Everything here is a shortcut. Whatever is odd (a worker that is dead, busy, late, or says what nobody asked)
makes ``answer`` return None, and the caller starts the scanner's process as if there were no pool.
"""

import contextlib
import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from appsecgate.process import CancelToken, Completed, Limits, private_directory
from appsecgate.resident import StayLimits
from appsecgate.scanners.base import Invocation, Standby, Zygote
from appsecgate.scanners.standby import StandbyRack
from appsecgate.scanners.zygote import RunPlaces, ZygoteHome


class WorkerPool:
    """Safe to share between threads. Nothing is started before the first request or ``warm``."""

    def __init__(self, stay: StayLimits | None = None) -> None:
        self._stay = stay or StayLimits()
        self._usable = hasattr(os, "fork") and hasattr(os, "mkfifo")
        self._lock = threading.Lock()
        self._context = private_directory(prefix="appsecgate-workers-")
        self._root: Path | None = None
        self._closed = False
        self._on = True
        self._count = 0
        self._homes: dict[object, ZygoteHome] = {}
        self._warmed: set[ZygoteHome] = set()
        self._rack = StandbyRack(self._fresh_directory, self._in_background, self._stay)

    def answer(
        self, plan: Invocation, places: RunPlaces, limits: Limits, cancel: CancelToken | None = None
    ) -> Completed | None:
        """What the invocation's process would have done, or None: start it. ``plan.files`` are in place already."""
        if not self._is_open():
            return None
        try:
            return self._answer(plan, places, limits, cancel)
        except Exception:  # the boundary: a bug in a shortcut must not cost a result
            return None

    def _answer(
        self, plan: Invocation, places: RunPlaces, limits: Limits, cancel: CancelToken | None
    ) -> Completed | None:
        if plan.zygote is not None:
            home = self._home(plan.zygote)
            completed = home.answer(plan, places, limits, cancel)
            if home.is_due():
                self._in_background(home.renew)
            return completed
        if plan.standby is not None:
            rack = self._rack  # the one of this moment: when the pool is switched off, it is closed
            return rack.answer(plan.standby, plan.files[plan.standby.awaited], limits, cancel) if self._on else None
        return None

    def warm(self, zygotes: Sequence[Zygote], standbys: Sequence[Standby] = ()) -> None:
        """Start these in the background, one after the other; those of an earlier call are let be."""
        if not self._is_open():
            return
        try:
            homes = [home for zygote in zygotes if (home := self._home(zygote)) not in self._warmed]
        except OSError:  # switched off meanwhile
            return
        self._warmed.update(homes)
        rack = self._rack
        if homes or standbys:
            self._in_background(lambda: _warm_up(homes, rack, standbys))

    def switch(self, *, on: bool) -> None:
        """Off: end every worker, and start none until it is on again; what they were busy with is asked anew cold."""
        with self._lock:
            if self._closed or self._on is on:
                return
            self._on = on
            homes, rack = self._let_go()
        _end_all(homes, rack)

    def close(self) -> None:
        """End every worker and remove their files; afterwards every answer is None."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            homes, rack = self._let_go()
        _end_all(homes, rack)
        with self._lock:
            if self._root is not None:
                self._context.__exit__(None, None, None)

    def _is_open(self) -> bool:
        return self._usable and self._on and not self._closed

    def _let_go(self) -> tuple[list[ZygoteHome], StandbyRack]:
        """What there was, to be ended; from now on there is none of it. Only under the lock."""
        homes, rack = list(self._homes.values()), self._rack
        self._homes, self._warmed = {}, set()
        self._rack = StandbyRack(self._fresh_directory, self._in_background, self._stay)
        return homes, rack

    def _home(self, zygote: Zygote) -> ZygoteHome:
        key = (zygote.python, zygote.program, zygote.limits, tuple(sorted(zygote.files.items())))
        with self._lock:
            if not self._is_open():
                raise OSError("the pool is closed")
            if key not in self._homes:
                self._homes[key] = ZygoteHome(zygote, self._fresh_directory, self._stay)
            return self._homes[key]

    def _fresh_directory(self) -> Path:
        """Raises OSError, also where the pool is closed."""
        with self._lock:
            if not self._is_open():
                raise OSError("the pool is closed")
            if self._root is None:
                self._root = self._context.__enter__()
            self._count += 1
            directory = self._root / str(self._count)
        directory.mkdir(mode=0o700)
        return directory

    def _in_background(self, work: Callable[[], object]) -> None:
        if not self._closed:
            with contextlib.suppress(RuntimeError):  # the program is ending
                threading.Thread(target=work, name="appsecgate-workers", daemon=True).start()


def _warm_up(homes: Sequence[ZygoteHome], rack: StandbyRack, standbys: Sequence[Standby]) -> None:
    for home in homes:
        home.renew()
    for standby in standbys:
        rack.prepare(standby)


def _end_all(homes: Sequence[ZygoteHome], rack: StandbyRack) -> None:
    for home in homes:
        home.close()
    rack.close()
