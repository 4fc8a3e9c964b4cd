"""The project: what may be read, that nothing outside is, and what a file's bytes mean."""

import codecs
import hashlib
import os
import socket
import stat
import tempfile
import threading
import time
import unittest
from pathlib import Path
from unittest import mock

from appsecgate import beneath
from appsecgate.errors import ProjectError
from appsecgate.model import EvidenceReason
from appsecgate.workspace import (
    Encoding,
    LeftOut,
    Listing,
    Source,
    Workspace,
    decode,
    source_from_bytes,
)
from appsecgate.workspace_place import project_root
from tests.test_process import nobody

ODD_NAMES = ["a b", "-rf", ";id", "$(id)", "new\nline", "Привет", os.fsdecode(b"\xff\xfe.py"), "'\"", "*", "\\", "~"]


class DecodeTest(unittest.TestCase):
    def test_bytes_become_the_text_they_were_written_as(self) -> None:
        text = "key = 'é € Ж 漢 🎉'\n"
        latin = "key = value\n"
        cases: list[tuple[bytes, Encoding, str]] = [
            (b"", Encoding.UTF8, ""),
            (text.encode(), Encoding.UTF8, text),
            (codecs.BOM_UTF8 + text.encode(), Encoding.UTF8_BOM, text),
            (codecs.BOM_UTF16_LE + text.encode("utf-16-le"), Encoding.UTF16, text),
            (codecs.BOM_UTF16_BE + text.encode("utf-16-be"), Encoding.UTF16, text),
            (codecs.BOM_UTF32_LE + text.encode("utf-32-le"), Encoding.UTF32, text),
            (codecs.BOM_UTF32_BE + text.encode("utf-32-be"), Encoding.UTF32, text),
            (codecs.BOM_UTF16_LE, Encoding.UTF16, ""),
            (latin.encode("utf-16-le"), Encoding.UTF16, latin),
            (latin.encode("utf-16-be"), Encoding.UTF16, latin),
            ("key = 'Ж'\n".encode("utf-16-le"), Encoding.UTF16, "key = 'Ж'\n"),
            ("café €\n".encode("cp1252"), Encoding.LATIN1, "café €\n"),
            (b"caf\xe9 \x81\n", Encoding.LATIN1, "café \x81\n"),
            (codecs.BOM_UTF8 + b"caf\xe9\n", Encoding.LATIN1, "café\n"),
            ("Привет\n".encode("utf-16-le"), Encoding.BINARY, ""),
            (b"text\0with a zero", Encoding.BINARY, ""),
            (codecs.BOM_UTF8 + b"text\0", Encoding.BINARY, ""),
            (codecs.BOM_UTF16_LE + b"odd", Encoding.BINARY, ""),
            (codecs.BOM_UTF16_LE + b"\x00\xd8a\x00", Encoding.BINARY, ""),
            (codecs.BOM_UTF16_BE + "漢字".encode("utf-16-be") + b"x", Encoding.BINARY, ""),
            (b"\x01\0\x02\0\x03\0\x04\0", Encoding.BINARY, ""),
            (b"\0" * 64, Encoding.BINARY, ""),
            (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), Encoding.BINARY, ""),
            (bytes(range(1, 256)), Encoding.BINARY, ""),
        ]
        for data, encoding, want in cases:
            with self.subTest(data=data[:24]):
                self.assertEqual(decode(data), (encoding, want))

    def test_every_line_end_becomes_the_same(self) -> None:
        for ending in ("\n", "\r\n", "\r"):
            for codec in ("utf-8", "utf-16", "latin-1"):
                with self.subTest(ending=ending, codec=codec):
                    self.assertEqual(decode(f"a{ending}b\té{ending}".encode(codec))[1], "a\nb\té\n")
        self.assertEqual(decode(b"a\r\r\nb\n\rc")[1], "a\n\nb\n\nc")

    def test_other_separators_end_no_line(self) -> None:
        source = source_from_bytes("a.js", "a\x0bb\x0cc\u2028d\u2029e\x85f\x1cg\nh".encode())
        self.assertEqual(len(source.lines), 2)

    def test_python_is_read_as_its_coding_line_says(self) -> None:
        russian = "# -*- coding: {} -*-\nname = 'Привет'\n"
        cases: list[tuple[bytes, Encoding, str | None]] = [
            (russian.format("cp1251").encode("cp1251"), Encoding.DECLARED, russian.format("cp1251")),
            (russian.format("koi8-r").encode("koi8-r"), Encoding.DECLARED, russian.format("koi8-r")),
            (russian.format("utf-8").encode(), Encoding.UTF8, russian.format("utf-8")),
            (b"#!/bin/python\n# vim: set fileencoding=latin-1 :\n'\xe9'\n", Encoding.DECLARED, None),
            (b"# coding: no-such-codec\n", Encoding.UTF8, None),
            (b"# coding: ascii\n'\xe9'", Encoding.LATIN1, None),
            (b"# coding: shift_jis\n'\xff\xff'", Encoding.LATIN1, None),
            (b"x = 1\ny = 2\n# coding: utf-7\n", Encoding.UTF8, None),
            (codecs.BOM_UTF8 + b"# coding: utf-8\n", Encoding.UTF8_BOM, "# coding: utf-8\n"),
        ]
        for data, encoding, text in cases:
            with self.subTest(data=data[:40]):
                source = source_from_bytes("a.py", data)
                self.assertEqual(source.encoding, encoding)
                if text is not None:
                    self.assertEqual(source.text, text)

    def test_python_that_runs_what_no_reader_sees_counts_as_binary(self) -> None:
        hidden = (
            b"# coding: utf-7\n+AGUAdgBhAGw-(x)\n",
            b"# coding: raw_unicode_escape\n# \\u000aeval(x)\n",
            b"\n# coding=unicode-escape\n# \\neval(x)\n",
            b"#\r# coding: utf_7\r+AGUAdgBhAGw-(x)\r",
            b"\r\n# -*- coding: U7 -*-\r\n",
            b"# coding: rot13\nriny(k)\n",
            b"# coding: idna\n",
        )
        for data in hidden:
            for path in ("a.py", "A.PY", "a.pyw", "a.pyi"):
                with self.subTest(data=data, path=path):
                    source = source_from_bytes(path, data)
                    self.assertEqual((source.encoding, source.text), (Encoding.BINARY, ""))
            self.assertEqual(source_from_bytes("a.txt", data).encoding, Encoding.UTF8)


