"""Bugs of ours, told where a person can find them: tracebacks on stderr, redacted and bounded."""

import os
import sys
import threading
import traceback
from collections.abc import Callable
from typing import Final

MAX_BUG_REPORTS: Final = 14
"""Tracebacks about tool calls per process. A client that never reads stderr must not block us: a pipe takes 64 KiB."""
MAX_SCAN_BUGS: Final = 5
"""The same for what goes wrong inside a scan, which answers all the same."""
MAX_BUG_CHARS: Final = 3_000


class BugReports:
    """Tells stderr about bugs, and the client a reference under which to find them there."""

    def __init__(self, redact: Callable[[str], str], most: int = MAX_BUG_REPORTS) -> None:
        self._redact = redact
        self._left = most
        self._lock = threading.Lock()

    def reference(self) -> str:
        """A new reference."""
        return os.urandom(4).hex()

    def write(self, reference: str, error: BaseException) -> None:
        """The redacted traceback to stderr. Call it after the answer is out: stderr may block."""
        with self._lock:
            self._left -= 1
            if self._left < 0:
                return
        text = self.redacted("".join(traceback.format_exception(error)))
        try:
            sys.stderr.write(f"internal error, reference {reference}\n{text[-MAX_BUG_CHARS:]}\n")
            sys.stderr.flush()
        except (OSError, ValueError, AttributeError):  # closed, or none at all
            return

    def redacted(self, text: str) -> str:
        """The text without secrets, or without anything where redaction itself fails."""
        try:
            return self._redact(text)
        except Exception as error:
            return f"(text withheld: redaction failed with {type(error).__name__})"
