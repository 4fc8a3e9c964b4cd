"""The benchmarks run, on projects of a few files."""

import tempfile
import unittest
from pathlib import Path

from appsecgate.model import Scanner
from benchmarks.bench_findings import KEEPING, SCANNING, grow, keeping, promises, scanning
from benchmarks.bench_scan_file import FILES, Edited
from benchmarks.bench_session import run
from benchmarks.measuring import Place, place
from tests.scanners.installed import require_installed


class SmallRunsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        for scanner in Scanner:
            require_installed(scanner)

    def test_findings_are_recorded_asked_for_and_exported(self) -> None:
        with place() as here:
            costs = keeping(here, 50)
        self.assertEqual(list(costs), list(KEEPING))
        self.assertTrue(all(seconds > 0 and peak_mb > 10 for seconds, peak_mb in costs.values()))
        self.assertEqual(len(promises(costs, 50, None)), 3)

    def test_a_project_is_scanned_whole_and_again(self) -> None:
        with place() as here:
            grow(here.project, 50)
            costs, findings, calls = scanning(here)
        self.assertGreater(findings, 50)
        self.assertEqual((list(costs), calls), (list(SCANNING), "1"))

    def test_a_session_is_sampled_and_leaves_no_process(self) -> None:
        with place() as here:
            samples, left = run(here, 2, lambda _: None)
        self.assertEqual((samples[-1].edits, left), (2, 0))
        self.assertGreater(samples[-1].server, 10)


class EditedTest(unittest.TestCase):
    def test_every_look_is_at_new_content(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder, "shop", "app.py")
            target.parent.mkdir()
            target.write_text("x = 1\n")
            path, comment = FILES["Python"]
            edited = Edited(Place(Path(folder), Path(folder)), path, comment)
            seen = {target.read_text()}
            for _ in range(3):
                edited.renew()
                seen.add(target.read_text())
            edited.restore()
            self.assertEqual((len(seen), target.read_text()), (4, "x = 1\n"))
