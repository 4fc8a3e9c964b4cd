"""A server with test tools on the real engine: ``python -m tests.mcp.fixture_server [--conformance] [--roots]``."""

import sys

from appsecgate.mcp.era import ServerInfo
from appsecgate.mcp.server import ServerLimits, ServerSetup, serve
from tests.mcp.conformance_tools import CONFORMANCE_TOOLS
from tests.mcp.fixture_tools import FIXTURE_TOOLS, FixtureSession

INFO = ServerInfo(name="fixture", title="Fixture", version="1.0")
INSTRUCTIONS = "Tools for tests."


def redact(text: str) -> str:
    """The one secret that the fixture tools let slip."""
    return text.replace("hunter2" * 3, "[REDACTED]")


def fixture_setup(
    *, conformance: bool = False, wants_roots: bool = False, limits: ServerLimits | None = None
) -> ServerSetup[FixtureSession]:
    """Everything that a server needs, without its streams."""
    return ServerSetup(
        tools=(*FIXTURE_TOOLS, *(CONFORMANCE_TOOLS if conformance else ())),
        make_session=FixtureSession,
        info=INFO,
        instructions=INSTRUCTIONS,
        redact=redact,
        wants_roots=lambda: wants_roots,
        limits=limits or ServerLimits(progress_interval_s=0.04 if conformance else 1.0),
    )


if __name__ == "__main__":
    sys.exit(serve(fixture_setup(conformance="--conformance" in sys.argv, wants_roots="--roots" in sys.argv)))
