"""Round trips with somebody else's client: ``python round_trip.py MODE CALLS SERVER...`` prints JSON.

MODE is ``mcp2-auto``, ``mcp2-legacy``, ``mcp2-roots``, ``mcp1`` or ``fastmcp``; CALLS is a JSON array of ``[name, arguments]``. Run
by the interpreter that has the client; it imports nothing of ours.
"""

import asyncio
import importlib
import json
import sys
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any


@asynccontextmanager
async def mcp2(command: list[str], mode: str, **options: Any) -> Any:
    mcp: Any = importlib.import_module("mcp")
    server = mcp.StdioServerParameters(command=command[0], args=command[1:], cwd=Path.cwd())
    async with mcp.Client(server, mode=mode, **options) as client:
        yield client, str(client.protocol_version)


@asynccontextmanager
async def mcp1(command: list[str]) -> Any:
    mcp: Any = importlib.import_module("mcp")
    server = mcp.StdioServerParameters(command=command[0], args=command[1:], cwd=Path.cwd())
    async with mcp.stdio_client(server) as (read, write), mcp.ClientSession(read, write) as session:
        started = await session.initialize()
        yield session, str(started.protocolVersion)


@asynccontextmanager
async def fastmcp(command: list[str]) -> Any:
    transports: Any = importlib.import_module("fastmcp.client.transports")
    transport = transports.StdioTransport(command=command[0], args=command[1:], cwd=str(Path.cwd()))
    async with importlib.import_module("fastmcp").Client(transport) as client:
        yield client, ""


async def one_root(_context: Any) -> Any:
    """The roots of a client that has one."""
    types: Any = importlib.import_module("mcp.types")
    return types.ListRootsResult(roots=[types.Root(uri="file:///some/project")])


def connect(mode: str, command: list[str]) -> AbstractAsyncContextManager[Any]:
    """The client that ``mode`` names, connected."""
    match mode:
        case "mcp2-auto":
            return mcp2(command, "auto")
        case "mcp2-legacy":
            return mcp2(command, "legacy")
        case "mcp2-roots":
            return mcp2(command, "legacy", list_roots_callback=one_root)
        case "mcp1":
            return mcp1(command)
        case "fastmcp":
            return fastmcp(command)
    raise SystemExit(f"no mode {mode}")


def plain(result: Any) -> dict[str, Any]:
    """A call's result in the same form for all clients."""

    def first(*names: str) -> Any:
        return next((getattr(result, name) for name in names if hasattr(result, name)), None)

    return {
        "error": bool(first("is_error", "isError")),
        "structured": first("structured_content", "structuredContent"),
        "text": [block.text for block in result.content if block.type == "text"],
    }


async def main(mode: str, calls: list[tuple[str, dict[str, Any]]], command: list[str]) -> None:
    async with connect(mode, command) as (client, version):
        listed = await client.list_tools()
        tools = listed if isinstance(listed, list) else listed.tools
        options = {"raise_on_error": False} if mode == "fastmcp" else {}
        results = [plain(await client.call_tool(name, arguments, **options)) for name, arguments in calls]
    print(json.dumps({"version": version, "tools": [tool.name for tool in tools], "results": results}))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], json.loads(sys.argv[2]), sys.argv[3:]))