class SourceTest(unittest.TestCase):
    def test_a_source_knows_its_bytes_and_does_not_tell_them(self) -> None:
        data = b"password = 'hunter2'\r\n"
        source = source_from_bytes("a.py", data)
        self.assertEqual((source.path, source.data, source.text), ("a.py", data, "password = 'hunter2'\n"))
        self.assertEqual(source.sha256, hashlib.sha256(data).hexdigest())
        self.assertNotIn("hunter2", repr(source) + str(source))
        self.assertEqual(source, source_from_bytes("a.py", data))

    def test_lines_are_split_once_and_are_never_none(self) -> None:
        source = source_from_bytes("a", b"one\ntwo\n")
        self.assertEqual(source.lines, ["one", "two", ""])
        self.assertIs(source.lines, source.lines)
        self.assertEqual(source_from_bytes("a", b"").lines, [""])
        self.assertEqual(source_from_bytes("a", b"\0").lines, [""])

    def test_a_slice_is_what_an_editor_would_select(self) -> None:
        source = source_from_bytes("a", "первая\nsecond\n\tthird".encode())
        cases: list[tuple[tuple[int, int | None, int, int | None], str]] = [
            ((1, None, 1, None), "первая"),
            ((1, 2, 1, 4), "ер"),
            ((1, 5, 2, 4), "ая\nsec"),
            ((1, None, 3, None), "первая\nsecond\n\tthird"),
            ((2, 3, 2, None), "cond"),
            ((2, None, 2, 3), "se"),
            ((3, 1, 3, 2), "\t"),
            ((2, 1, 2, 1), ""),
            ((2, 4, 2, 2), ""),
            ((2, 1, 2, 99), "second"),
            ((0, 3, 1, 3), "пе"),
            ((3, 2, 9, 1), "third"),
            ((4, 1, 4, 2), ""),
            ((3, None, 2, None), ""),
            ((-5, None, -1, None), ""),
        ]
        for span, want in cases:
            with self.subTest(span=span):
                self.assertEqual(source.slice(*span), want)


