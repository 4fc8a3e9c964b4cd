"""A ledger with two projects to ask questions about."""

from appsecgate.errors import QueryError
from appsecgate.model import Category, FixStatus, Json, Package, Scanner, Severity
from appsecgate.store.query import QUERY_BOUNDS, QueryBounds, QueryResult, run_query
from tests.store.ledger import OTHER, PROJECT, LedgerCase, PlainMask, make_finding

OURS = "ours"
THEIRS = "foreign" + "words"


class AskingCase(LedgerCase):
    """Three findings of ours, and a foreign project whose every text can be recognised."""

    def setUp(self) -> None:
        super().setUp()
        with self.store.write() as writer:
            writer.touch_project(OTHER, f"{THEIRS}-alias", f"/{THEIRS}")
        self.findings = [
            make_finding(OURS, severity=Severity.CRITICAL, cwe=("CWE-78", "CWE-79")),
            make_finding("ours too", file_path="b.py"),
            make_finding("ours sca", category=Category.SCA, scanner=Scanner.PIP_AUDIT, rule_id="CVE-2026-1",
                         package=Package("PyPI", "jinja2", "2.0", "2.1", ("CVE-2026-1",))),
        ]  # fmt: skip
        self.scan(self.findings)
        self.attempt(self.findings[0], FixStatus.NOT_FIXED)
        foreign = [
            make_finding(f"{THEIRS} {number}", message=f"{THEIRS} {number}", file_path=f"{THEIRS}.py")
            for number in range(5)
        ]
        self.scan(foreign, project_id=OTHER)
        self.show(*foreign, project_id=OTHER)

    def ask(
        self, sql: str, params: Json = None, project_id: str = PROJECT, bounds: QueryBounds = QUERY_BOUNDS
    ) -> QueryResult:
        return run_query(self.store, project_id, "session", sql, params, redactor=PlainMask(), bounds=bounds)

    def refusal(self, sql: str, params: Json = None) -> QueryError:
        with self.assertRaises(QueryError) as caught:
            self.ask(sql, params)
        return caught.exception

    def audited(self) -> list[tuple[object, ...]]:
        return self.rows("SELECT sql, row_count, outcome FROM sql_audit_log ORDER BY id")
