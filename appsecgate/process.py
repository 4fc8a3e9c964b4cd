"""The only place that starts processes.

``run`` never raises for what a process does: it says how the process ended. A child gets an argument
list, a session of its own, an environment that is given whole, no inherited descriptors, and no stdin
unless bytes are given. When ``run`` returns, the child and everything that it started are gone: its
group is killed while the leader is still a zombie (so that the group's number cannot have been given
to somebody else), and on Linux whatever left the group is found by a mark in its environment.

Limits are set with ``prlimit`` as soon as the program was loaded, first on the child, then on whatever
it managed to start before that: no code runs between fork and exec, which is what makes ``preexec_fn``
unsafe with threads. What a child took in the moment before counts against its limit from then on.
Where there is no ``prlimit`` (macOS, Windows) the deadline and the output cap remain.
"""

import atexit
import contextlib
import enum
import functools
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from appsecgate.beneath import remove_tree
from appsecgate.descendants import exit_code_of, kill_marked, limit_usage
from appsecgate.errors import CancelledError
from appsecgate.pipes import (
    CappedOutput,
    OutputTail,
    PipeEvents,
    PolledEvents,
    ThreadedEvents,
    readable_bytes,
)

START_ERRORS = (OSError, ValueError, RuntimeError, subprocess.SubprocessError)
"""What ``start_child`` raises where a program cannot be started."""
_RUN_MARK = "APPSECGATE_RUN"
_REAP_S = 5.0
"""How long a killed child may take to die; only one stuck in the kernel takes longer."""
_LIVE_LOCK = threading.RLock()
"""Reentrant, as all locks here: a signal handler may call kill_all in the middle of a start."""
_SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"


class Ending(enum.StrEnum):
    """How a process ended. All but the first say nothing about what it was asked."""

    EXITED = "exited"
    TIMEOUT = "timeout"
    OUTPUT_TOO_LARGE = "output_too_large"
    CANCELLED = "cancelled"
    NOT_STARTED = "not_started"


@dataclass(frozen=True, slots=True)
class Limits:
    """What a process may use. ``memory_bytes`` (address space) and ``cpu_s`` hold per process, on Linux."""

    timeout_s: float
    """Wall-clock seconds from the start."""
    max_output_bytes: int = 64 << 20
    """Of stdout; one byte more ends the process."""
    max_stderr_bytes: int = 256 << 10
    """The last bytes of stderr that are kept; more is dropped and ends nothing."""
    memory_bytes: int | None = None
    cpu_s: int | None = None


@dataclass(frozen=True, slots=True)
class Completed:
    """What a process did. Its output is left out of ``repr``: it may hold secrets."""

    argv: tuple[str, ...]
    ending: Ending
    exit_code: int | None
    """Set where ``ending`` is EXITED: 0-255, or minus the signal that ended it. ``None`` even then where
    the system kept it from us (SIGCHLD ignored by our own parent): never taken for 0."""
    stdout: bytes = field(repr=False)
    """Whole where ``ending`` is EXITED, else what had arrived, at most ``max_output_bytes``."""
    stderr: bytes = field(repr=False)
    """The tail; where ``ending`` is NOT_STARTED, the reason in our words."""
    duration_ms: int


class CancelToken:
    """Tells work in other threads to stop. Every method may be called from any thread."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._cancelled = False
        self._callbacks: dict[object, Callable[[], None]] = {}

    @property
    def cancelled(self) -> bool:
        return self._cancelled

    def cancel(self) -> None:
        """Cancel once and for all; the callbacks run in this thread, each at most once."""
        with self._lock:
            self._cancelled = True
            callbacks = list(self._callbacks.values())
            self._callbacks.clear()
        for callback in callbacks:
            callback()

    def check(self) -> None:
        """Raise CancelledError if the work was cancelled."""
        if self._cancelled:
            raise CancelledError("The call was cancelled.")

    def on_cancel(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Have ``callback`` called (at once if cancelled already); returns the function that unregisters it.

        A callback must be quick, must not raise, and may still run once while it is being unregistered.
        """
        handle = object()
        with self._lock:
            if not self._cancelled:
                self._callbacks[handle] = callback
                return lambda: self._forget(handle)
        callback()
        return lambda: None

    def _forget(self, handle: object) -> None:
        with self._lock:
            self._callbacks.pop(handle, None)


_PIPE_EVENTS: type[PolledEvents] | type[ThreadedEvents] = (
    ThreadedEvents if sys.platform == "win32" else PolledEvents
)


