"""What the repository brings to configure, silence or stand in for a scanner. None of it has any effect here; it is
listed, since somebody put it there and plain scanners would heed it.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from appsecgate.redact.kinds import SECRET_PLACEHOLDER
from appsecgate.scan.intake import Intake
from appsecgate.scan.result import Notice, ScanKind, ScanRequest
from appsecgate.scanners.classify import KIND_MANIFEST
from appsecgate.scanners.stage import Stage
from appsecgate.session import PROJECT_FILE, Session
from appsecgate.workspace import Source, Workspace

MAX_NOTICES = 200
_MAX_FOLDERS = 200
_MAX_GIT_CONFIG_BYTES = 1 << 20


_IGNORES = "an ignore list or baseline"
_CONFIGURES = "a scanner's configuration"
_STANDS_IN = "has the name of a program or module that a scan starts"
_GIT_RUNS = "lets git run programs"
_SECRET_NAME = "has a name with a secret in it, which is masked here: rename it, and rotate the secret"
_NOTABLE_NAMES: Mapping[str, str] = {
    **dict.fromkeys((".semgrepignore", ".checkov.baseline", ".secrets.baseline", ".gitleaksignore"), _IGNORES),
    **dict.fromkeys(
        (
            ".semgrep.yml", ".semgrep.yaml", ".checkov.yaml", ".checkov.yml", ".bandit", ".pip-audit.toml", "pip.conf",
            "pip.ini", ".pydistutils.cfg",
        ),
        _CONFIGURES,
    ),
    **dict.fromkeys(
        (
            "semgrep", "semgrep.py", "semgrep-core", "osemgrep", "pysemgrep", "detect-secrets", "detect_secrets.py",
            "pip-audit", "pip_audit.py", "checkov", "checkov.py", "pip", "pip.py", "git", "sitecustomize.py",
            "usercustomize.py",
        ),
        _STANDS_IN,
    ),
}  # fmt: skip
_STAND_IN_PACKAGES = frozenset({"semgrep", "detect_secrets", "pip_audit", "checkov", "pip"})
_TOOL_FOLDERS = ("node_modules/.bin", ".venv/bin", "venv/bin", "bin")
_ENVIRONMENT = re.compile(
    r"(?m)^[ \t]*(?:export[ \t]+)?(?:SEMGREP_|CKV_|CHECKOV_|BC_|PRISMA_|PIP_|PIPAPI_|PIP_AUDIT_|GIT_|PYTHON[A-Z]"
    r"|LD_PRELOAD|LD_LIBRARY_PATH|APPSECGATE_|HTTPS?_PROXY)[A-Z0-9_]*[ \t]*="
)
_INDEX_OPTION = re.compile(
    r"(?m)^[ \t]*(?:-i|-f|--index-url|--extra-index-url|--find-links|--trusted-host|--pypi-url)\b"
)
_GIT_DRIVER = re.compile(r"(?m)^[^#\n]*\s(?:filter|diff|merge)=")
_GIT_PROGRAM = re.compile(
    r"(?im)^[ \t]*(fsmonitor|hookspath|sshcommand|pager|editor|askpass|attributesfile|external|textconv|command|clean"
    r"|smudge|process|driver|helper|gitproxy|program)[ \t]*="
)


def repository_notices(session: Session, request: ScanRequest, intake: Intake, stage: Stage) -> tuple[Notice, ...]:
    """Everything of this kind beside the scanned files, by path; bounded."""
    found: dict[tuple[str, str], None] = {}
    for path, what in (
        *_by_name(_candidates(session.workspace, request)),
        *_by_content(intake, stage),
        *_of_git(session.workspace),
        *((PROJECT_FILE, problem) for problem in _project_file_problems(session)),
    ):
        found[path, what] = None
    return tuple(Notice(path, what) for path, what in sorted(found)[:MAX_NOTICES])


def _candidates(workspace: Workspace, request: ScanRequest) -> list[str]:
    """The scanned files and all that lies beside and above them; for a project, its listing and what is above."""
    listed = [*request.paths, *(item.path for item in request.left_out)]
    start = [posixpath.commonpath(request.paths)] if request.kind is ScanKind.PROJECT and request.paths else listed
    folders = {"", *(folder for path in start for folder in _folders_above(path))}
    for folder in sorted(folders)[:_MAX_FOLDERS]:
        listed += workspace.files_in(folder)
    for folder in _TOOL_FOLDERS:
        listed += workspace.files_in(folder)
    return listed


def _folders_above(path: str) -> Iterator[str]:
    while path := posixpath.dirname(path):
        yield path


def _by_name(paths: Iterable[str]) -> Iterator[tuple[str, str]]:
    for path in paths:
        folder, _, name = path.rpartition("/")
        what = _NOTABLE_NAMES.get(name.lower(), "")
        if not what and name == "__init__.py" and posixpath.basename(folder) in _STAND_IN_PACKAGES:
            what = _STANDS_IN
        if not what and posixpath.basename(folder) == ".semgrep":
            what = _CONFIGURES
        if what:
            yield path, what
        if SECRET_PLACEHOLDER.search(path):
            yield path, _SECRET_NAME


def _by_content(intake: Intake, stage: Stage) -> Iterator[tuple[str, str]]:
    for path, file in intake.files.items():
        name = posixpath.basename(path).lower()
        if (name.startswith(".env") or name == ".envrc") and _ENVIRONMENT.search(stage.source(path).text):
            yield path, "sets variables that configure scanners, Python or git"
        elif KIND_MANIFEST in file.kinds and _INDEX_OPTION.search(stage.source(path).text):
            yield path, "names a package index; pip is never run"
        elif name == ".gitattributes" and _GIT_DRIVER.search(stage.source(path).text):
            yield path, _GIT_RUNS


def _of_git(workspace: Workspace) -> Iterator[tuple[str, str]]:
    if not workspace.is_directory(".git"):
        return
    config = workspace.read(".git/config", max_bytes=_MAX_GIT_CONFIG_BYTES)
    if isinstance(config, Source) and (keys := sorted({key.lower() for key in _GIT_PROGRAM.findall(config.text)})):
        yield ".git/config", f"{_GIT_RUNS}: {', '.join(keys)}"
    hooks = [path for path in workspace.files_in(".git/hooks") if not path.endswith(".sample")]
    yield from ((path, _GIT_RUNS) for path in hooks)


def _project_file_problems(session: Session) -> Sequence[str]:
    """Problems that come from the repository's own settings file; they may quote it."""
    prefix = f"{PROJECT_FILE}: "
    told = [text.removeprefix(prefix) for text in session.config.problems if text.startswith(prefix)]
    redactor = session.redactor() if told else None
    return [redactor.text(text)[:300] for text in told] if redactor else []
