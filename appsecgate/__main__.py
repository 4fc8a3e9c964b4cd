"""``python -m appsecgate``: the server on stdio, or a command."""

import argparse
import os
import sys
from dataclasses import replace

from appsecgate import __version__
from appsecgate.cli import main, options_of
from appsecgate.mcp.era import ServerInfo
from appsecgate.mcp.roots import ClientFacts
from appsecgate.mcp.server import ServerSetup, serve
from appsecgate.redact.redactor import Redactor
from appsecgate.session import Options, Session
from appsecgate.tools.registry import INSTRUCTIONS, TOOLS


def run_program() -> int:
    """The program. Returns its exit status."""
    return main(sys.argv[1:], serve_mcp)


def serve_mcp(arguments: argparse.Namespace) -> int:
    """The MCP server on this process's stdin and stdout, until the client hangs up."""
    options = options_of(arguments)
    # Error texts may quote project text before any session, and so any key, exists.
    stranger = Redactor(os.urandom(32))
    setup: ServerSetup[Session] = ServerSetup(
        tools=TOOLS,
        make_session=lambda facts: open_session(options, facts),
        info=ServerInfo(name="appsecgate", title="AppSecGate", version=__version__),
        instructions=INSTRUCTIONS,
        redact=stranger.text,
        wants_roots=lambda: not (options.project or options.environ.get("APPSECGATE_PROJECT")),
    )
    return serve(setup)


def open_session(options: Options, facts: ClientFacts) -> Session:
    return Session(replace(options, roots=facts.roots))


if __name__ == "__main__":
    raise SystemExit(run_program())
