"""Our own copies: private, normalised, once each."""

import stat
import threading
import unittest
from pathlib import Path

from appsecgate.scanners.stage import Stage, place_bytes, place_copy
from appsecgate.workspace import source_from_bytes
from tests.scanners.staging import StageCase


class StageTest(StageCase):
    def test_a_copy_is_the_normalised_text_in_utf8(self) -> None:
        for name, data in (
            ("bom.py", "\ufeffx = 'é'\r\ny = 2\r".encode()),
            ("utf16.py", "x = 'é'\r\ny = 2\r".encode("utf-16")),
            ("latin1.py", "x = 'é'\r\ny = 2\r".encode("latin-1")),
        ):
            with self.subTest(name):
                staged = self.put(name, data)
                self.assertEqual(staged.local.read_bytes(), "x = 'é'\ny = 2\n".encode())
                self.assertEqual((staged.path, staged.size), (name, len(data)))
                self.assertEqual(staged.sha256, source_from_bytes(name, data).sha256)

    def test_a_source_comes_back_as_it_was(self) -> None:
        for data in (
            b"x\r\ny",
            b"\xff\xfe\x00",
            "é\n".encode("utf-16"),
            b"",
            "\ud800".encode("utf-16", "surrogatepass"),
        ):
            with self.subTest(data):
                source = source_from_bytes("a.txt", data)
                staged = self.put("a.txt", data)
                again = self.stage.source("a.txt")
                self.assertEqual((again.sha256, again.encoding), (source.sha256, source.encoding))
                self.assertEqual(len(again.text), len(source.text))
                self.assertEqual(again.data, staged.local.read_bytes())

    def test_the_directory_and_the_copies_are_private(self) -> None:
        staged = self.put("a.py", "x")
        self.assertEqual(stat.S_IMODE(self.stage.root.stat().st_mode), 0o700)
        self.assertEqual(stat.S_IMODE(staged.local.stat().st_mode), 0o400)
        self.assertEqual(staged.local.parent.parent, self.stage.root)

    def test_a_copys_name_holds_nothing_of_the_projects_but_a_plain_suffix(self) -> None:
        for path, suffix in (("a/-rf.TSX", ".tsx"), ("x;$(id).py", ".py"), ("\udcff\n.é", ""), ("Makefile", "")):
            with self.subTest(path):
                self.assertRegex(self.put(path, "x").local.name, rf"\Af\d+{suffix}\Z")

    def test_equal_bytes_are_copied_once_and_other_bytes_leave_the_old_copy_alone(self) -> None:
        first, again, other = self.put("a.py", "x"), self.put("a.py", "x"), self.put("a.py", "y")
        self.assertIs(first, again)
        self.assertEqual((first.local.read_text(), other.local.read_text()), ("x", "y"))
        self.assertIs(self.stage.get("a.py"), other)
        self.assertIsNone(self.stage.get("b.py"))

    def test_several_threads_may_add(self) -> None:
        def add(number: int) -> None:
            for index in range(20):
                self.put(f"{number}/{index}.py", str(number))

        threads = [threading.Thread(target=add, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        copies = {self.stage.source(f"{number}/{index}.py").text for number in range(4) for index in range(20)}
        self.assertEqual(copies, {"0", "1", "2", "3"})

    def test_run_directories_are_fresh_and_removed(self) -> None:
        with self.stage.run_directory() as one, self.stage.run_directory() as two:
            self.assertNotEqual(one, two)
            place_bytes(one, "a/b", b"x")
        self.assertFalse(one.exists())

    def test_placed_copies_are_linked_and_survive_the_run(self) -> None:
        staged = self.put("main.tf", "x")
        with self.stage.run_directory() as directory:
            placed = place_copy(directory, "module/main.tf", staged.local)
            self.assertEqual(placed.read_text(), "x")
            with self.assertRaises(FileExistsError):
                place_copy(directory, "module/main.tf", staged.local)
        self.assertEqual(staged.local.read_text(), "x")

    def test_no_name_leaves_a_run_directory(self) -> None:
        with self.stage.run_directory() as directory:
            for name in ("/etc/x", "../x", "a/../../x", "", "a\0b"):
                with self.subTest(name), self.assertRaises(ValueError):
                    place_bytes(directory, name, b"")


class StageLifeTest(unittest.TestCase):
    def test_everything_is_gone_afterwards(self) -> None:
        with Stage() as stage:
            stage.add(source_from_bytes("a.py", b"x"))
            root = stage.root
        self.assertFalse(root.exists())

    def test_the_parent_directory_can_be_chosen(self) -> None:
        with Stage() as outer, Stage(outer.root) as inner:
            self.assertEqual(inner.root.parent, outer.root)

    def test_use_outside_the_block_is_refused(self) -> None:
        with self.assertRaises(RuntimeError):
            Stage().root  # noqa: B018

    def test_nothing_is_written_into_the_working_directory(self) -> None:
        before = sorted(Path.cwd().iterdir())
        with Stage() as stage:
            stage.add(source_from_bytes("a.py", b"x"))
        self.assertEqual(sorted(Path.cwd().iterdir()), before)
