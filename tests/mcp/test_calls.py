"""Tool calls: results, failures, concurrency, cancellation, progress."""

import contextlib
import dataclasses
import io
import json
import queue
import threading
import time
import unittest
from typing import Any

from appsecgate.bugs import MAX_BUG_REPORTS, MAX_SCAN_BUGS, BugReports
from appsecgate.mcp.dispatch import CallPool, shortened
from appsecgate.mcp.server import ServerLimits
from appsecgate.tools.base import ToolCard, failed_result
from tests.mcp.conformance_tools import RawTool
from tests.mcp.fixture_server import fixture_setup
from tests.mcp.harness import ENVELOPE, Client, connected

SECRET = "hunter2" * 3


class Unlistable(RawTool):
    """A tool with a bug in its own description."""

    def card(self) -> ToolCard:
        raise TypeError("no card")


def text_of(answer: Any) -> str:
    """The text of a result."""
    return str(answer["result"]["content"][0]["text"])


@contextlib.contextmanager
def captured_stderr() -> Any:
    with contextlib.redirect_stderr(io.StringIO()) as stream:
        yield stream


class Results(unittest.TestCase):
    def test_text_and_structure_say_the_same(self) -> None:
        with connected() as client:
            result = client.call("echo", {"text": "é😀"})["result"]
        self.assertEqual(json.loads(result["content"][0]["text"]), result["structuredContent"])

    def test_unknown_arguments_are_ignored_and_null_is_absent(self) -> None:
        with connected() as client:
            result = client.call("echo", {"text": "a", "times": None, "wait_for_previous": True})["result"]
        self.assertEqual(result["structuredContent"]["text"], "a")

    def test_a_missing_argument_object_counts_as_empty(self) -> None:
        with connected() as client:
            for params in ({"name": "roots"}, {"name": "roots", "arguments": None}):
                self.assertFalse(client.ask("tools/call", params)["result"]["isError"])

    def test_wrong_arguments_are_results_that_say_how_to_call(self) -> None:
        with connected() as client:
            answer = client.call("echo", {"times": "many"})
        self.assertTrue(answer["result"]["isError"])
        self.assertNotIn("structuredContent", answer["result"])
        self.assertEqual(
            text_of(answer),
            'text: missing, wanted a string (What to say); times: got "many", wanted an integer. '
            'Call it like this: echo {"text": "hi"}',
        )

    def test_refusals_are_results_with_redacted_text(self) -> None:
        with connected() as client:
            answer = client.call("fail", {"how": "refused"})
        self.assertTrue(answer["result"]["isError"])
        self.assertIn("token=[REDACTED]. Name the project with", text_of(answer))

    def test_bugs_are_results_with_a_reference_and_the_traceback_stays_here(self) -> None:
        for how in ("bug", "exit", "recursion", "nan"):
            with self.subTest(how=how), captured_stderr() as stderr, connected() as client:
                answer = client.call("fail", {"how": how})
                self.assertTrue(answer["result"]["isError"])
                self.assertRegex(text_of(answer), r"^internal error, reference [0-9a-f]{8}\.")
                reference = text_of(answer).split()[3].rstrip(".")
                client.end()
                self.assertIn(f"internal error, reference {reference}\n", stderr.getvalue())
                self.assertNotIn(SECRET, stderr.getvalue())
                self.assertTrue(all(b"Traceback" not in line for line in client.lines))

    def test_a_cancellation_that_nobody_asked_for_is_a_failure(self) -> None:
        with connected() as client:
            self.assertIn("nobody asked", text_of(client.call("fail", {"how": "cancelled"})))

    def test_a_result_over_the_limit_says_to_ask_for_less(self) -> None:
        with connected() as client:
            answer = client.call("fail", {"how": "huge"})
        self.assertTrue(answer["result"]["isError"])
        self.assertIn("50,023 characters, more than the 40,000", text_of(answer))

    def test_bytes_that_are_not_text_do_not_break_the_line(self) -> None:
        with connected() as client:
            answer = client.call("fail", {"how": "surrogate"})
        self.assertEqual(answer["result"]["structuredContent"]["text"], "caf\ufffd.py")

    def test_a_tool_may_answer_with_a_protocol_error(self) -> None:
        with connected(conformance=True) as client:
            error = client.call("test_missing_capability")["error"]
        self.assertEqual((error["code"], error["data"]), (-32021, {"requiredCapabilities": {"sampling": {}}}))

    def test_long_texts_keep_head_and_tail(self) -> None:
        text = "a" * 5000 + "z" * 5000
        cut = shortened(text, 1000)
        self.assertLessEqual(len(cut), 1000)
        self.assertTrue(cut.startswith("aaa") and cut.endswith("zzz"))
        self.assertIn("9,000 characters left out", cut)
        self.assertEqual(shortened("short", 1000), "short")


