"""Processes that wait for their work, and workers that lie: the runner's results are those of new processes."""

import os
import signal
import sys
import threading
import time
import unittest
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from appsecgate.model import EvidenceReason, SentinelState
from appsecgate.process import CancelToken, Completed, Limits
from appsecgate.resident import StayLimits
from appsecgate.scanners.base import Batch, Installation, Invocation, Zygote
from appsecgate.scanners.pool import WorkerPool
from appsecgate.scanners.runner import ScannerRun, run_adapter
from appsecgate.scanners.semgrep import SemgrepAdapter
from appsecgate.scanners.semgrep_rules import builtin_rules, make_rule_pack
from appsecgate.scanners.standby import _standby_key, _Waiting
from tests.scanners.staging import FakeCoreCase, places
from tests.scanners.test_zygote import gone, soon

BAD = "eval(x)\n"
STAY = StayLimits(start_s=10, patience_s=0.2, answer_s=1, standbys=2)
MUTE = "def load(directory): pass\ndef main(arguments): "


class ShortAdapter(SemgrepAdapter):
    """Limits that a test can wait for, in new processes and waiting ones alike."""

    limits = Limits(timeout_s=20, max_output_bytes=4 << 20)
    program = ""

    def invocation(self, batch: Batch, tool: Installation, run_dir: Path, service: str) -> Invocation:
        plan = replace(super().invocation(batch, tool, run_dir, service), limits=self.limits)
        if not self.program:
            return plan
        zygote = Zygote(Path(sys.executable), MUTE + self.program, Limits(20))
        return replace(plan, standby=None, zygote=zygote)


class HastyAdapter(ShortAdapter):
    limits = Limits(timeout_s=1)


class CountedPool(WorkerPool):
    answers = 0

    def answer(self, *args: object, **kwargs: object) -> Completed | None:
        completed = super().answer(*args, **kwargs)  # type: ignore[arg-type]
        self.answers += completed is not None
        return completed


@unittest.skipUnless(hasattr(os, "mkfifo"), "needs named pipes")
class StandbyCase(FakeCoreCase):
    def setUp(self) -> None:
        super().setUp()
        self.pack = make_rule_pack(builtin_rules())
        self.files = [self.put("src/a.py", BAD), self.put("src/b.py", "x = 1\n")]
        self.pool = CountedPool(STAY)
        self.addCleanup(self.pool.close)

    def run_core(
        self,
        tool: Installation,
        pool: WorkerPool | None,
        adapter: SemgrepAdapter | None = None,
        cancel: CancelToken | None = None,
    ) -> ScannerRun:
        return run_adapter(
            adapter or ShortAdapter(self.pack), tool, self.files, stage=self.stage, pool=pool, cancel=cancel
        )

    def waiting(self) -> list[_Waiting]:
        return list(self.pool._rack._waiting.values())

    def ready(self, behaviour: str, adapter: SemgrepAdapter | None = None) -> Installation:
        """A core that waits; the first run has nobody who waits, and asks for one."""
        tool = self.fake_core(behaviour)
        batch = Batch(tuple(self.files))
        with self.stage.run_directory() as directory:
            standby = (adapter or ShortAdapter(self.pack)).invocation(batch, tool, directory, "").standby
        assert standby is not None
        self.pool.warm([], [standby])
        key = _standby_key(standby)
        self.assertTrue(soon(lambda: key in self.pool._rack._waiting and self.pool._rack._waiting[key].alive))
        return tool


def same(one: ScannerRun, other: ScannerRun) -> bool:
    return replace(one, started_at="", duration_ms=0) == replace(other, started_at="", duration_ms=0)


