"""An interpreter that is none: it speaks the lines of workers/zygote.py, wrongly. Its own name says how."""

import json
import os
import sys
import time
from pathlib import Path

behaviour = Path(sys.argv[0]).name.partition("-")[2]
UNASKED_LINES = {"garbage": "[[[", "list": "[]"}


def say(**message: object) -> None:
    print(json.dumps(message), flush=True)


def greet() -> None:
    if behaviour == "mute":
        time.sleep(60)
    if behaviour == "stillborn":
        sys.exit(1)
    if behaviour == "talker":
        print("x" * 1_000_000, flush=True)
    say(ready=99 if behaviour == "stranger" else 1, rss_kib=1)


def speak_unasked() -> None:
    if behaviour == "unasked":
        say(id=1, started=1)
        say(id=1, exit=0, rss_kib=1)
    if behaviour in UNASKED_LINES:
        print(UNASKED_LINES[behaviour], flush=True)
    if behaviour == "deaf":
        time.sleep(60)


def answer(number: int) -> None:
    if behaviour == "wrong-id":
        number += 7
    say(id=number, started=1)
    if behaviour == "half-line":
        print('{"id": 1, "ex', end="", flush=True)
        os._exit(0)
    if behaviour == "garbage-later":
        print("]]]", flush=True)
    if behaviour == "silent":
        time.sleep(60)
    say(id=number, exit="0" if behaviour == "text-status" else 0, rss_kib=1)


greet()
speak_unasked()
for line in sys.stdin:
    answer(json.loads(line)["id"])