class Child:
    """A started process and everything that it starts."""

    def __init__(self, argv: Sequence[str], popen: "subprocess.Popen[bytes]", mark: bytes) -> None:
        assert popen.stdout is not None and popen.stderr is not None
        self.argv = tuple(argv)
        self.pid = popen.pid
        self.mark = mark
        self.exited = threading.Event()
        self.exit_code: int | None = None
        self.withdrawn = False
        self._popen = popen
        self._reaped = self._abandoned = False
        self._lock = threading.RLock()
        self.events: PipeEvents = _PIPE_EVENTS([popen.stdout, popen.stderr])
        threading.Thread(target=self._await_exit, name="appsecgate-wait", daemon=True).start()

    def _await_exit(self) -> None:
        """Learn the exit code and leave the zombie, which keeps the group's number ours."""
        if hasattr(os, "waitid"):
            with contextlib.suppress(ChildProcessError):
                self.exit_code = exit_code_of(os.waitid(os.P_PID, self._popen.pid, os.WEXITED | os.WNOWAIT))
        else:
            self.exit_code = self._popen.wait()
        self.exited.set()
        self.events.poke()
        if self._abandoned:
            self._reap()

    def kill(self) -> None:
        """Kill the group. Safe at any time, from any thread."""
        with self._lock:
            if not self._reaped:
                _kill_group(self._popen)

    def withdraw(self) -> None:
        """Kill it and let ``complete_child`` say that it was cancelled."""
        self.withdrawn = True
        self.kill()

    def end(self) -> None:
        """Kill what is left of it, in its group and out of it, and reap it."""
        self.kill()
        kill_marked([self.mark])
        if not self.exited.wait(_REAP_S):
            # the thread that waits for it reaps it, unless it died just now
            self._abandoned = True
        if self.exited.is_set():
            self._reap()
        with _LIVE_LOCK:
            _LIVE.discard(self)

    def _reap(self) -> None:
        with self._lock:
            self._popen.wait()
            self._reaped = True


_LIVE: set[Child] = set()
_ENDED = threading.Event()


def run(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    limits: Limits,
    cancel: CancelToken | None = None,
    executable: str | None = None,
    stdin: bytes | None = None,
) -> Completed:
    """Run a program to its end, or to that of its limits, and say how it ended.

    ``env`` is the whole environment (see ``base_environment``) but for a mark of ours. ``executable`` is
    the program where ``argv[0]`` is to be another name. A name without "/" is looked for in the PATH of
    ``env``. Never raises for what the program does or fails to do.
    """
    began = time.monotonic()
    if cancel is not None and cancel.cancelled:
        return _unstarted(argv, Ending.CANCELLED, b"", began)
    try:
        with readable_bytes(stdin) as source:
            child = start_child(argv, cwd=cwd, env=env, limits=limits, executable=executable, stdin=source)
    except START_ERRORS as error:
        words = f"not started: {error}".encode("utf-8", "backslashreplace")
        return _unstarted(argv, Ending.NOT_STARTED, words, began)
    return complete_child(child, limits, cancel=cancel, began=began)


def start_child(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    limits: Limits,
    executable: str | None = None,
    stdin: IO[bytes] | None = None,
) -> Child:
    """Start a program; whoever does must ``complete_child`` or ``end`` it. Raises one of START_ERRORS."""
    if not argv:
        raise ValueError("an empty argument list")
    name = os.urandom(8).hex()
    mark = os.fsencode(f"{_RUN_MARK}={name}")
    _kill_all_at_exit()
    # under the lock, so that kill_all never misses one that is just being started
    with _LIVE_LOCK:
        if _ENDED.is_set():
            raise RuntimeError("our own program is ending")
        popen = subprocess.Popen(
            list(argv),
            executable=executable,
            cwd=cwd,
            env={**env, _RUN_MARK: name},
            stdin=subprocess.DEVNULL if stdin is None else stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            **_own_group_options(),
        )
        try:
            limit_usage(popen.pid, mark, memory_bytes=limits.memory_bytes, cpu_s=limits.cpu_s)
            child = Child(argv, popen, mark)
        except BaseException:
            with popen:
                _kill_group(popen)
            raise
        _LIVE.add(child)
    return child


