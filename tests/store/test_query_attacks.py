"""Queries that try to get out, to see other projects, to change something, or to hold the server up."""

import sys
import time
import unittest

from appsecgate.errors import QueryError
from appsecgate.model import Json
from appsecgate.store.query import QueryBounds
from tests.store.asking import OURS, THEIRS, AskingCase

RECURSION = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) "
LONG = "a" * 60_000
SHORT = QueryBounds(timeout_s=0.7)
OVERRUN_S = 1.5
"""What an opcode, or preparing a statement, may take beyond the timeout on a slow machine."""


def nested(inner: str, outer: str, depth: int) -> str:
    """``outer`` (with ``{}``) put round ``inner`` so many times."""
    for _ in range(depth):
        inner = outer.format(inner)
    return inner


def doubling(levels: int) -> str:
    """Common table expressions of which each uses the one before twice."""
    more = "".join(f", c{n} AS (SELECT p.x FROM c{n - 1} p, c{n - 1} q)" for n in range(1, levels))
    return f"WITH c0 AS (SELECT 1 AS x){more} SELECT count(*) FROM c{levels - 1}"


REFUSED = {
    # other statements
    "update": "UPDATE v_findings SET status = 'fixed'",
    "delete": "DELETE FROM v_findings",
    "insert": "INSERT INTO v_findings (project_id) VALUES ('x')",
    "replace": "REPLACE INTO v_findings (project_id) VALUES ('x')",
    "drop": "DROP VIEW v_findings",
    "create": "CREATE TABLE mine (x)",
    "create as": "CREATE TABLE mine AS SELECT * FROM v_findings",
    "temp trigger": "CREATE TEMP TRIGGER t AFTER INSERT ON v_findings BEGIN SELECT 1; END",
    "alter": "ALTER TABLE v_findings RENAME TO x",
    "attach": "ATTACH DATABASE '/etc/passwd' AS x",
    "attach later": "SELECT 1; ATTACH DATABASE 'x' AS x",
    "detach": "DETACH DATABASE main",
    "pragma": "PRAGMA table_info(v_findings)",
    "pragma in capitals and comments": "/**/ PrAgMa\tdatabase_list",
    "vacuum into": "VACUUM INTO '/tmp/copy.db'",
    "reindex": "REINDEX",
    "analyze": "ANALYZE",
    "begin": "BEGIN",
    "explain": "EXPLAIN SELECT 1",
    "explain plan": "EXPLAIN QUERY PLAN SELECT * FROM v_findings",
    "values": "VALUES (1)",
    "parenthesis": "(SELECT 1)",
    # a second statement, a hidden statement
    "two statements": "SELECT 1; SELECT 2",
    "second after a comment": "SELECT 1; -- x\nDROP TABLE v_findings",
    "with delete": "WITH x AS (SELECT 1) DELETE FROM v_findings",
    "with insert": "WITH x AS (SELECT 1) INSERT INTO v_findings (project_id) SELECT * FROM x",
    "with update returning": "WITH x AS (SELECT 1) UPDATE v_findings SET status = 1 RETURNING *",
    "returning": "DELETE FROM v_findings RETURNING *",
    "insert in a comment's shadow": "--\rSELECT 1\nDELETE FROM v_findings",
    # tables that are not views
    "base table": "SELECT * FROM findings",
    "base table quoted": 'SELECT * FROM "findings"',
    "base table in schema": "SELECT * FROM main.findings",
    "base table through ledger": "SELECT * FROM ledger.findings",
    "view through ledger": "SELECT * FROM ledger.v_findings",
    "projects": "SELECT project_path FROM projects",
    "internal view": "SELECT * FROM finding_states",
    "union with a base table": "SELECT message FROM v_findings UNION SELECT sql FROM sql_audit_log",
    "subquery on a base table": "SELECT (SELECT count(*) FROM fix_attempts)",
    "exists on a base table": "SELECT 1 WHERE EXISTS (SELECT 1 FROM secret_marks)",
    "shadowed view over a base table": "WITH v_findings AS (SELECT * FROM findings) SELECT * FROM v_findings",
    "base table named like a subquery": "WITH findings AS (SELECT * FROM main.findings) SELECT * FROM findings",
    # the schema and SQLite's own tables
    "sqlite_master": "SELECT * FROM sqlite_master",
    "sqlite_schema": "SELECT sql FROM sqlite_schema",
    "temp schema": "SELECT * FROM sqlite_temp_master",
    "schema counted": "SELECT count(*) FROM sqlite_schema",
    "schema counted under its own name": "WITH sqlite_schema AS (SELECT 1) SELECT count(*) FROM main.sqlite_schema",
    "schema in a subquery": "SELECT (SELECT group_concat(name) FROM sqlite_master)",
    "pragma function": "SELECT * FROM pragma_table_info('v_findings')",
    "pragma database list": "SELECT file FROM pragma_database_list",
    "pragma function list": "SELECT count(*) FROM pragma_function_list",
    "pragma module list": "SELECT 1 FROM pragma_module_list",
    "pragma in a join": "SELECT * FROM v_findings, pragma_compile_options",
    "dbstat": "SELECT * FROM dbstat",
    "dbstat counted": "SELECT count(*) FROM dbstat",
    "statements": "SELECT * FROM sqlite_stmt",
    "byte code": "SELECT * FROM bytecode('SELECT 1')",
    "full text": "SELECT * FROM v_findings WHERE v_findings MATCH 'x'",
    # functions
    "load_extension": "SELECT load_extension('/tmp/x.so')",
    "readfile": "SELECT readfile('/etc/passwd')",
    "writefile": "SELECT writefile('/tmp/x', 'y')",
    "edit": "SELECT edit('x')",
    "printf": "SELECT printf('%.*c', 1000000000, 'x')",
    "format": "SELECT format('%1000000000d', 1)",
    "randomblob": "SELECT randomblob(1000000000)",
    "zeroblob": "SELECT length(zeroblob(1000000000))",
    "quoted function": 'SELECT "printf"(\'%d\', 1)',
    "fts3_tokenizer": "SELECT fts3_tokenizer('simple')",
    "sqlite_version": "SELECT sqlite_version()",
    "compile options": "SELECT sqlite_compileoption_get(1)",
    "last rowid": "SELECT last_insert_rowid()",
    "changes": "SELECT total_changes()",
    "json_patch": "SELECT json_patch('{}', '{}')",
    "soundex": "SELECT soundex('x')",
    "function in order by": "SELECT 1 FROM v_findings ORDER BY randomblob(5)",
    "function in a filter": "SELECT count(*) FILTER (WHERE printf('%d', 1) = '1') FROM v_findings",
    # odd texts
    "nothing": "",
    "space": " \n\t",
    "semicolons": ";;;",
    "only a comment": "/* SELECT 1 */",
    "nul": "SELECT 1\0; DROP TABLE x",
    "half a surrogate pair": "SELECT '\ud800'",
    "too long": "SELECT " + "1 + " * 10_000 + "1",
    "byte order mark": "\ufeffDELETE FROM v_findings",
    "full-width letters": "\uff33\uff25\uff2c\uff25\uff23\uff34 1",
}
HARMLESS = {
    "literal with words": "SELECT 'x; DROP TABLE findings; PRAGMA x; ATTACH y' FROM v_findings",
    "project filter undone": "SELECT * FROM v_findings WHERE 1 = 1 OR project_id = '00000000000000bb'",
    "other project asked for": "SELECT * FROM v_findings WHERE project_id <> '00000000000000aa'",
    "every project counted": "SELECT project_id, count(*) FROM v_findings GROUP BY 1",
    "other projects listed": "SELECT * FROM v_projects",
    "union of all views": "SELECT project_id, logical_id, message FROM v_findings UNION ALL "
    "SELECT project_id, logical_id, note FROM v_attempts",
    "cross join": "SELECT a.*, b.* FROM v_findings a, v_summary b",
    "shadowed view": "WITH v_findings(x) AS (SELECT 1) SELECT * FROM v_findings",
    "shadowing a schema table": "WITH sqlite_master(x) AS (SELECT 1) SELECT x FROM sqlite_master",
    "shadowing a base table": "WITH findings AS (SELECT 1 AS x) SELECT x FROM findings",
    "rowid": "SELECT rowid FROM v_findings",
    "parameter with SQL": "SELECT ?",
    "json of our own": "SELECT * FROM json_tree('{\"a\": [1, {\"b\": 2}]}')",
    "many numbers": "SELECT count(*) FROM v_findings WHERE line_start IN (" + ",".join(map(str, range(3_000))) + ")",
    "text that is no text": "SELECT CAST(x'eda080ff' AS TEXT), x'00'",
}
BOMBS: dict[str, tuple[str, Json]] = {
    # time
    "endless recursion": (RECURSION + "SELECT count(*) FROM n", None),
    "endless distinct recursion": (RECURSION.replace("ALL ", "") + "SELECT max(x) FROM n", None),
    "cross joins": ("SELECT count(*) FROM " + ", ".join(f"v_findings t{n}" for n in range(40)), None),
    "correlated subqueries": (
        RECURSION + "SELECT sum((SELECT count(*) FROM n b WHERE b.x < a.x LIMIT 1)) FROM n a", None),
    "like": (RECURSION + "SELECT count(*) FROM n WHERE substr(:t, 1 + x % 7) LIKE :p",
             {"t": LONG, "p": "%a" * 99 + "%b"}),
    "like with gaps": (RECURSION + "SELECT count(*) FROM n WHERE substr(:t, 1 + x % 7) LIKE :p",
                       {"t": LONG, "p": "%" + "_%" * 95 + "b"}),
    "glob": (RECURSION + "SELECT count(*) FROM n WHERE substr(:t, 1 + x % 7) GLOB :p",
             {"t": LONG, "p": "*[a-z]" * 33 + "b"}),
    "instr": (RECURSION + "SELECT sum(instr(substr(:t, 1 + x % 7), :p)) FROM n", {"t": LONG, "p": LONG[:30_000] + "b"}),
    "replace function": (RECURSION + "SELECT sum(length(replace(substr(:t, 1 + x % 7), :p, ''))) FROM n",
                         {"t": LONG, "p": LONG[:30_000] + "b"}),
    "trim": (RECURSION + "SELECT sum(length(rtrim(substr(:t, 1 + x % 7), :p || 'a'))) FROM n",
             {"t": LONG, "p": "b" * 7_000}),
    "json": (RECURSION + "SELECT sum(json_array_length('[' || :t || x || ']')) FROM n", {"t": "1," * 25_000}),
    "json rows": (RECURSION + "SELECT count(fullkey) FROM n, json_tree('[' || :t || x || ']')", {"t": "1," * 25_000}),
    "deep json": (RECURSION + "SELECT count(fullkey) FROM n, json_tree(:t || x || :u)",
                  {"t": "[" * 900, "u": "]" * 900}),
    "dates": (RECURSION + "SELECT max(strftime(:t, x)) FROM n", {"t": "%Y" * 10_000}),
    "hex": (RECURSION + "SELECT sum(length(hex(substr(:t, 1 + x % 7, 30000)))) FROM n", {"t": LONG}),
    # memory
    "sort": (RECURSION + "SELECT x FROM n ORDER BY x % 1000003 DESC", None),
    "sort of long texts": (RECURSION + "SELECT substr(:t, 1, 50000) || x AS y FROM n ORDER BY y", {"t": LONG}),
    "group": (RECURSION + "SELECT x % 10000019, count(*) FROM n GROUP BY 1", None),
    "distinct": (RECURSION + "SELECT count(DISTINCT :t || x) FROM n", {"t": LONG}),
    "window": (RECURSION + "SELECT row_number() OVER (ORDER BY -x) FROM n", None),
    "group_concat": (RECURSION + "SELECT length(group_concat(x)) FROM n", None),
    "json_group_array": (RECURSION + "SELECT length(json_group_array(x)) FROM n", None),
    "replace that grows": ("SELECT length(replace(replace(:t, 'a', :t), 'a', :t))", {"t": LONG}),
    "hex of hex": ("SELECT length(" + nested("'" + "x" * 5_000 + "'", "hex({})", 12) + ")", None),
    "doubling text": (
        "WITH RECURSIVE n(x, t) AS (SELECT 1, 'x' UNION ALL SELECT x + 1, t || t FROM n) SELECT max(length(t)) FROM n",
        None),
    # preparing
    "doubling subqueries": (doubling(30), None),
    "doubling expressions": (
        "SELECT x FROM (" + nested("SELECT message AS x FROM v_findings",
                                   "SELECT coalesce(x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x) AS x FROM ({})", 8) + ")", None),
    "doubling columns": (
        nested("SELECT * FROM v_findings", "SELECT * FROM ({0}) a JOIN (SELECT 1) b", 6), None),
    "star of stars": ("SELECT * FROM " + ", ".join(f"v_findings t{n}" for n in range(60)), None),
    "deep parentheses": ("SELECT " + "(" * 5_000 + "1" + ")" * 5_000, None),
    "deep subqueries": (nested("SELECT 1", "SELECT ({})", 1_000), None),
    "deep case": ("SELECT " + "CASE WHEN 1 THEN " * 900 + "1" + " END" * 900, None),
    "long or": ("SELECT 1 FROM v_findings WHERE " + " OR ".join(f"(line_start = {n} AND message LIKE 'x{n}%')"
                                                                for n in range(400)), None),
    "long compound": (" UNION ALL ".join(["SELECT 1"] * 1_500), None),
    "many columns": ("SELECT " + ",".join(["1"] * 3_000), None),
    "many arguments": ("SELECT max(" + ",".join(["1"] * 3_000) + ")", None),
    "many variables": ("SELECT " + ",".join(["?"] * 2_000), [1] * 2_000),
    "far variable": ("SELECT ?250000", [1]),
    "join of sixty": (
        "SELECT count(*) FROM " + " JOIN ".join(f"v_findings t{n}" for n in range(60)) + " ON "
        + " AND ".join(f"t{n}.line_start = t{n + 1}.line_start" for n in range(59)), None),
}  # fmt: skip


