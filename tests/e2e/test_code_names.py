"""Secrets as names in code, and in parts that no scanner reports: found, shown, fixed, and nowhere in full or in part."""

import json
import os
import subprocess
import unittest
from pathlib import Path

from appsecgate.model import FixStatus
from appsecgate.tools.scan_file import ScanFileInput, scan_file
from appsecgate.tools.verify_fix import VerifyFixInput, verify_fix
from tests.support import OSV_EXAMPLES, PACKAGE, ScannerCase, call, mcp_client, run_cli

_TAILS = "ABCDEFGHJKLMNPQRSTUVWX"
KEYS = ["AK" + "IA" + "Q3EGKZ7NP4ZWXM5" + tail for tail in _TAILS]
SPLIT = "AK" + "IA" + "W8RTYU2MN6BVCX9Z"
FIRST = "AK" + "IA" + "H4JKLP3QW5ERTY7U"
WORD = "hunter2" + "Zq81x" + "LmPq"
SPLIT_LINE = f'a = "{FIRST}"; b = eval("AKIA" + "{SPLIT[4:]}")\n'


def files() -> dict[str, str]:
    """Every kind of place in which a project names something."""
    k = iter(KEYS)
    return {
        "cls.py": f"class {next(k)}:\n    def f(self, c):\n        return eval(c)\n",
        "fn.py": f"def {next(k)}(c):\n    def inner(d):\n        return eval(d)\n    return eval(c)\n",
        "known.py": f'password = "{WORD}"\n\n\ndef {WORD}(c):\n    return eval(c)\n',
        "requirements.txt": f"{next(k)}==1.0\nrequests==2.19.0\n",
        "local/requirements.txt": f"requests==2.19.0+{next(k)}\n",
        "main.tf": f'resource "aws_s3_bucket" "{next(k)}" {{\n  bucket = "x"\n}}\nmodule "{next(k)}" {{\n  source = "./m"\n}}\n',
        "pod.yaml": f"apiVersion: v1\nkind: Pod\nmetadata:\n  name: {next(k)}\n  namespace: {next(k)}\nspec:\n  containers:\n"
        f"  - name: {next(k)}\n    image: nginx\n",
        "cf.yaml": f"AWSTemplateFormatVersion: '2010-09-09'\nResources:\n  {next(k)}:\n    Type: AWS::S3::Bucket\n",
        "cf.json": json.dumps({"AWSTemplateFormatVersion": "2010-09-09", "Resources": {next(k): {"Type": "AWS::S3::Bucket"}}}),
        ".github/workflows/x.yml": f"on: push\njobs:\n  {next(k)}:\n    runs-on: ubuntu-latest\n    steps:\n"
        "    - run: echo ${{ github.event.issue.title }}\n",
        "Dockerfile": f"FROM ubuntu:latest AS {next(k)}\nADD a /b\n",
        "a.js": f"function {next(k)}(t) {{\n  eval(t);\n}}\n",
        "x.ini": f"[{next(k)}]\n{next(k)} = 1\n",
        "data.json": json.dumps({next(k): {next(k): 1}}),
        "pyproject.toml": '[project]\nname = "x"\ndependencies = ["requests==2.19.0"]\n[project.optional-dependencies]\n'
        f'{next(k)} = ["{next(k)}==1.0"]\n',
        "parts.py": SPLIT_LINE,
        "seams.py": "s = [" + '"a" "b",\n' * 21_000 + f']\neval(f("AKIA" + "{SPLIT[4:]}"))\n',
        "escaped.py": f'eval(f("\\x41KIA{SPLIT[4:]}"))\n',
    }


