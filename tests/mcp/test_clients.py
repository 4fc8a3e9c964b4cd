"""Real clients, where they are installed, on the fixture server and on the real one.

The official Python SDK is looked for in the interpreter that runs the tests. Others are named by the environment
(``scripts/clients.py`` installs them): ``APPSECGATE_TEST_MCP1_PYTHON`` (an interpreter with mcp 1.x),
``APPSECGATE_TEST_FASTMCP_PYTHON``, ``APPSECGATE_TEST_INSPECTOR`` (the Inspector's package directory) and
``APPSECGATE_TEST_NODE``. With ``APPSECGATE_TEST_FULL=1`` a missing client is a failure.
"""

import importlib.util
import json
import os
import subprocess
import sys
import unittest
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from appsecgate.model import Scanner
from appsecgate.tools.registry import TOOLS
from tests.mcp.fixture_tools import FIXTURE_TOOLS
from tests.support import PACKAGE, ScannerCase

ROOT = Path(__file__).resolve().parents[2]
FIXTURE_SERVER = (sys.executable, "-m", "tests.mcp.fixture_server")
FIXTURE_CALLS = [["echo", {"text": "héllo", "times": 2}], ["fail", {"how": "refused"}], ["roots", {}]]
ERAS = ("legacy", "modern")


def missing(test: unittest.TestCase, what: str) -> None:
    """Fail where all tests must run, else skip and say so."""
    if os.environ.get("APPSECGATE_TEST_FULL") == "1":
        test.fail(f"APPSECGATE_TEST_FULL=1, but {what}")
    print(f"\nSKIPPED, NOT TESTED: {what}", file=sys.stderr)
    test.skipTest(f"NOT TESTED: {what}")


def named(test: unittest.TestCase, variable: str) -> str:
    """What a variable of the environment names."""
    value = os.environ.get(variable)
    if not value or not Path(value).exists():
        missing(test, f"{variable} names no client ({value or 'not set'}); scripts/clients.py installs them")
    assert value is not None
    return value


def this_python(test: unittest.TestCase) -> str:
    """The interpreter that runs the tests, where it has the official SDK."""
    if importlib.util.find_spec("mcp") is None:
        missing(test, "this interpreter has no package mcp")
    return sys.executable


def python_clients(test: unittest.TestCase) -> list[tuple[str, str, str]]:
    """Mode of round_trip.py, its interpreter, and the revision that it must arrive at ("": it does not say)."""
    mine = this_python(test)
    return [
        ("mcp2-auto", mine, "2026-07-28"),
        ("mcp2-legacy", mine, "2025-11-25"),
        ("mcp1", named(test, "APPSECGATE_TEST_MCP1_PYTHON"), "2025-11-25"),
        ("fastmcp", named(test, "APPSECGATE_TEST_FASTMCP_PYTHON"), ""),
    ]


def round_trip(python: str, mode: str, calls: Sequence[Any], server: Sequence[str]) -> Any:
    """What the client of this interpreter made of the server."""
    script = str(ROOT / "tests/mcp/round_trip.py")
    command = [python, script, mode, json.dumps(calls), *server]
    done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
    if done.returncode != 0:
        raise AssertionError(done.stderr.decode(errors="replace")[-3000:])
    return json.loads(done.stdout)


def inspect(test: unittest.TestCase, server: Sequence[str], era: str, *arguments: str) -> Any:
    """What the Inspector's command line prints about the server."""
    package = Path(named(test, "APPSECGATE_TEST_INSPECTOR"))
    entry = json.loads((package / "package.json").read_text())["bin"]
    script = package / (entry if isinstance(entry, str) else next(iter(entry.values())))
    command = [named(test, "APPSECGATE_TEST_NODE"), str(script), "--cli", "--protocol-era", era, *arguments, *server]
    done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
    test.assertEqual(done.returncode, 0, (done.stdout + done.stderr).decode(errors="replace")[-3000:])
    return json.loads(done.stdout)


class FixtureServer(unittest.TestCase):
    names = tuple(tool.name for tool in FIXTURE_TOOLS)

    def test_python_clients_list_and_call(self) -> None:
        for mode, python, version in python_clients(self):
            with self.subTest(mode):
                got = round_trip(python, mode, FIXTURE_CALLS, FIXTURE_SERVER)
                self.assertEqual((got["version"], tuple(got["tools"])), (version, self.names))
                echo, failure, roots = got["results"]
                self.assertEqual(echo["structured"], {"text": "héllohéllo", "note": None})
                self.assertEqual(json.loads(echo["text"][0]), echo["structured"])
                self.assertEqual((echo["error"], failure["error"], roots["error"]), (False, True, False))
                self.assertIn("no project here", failure["text"][0])
                self.assertEqual(roots["structured"], {"roots": []})

    def test_a_client_with_roots_is_asked_for_them(self) -> None:
        got = round_trip(this_python(self), "mcp2-roots", FIXTURE_CALLS, (*FIXTURE_SERVER, "--roots"))
        self.assertEqual(got["results"][2]["structured"], {"roots": ["file:///some/project"]})

    def test_the_inspector_drops_no_tool_and_faults_no_schema(self) -> None:
        for era in ERAS:
            with self.subTest(era):
                listed = inspect(self, FIXTURE_SERVER, era, "--method", "tools/list", "--strict")
                self.assertEqual(tuple(tool["name"] for tool in listed["tools"]), self.names)


class RealServer(ScannerCase):
    scanners = (Scanner.SEMGREP, Scanner.DETECT_SECRETS)
    names = tuple(tool.name for tool in TOOLS)

    def setUp(self) -> None:
        super().setUp()
        self.write("app.py", "import subprocess\n\n\ndef f(x):\n    return subprocess.run(x, shell=True)\n")
        self.server = (*PACKAGE, "--project", str(self.project), "--data-dir", str(self.data))

    def test_python_clients_list_fourteen_tools_scan_and_query(self) -> None:
        calls = [
            ["scan_file", {"path": "app.py", "wait_for_previous": True}],
            ["query_findings_db", {"sql": "SELECT count(*) FROM v_findings WHERE file_path = ?", "params": ["app.py"]}],
            ["scan_file", {"path": "/etc/passwd"}],
        ]
        for mode, python, version in python_clients(self):
            with self.subTest(mode):
                got = round_trip(python, mode, calls, self.server)
                self.assertEqual((len(got["tools"]), tuple(got["tools"])), (14, self.names))
                self.assertEqual(got["version"], version)
                scan, query, refused = got["results"]
                self.assertEqual((scan["error"], query["error"], refused["error"]), (False, False, True))
                self.assertEqual(scan["structured"]["verdict"], "findings")
                self.assertEqual(query["structured"]["rows"], [[len(scan["structured"]["findings"])]])
                self.assertIn("fixed for this session", refused["text"][0])

    def test_the_inspector_lists_fourteen_tools_and_scans(self) -> None:
        for era in ERAS:
            with self.subTest(era):
                listed = inspect(self, self.server, era, "--method", "tools/list", "--strict")
                self.assertEqual(tuple(tool["name"] for tool in listed["tools"]), self.names)
                scan = ("--tool-arg", "path=app.py", "--tool-name", "scan_file", "--method", "tools/call")
                called = inspect(self, self.server, era, *scan)
                self.assertEqual(called["structuredContent"]["verdict"], "findings")
