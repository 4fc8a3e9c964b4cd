"""semgrep's own MCP server, offline, with a rule file of ours: what its tool ``semgrep_scan`` takes.

What it needs to run without a network was found by trying: it does not start before it has read OAuth metadata from
its vendor's host (a responder on loopback gives them here), it asks the client for its roots before every scan and
waits for the answer for ever, and its scan takes the rules that SEMGREP_RULES names instead of asking for the
registry's. Without the paid engine each call starts a semgrep process of its own.
"""

import contextlib
import http.server
import json
import os
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from appsecgate.model import Scanner
from appsecgate.scanners.installed import scanner_home
from tests.scanners.installed import scanners_directory
from tests.support import ROOT

ANSWER_S = 60.0


class NotMeasuredError(Exception):
    """Why there is no figure."""


class _Metadata(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        host = f"http://{self.headers['Host']}"
        keys = ("issuer", "authorization_endpoint", "token_endpoint", "introspection_endpoint", "jwks_uri")
        body = json.dumps({key: host if key == "issuer" else f"{host}/{key}" for key in keys}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing on stderr."""


@contextlib.contextmanager
def metadata_responder() -> Iterator[str]:
    """The URL of a host on loopback that answers at once what the vendor's would."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Metadata)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def merged_rules(language: str, folder: Path) -> Path:
    """One file with every rule of ours that applies to a file of this language."""
    rules: list[object] = []
    for name in (language, "regex"):
        rules += json.loads((ROOT / "appsecgate" / "rules" / f"{name}.json").read_text("utf-8"))["rules"]
    target = folder / f"{language}-rules.json"
    target.write_text(json.dumps({"rules": rules}))
    return target


class SemgrepServer:
    """Speaks with one server process; a request that is not answered in ``answer_s`` ends it."""

    def __init__(self, project: Path, url: str, rules: Path, program: Path, answer_s: float) -> None:
        self._project = project
        self._answer_s = answer_s
        self._said = tempfile.TemporaryFile()  # noqa: SIM115  (lives as long as the process)
        self._next_id = 0
        environ = {
            "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(rules.parent),
            "SEMGREP_URL": url,
            "SEMGREP_RULES": str(rules),
            "SEMGREP_MCP_DISABLE_TRACING": "true",
            "SEMGREP_ENABLE_VERSION_CHECK": "0",
            "NO_PROXY": "127.0.0.1",
        }
        try:
            self.process = subprocess.Popen(
                [str(program), "mcp", "-t", "stdio"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._said,
                cwd=project,
                env=environ,
            )
        except OSError as error:
            self._said.close()
            raise NotMeasuredError(str(error)) from error
        client = {"name": "bench", "version": "1"}
        hello = {"protocolVersion": "2025-11-25", "capabilities": {"roots": {}}, "clientInfo": client}
        try:
            self.request("initialize", hello)
        except NotMeasuredError:
            self.end()
            raise
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def scan(self, path: str) -> int:
        """How many findings ``semgrep_scan`` has for this file of the project."""
        files = [{"path": str(self._project / path)}]
        result = self.request("tools/call", {"name": "semgrep_scan", "arguments": {"code_files": files}})
        found = result.get("structuredContent")
        if result.get("isError") or found is None or found["errors"]:
            raise NotMeasuredError(f"semgrep_scan: {json.dumps(result)[:300]}")
        return len(found["results"])

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._next_id += 1
        watchdog = threading.Timer(self._answer_s, self.process.kill)
        watchdog.start()
        try:
            self._send({"jsonrpc": "2.0", "id": self._next_id, "method": method, "params": params})
            return self._answer()
        except OSError as error:
            raise NotMeasuredError(self._last_words()) from error
        finally:
            watchdog.cancel()

    def _answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        while read := self.process.stdout.readline():
            message = json.loads(read)
            if message.get("method") == "roots/list":
                roots = {"roots": [{"uri": self._project.as_uri()}]}
                self._send({"jsonrpc": "2.0", "id": message["id"], "result": roots})
            elif message.get("id") == self._next_id and "method" not in message:
                if "error" in message:
                    raise NotMeasuredError(str(message["error"])[:300])
                result: dict[str, Any] = message["result"]
                return result
        raise NotMeasuredError(self._last_words())

    def end(self) -> None:
        with contextlib.suppress(OSError):
            assert self.process.stdin is not None
            self.process.stdin.close()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()
        self._said.close()

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def _last_words(self) -> str:
        """The end of what it said on stderr; no newline, so that it fits into a table."""
        self._said.seek(0)
        lines = self._said.read().decode(errors="replace").strip().splitlines()
        return f"the server ended or did not answer: {lines[-1][:200] if lines else 'it said nothing'}"


def semgrep_program() -> Path:
    return scanner_home(Scanner.SEMGREP, scanners_directory().parent) / "bin" / "semgrep"


@contextlib.contextmanager
def semgrep_server(
    project: Path, url: str, rules: Path, program: Path | None = None, answer_s: float = ANSWER_S
) -> Iterator[SemgrepServer]:
    """A server that is ready for calls, and its end; NotMeasuredError where it does not come up."""
    server = SemgrepServer(project, url, rules, program or semgrep_program(), answer_s)
    try:
        yield server
    finally:
        server.end()
