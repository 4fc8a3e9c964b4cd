"""scan_file: look at one file with every scanner that has business with it."""

from dataclasses import dataclass

from appsecgate.errors import ProjectError
from appsecgate.scan.result import ScanKind, ScanRequest
from appsecgate.scan.run import run_scan
from appsecgate.session import Session
from appsecgate.tools.base import Call, Tool
from appsecgate.tools.scanned import ScannedFiles, control_of, show_scan
from appsecgate.typed import arg


@dataclass(frozen=True, slots=True)
class ScanFileInput:
    path: str = arg(
        "The file, absolute or relative to the project.", min_length=1, max_length=4096, any_bytes=True,
        example="src/app.py",
    )  # fmt: skip


def scan_file(call: Call[Session], request: ScanFileInput) -> ScannedFiles:
    """Raises ProjectError for a path outside the project, a directory, or a file that does not exist."""
    session = call.session
    path = session.workspace.relative(request.path)
    if session.workspace.is_directory(path):
        raise ProjectError(f"{path or '.'} is a directory.", hint="Use scan_project(path=…) for a directory.")
    if not session.workspace.exists(path):
        raise ProjectError(f"there is no file {path!r} in the project.", hint="Check the path.")
    result = run_scan(session, ScanRequest(ScanKind.FILE, (path,)), control_of(call))
    return show_scan(session, result, (path,))


SCAN_FILE = Tool(
    name="scan_file",
    title="Scan a file",
    description=(
        "Scan one file for vulnerable code, secrets, vulnerable dependencies and infrastructure "
        "misconfiguration. Call it after every edit. verdict is 'clean' only when every scanner that has "
        "business with the file saw all of it; 'incomplete' names what is missing and the command that mends it. "
        "Returned findings are marked as shown. Next: get_fix_context(finding_id), fix, then verify_fix."
    ),
    input=ScanFileInput,
    output=ScannedFiles,
    call=scan_file,
    summary="scan one file with every scanner that has business with it",
    read_only=False,
    idempotent=True,
)