def complete_child(
    child: Child, limits: Limits, *, cancel: CancelToken | None = None, began: float | None = None
) -> Completed:
    """See a child through to its end, or to that of its limits, and say how it ended.

    The time counts from now; ``began`` (``time.monotonic()``) is where the duration told counts from.
    """
    began = time.monotonic() if began is None else began
    outputs = (CappedOutput(limits.max_output_bytes), OutputTail(limits.max_stderr_bytes))
    ending = _see_through(child, outputs, limits, cancel)
    return Completed(
        argv=child.argv,
        ending=ending,
        exit_code=child.exit_code if ending is Ending.EXITED else None,
        stdout=outputs[0].value(),
        stderr=outputs[1].value(),
        duration_ms=round((time.monotonic() - began) * 1000),
    )


def _unstarted(argv: Sequence[str], ending: Ending, words: bytes, began: float) -> Completed:
    return Completed(tuple(argv), ending, None, b"", words, round((time.monotonic() - began) * 1000))


def _see_through(
    child: Child, outputs: tuple[CappedOutput, OutputTail], limits: Limits, cancel: CancelToken | None
) -> Ending:
    deadline = time.monotonic() + limits.timeout_s
    unregister = (cancel or CancelToken()).on_cancel(child.events.poke)
    try:
        ending = _follow(child, outputs, deadline, cancel)
    finally:
        unregister()
        child.end()
        fits = [outputs[index].take(chunk) for index, chunk in child.events.rest()]
        child.events.close()
    if child.withdrawn:
        return Ending.CANCELLED
    return ending if all(fits) or ending is not Ending.EXITED else Ending.OUTPUT_TOO_LARGE


def _follow(
    child: Child, outputs: tuple[CappedOutput, OutputTail], deadline: float, cancel: CancelToken | None
) -> Ending:
    """Collect output until the child itself has exited; who else holds its pipes open is no matter."""
    while not child.exited.is_set():
        left = deadline - time.monotonic()
        if cancel is not None and cancel.cancelled:
            return Ending.CANCELLED
        if left <= 0:
            return Ending.TIMEOUT
        for index, chunk in child.events.wait(left):
            if not outputs[index].take(chunk):
                return Ending.OUTPUT_TOO_LARGE
    return Ending.EXITED


def kill_all() -> None:
    """Kill every live child with all that it started; the calls that wait for one return CANCELLED."""
    with _LIVE_LOCK:
        children = list(_LIVE)
    for child in children:
        child.withdraw()
    kill_marked([child.mark for child in children])


@functools.cache
def _kill_all_at_exit() -> None:
    atexit.register(_end)


def _end() -> None:
    """Start nothing any more, and kill what runs."""
    _ENDED.set()
    kill_all()


def _own_group_options() -> dict[str, Any]:
    if sys.platform == "win32":  # pragma: no cover
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW}
    return {"start_new_session": True}


def _kill_group(popen: "subprocess.Popen[bytes]") -> None:
    """The caller knows that ``popen`` was not reaped, so the number is still its own."""
    if sys.platform == "win32":  # pragma: no cover
        taskkill = str(Path(os.environ["SYSTEMROOT"], "System32", "taskkill.exe"))
        subprocess.run([taskkill, "/F", "/T", "/PID", str(popen.pid)], capture_output=True, check=False)
        popen.kill()
    else:
        # macOS answers EPERM for a group of zombies
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(popen.pid, signal.SIGKILL)


def base_environment(tmp: Path, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """A whole environment of ours, with nothing of the caller's in it but what Windows cannot do without.

    ``tmp`` becomes the home and the temporary directory; ``extra`` is added and may override.
    """
    env = {
        "PATH": _SYSTEM_PATH,
        "LANG": "C.UTF-8",
        "HOME": str(tmp),
        "TMPDIR": str(tmp),
        "PYTHONHASHSEED": "0",
        "PYTHONSAFEPATH": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONNOUSERSITE": "1",
        "PYTHONUTF8": "1",
        "NO_PROXY": "127.0.0.1",
    }
    if sys.platform == "win32":  # pragma: no cover
        kept = {name: os.environ[name] for name in ("SYSTEMROOT", "COMSPEC", "PATHEXT") if name in os.environ}
        system = str(Path(kept.get("SYSTEMROOT", "C:\\Windows")) / "System32")
        env |= {**kept, "PATH": system, "TEMP": str(tmp), "TMP": str(tmp), "USERPROFILE": str(tmp)}
    return env | dict(extra or {})


@contextlib.contextmanager
def private_directory(parent: Path | None = None, prefix: str = "appsecgate-") -> Iterator[Path]:
    """A directory (0700) that is gone afterwards, even if what ran in it took its own rights away."""
    path = Path(tempfile.mkdtemp(prefix=f"{prefix}{os.getpid()}-", dir=parent))  # the number: see leftovers
    try:
        yield path
    finally:
        remove_tree(path)
