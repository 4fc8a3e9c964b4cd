"""Git: right answers, and not one program of the repository's choice."""

import os
import shutil
import subprocess
import tempfile
import unittest
from collections.abc import Callable, Iterable
from pathlib import Path
from unittest import mock

from appsecgate import git as git_module
from appsecgate import gitdir
from appsecgate.errors import GitError
from appsecgate.git import Git
from appsecgate.process import Completed, Ending, run
from appsecgate.workspace import Workspace

ODD_NAMES = ["a b", "-rf", "--output=x", ":(top)x", ";id", "new\nline", "Привет.py", os.fsdecode(b"\xff\xfe.py"), "*", "\\"]


class GitCase(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory(prefix="appsecgate-test-")
        self.addCleanup(holder.cleanup)
        self.tmp = Path(holder.name).resolve()
        self.root = self.tmp / "project"
        self.root.mkdir()

    def git(self, *arguments: str, cwd: Path | None = None) -> str:
        """The user's own git, with the user's own trust."""
        env = {
            "PATH": os.environ["PATH"], "HOME": str(self.tmp), "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org",
            "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org",
        }  # fmt: skip
        done = subprocess.run(
            ["git", "-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always", *arguments],
            cwd=cwd or self.root, env=env, capture_output=True, check=True,
        )  # fmt: skip
        return os.fsdecode(done.stdout)

    def write(self, path: str, data: str | bytes) -> Path:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data if isinstance(data, bytes) else data.encode())
        return target

    def commit(self, *names: str) -> str:
        if not (self.root / ".git").exists():
            self.git("init", "-q")
        self.git("add", "-A", "--", *names)
        self.git("commit", "-q", "--allow-empty", "-m", "c")
        return self.git("rev-parse", "HEAD").strip()

    @property
    def asked(self) -> Git:
        return Workspace.open(self.root, key=None).git