class WorkspaceCase(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory(prefix="appsecgate-test-")
        self.addCleanup(holder.cleanup)
        self.tmp = Path(holder.name).resolve()
        self.root = self.tmp / "project"
        self.root.mkdir()
        self.outside = self.tmp / "outside"
        self.outside.mkdir()
        (self.outside / "secret").write_text("of somebody else")
        self.workspace = Workspace.open(self.root, key=None)

    def write(self, path: str, data: str | bytes = "x") -> Path:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data if isinstance(data, bytes) else data.encode())
        return target

    def read(self, path: str, max_bytes: int = 1000) -> Source | LeftOut:
        return self.workspace.read(path, max_bytes=max_bytes)

    def reason(self, path: str, max_bytes: int = 1000) -> EvidenceReason:
        found = self.read(path, max_bytes)
        self.assertIsInstance(found, LeftOut)
        assert isinstance(found, LeftOut)
        self.assertEqual(found.path, path)
        return found.reason


class OpenTest(WorkspaceCase):
    def test_a_project_is_its_real_path(self) -> None:
        link = self.tmp / "link"
        link.symlink_to(self.root)
        linked = Workspace.open(link, key=None)
        self.assertEqual(linked.root, self.root)
        want = hashlib.sha256(os.fsencode(self.root)).hexdigest()[:16]
        self.assertEqual((linked.project_id, linked.alias_default), (want, "project"))

    def test_odd_names_have_an_id_too(self) -> None:
        for name in ODD_NAMES:
            with self.subTest(name=name):
                root = self.tmp / "odd" / name
                root.mkdir(parents=True)
                self.assertEqual(len(Workspace.open(root, key=None).project_id), 16)

    def test_a_key_takes_the_paths_place(self) -> None:
        first = Workspace.open(self.root, key="team/shop")
        second = Workspace.open(self.outside, key="team/shop")
        self.assertEqual(first.project_id, second.project_id)
        self.assertEqual(first.project_id, hashlib.sha256(b"team/shop").hexdigest()[:16])
        self.assertEqual(Workspace.open(self.root, key="").project_id, self.workspace.project_id)
        Workspace.open(self.root, key=os.fsdecode(b"\xff"))

    def test_what_is_no_project_is_refused_with_the_option_to_set(self) -> None:
        (self.root / "file").write_text("")
        home = self.tmp / "home"
        home.mkdir()
        with mock.patch.dict(os.environ, {"HOME": str(home)}):
            for path in (Path("/"), Path("/../"), home, home / "x" / "..", Path("/home"), self.root / "missing",
                         self.root / "file", Path("nul\0")):  # fmt: skip
                for key in (None, "key"):
                    with self.subTest(path=path, key=key), self.assertRaises(ProjectError) as caught:
                        Workspace.open(path, key=key)
                    self.assertIn("--project", caught.exception.hint)
            self.assertEqual(Workspace.open(home.parent / "project", key=None).root, self.root)

    def test_a_user_without_a_home_has_none_to_protect(self) -> None:
        with mock.patch.object(Path, "home", side_effect=RuntimeError):
            Workspace.open(self.root, key=None)
            with self.assertRaises(ProjectError):
                Workspace.open(Path("/"), key=None)

    def test_a_bare_mount_point_needs_a_key(self) -> None:
        generic = frozenset({str(self.root)})
        with mock.patch("appsecgate.workspace_place._GENERIC_MOUNTS", generic):
            with self.assertRaises(ProjectError) as caught:
                Workspace.open(self.root, key=None)
            self.assertIn("APPSECGATE_PROJECT_KEY", caught.exception.hint)
            Workspace.open(self.root, key="shop")
            self.write("below/x")
            Workspace.open(self.root / "below", key=None)
        for mount in ("/project", "/workspace", "/app", "/src", "/code", "/repo", "/work"):
            self.assertIn(mount, project_root.__globals__["_GENERIC_MOUNTS"])

    def test_a_directory_that_cannot_be_read_is_refused(self) -> None:
        self.tmp.chmod(0o755)
        self.root.chmod(0)
        with nobody(), self.assertRaises(ProjectError):
            Workspace.open(self.root, key=None)
        self.root.chmod(0o755)


