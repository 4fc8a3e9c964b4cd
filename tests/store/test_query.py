"""Questions that an agent has every right to ask, and how answers come back."""

import json
import threading
import unittest

from appsecgate.errors import CorruptDatabaseError
from appsecgate.model import Json
from appsecgate.store.query import QUERY_BOUNDS, QueryBounds
from appsecgate.store.sql_text import sql_shape
from tests.store.asking import AskingCase
from tests.store.ledger import OTHER, PROJECT, SECRET, make_finding

WORKS: list[tuple[str, Json, list[list[Json]]]] = [
    ("SELECT count(*) FROM v_findings", None, [[3]]),
    ("select COUNT(*) from V_Findings", None, [[3]]),
    ("  SELECT 1 ; ", None, [[1]]),
    ("SELECT 1;;", None, [[1]]),
    ("-- why\nSELECT 1 -- because", None, [[1]]),
    ("/* ; DROP TABLE x */ SELECT 1 /* open end", None, [[1]]),
    ("SELECT ';' || 'PRAGMA' || \"status\" FROM v_findings WHERE severity = 'critical' LIMIT 1", None, [[";PRAGMAnot_fixed"]]),
    ("SELECT 'ATTACH DATABASE x; DROP TABLE y -- z'", None, [["ATTACH DATABASE x; DROP TABLE y -- z"]]),
    ("SELECT [severity], `category` FROM \"v_findings\" WHERE severity = 'critical'", None, [["critical", "sast"]]),
    ("SELECT rule_id FROM v_findings WHERE package = ?", ["jinja2"], [["CVE-2026-1"]]),
    ("SELECT rule_id FROM v_findings WHERE package = ?1 OR package = ?1", ["jinja2"], [["CVE-2026-1"]]),
    ("SELECT rule_id FROM v_findings WHERE package = :name", {"name": "jinja2"}, [["CVE-2026-1"]]),
    ("SELECT rule_id FROM v_findings WHERE package = :name", {":name": "jinja2", "more": 1}, [["CVE-2026-1"]]),
    ("SELECT ?, ?, ?, ?, ?", ["a", 1, 2.5, True, None], [["a", 1, 2.5, 1, None]]),
    ("SELECT severity, count(*) FROM v_findings GROUP BY 1 ORDER BY 2 DESC, 1", None, [["high", 2], ["critical", 1]]),
    ("SELECT severity FROM v_findings GROUP BY 1 HAVING count(*) > 1", None, [["high"]]),
    ("WITH worst AS (SELECT * FROM v_findings WHERE severity = 'critical') SELECT count(*) FROM worst", None, [[1]]),
    ("WITH v_findings AS (SELECT 7 AS x) SELECT x FROM v_findings", None, [[7]]),
    ("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 3) SELECT sum(x) FROM n", None, [[6]]),
    ("SELECT f.severity, a.attempt_num FROM v_findings f JOIN v_attempts a USING (logical_id)", None, [["critical", 1]]),
    ("SELECT count(*) FROM v_findings f LEFT JOIN v_attempts a USING (logical_id) WHERE a.note IS NULL", None, [[2]]),
    ("SELECT value FROM v_findings, json_each(cwe) ORDER BY 1", None, [["CWE-78"], ["CWE-79"]]),
    ("SELECT cwe ->> 0, json_array_length(cwe) FROM v_findings WHERE cwe <> '[]'", None, [["CWE-78", 2]]),
    ("SELECT file_path FROM v_findings WHERE file_path LIKE 'b%' OR file_path GLOB 'c*'", None, [["b.py"]]),
    ("SELECT file_path FROM v_findings WHERE severity IN ('high', 'low') AND category = 'sast'", None, [["b.py"]]),
    ("SELECT file_path FROM v_findings EXCEPT SELECT file_path FROM v_attempts", None, [["b.py"]]),
    ("SELECT row_number() OVER (ORDER BY rule_id) FROM v_findings LIMIT 1 OFFSET 2", None, [[3]]),
    ("SELECT upper(substr(severity, 1, 1)) || trim('  x ') || replace('a', 'a', 'b') FROM v_findings ORDER BY severity LIMIT 1", None,
     [["Cxb"]]),
    ("SELECT trim('xxaxx', 'x'), ltrim('xxa', 'x'), rtrim('axx', 'x'), trim(NULL, 'x')", None, [["a", "a", "a", None]]),
    ("SELECT date('2026-03-01', '+1 day'), strftime('%Y', '2026-03-01')", None, [["2026-03-02", "2026"]]),
    ("SELECT CASE WHEN count(*) > 1 THEN 'many' ELSE 'few' END FROM v_findings", None, [["many"]]),
    ("SELECT EXISTS (SELECT 1 FROM v_findings WHERE severity = 'low')", None, [[0]]),
    ("SELECT group_concat(severity, '+') FROM (SELECT severity FROM v_findings ORDER BY 1)", None,
     [["critical+high+high"]]),
    ("SELECT project_alias FROM v_projects", None, [["alias-a"]]),
    ("SELECT severity, category, status, findings FROM v_summary WHERE severity = 'critical'", None,
     [["critical", "sast", "not_fixed", 1]]),
    ("SELECT in_work, attempted, not_fixed, coverage_pct FROM v_verification_coverage", None, [[1, 1, 1, 0.0]]),
    ("SELECT scanner, state, targets, findings FROM v_scan_evidence", None, [["semgrep", "applied", 3, 3]]),
    ("SELECT count(*) FROM v_findings WHERE first_seen_at >= '2026' AND first_seen_at < '2027'", None, [[3]]),
    ("SELECT 1 WHERE 'a' = 'b'", None, []),
    ("SELECT x'00ff', 9e999, -9e999, CAST(x'ff41' AS TEXT)", None, [["X'00FF'", "Infinity", "-Infinity", "\ufffdA"]]),
]  # fmt: skip


