"""Keeps a program loaded and runs it in a fork per request: ``python -I zygote.py PROGRAM.py DIRECTORY IDLE_S``.

The program is one of ours (``load(directory)`` imports all that it needs, ``main(arguments)`` does what it does
when it is started alone). A request runs in a child that does just that, in the directory, environment and files
that are named, so nothing that a file does to it can reach the next request.

Lines on stdout:   {"ready": 1, "rss_kib": 32000}
Lines on stdin:    {"id": 7, "arguments": […], "cwd": "…", "env": {…}, "stdin": "…", "stdout": "…", "stderr": "…",
                    "max_output_bytes": 1000}
Lines on stdout:   {"id": 7, "started": 1}, and when it is over {"id": 7, "exit": 0, "rss_kib": 32000}
Lines on stdin:    {"stop": 7} ends request 7, if it still runs

The end of stdin, or ``IDLE_S`` seconds without a line, ends everything.
"""

import contextlib
import gc
import json
import os
import resource
import select
import signal
import sys
import tempfile
import types
from typing import Any, NoReturn

PROTOCOL = 1
LONGEST_LINE = 1 << 20


class HangupError(Exception):
    """Nobody is there any more, or has asked for long."""


class Wire:
    """The two ends that were stdin and stdout at the start, moved away from whatever the program prints."""

    def __init__(self) -> None:
        self.read_end, self.write_end = os.dup(0), os.dup(1)
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        os.dup2(2, 1)
        os.close(null)
        self.pending = b""

    def close(self) -> None:
        os.close(self.read_end)
        os.close(self.write_end)

    def line(self) -> bytes | None:
        """The next line, or None while there is only a part of one."""
        if b"\n" not in self.pending:
            chunk = os.read(self.read_end, 1 << 16)
            if not chunk or len(self.pending) > LONGEST_LINE:
                raise HangupError
            self.pending += chunk
        if b"\n" not in self.pending:
            return None
        line, self.pending = self.pending.split(b"\n", 1)
        return line

    def say(self, **message: int) -> None:
        text = json.dumps(message).encode() + b"\n"
        while text:
            text = text[os.write(self.write_end, text) :]


class Deaths:
    """A descriptor that becomes readable when a child ends; works wherever there is fork."""

    def __init__(self) -> None:
        self.descriptor, write_end = os.pipe()
        os.set_blocking(self.descriptor, False)
        os.set_blocking(write_end, False)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
        signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)

    def drain(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while os.read(self.descriptor, 4096):
                pass

    def forget(self) -> None:
        """In a child: as if there had been nothing."""
        os.close(signal.set_wakeup_fd(-1))
        os.close(self.descriptor)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def main(arguments: list[str]) -> None:
    program_path, directory, idle_s = arguments
    wire = Wire()
    gc.disable()  # what is loaded stays: looking for garbage in it would take a quarter of the time
    program = load_program(program_path)
    program.load(directory)
    deaths = Deaths()
    gc.enable()
    gc.freeze()  # so that a collection in a child does not copy every page
    wire.say(ready=PROTOCOL, rss_kib=rss_kib())
    try:
        while True:
            if not wire.pending and not select.select([wire.read_end], [], [], float(idle_s))[0]:
                raise HangupError
            line = wire.line()
            message = json.loads(line) if line is not None else {}
            if "id" in message:  # a stop that comes too late is nothing
                serve(message, wire, deaths, program)
    except (HangupError, BrokenPipeError):
        pass


def load_program(path: str) -> Any:
    """Not through the import system: the program's directory must not become a place to import from."""
    module = types.ModuleType("worker_program")
    sys.modules[module.__name__] = module
    with open(path, encoding="utf-8") as file:
        exec(compile(file.read(), path, "exec"), module.__dict__)  # noqa: S102  our own program
    return module


def serve(request: dict[str, Any], wire: Wire, deaths: Deaths, program: Any) -> None:
    child = os.fork()
    if child == 0:
        try:
            deaths.forget()
            wire.close()
            run_program(request, program)
        finally:
            os._exit(70)  # only where leave() was not reached
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            os.setpgid(child, child)  # the child does it too: whoever comes first
    wire.say(id=request["id"], started=1)
    code = await_child(child, request["id"], wire, deaths)
    wire.say(id=request["id"], exit=code, rss_kib=rss_kib())


def run_program(request: dict[str, Any], program: Any) -> NoReturn:
    """In the child. Leaves with the status that the program would leave with when started alone."""
    if sys.platform == "linux":  # what it starts is killed with it; elsewhere it dies with all of us
        os.setpgid(0, 0)
    os.dup2(os.open(request["stdin"] or os.devnull, os.O_RDONLY), 0)
    os.dup2(os.open(request["stdout"], os.O_WRONLY), 1)
    os.dup2(os.open(request["stderr"], os.O_WRONLY), 2)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    tempfile.tempdir = None
    most = int(request["max_output_bytes"]) + 1
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    code = 0
    try:
        program.main(request["arguments"])
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException as error:
        sys.stderr.write(type(error).__name__ + "\n")
        code = 1
    leave(code)


def leave(code: int) -> NoReturn:
    """Without exit handlers: those of the loaded program have nothing to do, slowly."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        code = 1
    os._exit(code)


def await_child(child: int, identifier: int, wire: Wire, deaths: Deaths) -> int:
    """Its exit code, or minus the signal that ended it; with it everything in its group is gone."""
    try:
        while True:
            ended = os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if ended is not None:
                break
            readable = select.select([wire.read_end, deaths.descriptor], [], [])[0]
            deaths.drain()
            line = wire.line() if wire.read_end in readable else None
            if line is not None and json.loads(line).get("stop") == identifier:
                kill(child)
    finally:
        kill(child)
        status = os.waitpid(child, 0)[1]
    return os.waitstatus_to_exitcode(status)


def kill(child: int) -> None:
    """The child is not reaped yet, so the number is its own."""
    for end in (os.kill, os.killpg):
        with contextlib.suppress(OSError):
            end(child, signal.SIGKILL)


def rss_kib() -> int:
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size // 1024 if sys.platform == "darwin" else size


if __name__ == "__main__":
    main(sys.argv[1:])