class RelativeTest(WorkspaceCase):
    def test_paths_are_taken_from_the_project(self) -> None:
        self.write("a/b.py")
        cases = {
            "a/b.py": "a/b.py",
            "./a//b.py": "a/b.py",
            "a/../a/b.py": "a/b.py",
            f"{self.root}/a/b.py": "a/b.py",
            f"{self.root}/../project/a/b.py": "a/b.py",
            f"//{self.root}/a/b.py": "a/b.py",
            ".": "",
            "a/": "a",
            str(self.root): "",
            "missing/file.py": "missing/file.py",
            "A/B.py": "A/B.py",
            " a": " a",
        }
        for path, want in cases.items():
            with self.subTest(path=path):
                self.assertEqual(self.workspace.relative(path), want)

    def test_odd_names_stay_what_they_are(self) -> None:
        for name in ODD_NAMES:
            with self.subTest(name=name):
                self.assertEqual(self.workspace.relative(f"d/{name}"), f"d/{name}")

    def test_nothing_outside_can_be_named(self) -> None:
        (self.root / "out").symlink_to(self.outside)
        (self.root / "file").symlink_to("/etc/passwd")
        (self.root / "up").symlink_to("..")
        (self.root / "chain").symlink_to("up/outside/secret")
        sibling = self.tmp / "project-2"
        sibling.mkdir()
        for path in ("..", "../", "../outside/secret", "a/../../outside", "/etc/passwd", "/", "out", "out/secret",
                     "file", "up/outside", "chain", str(self.outside), f"{self.root}-2/x", str(self.root.parent),
                     "~/../../etc/passwd/../../../../../../../etc", "../project-2"):  # fmt: skip
            with self.subTest(path=path), self.assertRaises(ProjectError) as caught:
                self.workspace.relative(path)
            self.assertIn("fixed for this session", str(caught.exception))

    def test_what_is_no_path_is_refused(self) -> None:
        for path in ("", "a\0b", "\0", "a\ud800b"):
            with self.subTest(path=path), self.assertRaises(ProjectError):
                self.workspace.relative(path)

    def test_a_link_inside_the_project_becomes_the_file_it_means(self) -> None:
        self.write("real/b.py")
        (self.root / "link.py").symlink_to("real/b.py")
        (self.root / "dir").symlink_to("real")
        self.assertEqual(self.workspace.relative("link.py"), "real/b.py")
        self.assertEqual(self.workspace.relative("dir/b.py"), "real/b.py")
        self.assertEqual(self.workspace.relative("dir/new.py"), "real/new.py")

    def test_a_name_too_long_and_a_loop_do_not_break_it(self) -> None:
        (self.root / "loop").symlink_to("loop")
        self.assertEqual(self.reason(self.workspace.relative("x" * 300)), EvidenceReason.UNREADABLE)
        self.assertEqual(self.reason(self.workspace.relative("loop")), EvidenceReason.SYMLINK)


