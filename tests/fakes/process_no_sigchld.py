"""A program whose parent ignored SIGCHLD, so that the system keeps no exit codes for it."""

import signal
from pathlib import Path

from appsecgate.process import Limits, base_environment, run

signal.signal(signal.SIGCHLD, signal.SIG_IGN)
completed = run(
    ["/bin/sh", "-c", "exit 3"], cwd=Path("/"), env=base_environment(Path("/")), limits=Limits(timeout_s=10)
)
print(completed.ending, completed.exit_code)
