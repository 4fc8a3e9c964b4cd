"""The whole cycle without a network, under a read-only root, with the project read-only and no home directory."""

import json
import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

from tests.support import OSV_EXAMPLES, PACKAGE, ROOT, SINGLE_FILE, McpClient, ScannerCase, mcp_client, run_cli

EXAMPLE = ROOT / "examples" / "vulnerable-shop"
LOOPBACK = re.compile(r'sa_family=AF_INET, .*sin_addr=inet_addr\("127\.\d+\.\d+\.\d+"\)|sa_family=AF_UNIX')
TRY_NETWORK = (
    "import socket\nfor address in (('192.0.2.1', 80), ('8.8.8.8', 53)):\n"
    "    try:\n        socket.create_connection(address, 2)\n    except OSError:\n        continue\n    raise SystemExit(1)\n"
)
"""Exit status 0 where no connection can be made."""


def loud_skip(message: str) -> None:
    print(f"\nSKIPPED, NOT TESTED: {message}", file=sys.stderr)
    raise unittest.SkipTest(message)


def require_bubblewrap() -> str:
    """The sandbox's program. Without it the full run fails; where the kernel forbids it, the test is skipped."""
    found = shutil.which("bwrap")
    if found is None and os.environ.get("APPSECGATE_TEST_FULL") == "1":
        raise AssertionError("bubblewrap is not installed: apt-get install bubblewrap")
    if found is None:
        loud_skip("offline and read-only: bubblewrap is not installed")
    assert found is not None
    probe = subprocess.run([found, "--ro-bind", "/", "/", "--unshare-net", "true"], capture_output=True, check=False)
    if probe.returncode != 0:
        loud_skip(f"offline and read-only: the kernel forbids namespaces: {probe.stderr.decode()[:200]}")
    return found


class OfflineReadOnly(ScannerCase):
    command: tuple[str, ...] = PACKAGE

    def setUp(self) -> None:
        super().setUp()
        self.bwrap = require_bubblewrap()
        shutil.copytree(EXAMPLE, self.project, dirs_exist_ok=True)
        subprocess.run(["git", "init", "-q", str(self.project)], check=True)
        status, _, err = run_cli(self.command, self.data, "advisories", "import", str(OSV_EXAMPLES))
        self.assertEqual(status, 0, err)
        self.scratch = self.tmp / "scratch"
        self.scratch.mkdir()

    def sandboxed(self, *command: str) -> tuple[str, ...]:
        """The command with nothing but loopback, nothing writable but the data directory and a temporary one."""
        kept = {
            "PATH": os.environ["PATH"], "TMPDIR": str(self.scratch), "PYTHONPATH": str(ROOT),
            "APPSECGATE_DATA_DIR": str(self.data), "PYTHONDONTWRITEBYTECODE": "1",
        }  # fmt: skip
        variables = [word for name, value in kept.items() for word in ("--setenv", name, value)]
        return (
            self.bwrap, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-net", "--unshare-pid",
            "--bind", str(self.data), str(self.data), "--bind", str(self.scratch), str(self.scratch),
            "--cap-drop", "ALL", "--die-with-parent", "--clearenv", *variables, *command,
        )  # fmt: skip

    def tree(self) -> dict[str, tuple[int, bytes]]:
        files = (path for path in self.project.rglob("*") if path.is_file())
        return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in files}

    def test_the_sandbox_keeps_its_promise(self) -> None:
        """A test of the test: no way out, and no way to write."""
        done = subprocess.run(self.sandboxed(sys.executable, "-c", TRY_NETWORK), check=False, timeout=30)
        self.assertEqual(done.returncode, 0, "the sandbox has a network")
        for path in (self.project / "new", Path("/new"), Path.home() / "new"):
            done = subprocess.run(self.sandboxed("touch", str(path)), capture_output=True, check=False)
            self.assertNotEqual(done.returncode, 0, f"{path} is writable")

    def test_the_whole_cycle(self) -> None:
        before = self.tree()
        with mcp_client(self.sandboxed(*self.command), self.project, self.data) as client:
            self._cycle(client)
        self.assertEqual(self.tree(), before)
        self.assertEqual(list(self.scratch.iterdir()), [], "nothing is left behind")

    def _cycle(self, client: McpClient) -> None:
        shown = client.call("scan_project")
        self.assertEqual(
            {row["scanner"] for row in shown["evidence"] if row["state"] == "applied" or row["reason"] == "advisories_stale"},
            {"semgrep", "detect-secrets", "pip-audit", "checkov"},
        )
        self.assertEqual({item["reason"] for item in shown["missing"]} - {"advisories_stale"}, set(), shown["missing"])
        self.assertGreaterEqual(shown["summary"]["total"], 15)
        self.assertTrue(client.call("scan_diff")["findings"])
        finding = client.call("scan_file", path="shop/app.py")["findings"][0]["logical_id"]
        self.assertTrue(client.call("get_fix_context", finding_id=finding)["window"]["lines"])
        answer = client.call("verify_fix", finding_id=finding, status="fixed")
        self.assertEqual((answer["verified"], answer["reason_code"]), (False, "still_present"))
        self.assertTrue(client.call("query_findings_db", sql="SELECT count(*) FROM v_attempts")["rows"][0][0])
        snapshot = client.call("export_snapshot", path="one", format="parquet")
        self.assertTrue(snapshot["files"])
        self.assertTrue(client.call("get_config")["settings"])


class OfflineReadOnlySingleFile(OfflineReadOnly):
    command = SINGLE_FILE


class NoConnectionLeaves(OfflineReadOnly):
    """On the ordinary network, where connections would succeed: none is even tried."""

    def test_the_sandbox_keeps_its_promise(self) -> None:
        """The tracer sees a connection where one is made."""
        self.assertTrue(self._connections(sys.executable, "-c", TRY_NETWORK))

    def test_the_whole_cycle(self) -> None:
        tried = self._connections(*PACKAGE, "--data-dir", str(self.data), "scan", str(self.project), "--format", "json")
        self.assertTrue(tried, "pip-audit asks our loopback responder")
        self.assertEqual([line for line in tried if not LOOPBACK.search(line)], [])

    def _connections(self, *command: str) -> list[str]:
        strace = shutil.which("strace")
        if strace is None:
            loud_skip("connections are not traced: strace is not installed (the network namespace proves the same)")
        assert strace is not None
        log = self.scratch / "connections"
        argv = [strace, "-f", "-qq", "-e", "trace=connect,sendto,sendmsg", "-e", "signal=none", "-o", str(log), *command]
        environment: dict[str, Any] = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "HOME": str(self.tmp)}
        done = subprocess.run(argv, env=environment, cwd=self.data, capture_output=True, check=False, timeout=300)
        if b"PTRACE_TRACEME" in done.stderr or b"ptrace" in done.stderr:
            loud_skip("connections are not traced: the kernel forbids it")
        if "scan" in command:
            self.assertGreater(json.loads(done.stdout)["total_available"], 10)
        lines = log.read_text(errors="replace").splitlines() if log.exists() else []
        log.unlink(missing_ok=True)
        return [line for line in lines if "sa_family=AF_INET" in line]
