"""What the end-to-end tests share: projects in a temporary directory, data directories, and a small MCP client."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from appsecgate.model import Scanner
from appsecgate.process import CancelToken
from appsecgate.session import Options, Session
from appsecgate.tools.base import Call
from tests.scanners.installed import require_installed, scanners_directory

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = (sys.executable, "-W", "error", "-m", "appsecgate")
SINGLE_FILE = (sys.executable, "-W", "error", str(ROOT / "appsecgate.py"))
OSV_EXAMPLES = ROOT / "examples" / "advisories"

AWS_KEY = "AKIA" + "Q3EGKZ7N" + "P4ZWXM5T"
PASSWORD = "hunter2" + "-Zq81!x" + "Lm"


class TempCase(unittest.TestCase):
    """A test with a directory of its own."""

    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory(prefix="appsecgate-test-")
        self.addCleanup(holder.cleanup)
        self.tmp = Path(holder.name).resolve()
        self.project = self.tmp / "project"
        self.project.mkdir()
        self.data = self.tmp / "data"

    def write(self, path: str, text: str | bytes) -> Path:
        target = self.project / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text if isinstance(text, bytes) else text.encode())
        return target


class ScannerCase(TempCase):
    """A test on the real scanners; fails in the full run, and is skipped loudly in the quick one, without them."""

    scanners: tuple[Scanner, ...] = tuple(Scanner)

    @classmethod
    def setUpClass(cls) -> None:
        for scanner in cls.scanners:
            require_installed(scanner)

    def setUp(self) -> None:
        super().setUp()
        link_scanners(self.data)

    def session(self, **settings: Any) -> Session:
        return self.opened(Session(options(self.project, self.data, settings)))

    def opened(self, session: Session) -> Session:
        self.addCleanup(session.close)
        return session


def link_scanners(data: Path) -> None:
    data.mkdir(mode=0o700, exist_ok=True)
    (data / "scanners").symlink_to(scanners_directory())


def options(project: Path, data: Path, settings: Mapping[str, Any] | None = None) -> Options:
    return Options(project=str(project), data_dir=str(data), settings=settings or {}, environ={}, cwd=str(project))


def call(session: Session, seconds: float = 300) -> Call[Session]:
    return Call(session=session, cancel=CancelToken(), deadline=time.monotonic() + seconds)


def clean_environment(data: Path, **more: str) -> dict[str, str]:
    """What clients pass on: no variable of ours but the data directory."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    return {**kept, "HOME": str(data), "APPSECGATE_DATA_DIR": str(data), "PYTHONPATH": str(ROOT), **more}


class ToolError(AssertionError):
    """A tool call that was answered with isError."""


class McpClient:
    """Speaks the 2025-11-25 wire with one server process; keeps every byte that came back."""

    def __init__(self, command: tuple[str, ...], project: Path, data: Path, **environ: str) -> None:
        self.process = subprocess.Popen(
            [*command, "--project", str(project)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=data,
            env=clean_environment(data, **environ),
        )
        self.received = b""
        self._next_id = 0
        self.hello = self.request(
            "initialize",
            {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
        )
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._next_id += 1
        self.send({"jsonrpc": "2.0", "id": self._next_id, "method": method, "params": params})
        assert self.process.stdout is not None
        while True:
            line = self.process.stdout.readline()
            self.received += line
            if not line:
                raise AssertionError(f"the server ended: {self.end()[1].decode(errors='replace')[-2000:]}")
            message = json.loads(line)
            if message.get("id") == self._next_id:
                if "error" in message:
                    raise ToolError(message["error"]["message"])
                result: dict[str, Any] = message["result"]
                return result

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured result; raises ToolError with the text of a refused call."""
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        text = result["content"][0]["text"]
        if result.get("isError"):
            raise ToolError(text)
        structured: dict[str, Any] = result["structuredContent"]
        if json.loads(text) != structured:
            raise AssertionError("text and structuredContent differ")
        return structured

    def refusal(self, tool: str, **arguments: Any) -> str:
        """The text of a call that must be refused."""
        try:
            answer = self.call(tool, **arguments)
        except ToolError as error:
            return str(error)
        raise AssertionError(f"{tool} was not refused: {answer}")

    def end(self) -> tuple[int, bytes]:
        """Hang up; exit status and everything on stderr."""
        out, err = self.process.communicate(timeout=20)
        self.received += out
        return self.process.returncode, err


@contextlib.contextmanager
def mcp_client(command: tuple[str, ...], project: Path, data: Path, **environ: str) -> Iterator[McpClient]:
    client = McpClient(command, project, data, **environ)
    try:
        yield client
    finally:
        if client.process.poll() is None:
            client.end()
        for stream in (client.process.stdin, client.process.stdout, client.process.stderr):
            if stream is not None:
                stream.close()


def run_cli(command: tuple[str, ...], data: Path, *arguments: str, cwd: Path | None = None, **environ: str) -> tuple[int, str, str]:
    """Exit status, stdout, stderr of one command."""
    done = subprocess.run(
        [*command, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        cwd=cwd or data,
        env=clean_environment(data, **environ),
        timeout=300,
        check=False,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()
