"""A server with test tools on the real engine: ``python -m tests.mcp.fixture_server [--conformance] [--roots]``."""

import sys

from appsecgate.mcp.era import ServerInfo
from appsecgate.mcp.server import Greeting, ServerLimits, ServerSetup
from appsecgate.mcp.serving import Serving
from tests.mcp.conformance_tools import CONFORMANCE_TOOLS
from tests.mcp.fixture_tools import FIXTURE_TOOLS, FixtureSession

INFO = ServerInfo(name="fixture", title="Fixture", version="1.0")
INSTRUCTIONS = "Tools for tests."


def redact(text: str) -> str:
    """The one secret that the fixture tools let slip."""
    return text.replace("hunter2" * 3, "[REDACTED]")


def fixture_greeting(limits: ServerLimits | None = None) -> Greeting:
    """What the fixture server says about itself."""
    return Greeting(INFO, INSTRUCTIONS, limits or ServerLimits())


def fixture_setup(*, conformance: bool = False, wants_roots: bool = False) -> ServerSetup[FixtureSession]:
    """What the fixture server can do."""
    return ServerSetup(
        tools=(*FIXTURE_TOOLS, *(CONFORMANCE_TOOLS if conformance else ())),
        make_session=FixtureSession,
        redact=redact,
        wants_roots=lambda: wants_roots,
    )


if __name__ == "__main__":
    suite = "--conformance" in sys.argv
    serving: Serving[FixtureSession] = Serving(
        fixture_greeting(ServerLimits(progress_interval_s=0.04 if suite else 1.0))
    )
    sys.exit(serving.run(fixture_setup(conformance=suite, wants_roots="--roots" in sys.argv)))
