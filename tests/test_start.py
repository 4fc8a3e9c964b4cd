"""A command that we propose starts this very program, from any directory."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from appsecgate import __version__
from tests.support import ROOT

SAY = "import sys; sys.argv = [sys.argv[1]]; from appsecgate.start import own_command; print(own_command())"


class OwnCommandTest(unittest.TestCase):
    def setUp(self) -> None:
        tmp = tempfile.TemporaryDirectory()
        self.addCleanup(tmp.cleanup)
        self.tmp = Path(tmp.name)

    def own_command(self, started: Path, path: str = "/usr/bin:/bin") -> str:
        environ = {"PATH": path, "PYTHONPATH": str(ROOT)}
        said = subprocess.run(
            [sys.executable, "-c", SAY, str(started)], cwd=self.tmp, env=environ, capture_output=True, text=True, check=True
        )
        return said.stdout.strip()

    def test_what_is_proposed_runs(self) -> None:
        for started in (ROOT / "appsecgate.py", ROOT / "appsecgate" / "__main__.py", Path("/elsewhere/main.py")):
            with self.subTest(started=started):
                proposed = self.own_command(started)
                said = subprocess.run(
                    ["/bin/sh", "-c", f"{proposed} --version"], cwd=self.tmp, env={"PYTHONPATH": str(ROOT)},
                    capture_output=True, text=True, check=False,
                )  # fmt: skip
                self.assertEqual(said.stdout, f"appsecgate {__version__}\n", f"{proposed}: {said.stderr}")

    def test_an_installed_program_is_named_by_its_path_unless_its_name_finds_it(self) -> None:
        program = self.tmp / "a b" / "appsecgate"
        program.parent.mkdir()
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        self.assertEqual(self.own_command(program), f"'{program}'")
        self.assertEqual(self.own_command(program, str(program.parent)), "appsecgate")


if __name__ == "__main__":
    unittest.main()
