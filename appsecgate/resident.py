"""A child that stays: lines to its stdin, lines from its stdout, and the same end for it as for every child."""

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from appsecgate.process import START_ERRORS, CancelToken, Child, Completed, Limits, complete_child, start_child


@dataclass(frozen=True, slots=True)
class StayLimits:
    """How long a worker stays, and how long one is waited for."""

    idle_s: float = 900.0
    """Without work for this long, a worker ends itself."""
    age_s: float = 3600.0
    uses: int = 500
    rss_kib: int = 1 << 20
    """A worker that is older, was used oftener or is larger is replaced, off the path of a request."""
    start_s: float = 30.0
    patience_s: float = 1.0
    """How long a request waits for a worker that is busy with another."""
    answer_s: float = 3.0
    """How long a worker may take to say that it started a request, or stopped one."""
    retry_s: float = 60.0
    """After a second failure in a row, how long none is started; doubled with each."""
    standbys: int = 3


class ResidentError(Exception):
    """It cannot be relied upon: it is dead, late, or says what nobody asked. Only its end helps."""


class LateError(ResidentError):
    """There was no line in time; it may still be sound."""


class Resident:
    """A long-lived child, for one thread at a time. Whoever makes one must ``end`` it."""

    def __init__(
        self, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], limits: Limits, max_line_bytes: int = 65_536
    ) -> None:
        """Start it. ``limits``: memory and CPU hold, its time and output do not. Raises ResidentError."""
        read_end, self._write_end = os.pipe()
        os.set_blocking(self._write_end, False)
        self._max_line_bytes = max_line_bytes
        self._pending = b""
        self._ended = False
        self.born = time.monotonic()
        try:
            with open(read_end, "rb", buffering=0) as stdin:
                self.child: Child = start_child(argv, cwd=cwd, env=env, limits=limits, stdin=stdin)
        except START_ERRORS as error:
            os.close(self._write_end)
            raise ResidentError(f"not started: {type(error).__name__}") from error

    @property
    def alive(self) -> bool:
        return not self.child.exited.is_set()

    def send(self, data: bytes) -> None:
        """Raises ResidentError where it is gone, or does not read what was sent before."""
        try:
            sent = os.write(self._write_end, data)
        except OSError as error:  # a full pipe too
            raise ResidentError("it does not read") from error
        if sent < len(data):
            raise ResidentError("it does not read")

    def receive(self, until: float, cancel: CancelToken | None = None) -> bytes:
        """Its next line, without the end of line, waited for until a moment of ``time.monotonic()``.

        Raises LateError where none came, also when cancelled; ResidentError where it died or floods.
        """
        unregister = (cancel or CancelToken()).on_cancel(self.child.events.poke)
        try:
            while b"\n" not in self._pending:
                self._wait(until, cancel)
        finally:
            unregister()
        line, self._pending = self._pending.split(b"\n", 1)
        return line

    def _wait(self, until: float, cancel: CancelToken | None) -> None:
        left_s = until - time.monotonic()
        if not self.alive:
            raise ResidentError("it ended")
        if left_s <= 0 or (cancel is not None and cancel.cancelled):
            raise LateError("no line")
        # what it writes to stderr is read, so that it cannot block, and dropped
        self._pending += b"".join(chunk for index, chunk in self.child.events.wait(left_s) if index == 0)
        if len(self._pending) > self._max_line_bytes:
            raise ResidentError("it floods")

    def hang_up(self) -> None:
        """Close its stdin: it is to end by itself."""
        write_end, self._write_end = self._write_end, -1
        if write_end >= 0:
            os.close(write_end)

    def complete(self, limits: Limits, cancel: CancelToken | None, began: float) -> Completed:
        """See it through to its end, as ``process.complete_child``; nothing can be asked of it afterwards."""
        self._ended = True
        try:
            return complete_child(self.child, limits, cancel=cancel, began=began)
        finally:
            self.hang_up()

    def end(self) -> None:
        """Kill it with all that it started; again is nothing. Others may at most ``child.kill()`` it."""
        if not self._ended:
            self._ended = True
            self.hang_up()
            self.child.end()
            self.child.events.close()
