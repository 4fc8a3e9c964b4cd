"""The two eras of the protocol: which one a message belongs to, and what answers look like in each revision.

Legacy revisions (2024-11-05 to 2025-11-25) shake hands with ``initialize``; the modern one (2026-07-28)
has no session, every request carries an envelope in ``params._meta``. Each message is routed by itself,
since real clients probe with one era and go on with the other in the same process.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, TypeGuard

from appsecgate.mcp.wire import INVALID_PARAMS, UNSUPPORTED_VERSION, RpcError
from appsecgate.model import Json
from appsecgate.tools.base import ToolCard, ToolResult

MODERN_VERSION: Final = "2026-07-28"
LEGACY_VERSIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
LATEST_LEGACY: Final = LEGACY_VERSIONS[-1]
BATCH_VERSION: Final = "2025-03-26"
"""The one revision that has batches."""
STRUCTURED_SINCE: Final = "2025-06-18"
"""Titles, output schemas and structured content. Revisions are dates, so they compare as text."""
ANNOTATIONS_SINCE: Final = "2025-03-26"
LIST_TTL_MS: Final = 3_600_000

_META_VERSION: Final = "io.modelcontextprotocol/protocolVersion"
_META_CAPABILITIES: Final = "io.modelcontextprotocol/clientCapabilities"
_META_SERVER: Final = "io.modelcontextprotocol/serverInfo"
_MODERN_METHODS: Final = ("server/discover", "subscriptions/listen")

RequestId: TypeAlias = str | int


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """How the server introduces itself."""

    name: str
    title: str
    version: str


@dataclass(frozen=True, slots=True)
class Request:
    """A request that is well formed, and the revision under which it is answered."""

    id: RequestId
    method: str
    params: dict[str, Json]
    version: str

    @property
    def modern(self) -> bool:
        """Whether the answer is a modern one."""
        return self.version == MODERN_VERSION

    @property
    def progress_token(self) -> RequestId | None:
        """What the client wants progress reported under; 0 and "" are tokens too."""
        token = request_meta(self.params).get("progressToken")
        return token if is_request_id(token) else None


def is_request_id(value: Json) -> TypeGuard[RequestId]:
    """Whether a value can be an id or a progress token: a string or an integer, not true or false."""
    return isinstance(value, str | int) and not isinstance(value, bool)


def request_meta(params: dict[str, Json]) -> dict[str, Json]:
    """``params._meta`` where it is an object, else an empty one."""
    meta = params.get("_meta")
    return meta if isinstance(meta, dict) else {}


def is_modern(method: str, params: dict[str, Json]) -> bool:
    """Whether a request is of the modern era. A handshake is a legacy one even if it carries an envelope."""
    if method == "initialize" and isinstance(params.get("protocolVersion"), str):
        return False
    meta = request_meta(params)
    return _META_VERSION in meta or _META_CAPABILITIES in meta or method in _MODERN_METHODS


def check_envelope(params: dict[str, Json]) -> None:
    """``RpcError`` where a modern request's envelope is incomplete or asks for another revision."""
    meta = request_meta(params)
    version = meta.get(_META_VERSION)
    if not isinstance(version, str):
        raise RpcError(INVALID_PARAMS, f"Invalid params: _meta lacks {_META_VERSION} (a string)")
    if not isinstance(meta.get(_META_CAPABILITIES), dict):
        raise RpcError(INVALID_PARAMS, f"Invalid params: _meta lacks {_META_CAPABILITIES} (an object)")
    if version != MODERN_VERSION:
        data: Json = {"supported": [MODERN_VERSION], "requested": version[:100]}
        raise RpcError(UNSUPPORTED_VERSION, "Unsupported protocol version", data)


def negotiated_version(requested: str) -> str:
    """The legacy revision to answer with: the client's own, else our latest. Errors end many clients."""
    return requested if requested in LEGACY_VERSIONS else LATEST_LEGACY


def initialize_result(info: ServerInfo, instructions: str, version: str) -> dict[str, Json]:
    """The server's half of the legacy handshake."""
    server: dict[str, Json] = {"name": info.name, "version": info.version}
    if version >= STRUCTURED_SINCE:
        server["title"] = info.title
    return {
        "protocolVersion": version,
        "capabilities": {"tools": {}},
        "serverInfo": server,
        "instructions": instructions,
    }


def discover_result(instructions: str) -> dict[str, Json]:
    """What a modern client asks first."""
    return {
        "supportedVersions": [MODERN_VERSION],
        "capabilities": {"tools": {}},
        "instructions": instructions,
        "ttlMs": LIST_TTL_MS,
        "cacheScope": "public",
    }


def list_result(cards: Sequence[ToolCard], version: str) -> dict[str, Json]:
    """All tools on one page; fields that came after ``version`` are left out, old clients fail on them."""
    result: dict[str, Json] = {"tools": [_listed_tool(card, version) for card in cards]}
    if version == MODERN_VERSION:
        result |= {"ttlMs": LIST_TTL_MS, "cacheScope": "public"}
    return result


def _listed_tool(card: ToolCard, version: str) -> dict[str, Json]:
    tool: dict[str, Json] = {"name": card.name}
    if version >= STRUCTURED_SINCE:
        tool["title"] = card.title
    tool |= {"description": card.description, "inputSchema": card.input_schema}
    if version >= STRUCTURED_SINCE and card.output_schema is not None:
        tool["outputSchema"] = card.output_schema
    if version >= ANNOTATIONS_SINCE:
        tool["annotations"] = card.annotations
    return tool


def call_result(result: ToolResult, version: str) -> dict[str, Json]:
    """A tool's result; before 2025-06-18 its text alone."""
    answer: dict[str, Json] = {"content": list(result.content)}
    if result.structured is not None and version >= STRUCTURED_SINCE:
        answer["structuredContent"] = result.structured
    answer["isError"] = result.is_error
    return answer


def progress_message(token: RequestId, done: float, total: float | None, message: str, version: str) -> Json:
    """A progress notification."""
    params: dict[str, Json] = {"progressToken": token, "progress": done}
    if total is not None:
        params["total"] = total
    if message and version >= ANNOTATIONS_SINCE:
        params["message"] = message
    return {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}


def answered(request: Request, result: dict[str, Json], info: ServerInfo) -> dict[str, Json]:
    """The response to a request; a modern result says that it is whole and who made it."""
    if request.modern:
        server: Json = {"name": info.name, "title": info.title, "version": info.version}
        result = {"resultType": "complete", **result, "_meta": {_META_SERVER: server}}
    return {"jsonrpc": "2.0", "id": request.id, "result": result}


def refused(request_id: RequestId | None, error: RpcError) -> dict[str, Json]:
    """The error response; ``request_id`` is None where the request's own could not be read."""
    return {"jsonrpc": "2.0", "id": request_id, "error": error.as_json()}
