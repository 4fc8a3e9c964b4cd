"""What makes a second question about a large project fast: the copy is ordered by what a query groups by."""

import unittest

from appsecgate.model import Severity
from appsecgate.store.sandbox import INDEX_COLUMNS, INDEXED_ROWS, INDEXES, ViewCopy
from appsecgate.store.sql_text import columns_meant, grouped_by
from tests.store.asking import AskingCase
from tests.store.ledger import PROJECT, make_finding

NAMES = {"severity", "status", "file_path", "rule_id", "line_start"}


class GroupedByTest(unittest.TestCase):
    def test_a_query_that_groups_names_its_columns(self) -> None:
        cases: dict[str, tuple[str, ...]] = {
            "SELECT severity, count(*) FROM v_findings GROUP BY severity": ("severity",),
            "SELECT severity, status, count(*) FROM v_findings GROUP BY 1, 2": ("severity", "status"),
            "select count(*) from v_findings where SEVERITY = 'status' group\n by Status": ("severity", "status"),
            'SELECT "severity", [status] FROM v_findings GROUP BY `rule_id`': ("severity", "status", "rule_id"),
            "SELECT DISTINCT file_path FROM v_findings": ("file_path",),
            "SELECT count(DISTINCT rule_id) FROM v_findings": ("rule_id",),
            "SELECT severity FROM v_findings": (),
            "SELECT severity AS groups, 'GROUP BY' FROM v_findings -- GROUP BY x": (),
            "SELECT count(*) FROM v_findings GROUP BY ()": (),
            "": (),
        }
        for sql, wanted in cases.items():
            with self.subTest(sql):
                self.assertEqual(grouped_by(sql, NAMES), wanted)


class ColumnsMeantTest(unittest.TestCase):
    def test_a_query_that_may_mean_any_column_is_known(self) -> None:
        for sql in (
            "SELECT * FROM v_findings",
            "SELECT f.* FROM v_findings f",
            "SELECT severity FROM v_findings NATURAL JOIN v_attempts",
            "SELECT 1 WHERE 'x' IN v_findings",
            "SELECT 1 WHERE 'x' IN \"v_findings\"",
            "SELECT 1 WHERE 'x' in main.v_findings",
            "SELECT count(* ) , 2 * line_start FROM v_findings",
        ):
            with self.subTest(sql):
                self.assertIsNone(columns_meant(sql))

    def test_else_it_means_what_it_names_however_that_is_written(self) -> None:
        for sql in (
            "SELECT severity, count(*) FROM v_findings GROUP BY 1",
            "SELECT [Severity], COUNT( /* x */ * ) FROM v_findings",
            "SELECT `severity` FROM v_findings WHERE severity IN ('high')",
            'SELECT v_findings."severity" FROM v_findings -- *',
        ):
            with self.subTest(sql):
                meant = columns_meant(sql)
                assert meant is not None
                self.assertIn("severity", meant)
                self.assertNotIn("message", meant)


class OrderedCopyTest(AskingCase):
    def setUp(self) -> None:
        super().setUp()
        severities = list(Severity)
        self.scan(
            [
                make_finding(f"n{number}", severity=severities[number % 5], file_path=f"f{number % 50}.py")
                for number in range(INDEXED_ROWS.start)
            ]
        )

    def copy(self) -> ViewCopy:
        copy = ViewCopy(self.store.path, PROJECT)
        self.addCleanup(copy.close)
        copy.start_clock()
        copy.load(["v_findings", "v_summary"])
        return copy

    def plan(self, copy: ViewCopy, sql: str) -> str:
        copy._unlock()
        return str([row[3] for row in copy._db.execute(f"EXPLAIN QUERY PLAN {sql}")])

    def test_grouping_is_a_walk_and_counts_the_same(self) -> None:
        copy, sql = self.copy(), "SELECT severity, count(*) FROM v_findings GROUP BY severity"
        before = copy.execute(sql, [], frozenset()).fetchall()
        self.assertIn("TEMP B-TREE", self.plan(copy, sql))
        copy.index("v_findings", ("severity",))
        self.assertEqual(copy.execute(sql, [], frozenset()).fetchall(), before)
        self.assertNotIn("TEMP B-TREE", self.plan(copy, sql))

    def test_it_is_done_where_it_pays_a_bounded_number_of_times(self) -> None:
        copy = self.copy()
        copy.index("v_summary", ("severity",))
        copy.index("v_findings", ())
        copy.index("v_findings", ("severity", "status", "file_path", "rule_id", "line_start")[: INDEX_COLUMNS + 1])
        self.assertEqual(self.indexes(copy), 0)
        for name in ("severity", "severity", "status", "file_path", "rule_id", "line_start", "line_end"):
            copy.index("v_findings", (name,))
        self.assertEqual(self.indexes(copy), INDEXES)

    def indexes(self, copy: ViewCopy) -> int:
        copy._unlock()
        return int(copy._db.execute("SELECT count(*) FROM sqlite_schema WHERE type = 'index'").fetchone()[0])

    def test_without_room_the_query_still_answers(self) -> None:
        copy = self.copy()
        copy.start_clock(0)
        copy.index("v_findings", ("severity",))
        copy.start_clock()
        self.assertEqual(self.indexes(copy), 0)
        self.assertEqual(len(copy.execute("SELECT DISTINCT severity FROM v_findings", [], frozenset()).fetchall()), 5)

    def test_an_agent_sees_nothing_of_it(self) -> None:
        sql = "SELECT severity, count(*) FROM v_findings WHERE file_path LIKE 'f%' GROUP BY severity"
        first, again = self.ask(sql), self.ask(sql)
        self.assertEqual(first.rows, again.rows)
        self.assertEqual(dict(first.rows)["low"], INDEXED_ROWS.start // 5)  # type: ignore[arg-type, index]
        self.assertIn("cannot be read", str(self.refusal("SELECT name FROM sqlite_schema")))

    def test_a_copy_of_some_columns_answers_as_one_of_all(self) -> None:
        for order in (1, -1):
            some, every = ViewCopy(self.store.path, PROJECT), self.copy()
            self.addCleanup(some.close)
            some.start_clock()
            for sql in (
                "SELECT count(*) FROM v_findings",
                "SELECT severity, count(*) FROM v_findings GROUP BY severity ORDER BY 1",
                "SELECT file_path, max(line_start) FROM v_findings GROUP BY file_path ORDER BY 1",
                "SELECT f.rule_id, s.* FROM v_findings f, v_summary s ORDER BY 1, 2 LIMIT 7",
                "SELECT * FROM v_findings ORDER BY logical_id LIMIT 20",
                "SELECT count(*) FROM v_findings a JOIN v_findings b USING (logical_id)",
            )[::order]:
                with self.subTest(sql, order=order):
                    some.load([name for name in ("v_findings", "v_summary") if name in sql], columns_meant(sql))
                    some.index("v_findings", grouped_by(sql, NAMES))
                    answers = [copy.execute(sql, [], frozenset()).fetchall() for copy in (some, every)]
                    self.assertEqual(*answers)

    def test_one_project_among_many_is_found_by_its_index(self) -> None:
        copy = ViewCopy(self.store.path, "f" * 16)
        self.addCleanup(copy.close)
        copy.start_clock()
        copy.load(["v_findings"])
        self.assertEqual(copy.execute("SELECT count(*) FROM v_findings", [], frozenset()).fetchall(), [(0,)])


if __name__ == "__main__":
    unittest.main()
