"""Four processes write, each is killed at a random moment, again and again: nothing acknowledged is ever lost."""

import os
import random
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

from appsecgate.store.connection import Store
from tests.store.ledger import OTHER, PROJECT, LedgerCase

ROOT = Path(__file__).resolve().parents[2]
FULL = os.environ.get("APPSECGATE_TEST_FULL") == "1"
KILLS = 100 if FULL else 12
TOGETHER = 4


class CrashTest(LedgerCase):
    def worker(self, project_id: str, name: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "tests.store.writing_worker", str(self.data), project_id, name, "100000"]
        return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)

    def round(self, number: int, chance: random.Random) -> list[str]:
        """Start four, wait until each has written, kill each at a moment of its own; what they acknowledged."""
        projects = [PROJECT, PROJECT, OTHER, OTHER]
        workers = [self.worker(project, f"w{number}-{index}") for index, project in enumerate(projects)]
        acknowledged = []
        for worker in workers:
            assert worker.stdout is not None
            acknowledged.append(worker.stdout.readline().decode().strip())  # unbuffered: nothing is read ahead
        for worker in workers:
            time.sleep(chance.uniform(0, 0.04))
            worker.send_signal(signal.SIGKILL)
        for worker in workers:
            out, err = worker.communicate(timeout=60)
            self.assertEqual((worker.returncode, err), (-signal.SIGKILL, b""))
            acknowledged += out.decode().split("\n")[:-1]  # the last line may be half a line
        return acknowledged

    def test_what_was_acknowledged_survives_every_kill(self) -> None:
        chance = random.Random(20_260_301)
        acknowledged: list[str] = []
        for number in range(KILLS // TOGETHER):
            acknowledged += self.round(number, chance)
            if number % 5 == 0:
                self.assertEqual(self.store.problems(), [])
        self.assertGreater(len(acknowledged), KILLS)
        notes = [row[0].replace(" ", ":") for row in self.rows("SELECT note FROM v_attempts")]
        self.assertEqual(len(notes), len(set(notes)), "a write was stored twice")
        self.assertEqual(set(acknowledged) - set(notes), set())
        self.assertLessEqual(len(set(notes) - set(acknowledged)), KILLS, "more than one unheard write per process")
        self.assert_whole()

    def assert_whole(self) -> None:
        """No half transaction, no mixed project, no gap in the numbers, and a new process reads it."""
        half = (
            "SELECT count(*) FROM scans s WHERE NOT EXISTS (SELECT 1 FROM fix_attempts a WHERE a.note = s.config_hash)"
        )
        self.assertEqual(self.rows(half), [(0,)])
        mixed = "SELECT count(*) FROM fix_attempts a JOIN scans s ON s.config_hash = a.note WHERE s.project_id <> a.project_id"
        self.assertEqual(self.rows(mixed), [(0,)])
        for project_id in (PROJECT, OTHER):
            numbers = [
                row[0]
                for row in self.rows("SELECT attempt_num FROM v_attempts WHERE project_id = ? ORDER BY 1", project_id)
            ]
            self.assertEqual(numbers, list(range(1, len(numbers) + 1)))
        again = Store.open(self.data, clock=self.clock)
        self.addCleanup(again.close)
        self.assertEqual(again.problems(), [])


if __name__ == "__main__":
    unittest.main()