class ReadTest(WorkspaceCase):
    def test_a_file_is_read_whole(self) -> None:
        self.write("a/b.py", b"x = 1\r\n")
        source = self.read("a/b.py")
        assert isinstance(source, Source)
        self.assertEqual((source.path, source.data, source.text), ("a/b.py", b"x = 1\r\n", "x = 1\n"))

    def test_odd_names_are_read(self) -> None:
        for name in ODD_NAMES:
            with self.subTest(name=name):
                self.write(f"d/{name}", name.encode("utf-8", "surrogateescape"))
                self.assertIsInstance(self.read(self.workspace.relative(f"d/{name}")), Source)

    def test_the_bound_is_exact(self) -> None:
        self.write("a", b"x" * 1000)
        self.assertIsInstance(self.read("a", 1000), Source)
        found = self.read("a", 999)
        self.assertEqual(found, LeftOut("a", EvidenceReason.TOO_LARGE, "1000 bytes, the limit is 999"))

    def test_a_sparse_giant_is_not_read(self) -> None:
        with open(self.root / "giant", "wb") as file:
            file.truncate(1 << 40)
        self.assertEqual(self.reason("giant"), EvidenceReason.TOO_LARGE)

    def test_what_is_no_regular_file_is_left_out_and_never_blocks(self) -> None:
        os.mkfifo(self.root / "pipe")
        (self.root / "dir").mkdir()
        (self.root / "null").symlink_to("/dev/zero")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(self.root / "sock"))
        cases = {
            "": (EvidenceReason.NOT_REGULAR, "a directory"),
            "pipe": (EvidenceReason.NOT_REGULAR, "a named pipe"),
            "sock": (EvidenceReason.NOT_REGULAR, "a socket"),
            "dir": (EvidenceReason.NOT_REGULAR, "a directory"),
            "null": (EvidenceReason.SYMLINK, ""),
            "missing": (EvidenceReason.FILE_MISSING, "No such file or directory"),
            "missing/x": (EvidenceReason.FILE_MISSING, "No such file or directory"),
            "dir/x/y": (EvidenceReason.FILE_MISSING, "No such file or directory"),
            "pipe/x": (EvidenceReason.FILE_MISSING, "a file stands where a directory is named"),
        }
        for path, (reason, detail) in cases.items():
            with self.subTest(path=path):
                self.assertEqual(self.read(path), LeftOut(path, reason, detail))
        self.assertEqual(beneath.kind_of_file(stat.S_IFCHR), "a device")
        self.assertEqual(beneath.kind_of_file(0), "not a regular file")

    def test_paths_that_could_leave_the_project_are_not_followed(self) -> None:
        self.write("a/b")
        for path in ("..", "../outside/secret", "a/../../outside/secret", "/etc/passwd", "a//b", "./a/b", "a/",
                     "a\0b"):  # fmt: skip
            with self.subTest(path=path):
                self.assertEqual(self.reason(path), EvidenceReason.OUTSIDE_PROJECT)
                self.assertIsNone(self.workspace.changed_ns(path))

    def test_links_are_not_followed_wherever_they_are_in_the_path(self) -> None:
        self.write("real/deep/b.py")
        (self.root / "link.py").symlink_to("real/deep/b.py")
        (self.root / "dir").symlink_to("real")
        (self.root / "real" / "inner").symlink_to("deep")
        (self.root / "out").symlink_to(self.outside)
        (self.root / "broken").symlink_to("nowhere")
        for path in ("link.py", "dir/deep/b.py", "real/inner/b.py", "out/secret", "broken"):
            with self.subTest(path=path):
                self.assertEqual(self.reason(path), EvidenceReason.SYMLINK)

    def test_a_directory_swapped_for_a_link_between_naming_and_reading_leads_nowhere(self) -> None:
        self.write("a/secret", "ours")
        relative = self.workspace.relative("a/secret")
        (self.root / "a").rename(self.root / "b")
        (self.root / "a").symlink_to(self.outside)
        self.assertEqual(self.reason(relative), EvidenceReason.SYMLINK)

    def test_a_race_of_swaps_never_shows_a_file_from_outside(self) -> None:
        self.write("a/secret", "ours")
        (self.root / "link").symlink_to(self.outside)
        stop = threading.Event()

        def swap() -> None:
            while not stop.is_set():
                (self.root / "a").rename(self.root / "t")
                (self.root / "link").rename(self.root / "a")
                (self.root / "a").rename(self.root / "link")
                (self.root / "t").rename(self.root / "a")

        thread = threading.Thread(target=swap)
        thread.start()
        try:
            seen = set()
            end = time.monotonic() + 0.3
            while time.monotonic() < end:
                found = self.read("a/secret")
                seen.add(found.text if isinstance(found, Source) else found.reason.value)
        finally:
            stop.set()
            thread.join()
        self.assertIn("ours", seen)
        self.assertLessEqual(seen, {"ours", EvidenceReason.SYMLINK.value, EvidenceReason.FILE_MISSING.value})

    def test_a_link_that_comes_after_the_look_is_refused_by_the_opening(self) -> None:
        self.write("a", "ours")
        self.write("d/x", "ours")
        regular = os.lstat(self.root / "a")
        folder = os.lstat(self.root / "d")
        for path in ("a", "d"):
            (self.root / path).rename(self.root / f"{path}2")
            (self.root / path).symlink_to(self.outside / "secret" if path == "a" else self.outside)
        with mock.patch.object(beneath.Folder, "status", return_value=regular):
            self.assertEqual(self.reason("a"), EvidenceReason.SYMLINK)
        with mock.patch.object(beneath.Folder, "status", return_value=folder):
            self.assertEqual(self.reason("d/secret"), EvidenceReason.FILE_MISSING)

    def test_a_pipe_that_comes_after_the_look_does_not_block(self) -> None:
        self.write("a")
        regular = os.lstat(self.root / "a")
        (self.root / "a").unlink()
        os.mkfifo(self.root / "a")
        with mock.patch.object(beneath.Folder, "status", return_value=regular):
            self.assertEqual(self.reason("a"), EvidenceReason.NOT_REGULAR)
        (self.root / "a").unlink()
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(self.root / "a"))
        with mock.patch.object(beneath.Folder, "status", return_value=regular):
            self.assertEqual(self.reason("a"), EvidenceReason.NOT_REGULAR)

    def test_a_file_written_to_while_it_is_read_is_read_again_or_left_out(self) -> None:
        path = self.write("a", "one")
        fstat = os.fstat
        changes = 1

        def changing(descriptor: int) -> os.stat_result:
            nonlocal changes
            status = fstat(descriptor)
            if changes and stat.S_ISREG(status.st_mode):
                changes -= 1
                with open(path, "ab") as file:
                    file.write(b"!")
            return status

        with mock.patch.object(os, "fstat", changing):
            source = self.read("a")
            assert isinstance(source, Source)
            self.assertEqual(source.text, "one!")
            changes = 100
            self.assertEqual(self.reason("a"), EvidenceReason.FILE_CHANGED)

    def test_what_may_not_be_read_is_said(self) -> None:
        self.tmp.chmod(0o755)
        self.write("file").chmod(0)
        self.write("dir/file")
        (self.root / "dir").chmod(0)
        with nobody():
            self.assertEqual(self.reason("file"), EvidenceReason.UNREADABLE)
            self.assertEqual(self.reason("dir/file"), EvidenceReason.UNREADABLE)
            self.assertTrue(self.workspace.exists("dir/file"))
            listing = self.workspace.walk(max_files=10)
            self.assertEqual(listing.paths, ("file",))
            self.assertEqual([entry.reason for entry in listing.left_out], [EvidenceReason.UNREADABLE])
        (self.root / "dir").chmod(0o755)

    def test_a_project_that_went_away_is_said(self) -> None:
        self.root.rename(self.tmp / "gone")
        self.assertEqual(self.reason("a"), EvidenceReason.FILE_MISSING)
        self.assertEqual(len(self.workspace.walk(max_files=5).left_out), 1)

    def test_a_name_that_this_system_cannot_have_is_unreadable(self) -> None:
        self.assertEqual(self.reason("\ud800"), EvidenceReason.UNREADABLE)


