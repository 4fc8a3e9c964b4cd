"""A program that ends while a thread of its own waits for a child: process_in_thread.py PIDFILE."""

import sys
import threading
import time
from pathlib import Path

from appsecgate.process import Limits, base_environment, run

pidfile = Path(sys.argv[1])
script = 'echo $$ > "$0"; exec sleep 60'
thread = threading.Thread(
    target=lambda: run(
        ["/bin/sh", "-c", script, str(pidfile)],
        cwd=pidfile.parent,
        env=base_environment(pidfile.parent),
        limits=Limits(timeout_s=60),
    ),
    daemon=True,
)
thread.start()
while not (pidfile.exists() and pidfile.read_text()):
    time.sleep(0.01)
