"""What a repository or an agent hides opens no gate; what a person hides does; and hiding can be taken back."""

from appsecgate.model import Scanner
from tests.support import PACKAGE, ScannerCase, mcp_client, run_cli

VULNERABLE = "import subprocess\n\n\ndef run(x):\n    subprocess.run('ls ' + x, shell=True)\n"
HIDE_ALL = '[[suppressions]]\npath = "*"\nreason = "quiet"\n'


class Gate(ScannerCase):
    scanners = (Scanner.SEMGREP, Scanner.DETECT_SECRETS)

    def setUp(self) -> None:
        super().setUp()
        self.write("app.py", VULNERABLE)

    def gate(self) -> int:
        return run_cli(PACKAGE, self.data, "scan", "--project", str(self.project), "--fail-on", "high")[0]

    def test_only_a_person_hides_a_finding_from_the_gate(self) -> None:
        self.assertEqual(self.gate(), 1)
        (self.project / ".appsecgate.toml").write_text(HIDE_ALL)
        self.assertEqual(self.gate(), 1, "the repository hides it from lists alone")
        (self.project / ".appsecgate.toml").unlink()
        with mcp_client(PACKAGE, self.project, self.data) as client:
            client.call("suppress_finding", path="*", reason="quiet")
            history = client.call("get_scan_history")
            self.assertEqual((history["open_total"], history["suppressed"]), (0, 1))
            self.assertIn("is over", client.refusal("suppress_finding", path="*", reason="r", expires="2020-01-01"))
        self.assertEqual(self.gate(), 1, "an agent hides it from lists alone")
        self._take_back()
        (self.data / "config.toml").write_text(HIDE_ALL)
        self.assertEqual(self.gate(), 0, "a person of this machine may")

    def _take_back(self) -> None:
        _, listed, _ = run_cli(PACKAGE, self.data, "suppressions", "--project", str(self.project))
        number = listed.splitlines()[2].split()[0]
        status, left, err = run_cli(
            PACKAGE, self.data, "suppressions", "--remove", number, "--project", str(self.project)
        )
        self.assertEqual((status, left.strip()), (0, "Nothing is hidden."), err)
        with mcp_client(PACKAGE, self.project, self.data) as client:
            self.assertEqual(client.call("get_scan_history")["open_total"], 1)
