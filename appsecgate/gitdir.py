"""Finding the repository that a project lies in, and making the private git directory that is asked instead.

Git's own discovery reads the repository's configuration on the way; this one reads ``.git`` alone. A
``.git`` file that points elsewhere is followed only if what it points to names this work tree as its own,
so that a project cannot show us another repository of the user's.
"""

import os
import re
import shutil
import stat
import string
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from appsecgate.beneath import Folder, NotReadError
from appsecgate.errors import GitError
from appsecgate.model import EvidenceReason

_MAX_INDEX_BYTES = 512 << 20
_MAX_SMALL_FILE_BYTES = 1 << 20
"""Of HEAD, config and the like."""

_TAKEN_OVER: Mapping[str, frozenset[str]] = {
    "core.autocrlf": frozenset({"true", "false", "input"}),
    "core.eol": frozenset({"lf", "crlf", "native"}),
    "core.filemode": frozenset({"true", "false"}),
    "core.ignorecase": frozenset({"true", "false"}),
    "core.precomposeunicode": frozenset({"true", "false"}),
    "core.symlinks": frozenset({"true", "false"}),
    "extensions.objectformat": frozenset({"sha1", "sha256"}),
    "extensions.refstorage": frozenset({"files", "reftable"}),
}
"""The settings that change what an answer means, and the values that are taken over."""

_OUR_SETTINGS: Mapping[str, str] = {
    "core.bare": "false",
    "core.fsmonitor": "false",
    "core.untrackedcache": "false",
    "core.hookspath": os.devnull,
    "core.attributesfile": os.devnull,
    "core.safecrlf": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "protocol.allow": "never",
    "submodule.recurse": "false",
}

_SHARED = ("refs", "packed-refs", "reftable", "shallow", "logs")
"""Of the common directory. Not: config, hooks, info."""
_OWN = ("ORIG_HEAD", "FETCH_HEAD", "MERGE_HEAD")

_SECTION = re.compile(r"\[\s*([-.\w]+)\s*\]")
_SETTING = re.compile(r"([A-Za-z][-A-Za-z0-9]*)\s*(?:=\s*(.*))?$")
_VALUE = re.compile(r'(?:"((?:[^"\\]|\\.)*)"|([^#;]*))')


@dataclass(frozen=True, slots=True)
class GitRepository:
    """Where the parts of a repository are."""

    work_tree: Path
    git_dir: Path
    """Of this work tree: HEAD and index."""
    common_dir: Path
    """Of all its work trees: objects, refs, config."""


def git_program(root: Path) -> str | None:
    """The git on PATH, never one out of the project; None where there is none."""
    folders = [
        folder
        for folder in os.environ.get("PATH", os.defpath).split(os.pathsep)
        if Path(folder).is_absolute() and not Path(os.path.realpath(folder)).is_relative_to(root)
    ]
    found = shutil.which("git", path=os.pathsep.join(folders)) if folders else None
    return found if found and not Path(os.path.realpath(found)).is_relative_to(root) else None


def repository_of(root: Path) -> GitRepository | None:
    """The repository in whose work tree a directory lies. Raises GitError where it may not be used."""
    for folder in (root, *root.parents):
        repository = _repository_at(folder)
        if repository is not None:
            return repository
    return None


def _repository_at(work_tree: Path) -> GitRepository | None:
    dot_git = work_tree / ".git"
    try:
        mode = dot_git.lstat().st_mode
    except OSError:
        return None
    if stat.S_ISREG(mode):
        git_dir = _pointed_to(dot_git, "gitdir:")
    elif stat.S_ISDIR(mode):
        git_dir = dot_git
    elif stat.S_ISLNK(mode) and dot_git.is_dir():
        git_dir = Path(os.path.realpath(dot_git))
    else:
        git_dir = None
    if git_dir is None or not os.path.lexists(git_dir / "HEAD"):
        return None
    common_dir = _pointed_to(git_dir / "commondir", "") or git_dir
    repository = GitRepository(work_tree, git_dir, common_dir)
    if (git_dir != dot_git or common_dir != git_dir) and not _claims(repository):
        raise GitError(
            f"{dot_git} points to {git_dir}, which does not name this work tree as its own.",
            hint="If they belong together, set core.worktree in its configuration to the work tree's path.",
        )
    return repository


def _claims(repository: GitRepository) -> bool:
    """Whether a git directory outside says that it belongs to this work tree, as git makes it say so."""
    dot_git = repository.work_tree / ".git"
    if repository.common_dir != repository.git_dir:
        # a linked work tree: both ends name each other
        back = _pointed_to(repository.git_dir / "gitdir", "")
        return (
            back is not None
            and _same(back, dot_git)
            and _same(repository.git_dir.parent, repository.common_dir / "worktrees")
        )
    # a submodule: its configuration names the work tree
    named = _settings(repository.git_dir).get("core.worktree")
    return named is not None and _same(repository.git_dir / named, repository.work_tree)


