"""The loopback server that answers pip-audit's OSV questions from the local advisory copy.

It listens on 127.0.0.1 with a port of the system's choice and a random path, while an audit runs and no longer.
It is the only module of the product that opens a socket. Matching versions is the server's work in the OSV
protocol: what it answers is what counts, so a copy that cannot be asked is an HTTP error, never an empty answer.
"""

import hmac
import http.server
import json
import re
import secrets
import socketserver
import threading
from collections.abc import Callable, Sequence
from types import TracebackType

from appsecgate.advisories.lookup import AdvisoryLookup
from appsecgate.advisories.merge import Advisory, AdvisoryAnswer, answer_for, names_of_flaws
from appsecgate.advisories.osv import OSV_ECOSYSTEM, OsvRecord
from appsecgate.advisories.pep440 import canonical_name
from appsecgate.errors import AdvisoryError
from appsecgate.model import Json
from appsecgate.scanners.report_json import json_object, json_text

_MAX_QUESTION_BYTES = 16_384
_IDLE_S = 30.0


class AdvisoryResponder:
    """A context manager: inside it the address answers, outside nothing does."""

    def __init__(self, advisories: AdvisoryLookup, samples: Sequence[OsvRecord] = ()) -> None:
        """``samples``: made-up records of known-bad samples, answered beside the copy's own."""
        self._advisories = advisories
        self._samples = tuple(samples)
        self._names = names_of_flaws((record.id, record.aliases) for record in samples)
        self._token = secrets.token_urlsafe(16)
        self._server: _LoopbackServer | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> str:
        """Start, and return the URL of the query endpoint."""
        path = f"/{self._token}/v1/query"
        server = _LoopbackServer(path, self._answer)
        self._server = server
        self._thread = threading.Thread(
            target=server.serve_forever, args=(0.05,), name="advisory-responder", daemon=True
        )
        self._thread.start()
        return f"http://127.0.0.1:{server.server_address[1]}{path}"

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
        if self._thread is not None:
            self._thread.join()
        self._server = self._thread = None

    def _answer(self, name: str, version: str) -> dict[str, Json]:
        sampled = [record for record in self._samples if any(package.name == name for package in record.packages)]
        if sampled:
            return osv_answer(answer_for(name, version, sampled, self._names))
        return osv_answer(self._advisories.lookup(name, version))


def osv_answer(answer: AdvisoryAnswer) -> dict[str, Json]:
    """The body of a response: one record per flaw, in the narrow form that pip-audit reads without loss.

    It takes the first range of the last affected entry alone, so there is one of each; fixed versions are ones
    that lie outside every range; a time that does not end in ``Z`` would stop it, so there is none.
    """
    return (
        {"vulns": [_osv_record(answer.name, advisory) for advisory in answer.advisories]} if answer.advisories else {}
    )


def _osv_record(name: str, advisory: Advisory) -> Json:
    events: list[Json] = [{"introduced": "0"}]
    events += [{"fixed": version} for version in advisory.fixed_versions]
    return {
        "schema_version": "1.6.0",
        "id": advisory.id,
        "aliases": list(advisory.ids[1:]),
        "modified": advisory.modified,
        "summary": advisory.summary or advisory.id,
        "affected": [
            {"package": {"name": name, "ecosystem": OSV_ECOSYSTEM}, "ranges": [{"type": "ECOSYSTEM", "events": events}]}
        ],
    }


class _LoopbackServer(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, path: str, answer: Callable[[str, str], dict[str, Json]]) -> None:
        self.path = path
        self.answer = answer
        super().__init__(("127.0.0.1", 0), _OsvHandler)

    def server_bind(self) -> None:
        """Bind without looking up the host's name, as ``http.server`` would."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", int(self.server_address[1])

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is no event."""


class _OsvHandler(http.server.BaseHTTPRequestHandler):
    server: _LoopbackServer
    protocol_version = "HTTP/1.1"  # one connection for all questions
    wbufsize = -1  # head and body in one packet: without it and without Nagle off, 40 ms per question
    disable_nagle_algorithm = True
    timeout = _IDLE_S

    def do_POST(self) -> None:
        if not hmac.compare_digest(self.path.encode(), self.server.path.encode()):
            self.close_connection = True  # its body was not read
            self._send(404, {"message": "no such path"})
            return
        length = self.headers.get("Content-Length", "")
        if not re.fullmatch(r"[0-9]{1,6}", length) or int(length) > _MAX_QUESTION_BYTES:
            self.close_connection = True
            self._send(413, {"message": "no usable length"})
            return
        self._send(*self._answered(self.rfile.read(int(length))))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Nothing: which packages a project uses stays out of logs."""

    def _answered(self, question: bytes) -> tuple[int, dict[str, Json]]:
        try:
            document = json_object(json.loads(question))
        except (ValueError, RecursionError):
            return 400, {"message": "not JSON"}
        package = json_object(document.get("package"))
        name, version = json_text(package.get("name")), json_text(document.get("version"))
        if not name or not version or package.get("ecosystem") != OSV_ECOSYSTEM:
            return 400, {"message": "package.name, package.ecosystem PyPI and version are needed"}
        try:
            return 200, self.server.answer(canonical_name(name), version)
        except AdvisoryError as error:
            return 503, {"message": str(error)}
        except Exception as error:  # the boundary: whatever is wrong with the copy, the answer is an error
            return 500, {"message": type(error).__name__}

    def _send(self, status: int, body: dict[str, Json]) -> None:
        content = json.dumps(body, separators=(",", ":")).encode()
        self.send_response_only(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(content)
        self.wfile.flush()
