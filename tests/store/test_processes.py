"""Several processes on one ledger: nothing lost, nothing mixed, nothing half; also when one is killed."""

import random
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

from tests.store.ledger import OTHER, PROJECT, LedgerCase

ROOT = Path(__file__).resolve().parents[2]
WRITES = 200
WORKER = [sys.executable, "-W", "error", "-m", "tests.store.writing_worker"]


class ProcessesTest(LedgerCase):
    def worker(self, project_id: str, name: str, writes: int) -> subprocess.Popen[str]:
        command = [*WORKER, str(self.data), project_id, name, str(writes)]
        return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def finish(self, process: subprocess.Popen[str]) -> list[str]:
        out, err = process.communicate(timeout=120)
        self.assertEqual((process.returncode, err), (0, ""))
        return out.split()

    def test_two_projects_with_two_hundred_writes_each(self) -> None:
        workers = [self.worker(PROJECT, "a", WRITES), self.worker(OTHER, "b", WRITES)]
        for worker in workers:
            self.assertEqual(len(self.finish(worker)), WRITES)
        for project_id, name in ((PROJECT, "a"), (OTHER, "b")):
            with self.subTest(project_id):
                self.assertEqual(
                    self.rows("SELECT count(*), count(DISTINCT note) FROM v_attempts WHERE project_id = ?", project_id),
                    [(WRITES, WRITES)],
                )
                self.assertEqual(
                    self.rows("SELECT count(*) FROM fix_attempts WHERE project_id = ? AND note NOT LIKE ?",
                              project_id, f"{name} %"),
                    [(0,)],
                )  # fmt: skip
        self.assertEqual(self.store.problems(), [])

    def test_one_project_from_two_processes_numbers_its_attempts_without_gaps(self) -> None:
        workers = [self.worker(PROJECT, name, 60) for name in ("a", "b")]
        for worker in workers:
            self.finish(worker)
        numbers = [row[0] for row in self.rows("SELECT attempt_num FROM v_attempts ORDER BY 1")]
        self.assertEqual(numbers, list(range(1, 121)))

    def test_processes_that_start_together_make_one_ledger(self) -> None:
        self.store.close()
        self.data = self.tmp / "fresh"
        for worker in [self.worker(PROJECT, name, 3) for name in ("a", "b", "c")]:
            self.finish(worker)
        self.store = self.open_store()
        self.assertEqual(self.rows("SELECT count(*) FROM v_attempts"), [(9,)])

    def test_what_was_acknowledged_survives_a_kill_at_any_moment(self) -> None:
        acknowledged: list[str] = []
        chance = random.Random(7)
        for turn in range(8):
            worker = self.worker(PROJECT, f"turn{turn}", 10_000)
            assert worker.stdout is not None
            acknowledged.append(worker.stdout.readline().strip())
            time.sleep(chance.uniform(0, 0.15))
            worker.send_signal(signal.SIGKILL)
            out, _ = worker.communicate(timeout=60)
            acknowledged += [line for line in out.split("\n")[:-1] if line]
        notes = {row[0].replace(" ", ":") for row in self.rows("SELECT note FROM v_attempts")}
        self.assertLessEqual(set(acknowledged), notes)
        self.assertGreater(len(acknowledged), 8)
        half = "SELECT count(*) FROM scans s WHERE NOT EXISTS (SELECT 1 FROM fix_attempts a WHERE a.note = s.config_hash)"
        self.assertEqual(self.rows(half), [(0,)], "a scan without the attempt of the same transaction")
        self.assertEqual(self.store.problems(), [])


if __name__ == "__main__":
    unittest.main()
