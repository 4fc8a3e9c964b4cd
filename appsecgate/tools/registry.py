"""The fourteen tools in the order in which they are listed, and what a client is told first."""

from typing import Any

from appsecgate.session import Session
from appsecgate.tools.base import Tool
from appsecgate.tools.export_snapshot import EXPORT_SNAPSHOT
from appsecgate.tools.get_config import GET_CONFIG
from appsecgate.tools.get_fix_context import GET_FIX_CONTEXT
from appsecgate.tools.get_fix_context_batch import GET_FIX_CONTEXT_BATCH
from appsecgate.tools.get_scan_history import GET_SCAN_HISTORY
from appsecgate.tools.query_findings_db import QUERY_FINDINGS_DB
from appsecgate.tools.scan_diff import SCAN_DIFF
from appsecgate.tools.scan_file import SCAN_FILE
from appsecgate.tools.scan_project import SCAN_PROJECT
from appsecgate.tools.submit_feedback import SUBMIT_FEEDBACK
from appsecgate.tools.suppress_finding import SUPPRESS_FINDING
from appsecgate.tools.update_config import UPDATE_CONFIG
from appsecgate.tools.verify_fix import VERIFY_FIX
from appsecgate.tools.verify_fix_batch import VERIFY_FIX_BATCH

TOOLS: tuple[Tool[Session, Any, Any], ...] = (
    SCAN_FILE,
    SCAN_DIFF,
    SCAN_PROJECT,
    GET_FIX_CONTEXT,
    GET_FIX_CONTEXT_BATCH,
    VERIFY_FIX,
    VERIFY_FIX_BATCH,
    QUERY_FINDINGS_DB,
    EXPORT_SNAPSHOT,
    GET_SCAN_HISTORY,
    SUBMIT_FEEDBACK,
    SUPPRESS_FINDING,
    GET_CONFIG,
    UPDATE_CONFIG,
)

INSTRUCTIONS = """\
AppSecGate is a security scanner. The server finds, stores, and verifies findings.
The server does NOT generate or apply fixes — the agent does that with its own LLM.

Fix protocol:
1. After Edit/Write, call scan_file(path).
2. For each finding, call get_fix_context(finding_id). For a group, use
   get_fix_context_batch(finding_ids=[...]).
3. Generate a fix with your LLM. Apply it via Edit/Write.
4. After applying, call verify_fix(...) or verify_fix_batch([...]).
   The server rescans files and confirms the result.
5. If verified=false, the finding is NOT fixed. Retry or mark wont_fix with a note.

Bulk queries:
- scan_project returns a summary only (announce). For details use
  query_findings_db with SQL over views.
- Available views: v_findings, v_attempts, v_summary, v_verification_coverage,
  v_projects. SELECT only.

Constraints:
- Do not edit files outside finding.file_path.
- Do not delete secrets from code — suggest rotation via submit_feedback.
- Redacted fields are placeholders; do not attempt to recover them.
- All work is scoped to the current project (project_id).
"""
