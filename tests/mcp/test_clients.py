"""Real clients, where they are installed.

The official Python SDK is looked for in the interpreter that runs the tests. Others are named by the environment:
``APPSECGATE_TEST_MCP1_PYTHON`` (an interpreter with mcp 1.x), ``APPSECGATE_TEST_FASTMCP_PYTHON``,
``APPSECGATE_TEST_INSPECTOR`` (a folder whose ``node_modules`` has the Inspector; ``node`` on PATH). With
``APPSECGATE_TEST_FULL=1`` a missing client is a failure.
"""

import importlib.util
import json
import os
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

from tests.mcp.fixture_tools import FIXTURE_TOOLS

ROOT = Path(__file__).resolve().parents[2]
SERVER = [sys.executable, "-m", "tests.mcp.fixture_server"]
TOOL_NAMES = [tool.name for tool in FIXTURE_TOOLS]
CALLS = [["echo", {"text": "héllo", "times": 2}], ["fail", {"how": "refused"}], ["roots", {}]]


def missing(test: unittest.TestCase, what: str) -> None:
    """Fail where all tests must run, else skip and say so."""
    if os.environ.get("APPSECGATE_TEST_FULL") == "1":
        test.fail(f"APPSECGATE_TEST_FULL=1, but {what}")
    test.skipTest(f"NOT TESTED: {what}")


def round_trip(python: str, mode: str, *arguments: str) -> Any:
    """What the client of this interpreter made of the fixture server."""
    script = str(ROOT / "tests/mcp/round_trip.py")
    command = [python, script, mode, json.dumps(CALLS), *SERVER, *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=60)
    if done.returncode != 0:
        raise AssertionError(done.stderr.decode(errors="replace")[-3000:])
    return json.loads(done.stdout)


class PythonClients(unittest.TestCase):
    def check(self, python: str, mode: str) -> Any:
        got = round_trip(python, mode)
        self.assertEqual(got["tools"], TOOL_NAMES)
        echo, failure, roots = got["results"]
        self.assertEqual(echo["structured"], {"text": "héllohéllo", "note": None})
        self.assertEqual(json.loads(echo["text"][0]), echo["structured"])
        self.assertEqual((echo["error"], failure["error"], roots["error"]), (False, True, False))
        self.assertIn("no project here", failure["text"][0])
        self.assertEqual(roots["structured"], {"roots": []})
        return got

    def test_the_official_sdk_works_in_both_eras(self) -> None:
        if importlib.util.find_spec("mcp") is None:
            missing(self, "this interpreter has no package mcp")
        for mode, version in (("mcp2-auto", "2026-07-28"), ("mcp2-legacy", "2025-11-25")):
            with self.subTest(mode):
                self.assertEqual(self.check(sys.executable, mode)["version"], version)

    def test_the_official_sdk_is_asked_for_its_roots(self) -> None:
        if importlib.util.find_spec("mcp") is None:
            missing(self, "this interpreter has no package mcp")
        got = round_trip(sys.executable, "mcp2-roots", "--roots")
        self.assertEqual(got["results"][2]["structured"], {"roots": ["file:///some/project"]})

    def test_the_last_sdk_of_the_first_line_works(self) -> None:
        python = os.environ.get("APPSECGATE_TEST_MCP1_PYTHON")
        if not python:
            missing(self, "APPSECGATE_TEST_MCP1_PYTHON names no interpreter with mcp 1.x")
        else:
            self.assertEqual(self.check(python, "mcp1")["version"], "2025-11-25")

    def test_fastmcp_works(self) -> None:
        python = os.environ.get("APPSECGATE_TEST_FASTMCP_PYTHON")
        if not python:
            missing(self, "APPSECGATE_TEST_FASTMCP_PYTHON names no interpreter with fastmcp")
        else:
            self.check(python, "fastmcp")


class Inspector(unittest.TestCase):
    def run_inspector(self, folder: str, *arguments: str) -> Any:
        package = Path(folder) / "node_modules/@modelcontextprotocol/inspector"
        entry = json.loads((package / "package.json").read_text())["bin"]
        script = package / (entry if isinstance(entry, str) else next(iter(entry.values())))
        command = ["node", str(script), "--cli", *arguments, *SERVER]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=120)
        self.assertEqual(done.returncode, 0, (done.stdout + done.stderr).decode(errors="replace")[-3000:])
        return json.loads(done.stdout)

    def test_no_tool_is_dropped_and_no_schema_is_faulted(self) -> None:
        folder = os.environ.get("APPSECGATE_TEST_INSPECTOR")
        if not folder:
            missing(self, "APPSECGATE_TEST_INSPECTOR names no folder with the Inspector")
            return
        for era in ("legacy", "modern"):
            with self.subTest(era):
                listed = self.run_inspector(
                    folder, "--protocol-era", era, "--method", "tools/list", "--strict"
                )
                self.assertEqual([tool["name"] for tool in listed["tools"]], TOOL_NAMES)
