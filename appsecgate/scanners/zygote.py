"""One loaded program of ours, and requests to it. See ``workers/zygote.py`` for the lines that are exchanged."""

import json
import math
import os
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from appsecgate.beneath import remove_tree
from appsecgate.embedded import read_embedded
from appsecgate.model import Json
from appsecgate.process import CancelToken, Completed, Ending, Limits, base_environment
from appsecgate.resident import LateError, Resident, ResidentError, StayLimits
from appsecgate.scanners.base import Invocation, Zygote
from appsecgate.scanners.report_json import json_integer, json_object
from appsecgate.scanners.stage import place_bytes

_ZYGOTE_PROGRAM = "workers/zygote.py"
_ZYGOTE_PROTOCOL = 1
_SLICE_S = 0.05
"""How often a request that waits for its turn looks whether it was cancelled."""


@dataclass(frozen=True, slots=True)
class RunPlaces:
    """Where a run happens; all directories private."""

    directory: Path
    """For files of the exchange itself; the others are in it."""
    cwd: Path
    temporary: Path


class _StillLoadingError(ResidentError):
    """There is none that could answer now, which is nobody's fault."""


class ZygoteHome:
    """Where a zygote lives and is replaced. One request at a time."""

    def __init__(self, zygote: Zygote, fresh_directory: Callable[[], Path], stay: StayLimits) -> None:
        self._zygote = zygote
        self._fresh_directory = fresh_directory
        self._stay = stay
        self._lock = threading.Lock()
        self._starting = False
        self._greeted = False
        self._closed = False
        self._resident: Resident | None = None
        self._directory: Path | None = None
        self._uses = self._rss_kib = self._failures = 0
        self._retry_at = 0.0

    def answer(
        self, plan: Invocation, places: RunPlaces, limits: Limits, cancel: CancelToken | None
    ) -> Completed | None:
        """As ``WorkerPool.answer``. Starting one here takes no longer than the process that it stands for."""
        began = time.monotonic()
        until = began + limits.timeout_s
        if not self._claim(began, limits.timeout_s, cancel):
            return None
        try:
            resident = self._ready(until, cancel)
            try:
                return self._ask(resident, plan, places, limits, cancel, began)
            except (ResidentError, OSError, ValueError):  # ValueError: a line that is no JSON
                self._note_failure()
                raise
        except _StillLoadingError:
            return None
        except (ResidentError, OSError, ValueError):
            self._drop()
            return None
        finally:
            self._lock.release()

    def is_due(self) -> bool:
        """Whether the one that is there should be replaced."""
        resident, stay = self._resident, self._stay
        return resident is not None and (
            self._uses >= stay.uses or self._rss_kib > stay.rss_kib or time.monotonic() - resident.born > stay.age_s
        )

    def renew(self) -> None:
        """Have a young one there; never raises."""
        with self._lock:
            if self.is_due():
                self._drop()
            try:
                self._ready(math.inf, None)
            except (ResidentError, OSError, ValueError):
                self._drop()

    def close(self) -> None:
        self._closed = True
        resident = self._resident
        if resident is not None:
            resident.child.withdraw()
        with self._lock:
            self._drop()

    def _claim(self, began: float, timeout_s: float, cancel: CancelToken | None) -> bool:
        """Wait for our turn: long for one that is just starting, shortly for one that is busy."""
        while not self._lock.acquire(timeout=_SLICE_S):
            waited_s = time.monotonic() - began
            most_s = self._stay.start_s if self._starting else self._stay.patience_s
            if waited_s > min(most_s, timeout_s) or (cancel is not None and cancel.cancelled):
                return False
        return True

    def _ready(self, until: float, cancel: CancelToken | None) -> Resident:
        """The one that is there, or a new one. Raises ResidentError, OSError or ValueError."""
        resident = self._resident
        if resident is not None and resident.alive and self._greeted:
            return resident
        self._starting = True
        try:
            if resident is None or not resident.alive:
                self._drop()
                resident = self._start()
            self._await_greeting(resident, until, cancel)
            return resident
        except _StillLoadingError:
            raise
        except (ResidentError, OSError, ValueError):
            self._note_failure()
            raise
        finally:
            self._starting = False

    def _await_greeting(self, resident: Resident, until: float, cancel: CancelToken | None) -> None:
        """Wait until it is loaded. A request that cannot wait so long leaves it loading, for the next one."""
        last = resident.born + self._stay.start_s
        try:
            hello = json_object(json.loads(resident.receive(min(until, last), cancel)))
        except LateError as error:
            if time.monotonic() < last:
                raise _StillLoadingError from error
            raise
        if hello.get("ready") != _ZYGOTE_PROTOCOL:
            raise ResidentError("another protocol")
        self._greeted = True

    def _note_failure(self) -> None:
        """The first may be bad luck; from the second in a row on, it is let be for a while."""
        self._failures += 1
        if self._failures > 1:
            self._retry_at = time.monotonic() + self._stay.retry_s * 2 ** min(self._failures - 2, 10)

    def _start(self) -> Resident:
        if self._closed or time.monotonic() < self._retry_at:
            raise _StillLoadingError("none is to be started now")
        self._directory = home = self._fresh_directory()
        for name in ("cwd", "tmp", "load"):
            (home / name).mkdir(mode=0o700)
        zygote = self._zygote
        place_bytes(home, "zygote.py", read_embedded(_ZYGOTE_PROGRAM).encode())
        place_bytes(home, "program.py", zygote.program.encode())
        for name, content in zygote.files.items():
            place_bytes(home / "load", name, content)
        self._uses = self._rss_kib = 0
        self._greeted = False
        self._resident = resident = Resident(
            (
                str(zygote.python), "-I", str(home / "zygote.py"),
                str(home / "program.py"), str(home / "load"), str(self._stay.idle_s),
            ),
            cwd=home / "cwd",
            env=base_environment(home / "tmp"),
            limits=zygote.limits,
        )  # fmt: skip
        if self._closed:  # meanwhile
            raise ResidentError("the pool is closed")
        return resident

    def _ask(
        self,
        resident: Resident,
        plan: Invocation,
        places: RunPlaces,
        limits: Limits,
        cancel: CancelToken | None,
        began: float,
    ) -> Completed | None:
        """The files for its output are opened here, so that nobody can put something else in their place."""
        with (
            (places.directory / "stdout").open("x+b") as stdout,
            (places.directory / "stderr").open("x+b") as stderr,
        ):
            ending, code = self._exchange(resident, plan, places, limits, cancel, began)
            said = stdout.read(limits.max_output_bytes + 1)
            stderr.seek(max(0, stderr.seek(0, os.SEEK_END) - limits.max_stderr_bytes))
            words = stderr.read(limits.max_stderr_bytes)
        if ending is Ending.EXITED and (code < 0 or len(said) > limits.max_output_bytes):
            return None
        return Completed(
            argv=plan.argv,
            ending=ending,
            exit_code=code if ending is Ending.EXITED else None,
            stdout=said[: limits.max_output_bytes],
            stderr=words,
            duration_ms=round((time.monotonic() - began) * 1000),
        )

    def _exchange(
        self,
        resident: Resident,
        plan: Invocation,
        places: RunPlaces,
        limits: Limits,
        cancel: CancelToken | None,
        began: float,
    ) -> tuple[Ending, int]:
        """How the request ended, and its exit status or minus a signal."""
        self._uses += 1
        identifier = secrets.randbits(48)  # an answer that was there before the question does not count
        resident.send(_request_line(identifier, plan, places, limits))
        started = json.loads(resident.receive(time.monotonic() + self._stay.answer_s))
        if started != {"id": identifier, "started": 1}:
            raise ResidentError("it answers something else")
        ending = Ending.EXITED
        try:
            line = resident.receive(began + limits.timeout_s, cancel)
        except LateError:
            ending = Ending.CANCELLED if cancel is not None and cancel.cancelled else Ending.TIMEOUT
            resident.send(json.dumps({"stop": identifier}).encode() + b"\n")
            line = resident.receive(time.monotonic() + self._stay.answer_s)
        answer = json_object(json.loads(line))
        code = answer.get("exit")
        if answer.get("id") != identifier or not isinstance(code, int):
            raise ResidentError("it answers something else")
        self._failures = 0
        self._rss_kib = json_integer(answer.get("rss_kib"))
        return ending, code

    def _drop(self) -> None:
        resident, self._resident = self._resident, None
        directory, self._directory = self._directory, None
        if resident is not None:
            resident.end()
        if directory is not None:
            remove_tree(directory)


def _request_line(identifier: int, plan: Invocation, places: RunPlaces, limits: Limits) -> bytes:
    stdin = ""
    if plan.stdin is not None:
        stdin = str(place_bytes(places.directory, "stdin", plan.stdin))
    request: Json = {
        "id": identifier,
        "arguments": list(plan.arguments),
        "cwd": str(places.cwd),
        "env": dict(base_environment(places.temporary, plan.env)),
        "stdin": stdin,
        "stdout": str(places.directory / "stdout"),
        "stderr": str(places.directory / "stderr"),
        "max_output_bytes": limits.max_output_bytes,
    }
    return json.dumps(request).encode() + b"\n"
