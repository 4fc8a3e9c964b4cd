"""Starts a child at once, before anybody can limit the parent; the child then takes what memory it can."""

import os
import sys
import time

if os.fork() == 0:
    time.sleep(0.3)
    try:
        taken = bytearray(1_000_000_000)
    except MemoryError:
        os.write(1, b"refused")
    else:
        os.write(1, b"got %d" % len(taken))
    os._exit(0)
os.wait()
sys.exit(0)
