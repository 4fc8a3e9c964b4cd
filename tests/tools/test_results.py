"""Results of real calls: each satisfies its output schema, and stays within what clients take."""

import ast
import json
import os
import subprocess
from typing import Any

from appsecgate.errors import AppSecGateError
from appsecgate.mcp.dispatch import MAX_RESULT_CHARS
from appsecgate.model import Scanner
from appsecgate.session import Session
from appsecgate.tools.registry import TOOLS
from tests.support import ScannerCase, call
from tests.tools.json_schema import schema_faults

BY_NAME = {tool.name: tool for tool in TOOLS}
TYPICAL_CHARS = 10_000
CALL = "    return subprocess.run({0!r} + x, shell=True)\n"


class ResultCase(ScannerCase):
    """Calls tools and checks every result on its way."""

    def setUp(self) -> None:
        super().setUp()
        self.lengths: dict[str, list[int]] = {}

    def result(self, session: Session, name: str, **arguments: Any) -> dict[str, Any]:
        tool = BY_NAME[name]
        result = tool.bind(arguments)(call(session))
        data, text = result.structured, result.content[0]["text"]
        assert data is not None
        assert isinstance(text, str)
        self.assertEqual(json.loads(text), data)
        self.assertEqual(list(schema_faults(tool.card().output_schema or {}, data)), [], name)
        self.assertLessEqual(len(text), MAX_RESULT_CHARS, name)
        self.lengths.setdefault(name, []).append(len(text))
        return data

    def follow(self, session: Session, actions: list[str]) -> list[dict[str, Any]]:
        """Make the calls that a result proposes, as they stand."""
        results = []
        for action in actions:
            node = ast.parse(action, mode="eval").body
            assert isinstance(node, ast.Call)
            assert isinstance(node.func, ast.Name)
            arguments = {str(k.arg): ast.literal_eval(k.value) for k in node.keywords}
            results.append(self.result(session, node.func.id, **arguments))
        return results


class EveryTool(ResultCase):
    def test_every_result_of_a_working_day_satisfies_its_schema(self) -> None:
        self.write("app.py", "import subprocess\n\n\ndef f(x):\n" + CALL.format("ls"))
        self.write("requirements.txt", "flask==0.5\n")
        self.write("Dockerfile", "FROM python:latest\nRUN echo hi\n")
        self.write("key.py", "password = '" + "hunter2" + "-Zq81!xLm'\n")
        self.write(".appsecgate.toml", "nonsense = 1\n")
        git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.invalid"]
        for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
            subprocess.run([*git, *command], cwd=self.project, check=True, capture_output=True)
        self.write("app.py", "import subprocess\n\n\ndef f(x):\n    # changed\n" + CALL.format("ls"))
        session = self.session()
        found = self.result(session, "scan_file", path="app.py")["findings"]
        one = found[0]["logical_id"]
        self.result(session, "scan_diff")
        ids = [view["logical_id"] for view in self.result(session, "scan_project")["top_findings"]]
        for finding_id in ids:
            self.result(session, "get_fix_context", finding_id=finding_id)
        self.result(session, "get_fix_context_batch", finding_ids=[*ids[:19], "unknown"])
        self.result(session, "verify_fix", finding_id=one, status="fixed")
        claims = [{"finding_id": one, "status": "wont_fix", "note": "why not"}, {"finding_id": "unknown", "status": "fixed"}]
        self.result(session, "verify_fix_batch", attempts=claims)
        self.result(session, "query_findings_db", sql="SELECT *, 1.5 AS half, NULL AS none FROM v_findings")
        self.result(session, "get_scan_history", finding_id=one)
        self.result(session, "get_scan_history")
        self.result(session, "export_snapshot", path="day")
        self.result(session, "submit_feedback", finding_id=one, verdict="TRUE_POSITIVE")
        self.result(session, "suppress_finding", reason="a test", path="nowhere/*")
        self.result(session, "update_config", patch={"limits.max_files": 5000})
        self.result(session, "get_config")
        self.assertEqual(set(self.lengths), set(BY_NAME))
        for name in ("scan_file", "scan_diff", "get_fix_context", "verify_fix", "get_scan_history"):
            self.assertLessEqual(min(self.lengths[name]), TYPICAL_CHARS, name)


