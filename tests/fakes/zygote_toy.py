"""A program for the zygote that does what its first argument says."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

LOADED: list[object] = []


def load(directory: str) -> None:
    LOADED.append(os.getpid())
    LOADED.append(sorted(path.name for path in Path(directory).iterdir()))


def main(arguments: list[str]) -> None:
    what = arguments[0]
    if what == "tell":
        told = {
            "arguments": arguments,
            "loaded": LOADED,
            "cwd": str(Path.cwd()),
            "environ": {key: value for key, value in os.environ.items() if key != "APPSECGATE_RUN"},
            "stdin": sys.stdin.read(),
        }
        print(json.dumps(told))
    if what == "poison":
        LOADED.append("poison")
        sys.modules["json"] = None  # type: ignore[assignment]
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if what == "hang":
        time.sleep(60)
    if what == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "kill-parent":
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(60)
    if what == "exit":
        sys.exit(int(arguments[1]))
    if what == "raise":
        raise KeyError("sk_" + "live_secret")
    if what == "flood":
        sys.stdout.write("x" * 5_000_000)
    if what == "leave-behind":
        left = subprocess.Popen([sys.executable, "-I", "-c", "import time; time.sleep(60)"])
        print(left.pid)


if __name__ == "__main__":
    load(os.curdir)
    main(sys.argv[1:])