class AnswersTest(GitCase):
    def test_every_kind_of_change_is_named_and_nothing_else(self) -> None:
        for name in ("same.py", "edited.py", "staged.py", "deleted.py", "removed.py", "moved.py", "both.py", "back.py",
                     "sub/same.py"):  # fmt: skip
            self.write(name, f"text of {name}\n" * 5)
        self.write(".gitignore", "*.log\n")
        head = self.commit()
        self.assertEqual(self.asked.head(), head)
        self.assertEqual(self.asked.changed(), [])
        self.write("edited.py", "new\n")
        self.write("staged.py", "new\n")
        self.write("both.py", "staged\n")
        self.write("back.py", "staged\n")
        self.git("add", "staged.py", "both.py", "back.py")
        self.write("both.py", "and more\n")
        self.write("back.py", "text of back.py\n" * 5)
        (self.root / "deleted.py").unlink()
        self.git("rm", "-q", "removed.py")
        self.git("mv", "moved.py", "sub/moved to.py")
        self.write("added.py", "x")
        self.git("add", "added.py")
        self.write("untracked.py", "x")
        self.write("deep/er/untracked.py", "x")
        self.write("debug.log", "x")
        (self.root / "same.py").touch()
        want = ["added.py", "both.py", "deep/er/untracked.py", "edited.py", "staged.py", "sub/moved to.py", "untracked.py"]
        self.assertEqual(self.asked.changed(), want)
        self.assertEqual(self.asked.changed("HEAD"), want)

    def test_a_file_changed_in_the_tick_of_the_index_is_seen(self) -> None:
        self.write("a.py", "one\n")
        self.commit()
        for text in ("two\n", "six\n", "ten\n"):
            self.write("a.py", text)
            self.git("add", "a.py")
            self.write("a.py", "0" + text[1:])
            self.assertEqual(self.asked.changed(), ["a.py"])

    def test_a_base_is_any_commit(self) -> None:
        self.write("a.py", "1\n")
        first = self.commit()
        self.git("tag", "v1")
        self.git("branch", "old")
        self.write("b.py", "1\n")
        self.commit()
        for base in (first, first[:10], "v1", "old", "refs/heads/old", "HEAD~1", "HEAD^", "main~1", "@~1", "main@{1}"):
            with self.subTest(base=base):
                self.assertEqual(self.asked.changed(base), ["b.py"])
        self.git("pack-refs", "--all")
        self.git("gc", "-q")
        self.assertEqual(self.asked.changed("old"), ["b.py"])

    def test_what_is_no_commit_is_refused_in_words(self) -> None:
        self.write("a.py", "1\n")
        self.commit()
        blob = self.git("rev-parse", "HEAD:a.py").strip()
        for base in ("nope", "", "-x", "--output=/tmp/x", "--help", "a\0b", "a\nb", "HEAD:a.py", blob, "0" * 40,
                     "HEAD..HEAD", "$(id)", ":/nope"):  # fmt: skip
            with self.subTest(base=base), self.assertRaises(GitError) as caught:
                self.asked.changed(base)
            self.assertIn("commit", caught.exception.explain())

    def test_before_the_first_commit_every_file_counts(self) -> None:
        self.git("init", "-q")
        self.write("a.py", "1\n")
        self.write("sub/b.py", "1\n")
        self.write("c.log", "1\n")
        self.write(".gitignore", "*.log\n")
        self.git("add", "a.py")
        asked = self.asked
        self.assertEqual(asked.changed(), [".gitignore", "a.py", "sub/b.py"])
        self.assertEqual(asked.changed("HEAD"), [".gitignore", "a.py", "sub/b.py"])
        self.assertIsNone(asked.head())
        self.assertIsNone(asked.changed_lines("a.py"))
        self.assertIn("+1", asked.diff("a.py"))
        self.assertEqual(asked.renamed_from(), {})
        self.assertTrue(asked.available())
        with self.assertRaises(GitError):
            asked.changed("main~1")

    def test_odd_paths_of_the_repository_are_no_matter(self) -> None:
        for name in ("with: colon", "new\nline", '"quoted"', "Проект", os.fsdecode(b"\xff"), "-x", "#hash;", "\\"):
            with self.subTest(name=name):
                self.root = self.tmp / name
                self.root.mkdir()
                self.write("a.py", "1\n2\n")
                self.commit()
                (self.root / ".git" / "info" / "exclude").write_text("*.log\n")
                self.write("a.py", "1\nnew\n")
                self.write("x.log", "1\n")
                self.assertEqual((self.asked.changed(), self.asked.changed_lines("a.py")), (["a.py"], {2}))

    def test_a_project_may_be_a_directory_of_the_repository(self) -> None:
        repository = self.root
        for name in ("top.py", "project/a.py", "project/sub/b.py", "other/c.py", "project/moved.py"):
            self.write(name, f"1\n2\n3\n{name}\n")
        self.commit()
        for name in ("top.py", "project/a.py", "project/sub/b.py", "other/c.py"):
            self.write(name, f"1\n2\nnew\n{name}\n")
        self.write("project/new.py", "x")
        self.write("new.py", "x")
        self.git("mv", "project/moved.py", "project/sub/moved.py")
        self.root = repository / "project"
        asked = self.asked
        self.assertEqual(asked.changed(), ["a.py", "new.py", "sub/b.py", "sub/moved.py"])
        self.assertEqual(asked.changed_lines("sub/b.py"), {3})
        self.assertIn("--- a/a.py\n+++ b/a.py\n@@", asked.diff("a.py"))
        self.assertEqual(asked.tracked(["sub"]), {"sub/b.py", "sub/moved.py"})
        self.assertEqual(asked.renamed_from(), {"sub/moved.py": "moved.py"})

    def test_odd_names_are_handled_by_every_question(self) -> None:
        for name in ODD_NAMES:
            self.write(f"kept/{name}", "1\n2\n")
            self.write(f"from/{name}", f"{name!a}\n" * 20)
        self.commit()
        for name in ODD_NAMES:
            self.write(f"kept/{name}", "1\nnew\n")
            self.write(f"new/{name}", f"not yet {name!a}\n")
            (self.root / "to" / name).mkdir(parents=True)
            (self.root / "from" / name).rename(self.root / "to" / name / name)
        asked = self.asked
        want = [f"kept/{name}" for name in ODD_NAMES] + [f"new/{name}" for name in ODD_NAMES]
        want += [f"to/{name}/{name}" for name in ODD_NAMES]
        self.assertEqual(asked.changed(), sorted(want))
        self.assertEqual(asked.renamed_from(), {f"to/{name}/{name}": f"from/{name}" for name in ODD_NAMES})
        self.assertEqual(asked.tracked([f"kept/{name}" for name in ODD_NAMES]), {f"kept/{name}" for name in ODD_NAMES})
        for name in ODD_NAMES:
            with self.subTest(name=name):
                self.assertEqual(asked.changed_lines(f"kept/{name}"), {2})
                self.assertIn("+new", asked.diff(f"kept/{name}"))

    def test_hidden_changes_are_seen(self) -> None:
        for name in ("assumed.py", "skipped.py", "both.py", "plain.py", "absent.py"):
            self.write(name, "1\n")
        self.commit()
        self.git("update-index", "--assume-unchanged", "assumed.py", "both.py")
        self.git("update-index", "--skip-worktree", "skipped.py", "both.py", "absent.py")
        (self.root / "absent.py").unlink()
        for name in ("assumed.py", "skipped.py", "both.py"):
            self.write(name, "2\n")
        self.assertEqual(self.git("status", "--porcelain"), "")
        self.assertEqual(self.asked.changed(), ["assumed.py", "both.py", "skipped.py"])

    def test_line_ends_that_git_converts_are_no_change(self) -> None:
        self.git("init", "-q")
        self.git("config", "core.autocrlf", "true")
        self.write("a.txt", "1\r\n2\r\n")
        self.commit()
        (self.root / "a.txt").touch()
        self.assertEqual(self.asked.changed(), [])
        self.write("a.txt", "1\r\nnew\r\n")
        self.assertEqual((self.asked.changed(), self.asked.changed_lines("a.txt")), (["a.txt"], {2}))

    def test_a_repository_with_long_hashes_works(self) -> None:
        self.git("init", "-q", "--object-format=sha256")
        self.write("a.py", "1\n2\n")
        head = self.commit()
        self.write("a.py", "1\nnew\n")
        self.assertEqual((len(head), self.asked.head()), (64, head))
        self.assertEqual(self.asked.changed_lines("a.py"), {2})

    def test_conflicts_types_and_intents_are_changes(self) -> None:
        self.write("a.py", "1\n")
        self.write("typed.py", "1\n")
        self.commit()
        self.git("checkout", "-q", "-b", "other")
        self.write("a.py", "2\n")
        self.commit()
        self.git("checkout", "-q", "main")
        self.write("a.py", "3\n")
        self.commit()
        with self.assertRaises(subprocess.CalledProcessError):
            self.git("merge", "-q", "other")
        (self.root / "typed.py").unlink()
        (self.root / "typed.py").symlink_to("a.py")
        self.write("intended.py", "1\n")
        self.git("add", "-N", "intended.py")
        self.assertEqual(self.asked.changed(), ["a.py", "intended.py", "typed.py"])
        self.assertEqual(self.asked.changed("MERGE_HEAD"), ["a.py", "intended.py", "typed.py"])

    def test_a_repository_inside_is_named_but_not_asked(self) -> None:
        self.write("a.py", "1\n")
        self.commit()
        self.write("inner/b.py", "1\n")
        self.git("init", "-q", cwd=self.root / "inner")
        self.git("add", "-A", cwd=self.root / "inner")
        self.git("commit", "-q", "-m", "c", cwd=self.root / "inner")
        self.write("inner/b.py", "2\n")
        self.assertEqual(self.asked.changed(), ["inner"])
        self.assertEqual(self.asked.renamed_from(), {})

    def test_changes_in_a_split_index_and_a_linked_work_tree_are_seen(self) -> None:
        self.write("a.py", "1\n")
        self.write("b.py", "1\n")
        self.commit()
        self.git("update-index", "--split-index")
        self.write("a.py", "2\n")
        self.assertEqual(self.asked.changed(), ["a.py"])
        linked = self.tmp / "linked"
        self.git("worktree", "add", "-q", str(linked), "-b", "side")
        (linked / "b.py").write_text("2\n")
        self.root = linked
        self.assertEqual((self.asked.changed(), self.asked.changed("main")), (["b.py"], ["b.py"]))

    def test_a_submodule_is_a_project_of_its_own(self) -> None:
        library = self.tmp / "library"
        library.mkdir()
        self.write("x.py", "1\n")
        self.commit()
        self.git("clone", "-q", str(self.root), str(library))
        self.git("submodule", "add", "-q", str(library), "lib")
        self.git("commit", "-q", "-m", "submodule")
        (self.root / "lib" / "x.py").write_text("2\n")
        self.assertEqual(self.asked.changed(), [])
        self.root = self.root / "lib"
        self.assertEqual(self.asked.changed(), ["x.py"])

    def test_what_is_in_no_file_of_the_working_tree_is_named(self) -> None:
        library = self.tmp / "library"
        for name in ("same.py", "staged.py", "gone.py", "both.py"):
            self.write(name, "1\n")
        self.commit()
        self.git("clone", "-q", str(self.root), str(library))
        for name in ("lib", "quiet"):
            self.git("submodule", "add", "-q", str(library), name)
        self.git("config", "-f", ".gitmodules", "submodule.lib.ignore", "all")
        self.commit()
        self.assertEqual(self.asked.unseen(), {})
        for name in ("staged.py", "gone.py", "both.py"):
            self.write(name, "evil\n")
        self.git("add", "-A")
        self.write("staged.py", "1\n")
        (self.root / "gone.py").unlink()
        self.write("lib/same.py", "2\n")
        self.write("inner/b.py", "1\n")
        self.git("init", "-q", cwd=self.root / "inner")
        self.assertEqual(sorted(self.asked.unseen()), ["gone.py", "inner", "lib", "staged.py"])

    def test_an_old_link_for_a_head_is_understood(self) -> None:
        self.write("a.py", "1\n")
        head = self.commit()
        (self.root / ".git" / "HEAD").unlink()
        (self.root / ".git" / "HEAD").symlink_to("refs/heads/main")
        self.assertEqual(self.asked.head(), head)

    def test_systems_without_links_copy_instead(self) -> None:
        self.write("a.py", "1\n")
        self.commit()
        self.git("pack-refs", "--all")
        self.git("tag", "v1")
        self.write("a.py", "2\n")
        with mock.patch.object(Path, "symlink_to", side_effect=OSError):
            self.assertEqual(self.asked.changed("v1"), ["a.py"])


