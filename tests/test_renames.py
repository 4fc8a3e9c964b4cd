"""Which new file is a vanished one: the same pairs as by comparing each with each, in time that does not grow so."""

import random
import time
import unittest
from collections import Counter

from appsecgate.identity.lines import line_hashes
from appsecgate.process import CancelToken
from appsecgate.scan.renames import (
    MAX_RENAME_LINES,
    NOT_FOLLOWED,
    RENAME_SHARE,
    TooManyRenamesError,
    find_renames,
    pair_renames,
    shared_lines,
)
from appsecgate.scan.result import Notice, ScanKind, ScanRequest
from appsecgate.scan.run import run_scan
from appsecgate.session import Control, Session
from appsecgate.store.scans import FileShape
from appsecgate.tools.scanned import view_notices
from appsecgate.workspace import source_from_bytes
from tests.support import TempCase, options

Texts = dict[str, list[bytes]]


def by_comparing_all(gone: Texts, new: Texts) -> dict[str, str]:
    scores = [
        (-share, old.rpartition("/")[2] != path.rpartition("/")[2], old, path)
        for path, lines in new.items()
        for old, old_lines in gone.items()
        if (share := shared_lines(Counter(old_lines), Counter(lines))) >= RENAME_SHARE
    ]
    renames: dict[str, str] = {}
    for _, _, old, path in sorted(scores):
        if path not in renames and old not in renames.values():
            renames[path] = old
    return renames


class RenamesTest(unittest.TestCase):
    def test_half_of_the_lines_make_a_rename_and_less_does_not(self) -> None:
        old = [b"1", b"2", b"3", b"4"]
        for lines, want in (([b"1", b"2"], {"new": "old"}), ([b"1"], {}), ([b"1"] * 9, {}), ([], {})):
            with self.subTest(lines=lines):
                self.assertEqual(pair_renames({"old": old}, {"new": lines}), want)
        self.assertEqual(pair_renames({"old": []}, {"new": []}), {})

    def test_the_same_name_elsewhere_breaks_a_tie(self) -> None:
        text = [b"1", b"2"]
        self.assertEqual(pair_renames({"a/x.py": text}, {"b/a.py": text, "b/x.py": text}), {"b/x.py": "a/x.py"})

    def test_the_short_way_finds_what_comparing_all_finds(self) -> None:
        for seed in range(300):
            dice = random.Random(seed)
            alphabet = [bytes([code]) for code in range(dice.randint(2, 30))]

            def texts(start: str, dice: random.Random = dice, alphabet: list[bytes] = alphabet) -> Texts:
                return {
                    f"{start}{dice.choice('xy')}/{number}": dice.choices(alphabet, k=dice.randint(0, 12))
                    for number in range(dice.randint(0, 6))
                }

            gone, new = texts("a"), texts("b")
            with self.subTest(seed=seed):
                self.assertEqual(pair_renames(gone, new), by_comparing_all(gone, new))

    def test_what_cannot_be_told_in_time_is_not_told(self) -> None:
        texts = {str(number): [b"%d" % line for line in range(400)] for number in range(400)}
        began = time.monotonic()
        with self.assertRaises(TooManyRenamesError):
            pair_renames({f"old/{name}": lines for name, lines in texts.items()}, texts, time.monotonic() + 0.3)
        self.assertLess(time.monotonic() - began, 3)


class FindRenamesTest(TempCase):
    def setUp(self) -> None:
        super().setUp()
        self.session = Session(options(self.project, self.data))
        self.addCleanup(self.session.close)
        text = "".join(f"line {number}\n" for number in range(50))
        source = source_from_bytes("old.py", text.encode())
        with self.session.store.write() as writer:
            shape = FileShape("old.py", source.sha256, line_hashes(source, self.session.store.key), "")
            writer.put_shapes(self.session.project_id, [shape])
        self.write("new.py", text)

    def test_a_renamed_file_is_found(self) -> None:
        self.assertEqual(find_renames(self.session, ["old.py"], ["new.py"]), ({"new.py": "old.py"}, ()))

    def test_out_of_time_or_of_room_none_is_claimed_and_that_is_said(self) -> None:
        self.write("huge.py", "\n" * (MAX_RENAME_LINES + 1))
        for paths, seconds in ((["new.py"], -1.0), (["huge.py", "new.py"], 60.0)):
            with self.subTest(paths):
                renames, (notice,) = find_renames(self.session, ["old.py"], paths, seconds)
                self.assertEqual((renames, notice.what), ({}, NOT_FOLLOWED))

    def test_the_notice_reaches_the_result(self) -> None:
        request = ScanRequest(ScanKind.PROJECT, ("new.py",), notices=(Notice(".", NOT_FOLLOWED),))
        result = run_scan(self.session, request, Control(CancelToken(), time.monotonic() + 30))
        self.assertIn("not followed", str(view_notices(result)))


if __name__ == "__main__":
    unittest.main()
