"""A loaded program answers as a new process would, and whatever goes wrong with it costs nothing but time."""

import contextlib
import json
import os
import signal
import sys
import tempfile
import threading
import time
import unittest
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from appsecgate.process import CancelToken, Completed, Ending, Limits, base_environment, run
from appsecgate.resident import Resident, StayLimits
from appsecgate.scanners.base import Invocation, Zygote
from appsecgate.scanners.pool import WorkerPool
from appsecgate.scanners.zygote import RunPlaces, ZygoteHome

FAKES = Path(__file__).resolve().parent.parent / "fakes"
TOY = (FAKES / "zygote_toy.py").read_text("utf-8")
LIMITS = Limits(10, max_output_bytes=1_000_000)
STAY = StayLimits(start_s=10, patience_s=0.2, answer_s=2)


def soon(condition: Callable[[], bool], seconds: float = 5) -> bool:
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.005)
    return True


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    return False


@unittest.skipUnless(hasattr(os, "fork"), "needs fork")
class PoolCase(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory(prefix="appsecgate-test-")
        self.addCleanup(holder.cleanup)
        self.tmp = Path(holder.name).resolve()
        self.pool = self.make_pool(STAY)
        self.zygote = Zygote(Path(sys.executable), TOY, Limits(10), {"sample.txt": b"s"})
        self._count = 0

    def make_pool(self, stay: StayLimits) -> WorkerPool:
        pool = WorkerPool(stay)
        self.addCleanup(pool.close)
        return pool

    def places(self) -> RunPlaces:
        self._count += 1
        directory = self.tmp / f"run-{self._count}"
        for path in (directory, directory / "cwd", directory / "tmp"):
            path.mkdir(mode=0o700)
        return RunPlaces(directory, directory / "cwd", directory / "tmp")

    def ask(
        self, *arguments: str, limits: Limits = LIMITS, cancel: CancelToken | None = None, stdin: bytes | None = None
    ) -> Completed | None:
        plan = Invocation(("toy",), LIMITS, env={"EXTRA": "1"}, stdin=stdin, zygote=self.zygote, arguments=arguments)
        return self.pool.answer(plan, self.places(), limits, cancel)

    def tell(self) -> dict[str, Any]:
        completed = self.ask("tell")
        assert completed is not None
        told: dict[str, Any] = json.loads(completed.stdout)
        return told

    def home(self) -> ZygoteHome:
        return next(iter(self.pool._homes.values()))

    def pid(self) -> int:
        resident = self.home()._resident
        assert resident is not None
        return resident.child.pid


class ZygoteTest(PoolCase):
    def test_a_request_gets_what_a_process_would_get(self) -> None:
        places = self.places()
        plan = Invocation(
            ("toy",), LIMITS, env={"EXTRA": "1"}, stdin=b"in\n", zygote=self.zygote, arguments=("tell", "a")
        )
        warm = self.pool.answer(plan, places, LIMITS)
        (self.tmp / "toy.py").write_text(TOY)
        cold = run(
            (sys.executable, "-I", str(self.tmp / "toy.py"), "tell", "a"),
            cwd=places.cwd, env=base_environment(places.temporary, {"EXTRA": "1"}), limits=LIMITS, stdin=b"in\n",
        )  # fmt: skip
        assert warm is not None
        self.assertEqual((warm.ending, warm.exit_code, warm.stderr), (cold.ending, cold.exit_code, cold.stderr))
        told, expected = json.loads(warm.stdout), json.loads(cold.stdout)
        self.assertEqual(told.pop("loaded")[1], ["sample.txt"])
        del expected["loaded"]
        self.assertEqual(told, expected)

    def test_nothing_of_one_request_reaches_the_next(self) -> None:
        before = self.tell()["loaded"]
        self.ask("poison")
        self.assertEqual(self.tell()["loaded"], before)

    def test_exit_codes_and_errors_are_passed_on_without_words_of_the_project(self) -> None:
        for arguments, code in ((("exit", "3"), 3), (("exit", "0"), 0), (("raise",), 1), (("nothing",), 0)):
            with self.subTest(arguments):
                completed = self.ask(*arguments)
                assert completed is not None
                self.assertEqual((completed.ending, completed.exit_code), (Ending.EXITED, code))
                self.assertNotIn(b"live_secret", completed.stderr)

    def test_switched_off_they_end_and_none_is_started_until_they_are_on_again(self) -> None:
        self.tell()
        before = self.pid()
        self.pool.switch(on=False)
        self.assertTrue(gone(before))
        self.assertIsNone(self.ask("tell"))
        self.pool.warm([self.zygote])
        self.assertEqual(self.pool._homes, {})
        self.pool.switch(on=True)
        self.tell()
        self.assertNotEqual(self.pid(), before)
        self.pool.close()
        self.pool.switch(on=True)
        self.assertIsNone(self.ask("tell"))

    def test_what_is_asked_while_they_are_switched_off_is_not_answered(self) -> None:
        self.tell()
        answers: list[Completed | None] = []
        asking = threading.Thread(target=lambda: answers.append(self.ask("hang")))
        asking.start()
        time.sleep(0.3)
        began = time.monotonic()
        self.pool.switch(on=False)
        asking.join(10)
        self.assertEqual(answers, [None])
        self.assertLess(time.monotonic() - began, 5)

    def test_a_request_that_takes_too_long_is_ended_and_the_worker_lives_on(self) -> None:
        before = self.tell()["loaded"]
        completed = self.ask("hang", limits=replace(LIMITS, timeout_s=0.3))
        assert completed is not None
        self.assertEqual((completed.ending, completed.exit_code), (Ending.TIMEOUT, None))
        self.assertLess(completed.duration_ms, 2000)
        self.assertEqual(self.tell()["loaded"], before)

    def test_a_cancelled_request_is_ended_and_the_worker_lives_on(self) -> None:
        before = self.tell()["loaded"]
        cancel = CancelToken()
        threading.Timer(0.2, cancel.cancel).start()
        completed = self.ask("hang", cancel=cancel)
        assert completed is not None
        self.assertIs(completed.ending, Ending.CANCELLED)
        self.assertEqual(self.tell()["loaded"], before)

    def test_what_died_or_flooded_is_asked_again_elsewhere(self) -> None:
        before = self.tell()["loaded"]
        self.assertIsNone(self.ask("die"))
        self.assertIsNone(self.ask("flood"))
        self.assertEqual(self.tell()["loaded"], before)

    def test_a_worker_killed_between_requests_is_replaced(self) -> None:
        before = self.tell()["loaded"]
        for _ in range(3):
            resident = self.home()._resident
            assert resident is not None
            os.kill(resident.child.pid, signal.SIGKILL)
            self.assertTrue(resident.child.exited.wait(5))
            self.assertNotEqual(self.tell()["loaded"], before)

    def test_a_worker_killed_during_a_request_leaves_the_answer_to_a_process(self) -> None:
        self.tell()
        began = time.monotonic()
        self.assertIsNone(self.ask("kill-parent"))
        self.assertLess(time.monotonic() - began, 5)
        self.assertIsNotNone(self.ask("tell"))

    @unittest.skipUnless(sys.platform == "linux", "needs /proc")
    def test_a_stopped_worker_is_given_up_soon(self) -> None:
        self.tell()
        before = self.pid()
        os.kill(before, signal.SIGSTOP)
        self.assertIsNone(self.ask("tell"))
        self.assertTrue(gone(before))
        self.assertIsNotNone(self.ask("tell"))

    @unittest.skipUnless(sys.platform == "linux", "elsewhere it ends with the worker")
    def test_what_a_request_leaves_running_is_ended(self) -> None:
        completed = self.ask("leave-behind")
        assert completed is not None
        self.assertTrue(soon(lambda: gone(int(completed.stdout))))

    def test_a_worker_without_work_ends_itself(self) -> None:
        self.pool = self.make_pool(replace(STAY, idle_s=0.2))
        self.tell()
        pid = self.pid()
        self.assertTrue(soon(lambda: gone(pid)))
        self.assertIsNotNone(self.ask("tell"))

    def test_a_worker_ends_when_nobody_is_there_any_more(self) -> None:
        self.tell()
        resident = self.home()._resident
        assert resident is not None
        resident.hang_up()
        self.assertTrue(resident.child.exited.wait(5))

    def test_a_worker_is_replaced_by_use_age_and_size(self) -> None:
        for stay in (replace(STAY, uses=1), replace(STAY, age_s=0.0), replace(STAY, rss_kib=1)):
            with self.subTest(stay):
                self.pool = self.make_pool(stay)
                for _ in range(3):
                    pid = self.tell()["loaded"][0]
                    self.assertTrue(soon(lambda: gone(pid)))  # noqa: B023

    def test_nothing_is_left_after_the_end(self) -> None:
        self.tell()
        pid, directory = self.pid(), self.pool._root
        assert directory is not None
        self.pool.close()
        self.pool.close()
        self.assertTrue(gone(pid))
        self.assertFalse(directory.exists())
        self.assertIsNone(self.ask("tell"))

    def test_a_pool_that_was_closed_while_it_worked_leaves_nothing(self) -> None:
        self.tell()
        pid = self.pid()
        threading.Timer(0.2, self.pool.close).start()
        self.assertIsNone(self.ask("hang"))
        self.assertTrue(soon(lambda: gone(pid)))

    def test_a_request_does_not_wait_long_behind_another(self) -> None:
        self.tell()
        cancel = CancelToken()
        other = threading.Thread(target=lambda: self.ask("hang", cancel=cancel))
        other.start()
        self.assertTrue(soon(self.home()._lock.locked))
        began = time.monotonic()
        self.assertIsNone(self.ask("tell"))
        self.assertLess(time.monotonic() - began, 1)
        cancel.cancel()
        other.join()

    def test_a_request_waits_for_a_worker_that_is_being_warmed(self) -> None:
        self.pool.warm([self.zygote])
        self.assertTrue(soon(self.home()._lock.locked))
        self.assertEqual(self.tell()["loaded"][0], self.pid())

    def test_a_request_that_cannot_wait_leaves_the_worker_loading(self) -> None:
        slow = "import time\n" + TOY.replace("LOADED.append(os.getpid())", "LOADED.append(os.getpid()); time.sleep(1)")
        self.zygote = replace(self.zygote, program=slow)
        self.assertIsNone(self.ask("tell", limits=replace(LIMITS, timeout_s=0.2)))
        pid = self.pid()
        cancel = CancelToken()
        cancel.cancel()
        self.assertIsNone(self.ask("tell", cancel=cancel))
        self.assertEqual(self.tell()["loaded"][0], pid)

    def test_a_worker_that_is_used_often_does_not_grow(self) -> None:
        sizes = []
        for _ in range(60):
            self.ask("tell")
            sizes.append(self.home()._rss_kib)
        self.assertLess(sizes[-1], sizes[5] * 1.05)


class LyingZygoteTest(PoolCase):
    def setUp(self) -> None:
        super().setUp()
        self.pool = self.make_pool(replace(STAY, start_s=0.5, answer_s=0.5))

    def lie(self, behaviour: str) -> Completed | None:
        program = self.tmp / f"zygote-{behaviour}"
        program.write_text(f"#!{sys.executable}\n{(FAKES / 'zygote_liar.py').read_text('utf-8')}", encoding="utf-8")
        program.chmod(0o700)
        self.zygote = Zygote(program, TOY, Limits(10))
        return self.ask("tell", limits=replace(LIMITS, timeout_s=1))

    def test_a_worker_that_is_odd_is_not_believed(self) -> None:
        for behaviour in (
            "mute", "stillborn", "talker", "stranger", "unasked", "garbage", "list", "deaf", "wrong-id", "half-line",
            "garbage-later", "silent", "text-status",
        ):  # fmt: skip
            with self.subTest(behaviour):
                began = time.monotonic()
                self.assertIsNone(self.lie(behaviour))
                self.assertLess(time.monotonic() - began, 4)
                self.assertIsNone(next(reversed(self.pool._homes.values()))._resident)

    def test_an_answer_without_output_is_an_empty_report(self) -> None:
        completed = self.lie("honest-looking")
        assert completed is not None
        self.assertEqual((completed.exit_code, completed.stdout), (0, b""))

    def test_after_two_failures_none_is_started_for_a_while(self) -> None:
        for _ in range(2):
            self.assertIsNone(self.lie("stillborn"))
        count = self.pool._count
        self.assertIsNone(self.lie("stillborn"))
        self.assertEqual(self.pool._count, count)

    def test_an_interpreter_that_is_missing_is_no_error(self) -> None:
        self.zygote = Zygote(self.tmp / "nowhere", TOY, Limits(10))
        self.assertIsNone(self.ask("tell"))


class ResidentTest(unittest.TestCase):
    def test_a_child_that_floods_while_nobody_asks_is_stopped_by_its_pipe(self) -> None:
        flood = "import sys\nwhile True: sys.stderr.write('x' * 65536)"
        with tempfile.TemporaryDirectory() as name:
            resident = Resident(
                [sys.executable, "-I", "-c", flood], cwd=Path(name), env=base_environment(Path(name)), limits=LIMITS
            )
            self.addCleanup(resident.end)
            self.assertTrue(resident.alive)
            resident.end()
            resident.end()
            self.assertFalse(resident.alive)


if __name__ == "__main__":
    unittest.main()
