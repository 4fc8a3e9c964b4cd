"""``python -m appsecgate``: the server on stdio, or a command."""

import sys

from appsecgate.mcp.early import begin_early

if __name__ == "__main__":
    begin_early(sys.argv[1:])

import argparse
import os
from dataclasses import replace

from appsecgate.cli import main, options_of
from appsecgate.mcp.early import begun_serving
from appsecgate.mcp.roots import ClientFacts
from appsecgate.mcp.server import ServerSetup
from appsecgate.redact.redactor import Redactor
from appsecgate.scanners.pool import WorkerPool
from appsecgate.session import Options, Session
from appsecgate.tools.registry import TOOLS


def run_program() -> int:
    """The program. Returns its exit status."""
    return main(sys.argv[1:], serve_mcp)


def serve_mcp(arguments: argparse.Namespace) -> int:
    """The MCP server on this process's stdin and stdout, until the client hangs up."""
    options = options_of(arguments)
    # Error texts may quote project text before any session, and so any key, exists.
    stranger = Redactor(os.urandom(32))
    workers = WorkerPool()
    setup: ServerSetup[Session] = ServerSetup(
        tools=TOOLS,
        make_session=lambda facts: open_session(options, facts, workers),
        redact=stranger.text,
        wants_roots=lambda: not (options.project or options.environ.get("APPSECGATE_PROJECT")),
    )
    try:
        return begun_serving().run(setup)
    finally:
        workers.close()


def open_session(options: Options, facts: ClientFacts, workers: WorkerPool) -> Session:
    return Session(replace(options, roots=facts.roots), workers=workers)


if __name__ == "__main__":
    raise SystemExit(run_program())