class StandbyTest(StandbyCase):
    def test_every_core_gets_the_verdict_of_a_new_process(self) -> None:
        # the last ones never come to the point where they wait for work, or are not believed
        for behaviour, answers in {
            "honest": 1, "other-file": 1, "forgetful": 1, "blind": 1, "empty-report": 0, "flood-stderr": 0,
            "garbage-first": 1, "wrong-types": 0, "exit-2": 0, "crash-mid-report": 0, "flood-stdout": 0,
        }.items():  # fmt: skip
            with self.subTest(behaviour):
                before = self.pool.answers
                tool = self.ready(behaviour)
                self.assertTrue(same(self.run_core(tool, self.pool), self.run_core(tool, None)))
                self.assertEqual(self.pool.answers - before >= 1, bool(answers))

    def test_another_gets_ready_after_each(self) -> None:
        tool = self.ready("honest")
        for number in range(1, 4):
            self.assertEqual(places(self.run_core(tool, self.pool)), [("src/a.py", "python-eval", 1)])
            self.assertEqual(self.pool.answers, number)
            self.assertTrue(soon(lambda: bool(self.waiting())))

    def test_switched_off_none_waits_any_more(self) -> None:
        tool = self.ready("honest")
        pid = self.waiting()[-1]._resident.child.pid
        self.pool.switch(on=False)
        self.assertFalse(Path(f"/proc/{pid}").exists())
        for _ in range(2):
            self.assertEqual(places(self.run_core(tool, self.pool)), [("src/a.py", "python-eval", 1)])
        time.sleep(0.3)
        self.assertEqual((self.pool.answers, self.waiting()), (0, []))

    def test_the_first_run_waits_for_nobody(self) -> None:
        tool = self.fake_core("honest")
        self.assertEqual(places(self.run_core(tool, self.pool)), [("src/a.py", "python-eval", 1)])
        self.assertEqual(self.pool.answers, 0)
        self.assertTrue(soon(lambda: bool(self.waiting())))

    def test_a_waiting_process_that_was_killed_or_stopped_costs_only_time(self) -> None:
        for number in (signal.SIGKILL, signal.SIGSTOP):
            with self.subTest(number):
                tool = self.ready("honest")
                os.killpg(self.waiting()[-1]._resident.child.pid, number)
                self.assertEqual(places(self.run_core(tool, self.pool)), [("src/a.py", "python-eval", 1)])
                self.assertEqual(self.pool.answers, 0)
                self.assertTrue(soon(lambda: bool(self.waiting())))

    def test_time_and_cancel_hold_for_it(self) -> None:
        tool = self.ready("hang", HastyAdapter(self.pack))
        run = self.run_core(tool, self.pool, HastyAdapter(self.pack))
        self.assertEqual({item.reason for item in run.targets}, {EvidenceReason.SCANNER_TIMEOUT})
        self.assertTrue(soon(lambda: bool(self.waiting())))
        cancel = CancelToken()
        threading.Timer(0.3, cancel.cancel).start()
        run = self.run_core(tool, self.pool, cancel=cancel)
        self.assertEqual({item.reason for item in run.targets}, {EvidenceReason.CANCELLED})

    def test_only_the_kinds_asked_for_last_wait(self) -> None:
        for behaviour in ("honest", "forgetful", "blind"):
            self.ready(behaviour)
        self.assertTrue(soon(lambda: len(self.waiting()) == STAY.standbys))

    def test_it_ends_without_work_with_the_pool_and_with_us(self) -> None:
        def core_of(waiting: _Waiting) -> list[int]:
            children = Path(f"/proc/{waiting._resident.child.pid}/task/{waiting._resident.child.pid}/children")
            return [int(pid) for pid in children.read_text().split()]

        def closed(waiting: _Waiting) -> None:
            self.pool.close()

        def hung_up(waiting: _Waiting) -> None:
            waiting._resident.hang_up()

        endings: list[Callable[[_Waiting], None]] = [hung_up, closed]
        for end in endings:
            with self.subTest(end.__name__):
                self.ready("honest")
                waiting = self.waiting()[-1]
                pids = [waiting._resident.child.pid]
                if sys.platform == "linux":
                    self.assertTrue(soon(lambda: bool(core_of(waiting))))  # noqa: B023
                    pids += core_of(waiting)
                end(waiting)
                self.assertTrue(soon(lambda: all(map(gone, pids))))  # noqa: B023

    def test_it_ends_when_nobody_needs_it(self) -> None:
        self.pool = CountedPool(replace(STAY, idle_s=0.3))
        self.addCleanup(self.pool.close)
        tool = self.ready("honest")
        waiting = self.waiting()[0]
        self.assertTrue(waiting._resident.child.exited.wait(5))
        self.assertEqual(places(self.run_core(tool, self.pool)), [("src/a.py", "python-eval", 1)])

    def test_a_long_list_of_targets_gets_a_process_of_its_own(self) -> None:
        tool = self.ready("honest")
        self.files = [self.put(f"src/{number}.py", BAD) for number in range(400)]
        self.assertEqual(len(self.run_core(tool, self.pool).hits), 400)
        self.assertEqual(self.pool.answers, 0)


class DoubtTest(StandbyCase):
    def run_with(self, program: str, behaviour: str = "honest") -> ScannerRun:
        adapter = ShortAdapter(self.pack)
        adapter.program = program
        return self.run_core(self.fake_core(behaviour), self.pool, adapter)

    def test_a_lying_worker_is_unmasked(self) -> None:
        lies = {
            "no finding, no sample": """print('{"results": [], "errors": [], "paths": {"scanned": []}}')""",
            "no output": "pass",
            "no report": "print('done')",
            "a failure": "raise SystemExit(2)",
            "a crash": "import os; os.abort()",
        }
        for name, program in lies.items():
            with self.subTest(name):
                run = self.run_with(program)
                self.assertEqual(places(run), [("src/a.py", "python-eval", 1)])
                self.assertIs(run.sentinel, SentinelState.ALIVE)

    def test_a_worker_out_of_time_is_believed(self) -> None:
        adapter = HastyAdapter(self.pack)
        adapter.program = "import time; time.sleep(60)"
        begun = time.monotonic()
        run = self.run_core(self.fake_core("honest"), self.pool, adapter)
        self.assertLess(time.monotonic() - begun, 5)
        self.assertEqual({item.reason for item in run.targets}, {EvidenceReason.SCANNER_TIMEOUT})

    def test_a_closed_pool_answers_nothing(self) -> None:
        self.pool.close()
        self.assertEqual(places(self.run_with("pass")), [("src/a.py", "python-eval", 1)])
        self.assertEqual(self.pool.answers, 0)


if __name__ == "__main__":
    unittest.main()
