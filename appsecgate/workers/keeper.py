"""Starts a program that waits, and ends it when nobody needs it: ``python -I -S keeper.py IDLE_S PROGRAM ARGUMENTS…``.

The program gets our stdout and stderr and no stdin, and its exit status becomes ours. A byte on stdin says that it
was given its work: then there is no idle time any more. The end of stdin ends it.
"""

import os
import select
import signal
import sys


def main(idle_s: str, command: list[str]) -> None:
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    null = os.open(os.devnull, os.O_RDONLY)
    child = os.posix_spawn(command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, null, 0)])
    left_s: float | None = float(idle_s)
    while os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        readable = select.select([0, read_end], [], [], left_s)[0]
        if read_end in readable:
            os.read(read_end, 4096)
        elif not readable or not os.read(0, 4096):
            os.kill(child, signal.SIGKILL)
        else:
            left_s = None
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os._exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
