"""A hostile repository gets nothing: it runs no code, reads nothing outside, silences nobody, and steers no terminal."""

import os
import shutil
import sys
import unittest
from typing import Any

from tests.evidence.traps import ESCAPES, INJECTION, TrappedRepository
from tests.support import AWS_KEY, OSV_EXAMPLES, PACKAGE, ROOT, McpClient, ScannerCase, mcp_client, run_cli

LONG_AGO = 1_000_000_000
"""Seconds since 1970: access times this old are renewed at the first read, on every usual mount."""


class HostileRepository(ScannerCase):
    def setUp(self) -> None:
        super().setUp()
        self.traps = TrappedRepository(self.project, self.tmp / "markers", self.tmp / "outside")
        self.traps.lay()
        status, _, err = run_cli(PACKAGE, self.data, "advisories", "import", str(OSV_EXAMPLES))
        self.assertEqual(status, 0, err)
        for path in self.traps.outside_files:
            os.utime(path, (LONG_AGO, LONG_AGO))

    def client(self) -> Any:
        """Started as clients do it: in the project's directory; with the repository's programs first on PATH."""
        path = f".:{self.project}:{self.project}/bin:{self.project}/node_modules/.bin:{os.environ['PATH']}"
        command = ("env", "-C", str(self.project), sys.executable, "-P", "-W", "error", "-m", "appsecgate")
        return mcp_client((shutil.which("env") or "env", *command[1:]), self.project, self.data, PATH=path)

    def test_the_whole_cycle_in_a_trapped_repository(self) -> None:
        self.assertGreaterEqual(len(set(self.traps.runners)), 20)
        with self.client() as client:
            shown = client.call("scan_project")
            self._nothing_is_silenced(client, shown)
            self._the_traps_are_listed(shown)
            changed = client.call("scan_diff")
            self.assertIn(".git/config", _ignored(changed))
            self.assertIn("tracked.py", {finding["file_path"] for finding in changed["findings"]})
            self.assertIn(("semgrep", "outside_project"), {(m["scanner"], m["reason"]) for m in changed["missing"]})
            for path in ("app.py", "infra/main.tf", "requirements.txt", "Dockerfile", ".env"):
                one = client.call("scan_file", path=path)
                self.assertIn(".semgrepignore", _ignored(one))
            self._links_out_are_refused(client)
            self._words_from_the_project_are_data(client)
            self._the_work_goes_on(client)
            received = client.received
        self.assertEqual(sorted(path.name for path in self.traps.markers.iterdir()), [])
        self._nothing_outside_was_read(received)
        self._no_byte_steers_a_terminal(received)

    def _nothing_is_silenced(self, client: McpClient, shown: dict[str, Any]) -> None:
        found = client.call(
            "query_findings_db", sql="SELECT DISTINCT scanner, file_path, rule_id FROM v_findings ORDER BY 1, 2, 3"
        )["rows"]
        for expected in (
            ["semgrep", "app.py", "python-eval"],
            ["detect-secrets", "settings.py", "aws-access-key"],
            ["checkov", "infra/main.tf", "CKV_AWS_20"],
            ["checkov", "Dockerfile", "CKV_DOCKER_8"],
        ):
            self.assertIn(expected, found)
        self.assertIn(["pip-audit", "requirements-dev.txt"], [row[:2] for row in found])
        self.assertEqual((shown["verdict"], shown["complete"]), ("findings", False))
        self.assertGreaterEqual(shown["summary"]["suppressed_inline"], 4)
        states = {(row["scanner"], row["state"]) for row in shown["evidence"]}
        for scanner in ("semgrep", "detect-secrets", "pip-audit", "checkov"):
            self.assertIn((scanner, "applied"), states, "no scanner was switched off")

    def _the_traps_are_listed(self, shown: dict[str, Any]) -> None:
        missing = {(item["scanner"], item["reason"]) for item in shown["missing"]}
        self.assertIn(("semgrep", "outside_project"), missing)
        self.assertIn(("semgrep", "not_regular"), missing)
        self.assertTrue({scanner for scanner, _ in missing} >= {"semgrep", "detect-secrets", "pip-audit", "checkov"})
        self.assertEqual(self.traps.listed - _ignored(shown), set())

    def _links_out_are_refused(self, client: McpClient) -> None:
        for path in ("canary.py", "passwd.txt", "linked/canary.py", "../outside/canary.py", "/etc/passwd"):
            self.assertIn("fixed for this session", client.refusal("scan_file", path=path))

    def _words_from_the_project_are_data(self, client: McpClient) -> None:
        rows = client.call(
            "query_findings_db", sql="SELECT logical_id FROM v_findings WHERE file_path = 'app.py' AND scanner = 'semgrep'"
        )["rows"]
        pack = client.call("get_fix_context", finding_id=rows[0][0])
        self.assertIn(INJECTION, "\n".join(pack["window"]["lines"]))
        self.assertIn("window.lines", " ".join(pack["untrusted_fields"]))
        self.assertNotIn(INJECTION, pack["instructions"])

    def _the_work_goes_on(self, client: McpClient) -> None:
        """Every other tool that touches the repository."""
        for path in ("tracked.py", "infra/main.tf", "requirements-dev.txt", "settings.py"):
            rows = client.call(
                "query_findings_db", sql="SELECT logical_id FROM v_findings WHERE file_path = ?", params=[path]
            )["rows"]
            self.assertTrue(rows, path)
            self.assertTrue(client.call("get_fix_context", finding_id=rows[0][0])["finding"])
            self.assertFalse(client.call("verify_fix", finding_id=rows[0][0], status="fixed")["verified"])
        self.assertTrue(client.call("get_config")["problems"])
        self.assertTrue(client.call("get_scan_history")["scans"])
        self.assertTrue(client.call("export_snapshot", path="one", format="ndjson")["files"])

    def _nothing_outside_was_read(self, received: bytes) -> None:
        canary = AWS_KEY[:-4] + "ZZZZ"
        stored = b"".join(path.read_bytes() for path in self.data.glob("appsecgate.db*"))
        for data in (received, stored):
            self.assertNotIn(canary.encode(), data)
            self.assertNotIn(b"aws_s3_bucket.canary", data)
            self.assertNotIn(b"root:x:0", data)
        control = self.tmp / "control"
        control.write_text("x")
        os.utime(control, (LONG_AGO, LONG_AGO))
        control.read_text()
        if control.stat().st_atime == LONG_AGO:
            self.skipTest("SKIPPED, NOT TESTED: this file system keeps no access times")
        for path in self.traps.outside_files:
            self.assertEqual(path.stat().st_atime, LONG_AGO, f"{path} was read")

    def _no_byte_steers_a_terminal(self, received: bytes) -> None:
        for forbidden in (ESCAPES, "\x1b", "\\u001b", "\u202e", "\x07"):
            self.assertNotIn(forbidden.encode(), received)


