"""The handshake before everything else is there.

Most of the time between a start and the first answer goes into importing what the first answer does not need. So
``__main__`` begins with what stands here, and imports the rest while a thread already answers.
"""

from collections.abc import Sequence
from typing import Any, Final

from appsecgate import __version__
from appsecgate.mcp.era import ServerInfo
from appsecgate.mcp.server import Greeting
from appsecgate.mcp.serving import Serving
from appsecgate.tools.instructions import INSTRUCTIONS

GREETING: Final = Greeting(ServerInfo("appsecgate", "AppSecGate", __version__), INSTRUCTIONS)
OPTIONS_BEFORE_COMMAND: Final = ("--project", "--data-dir")
_begun: list[Serving[Any]] = []
"""At most one: a process has one stdin."""


def will_serve(arguments: Sequence[str]) -> bool:
    """Whether the command line surely asks for the server; what is doubtful is left to the real parser."""
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word in OPTIONS_BEFORE_COMMAND and rest:
            rest.pop(0)
        elif word != "serve" and not word.startswith(tuple(f"{option}=" for option in OPTIONS_BEFORE_COMMAND)):
            return False
    return True


def begin_early(arguments: Sequence[str]) -> None:
    """Answer from now on, where this process is to be a server."""
    if will_serve(arguments):
        _begun.append(Serving(GREETING))


def begun_serving() -> Serving[Any]:
    """The server that answers already, or one that begins now."""
    return _begun.pop() if _begun else Serving(GREETING)