class LinesTest(GitCase):
    def test_changed_lines_are_those_of_the_text_as_everybody_counts_it(self) -> None:
        cases: list[tuple[str, bytes, bytes, set[int] | None]] = [
            ("edit", b"1\n2\n3\n4\n", b"1\nnew\n3\n4\n", {2}),
            ("insert", b"1\n2\n", b"0\n0\n1\n2\n", {1, 2}),
            ("append", b"1\n2\n", b"1\n2\n3\n", {3}),
            ("delete", b"1\n2\n3\n", b"1\n3\n", set()),
            ("several", b"".join(b"%d\n" % n for n in range(30)), b"".join(b"%d\n" % (n if n % 10 else -n) for n in range(30)), {11, 21}),
            ("no end of line", b"1\n2", b"1\n2\n3", {2, 3}),
            ("empty before", b"", b"1\n2\n", {1, 2}),
            ("empty now", b"1\n", b"", set()),
            ("CR only", b"1\r2\r3\r", b"1\rnew\r3\r", {2}),
            ("CRLF from LF", b"1\n2\n3\n", b"1\r\n2\r\n3\r\nnew\r\n", {4}),
            ("UTF-16", "1\n2\n3\n".encode("utf-16"), "1\nnew\n3\n".encode("utf-16"), {2}),
            ("UTF-16 from UTF-8", b"1\n2\n", "1\n2\n".encode("utf-16"), set()),
            ("looks like a diff", b"1\n@@ -1 +9 @@\n", b"1\n@@ -1 +7,2 @@\nx\n", {2, 3}),
            ("binary now", b"1\n", b"\0\1\2", None),
            ("binary before", b"\0\1\2", b"1\n", None),
        ]
        for name, old, _, _ in cases:
            self.write(name, old)
        self.write("same", "1\n")
        self.write(".gitattributes", "* -diff binary\n")
        self.commit()
        for name, _, new, _ in cases:
            self.write(name, new)
        self.write("untracked", "1\n")
        for name, _, _, want in cases:
            with self.subTest(case=name):
                self.assertEqual(self.asked.changed_lines(name), want)
        self.assertEqual(self.asked.changed_lines("same"), set())
        self.assertIsNone(self.asked.changed_lines("untracked"))
        self.assertIsNone(self.asked.changed_lines("missing"))

    def test_a_diff_is_unified_text_within_its_bound(self) -> None:
        self.write("a.py", "".join(f"line {number}\n" for number in range(50)))
        self.write("gone.py", "1\n")
        (self.root / "link").symlink_to("a.py")
        self.write("dir/x", "1\n")
        self.commit()
        self.assertEqual(self.asked.diff("a.py"), "")
        self.write("a.py", "".join(f"line {number if number != 20 else 'new'}\n" for number in range(50)))
        self.assertEqual(
            self.asked.diff("a.py"),
            "--- a/a.py\n+++ b/a.py\n@@ -18,7 +18,7 @@ line 16\n line 17\n line 18\n line 19\n-line 20\n+line new\n"
            " line 21\n line 22\n line 23\n",
        )
        cut = self.asked.diff("a.py", max_bytes=250)
        self.assertTrue(cut.endswith("\n... (the diff goes on)\n"))
        self.assertLess(len(cut), 300)
        self.assertEqual(self.asked.diff("a.py", max_bytes=10), "")
        (self.root / "gone.py").unlink()
        self.assertIn("\n-1\n", self.asked.diff("gone.py"))
        self.write("new.py", "1\n")
        self.assertIn("\n+1\n", self.asked.diff("new.py"))
        self.write("new.bin", b"\0")
        for path in ("new.bin", "missing", "dir", "link"):
            with self.subTest(path=path):
                self.assertEqual(self.asked.diff(path), "")

    def test_a_blob_too_large_to_compare_counts_as_new(self) -> None:
        self.write("a.py", "x\n" * 1000)
        self.commit()
        with mock.patch.object(git_module, "_MAX_BLOB_BYTES", 1000):
            self.assertIsNone(self.asked.changed_lines("a.py"))


