"""Tools for the server's own tests: each does one thing that a real tool might do, or should not."""

import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from appsecgate.errors import CancelledError, ProjectError
from appsecgate.mcp.roots import ClientFacts
from appsecgate.process import Limits, base_environment, run
from appsecgate.tools.base import Call, Tool
from appsecgate.typed import arg


@dataclass(frozen=True, slots=True)
class FixtureSession:
    """What a session is here: what the server told about the client."""

    facts: ClientFacts


FixtureCall = Call[FixtureSession]


@dataclass(frozen=True, slots=True)
class Nothing:
    """No arguments."""


@dataclass(frozen=True, slots=True)
class EchoInput:
    text: str = arg("What to say.", example="hi")
    times: int = arg("How often.", default=1, minimum=1, maximum=1000)


@dataclass(frozen=True, slots=True)
class EchoOutput:
    text: str = arg("What was said.")
    note: str | None = arg("Nothing, ever.")


def echo(_call: FixtureCall, request: EchoInput) -> EchoOutput:
    return EchoOutput(text=request.text * request.times, note=None)


@dataclass(frozen=True, slots=True)
class WaitInput:
    seconds: float = arg("How long.", minimum=0, maximum=600)
    stubborn: bool = arg("Whether to ignore cancellation.", default=False)


def wait(call: FixtureCall, request: WaitInput) -> EchoOutput:
    end = time.monotonic() + request.seconds
    while time.monotonic() < end:
        if not request.stubborn:
            call.cancel.check()
        time.sleep(0.01)
    return EchoOutput(text="waited", note=None)


@dataclass(frozen=True, slots=True)
class ChildInput:
    pid_file: str = arg("Where the child writes its process id.")


def child(call: FixtureCall, request: ChildInput) -> EchoOutput:
    """A process that sleeps for a minute, and says who it is."""
    program = "import os,sys,time; open(sys.argv[1],'w').write(str(os.getpid())); time.sleep(60)"
    ended = run(
        [sys.executable, "-I", "-c", program, request.pid_file],
        cwd=Path("/"),
        env=base_environment(Path("/tmp")),
        limits=Limits(timeout_s=60),
        cancel=call.cancel,
    )
    call.cancel.check()
    return EchoOutput(text=str(ended.ending), note=None)


@dataclass(frozen=True, slots=True)
class StepsInput:
    values: tuple[float, ...] = arg("The progress to report, in this order.")
    pause: float = arg("Seconds between them.", default=0.0)


def steps(call: FixtureCall, request: StepsInput) -> EchoOutput:
    for value in request.values:
        call.progress(value, 100, f"at {value}")
        time.sleep(request.pause)
    late = threading.Timer(0.05, call.progress, (1e9, None, "too late"))
    late.daemon = True
    late.start()
    return EchoOutput(text="done", note=None)


@dataclass(frozen=True, slots=True)
class FailInput:
    how: str = arg("Which way to fail.")


def fail(_call: FixtureCall, request: FailInput) -> EchoOutput:
    match request.how:
        case "refused":
            raise ProjectError("no project here: token=" + "hunter2" * 3)
        case "exit":
            sys.exit(3)
        case "recursion":
            return fail(_call, request)
        case "cancelled":
            raise CancelledError("nobody asked for this")
        case "nan":
            return EchoOutput(text=float("nan"), note=None)  # type: ignore[arg-type]
        case "huge":
            return EchoOutput(text="x" * 50_000, note=None)
        case "surrogate":
            return EchoOutput(text="caf\udce9.py", note=None)
        case "noise":
            print("stray output")
            sys.stdout.flush()
            return EchoOutput(text="quiet", note=None)
        case "bug":
            raise ZeroDivisionError(f"secret: {'hunter2' * 3}")
        case _:
            return EchoOutput(text="did not fail", note=None)


@dataclass(frozen=True, slots=True)
class RootsOutput:
    roots: tuple[str, ...] = arg("The client's roots.")


def roots(call: FixtureCall, _request: Nothing) -> RootsOutput:
    return RootsOutput(roots=call.session.facts.roots)


def _tool(function: Any, takes: Any, gives: Any) -> Tool[FixtureSession, Any, Any]:
    name = function.__name__
    return Tool(
        name=name,
        title=name.title(),
        description=f"{name}: {function.__doc__ or 'for tests'}",
        input=takes,
        output=gives,
        call=function,
        summary=name,
        read_only=True,
        idempotent=True,
    )


FIXTURE_TOOLS = (
    _tool(echo, EchoInput, EchoOutput),
    _tool(wait, WaitInput, EchoOutput),
    _tool(child, ChildInput, EchoOutput),
    _tool(steps, StepsInput, EchoOutput),
    _tool(fail, FailInput, EchoOutput),
    _tool(roots, Nothing, RootsOutput),
)
