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
        self._count = 0
        self._homes: dict[object, ZygoteHome] = {}
        self._warmed: set[ZygoteHome] = set()
        self._rack = StandbyRack(self._fresh_directory, self._in_background, self._stay)

    def answer(
        self, plan: Invocation, places: RunPlaces, limits: Limits, cancel: CancelToken | None = None
    ) -> Completed | None:
        """What the invocation's process would have done, or None: start it. ``plan.files`` are in place already."""
        if not self._usable or self._closed:
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
            return self._rack.answer(plan.standby, plan.files[plan.standby.awaited], limits, cancel)
        return None

    def warm(self, zygotes: Sequence[Zygote], standbys: Sequence[Standby] = ()) -> None:
        """Start these in the background, one after the other; those of an earlier call are let be."""
        if not self._usable or self._closed:
            return
        homes = [home for zygote in zygotes if (home := self._home(zygote)) not in self._warmed]
        self._warmed.update(homes)
        if homes or standbys:
            self._in_background(lambda: self._warm(homes, standbys))

    def _warm(self, homes: Sequence[ZygoteHome], standbys: Sequence[Standby]) -> None:
        for home in homes:
            home.renew()
        for standby in standbys:
            self._rack.prepare(standby)

    def close(self) -> None:
        """End every worker and remove their files; afterwards every answer is None."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            homes = list(self._homes.values())
        for home in homes:
            home.close()
        self._rack.close()
        with self._lock:
            if self._root is not None:
                self._context.__exit__(None, None, None)

    def _home(self, zygote: Zygote) -> ZygoteHome:
        key = (zygote.python, zygote.program, zygote.limits, tuple(sorted(zygote.files.items())))
        with self._lock:
            if key not in self._homes:
                self._homes[key] = ZygoteHome(zygote, self._fresh_directory, self._stay)
            return self._homes[key]

    def _fresh_directory(self) -> Path:
        """Raises OSError, also where the pool is closed."""
        with self._lock:
            if self._closed:
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