class RenamesTest(GitCase):
    def test_renames_are_seen_staged_or_not_edited_or_not(self) -> None:
        body = "".join(f"line {number}\n" for number in range(40))
        for name in ("staged", "plain", "edited", "staged-edited", "copied"):
            self.write(f"{name}.py", f"# {name}\n" * 9 + body)
        self.write("other.py", "something else\n")
        self.commit()
        self.git("mv", "staged.py", "staged-2.py")
        self.git("mv", "staged-edited.py", "tests-edited.py")
        self.write("tests-edited.py", (self.root / "tests-edited.py").read_text() + "more\n")
        (self.root / "plain.py").rename(self.root / "plain.txt")
        (self.root / "edited.py").rename(self.root / "edited.unknown")
        self.write("edited.unknown", (self.root / "edited.unknown").read_text().replace("line 7", "line seven"))
        shutil.copy(self.root / "copied.py", self.root / "copied-2.py")
        (self.root / "other.py").unlink()
        want = {
            "staged-2.py": "staged.py",
            "tests-edited.py": "staged-edited.py",
            "plain.txt": "plain.py",
            "edited.unknown": "edited.py",
        }
        self.assertEqual(self.asked.renamed_from(), want)

    def test_too_many_new_files_are_not_compared(self) -> None:
        self.write("a.py", "1\n" * 9)
        self.commit()
        (self.root / "a.py").rename(self.root / "b.py")
        with mock.patch.object(git_module, "_MAX_UNTRACKED_RENAMES", 0):
            self.assertEqual(self.asked.renamed_from(), {})


