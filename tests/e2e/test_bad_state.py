"""A damaged, newer, unwritable or full data directory: a clear error, a living server, nothing half-written."""

import os
import shutil
import sqlite3
import sys
import unittest

from tests.support import PACKAGE, TempCase, mcp_client, run_cli


class BadState(TempCase):
    def setUp(self) -> None:
        super().setUp()
        self.write("app.py", "print('hello')\n")
        self.data.mkdir(mode=0o700)

    def _refused(self, *wanted: str) -> None:
        """Two calls are refused alike, the server answers in between, and the command line says the same."""
        with mcp_client(PACKAGE, self.project, self.data) as client:
            for _ in range(2):
                text = client.refusal("get_scan_history")
                for word in wanted:
                    self.assertIn(word, text)
                self.assertEqual(len(client.request("tools/list", {})["tools"]), 14)
            status, stderr = client.end()
            self.assertEqual((status, stderr), (0, b""))
        status, _, err = run_cli(PACKAGE, self.tmp, "history", "--project", str(self.project), "--data-dir", str(self.data))
        self.assertEqual(status, 4)
        self.assertIn(wanted[0], err)

    def test_a_corrupt_database_is_named_and_left_untouched(self) -> None:
        garbage = b"this is no database" * 500
        (self.data / "appsecgate.db").write_bytes(garbage)
        self._refused("appsecgate.db", "Move the file aside")
        self.assertEqual((self.data / "appsecgate.db").read_bytes(), garbage)

    def test_a_newer_database_is_refused_and_left_untouched(self) -> None:
        with sqlite3.connect(self.data / "appsecgate.db") as connection:
            connection.execute("CREATE TABLE future (x)")
            connection.execute("PRAGMA user_version = 999")
        connection.close()
        before = (self.data / "appsecgate.db").read_bytes()
        self._refused("999", "newer program")
        self.assertEqual((self.data / "appsecgate.db").read_bytes(), before)

    def test_a_data_directory_that_cannot_be_written_is_named(self) -> None:
        shutil.rmtree(self.data)
        (self.tmp / "file").write_text("no directory")
        missing = self.tmp / "file" / "data"
        status, _, err = run_cli(
            PACKAGE, self.tmp, "history", "--project", str(self.project), "--data-dir", str(missing)
        )
        self.assertEqual(status, 4)
        self.assertIn("--data-dir", err)

    def test_a_full_disk_stores_nothing_and_says_so(self) -> None:
        if shutil.which("bwrap") is None:
            message = "bwrap (Debian's bubblewrap) is not installed: the full disk is not tested"
            if os.environ.get("APPSECGATE_TEST_FULL") == "1":
                self.fail(message)
            print(f"\nSKIPPED, NOT TESTED: {message}", file=sys.stderr)
            raise unittest.SkipTest(message)
        small = ("bwrap", "--dev-bind", "/", "/", "--size", "400000", "--tmpfs", str(self.data), *PACKAGE)
        with mcp_client(small, self.project, self.data) as client:
            client.call("get_config")
            texts = []
            for number in range(400):
                result = client.request(
                    "tools/call",
                    {"name": "suppress_finding", "arguments": {"path": f"p{number}/*", "reason": "x" * 1000}},
                )
                if result.get("isError"):
                    texts.append(result["content"][0]["text"])
                    break
            self.assertTrue(texts, "the disk never filled")
            self.assertIn("Free some space", texts[0])
            self.assertEqual(len(client.request("tools/list", {})["tools"]), 14)
            self.assertTrue(client.call("get_config")["settings"], "what needs no room still works")
