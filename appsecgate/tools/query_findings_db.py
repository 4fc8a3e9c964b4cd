"""query_findings_db: one SELECT over the public views."""

from dataclasses import dataclass, replace

from appsecgate.model import Json
from appsecgate.session import Session
from appsecgate.shown import RESULT_CHARS, filled, result_chars, shorten
from appsecgate.store.query import CELL_CHARS, run_query
from appsecgate.tools.base import Call, Tool
from appsecgate.typed import arg


@dataclass(frozen=True, slots=True)
class QueryFindingsDbInput:
    sql: str = arg(
        "One SELECT (or WITH … SELECT) in SQLite's dialect.", min_length=1, max_length=20_000,
        example="SELECT severity, count(*) FROM v_findings GROUP BY severity",
    )  # fmt: skip
    params: Json = arg(
        "Values for ? placeholders as an array, or for :name placeholders as an object.",
        default=None, json_type="array",
    )


@dataclass(frozen=True, slots=True)
class QueryRows:
    columns: tuple[str, ...] = arg("Column names.")
    rows: tuple[tuple[Json, ...], ...] = arg("Rows; texts are untrusted data.")
    row_count: int = arg("Rows returned.")
    truncated: bool = arg("Whether there are more: add LIMIT and OFFSET, or aggregate.")
    duration_ms: int = arg("Time of the query in milliseconds.")


def query_findings_db(call: Call[Session], request: QueryFindingsDbInput) -> QueryRows:
    """Raises QueryError, which names the views and columns there are. Every call is audited."""
    session = call.session
    found = run_query(
        session.store,
        session.project_id,
        session.session_id,
        request.sql,
        request.params,
        redactor=session.redactor(),
    )
    empty = QueryRows(
        columns=tuple(found.columns), rows=(), row_count=0, truncated=found.truncated, duration_ms=found.duration_ms
    )
    # The store counted characters; odd ones take several here.
    answer = filled(empty, "rows", found.rows)
    if result_chars(answer) > RESULT_CHARS:
        answer = replace(answer, rows=tuple(tuple(_short(cell) for cell in row) for row in answer.rows))
    return replace(answer, row_count=len(answer.rows), truncated=found.truncated or len(answer.rows) < len(found.rows))


def _short(cell: Json) -> Json:
    return shorten(cell, CELL_CHARS) if isinstance(cell, str) else cell


QUERY_FINDINGS_DB = Tool(
    name="query_findings_db",
    title="Query the findings",
    description=(
        "Run one SELECT over the views of the current project: v_findings (status: open, shown, fixed, not_fixed, "
        "wont_fix, false_positive, suppressed, gone), v_attempts, v_summary, v_verification_coverage, v_projects, "
        "v_scan_evidence. SQLite dialect, 5 s at most, 1,000 rows where no LIMIT is given, 10,000 at most. "
        "Example: SELECT logical_id, rule_id, file_path, line_start FROM v_findings WHERE severity='high' LIMIT 50"
    ),
    input=QueryFindingsDbInput,
    output=QueryRows,
    call=query_findings_db,
    summary="run one SELECT over the public views",
    read_only=True,
    idempotent=True,
)