class TrackedTest(GitCase):
    def test_tracked_files_are_named_below_a_prefix_or_at_it(self) -> None:
        names = ["a.py", "vendor/x/y.py", "vendor/z.py", "vendored.py", "vendor-2/z.py"]
        for name in names:
            self.write(name, "1\n")
        self.commit()
        self.write("vendor/untracked.py", "1\n")
        cases: list[tuple[list[str], set[str]]] = [
            ([], set()),
            (["vendor"], {"vendor/x/y.py", "vendor/z.py"}),
            (["vendor/"], {"vendor/x/y.py", "vendor/z.py"}),
            (["vendor/x", "a.py"], {"vendor/x/y.py", "a.py"}),
            (["missing", "*"], set()),
        ]
        for most in (200, 0):
            for prefixes, want in cases:
                with self.subTest(prefixes=prefixes, most=most), mock.patch.object(git_module, "_MAX_PATHS_PER_CALL", most):
                    self.assertEqual(self.asked.tracked(prefixes), want)

    def test_a_walk_takes_what_git_tracks_in_vendored_directories(self) -> None:
        for name in ("main.py", "vendor/ours.py", "vendor/deep/er.py", "node_modules/ours.js"):
            self.write(name, "1\n")
        self.commit()
        self.write("vendor/theirs.py", "1\n")
        self.write("venv/x.py", "1\n")
        (self.root / "vendor" / "deep" / "er.py").unlink()
        (self.root / "vendor" / "deep" / "er.py").symlink_to("../ours.py")
        workspace = Workspace.open(self.root, key=None)
        listing = workspace.walk(max_files=100)
        self.assertEqual(listing.paths, ("main.py", "node_modules/ours.js", "vendor/ours.py"))
        self.assertEqual(
            {(entry.path, entry.reason.value, entry.detail) for entry in listing.left_out},
            {
                (".git", "vendored", "git's own"),
                ("node_modules", "vendored", "but for 1 files that git tracks"),
                ("vendor", "vendored", "but for 2 files that git tracks"),
                ("vendor/deep/er.py", "symlink", ""),
                ("venv", "vendored", ""),
            },
        )
        self.assertEqual(workspace.walk(max_files=1).paths, ("main.py",))
        (self.root / ".git" / "index").write_bytes(b"broken")
        self.assertEqual(workspace.walk(max_files=100).paths, ("main.py",))