class ManyFindings(ResultCase):
    scanners = (Scanner.SEMGREP, Scanner.DETECT_SECRETS)

    def test_a_project_of_1800_findings_is_announced_in_ten_thousand_characters(self) -> None:
        for number in range(90):
            body = "\n".join(f"def f{n}(x):\n{CALL.format(f'{number} {n}')}" for n in range(20))
            self.write(f"part{number % 9}/module_{number}.py", f"import subprocess\n\n\n{body}")
        session = self.session()
        result = self.result(session, "scan_project")
        self.assertLessEqual(self.lengths["scan_project"][0], TYPICAL_CHARS)
        self.assertEqual((result["summary"]["total"], result["total_available"], result["truncated"]), (1800, 1800, True))
        self.assertLessEqual(len(result["top_findings"]), 20)
        for answer in self.follow(session, result["next_actions"]):
            self.assertTrue(answer)
        sql = "SELECT logical_id FROM v_findings ORDER BY logical_id LIMIT 600 OFFSET ?"
        pages = [self.result(session, "query_findings_db", sql=sql, params=[start]) for start in (0, 600, 1200)]
        self.assertEqual(len({row[0] for page in pages for row in page["rows"]}), 1800)

    def test_a_file_of_300_findings_says_how_to_get_the_rest(self) -> None:
        body = "\n".join(f"def f{n}(x):\n{CALL.format(f'ls {n}')}" for n in range(300))
        self.write("it's big.py", f"import subprocess\n\n\n{body}")
        session = self.session()
        result = self.result(session, "scan_file", path="it's big.py")
        self.assertEqual((result["total_available"], result["truncated"]), (300, True))
        listed = len(result["findings"])
        shown = self.result(session, "query_findings_db", sql="SELECT count(*) FROM v_findings WHERE status = 'shown'")
        self.assertEqual(shown["rows"], [[listed]], "what was cut was not shown")
        rest = self.follow(session, result["next_actions"])[-1]
        self.assertGreater(rest["row_count"], listed)


class HostileTexts(ResultCase):
    """Nothing that a project holds can make a tool unusable by its size."""

    scanners = (Scanner.SEMGREP, Scanner.DETECT_SECRETS)

    def setUp(self) -> None:
        super().setUp()
        rules = [
            {
                "id": "r" + "x" * 480 + str(number),
                "message": "\u202e long " * 2000,
                "severity": "ERROR",
                "languages": ["python"],
                "pattern": "eval(...)",
                "metadata": {
                    "cwe": [f"CWE-{n}: " + "c" * 600 for n in range(80)],
                    "owasp": ["o" * 600] * 80,
                    "references": ["https://example.invalid/" + "r" * 600] * 80,
                    **{f"k{n}": ["v" * 1500] * 3 for n in range(20)},
                },
            }
            for number in range(3)
        ]
        self.write("rules.json", json.dumps({"rules": rules}))

    def _deep(self, room: int = 3_600) -> str:
        """A directory whose path has about so many bytes, made step by step since the whole is too long to open."""
        parts = ["d\u2028" * 60 + str(n) for n in range(room // 245)]
        here = os.open(self.project, os.O_RDONLY)
        for part in parts:
            os.mkdir(part, dir_fd=here)
            below = os.open(part, os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = below
        for number in range(20):
            descriptor = os.open(f"{number}.py", os.O_WRONLY | os.O_CREAT, dir_fd=here)
            os.write(descriptor, f"eval('{'x ' * 2000}' + v{number})  # {'z' * 5000}\n".encode())
            os.close(descriptor)
        os.close(here)
        return "/".join(parts)

    def test_no_result_is_too_long(self) -> None:
        git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.invalid"]
        subprocess.run([*git, "init", "-q"], cwd=self.project, check=True)
        folder = self._deep()
        self.write("wide.py", "".join(f"eval('{'y ' * 800}' + v{n})\n" for n in range(30)))
        session = self.session(**{"scanners.semgrep.rules": ["builtin", str(self.project / "rules.json")]})
        for path in ("wide.py", f"{folder}/1.py"):
            answer = self.result(session, "scan_file", path=path)
            found = answer["findings"]
            self.assertTrue(found, answer["missing"])
        one = found[0]["logical_id"]
        whole = self.result(session, "scan_project")
        self.result(session, "scan_diff")
        rows = self.result(session, "query_findings_db", sql="SELECT logical_id FROM v_findings LIMIT 20")["rows"]
        ids = [row[0] for row in rows]
        for _ in range(12):
            self.result(session, "submit_feedback", finding_id=one, verdict="TRUE_POSITIVE", comment="\u202e" * 2000)
        self.result(session, "get_fix_context", finding_id=one)
        packs = self.result(session, "get_fix_context_batch", finding_ids=ids)
        self.assertTrue(packs["truncated"])
        self.assertEqual(len(packs["packs"]) + len(packs["not_included"]), len(ids))
        note = "\u202e" * 2000
        claims = [{"finding_id": i, "status": "wont_fix", "note": note} for i in ids]
        self.result(session, "verify_fix_batch", attempts=claims)
        self.result(session, "verify_fix_batch", attempts=[{**claim, "status": "fixed"} for claim in claims])
        self.result(session, "get_scan_history", limit=100)
        self.result(session, "query_findings_db", sql="SELECT * FROM v_findings")
        for column in ("x" * 15_000, "\u202e" * 1000):
            self.result(session, "query_findings_db", sql=f'SELECT 1 AS "{column}"')
        self.follow(session, whole["next_actions"])
        hidden = [{"rule_id": "r" * 300, "path": "p" * 290 + str(n), "reason": "w" * 300} for n in range(200)]
        try:
            self.result(session, "update_config", patch={"suppressions": hidden})
        except AppSecGateError as error:
            self.assertLess(len(error.explain()), 8_000)
        self.result(session, "get_config")