class AnswersTest(AskingCase):
    def test_plain_questions_are_answered(self) -> None:
        for sql, params, rows in WORKS:
            with self.subTest(sql):
                self.assertEqual([list(row) for row in self.ask(sql, params).rows], rows)

    def test_columns_have_their_names(self) -> None:
        result = self.ask("SELECT severity, count(*) AS n, 1 + 1 FROM v_findings")
        self.assertEqual(result.columns, ("severity", "n", "1 + 1"))
        self.assertEqual((result.row_count, result.truncated), (1, False))

    def test_a_project_sees_its_own_rows_in_every_view(self) -> None:
        for view in ("v_findings", "v_attempts", "v_summary", "v_verification_coverage", "v_projects", "v_scan_evidence"):
            with self.subTest(view):
                self.assertLessEqual({row[0] for row in self.ask(f"SELECT project_id FROM {view}").rows}, {PROJECT})
        self.assertEqual(self.ask("SELECT count(*) FROM v_findings", project_id=OTHER).rows, ((5,),))
        self.assertEqual(self.ask("SELECT count(*) FROM v_findings").rows, ((3,),))

    def test_answers_follow_every_change_whoever_made_it(self) -> None:
        count = "SELECT count(*) FROM v_findings"
        self.assertEqual(self.ask(count).rows, ((3,),))
        self.scan([make_finding("another")])
        self.assertEqual(self.ask(count).rows, ((4,),))
        elsewhere = self.raw()
        elsewhere.execute("DELETE FROM findings WHERE project_id = ?", (PROJECT,))
        elsewhere.commit()
        self.assertEqual(self.ask(count).rows, ((0,),))

    def test_a_query_does_not_make_the_copy_stale(self) -> None:
        self.ask("SELECT 1 FROM v_findings")
        copy = self.store.queries._copy
        self.ask("SELECT 1 FROM v_attempts")
        self.assertIs(self.store.queries._copy, copy)

    def test_threads_may_ask_at_once(self) -> None:
        answers: list[object] = []
        threads = [
            threading.Thread(target=lambda: answers.append(self.ask("SELECT count(*) FROM v_findings").rows))
            for _ in range(6)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(answers, [((3,),)] * 6)


class SizeTest(AskingCase):
    NUMBERS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < {count}) SELECT x FROM n"

    def test_rows_without_and_with_a_limit(self) -> None:
        cases = [
            ("", 900, 900, False),
            ("", 1000, 1000, False),
            ("", 1500, 1000, True),
            (" LIMIT 1500", 3000, 1500, False),
            (" LIMIT 2000 OFFSET 500", 1000, 500, False),
            (" LIMIT -1", 1500, 1500, False),
            (" LIMIT 5 -- LIMIT", 100, 5, False),
        ]
        for more, count, rows, truncated in cases:
            result = self.ask(self.NUMBERS.format(count=count) + more)
            with self.subTest(more=more, count=count):
                self.assertEqual((result.row_count, len(result.rows), result.truncated), (rows, rows, truncated))

    def test_no_more_than_ten_thousand_rows(self) -> None:
        result = self.ask("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT 1 FROM n) SELECT x FROM n LIMIT 20000")
        self.assertTrue(result.truncated)
        self.assertLessEqual(len(json.dumps(result.rows)), QUERY_BOUNDS.result_chars)
        self.assertGreater(result.row_count, 5_000)

    def test_who_wants_more_at_once_says_so(self) -> None:
        sql = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT 1 FROM n) SELECT x FROM n LIMIT 20000"
        result = self.ask(sql, bounds=QueryBounds(result_chars=1_000_000))
        self.assertEqual((result.row_count, result.truncated), (10_000, True))

    def test_a_limit_inside_is_not_the_querys_own(self) -> None:
        inside = f"SELECT x FROM ({self.NUMBERS.format(count=1500)} LIMIT 1400)"
        self.assertEqual(self.ask(inside).row_count, 1000)
        self.assertEqual(self.ask(inside + " LIMIT 1300").row_count, 1300)

    def test_large_answers_are_cut_between_rows(self) -> None:
        result = self.ask("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 500) "
                          "SELECT x, ? AS text FROM n", ["y" * 1000])  # fmt: skip
        self.assertTrue(result.truncated)
        self.assertEqual([row[1] for row in result.rows], ["y" * 1000] * len(result.rows))
        self.assertTrue(QUERY_BOUNDS.result_chars - 2100 < sum(len(str(row)) for row in result.rows) < QUERY_BOUNDS.result_chars)

    def test_a_row_that_has_no_room_is_cut_inside(self) -> None:
        result = self.ask("SELECT ?, 1 UNION ALL SELECT 'second', 2", ["y" * 60_000])
        self.assertEqual((result.row_count, result.truncated), (1, True))
        self.assertEqual((len(str(result.rows[0][0])), result.rows[0][1]), (250, 1))

    def test_long_column_names_are_cut(self) -> None:
        self.assertEqual(len(self.ask(f"SELECT '{'n' * 5000}'").columns[0]), 100)