def _same(one: Path, other: Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def _pointed_to(file: Path, prefix: str) -> Path | None:
    """The path in a file of one line, taken from where the file is; None where it is no such file."""
    text = _small_file(file)
    if text is None or not text.startswith(os.fsencode(prefix)):
        return None
    path = os.fsdecode(text[len(prefix) :].strip(b" \r\n"))
    return Path(os.path.normpath(file.parent / path)) if path and "\0" not in path else None


def _small_file(file: Path) -> bytes | None:
    try:
        with Folder.root(file.parent) as folder:
            return folder.read(file.name, _MAX_SMALL_FILE_BYTES)
    except NotReadError:
        return None


def _settings(common_dir: Path) -> dict[str, str]:
    """The plain settings (no subsection, no include) of a repository, the last value of each.

    What is made of them is harmless whatever they say, so a small reader of git's format is enough.
    """
    settings: dict[str, str] = {}
    section = ""
    for line in (_small_file(common_dir / "config") or b"").decode("utf-8", "surrogateescape").splitlines():
        rest = line.strip()
        if rest.startswith("["):
            header = _SECTION.match(rest)
            section = header[1].lower() if header else ""
            rest = rest[header.end() :].strip() if header else ""
        if section and (setting := _SETTING.match(rest)):
            settings[f"{section}.{setting[1].lower()}"] = _plain_value(setting[2])
    return settings


def _plain_value(text: str | None) -> str:
    """A value without quotes and trailing comment; a name alone means true."""
    if text is None:
        return "true"
    value = _VALUE.match(text)
    assert value is not None
    return re.sub(r"\\(.)", r"\1", value[1]) if value[1] is not None else value[2].strip()


def make_private_copy(repository: GitRepository, home: Path) -> dict[str, str]:
    """Make ``home`` a git directory: refs by reference, HEAD and index by value; the environment that uses it.

    Objects are read from the repository's store and written to ``home``. Raises GitError where HEAD or the
    index cannot be read.
    """
    for name in _SHARED:
        _bring(repository.common_dir / name, home / name)
    for name in _OWN:
        _bring(repository.git_dir / name, home / name)
    for part in repository.git_dir.glob("sharedindex.*"):
        _bring(part, home / part.name)
    (home / "HEAD").write_bytes(_head_of(repository))
    _copy_index(repository, home)
    (home / "config").write_text(_config_for(repository))
    exclude = repository.common_dir / "info" / "exclude"
    return {
        "GIT_DIR": str(home),
        "GIT_WORK_TREE": str(repository.work_tree),
        "GIT_OBJECT_DIRECTORY": str(home),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": _quoted(repository.common_dir / "objects"),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.excludesFile",
        "GIT_CONFIG_VALUE_0": str(exclude) if exclude.is_file() else os.devnull,
    }


def _quoted(path: Path) -> str:
    """As C writes strings: git's list of object directories is otherwise split at colons."""
    quoted = (chr(byte) if byte in _UNQUOTED else f"\\{byte:03o}" for byte in os.fsencode(path))
    return f'"{"".join(quoted)}"'


_UNQUOTED = frozenset((string.ascii_letters + string.digits + "/._-").encode())


def _bring(source: Path, target: Path) -> None:
    """Link what is there; copy it where the system has no links for us (Windows)."""
    if not source.exists():
        return
    try:
        target.symlink_to(source.absolute())
    except OSError:
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            shutil.copyfile(source, target)


def _head_of(repository: GitRepository) -> bytes:
    head = repository.git_dir / "HEAD"
    # an old form: a link to a ref, which may not exist yet
    text = b"ref: " + os.fsencode(head.readlink()) + b"\n" if head.is_symlink() else _small_file(head)
    if not text:
        raise GitError(f"{head} cannot be read.", hint="Run git status in the project.")
    return text


def _copy_index(repository: GitRepository, home: Path) -> None:
    """With its time: git takes files changed since then for changed, whatever else it remembers of them."""
    try:
        with Folder.root(repository.git_dir) as folder:
            status = folder.status("index")
            (home / "index").write_bytes(folder.read("index", _MAX_INDEX_BYTES))
    except NotReadError as error:
        if error.reason is not EvidenceReason.FILE_MISSING:
            raise GitError(
                f"The repository's index cannot be read: {error}.", hint="Run git status in the project."
            ) from None
    else:
        os.utime(home / "index", ns=(status.st_atime_ns, status.st_mtime_ns))


def _config_for(repository: GitRepository) -> str:
    theirs = _settings(repository.common_dir)
    taken = {name: theirs[name] for name, values in _TAKEN_OVER.items() if theirs.get(name) in values}
    version = "1" if any(name.startswith("extensions.") for name in taken) else "0"
    settings = {"core.repositoryformatversion": version, **taken, **_OUR_SETTINGS}
    lines = ["[{}]\n\t{} = {}\n".format(*name.split("."), value) for name, value in settings.items()]
    return "".join(lines)
