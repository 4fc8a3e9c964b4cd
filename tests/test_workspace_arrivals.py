"""Files that arrived since a moment: changed, renamed, backdated, vendored, or brought along by a directory."""

import os
import tempfile
import time
import unittest
from pathlib import Path

from appsecgate.workspace_arrivals import arrivals_since


class ArrivalsTest(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory(prefix="appsecgate-test-")
        self.addCleanup(holder.cleanup)
        self.root = Path(holder.name).resolve()

    def write(self, path: str) -> Path:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("x\n")
        return target

    def moment(self) -> int:
        time.sleep(0.05)
        now = time.time_ns()
        time.sleep(0.05)
        return now

    def test_what_changed_is_found_wherever_it_is(self) -> None:
        self.write("old.py")
        moment = self.moment()
        self.write("node_modules/x/new.js")
        self.write(".git/new.py")
        os.utime(self.write("backdated.py"), ns=(0, 0))
        self.write("b/new.py")
        found = arrivals_since(self.root, moment, [], max_files=10)
        self.assertEqual(found.paths, ("b/new.py", "backdated.py", "node_modules/x/new.js"))
        self.assertTrue(found.complete)

    def test_what_came_with_a_directory_is_found_whatever_it_is_called(self) -> None:
        self.write("src/inner/app.py")
        self.write("src/inner/rest.py")
        moment = self.moment()
        (self.root / "src").rename(self.root / "lib")
        found = arrivals_since(self.root, moment, ["app.py"], max_files=10)
        self.assertEqual(found.paths, ("lib/inner/app.py", "lib/inner/rest.py"))
        self.assertEqual(found.carried, set(found.paths))

    def test_below_a_directory_that_only_got_a_file_the_old_ones_count_by_name_or_if_they_were_unknown(self) -> None:
        for path in ("src/app.py", "src/rest.py", "src/strange.py"):
            self.write(path)
        moment = self.moment()
        self.write("src/new.py")
        found = arrivals_since(
            self.root, moment, ["app.py"], max_files=10, unknown=lambda path: path == "src/strange.py"
        )
        self.assertEqual(found.paths, ("src/new.py", "src/app.py", "src/strange.py"))
        self.assertEqual(found.carried, set())

    def test_only_the_projects_own_git_directory_is_left_out(self) -> None:
        moment = self.moment()
        for path in (".git/a.py", "lib/.git/b.py", "lib/.GIT/c.py"):
            self.write(path)
        found = arrivals_since(self.root, moment, [], max_files=10)
        self.assertEqual(found.paths, ("lib/.GIT/c.py", "lib/.git/b.py"))

    def test_other_peoples_files_come_last_and_may_be_cut(self) -> None:
        moment = self.moment()
        for path in ("a/node_modules/one.js", "b.js", "c.js"):
            self.write(path)
        found = arrivals_since(self.root, moment, [], max_files=2)
        self.assertEqual((found.paths, found.complete), (("b.js", "c.js"), True))
        self.assertEqual(arrivals_since(self.root, moment, [], max_files=1).complete, False)

    def test_links_and_pipes_are_not_followed(self) -> None:
        moment = self.moment()
        (self.root / "link.py").symlink_to("/etc/passwd")
        (self.root / "up").symlink_to("/")
        os.mkfifo(self.root / "pipe.py")
        found = arrivals_since(self.root, moment, [], max_files=10)
        self.assertEqual(found.paths, ())
        self.assertEqual([path for path, _ in found.links], ["link.py", "up"])