class CodeNamesTest(ScannerCase):
    def setUp(self) -> None:
        super().setUp()
        for name, text in files().items():
            self.write(name, text)

    def assert_nowhere(self, sent: bytes) -> None:
        secrets = [key[4:].encode() for key in [*KEYS, SPLIT, FIRST]] + [WORD.encode()]
        written = {"sent": sent}
        for directory, names, found in os.walk(self.data):
            names[:] = [name for name in names if name != "scanners"]
            written |= {name: Path(directory, name).read_bytes() for name in found}
        for name, content in written.items():
            for secret in secrets:
                at = content.lower().find(secret.lower())
                self.assertEqual(at, -1, f"{name}: …{content[max(at - 80, 0) : at + 20]!r}")

    def test_no_byte_written_or_sent_holds_one(self) -> None:
        run_cli(PACKAGE, self.data, "advisories", "import", str(OSV_EXAMPLES))
        who = ("-c", "user.name=t", "-c", "user.email=t@example.invalid")
        for arguments in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "first")):
            subprocess.run(["git", *who, *arguments], cwd=self.project, check=True, capture_output=True)
        for name in ("cls.py", "parts.py", "main.tf", "requirements.txt"):
            self.write(name, "# more\n" + files()[name])
        with mcp_client(PACKAGE, self.project, self.data) as client:
            found = client.call("scan_project")
            self.assertEqual(found["verdict"], "findings")
            self.assertGreater(found["total_available"], 20)
            for path in files():
                ids = [item["logical_id"] for item in client.call("scan_file", path=path)["findings"]][:3]
                for finding_id in ids:
                    client.call("get_fix_context", finding_id=finding_id)
                if ids:
                    client.call("verify_fix", finding_id=ids[0], status="fixed", note="done")
            for item in client.call("scan_diff")["findings"][:12]:
                client.call("get_fix_context", finding_id=item["logical_id"])
            client.call("query_findings_db", sql="SELECT * FROM v_findings")
            client.call("get_scan_history")
            client.call("export_snapshot", path="all", format="ndjson")
            client.call("export_snapshot", path="all2", format="parquet")
            _, stderr = client.end()
            sent = client.received + stderr
        for form in ("table", "json", "sarif", "gitlab"):
            _, out, err = run_cli(PACKAGE, self.data, "scan", str(self.project), "--format", form)
            sent += (out + err).encode()
        self.assert_nowhere(sent)

    def test_a_secret_of_one_file_is_one_in_all_files_of_the_same_scan(self) -> None:
        value = "".join(("Tr0ub4", "dor-Zq", "81-xLm"))
        project = self.project / "elsewhere"
        self.write("elsewhere/a_code.py", f"def f(c):\n    return eval('{value}' + c)\n\n\ndef {WORD}(c):\n    exec(c)\n")
        self.write("elsewhere/secrets.py", f'password = "{value}"\napi_key = "{WORD}"\n')
        sent = b""
        for form in ("json", "sarif"):
            _, out, err = run_cli(PACKAGE, self.data, "scan", str(project), "--format", form)
            sent += (out + err).encode()
        self.assertIn(b"python-eval", sent)
        for file in [sent, *(path.read_bytes() for path in self.data.rglob("appsecgate.db*"))]:
            for secret in (value, WORD):
                self.assertNotIn(secret.encode(), file)

    def test_such_a_scope_is_as_good_as_any(self) -> None:
        session = self.session()
        (first,) = scan_file(call(session), ScanFileInput("cls.py")).findings[:1]
        self.write("cls.py", "\n" * 50 + files()["cls.py"])
        again = scan_file(call(session), ScanFileInput("cls.py")).findings
        self.assertIn(first.logical_id, [item.logical_id for item in again])

    def test_code_that_moved_out_of_such_a_definition_is_moved(self) -> None:
        session = self.session()
        text = f"def {KEYS[0]}(c):\n    return eval(c)\n"
        self.write("moved.py", text)
        found = scan_file(call(session), ScanFileInput("moved.py")).findings
        finding = next(item for item in found if item.rule_id == "python-eval")
        self.write("moved.py", text.replace("eval(c)", "int(c)") + "\n\ndef other(c):\n    return eval(c)\n")
        result = verify_fix(call(session), VerifyFixInput(finding.logical_id, FixStatus.FIXED))
        self.assertEqual((result.verified_status, result.reason_code), ("not_fixed", "moved"))


if __name__ == "__main__":
    unittest.main()
