"""The fourteen tools in the order in which they are listed."""

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
