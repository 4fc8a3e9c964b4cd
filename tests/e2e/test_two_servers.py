"""Two servers on two projects write into one database at once; nothing is lost or mixed."""

import threading
from pathlib import Path

from appsecgate.model import Scanner
from tests.support import PACKAGE, ScannerCase, mcp_client

WRITES = 200


class TwoServers(ScannerCase):
    scanners = (Scanner.SEMGREP, Scanner.DETECT_SECRETS)

    def test_two_hundred_writes_each_are_all_there_and_apart(self) -> None:
        projects = [self.tmp / "one", self.tmp / "two"]
        failures: list[BaseException] = []
        threads = [threading.Thread(target=self._write_notes, args=(project, failures)) for project in projects]
        for project in projects:
            project.mkdir()
            (project / "app.py").write_text("import subprocess\n\n\ndef f(x):\n    subprocess.run(x, shell=True)\n")
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        for project in projects:
            with self.subTest(project=project.name), mcp_client(PACKAGE, project, self.data) as client:
                rows = client.call(
                    "query_findings_db",
                    sql="SELECT count(*), count(DISTINCT attempt_num), max(attempt_num), count(DISTINCT note), "
                    "sum(note LIKE ?) FROM v_attempts",
                    params=[f"{project.name} %"],
                )["rows"]
                self.assertEqual(rows, [[WRITES, WRITES, WRITES, WRITES, WRITES]])

    def _write_notes(self, project: Path, failures: list[BaseException]) -> None:
        try:
            with mcp_client(PACKAGE, project, self.data) as client:
                finding = client.call("scan_file", path="app.py")["findings"][0]["logical_id"]
                for number in range(WRITES):
                    client.call("verify_fix", finding_id=finding, status="wont_fix", note=f"{project.name} {number}")
        except BaseException as error:
            failures.append(error)
