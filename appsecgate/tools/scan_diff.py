"""scan_diff: look at what changed in git."""

from dataclasses import dataclass

from appsecgate.model import EvidenceReason, Finding
from appsecgate.scan.renames import find_renames
from appsecgate.scan.result import ScanKind, ScanRequest
from appsecgate.scan.run import run_scan
from appsecgate.session import Session
from appsecgate.tools.base import Call, Tool
from appsecgate.tools.scanned import ScannedFiles, control_of, show_scan
from appsecgate.typed import arg
from appsecgate.workspace import LeftOut, Source

LINES_RESERVE_S = 2.0
"""Of a call's time: which lines changed is asked file by file, and is no longer asked then."""


@dataclass(frozen=True, slots=True)
class ScanDiffInput:
    base: str | None = arg(
        "A commit, branch or tag to compare with; HEAD if not given.", default=None, max_length=200, example="main"
    )


def scan_diff(call: Call[Session], request: ScanDiffInput) -> ScannedFiles:
    """Raises GitError where there is no git work tree or the base is unknown."""
    session = call.session.frozen()
    git = session.workspace.git
    unseen = git.unseen(request.base)
    gaps = {path: words for path, words in unseen.items() if _is_file(session, path)}
    left_out = tuple(
        LeftOut(path, EvidenceReason.PARTIAL, words, directory=True)
        for path, words in sorted(unseen.items())
        if path not in gaps
    )
    paths = tuple(sorted({*git.changed(request.base), *gaps} - {item.path for item in left_out}))
    with session.store.read() as reader:
        known = reader.known_paths(session.project_id)
    removed = tuple(sorted(path for path in known if not session.workspace.exists(path)))
    renames, notices = find_renames(session, removed, paths)
    asked = ScanRequest(
        ScanKind.DIFF, paths, left_out, removed=removed, renames=renames, notices=notices, gaps=gaps
    )
    result = run_scan(session, asked, control_of(call))
    lines: dict[str, set[int] | None] = {}
    for path in dict.fromkeys(finding.file_path for finding in result.findings):  # the worst first
        if call.remaining_s() < LINES_RESERVE_S:
            break
        lines[path] = git.changed_lines(path, request.base)

    def on_changed_lines(finding: Finding) -> bool | None:
        if finding.file_path not in lines:
            return None
        changed = lines[finding.file_path]
        return changed is None or any(n in changed for n in range(finding.line_start, finding.line_end + 1))

    return show_scan(session, result, paths, on_changed_lines)


def _is_file(session: Session, path: str) -> bool:
    """Whether there is a file of this name that the scanners can look at, whatever is staged beside it."""
    found = session.workspace.read(path, max_bytes=session.config.limits.max_file_bytes)
    return isinstance(found, Source)


SCAN_DIFF = Tool(
    name="scan_diff",
    title="Scan changed files",
    description=(
        "Scan the files that changed in git: working tree, index and untracked files, against HEAD or another base. "
        "Findings on changed lines come first and carry on_changed_lines=true. An error, never an empty result, "
        "where the project is no git work tree. verdict and evidence as in scan_file."
    ),
    input=ScanDiffInput,
    output=ScannedFiles,
    call=scan_diff,
    summary="scan the files that changed in git",
    read_only=False,
    idempotent=True,
)