class BugReporting(unittest.TestCase):
    def test_a_broken_redactor_withholds_the_text(self) -> None:
        def broken(_text: str) -> str:
            raise KeyError(SECRET)

        with captured_stderr() as stderr:
            BugReports(broken).write("ref", ValueError(SECRET))
        self.assertIn("withheld: redaction failed with KeyError", stderr.getvalue())
        self.assertNotIn(SECRET, stderr.getvalue())

    def test_only_so_many_reports_are_written(self) -> None:
        reports = BugReports(str)
        with captured_stderr() as stderr:
            for number in range(100):
                reports.write(f"ref-{number}", ValueError("x" * 10_000))
        self.assertIn(f"ref-{MAX_BUG_REPORTS - 1}\n", stderr.getvalue())
        self.assertNotIn(f"ref-{MAX_BUG_REPORTS}\n", stderr.getvalue())
        with_scans = len(stderr.getvalue()) * (MAX_BUG_REPORTS + MAX_SCAN_BUGS) / MAX_BUG_REPORTS
        self.assertLess(with_scans, 65_536, "a pipe that nobody reads takes no more")

    def test_no_stderr_is_no_problem(self) -> None:
        for stream in (None, io.StringIO()):
            if stream is not None:
                stream.close()
            with self.subTest(stream=stream), contextlib.redirect_stderr(stream):
                BugReports(str).write("ref", ValueError("x"))

    def test_a_bug_of_the_server_itself_has_its_own_code(self) -> None:
        setup = dataclasses.replace(
            fixture_setup(), tools=(Unlistable("bad", lambda _call: failed_result(""), {}),)
        )
        with captured_stderr() as stderr:
            client = Client(setup)
            answer = client.ask("tools/list")
            self.assertEqual((answer["id"], answer["error"]["code"]), (1, -32603))
            self.assertIn("result", client.ask("ping"))
            client.end()
        self.assertIn("TypeError", stderr.getvalue())


class Concurrency(unittest.TestCase):
    def test_the_server_answers_while_tools_run(self) -> None:
        with connected() as client:
            for number in range(8):
                client.request(f"w{number}", "tools/call", {"name": "wait", "arguments": {"seconds": 1}})
            start = time.monotonic()
            self.assertEqual(client.ask("ping", request_id="p")["id"], "p")
            self.assertEqual(client.ask("tools/list", request_id="l")["id"], "l")
            self.assertLess(time.monotonic() - start, 0.5)
            self.assertEqual(
                {client.receive()["id"] for _ in range(8)}, {f"w{number}" for number in range(8)}
            )

    def test_calls_beyond_the_pool_wait_and_beyond_the_queue_are_told_so(self) -> None:
        limits = ServerLimits(threads=1, waiting_calls=2, finish_s=5)
        with connected(limits=limits) as client:
            client.request("first", "tools/call", {"name": "wait", "arguments": {"seconds": 0.5}})
            time.sleep(0.2)
            for number in range(4):
                client.request(number, "tools/call", {"name": "echo", "arguments": {"text": "hi"}})
            answers = {answer["id"]: answer for answer in (client.receive() for _ in range(5))}
            self.assertFalse(answers[0]["result"]["isError"])
            self.assertFalse(answers[1]["result"]["isError"])
            self.assertIn("Too many calls", text_of(answers[2]))
            self.assertIn("Too many calls", text_of(answers[3]))

    def test_the_memory_of_waiting_calls_is_bounded(self) -> None:
        pool = CallPool(max_threads=1, max_waiting=100, max_waiting_bytes=10)
        gate = threading.Event()
        self.assertTrue(pool.submit(lambda: self.assertTrue(gate.wait(10)), 1))
        while pool._waiting:
            time.sleep(0.001)
        self.assertTrue(pool.submit(lambda: None, 1000))  # one alone may be as large as it likes
        self.assertFalse(pool.submit(lambda: None, 10))
        self.assertFalse(pool.wait_idle(0.01))
        gate.set()
        self.assertTrue(pool.wait_idle(5))

    def test_a_second_call_under_a_running_id_is_refused_without_it(self) -> None:
        with connected() as client:
            client.request(5, "tools/call", {"name": "wait", "arguments": {"seconds": 0.3}})
            refused = client.call("echo", {"text": "x"}, request_id=5)
            self.assertEqual((refused["id"], refused["error"]["code"]), (None, -32600))
            client.request("5", "tools/call", {"name": "echo", "arguments": {"text": "another id"}})
            self.assertEqual(client.receive()["id"], "5")
            self.assertEqual(client.receive()["id"], 5)
            self.assertFalse(client.call("echo", {"text": "free again"}, request_id=5)["result"]["isError"])


