"""Processes: how they end, what they may use, and that nothing of them is left."""

import contextlib
import os
import resource
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from unittest import mock

from appsecgate import descendants, pipes, process
from appsecgate.errors import CancelledError
from appsecgate.process import (
    CancelToken,
    Completed,
    Ending,
    Limits,
    base_environment,
    kill_all,
    private_directory,
    run,
)

FAKES = Path(__file__).parent / "fakes"
ROOT = Path(__file__).parent.parent
PYTHON = sys.executable
MIB = 1 << 20


def alive(pid: int) -> bool:
    """Whether a process runs: a zombie does not."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] != b"Z"
    return False


def kill_if_alive(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def wait_until(condition: Callable[[], bool], timeout_s: float = 5.0) -> bool:
    end = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


@contextlib.contextmanager
def nobody() -> Iterator[None]:
    """As a user without privileges, where we are root: root may do everything."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


class ProcessCase(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory(prefix="appsecgate-test-")
        self.addCleanup(holder.cleanup)
        self.tmp = Path(holder.name)

    def run_it(
        self,
        *argv: str,
        timeout_s: float = 20,
        limits: Limits | None = None,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        cancel: CancelToken | None = None,
        executable: str | None = None,
        stdin: bytes | None = None,
    ) -> Completed:
        return run(
            argv,
            cwd=cwd or self.tmp,
            env=base_environment(self.tmp) if env is None else env,
            limits=limits or Limits(timeout_s=timeout_s),
            cancel=cancel,
            executable=executable,
            stdin=stdin,
        )

    def shell(self, script: str, *arguments: str, timeout_s: float = 20, limits: Limits | None = None) -> Completed:
        return self.run_it("/bin/sh", "-c", script, *arguments, timeout_s=timeout_s, limits=limits)

    def pids(self, name: str = "pids") -> list[int]:
        return [int(line) for line in (self.tmp / name).read_text().split()]

    def assert_dead(self, pids: list[int]) -> None:
        self.assertTrue(pids)
        self.assertTrue(wait_until(lambda: not any(alive(pid) for pid in pids)), f"still alive: {pids}")


class EndingTest(ProcessCase):
    def test_output_error_and_exit_code_come_back_apart(self) -> None:
        done = self.shell("echo out; echo err >&2; exit 7")
        self.assertEqual((done.ending, done.exit_code), (Ending.EXITED, 7))
        self.assertEqual((done.stdout, done.stderr), (b"out\n", b"err\n"))
        self.assertEqual(done.argv[:2], ("/bin/sh", "-c"))

    def test_a_signal_is_a_negative_exit_code(self) -> None:
        self.assertEqual(self.shell("kill -9 $$").exit_code, -signal.SIGKILL)

    def test_arguments_arrive_as_they_are(self) -> None:
        odd = ["", " a b ", ";id", "$(id)", "`id`", "-x", "new\nline", "Ж", os.fsdecode(b"\xff\xfe"), "*"]
        done = self.run_it(PYTHON, "-I", "-c", "import os,sys;print([os.fsencode(a) for a in sys.argv[1:]])", *odd)
        self.assertEqual(done.stdout.decode().strip(), str([os.fsencode(argument) for argument in odd]))

    def test_a_program_can_be_given_another_name(self) -> None:
        done = self.run_it("another name", "-c", 'echo "$0"', executable="/bin/sh")
        self.assertEqual((done.exit_code, done.stdout), (0, b"another name\n"))

    def test_a_bare_name_is_looked_for_in_the_given_path_alone(self) -> None:
        (self.tmp / "tool").write_text("#!/bin/sh\necho ours\n")
        (self.tmp / "tool").chmod(0o700)
        self.assertEqual(self.run_it("tool", env={"PATH": str(self.tmp)}).stdout, b"ours\n")
        self.assertEqual(self.run_it("tool").ending, Ending.NOT_STARTED)

    def test_the_environment_is_the_given_one_and_our_mark(self) -> None:
        with mock.patch.dict(os.environ, {"SECRET_OF_THE_CALLER": "1"}):
            done = self.run_it("/usr/bin/env", env={"A": "b"})
        names = {line.split(b"=")[0] for line in done.stdout.splitlines()}
        self.assertEqual(names, {b"A", b"APPSECGATE_RUN"})

    def test_stdin_is_empty_unless_bytes_are_given(self) -> None:
        large = os.urandom(3 * MIB)
        for given, want in ((None, b""), (b"", b""), (b"some\0bytes", b"some\0bytes"), (large, large)):
            with self.subTest(given=given and given[:10]):
                self.assertEqual(self.run_it("cat", stdin=given).stdout, want)

    def test_stdin_that_nobody_reads_is_no_matter(self) -> None:
        self.assertEqual(self.run_it("true", stdin=bytes(3 * MIB)).exit_code, 0)

    def test_stdin_comes_from_a_file_where_there_is_no_memory_file(self) -> None:
        create = os.memfd_create
        del os.memfd_create
        self.addCleanup(setattr, os, "memfd_create", create)
        self.assertEqual(self.run_it("cat", stdin=b"abc").stdout, b"abc")

    def test_what_cannot_be_started_is_said_not_raised(self) -> None:
        plain = self.tmp / "plain"
        plain.write_text("no program")
        broken = self.tmp / "broken"
        broken.write_text("#!/no/such/interpreter\n")
        broken.chmod(0o700)
        garbage = self.tmp / "garbage"
        garbage.write_bytes(b"\x7fELF garbage")
        garbage.chmod(0o700)
        cases: list[tuple[list[str], dict[str, Path | dict[str, str]]]] = [
            (["/no/such/program"], {}),
            (["no-such-program"], {}),
            ([str(plain)], {}),
            ([str(self.tmp)], {}),
            ([str(broken)], {}),
            ([str(garbage)], {}),
            ([], {}),
            ([""], {}),
            (["true", "nul\0byte"], {}),
            (["true", "lone \ud800 surrogate"], {}),
            (["true", "x" * 10 * MIB], {}),
            (["true"], {"cwd": self.tmp / "missing"}),
            (["true"], {"env": {"a=b": "c"}}),
        ]
        for argv, options in cases:
            with self.subTest(argv=[argument[:30] for argument in argv], options=options):
                done = self.run_it(*argv, **options)  # type: ignore[arg-type]
                self.assertEqual((done.ending, done.exit_code, done.stdout), (Ending.NOT_STARTED, None, b""))
                self.assertTrue(done.stderr.startswith(b"not started: "))

    def test_no_thread_left_means_not_started_and_no_process_left(self) -> None:
        with mock.patch.object(threading.Thread, "start", side_effect=RuntimeError("can't start new thread")):
            done = self.shell('echo $$ > "$0/pids"; exec sleep 60', str(self.tmp))
        self.assertEqual(done.ending, Ending.NOT_STARTED)
        self.assertFalse((self.tmp / "pids").exists() and any(alive(pid) for pid in self.pids()))

    def test_output_is_left_out_of_the_repr(self) -> None:
        done = self.shell("echo hunter2; echo hunter3 >&2")
        self.assertNotIn("hunter", repr(done).replace(repr(done.argv), ""))

    def test_an_exit_code_that_the_system_keeps_from_us_is_not_taken_for_0(self) -> None:
        done = self.run_it(
            PYTHON, "-W", "error", str(FAKES / "process_no_sigchld.py"),
            env=base_environment(self.tmp, {"PYTHONPATH": str(ROOT)}),
        )  # fmt: skip
        self.assertEqual((done.stdout, done.stderr), (b"exited None\n", b""))

    def test_systems_without_waitid_work_too(self) -> None:
        waitid = os.waitid
        del os.waitid
        self.addCleanup(setattr, os, "waitid", waitid)
        self.assertEqual(self.shell("exit 5").exit_code, 5)


class OutputTest(ProcessCase):
    def test_output_over_the_cap_ends_the_process(self) -> None:
        done = self.run_it("cat", "/dev/zero", limits=Limits(timeout_s=20, max_output_bytes=100_000))
        self.assertEqual((done.ending, done.exit_code), (Ending.OUTPUT_TOO_LARGE, None))
        self.assertEqual(done.stdout, bytes(100_000))
        self.assertLess(done.duration_ms, 5000)

    def test_the_cap_is_exact(self) -> None:
        for size, want in ((999, Ending.EXITED), (1000, Ending.EXITED), (1001, Ending.OUTPUT_TOO_LARGE)):
            with self.subTest(size=size):
                done = self.run_it("head", "-c", str(size), "/dev/zero", limits=Limits(20, max_output_bytes=1000))
                self.assertEqual((done.ending, len(done.stdout)), (want, min(size, 1000)))

    def test_a_flood_of_errors_neither_hangs_nor_grows_and_its_end_is_kept(self) -> None:
        done = self.shell(
            "head -c 20000000 /dev/zero >&2; printf 'the end' >&2; echo fine",
            limits=Limits(20, max_stderr_bytes=1000),
        )
        self.assertEqual((done.ending, done.exit_code, done.stdout), (Ending.EXITED, 0, b"fine\n"))
        self.assertEqual((len(done.stderr), done.stderr[-7:]), (1000, b"the end"))

    def test_two_floods_at_once_come_through_whole(self) -> None:
        done = self.shell("head -c 5000000 /dev/zero >&2 & head -c 5000000 /dev/zero; wait")
        self.assertEqual((len(done.stdout), len(done.stderr)), (5_000_000, 256 << 10))

    def test_an_endless_flood_of_errors_ends_at_the_deadline(self) -> None:
        done = self.shell("cat /dev/zero >&2", timeout_s=0.2)
        self.assertEqual((done.ending, len(done.stderr)), (Ending.TIMEOUT, 256 << 10))

    def test_a_child_that_closes_its_output_is_still_waited_for(self) -> None:
        done = self.shell("exec >&- 2>&-; sleep 0.2; exit 4")
        self.assertEqual((done.ending, done.exit_code), (Ending.EXITED, 4))

    def test_no_error_output_can_be_asked_for(self) -> None:
        self.assertEqual(self.shell("echo x >&2", limits=Limits(20, max_stderr_bytes=0)).stderr, b"")


class ThreadedPipesTest(OutputTest):
    """The same where pipes cannot be polled."""

    def setUp(self) -> None:
        super().setUp()
        patcher = mock.patch.object(process, "_PIPE_EVENTS", pipes.ThreadedEvents)
        patcher.start()
        self.addCleanup(patcher.stop)

    def test_a_pipe_kept_open_by_a_stranger_is_given_up(self) -> None:
        spawner = str(FAKES / "process_spawner.py")
        done = self.run_it(PYTHON, spawner, "session,keep,bare", str(self.tmp / "pids"))
        self.addCleanup(kill_if_alive, self.pids()[0])
        self.assertEqual((done.ending, done.stdout), (Ending.EXITED, b"ready\n"))
        self.assertLess(done.duration_ms, 5000)

    def test_a_cancelled_child_wakes_the_waiting_thread(self) -> None:
        token = CancelToken()
        threading.Timer(0.1, token.cancel).start()
        self.assertEqual(self.run_it("sleep", "60", cancel=token).ending, Ending.CANCELLED)


class LeftoversTest(ProcessCase):
    def spawn(self, how: str, linger_s: int = 0, timeout_s: float = 20.0) -> Completed:
        spawner = str(FAKES / "process_spawner.py")
        return self.run_it(PYTHON, spawner, how, str(self.tmp / "pids"), str(linger_s), timeout_s=timeout_s)

    def test_descendants_die_with_their_ancestor_however_it_ends(self) -> None:
        cases = [(how, 0, 20.0, Ending.EXITED) for how in ("group", "keep", "session", "session,keep")]
        cases += [(how, 60, 0.8, Ending.TIMEOUT) for how in ("keep", "session")]
        for how, linger_s, timeout_s, want in cases:
            with self.subTest(how=how, want=want):
                (self.tmp / "pids").unlink(missing_ok=True)
                done = self.spawn(how, linger_s, timeout_s)
                self.assertEqual((done.ending, done.stdout), (want, b"ready\n"))
                self.assert_dead(self.pids())

    def test_a_hundred_that_left_the_group_die(self) -> None:
        self.spawn("session,keep,hundred")
        self.assertEqual(len(self.pids()), 100)
        self.assert_dead(self.pids())

    def test_who_hides_from_us_and_keeps_the_pipe_open_cannot_hang_us(self) -> None:
        done = self.spawn("session,keep,bare")
        self.addCleanup(kill_if_alive, self.pids()[0])
        self.assertEqual((done.ending, done.exit_code, done.stdout), (Ending.EXITED, 0, b"ready\n"))
        self.assertLess(done.duration_ms, 5000)

    def test_a_stranger_who_fills_the_pipe_of_a_dead_child_cannot_hang_us(self) -> None:
        script = "env -i /usr/bin/setsid /bin/sh -c 'echo $$ > \"$0\"; exec cat /dev/zero' \"$0\" & sleep 0.3"
        done = self.shell(script, str(self.tmp / "pids"), limits=Limits(20, max_output_bytes=1 << 40))
        self.addCleanup(kill_if_alive, self.pids()[0])
        self.assertEqual(done.ending, Ending.EXITED)
        self.assertLess(done.duration_ms, 10_000)

    def test_output_left_in_the_pipe_counts_against_the_cap(self) -> None:
        for _ in range(5):
            done = self.shell("head -c 60000 /dev/zero", limits=Limits(20, max_output_bytes=50_000))
            self.assertEqual(done.ending, Ending.OUTPUT_TOO_LARGE)

    def test_what_ignores_signals_is_killed_all_the_same(self) -> None:
        done = self.shell("trap '' TERM INT HUP; while :; do sleep 1; done", timeout_s=0.2)
        self.assertEqual(done.ending, Ending.TIMEOUT)
        self.assertLess(done.duration_ms, 5000)

    def test_a_child_leads_a_session_of_its_own_and_inherits_no_descriptor(self) -> None:
        code = "import os;print(os.getsid(0)==os.getpid()==os.getpgid(0), len(os.listdir('/proc/self/fd')))"
        with open(os.devnull) as file:
            os.set_inheritable(file.fileno(), True)
            self.assertEqual(self.run_it(PYTHON, "-I", "-c", code).stdout, b"True 4\n")

    def test_hundreds_of_runs_leave_no_descriptor_thread_or_zombie(self) -> None:
        def work() -> None:
            for _ in range(12):
                self.run_it("cat", stdin=b"x")
                self.run_it("no-such-program")

        self.run_it("true")
        before = len(list(Path("/proc/self/fd").iterdir())), threading.active_count()
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertTrue(wait_until(lambda: threading.active_count() <= before[1]))
        self.assertLessEqual(len(list(Path("/proc/self/fd").iterdir())), before[0])
        with self.assertRaises(ChildProcessError):
            os.waitpid(-1, os.WNOHANG)

    def test_the_end_of_our_own_program_kills_what_its_threads_wait_for(self) -> None:
        subprocess.run(
            [PYTHON, "-W", "error", str(FAKES / "process_in_thread.py"), str(self.tmp / "pids")],
            env={"PYTHONPATH": str(ROOT)}, check=True, timeout=20,
        )  # fmt: skip
        self.assert_dead(self.pids())

    def test_killing_what_is_gone_already_is_harmless(self) -> None:
        children: list[process.Child] = []
        timer = threading.Timer(0.1, lambda: children.extend(process._LIVE))
        timer.start()
        self.run_it("sleep", "0.3")
        for child in children:
            child.withdraw()
        self.assertEqual(len(children), 1)

    def test_a_signal_handler_in_the_middle_of_anything_may_kill_all(self) -> None:
        signal.signal(signal.SIGALRM, lambda *_: kill_all())
        self.addCleanup(signal.signal, signal.SIGALRM, signal.SIG_DFL)
        self.addCleanup(signal.setitimer, signal.ITIMER_REAL, 0)
        signal.setitimer(signal.ITIMER_REAL, 0.003, 0.003)
        endings = {self.run_it("sleep", "0.02").ending for _ in range(10)}
        self.assertLessEqual(endings, {Ending.CANCELLED, Ending.EXITED})

    def test_nothing_is_started_once_our_own_program_ends(self) -> None:
        self.addCleanup(process._ENDED.clear)
        process._end()
        done = self.run_it("true")
        self.assertEqual((done.ending, done.stderr), (Ending.NOT_STARTED, b"not started: our own program is ending"))

    def test_kill_all_ends_every_run(self) -> None:
        endings: list[Ending] = []
        threads = [
            threading.Thread(target=lambda: endings.append(self.run_it("sleep", "60").ending)) for _ in range(3)
        ]
        for thread in threads:
            thread.start()
        self.assertTrue(wait_until(lambda: len(process._LIVE) == 3))
        kill_all()
        for thread in threads:
            thread.join(10)
        self.assertEqual(endings, [Ending.CANCELLED] * 3)
        kill_all()


class DeadlineTest(ProcessCase):
    def test_the_deadline_holds(self) -> None:
        for timeout_s in (0, 0.1, 0.3):
            with self.subTest(timeout_s=timeout_s):
                done = self.run_it("sleep", "60", timeout_s=timeout_s)
                self.assertEqual((done.ending, done.exit_code), (Ending.TIMEOUT, None))
                self.assertLess(done.duration_ms, timeout_s * 1000 + 3000)

    def test_an_endless_deadline_is_one(self) -> None:
        self.assertEqual(self.run_it("true", timeout_s=float("inf")).exit_code, 0)

    def test_what_came_before_the_deadline_is_kept(self) -> None:
        self.assertEqual(self.shell("echo before; sleep 60", timeout_s=0.3).stdout, b"before\n")

    def test_a_child_that_cannot_be_reaped_does_not_hold_us(self) -> None:
        stuck = threading.Event()
        waitid = os.waitid

        def late(*arguments: int) -> object:
            info = waitid(*arguments)
            stuck.wait(5)
            return info

        with mock.patch.object(os, "waitid", late), mock.patch.object(process, "_REAP_S", 0.05):
            done = self.run_it("sleep", "60", timeout_s=0.05)
            self.assertEqual((done.ending, done.exit_code), (Ending.TIMEOUT, None))
            zombies = threading.active_count()
            stuck.set()
            self.assertTrue(wait_until(lambda: threading.active_count() < zombies))
        with self.assertRaises(ChildProcessError):
            os.waitpid(-1, os.WNOHANG)


class CancelTest(ProcessCase):
    def test_a_cancelled_token_starts_nothing(self) -> None:
        token = CancelToken()
        token.cancel()
        done = self.run_it("touch", "started", cancel=token)
        self.assertEqual((done.ending, done.exit_code), (Ending.CANCELLED, None))
        self.assertFalse((self.tmp / "started").exists())

    def test_cancelling_from_another_thread_kills_at_once(self) -> None:
        token = CancelToken()
        threading.Timer(0.2, token.cancel).start()
        done = self.run_it("/bin/sh", "-c", "echo begun; sleep 60 & sleep 60", cancel=token)
        self.assertEqual((done.ending, done.stdout), (Ending.CANCELLED, b"begun\n"))
        self.assertLess(done.duration_ms, 5000)

    def test_one_token_cancels_many_runs(self) -> None:
        token = CancelToken()
        endings: list[Ending] = []
        threads = [
            threading.Thread(target=lambda: endings.append(self.run_it("sleep", "60", cancel=token).ending))
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        time.sleep(0.1)
        token.cancel()
        for thread in threads:
            thread.join(10)
        self.assertEqual(endings, [Ending.CANCELLED] * 4)
        self.assertEqual(len(token._callbacks), 0)

    def test_a_token_not_cancelled_changes_nothing(self) -> None:
        token = CancelToken()
        self.assertEqual(self.run_it("true", cancel=token).exit_code, 0)
        token.check()
        self.assertEqual(len(token._callbacks), 0)

    def test_check_raises_once_cancelled(self) -> None:
        token = CancelToken()
        token.cancel()
        token.cancel()
        with self.assertRaises(CancelledError):
            token.check()

    def test_callbacks_run_once_and_not_after_they_were_unregistered(self) -> None:
        token = CancelToken()
        called: list[str] = []
        token.on_cancel(lambda: called.append("kept"))
        unregister = token.on_cancel(lambda: called.append("unregistered"))
        unregister()
        unregister()
        token.cancel()
        token.cancel()
        token.on_cancel(lambda: called.append("late"))()
        self.assertEqual(called, ["kept", "late"])

    def test_poking_closed_pipes_is_harmless(self) -> None:
        read, write = os.pipe()
        os.close(write)
        events = pipes.PolledEvents([os.fdopen(read, "rb", buffering=0)])
        for _ in range(70_000):
            events.poke()
        events.close()
        events.poke()


    def test_a_reading_thread_ends_when_nobody_takes_its_chunks_any_more(self) -> None:
        before = threading.active_count()
        with open("/dev/zero", "rb", buffering=0) as zero:
            events = pipes.ThreadedEvents([zero])
            self.assertTrue(wait_until(lambda: len(events._chunks) == events._AHEAD))
            events.close()
            self.assertTrue(wait_until(lambda: threading.active_count() == before))


class UsageTest(ProcessCase):
    def test_memory_is_limited(self) -> None:
        done = self.run_it(
            PYTHON, "-I", "-c", "import time; time.sleep(0.1); x = bytearray(1_000_000_000)", limits=Limits(20, memory_bytes=300 * MIB)
        )
        self.assertEqual((done.ending, done.exit_code), (Ending.EXITED, 1))
        self.assertIn(b"MemoryError", done.stderr)

    def test_processor_time_is_limited(self) -> None:
        done = self.run_it(PYTHON, "-I", "-c", "while True: pass", limits=Limits(20, cpu_s=1))
        self.assertEqual((done.ending, done.exit_code), (Ending.EXITED, -signal.SIGXCPU))

    def test_what_was_started_before_the_limit_came_is_limited_as_well(self) -> None:
        def late(pid: int, mark: bytes, *, memory_bytes: int | None, cpu_s: int | None) -> None:
            time.sleep(0.15)
            descendants.limit_usage(pid, mark, memory_bytes=memory_bytes, cpu_s=cpu_s)

        with mock.patch.object(process, "limit_usage", late):
            done = self.run_it(
                PYTHON, "-I", str(FAKES / "process_forker.py"), limits=Limits(20, memory_bytes=300 * MIB)
            )
        self.assertEqual(done.stdout, b"refused")

    def test_a_fork_bomb_cannot_keep_us_limiting(self) -> None:
        script = "import os,time\nfor _ in range(300):\n if os.fork()==0: time.sleep(60)"
        done = self.run_it(PYTHON, "-I", "-c", script, limits=Limits(20, memory_bytes=300 * MIB, cpu_s=5))
        self.assertEqual(done.ending, Ending.EXITED)

    def test_a_limit_is_lowered_to_the_most_that_we_have_ourselves(self) -> None:
        code = (
            "import resource,sys;from pathlib import Path;from appsecgate.process import *;"
            "resource.setrlimit(resource.RLIMIT_AS,(900<<20,900<<20));"
            "print(run(['/bin/sh','-c','sleep 0.1; ulimit -v; ulimit -c'],cwd=Path('/'),env={},"
            "limits=Limits(20,memory_bytes=10<<30,cpu_s=60)).stdout.decode())"
        )
        done = self.run_it(PYTHON, "-c", code, env=base_environment(self.tmp, {"PYTHONPATH": str(ROOT)}))
        self.assertEqual(done.stdout.split(), [str(900 * 1024).encode(), b"0"])

    def test_a_sandbox_that_forbids_limits_stops_nothing(self) -> None:
        with mock.patch.object(resource, "prlimit", side_effect=PermissionError):
            self.assertEqual(self.run_it("true", limits=Limits(20, cpu_s=1, memory_bytes=MIB)).exit_code, 0)

    def test_limits_hold_in_many_threads_at_once(self) -> None:
        codes: list[int | None] = []
        code = "import time; time.sleep(0.2); x = bytearray(1_000_000_000)"
        threads = [
            threading.Thread(
                target=lambda: codes.append(
                    self.run_it(PYTHON, "-I", "-c", code, limits=Limits(20, memory_bytes=300 * MIB)).exit_code
                )
            )
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(codes, [1] * 4)


class DescendantsTest(ProcessCase):
    def test_without_proc_or_pidfds_nothing_is_found_and_nothing_breaks(self) -> None:
        own = [f"APPSECGATE_RUN={'0' * 16}".encode()]
        with mock.patch.object(Path, "iterdir", side_effect=FileNotFoundError):
            self.assertEqual(descendants.marked_processes(own), [])
        with mock.patch.object(os, "pidfd_open", side_effect=OSError):
            self.assertFalse(descendants._kill_one(os.getpid(), own))
        with mock.patch.object(signal, "pidfd_send_signal", side_effect=PermissionError), \
                mock.patch.object(descendants, "_bears", return_value=True):  # fmt: skip
            self.assertFalse(descendants._kill_one(os.getpid(), own))

    def test_a_process_without_the_mark_is_left_alone(self) -> None:
        self.assertFalse(descendants._kill_one(os.getpid(), [b"APPSECGATE_RUN=no"]))

    def test_what_will_not_die_is_given_up(self) -> None:
        with mock.patch.object(descendants, "_DEATH_S", 0.05), \
                mock.patch.object(descendants, "marked_processes", return_value=[1]), \
                mock.patch.object(descendants, "_kill_one", return_value=True):  # fmt: skip
            descendants.kill_marked([b"x"])


class EnvironmentTest(ProcessCase):
    def test_nothing_of_the_callers_environment_is_in_it(self) -> None:
        hostile = {
            "PYTHONPATH": ".", "LD_PRELOAD": "x", "GIT_DIR": "x", "HTTP_PROXY": "x", "SEMGREP_RULES": "x",
            "PATH": ".:/evil", "HOME": "/evil", "TMPDIR": "/evil", "BASH_ENV": "x", "PIP_INDEX_URL": "x",
        }  # fmt: skip
        with mock.patch.dict(os.environ, hostile):
            env = base_environment(self.tmp, {"EXTRA": "1", "NO_PROXY": "*"})
        self.assertEqual(
            env,
            {
                "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin",
                "LANG": "C.UTF-8", "HOME": str(self.tmp), "TMPDIR": str(self.tmp), "PYTHONHASHSEED": "0",
                "PYTHONSAFEPATH": "1", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONNOUSERSITE": "1",
                "PYTHONUTF8": "1", "NO_PROXY": "*", "EXTRA": "1",
            },
        )  # fmt: skip

    def test_a_private_directory_is_ours_alone_and_goes_away(self) -> None:
        with private_directory(self.tmp, prefix="x-") as path:
            self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o700)
            self.assertEqual((path.parent, path.name[:2]), (self.tmp, "x-"))
            (path / "inner").mkdir()
            (path / "inner" / "file").write_text("x")
        self.assertFalse(path.exists())

    def test_a_private_directory_goes_away_after_an_error(self) -> None:
        with self.assertRaises(KeyError), private_directory() as path:
            raise KeyError
        self.assertFalse(path.exists())

    def test_a_private_directory_goes_away_even_if_it_was_locked_and_no_link_is_followed(self) -> None:
        self.tmp.chmod(0o777)
        outside = self.tmp / "outside"
        outside.mkdir(mode=0o755)
        with nobody(), private_directory(self.tmp) as path:
            (path / "a" / "b" / "c").mkdir(parents=True)
            (path / "a" / "link").symlink_to(outside)
            for locked in (path / "a" / "b", path / "a", path):
                locked.chmod(0)
        self.assertFalse(path.exists())
        self.assertEqual(stat.S_IMODE(outside.stat().st_mode), 0o755)


if __name__ == "__main__":
    unittest.main()
