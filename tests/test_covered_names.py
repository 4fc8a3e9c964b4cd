"""Names that are secrets: covered wherever they come from, found again by the covered name, and nothing else is hit."""

import os
import subprocess
import time
import unittest
import uuid

from appsecgate.covered import CoveredNames, glob_of
from appsecgate.model import EvidenceReason
from appsecgate.redact.kinds import SECRET_PLACEHOLDER
from appsecgate.redact.redactor import Redactor
from appsecgate.workspace import LeftOut, Source, Workspace
from tests.support import AWS_KEY, TempCase

TOKEN = "ghp_" + "a8Kd72mQpLz0Xw4Rt9Vb31NcYe6UhJs5TgFi"
GITLAB = "glpat-" + "a8Kd72mQpLz0Xw4Rt9Vb"
REDACTOR = Redactor(b"k" * 32)
HONEST_NAMES = (
    "main.py", "d41d8cd98f00b204e9800998ecf8427e", "main.0f4d3c2b1a9e8d7c6b5a.chunk.js", f"{uuid.UUID(int=7 << 90)}.json",
    "index-BX3Ck2mN.js", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855.bin", "password_reset_token.py",
    "sk-internationalization.json", "xai-very-long-descriptive-name-of-a-model-file.py", "key-rotation-and-backup.md",
    "aGVsbG8gd29ybGQgdGhpcyBpcyBiYXNlNjQ", "AKIA.txt", "a", "",
)  # fmt: skip
SECRET_NAMES = {
    f"{AWS_KEY}.txt": ".txt", f"requirements-{AWS_KEY}.txt": ".txt", f"{TOKEN}.tf.json": ".tf.json", f"{GITLAB}.py": ".py",
    TOKEN: "", f"{GITLAB}.tf.json": ".tf.json", f"x_{TOKEN}_y.tar.gz": ".tar.gz", f"{AWS_KEY}-{TOKEN}.yaml": ".yaml",
}  # fmt: skip


class NamesTest(unittest.TestCase):
    def test_what_a_build_makes_and_what_people_write_stays(self) -> None:
        for name in HONEST_NAMES:
            with self.subTest(name):
                self.assertEqual(REDACTOR.name(name), name)

    def test_a_token_is_masked_and_the_kind_of_file_still_told(self) -> None:
        for name, ending in SECRET_NAMES.items():
            with self.subTest(name):
                masked = REDACTOR.name(name)
                for secret in (AWS_KEY, TOKEN, GITLAB):
                    self.assertNotIn(secret, masked)
                self.assertRegex(masked, SECRET_PLACEHOLDER)
                self.assertTrue(masked.endswith(ending))
                self.assertEqual(REDACTOR.text(masked, entropy=True), masked)

    def test_a_name_like_a_placeholder_passes_for_no_other_file(self) -> None:
        masked = REDACTOR.name(f"{TOKEN}.py")
        forged = REDACTOR.name(masked)
        self.assertNotEqual(forged, masked)
        self.assertTrue(forged.endswith(".py"))

    def test_a_covered_path_as_a_pattern_matches_itself_alone(self) -> None:
        path = f"config/{REDACTOR.name(AWS_KEY)}.txt"
        self.assertEqual(glob_of("src/[ab]/*.py"), "src/[ab]/*.py")
        self.assertIn("[[]REDACTED", glob_of(path))


class CoveredCase(TempCase):
    def setUp(self) -> None:
        super().setUp()
        self.workspace = self.fresh()

    def fresh(self) -> Workspace:
        return Workspace.open(self.project, key=None).with_names(CoveredNames(REDACTOR.name))

    def covered(self, path: str) -> str:
        return "/".join(map(REDACTOR.name, path.split("/")))

    def text(self, workspace: Workspace, path: str) -> str:
        found = workspace.read(path, max_bytes=1_000)
        return found.text if isinstance(found, Source) else str(found.reason)


