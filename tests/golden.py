"""Golden files: what a generated text looked like when somebody last reviewed it.

``APPSECGATE_TEST_GOLDEN=write`` (``make golden``) writes them anew; the diff is the review.
"""

import os
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "tests" / "data"


def compare_golden(test: unittest.TestCase, name: str, text: str) -> None:
    """The text is that of ``tests/data/<name>``; or becomes it, where golden files are being written."""
    path = GOLDEN / name
    if os.environ.get("APPSECGATE_TEST_GOLDEN") == "write":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    test.assertTrue(path.is_file(), f"{path} is missing: make golden writes it")
    test.assertEqual(path.read_text("utf-8"), text, f"{name} changed: make golden writes it anew, the diff is the review")