class AuditTest(AskingCase):
    def test_every_call_is_written_down_with_its_outcome(self) -> None:
        self.ask("SELECT severity FROM v_findings")
        self.ask("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT 1 FROM n) SELECT x FROM n")
        self.refusal("DELETE FROM v_findings")
        self.refusal("SELECT printf('x')")
        self.refusal("SELECT nothing FROM v_findings")
        self.refusal("")
        self.assertEqual(
            [(row[1], row[2]) for row in self.audited()],
            [(3, "ok"), (1000, "truncated"), (0, "refused"), (0, "refused"), (0, "failed"), (0, "refused")],
        )
        self.assertEqual(self.rows("SELECT DISTINCT project_id, session_id FROM sql_audit_log"), [(PROJECT, "session")])

    def test_secrets_in_queries_are_masked_in_the_log_and_in_errors(self) -> None:
        self.ask(f"SELECT '{SECRET}'")
        error = self.refusal(f'SELECT * FROM v_findings WHERE "{SECRET}".x = 1')
        self.assertNotIn(SECRET, error.explain())
        self.assertNotIn(SECRET, str(self.audited()))

    def test_long_queries_are_cut_in_the_log(self) -> None:
        self.refusal("SELECT " + "1," * 1_000_000 + "1")
        self.assertLess(len(str(self.audited()[0][0])), 4_100)


