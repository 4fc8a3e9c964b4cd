"""Git, asked without giving the repository a say.

A repository's configuration names programs: fsmonitor, hooks, diff drivers, filters, pagers, transports.
Switching each off by name would trust that we know them all, so **the configuration is not read at all**:
every question is put to a private git directory made for it, with a configuration of ours, the
repository's objects as a read-only alternate, links to its refs, and a copy of its index. A few
harmless settings (line ends, case, hash) are taken over by value. Nothing can be written to the repository,
and missing objects are never fetched.
"""

import contextlib
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from appsecgate.errors import GitError
from appsecgate.gitdir import git_program, make_private_copy, repository_of
from appsecgate.process import Completed, Ending, Limits, base_environment, private_directory, run

_GIT_TIMEOUT_S = 20.0
_MAX_BLOB_BYTES = 16 << 20
_MAX_UNTRACKED_RENAMES = 1000
_MAX_PATHS_PER_CALL = 200
_MAX_SUBMODULE_DEPTH = 4
_STAGED = "the staged content differs from the file and is not looked at: unstage it, or stage the file again"
_SUBMODULE = "a submodule with changes is a repository of its own: scan it by its path"
_INNER = "a repository inside the project, which git does not look into: scan it by its path"
_DIFF = ("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=all")
_HUNK = re.compile(rb"^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
_NO_REPOSITORY_HINT = "Use scan_file or scan_project instead, or run git init in the project."

_GIT_ENVIRONMENT: Mapping[str, str] = {
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_ASKPASS": "false",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_SSH_COMMAND": "false",
    "GIT_TERMINAL_PROMPT": "0",
}


class Git:
    """Questions to the git repository that the project lies in. Paths in and out are project-relative.

    ``text_of_file`` gives a project file's normalised text and ``text_of_bytes`` that of a blob, ``None``
    where there is none: lines are counted in that text (see ``workspace.Source``), never in raw bytes.
    Submodules and repositories inside the project are not looked into.
    """

    def __init__(
        self,
        root: Path,
        text_of_file: Callable[[str], str | None],
        text_of_bytes: Callable[[str, bytes], str | None],
        shown: Callable[[str], str] = str,
        on_disk: Callable[[str], str] = str,
    ) -> None:
        """``shown`` and ``on_disk``: a path's name here and its name in the repository (see ``covered``)."""
        self._root = root
        self._shown = shown
        self._on_disk = on_disk
        self._text_of_file = text_of_file
        self._text_of_bytes = text_of_bytes

    def available(self) -> bool:
        """Whether the project lies in a git work tree and git is installed."""
        try:
            return bool(git_program(self._root) and repository_of(self._root))
        except GitError:
            return False

    def head(self) -> str | None:
        """The commit that HEAD names; None before the first one. Raises GitError."""
        with self._question() as question:
            return question.commit(None)

    def changed(self, base: str | None = None) -> list[str]:
        """Files that differ from ``base`` (a commit; HEAD if None), sorted: changed, staged, new, renamed.

        Untracked files count unless they are ignored, and so do files that the index hides (assume-unchanged,
        skip-worktree). Deleted ones are left out. A repository inside the project is named as a whole. Before
        the first commit every file counts. Raises GitError.
        """
        with self._question() as question:
            commit = question.commit(base)
            names = set(question.untracked())
            if commit is None:
                names |= question.names("ls-files", "-z", "--cached")
            else:
                question.look_at_hidden()
                names |= question.differing(commit)
        return sorted(self._shown(name.rstrip("/")) for name in names if os.path.lexists(self._root / name))

    def unseen(self, base: str | None = None, depth: int = 0) -> dict[str, str]:
        """Changes that are in no file of the working tree: path → what they are, in words. Raises GitError.

        Staged content that is not the file's, submodules that differ from what ``base`` names, repositories that the
        project's does not know. None of them is looked into here, a submodule but for whether it differs.
        """
        with self._question() as question:
            commit = question.commit(base)
            question.look_at_hidden()
            staged = question.staged(commit)
            links = question.links()
            known = question.links_of(commit) if links and commit else {}
            inner = [name.rstrip("/") for name in question.untracked() if name.endswith("/")]
        found = dict.fromkeys(staged - links.keys(), _STAGED)
        found.update(dict.fromkeys(inner, _INNER))
        for path, link in sorted(links.items()):
            if known.get(path) != link or not self._is_untouched(path, link, depth):
                found[path] = _SUBMODULE
        return {self._shown(path): words for path, words in found.items()}

    def _is_untouched(self, path: str, link: str, depth: int) -> bool:
        """Whether a submodule holds its commit's files, or none; asked as carefully as the project's repository."""
        folder = self._root / path
        try:
            if folder.is_symlink():
                return False
            if not os.path.lexists(folder) or (folder.is_dir() and not any(folder.iterdir())):
                return True
            if not os.path.lexists(folder / ".git") or depth >= _MAX_SUBMODULE_DEPTH:
                return False
            inner = Git(folder, self._text_of_file, self._text_of_bytes, self._shown, self._on_disk)
            return inner.head() == link and not inner.changed() and not inner.unseen(None, depth + 1)
        except (GitError, OSError):
            return False

    def changed_lines(self, path: str, base: str | None = None) -> set[int] | None:
        """Numbers of the lines that are new or changed since ``base``; None where the whole file is.

        None as well where either side is no text, or git no longer has the old one. Raises GitError.
        """
        with self._question() as question:
            old = self._old_text(question, path, base)
            new = self._text_of_file(path)
            if old is None or new is None:
                return None
            hunks = _HUNK.finditer(question.compare(old, new, 0, _MAX_BLOB_BYTES * 2).stdout)
        return {
            line
            for hunk in hunks
            for line in range(int(hunk[1]), int(hunk[1]) + (1 if hunk[2] is None else int(hunk[2])))
        }

    def diff(self, path: str, base: str | None = None, max_bytes: int = 100_000) -> str:
        """The unified diff of a file's text since ``base``, "" where there is none; cut after ``max_bytes``.

        A file that is missing on one side counts as empty there; one that is no text has no diff.
        Raises GitError.
        """
        with self._question() as question:
            new = self._text_of_file(path)
            if new is None and os.path.lexists(self._root / self._on_disk(path)):
                return ""
            compared = question.compare(self._old_text(question, path, base) or "", new or "", 3, max_bytes)
        start = compared.stdout.find(b"@@ ")
        if start < 0:
            return ""
        hunks = compared.stdout[start:].decode("utf-8", "replace")
        if compared.ending is Ending.OUTPUT_TOO_LARGE:
            hunks = hunks[: hunks.rfind("\n") + 1] + "... (the diff goes on)\n"
        return f"--- a/{path}\n+++ b/{path}\n{hunks}"

    def text_at(self, commit: str, path: str) -> str | None:
        """A file's normalised text in a commit; None where it is not there or no text. Raises GitError."""
        with self._question() as question:
            return self._old_text(question, path, commit)

    def tracked(self, prefixes: Sequence[str]) -> set[str]:
        """The files in the index that are, or lie below, one of these paths. Raises GitError."""
        wanted = {self._on_disk(prefix.rstrip("/")) for prefix in prefixes}
        if not wanted:
            return set()
        with self._question() as question:
            few = sorted(wanted) if len(wanted) <= _MAX_PATHS_PER_CALL else []
            names = question.names("ls-files", "-z", "--cached", "--", *few)
        found = names if few else {name for name in names if any(part in wanted for part in _name_and_parents(name))}
        return {self._shown(name) for name in found}

    def renamed_from(self) -> dict[str, str]:
        """New path → old path, of files that git takes for renamed since HEAD, untracked ones too.

        Raises GitError.
        """
        with self._question() as question:
            commit = question.commit(None)
            if commit is None:
                return {}
            question.add_untracked()
            fields = question.fields(
                *_DIFF, "-M", "-l1000", "--diff-filter=R", "--name-status", "-z", "--relative", commit, "--"
            )
        return {self._shown(new): self._shown(old) for new, old in zip(fields[2::3], fields[1::3], strict=True)}

    def _old_text(self, question: "_Question", path: str, base: str | None) -> str | None:
        # HEAD need not be looked up first: before the first commit it has no file
        commit = "HEAD" if base is None else question.commit(base)
        blob = None if commit is None else question.blob(commit, self._on_disk(path))
        return None if blob is None else self._text_of_bytes(path, blob)

    @contextlib.contextmanager
    def _question(self) -> Iterator["_Question"]:
        program = git_program(self._root)
        if program is None:
            raise GitError("git is not installed.", hint="Install git, or use scan_file or scan_project.")
        repository = repository_of(self._root)
        if repository is None:
            raise GitError("The project is not in a git work tree.", hint=_NO_REPOSITORY_HINT)
        with private_directory(prefix="appsecgate-git-") as home:
            private = make_private_copy(repository, home)
            yield _Question(program, home, {**_GIT_ENVIRONMENT, **private}, self._root)


def _name_and_parents(name: str) -> Iterator[str]:
    yield name
    while "/" in name:
        name = name.rpartition("/")[0]
        yield name


class _Question:
    """One private git directory and what is asked of it."""

    def __init__(self, program: str, home: Path, environment: Mapping[str, str], root: Path) -> None:
        self._program = program
        self._home = home
        self._root = root
        self._env = base_environment(home, environment)

    def _ask(self, *arguments: str, stdin: bytes | None = None, max_bytes: int = 64 << 20) -> Completed:
        return run(
            [self._program, "--no-pager", *arguments],
            cwd=self._root,
            env=self._env,
            limits=Limits(timeout_s=_GIT_TIMEOUT_S, max_output_bytes=max_bytes),
            stdin=stdin,
        )

    def fields(self, *arguments: str, stdin: bytes | None = None) -> list[str]:
        """The NUL-terminated fields of an answer. Raises GitError where there is no whole answer."""
        return _fields_of(arguments[0], self._ask(*arguments, stdin=stdin))

    def names(self, *arguments: str) -> set[str]:
        return set(self.fields(*arguments))

    def commit(self, base: str | None) -> str | None:
        """The id of a commit; None where HEAD is asked for and there is no commit yet."""
        name = "HEAD" if base is None else base
        if name.startswith("-") or not name.isprintable() or not name:
            raise GitError(f"{name!r} cannot be a commit.", hint="Give a branch, a tag or a commit id.")
        found = self._ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        if found.exit_code == 0:
            return found.stdout.decode("ascii", "replace").strip()
        if found.ending is not Ending.EXITED:
            raise _git_failed("rev-parse", found)
        if name == "HEAD" and self._is_unborn():
            return None
        raise GitError(
            f"The repository has no commit {name!r}.",
            hint="Give a branch, a tag or a commit id that is present; a shallow clone lacks older ones.",
        )

    def _is_unborn(self) -> bool:
        """Whether HEAD names a branch that has no commit yet, not one whose commit is lost."""
        named = self._ask("symbolic-ref", "--quiet", "HEAD")
        return named.exit_code == 0 and self._ask("rev-parse", "--verify", "--quiet", "HEAD").exit_code == 1

    def untracked(self) -> list[str]:
        return self.fields("ls-files", "-z", "--others", "--exclude-standard")

    def differing(self, commit: str) -> set[str]:
        """Files that are tracked or were, still are, and do not equal those of the commit."""
        how = ("--no-renames", "--diff-filter=d", "--name-only", "-z", "--relative", commit, "--")
        compared = self._ask(*_DIFF, *how)
        if compared.ending is Ending.EXITED and compared.exit_code != 0:
            # a partial clone lacks old contents; without them git can tell hashes apart, and names a
            # file that was changed back as well
            self._ask("update-index", "-q", "--refresh")
            compared = self._ask("diff-index", "--ignore-submodules=all", *how)
        return set(_fields_of("diff", compared))

    def look_at_hidden(self) -> None:
        """Have the files compared that the index says need not be, where they are on disk."""
        tagged = self.fields("ls-files", "-z", "-v")
        hidden = [
            field[2:]
            for field in tagged
            if (field[0].islower() or field[0] == "S") and os.path.lexists(self._root / field[2:])
        ]
        if hidden:
            paths = b"".join(os.fsencode(name) + b"\0" for name in hidden)
            for flag in ("--no-assume-unchanged", "--no-skip-worktree"):
                self.fields("update-index", flag, "-z", "--stdin", stdin=paths)

    def staged(self, commit: str | None) -> set[str]:
        """Files whose content in the index is neither the commit's nor the one on disk."""
        self._ask("update-index", "-q", "--refresh")
        if commit is None:
            staged = self.names("ls-files", "-z", "--cached")
        else:
            how = ("--no-renames", "--diff-filter=d", "--name-only", "-z", "--relative", commit, "--")
            staged = self.names("diff-index", "--cached", "--ignore-submodules=all", *how)
        if not staged:
            return set()
        differing = self.names("diff-files", "--ignore-submodules=all", "--name-only", "-z", "--relative")
        return {name for name in staged if name in differing or not os.path.lexists(self._root / name)}

    def links(self) -> dict[str, str]:
        """Submodules in the index: path → commit."""
        return _links_in(self.fields("ls-files", "-z", "--stage"))

    def links_of(self, commit: str) -> dict[str, str]:
        """Submodules in a commit: path → commit."""
        return _links_in(self.fields("ls-tree", "-r", "-z", commit))

    def add_untracked(self) -> None:
        """Put the untracked files into our copy of the index, for a rename to be seen; not their contents."""
        names = [name for name in self.untracked() if not name.endswith("/")]
        if names and len(names) <= _MAX_UNTRACKED_RENAMES:
            paths = b"".join(os.fsencode(name) + b"\0" for name in names)
            # a file that went away meanwhile makes git refuse: then the tracked ones are looked at alone
            self._ask("add", "--intent-to-add", "--pathspec-from-file=-", "--pathspec-file-nul", stdin=paths)

    def blob(self, commit: str, path: str) -> bytes | None:
        """A file's bytes in a commit; None where there is none, or a large one, or git lacks it."""
        found = self._ask("cat-file", "blob", f"{commit}:./{path}", max_bytes=_MAX_BLOB_BYTES)
        if found.ending not in (Ending.EXITED, Ending.OUTPUT_TOO_LARGE):
            raise _git_failed("cat-file", found)
        return found.stdout if found.exit_code == 0 else None

    def compare(self, old: str, new: str, context: int, max_bytes: int) -> Completed:
        """Git's comparison of two texts, away from the project and its attributes."""
        if old == new:
            return Completed((), Ending.EXITED, 0, b"", b"", 0)
        for name, text in (("old", old), ("new", new)):
            (self._home / name).write_bytes(text.encode("utf-8", "surrogatepass"))
        completed = self._ask(
            *_DIFF, "--no-index", "--text", f"-U{context}", "--",
            str(self._home / "old"), str(self._home / "new"),
            max_bytes=max_bytes,
        )  # fmt: skip
        if completed.exit_code not in (0, 1) and completed.ending is not Ending.OUTPUT_TOO_LARGE:
            raise _git_failed("diff", completed)
        return completed


def _fields_of(command: str, completed: Completed) -> list[str]:
    if completed.exit_code != 0:
        raise _git_failed(command, completed)
    return [os.fsdecode(part) for part in completed.stdout.split(b"\0")[:-1]]


def _links_in(fields: Sequence[str]) -> dict[str, str]:
    """Of ``160000 <id> <stage>\t<path>`` and ``160000 commit <id>\t<path>``."""
    parted = [field.partition("\t") for field in fields if field.startswith("160000 ")]
    return {path: max(words.split()[1:], key=len) for words, _, path in parted}


def _git_failed(command: str, completed: Completed) -> GitError:
    if completed.ending is Ending.EXITED:
        said = completed.stderr.decode("utf-8", "replace").strip().splitlines()
        return GitError(
            f"git {command} failed: {said[-1][:200] if said else f'exit code {completed.exit_code}'}",
            hint="Run git fsck in the project, or use scan_file or scan_project instead.",
        )
    return GitError(
        f"git {command} gave no whole answer ({completed.ending}).",
        hint="Use scan_file or scan_project instead.",
    )
