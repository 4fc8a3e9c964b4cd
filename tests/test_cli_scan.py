"""``scan --fail-on`` speaks of what was scanned, and of nothing else in the project."""

import unittest

from appsecgate.errors import EXIT_FINDINGS, EXIT_INCOMPLETE
from appsecgate.model import Scanner
from tests.store.ledger import make_finding
from tests.support import PACKAGE, run_cli
from tests.tools.test_standing import StandingCase


class FailOnTest(StandingCase):
    def test_a_finding_elsewhere_does_not_fail_a_scan(self) -> None:
        self.write("app/views.py", "x = 1\n")
        self.write("app2/clean.py", "x = 1\n")
        self.look_at("app/views.py", Scanner.SEMGREP, findings=(make_finding("one"),))
        for path, want in (
            ("app/views.py", EXIT_FINDINGS),
            ("app", EXIT_FINDINGS),
            (".", EXIT_FINDINGS),
            ("app2/clean.py", EXIT_INCOMPLETE),
            ("app2", EXIT_INCOMPLETE),
        ):
            with self.subTest(path):
                status, out, err = run_cli(
                    PACKAGE, self.data, "scan", path, "--project", str(self.project), "--fail-on", "info",
                    cwd=self.project,
                )  # fmt: skip
                self.assertEqual(status, want, out + err)


if __name__ == "__main__":
    unittest.main()
