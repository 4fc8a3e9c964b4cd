"""How this program is started: so that a command which we propose works as it stands, from any directory."""

import shlex
import shutil
import sys
from pathlib import Path

SAMPLE_COMMAND = "python -P -m appsecgate"
"""How texts write it. ``-P``: Python must not look for modules in the directory that it is started in."""


def own_command() -> str:
    """The command that starts this program again, without its arguments.

    The single file and a checkout (which has the single file beside the package) are named by their path, since
    neither is installed; an installed package by its own command, or as a module of the interpreter that runs it.
    """
    started = Path(sys.argv[0]).absolute()
    beside = started.parent.parent / "appsecgate.py"
    python = shlex.quote(sys.executable or "python3")
    if started.name == "appsecgate.py":
        return f"{python} {shlex.quote(str(started))}"
    if started.name == "__main__.py" and started.parent.name == "appsecgate" and beside.is_file():
        return f"{python} {shlex.quote(str(beside))}"
    if started.name in ("appsecgate", "appsecgate.exe"):
        on_path = shutil.which("appsecgate")
        return "appsecgate" if on_path and Path(on_path).absolute() == started else shlex.quote(str(started))
    return f"{python} -P -m appsecgate"


def as_started(text: str) -> str:
    """A text of ours with the command as it works here."""
    return text.replace(SAMPLE_COMMAND, own_command()) if SAMPLE_COMMAND in text else text