class RefusalTest(GitCase):
    QUESTIONS: tuple[Callable[[Git], object], ...] = (
        lambda git: git.changed(),
        lambda git: git.changed("main"),
        lambda git: git.changed_lines("a.py"),
        lambda git: git.diff("a.py"),
        lambda git: git.tracked(["a.py"]),
        lambda git: git.renamed_from(),
        lambda git: git.head(),
    )

    def assert_refused(self, word: str) -> None:
        self.assertFalse(self.asked.available())
        for number, question in enumerate(self.QUESTIONS):
            with self.subTest(question=number), self.assertRaises(GitError) as caught:
                question(self.asked)
            self.assertIn(word, str(caught.exception))
            self.assertTrue(caught.exception.hint)

    def test_a_project_without_repository_is_told_what_to_do(self) -> None:
        self.assert_refused("not in a git work tree")
        for content in (b"nonsense", b"gitdir:", b"gitdir: \0", b""):
            self.write(".git", content)
            self.assert_refused("not in a git work tree")
        (self.root / ".git").unlink()
        (self.root / ".git").mkdir()
        self.assert_refused("not in a git work tree")
        (self.root / ".git").rmdir()
        os.mkfifo(self.root / ".git")
        self.assert_refused("not in a git work tree")

    def test_a_machine_without_git_is_told_what_to_do(self) -> None:
        self.write("a.py", "1\n")
        self.commit()
        for path in ("", ".", str(self.tmp), "bin:./x"):
            with mock.patch.dict(os.environ, {"PATH": path}):
                self.assert_refused("not installed")

    def test_a_git_out_of_the_project_is_never_used(self) -> None:
        self.write("a.py", "1\n")
        self.commit()
        marker = self.tmp / "marker"
        for name in ("bin/git", "git", "node_modules/.bin/git"):
            self.write(name, f"#!/bin/sh\ntouch {marker}\n").chmod(0o755)
        outside = self.tmp / "outside"
        outside.mkdir()
        (outside / "git").symlink_to(self.root / "git")
        hostile = os.pathsep.join([str(self.root / "bin"), ".", "", str(self.root), f"{self.tmp}/project/node_modules/.bin"])
        with mock.patch.dict(os.environ, {"PATH": hostile + os.pathsep + os.environ["PATH"]}):
            self.assertEqual(len(self.asked.changed()), 3)
        with mock.patch.dict(os.environ, {"PATH": str(outside)}):
            self.assertFalse(self.asked.available())
        self.assertFalse(marker.exists())

    def test_the_repository_of_somebody_else_is_not_shown(self) -> None:
        self.write("a.py", "theirs, and secret\n")
        self.commit()
        theirs = self.tmp / "theirs"
        self.root.rename(theirs)
        self.root.mkdir()
        self.write("a.py", "ours\n")
        self.write(".git", f"gitdir: {theirs}/.git\n")
        self.assert_refused("does not name this work tree")
        self.write(".git", "gitdir: ../theirs/.git\n")
        self.assert_refused("does not name this work tree")
        (self.root / ".git").unlink()
        (self.root / ".git").symlink_to(theirs / ".git")
        self.assert_refused("does not name this work tree")
        (self.root / ".git").unlink()
        self.write(".git/HEAD", "ref: refs/heads/main\n")
        self.write(".git/commondir", f"{theirs}/.git\n")
        self.assert_refused("does not name this work tree")
        self.write(".git/gitdir", f"{self.root}/.git\n")
        self.assert_refused("does not name this work tree")

    def test_a_git_directory_elsewhere_is_used_if_it_names_the_work_tree(self) -> None:
        self.write("a.py", "1\n")
        self.git("init", "-q", "--separate-git-dir", str(self.tmp / "elsewhere"))
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "c")
        self.write("a.py", "2\n")
        self.assert_refused("does not name this work tree")
        self.git("config", "core.worktree", str(self.root))
        self.assertEqual(self.asked.changed(), ["a.py"])

    def test_a_broken_repository_is_an_error_in_words_not_an_empty_answer(self) -> None:
        self.write("a.py", "1\n")
        self.commit()
        self.write("a.py", "2\n")
        dot_git = self.root / ".git"
        head = (dot_git / "HEAD").read_bytes()
        (dot_git / "index").write_bytes(b"broken")
        with self.assertRaises(GitError):
            self.asked.changed()
        (dot_git / "index").unlink()
        os.mkfifo(dot_git / "index")
        with self.assertRaises(GitError):
            self.asked.changed()
        (dot_git / "index").unlink()
        self.assertEqual(self.asked.changed(), ["a.py"])
        for content in (b"", b"ref: ../../x\n", b"f" * 40 + b"\n", b"nonsense"):
            (dot_git / "HEAD").write_bytes(content)
            with self.subTest(head=content), self.assertRaises(GitError):
                self.asked.changed()
        (dot_git / "HEAD").write_bytes(head)
        shutil.rmtree(dot_git / "objects")
        with self.assertRaises(GitError):
            self.asked.changed()

    def test_answers_that_are_not_whole_are_errors(self) -> None:
        self.write("a.py", "1\n")
        self.commit()
        self.write("a.py", "2\n")

        def late(argv: Iterable[str], **options: object) -> Completed:
            return Completed(tuple(argv), Ending.TIMEOUT, None, b"", b"", 1)

        with mock.patch.object(git_module, "run", late):
            for number, question in enumerate(self.QUESTIONS):
                with self.subTest(question=number), self.assertRaises(GitError) as caught:
                    question(self.asked)
                self.assertIn("timeout", str(caught.exception))

    def test_a_command_that_fails_on_the_way_is_an_error(self) -> None:
        self.write("a.py", "1\n")
        self.commit()
        self.write("a.py", "2\n")

        def failing(argv: Iterable[str], **options: object) -> Completed:
            argv = list(argv)
            if "diff" in argv:
                return Completed(tuple(argv), Ending.EXITED, 128, b"", b"", 1)
            return run(argv, **options)  # type: ignore[arg-type]

        with mock.patch.object(git_module, "run", failing), self.assertRaises(GitError) as caught:
            self.asked.changed_lines("a.py")
        self.assertIn("exit code 128", str(caught.exception))

    def test_a_missing_object_is_not_fetched(self) -> None:
        self.write("a.py", "1\n")
        self.commit()
        upstream = self.tmp / "upstream"
        self.git("clone", "-q", "--bare", str(self.root), str(upstream))
        self.git("config", "uploadpack.allowFilter", "true", cwd=upstream)
        partial = self.tmp / "partial"
        self.git("clone", "-q", "--no-local", "--filter=blob:none", f"file://{upstream}", str(partial))
        blob = self.git("rev-parse", "HEAD:a.py").strip()
        for pack in (partial / ".git" / "objects" / "pack").glob("*"):
            pack.chmod(0o600)
        (partial / "a.py").write_text("2\n")
        for file in (partial / ".git" / "objects").rglob("*"):
            if file.is_file() and blob[2:] in file.name:
                file.unlink()
        marker = self.tmp / "marker"
        self.git("config", "remote.origin.uploadpack", f"touch {marker};", cwd=partial)
        self.git("config", "core.sshCommand", f"touch {marker};", cwd=partial)
        self.root = partial
        for pack in list((partial / ".git" / "objects" / "pack").glob("*")):
            # the blob came in a pack of its own on checkout
            if pack.suffix == ".pack" and blob in self.git("verify-pack", "-v", str(pack)):
                for suffix in (".pack", ".idx", ".promisor", ".rev"):
                    pack.with_suffix(suffix).unlink(missing_ok=True)
        self.assertEqual(self.asked.changed(), ["a.py"])
        self.assertIsNone(self.asked.changed_lines("a.py"))
        self.assertFalse(marker.exists())