class AttacksTest(AskingCase):
    def attack(self, sql: str, params: Json = None) -> tuple[str, float]:
        """What came back, as text, and after how many seconds."""
        started = time.monotonic()
        try:
            said = str(self.ask(sql, params, bounds=SHORT))
        except QueryError as error:
            said = error.explain()
        return said, time.monotonic() - started

    def test_there_are_enough(self) -> None:
        self.assertGreaterEqual(len(REFUSED) + len(HARMLESS) + len(BOMBS), 80)

    def test_what_is_no_question_is_refused(self) -> None:
        for name, sql in REFUSED.items():
            with self.subTest(name):
                error = self.refusal(sql)
                self.assertNotIn(THEIRS, error.explain())
                self.assertRegex(error.hint, "v_findings|There are: ")
        self.assertEqual(self.rows("SELECT DISTINCT outcome FROM sql_audit_log ORDER BY 1"), [("failed",), ("refused",)])
        self.assertEqual(self.rows("SELECT count(*) FROM sql_audit_log"), [(len(REFUSED),)])

    def test_a_clever_question_gets_nothing_foreign(self) -> None:
        for name, sql in HARMLESS.items():
            with self.subTest(name):
                params: Json = ["'; DROP TABLE v_findings; --"] if "?" in sql else None
                self.assertNotIn(THEIRS, str(self.ask(sql, params)))
        self.assertEqual(self.rows("SELECT count(*) FROM sql_audit_log"), [(len(HARMLESS),)])
        self.assertIn(OURS, str(self.ask("SELECT message FROM v_findings")))

    def test_bombs_are_stopped(self) -> None:
        for name, (sql, params) in BOMBS.items():
            said, seconds = self.attack(sql, params)
            with self.subTest(name, seconds=round(seconds, 1)):
                self.assertNotIn(THEIRS, said)
                self.assertLess(seconds, SHORT.timeout_s + OVERRUN_S)
        self.assertEqual(self.rows("SELECT count(*) FROM sql_audit_log"), [(len(BOMBS),)])
        self.assertEqual(self.ask("SELECT count(*) FROM v_findings").rows, ((3,),))

    def test_the_whole_timeout_ends_before_six_seconds(self) -> None:
        started = time.monotonic()
        error = self.refusal(RECURSION + "SELECT count(*) FROM n")
        self.assertLess(time.monotonic() - started, 6)
        self.assertIn("timeout", str(error))
        self.assertEqual(self.audited()[-1][1:], (0, "stopped"))

    def test_nothing_was_changed(self) -> None:
        before = self.dump()
        for sql in REFUSED.values():
            self.refusal(sql)
        self.assertEqual(self.dump(), before)

    def dump(self) -> list[str]:
        return [line for line in self.raw().iterdump() if "sql_audit_log" not in line and "sqlite_sequence" not in line]

    @unittest.skipUnless(sys.platform == "linux", "reads /proc")
    def test_memory_bombs_stay_within_bounds(self) -> None:
        for name in ("sort", "window", "doubling subqueries", "doubling expressions"):
            self.attack(*BOMBS[name])
            with self.subTest(name), open("/proc/self/status") as file:
                peak_kb = next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
                self.assertLess(peak_kb, 1_000_000)


if __name__ == "__main__":
    unittest.main()
