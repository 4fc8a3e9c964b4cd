"""The tools that the official conformance suite calls, on the same engine as ours."""

import base64
import struct
import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from appsecgate.mcp.wire import RpcError
from appsecgate.model import Json
from appsecgate.tools.base import Call, ToolCard, ToolResult, failed_result, text_block
from tests.mcp.fixture_tools import FixtureSession

RawCall = Callable[[Call[FixtureSession]], ToolResult]
EMPTY_SCHEMA: dict[str, Json] = {"type": "object", "properties": {}}


@dataclass(frozen=True, slots=True)
class RawTool:
    """A tool that says itself what goes over the wire."""

    name: str
    call: RawCall
    schema: dict[str, Json]

    def card(self) -> ToolCard:
        return ToolCard(self.name, self.name, f"Conformance fixture {self.name}", self.schema, None, {})

    def bind(self, arguments: Mapping[str, Json]) -> RawCall:
        return self.call


def _content(*blocks: dict[str, Json]) -> ToolResult:
    return ToolResult(content=blocks)


def _png() -> str:
    def part(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"\x00\xff\x00\x00")
    data = b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", pixels) + part(b"IEND", b"")
    return base64.b64encode(data).decode("ascii")


def _wav() -> str:
    head = struct.pack(
        "<4sI4s4sIHHIIHH4sI", b"RIFF", 36, b"WAVE", b"fmt ", 16, 1, 1, 8000, 8000, 1, 8, b"data", 0
    )
    return base64.b64encode(head).decode("ascii")


IMAGE: dict[str, Json] = {"type": "image", "data": _png(), "mimeType": "image/png"}
AUDIO: dict[str, Json] = {"type": "audio", "data": _wav(), "mimeType": "audio/wav"}
TEXT = text_block("This is a simple text response for testing.")


def _resource(uri: str, mime: str, text: str) -> dict[str, Json]:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": mime, "text": text}}


def _with_progress(call: Call[FixtureSession]) -> ToolResult:
    for done in (0, 50, 100):
        call.progress(done, 100, "")
        time.sleep(0.05)
    return _content(text_block("done"))


def _missing_capability(_call: Call[FixtureSession]) -> ToolResult:
    data: Json = {"requiredCapabilities": {"sampling": {}}}
    raise RpcError(-32021, "Missing required client capability", data)


JSON_SCHEMA: dict[str, Json] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}

_CALLS: Mapping[str, RawCall] = {
    "test_simple_text": lambda _call: _content(TEXT),
    "test_image_content": lambda _call: _content(IMAGE),
    "test_audio_content": lambda _call: _content(AUDIO),
    "test_embedded_resource": lambda _call: _content(
        _resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")
    ),
    "test_multiple_content_types": lambda _call: _content(
        text_block("Multiple content types test:"),
        IMAGE,
        _resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ),
    "test_error_handling": lambda _call: failed_result(
        "This tool intentionally returns an error for testing"
    ),
    "test_tool_with_progress": _with_progress,
    "test_missing_capability": _missing_capability,
    "test_streaming_elicitation": lambda _call: _content(text_block("no questions")),
    "test_logging_tool": lambda _call: _content(text_block("no logs")),
}

CONFORMANCE_TOOLS = (
    *(RawTool(name, call, EMPTY_SCHEMA) for name, call in _CALLS.items()),
    RawTool("json_schema_2020_12_tool", lambda _call: _content(TEXT), JSON_SCHEMA),
)
