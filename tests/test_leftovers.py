"""Copies that a killed process left behind are removed; nothing else is."""

import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

from appsecgate.leftovers import GRACE_S, sweep_leftovers
from appsecgate.process import private_directory


class Leftovers(unittest.TestCase):
    def test_only_old_directories_of_ended_processes_go(self) -> None:
        with tempfile.TemporaryDirectory() as name, mock.patch.object(tempfile, "tempdir", name):
            with subprocess.Popen([sys.executable, "-c", ""]) as child:
                child.wait()
            root = Path(name)
            dead = root / f"appsecgate-stage-{child.pid}-abc123"
            living = root / f"appsecgate-stage-{os.getpid()}-abc123"
            other = root / f"somebody-stage-{child.pid}-abc123"
            for directory in (dead, living, other):
                directory.mkdir()
                (directory / "copy").write_text("source")
            self.assertEqual(sweep_leftovers(), 0, "a young one is left alone")
            later = time.time() + GRACE_S + 60
            self.assertEqual(sweep_leftovers(later), 1)
            self.assertEqual([dead.exists(), living.exists(), other.exists()], [False, True, True])

    def test_private_directories_bear_the_number_of_their_process(self) -> None:
        with private_directory() as directory:
            self.assertIn(f"-{os.getpid()}-", directory.name)
