"""What the benchmarks write: promises are judged, the summary has a row for each, a missing figure is named."""

import contextlib
import io
import tempfile
import time
import unittest
from pathlib import Path

from benchmarks import bench_dependencies, bench_ledger, bench_mcp, bench_project, bench_semgrep_server, curves
from benchmarks.bench_growth import Grown, written
from benchmarks.bench_scan_file import in_turns, scanned
from benchmarks.bench_session import Sample, judged
from benchmarks.figures import SPEED_TABLE, Promise, Section, duration, megabytes, promise, ratio, summary
from benchmarks.write_performance import measured, page, parts, write

RUNS = [Grown(100, 20, 1.5, "1", 0.2, 40_000), Grown(10_000, 1_020, 40.0, "2", 6.0, 80_000)]


class PromiseTest(unittest.TestCase):
    def test_a_value_is_judged_by_its_bound_and_its_goal(self) -> None:
        table = [
            (promise("a", 0.1, bound=2), "< 2 s", "100 ms", "yes"),
            (promise("a", 2.0, bound=2), "< 2 s", "2 s", "NO"),
            (promise("a", 0.03, bound=0.5, goal=0.02), "< 500 ms, goal < 20 ms", "30 ms", "goal missed"),
            (promise("a", 0.02, bound=0.5, goal=0.02), "< 500 ms, goal < 20 ms", "20 ms", "goal missed"),
            (promise("a", 0.6, bound=0.5, goal=0.02), "< 500 ms, goal < 20 ms", "600 ms", "NO"),
            (promise("a", 0.05, goal=0.05, show=ratio, sign="≤"), "goal ≤ 0.05×", "0.05×", "yes"),
            (promise("a", 151.0, goal=150, show=megabytes), "goal < 150 MB", "151 MB", "goal missed"),
        ]
        for item, bound, value, holds in table:
            with self.subTest(item=item):
                self.assertEqual((item.bound, item.measured, item.holds), (bound, value, holds))

    def test_durations_are_written_in_the_unit_that_fits(self) -> None:
        for seconds, text in ((0.0014, "1 ms"), (0.999, "999 ms"), (1.0, "1 s"), (1.256, "1.26 s"), (30, "30 s")):
            with self.subTest(seconds=seconds):
                self.assertEqual(duration(seconds), text)

    def test_a_session_that_grows_or_leaves_processes_does_not_hold(self) -> None:
        early, late = Sample(20, 30, 300, 7, 0.1), Sample(100, 40, 310, 7, 0.1)
        self.assertEqual([item.holds for item in judged([early, late], 1)], ["NO", "yes", "NO"])


class SummaryTest(unittest.TestCase):
    def test_every_row_of_the_speed_table_is_there_measured_or_not(self) -> None:
        text = summary([promise("`get_fix_context`", 0.01, bound=0.5), promise("something else", 9, bound=1)])
        for start in SPEED_TABLE:
            self.assertIn(f"| {start}", text)
        self.assertIn("| `get_fix_context` | < 500 ms | 10 ms | yes |", text)
        self.assertIn("| `verify_fix_batch`, 20 files | – | not measured | not measured |", text)
        self.assertIn("| something else | < 1 s | 9 s | NO |", text)

    def test_the_summary_counts_what_does_not_hold(self) -> None:
        kept = [Promise(start, "–", "–", "yes") for start in SPEED_TABLE]
        self.assertIn("Every bound and goal holds.", summary(kept))
        missed = [*kept, Promise("more", "–", "–", "goal missed")]
        self.assertIn(f"1 of {len(SPEED_TABLE) + 1} do not hold", summary(missed))

    def test_no_promise_is_in_the_table_twice(self) -> None:
        of_many = promise("`get_fix_context` among 9 findings", 0.01, bound=0.5)
        self.assertEqual(summary([promise("`get_fix_context`", 0.01, bound=0.5), of_many]).count("among 9"), 1)


class PageTest(unittest.TestCase):
    def test_a_benchmark_that_breaks_leaves_its_reason_and_the_others(self) -> None:
        def broken() -> list[Section]:
            raise AssertionError("nothing was found")

        said: list[str] = []
        with contextlib.redirect_stderr(io.StringIO()) as traceback:
            sections = measured(("Broken", broken), said.append)
        self.assertIn("nothing was found", traceback.getvalue())
        text = page([*sections, written(RUNS)], "a machine")
        self.assertIn("Not measured: AssertionError: nothing was found", text)
        self.assertIn("| peak memory of the server, 10,000 files | goal < 150 MB | 82 MB | yes |", text)
        self.assertIn("| 10,000 | 1,020 | 40.0 | 2 | 4.0 | 6.00 | 82 |", text)

    def test_a_page_with_something_not_measured_is_no_success(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.assertFalse(write([Section("Broken", "Not measured: why")], "a machine", Path(folder)))
            self.assertIn("Not measured: why", Path(folder, "performance.md").read_text("utf-8"))

    def test_the_page_is_made_of_all_benchmarks(self) -> None:
        self.assertEqual(len(parts(5, print)), 6)
        modules = (bench_dependencies, bench_ledger, bench_mcp, bench_project, bench_semgrep_server)
        self.assertTrue(all(module.__doc__ for module in modules))

    def test_curves_name_axes_and_lines_and_are_plain_data(self) -> None:
        (picture,) = written(RUNS).curves.values()
        assert isinstance(picture, list)
        self.assertEqual([each["ylabel"] for each in picture], ["seconds", "MB"])
        self.assertEqual(picture[0]["lines"][0], curves.line("first scan", [(100, 1.5), (10_000, 40.0)]))


class TurnsTest(unittest.TestCase):
    def test_sides_take_turns_and_each_comes_first_once(self) -> None:
        order: list[str] = []

        def side(name: str) -> float:
            order.append(name)
            return float(len(order))

        took = in_turns({name: lambda name=name: side(name) for name in "abc"}, 3, lambda: time.sleep(0))  # type: ignore[misc]
        self.assertEqual("".join(order), "abcbcacab")
        self.assertEqual(took, {"a": 6.0, "b": 4.0, "c": 5.0})

    def test_an_answer_out_of_the_store_is_no_scan(self) -> None:
        fresh = {"findings": [{}], "evidence": [{"reason": ""}]}
        self.assertTrue(scanned(fresh))
        self.assertFalse(scanned({**fresh, "findings": []}))
        self.assertFalse(scanned({**fresh, "evidence": [{"reason": ""}, {"reason": "cached"}]}))