class Cancelling(unittest.TestCase):
    def test_a_cancelled_call_gets_no_answer_and_its_id_is_free(self) -> None:
        for modern in (False, True):
            meta = {"_meta": ENVELOPE} if modern else {}
            with self.subTest(modern=modern), connected() as client:
                params = {"name": "wait", "arguments": {"seconds": 60}, **meta}
                client.request(7, "tools/call", params)
                client.notify("notifications/cancelled", {"requestId": 7, "reason": "enough", **meta})
                start = time.monotonic()
                self.assertEqual(client.call("echo", {"text": "hi"}, request_id=7)["id"], 7)
                self.assertEqual(client.end(), [])
                self.assertLess(time.monotonic() - start, 2)

    def test_ids_of_another_type_and_unknown_ones_cancel_nothing(self) -> None:
        with connected() as client:
            client.request(0, "tools/call", {"name": "wait", "arguments": {"seconds": 0.2}})
            for key in ("0", 1, None, False, 0.0, "missing"):
                client.notify("notifications/cancelled", {"requestId": key})
            self.assertEqual(client.receive()["id"], 0)

    def test_a_stubborn_tool_is_not_heard_either(self) -> None:
        with connected() as client:
            client.request(1, "tools/call", {"name": "wait", "arguments": {"seconds": 0.2, "stubborn": True}})
            time.sleep(0.05)
            client.notify("notifications/cancelled", {"requestId": 1})
            client.notify("notifications/cancelled", {"requestId": 1})
            self.assertEqual(client.end(), [])

    def test_a_waiting_call_can_be_cancelled_before_it_starts(self) -> None:
        with connected(limits=ServerLimits(threads=1, finish_s=5)) as client:
            client.request(1, "tools/call", {"name": "wait", "arguments": {"seconds": 0.2}})
            client.request(2, "tools/call", {"name": "fail", "arguments": {"how": "refused"}})
            client.notify("notifications/cancelled", {"requestId": 2})
            self.assertEqual([answer["id"] for answer in client.end()], [1])


class ProgressReports(unittest.TestCase):
    def reports(self, values: list[float], token: Any, **limits: float) -> list[Any]:
        with connected(limits=ServerLimits(finish_s=5, **limits)) as client:  # type: ignore[arg-type]
            meta = {"_meta": {"progressToken": token}} if token is not None else {}
            client.request(
                1, "tools/call", {"name": "steps", "arguments": {"values": values, "pause": 0.01}, **meta}
            )
            messages = []
            while True:
                messages.append(client.receive())
                if "id" in messages[-1]:
                    break
            time.sleep(0.1)
            self.assertEqual(client.end(), [], "nothing may follow the answer")
        return messages[:-1]

    def test_values_strictly_increase_and_the_token_comes_back(self) -> None:
        for token in (0, "", "uuid", 7):
            with self.subTest(token=token):
                got = self.reports([1, 2, 2, 1.5, 3], token, progress_interval_s=0.0)
                self.assertEqual([message["params"]["progress"] for message in got], [1, 2, 3])
                for message in got:
                    self.assertEqual(message["params"]["progressToken"], token)
                    self.assertIs(type(message["params"]["progressToken"]), type(token))
                    self.assertEqual(message["params"]["total"], 100)

    def test_no_token_no_progress(self) -> None:
        for token in (None, True, 1.5, [1]):
            with self.subTest(token=token):
                self.assertEqual(self.reports([1, 2], token, progress_interval_s=0.0), [])

    def test_reports_keep_their_distance(self) -> None:
        got = self.reports([float(value) for value in range(20)], 1, progress_interval_s=0.06)
        self.assertTrue(2 <= len(got) <= 6, got)

    def test_a_cancelled_call_reports_nothing_more(self) -> None:
        with connected() as client:
            arguments = {"values": list(range(50)), "pause": 0.01}
            client.request(
                1, "tools/call", {"name": "steps", "arguments": arguments, "_meta": {"progressToken": 1}}
            )
            client.receive()
            client.notify("notifications/cancelled", {"requestId": 1})
            self.assertIn("result", self.until_answer(client))
            before = len(client.lines)
            self.assertEqual(client.end(), [])
            self.assertEqual(len(client.lines), before)

    def until_answer(self, client: Client) -> Any:
        client.request("p", "ping")
        while (message := client.receive()).get("id") != "p":
            pass
        return message


class Ends(unittest.TestCase):
    def test_quick_calls_are_answered_after_the_end_of_input(self) -> None:
        with connected() as client:
            client.request(1, "tools/call", {"name": "wait", "arguments": {"seconds": 0.1}})
            self.assertEqual([answer["id"] for answer in client.end()], [1])
            self.assertEqual(client.exit_status, 0)

    def test_long_calls_are_cancelled_at_the_end_of_input(self) -> None:
        with connected(limits=ServerLimits()) as client:
            client.request(1, "tools/call", {"name": "wait", "arguments": {"seconds": 60}})
            start = time.monotonic()
            self.assertEqual(client.end(), [])
            self.assertLess(time.monotonic() - start, 1)
            self.assertEqual(client.exit_status, 0)

    def test_a_client_that_stops_reading_ends_the_server(self) -> None:
        client = Client(fixture_setup(), ServerLimits())
        client.unreadable.set()
        client.request(1, "tools/call", {"name": "wait", "arguments": {"seconds": 60}})
        client.request(2, "ping")
        client._thread.join(5)
        self.assertEqual(client.exit_status, 0)
        with self.assertRaises(queue.Empty):
            client.receive(0.01)
        client.raw(b"")