def _ignored(shown: dict[str, Any]) -> set[str]:
    return {path for item in shown["ignored_by_repository"] for path in item["files"]}


class HostileRepositoryOnTheTerminal(HostileRepository):
    def test_the_whole_cycle_in_a_trapped_repository(self) -> None:
        command = ("env", "-C", str(self.project), sys.executable, "-P", "-W", "error", "-m", "appsecgate")
        status, out, err = run_cli(command, self.data, "scan")
        self.assertEqual(status, 3, err)
        self.assertEqual(sorted(path.name for path in self.traps.markers.iterdir()), [])
        self.assertIn(".semgrepignore", out)
        self._nothing_outside_was_read((out + err).encode())
        self._no_byte_steers_a_terminal((out + err).encode())


class DocumentedPromises(unittest.TestCase):
    def test_every_test_that_the_security_page_names_exists(self) -> None:
        page = (ROOT / "docs" / "security.md").read_text("utf-8")
        named = sorted({word for word in page.replace("`", " ").split() if word.startswith("tests.")})
        self.assertGreaterEqual(len(named), 15)
        for name in named:
            with self.subTest(name):
                self.assertTrue(self._exists(name.rstrip(".,;")), name)

    def _exists(self, name: str) -> bool:
        loader = unittest.TestLoader()
        suite = loader.loadTestsFromName(name)
        return not loader.errors and suite.countTestCases() > 0