class StatusTest(WorkspaceCase):
    def test_only_what_is_certainly_gone_does_not_exist(self) -> None:
        self.write("dir/file")
        (self.root / "link").symlink_to("dir/file")
        (self.root / "dead").symlink_to("nowhere")
        (self.root / "dirlink").symlink_to("dir")
        cases = {
            "": True, "dir": True, "dir/file": True, "link": True, "dead": True, "dirlink/file": True,
            "missing": False, "dir/missing": False, "missing/file": False, "dir/file/x": False,
        }  # fmt: skip
        for path, want in cases.items():
            with self.subTest(path=path):
                self.assertEqual(self.workspace.exists(path), want)

    def test_a_change_is_seen_even_if_the_time_was_set_back(self) -> None:
        path = self.write("a", "one")
        before = self.workspace.changed_ns("a")
        assert before is not None
        time.sleep(0.02)
        path.write_text("two")
        os.utime(path, ns=(0, 0))
        after = self.workspace.changed_ns("a")
        assert after is not None
        self.assertGreater(after, before)
        self.assertIsNone(self.workspace.changed_ns("missing"))


    def test_a_directory_is_one_only_in_itself(self) -> None:
        self.write("dir/file")
        (self.root / "link").symlink_to("dir")
        for path, want in {"": True, "dir": True, "dir/file": False, "link": False, "missing": False}.items():
            with self.subTest(path=path):
                self.assertEqual(self.workspace.is_directory(path), want)

    def test_the_files_beside_a_file_are_the_regular_ones_and_the_links(self) -> None:
        for path in ("b.tf", "dir/a.tf", "dir/b.tf", "dir/inner/c.tf"):
            self.write(path)
        (self.root / "dir" / "link.tf").symlink_to("a.tf")
        os.mkfifo(self.root / "dir" / "pipe.tf")
        self.assertEqual(self.workspace.files_in("dir"), ("dir/a.tf", "dir/b.tf", "dir/link.tf"))
        self.assertEqual(self.workspace.files_in(""), ("b.tf",))
        for path in ("missing", "../outside", "b.tf", "dir/pipe.tf"):
            self.assertEqual(self.workspace.files_in(path), ())