class ErrorsTest(AskingCase):
    def test_errors_say_what_there_is(self) -> None:
        cases = [
            ("SELECT * FROM findings", "no such table: findings"),
            ("SELECT absent FROM v_findings", "no such column: absent"),
            ("SELECT FROM v_findings", 'near "FROM": syntax error'),
            ("SELECT * FROM v_findings WHERE a = ?", "no such column: a"),
            ("", "there is no query"),
            ("-- nothing", "not with nothing"),
        ]
        for sql, message in cases:
            with self.subTest(sql):
                error = self.refusal(sql)
                self.assertIn(message, str(error))
                self.assertIn("v_findings(project_id, logical_id, ", error.hint)
                self.assertIn("Example: SELECT", error.hint)

    def test_wrong_parameters_are_explained(self) -> None:
        cases: list[tuple[str, Json, str]] = [
            ("SELECT ?", None, "Incorrect number of bindings"),
            ("SELECT 1", [1], "Incorrect number of bindings"),
            ("SELECT :a", {"b": 1}, "did not supply a value for binding"),
            ("SELECT ?", "text", "params is an array"),
            ("SELECT ?", [[1]], "write one ? per value"),
            ("SELECT ?", [{"a": 1}], "write one ? per value"),
            ("SELECT ?", ["x" * 70_000], "longer than 65,536 bytes"),
            ("SELECT ?", ["\ud800"], "half a surrogate pair"),
            ("SELECT ?", [2**70], "too large"),
        ]
        for sql, params, message in cases:
            with self.subTest(sql=sql, params=str(params)[:20]):
                self.assertIn(message, str(self.refusal(sql, params)))

    def test_trouble_with_the_ledger_is_no_fault_of_the_query(self) -> None:
        self.raw().executescript("PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = 'v_findings';")
        with self.assertRaises(Exception) as caught:
            self.ask("SELECT 1 FROM v_findings")
        self.assertNotIsInstance(caught.exception, CorruptDatabaseError)
        self.assertEqual(caught.exception.code, "storage")  # type: ignore[attr-defined]
        self.assertEqual(self.audited()[-1][2], "failed")


class ShapeTest(unittest.TestCase):
    def test_the_outline_of_a_query(self) -> None:
        cases = {
            "": ("", 0, False),
            " /* SELECT */ -- SELECT": ("", 0, False),
            "select 1": ("SELECT", 1, False),
            "SELECT 1 LIMIT 2": ("SELECT", 1, True),
            "SELECT 'LIMIT 2'": ("SELECT", 1, False),
            'SELECT "LIMIT", [LIMIT], `LIMIT`': ("SELECT", 1, False),
            "SELECT (SELECT 1 LIMIT 2)": ("SELECT", 1, False),
            "SELECT 1; ; SELECT 2": ("SELECT", 2, False),
            "SELECT ';'; -- ;": ("SELECT", 1, False),
            "SELECT 'it''s; LIMIT' LIMIT 1;": ("SELECT", 1, True),
            "VALUES (1)": ("VALUES", 1, False),
            "(SELECT 1)": ("(", 1, False),
            "SELECT 'open": ("SELECT", 1, False),
        }
        for sql, wanted in cases.items():
            with self.subTest(sql):
                shape = sql_shape(sql)
                self.assertEqual((shape.first_word, shape.statements, shape.limited), wanted)

    def test_names_of_common_table_expressions(self) -> None:
        cases = {
            "WITH a AS (SELECT 1) SELECT 1": {"a"},
            "WITH A AS NOT MATERIALIZED (SELECT 1), b AS MATERIALIZED (SELECT 1) SELECT 1": {"a", "b"},
            'WITH "the a"(x, y) AS (SELECT 1, 2), [b] (x) AS (SELECT 1) SELECT 1': {"the a", "b"},
            "SELECT 'a AS (', x AS y, CAST(1 AS TEXT) FROM (SELECT 1) AS z": set(),
            "SELECT ) AS (": set(),
            "AS (": set(),
            "SELECT 1 AS": set(),
        }
        for sql, names in cases.items():
            with self.subTest(sql):
                self.assertEqual(sql_shape(sql).named_here, names)


if __name__ == "__main__":
    unittest.main()