class HostileRepositoryTest(GitCase):
    def setUp(self) -> None:
        super().setUp()
        self.marker = self.tmp / "marker"
        self.trap = self.tmp / "trap.sh"
        self.trap.write_text(f'#!/bin/sh\necho "$0 $*" >> {self.marker}\ncat 2>/dev/null\n')
        self.trap.chmod(0o755)
        body = "".join(f"line {number}\n" for number in range(30))
        for name in ("a.py", "b.trap", "c.txt", "moved.trap"):
            self.write(name, body)
        self.commit()

    def ask_everything(self) -> None:
        asked = self.asked
        self.assertTrue(asked.available())
        self.assertIsNotNone(asked.head())
        for base in (None, "HEAD", "main"):
            self.assertEqual(asked.changed(base), ["a.py", "b.trap", "new.trap", "renamed.trap"])
            self.assertEqual(asked.changed_lines("b.trap", base), {8})
            self.assertIn("+line new", asked.diff("b.trap", base))
            self.assertIsNone(asked.changed_lines("new.trap", base))
            asked.diff("new.trap", base)
        self.assertEqual(asked.tracked(["b.trap", "x"]), {"b.trap"})
        self.assertEqual(asked.renamed_from(), {"renamed.trap": "moved.trap"})
        Workspace.open(self.root, key=None).walk(max_files=10)

    def edit(self) -> None:
        for name in ("a.py", "b.trap"):
            path = self.root / name
            path.write_text(path.read_text().replace("line 7\n", "line new\n"))
        self.write("new.trap", "1\n")
        (self.root / "moved.trap").rename(self.root / "renamed.trap")
        (self.root / "c.txt").touch()

    def set_traps(self) -> None:
        trap = str(self.trap)
        settings = {
            "core.fsmonitor": trap, "core.hooksPath": str(self.tmp / "hooks"), "core.pager": trap,
            "core.editor": trap, "core.sshCommand": trap, "core.gitProxy": trap, "core.askPass": trap,
            "core.alternateRefsCommand": trap, "core.worktree": str(self.tmp / "elsewhere"),
            "core.attributesFile": str(self.tmp / "attributes"), "core.excludesFile": str(self.tmp / "excludes"),
            "diff.external": trap, "diff.trap.command": trap, "diff.trap.textconv": trap,
            "diff.python.textconv": trap, "filter.trap.clean": trap, "filter.trap.smudge": trap,
            "filter.trap.process": trap, "filter.trap.required": "true", "filter.x=y.clean": trap,
            "pager.diff": trap, "pager.ls-files": trap, "credential.helper": trap, "gpg.program": trap,
            "merge.trap.driver": trap, "sequence.editor": trap, "interactive.diffFilter": trap,
            "diff.tool": "trap", "difftool.trap.cmd": trap, "uploadpack.packObjectsHook": trap,
            "remote.origin.url": f"ext::{trap}", "remote.origin.promisor": "true",
            "remote.origin.vcs": "trap", "extensions.partialClone": "origin", "protocol.ext.allow": "always",
            "alias.diff": f"!{trap}", "alias.ls-files": f"!{trap}", "alias.rev-parse": f"!{trap}",
            "trace2.normalTarget": str(self.marker), "core.untrackedCache": "true",
            "diff.ignoreSubmodules": "none", "status.submoduleSummary": "true", "diff.orderFile": str(self.tmp / "no"),
            "maintenance.auto": "true", "gc.auto": "1", "index.recordEndOfIndexEntries": "true",
            "include.path": str(self.tmp / "included"), f"includeIf.gitdir:{self.root}/.path": str(self.tmp / "included"),
        }  # fmt: skip
        included = self.tmp / "included"
        included.write_text(f'[filter "inc"]\n\tclean = {trap}\n\tprocess = {trap}\n[core]\n\tfsmonitor = {trap}\n')
        for name, value in settings.items():
            subprocess.run(["git", "config", "-f", str(self.root / ".git" / "config"), name, value], check=True)
        for folder in (self.root / ".git" / "hooks", self.tmp / "hooks"):
            folder.mkdir(exist_ok=True)
            for hook in ("pre-commit", "post-index-change", "fsmonitor-watchman", "post-checkout", "reference-transaction",
                         "query-watchman", "pre-auto-gc", "post-rewrite", "sendemail-validate"):  # fmt: skip
                shutil.copy(self.trap, folder / hook)
        attributes = "*.trap filter=trap diff=trap merge=trap\n*.py filter=x=y diff=python\n*.txt filter=inc\n"
        (self.root / ".git" / "info" / "attributes").write_text(attributes)
        (self.tmp / "attributes").write_text(attributes)
        (self.tmp / "excludes").write_text("*\n")
        (self.root / ".git" / "config.worktree").write_text(f"[core]\n\tfsmonitor = {trap}\n")

    def test_a_trap_works_where_git_is_asked_without_precautions(self) -> None:
        self.edit()
        self.set_traps()
        subprocess.run(
            ["git", "--work-tree", str(self.root), "status"], cwd=self.root, capture_output=True, check=False, stdin=subprocess.DEVNULL
        )
        self.assertTrue(self.marker.exists())

    def test_no_program_that_the_configuration_names_runs(self) -> None:
        self.edit()
        self.set_traps()
        self.ask_everything()
        self.assertFalse(self.marker.exists(), self.marker.exists() and self.marker.read_text())

    def test_no_program_that_attributes_in_the_tree_name_runs(self) -> None:
        self.write(".gitattributes", "*.trap filter=trap diff=trap\n*.py filter=x=y diff=python\n*.txt filter=inc\n")
        self.commit()
        self.edit()
        self.set_traps()
        self.ask_everything()
        self.assertFalse(self.marker.exists(), self.marker.exists() and self.marker.read_text())

    def test_a_hostile_repository_inside_runs_nothing_either(self) -> None:
        inner = self.root / "inner"
        self.write("inner/x.py", "1\n")
        self.git("init", "-q", cwd=inner)
        self.git("add", "-A", cwd=inner)
        self.git("commit", "-q", "-m", "c", cwd=inner)
        self.git("-c", "advice.addEmbeddedRepo=false", "add", "inner")
        self.git("commit", "-q", "-m", "a submodule of a kind")
        self.edit()
        self.write("inner/x.py", "2\n")
        for name, value in {"core.fsmonitor": str(self.trap), "filter.trap.clean": str(self.trap)}.items():
            self.git("config", name, value, cwd=inner)
        (inner / ".git" / "info" / "attributes").write_text("* filter=trap\n")
        self.ask_everything()
        self.assertFalse(self.marker.exists())

    def test_a_bare_repository_in_the_tree_is_not_taken_for_one(self) -> None:
        shutil.rmtree(self.root / ".git")
        self.git("init", "-q", "--bare", ".")
        self.git("config", "core.fsmonitor", str(self.trap))
        self.git("config", "core.bare", "false")
        self.git("config", "core.worktree", ".")
        self.assertFalse(self.asked.available())
        self.assertFalse(self.marker.exists())

    def test_our_own_git_variables_do_not_reach_git(self) -> None:
        self.edit()
        other = self.tmp / "other"
        other.mkdir()
        self.git("init", "-q", cwd=other)
        hostile = {
            "GIT_DIR": str(other / ".git"), "GIT_WORK_TREE": str(other), "GIT_INDEX_FILE": str(other / "i"),
            "GIT_EXTERNAL_DIFF": str(self.trap), "GIT_SSH_COMMAND": str(self.trap), "GIT_PAGER": str(self.trap),
            "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_CONFIG_VALUE_0": str(self.trap),
            "GIT_CONFIG_PARAMETERS": f"'diff.external={self.trap}'", "GIT_EXEC_PATH": str(self.tmp),
            "GIT_TRACE": str(self.marker), "GIT_NAMESPACE": "x", "GIT_DIFF_OPTS": "-u0", "GIT_PREFIX": "x",
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": "/x", "GIT_OBJECT_DIRECTORY": str(other), "HOME": str(self.tmp),
            "XDG_CONFIG_HOME": str(self.tmp),
        }  # fmt: skip
        (self.tmp / ".gitconfig").write_text(f"[core]\n\tfsmonitor = {self.trap}\n[diff]\n\texternal = {self.trap}\n")
        (self.tmp / "git").mkdir()
        (self.tmp / "git" / "attributes").write_text("* filter=trap\n")
        with mock.patch.dict(os.environ, hostile):
            self.ask_everything()
        self.assertFalse(self.marker.exists())

    def test_nothing_is_written_to_the_repository(self) -> None:
        def state() -> dict[str, tuple[int, int, bytes]]:
            return {
                str(path): (path.lstat().st_mtime_ns, path.lstat().st_ctime_ns, path.read_bytes() if path.is_file() else b"")
                for path in self.root.rglob("*")
            }

        self.edit()
        before = state()
        self.ask_everything()
        self.assertEqual(state(), before)

    def test_a_worktree_setting_leads_nowhere_else(self) -> None:
        elsewhere = self.tmp / "elsewhere"
        elsewhere.mkdir()
        (elsewhere / "secret").write_text("x")
        self.git("config", "core.worktree", str(elsewhere))
        self.edit()
        self.ask_everything()

    def test_pipes_in_place_of_gits_files_do_not_hang_us(self) -> None:
        self.edit()
        for name in ("config", "packed-refs", "shallow", "commondir"):
            path = self.root / ".git" / name
            saved = path.read_bytes() if path.exists() else None
            path.unlink(missing_ok=True)
            os.mkfifo(path)
            with self.subTest(name=name), mock.patch.object(git_module, "_GIT_TIMEOUT_S", 0.3):
                try:
                    self.assertEqual(len(self.asked.changed()), 4)
                except GitError as error:
                    self.assertIn("timeout", str(error))
            path.unlink()
            if saved is not None:
                path.write_bytes(saved)
        self.ask_everything()


class SettingsTest(GitCase):
    def test_gits_format_is_read_as_far_as_it_matters(self) -> None:
        (self.root / "config").write_text(
            "; comment\n# comment\n[Core]\n\tAutoCRLF = input ; why\n\tfilemode\n  [core \"sub\"]\n\tautocrlf = true\n"
            "[core] eol = \"lf\"\n\tworktree = \"a\\\\b \\\"c#\" # d\n[broken\nsymlinks = false\n[extensions]\n"
            "objectFormat = sha256\n= x\n9 = x\n"
        )
        self.assertEqual(
            gitdir._settings(self.root),
            {
                "core.autocrlf": "input",
                "core.filemode": "true",
                "core.eol": "lf",
                "core.worktree": 'a\\b "c#',
                "extensions.objectformat": "sha256",
            },
        )
        self.assertEqual(gitdir._settings(self.tmp / "missing"), {})


if __name__ == "__main__":
    unittest.main()
