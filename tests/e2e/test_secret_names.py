"""A file or directory whose name is a secret: scanned, shown, fixed and verified, and its name is nowhere in full."""

import json
import os
import subprocess
import unittest
from pathlib import Path

from appsecgate.model import EvidenceReason, EvidenceState, FixStatus, ReasonCode
from appsecgate.scan.result import ScanKind, ScanRequest
from appsecgate.scan.run import run_scan, whole_project
from appsecgate.store.finding_writes import SightingRow
from appsecgate.store.scans import ScanRecord
from appsecgate.tools.scan_file import ScanFileInput, scan_file
from appsecgate.tools.scan_project import ScanProjectInput, scan_project
from appsecgate.tools.scanned import control_of
from appsecgate.tools.verify_fix import VerifyFixInput, verify_fix
from tests.store.ledger import make_finding
from tests.support import AWS_KEY, PACKAGE, PASSWORD, ScannerCase, call, mcp_client, run_cli

TOKEN = "ghp_" + "a8Kd72mQpLz0Xw4Rt9Vb31NcYe6UhJs5TgFi"
WEAK = "def f(x):\n    return eval(x)\n"


class SecretNamesCase(ScannerCase):
    def setUp(self) -> None:
        super().setUp()
        self.write(f"config/{AWS_KEY}.txt", f"password = '{PASSWORD}'\n")
        self.write(f"{TOKEN}/app.py", WEAK)

    def assert_nowhere(self, sent: bytes) -> None:
        for secret in (AWS_KEY, TOKEN):
            self.assertNotIn(secret.encode(), sent)
            for directory, names, files in os.walk(self.data):
                names[:] = [name for name in names if name != "scanners"]
                for name in files:
                    content = Path(directory, name).read_bytes()
                    with self.subTest(secret=secret[:4], file=name):
                        self.assertNotIn(secret.encode(), content)


class NoNameLeavesTest(SecretNamesCase):
    def git(self, *arguments: str) -> None:
        who = ("-c", "user.name=t", "-c", "user.email=t@example.invalid")
        subprocess.run(["git", *who, *arguments], cwd=self.project, check=True, capture_output=True)

    def test_every_tool_works_on_them_and_no_byte_written_or_sent_holds_one(self) -> None:
        self.git("init", "-q")
        self.git("add", "-A")
        self.git("commit", "-qm", "first")
        self.write(f"{TOKEN}/app.py", WEAK + "\n# more\n")
        self.write("requirements.txt", f"-r config/{AWS_KEY}.txt\n")
        with mcp_client(PACKAGE, self.project, self.data) as client:
            found = client.call("scan_project")
            self.assertEqual(found["verdict"], "findings")
            self.assertIn("rename it", str(found["ignored_by_repository"]))
            paths = {item["file_path"] for item in found["top_findings"] if "REDACTED" in item["file_path"]}
            self.assertEqual(len(paths), 2, paths)
            for path in paths:  # the names shown are good for calls
                self.assertEqual(client.call("scan_file", path=path)["files"], [path])
            raw = client.call("scan_file", path=f"{TOKEN}/app.py")
            self.assertIn(raw["files"][0], paths)
            found_ids = [item["logical_id"] for item in client.call("scan_diff")["findings"]]
            (finding_id,) = [item["logical_id"] for item in raw["findings"]]
            self.assertIn(finding_id, found_ids)
            pack = client.call("get_fix_context", finding_id=finding_id)
            self.assertIn("eval", str(pack["window"]["lines"]))
            self.assertIn("+# more", pack["signals"]["git_diff"])
            self.write(f"{TOKEN}/app.py", WEAK.replace("eval", "int"))
            fixed = client.call("verify_fix", finding_id=finding_id, status="fixed")
            self.assertEqual(fixed["verified_status"], "fixed", fixed["reason"])
            client.refusal("scan_file", path=f"nowhere/{TOKEN}.py")
            client.refusal("scan_project", path=f"config/{AWS_KEY}.txt")
            hidden = client.call("suppress_finding", path=f"config/{AWS_KEY}.txt", reason="known")
            self.assertEqual(hidden["hidden"], 1)
            client.call("suppress_finding", rule_id=f"rule {TOKEN}", reason="odd")
            client.call("update_config", patch={"suppressions": [{"path": f"{TOKEN}/*", "reason": "known"}]})
            client.call("get_config")
            client.call("query_findings_db", sql="SELECT * FROM v_findings")
            client.call("get_scan_history")
            client.call("export_snapshot", path="all", format="ndjson")
            _, stderr = client.end()
            sent = client.received + stderr
        for form in ("table", "json", "sarif", "gitlab"):
            _, out, err = run_cli(PACKAGE, self.data, "scan", str(self.project), "--format", form)
            sent += (out + err).encode()
        self.assert_nowhere(sent)

    def test_a_project_whose_directory_is_called_so(self) -> None:
        project = self.tmp / TOKEN
        self.project.rename(project)
        _, out, err = run_cli(PACKAGE, self.data, "scan", str(project), "--format", "json")
        self.assertTrue(json.loads(out)["top_findings"])
        said = out + err
        for arguments in (("doctor", "--project", str(project)), ("scan", str(project / "nowhere"))):
            _, out, err = run_cli(PACKAGE, self.data, *arguments)
            said += out + err
        self.assert_nowhere(said.encode())


