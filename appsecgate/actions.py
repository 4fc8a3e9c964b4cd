"""Next actions: calls that work as they stand, written the way a model calls a tool."""
# ruff: noqa: S608 -- these are texts for the client, who sends them to the query sandbox

import json
from collections.abc import Collection, Sequence

PACKS_AT_ONCE = 8
"""As many context packs as fit into one result, as a rule."""


def call_text(tool: str, **arguments: str | Sequence[str]) -> str:
    """``tool(name="value", …)`` with JSON literals, e.g. ``get_fix_context(finding_id="0f3a…")``."""
    given = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in arguments.items())
    return f"{tool}({given})"


def context_actions(ids: Sequence[str]) -> tuple[str, ...]:
    """How to get at the findings with these ids: none, one or several calls."""
    if not ids:
        return ()
    if len(ids) == 1:
        return (call_text("get_fix_context", finding_id=ids[0]),)
    return (
        call_text("get_fix_context", finding_id=ids[0]),
        call_text("get_fix_context_batch", finding_ids=list(ids[:PACKS_AT_ONCE])),
    )


def query_action(where: str, limit: int = 50) -> str:
    """A query that lists findings, worst first."""
    order = "CASE severity WHEN 'critical' THEN 0 WHEN 'high' THEN 1 WHEN 'medium' THEN 2 WHEN 'low' THEN 3 ELSE 4 END"
    sql = (  # a text for the client, who sends it to the query sandbox
        "SELECT logical_id, severity, rule_id, file_path, line_start, status FROM v_findings "
        f"WHERE {where} ORDER BY {order}, file_path, line_start LIMIT {limit}"
    )
    return call_text("query_findings_db", sql=sql)


def unresolved_action(files: Collection[str] | None = None) -> str:
    """A query that lists what is not resolved, worst first; of these files alone where they are given."""
    where = "status IN ('open', 'shown', 'not_fixed')"
    if files is None:
        return query_action(where)
    quoted = ", ".join("'" + path.replace("'", "''") + "'" for path in sorted(files))
    return query_action(f"file_path IN ({quoted}) AND {where}", limit=500)