class CoveredWorkspaceTest(CoveredCase):
    def test_a_walk_names_it_covered_and_the_file_is_found_by_that_name_also_in_another_process(self) -> None:
        paths = (f"{TOKEN}/deep/{AWS_KEY}.txt", f"{TOKEN}/app.py", "plain/app.py")
        for path in paths:
            self.write(path, path)
        names = [self.covered(path) for path in paths]
        self.assertEqual(sorted(self.workspace.walk(max_files=10).paths), sorted(names))
        for path, name in zip(paths, names, strict=True):
            for workspace in (self.workspace, self.fresh()):
                with self.subTest(name):
                    self.assertEqual(self.text(workspace, name), path)
                    self.assertTrue(workspace.exists(name))
                    self.assertIsNotNone(workspace.changed_ns(name))
                    self.assertTrue(workspace.is_directory(name.rpartition("/")[0]))
                    self.assertEqual(workspace.names.on_disk(name), path)
                    for called in (path, name, str(self.project / path), str(self.project / name)):
                        self.assertEqual(self.fresh().relative(called), name)
        self.assertEqual(self.fresh().files_in(self.covered(TOKEN)), (names[1],))
        self.assertEqual(self.fresh().walk(self.covered(TOKEN), max_files=10).paths, tuple(sorted(names[:2])))

    def test_what_is_left_out_is_covered_too(self) -> None:
        self.write("elsewhere/x", "")
        (self.project / TOKEN).symlink_to("elsewhere")
        os.mkfifo(self.project / f"{AWS_KEY}.py")
        left_out = {item.path: item.reason for item in self.workspace.walk(max_files=10).left_out}
        self.assertEqual(
            left_out,
            {self.covered(TOKEN): EvidenceReason.SYMLINK, self.covered(f"{AWS_KEY}.py"): EvidenceReason.NOT_REGULAR},
        )

    def test_what_is_not_there_is_missing_and_what_comes_is_found(self) -> None:
        name = self.covered(f"{AWS_KEY}.txt")
        self.assertFalse(self.workspace.exists(name))
        self.write(f"{AWS_KEY}.txt", "came")
        self.assertEqual(self.text(self.workspace, name), "came")
        (self.project / f"{AWS_KEY}.txt").unlink()
        self.assertFalse(self.workspace.exists(name))
        self.assertFalse(self.workspace.exists(f"nowhere/{name}"))

    @unittest.skipIf(os.geteuid() == 0, "root may read everything")
    def test_where_a_directory_cannot_be_read_nothing_is_said_to_be_gone(self) -> None:
        self.write(f"closed/{AWS_KEY}.txt", "x")
        (self.project / "closed").chmod(0)
        self.addCleanup((self.project / "closed").chmod, 0o700)
        self.assertTrue(self.workspace.exists(f"closed/{self.covered(AWS_KEY)}.txt"))

    def test_a_file_called_like_a_covered_name_is_another_file(self) -> None:
        self.write(f"{TOKEN}.py", "secret name")
        forged = self.covered(f"{TOKEN}.py")
        self.write(forged, "forged name")
        paths = self.workspace.walk(max_files=10).paths
        self.assertEqual(len(set(paths)), 2)
        self.assertEqual({self.text(self.workspace, path) for path in paths}, {"secret name", "forged name"})
        self.assertEqual(self.text(self.workspace, forged), "secret name")

    def test_many_that_vanished_do_not_cost_a_listing_each(self) -> None:
        for number in range(3_000):
            (self.project / f"user_authentication_service_{number}.py").touch()
        old = time.time() - 100
        os.utime(self.project, (old, old))
        time.sleep(2.1)  # when a directory last changed cannot be set back altogether
        began = time.monotonic()
        for number in range(500):
            self.assertFalse(self.workspace.exists(self.covered(f"{TOKEN}{number}.py")))
        self.assertLess(time.monotonic() - began, 3)

    def test_a_link_to_it_is_followed_to_its_covered_name(self) -> None:
        self.write(f"{TOKEN}.py", "x")
        (self.project / "link.py").symlink_to(f"{TOKEN}.py")
        self.assertEqual(self.workspace.relative("link.py"), self.covered(f"{TOKEN}.py"))
        self.assertIsInstance(self.workspace.read("link.py", max_bytes=10), LeftOut)


class CoveredGitTest(CoveredCase):
    def git(self, *arguments: str) -> None:
        who = ("-c", "user.name=t", "-c", "user.email=t@example.invalid")
        subprocess.run(["git", *who, *arguments], cwd=self.project, check=True, capture_output=True)

    def test_questions_and_answers_are_covered(self) -> None:
        path, vendored = f"{TOKEN}/app.py", f"vendor/{AWS_KEY}.py"
        name = self.covered(path)
        self.write(path, "one\ntwo\n")
        self.write(vendored, "x\n")
        self.git("init", "-q")
        self.git("add", "-A")
        self.git("commit", "-qm", "first")
        self.write(path, "one\n2\n")
        git = self.fresh().git
        self.assertEqual(git.changed(), [name])
        self.assertEqual(git.changed_lines(name), {2})
        diff = git.diff(name)
        self.assertIn("+2", diff)
        self.assertNotIn(TOKEN, diff)
        head = git.head()
        assert head is not None
        self.assertEqual(git.text_at(head, name), "one\ntwo\n")
        self.assertEqual(git.tracked(["vendor"]), {self.covered(vendored)})
        self.assertEqual(self.fresh().walk(max_files=10).paths, (name, self.covered(vendored)))
        self.git("add", "-A")
        self.write(path, "one\n3\n")
        self.assertEqual(list(git.unseen()), [name])


if __name__ == "__main__":
    unittest.main()