class NothingIsHiddenTest(SecretNamesCase):
    def test_what_was_moved_there_is_not_fixed(self) -> None:
        session = self.session()
        for number, target in enumerate((f"{TOKEN}/moved.py", f"lib/{AWS_KEY}.py", f"lib/{AWS_KEY}/x.py")):
            with self.subTest(target):
                source = f"app{number}.py"
                weak = f"def handle_{number}(request):\n    return eval(request.args['q{number}'])\n"
                self.write(source, weak)
                (finding,) = scan_file(call(session), ScanFileInput(source)).findings
                self.write(source, "x = 1\n")
                self.write(target, weak)
                result = verify_fix(call(session), VerifyFixInput(finding.logical_id, FixStatus.FIXED))
                self.assertEqual((result.verified_status, result.reason_code), (FixStatus.NOT_FIXED, ReasonCode.MOVED))
                self.assertNotIn(AWS_KEY, result.reason)

    def test_a_file_that_took_such_a_name_is_the_same_file(self) -> None:
        session = self.session()
        path = self.write("shop.py", "import os\n\n\ndef run(x):\n    return eval(x)\n")
        (finding,) = scan_file(call(session), ScanFileInput("shop.py")).findings
        path.rename(self.project / f"{AWS_KEY}.py")
        result = verify_fix(call(session), VerifyFixInput(finding.logical_id, FixStatus.FIXED))
        self.assertEqual(result.verified_status, FixStatus.NOT_FIXED)

    def test_a_name_that_would_hide_what_kind_of_file_it_is_is_not_called_clean(self) -> None:
        for name in (f"{TOKEN}_requirements.txt", f"{TOKEN}-requirements.txt"):
            path = self.write(name, "flask==0.5\n")
            with self.subTest(name):
                session = self.session()
                scanned = scan_file(call(session), ScanFileInput(name))
                self.assertEqual(scanned.verdict, "incomplete")
                self.assertIn("the secret in its name hides what kind of file it is", str(scanned.missing))
                session.close()
            path.unlink()

    def test_a_placeholder_as_a_name_hides_no_file(self) -> None:
        session = self.session()
        before = scan_project(call(session), ScanProjectInput())
        masked = next(item.file_path for item in before.top_findings if item.file_path.endswith("app.py"))
        self.write(masked, "x = 1\n")
        after = scan_project(call(session), ScanProjectInput())
        self.assertEqual(after.total_available, before.total_available)

    def test_rows_of_older_versions_give_way_to_covered_ones(self) -> None:
        session = self.session()
        path = f"{TOKEN}/app.py"
        first = run_scan(session, whole_project(session), control_of(call(session)))
        old = make_finding("old", file_path=path, code="eval(x)", rule_id="python-eval")
        with session.store.write() as writer:
            record = writer.scans(session.project_id)[0].record
            writer._put_findings([(old, _sighting(record))])
        second = run_scan(session, whole_project(session), control_of(call(session)))
        self.assertEqual({f.file_path for f in second.findings}, {f.file_path for f in first.findings})
        with session.store.read() as reader:
            present = {item.finding.file_path for item in reader.findings(session.project_id)}
        self.assertNotIn(path, present)

    def test_one_that_cannot_be_read_is_not_verified(self) -> None:
        self.write(f"{AWS_KEY}.py", b"x = 1\n" * 200_000)
        session = self.session(**{"limits.max_file_bytes": 100_000})
        result = run_scan(session, whole_project(session), control_of(call(session)))
        rows = [row for row in result.targets if row.reason is EvidenceReason.TOO_LARGE]
        self.assertTrue(rows)
        self.assertTrue(all(row.state is EvidenceState.NOT_VERIFIED and AWS_KEY not in row.path for row in rows))

    def test_a_request_by_its_real_name_is_the_same_scan(self) -> None:
        session = self.session()
        name = session.workspace.relative(f"{TOKEN}/app.py")
        result = run_scan(session, ScanRequest(ScanKind.FILE, (name,)), control_of(call(session)))
        self.assertEqual({row.path for row in result.targets}, {name})


def _sighting(record: ScanRecord) -> SightingRow:
    return SightingRow(record.project_id, record.scan_id, record.ended_at, "0" * 64, "r")


if __name__ == "__main__":
    unittest.main()
