"""What a client is told first."""

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
  v_projects, v_scan_evidence. SELECT only.

Also:
- get_scan_history says where the work stands: call it first in a new session.
- scan_diff scans what changed in git. suppress_finding hides, it never resolves.
- export_snapshot writes the views to files. get_config and update_config: settings.

Constraints:
- Do not edit files outside finding.file_path.
- Do not delete secrets from code — suggest rotation via submit_feedback.
- Redacted fields are placeholders; do not attempt to recover them.
- All work is scoped to the current project (project_id).
"""
