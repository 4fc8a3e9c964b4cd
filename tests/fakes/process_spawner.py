"""Leaves descendants behind: process_spawner.py HOW PIDFILE [EXIT_AFTER_S].

HOW is a list, joined by commas: ``session`` (leave the process group), ``keep`` (keep the pipes open, else
they are closed), ``bare`` (drop the environment), ``hundred`` (a hundred of them). Each descendant writes its
number into PIDFILE and would live for a minute.
"""

import os
import sys
import time


def descend(how: list[str], pidfile: str) -> None:
    if "session" in how:
        os.setsid()
    if "keep" not in how:
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 1)
        os.dup2(null, 2)
    with open(pidfile, "a") as file:
        file.write(f"{os.getpid()}\n")
    env = {} if "bare" in how else dict(os.environ)
    os.execve("/bin/sleep", ["sleep", "60"], env)


def main() -> None:
    how, pidfile = sys.argv[1].split(","), sys.argv[2]
    count = 100 if "hundred" in how else 1
    for _ in range(count):
        if os.fork() == 0:
            if os.fork() == 0:
                descend(how, pidfile)
            os._exit(0)
        os.wait()
    while True:
        try:
            with open(pidfile) as file:
                if len(file.readlines()) == count:
                    break
        except FileNotFoundError:
            pass
        time.sleep(0.01)
    print("ready", flush=True)
    time.sleep(float(sys.argv[3]) if len(sys.argv) > 3 else 0)


main()
