"""The client of semgrep's own server: it answers what the server asks, and names why there is no figure."""

import json
import sys
import urllib.request
from pathlib import Path

from benchmarks.semgrep_server import NotMeasuredError, merged_rules, metadata_responder, semgrep_server
from tests.support import TempCase

FAKE = """#!{python}
import json, sys
def say(**more): print(json.dumps({{"jsonrpc": "2.0", **more}}), flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "initialize":
        {hello}
    elif message.get("method") == "tools/call":
        say(id=message["id"], method="roots/list")
        roots = json.loads(sys.stdin.readline())
        found = [roots["result"]["roots"][0]["uri"], message["params"]["arguments"]["code_files"][0]["path"]]
        say(id=message["id"], result={result})
"""
HELLO = 'say(id=message["id"], result={})'
FOUND = '{"structuredContent": {"results": found, "errors": []}}'


class SemgrepServerTest(TempCase):
    def fake(self, hello: str = HELLO, result: str = FOUND) -> Path:
        program = self.tmp / "semgrep"
        program.write_text(FAKE.format(python=sys.executable, hello=hello, result=result))
        program.chmod(0o755)
        return program

    def scan(self, program: Path, answer_s: float = 10) -> int:
        with semgrep_server(self.project, "http://127.0.0.1:9", self.tmp / "rules.json", program, answer_s) as server:
            return server.scan("app.py")

    def test_findings_are_counted_and_the_servers_question_for_roots_is_answered(self) -> None:
        self.assertEqual(self.scan(self.fake()), 2)

    def test_what_keeps_it_from_a_figure_is_named(self) -> None:
        errors = '{"structuredContent": {"results": [], "errors": ["rule broken"]}}'
        table = [
            ("dies at its start", {"hello": 'sys.exit("no network")'}, "no network"),
            ("reports errors", {"result": errors}, "rule broken"),
            ("refuses", {"result": '{"isError": True, "content": "not allowed"}'}, "not allowed"),
        ]
        for label, manners, said in table:
            with self.subTest(label), self.assertRaisesRegex(NotMeasuredError, said):
                self.scan(self.fake(**manners))

    def test_one_that_is_not_installed_is_named(self) -> None:
        with self.assertRaisesRegex(NotMeasuredError, "missing"):
            self.scan(self.tmp / "missing")

    def test_one_that_never_answers_is_given_up(self) -> None:
        with self.assertRaisesRegex(NotMeasuredError, "did not answer"):
            self.scan(self.fake(hello="pass"), answer_s=0.3)

    def test_the_responder_has_what_the_server_reads_at_its_start(self) -> None:
        with metadata_responder() as url, urllib.request.urlopen(f"{url}/api/any") as answer:
            said = json.load(answer)
        self.assertLessEqual({"issuer", "introspection_endpoint", "jwks_uri"}, said.keys())

    def test_the_rules_are_those_of_ours_that_apply(self) -> None:
        rules = json.loads(merged_rules("python", self.tmp).read_text())["rules"]
        languages = {language for rule in rules for language in rule["languages"]}
        self.assertEqual(languages, {"python", "regex"})