class WalkTest(WorkspaceCase):
    def walk(self, start: str = "", max_files: int = 1000) -> Listing:
        return self.workspace.walk(start, max_files=max_files)

    def reasons(self, listing: Listing) -> dict[str, EvidenceReason]:
        return {entry.path: entry.reason for entry in listing.left_out}

    def test_files_come_sorted_and_tests_are_not_left_out(self) -> None:
        for path in ("b.py", "a/z.py", "a/b/c.py", "tests/test_x.py", "Z.py", ".env", "dist/x.js", "build/y.c"):
            self.write(path)
        listing = self.walk()
        self.assertEqual(listing.paths, (".env", "Z.py", "a/b/c.py", "a/z.py", "b.py", "build/y.c", "dist/x.js",
                                         "tests/test_x.py"))  # fmt: skip
        self.assertEqual((listing.left_out, listing.truncated), ((), False))

    def test_odd_names_are_found(self) -> None:
        for name in ODD_NAMES:
            self.write(f"{name}/{name}")
        found = self.walk().paths
        self.assertEqual(sorted(found), sorted(f"{name}/{name}" for name in ODD_NAMES))
        for path in found:
            self.assertIsInstance(self.read(path), Source)

    def test_a_walk_can_start_below_or_at_a_file(self) -> None:
        self.write("a/b/c.py")
        self.write("a/d.py")
        self.write("e.py")
        self.assertEqual(self.walk("a").paths, ("a/b/c.py", "a/d.py"))
        self.assertEqual(self.walk("a/d.py").paths, ("a/d.py",))
        for start, reason in (("missing", EvidenceReason.FILE_MISSING), ("../outside", EvidenceReason.OUTSIDE_PROJECT)):
            self.assertEqual(self.reasons(self.walk(start)), {start: reason})

    def test_what_is_no_regular_file_is_named_with_its_reason(self) -> None:
        self.write("real/a.py")
        os.mkfifo(self.root / "pipe")
        (self.root / "link").symlink_to("real/a.py")
        (self.root / "dirlink").symlink_to("real")
        (self.root / "loop").symlink_to(".")
        (self.root / "out").symlink_to(self.outside)
        (self.root / "etc").symlink_to("/etc/passwd")
        listing = self.walk()
        self.assertEqual(listing.paths, ("real/a.py",))
        self.assertEqual(
            self.reasons(listing),
            {
                "pipe": EvidenceReason.NOT_REGULAR,
                "link": EvidenceReason.SYMLINK,
                "dirlink": EvidenceReason.SYMLINK,
                "loop": EvidenceReason.SYMLINK,
                "out": EvidenceReason.OUTSIDE_PROJECT,
                "etc": EvidenceReason.OUTSIDE_PROJECT,
            },
        )
        self.assertEqual(self.reasons(self.walk("out")), {"out": EvidenceReason.OUTSIDE_PROJECT})
        self.assertEqual(self.reasons(self.walk("out/x")), {"out/x": EvidenceReason.SYMLINK})

    def test_vendored_directories_are_named_and_walked_only_when_asked_for(self) -> None:
        for folder in ("node_modules", "a/.venv", "vendor", ".git", "b/__pycache__"):
            self.write(f"{folder}/inner/x.py")
        for name in ("HEAD", "objects/x", "refs/x"):
            self.write(f"x/.GIT/{name}")
        self.write("env/pyvenv.cfg")
        self.write("env/lib/y.py")
        self.write("main.py")
        listing = self.walk()
        self.assertEqual(listing.paths, ("main.py",))
        self.assertEqual(
            self.reasons(listing),
            dict.fromkeys(
                (".git", "a/.venv", "b/__pycache__", "env", "node_modules", "vendor", "x/.GIT"),
                EvidenceReason.VENDORED,
            ),
        )
        self.assertEqual(self.walk("node_modules").paths, ("node_modules/inner/x.py",))
        self.assertEqual(self.walk("env").paths, ("env/lib/y.py", "env/pyvenv.cfg"))

    def test_the_name_of_a_git_directory_hides_nothing(self) -> None:
        for path in ("lib/.git/evil.py", "a/.GIT/evil.py", ".Git/evil.py", "b/.git/HEAD", "b/.git/evil.py"):
            self.write(path)
        self.write("c/.git", "gitdir: ../d\n")
        self.assertEqual(
            self.walk().paths,
            (".Git/evil.py", "a/.GIT/evil.py", "b/.git/HEAD", "b/.git/evil.py", "c/.git", "lib/.git/evil.py"),
        )

    def test_a_link_to_where_no_walk_goes_is_named(self) -> None:
        for path in ("vendor/a.py", "env/pyvenv.cfg", "env/a.py", ".git/a.py"):
            self.write(path)
        for name, target in (
            ("dir", "vendor"), ("file.py", "vendor/a.py"), ("env.py", "env/a.py"), ("own.py", ".git/a.py"),
            ("none.py", "vendor/none.py"),
        ):  # fmt: skip
            (self.root / name).symlink_to(target)
        left_out = self.reasons(self.walk())
        for name in ("dir", "file.py", "env.py", "own.py"):
            self.assertEqual(left_out[name], EvidenceReason.OUTSIDE_PROJECT, name)
        self.assertEqual(left_out["none.py"], EvidenceReason.SYMLINK)

    def test_the_number_of_files_is_bounded_and_said(self) -> None:
        for number in range(20):
            self.write(f"d{number % 3}/{number:02}")
        for max_files, truncated in ((19, True), (20, False), (21, False), (1, True), (0, True)):
            with self.subTest(max_files=max_files):
                listing = self.walk(max_files=max_files)
                self.assertEqual((len(listing.paths), listing.truncated), (min(max_files, 20), truncated))

    def test_a_heap_of_links_is_bounded_too(self) -> None:
        for number in range(1100):
            (self.root / f"l{number}").symlink_to("x")
        listing = self.walk(max_files=1)
        self.assertTrue(listing.truncated)
        self.assertLessEqual(len(listing.left_out), 1008)

    def test_the_depth_is_bounded_and_said(self) -> None:
        descriptor = os.open(self.root, os.O_RDONLY)
        for _ in range(400):
            os.mkdir("deep-directory", dir_fd=descriptor)
            inner = os.open("deep-directory", os.O_RDONLY, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        os.close(descriptor)
        self.write("top.py")
        listing = self.walk()
        self.assertEqual((listing.paths, listing.truncated), (("top.py",), True))
        self.assertEqual([entry.reason for entry in listing.left_out], [EvidenceReason.TOO_MANY_FILES])

    def test_an_entry_that_goes_away_is_no_error(self) -> None:
        self.write("a")
        with mock.patch("appsecgate.workspace._Walk._other", side_effect=PermissionError(13, "no")):
            self.assertEqual(self.reasons(self.walk()), {"a": EvidenceReason.UNREADABLE})
        self.write("d/x")
        with mock.patch.object(beneath.Folder, "entries", side_effect=beneath.NotReadError(EvidenceReason.UNREADABLE)):
            self.assertEqual(self.reasons(self.walk()), {"": EvidenceReason.UNREADABLE})


class WithoutDescriptorsTest(ReadTest, WalkTest):
    """The same where a name cannot be opened relative to a directory (Windows)."""

    def setUp(self) -> None:
        super().setUp()
        patcher = mock.patch.object(beneath, "_BY_DESCRIPTOR", False)
        patcher.start()
        self.addCleanup(patcher.stop)

    test_a_race_of_swaps_never_shows_a_file_from_outside = None  # type: ignore[assignment]
    test_a_link_that_comes_after_the_look_is_refused_by_the_opening = None  # type: ignore[assignment]
    test_the_depth_is_bounded_and_said = None  # type: ignore[assignment]


if __name__ == "__main__":
    unittest.main()
