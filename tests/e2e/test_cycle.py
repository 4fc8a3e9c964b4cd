"""The true cycle over MCP on the real scanners, on the package and on the single file."""

import ast
import json
import shutil
from typing import Any

from tests.support import OSV_EXAMPLES, PACKAGE, ROOT, SINGLE_FILE, McpClient, ScannerCase, mcp_client, run_cli

EXAMPLE = ROOT / "examples" / "vulnerable-shop"
TOOL_NAMES = [
    "scan_file", "scan_diff", "scan_project", "get_fix_context", "get_fix_context_batch", "verify_fix",
    "verify_fix_batch", "query_findings_db", "export_snapshot", "get_scan_history", "submit_feedback",
    "suppress_finding", "get_config", "update_config",
]  # fmt: skip


class CycleOnThePackage(ScannerCase):
    command: tuple[str, ...] = PACKAGE

    def setUp(self) -> None:
        super().setUp()
        shutil.copytree(EXAMPLE, self.project, dirs_exist_ok=True)
        status, _, err = run_cli(self.command, self.data, "advisories", "import", str(OSV_EXAMPLES))
        self.assertEqual(status, 0, err)

    def client(self) -> Any:
        return mcp_client(self.command, self.project, self.data)

    def test_the_fourteen_tools_are_listed_and_described(self) -> None:
        with self.client() as client:
            tools = client.request("tools/list", {})["tools"]
            self.assertEqual([tool["name"] for tool in tools], TOOL_NAMES)
            self.assertIn("The server does NOT generate or apply fixes", client.hello["instructions"])

    def test_scan_context_fix_verify(self) -> None:
        with self.client() as client:
            for path in ("shop/app.py", "web/cart.js", "infra/main.tf", "Dockerfile", "requirements.txt"):
                with self.subTest(path=path):
                    result = client.call("scan_file", path=path)
                    self.assertEqual(result["verdict"], "findings")
                    self.assertTrue(all(f["file_path"] == path for f in result["findings"]))
                    again = client.call("scan_file", path=path)["evidence"]
                    self.assertEqual(
                        sum(row["findings"] > 0 for row in again), sum(row["findings"] > 0 for row in result["evidence"])
                    )
            self._a_cosmetic_edit_is_not_a_fix(client)
            self._an_honest_edit_is_a_fix(client)
            self._the_books_agree(client)

    def _shell_call(self, client: McpClient) -> dict[str, Any]:
        found = client.call("scan_file", path="shop/app.py")["findings"]
        return next(f for f in found if "shell=True" in f["snippet"])

    def _a_cosmetic_edit_is_not_a_fix(self, client: McpClient) -> None:
        finding = self._shell_call(client)
        pack = client.call("get_fix_context", finding_id=finding["logical_id"])
        self.assertIn("shell=True", "\n".join(pack["window"]["lines"]))
        file = self.project / "shop/app.py"
        file.write_text("# looked at\n\n\n" + file.read_text())
        answer = client.call("verify_fix", finding_id=finding["logical_id"], status="fixed")
        self.assertEqual((answer["verified_status"], answer["verified"]), ("not_fixed", False), answer)
        self.assertEqual(answer["reason_code"], "still_present")

    def _an_honest_edit_is_a_fix(self, client: McpClient) -> None:
        finding = self._shell_call(client)
        file = self.project / "shop/app.py"
        lines = file.read_text().split("\n")
        flagged = slice(finding["line_start"] - 1, finding["line_end"])
        indent = lines[flagged][0][: len(lines[flagged][0]) - len(lines[flagged][0].lstrip())]
        lines[flagged] = [f"{indent}pass"]
        file.write_text("\n".join(lines))
        answer = client.call("verify_fix", finding_id=finding["logical_id"], status="fixed")
        self.assertEqual((answer["verified_status"], answer["verified"]), ("fixed", True), answer)

    def _the_books_agree(self, client: McpClient) -> None:
        rows = client.call("query_findings_db", sql="SELECT verified_status FROM v_attempts ORDER BY verified_at")
        self.assertEqual(rows["rows"], [["not_fixed"], ["fixed"]])
        history = client.call("get_scan_history")
        self.assertEqual((history["attempts"], history["verified"], history["not_fixed"]), (2, 1, 1))
        snapshot = client.call("export_snapshot", path="one", format="ndjson")
        attempts = next(f for f in snapshot["files"] if "v_attempts" in f)
        exported = (self.data / "exports" / "one" / attempts).read_text().splitlines()
        self.assertEqual([json.loads(line)["verified_status"] for line in exported], ["not_fixed", "fixed"])

    def test_the_project_is_announced_and_next_actions_work_as_they_stand(self) -> None:
        with self.client() as client:
            result = client.call("scan_project")
            scanners = {f["scanner"] for f in result["top_findings"]}
            self.assertEqual(scanners, {"semgrep", "detect-secrets", "pip-audit", "checkov"})
            self.assertGreaterEqual(result["summary"]["total"], 15)
            shown = client.call("query_findings_db", sql="SELECT count(*) FROM v_findings WHERE status <> 'open'")
            self.assertEqual(shown["rows"], [[0]], "announcing is not showing")
            self.assertTrue(result["next_actions"])
            for action in result["next_actions"]:
                with self.subTest(action=action):
                    client.call(*_parsed(action)[0], **_parsed(action)[1])

    def test_bad_calls_are_refused_with_what_to_do_and_the_server_lives_on(self) -> None:
        with self.client() as client:
            cases: list[tuple[str, dict[str, Any], str]] = [
                ("scan_file", {"path": "../outside.py"}, "fixed for this session"),
                ("scan_file", {"path": "/etc/passwd"}, "fixed for this session"),
                ("scan_file", {"path": "missing.py"}, "no file"),
                ("scan_file", {"path": "shop"}, "scan_project"),
                ("scan_file", {}, "path"),
                ("scan_project", {"path": "/"}, "fixed for this session"),
                ("scan_diff", {}, "git"),
                ("get_fix_context", {"finding_id": "nope"}, "nope"),
                ("get_fix_context_batch", {"finding_ids": []}, "1"),
                ("get_fix_context_batch", {"finding_ids": [str(n) for n in range(21)]}, "got 21"),
                ("verify_fix", {"finding_id": "nope", "status": "fixed"}, "nope"),
                ("verify_fix", {"finding_id": "nope", "status": "regressed"}, "not_fixed"),
                ("verify_fix_batch", {"attempts": []}, "1"),
                ("query_findings_db", {"sql": "DELETE FROM findings"}, "v_findings"),
                ("export_snapshot", {"path": "/tmp/elsewhere"}, "exports"),
                ("update_config", {"patch": {"no.such_key": 1}}, "no.such_key"),
                ("update_config", {"patch": {"scanners.enabled": []}}, "scanners.enabled"),
            ]
            for tool, arguments, expected in cases:
                with self.subTest(tool=tool, arguments=str(arguments)[:60]):
                    self.assertIn(expected, client.refusal(tool, **arguments))
            self.assertTrue(client.call("get_config")["settings"])


class CycleOnTheSingleFile(CycleOnThePackage):
    command = SINGLE_FILE


def _parsed(action: str) -> tuple[tuple[str], dict[str, Any]]:
    """A next action, taken apart the way Python reads a call."""
    node = ast.parse(action, mode="eval").body
    assert isinstance(node, ast.Call)
    assert isinstance(node.func, ast.Name)
    return (node.func.id,), {str(k.arg): ast.literal_eval(k.value) for k in node.keywords}
