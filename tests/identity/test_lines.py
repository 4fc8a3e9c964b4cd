"""Line maps: unchanged lines are found, nothing else is mapped, and no text makes them slow."""

import random
import unittest

from appsecgate.identity.lines import HASH_BYTES, LineGap, LineMap, line_hashes, split_line_hashes
from tests.identity.toy import KEY, line_map, source


def joined(lines: str) -> bytes:
    """One line per character."""
    return b"".join(character.encode().ljust(HASH_BYTES) for character in lines)


def numbered(lines: list[int]) -> bytes:
    return b"".join(number.to_bytes(HASH_BYTES, "big") for number in lines)


def mapped(old: str, new: str) -> str:
    """The old lines, each with the number of its new line, ``-`` where it has none."""
    lines = LineMap(joined(old), joined(new))
    return " ".join(f"{line}{lines.new_line(n) or '-'}" for n, line in enumerate(old, 1))


class LineHashes(unittest.TestCase):
    def test_each_line_has_eight_keyed_bytes(self) -> None:
        hashes = line_hashes(source("a.py", "a\nb\n\na\n"), KEY)
        first, second, blank, again, end = split_line_hashes(hashes)
        self.assertEqual((len(hashes), first, blank), (40, again, end))
        self.assertEqual(len({first, second, blank}), 3)
        self.assertNotIn(first, line_hashes(source("a.py", "a"), b"another key"))

    def test_margins_and_runs_of_blanks_do_not_count(self) -> None:
        want = line_hashes(source("a.py", "if a:\nb = 1"), KEY)
        for text in ("  if a:\n\tb = 1", "if  a:\nb\t=   1  ", "if a:\r\nb = 1"):
            with self.subTest(text=text):
                self.assertEqual(line_hashes(source("a.py", text), KEY), want)

    def test_bytes_that_are_no_text_are_hashed_too(self) -> None:
        self.assertEqual(len(line_hashes(source("a.py", "\ufffe\U0010ffff"), KEY)), HASH_BYTES)


class Maps(unittest.TestCase):
    def test_unchanged_lines_are_found(self) -> None:
        cases = (
            ("abc", "abc", "a1 b2 c3"),
            ("abc", "xyabc", "a3 b4 c5"),
            ("abc", "ac", "a1 b- c2"),
            ("abc", "axc", "a1 b- c3"),
            ("abc", "", "a- b- c-"),
            ("aaa", "aa", "a1 a2 a-"),
            ("abcde", "deabc", "a3 b4 c5 d- e-"),  # the longer of two moved blocks
            ("sxsy", "txsy", "s- x2 s3 y4"),
            ("sxsy", "sxty", "s1 x2 s- y4"),
            ("ss", "ts", "s- s2"),
            ("ss", "st", "s1 s-"),
            ("ss", "tus", "s- s3"),
            ("{s}{s}", "{s}{t}", "{1 s2 }3 {4 s- }6"),
            ("{s}{s}", "{t}{s}", "{1 s- }3 {4 s5 }6"),
            ("i{s}{s}", "jk{t}{s}", "i- {3 s- }5 {6 s7 }8"),
            ("abab", "babab", "a2 b3 a4 b5"),
        )
        for old, new, want in cases:
            with self.subTest(old=old, new=new):
                self.assertEqual(mapped(old, new), want)

    def test_a_changed_line_is_near_what_replaced_it(self) -> None:
        cases = (
            ("abc", "axc", 2, 2, LineGap(2, 1, 2, 1)),
            ("abc", "awxyzc", 2, 2, LineGap(2, 1, 2, 4)),
            ("a123z", "aqqqqqqqqqz", 3, 5, LineGap(2, 3, 2, 9)),  # each of three lines became three
            ("a123z", "aqqqqqqqqqz", 4, 8, LineGap(2, 3, 2, 9)),
            ("abc", "ac", 2, 2, LineGap(2, 1, 2, 0)),
            ("abc", "ab", 3, 2, LineGap(3, 1, 3, 0)),
            ("abc", "bc", 1, 1, LineGap(1, 1, 1, 0)),
            ("abc", "xabc", 3, 4, None),
        )
        for old, new, line, want, gap in cases:
            with self.subTest(old=old, new=new, line=line):
                lines = LineMap(joined(old), joined(new))
                self.assertEqual((lines.nearest(line), lines.gap(line)), (want, gap))

    def test_where_another_diff_is_as_good_a_line_has_a_rival_place(self) -> None:
        cases = (
            ("ss", "s", [(1, None), (None, 1)]),  # which one was removed?
            ("sss", "ss", [(1, None), (2, 1), (None, 2)]),
            ("ss", "fs", [(None, None), (2, 2)]),  # replaced: no other diff is as short
            ("ss", "qfs", [(None, None), (3, 3)]),
            ("asbs", "asb", [(1, 1), (2, 2), (3, 3), (None, None)]),
            ("ss", "sss", [(1, 1), (2, 2)]),  # nothing was removed
        )
        for old, new, want in cases:
            with self.subTest(old=old, new=new):
                lines = LineMap(joined(old), joined(new))
                got = [(lines.new_line(n), lines.rival_line(n)) for n in range(1, len(old) + 1)]
                self.assertEqual(got, want)

    def test_a_replaced_line_is_one_edit(self) -> None:
        self.assertEqual(mapped("ssx", "fsy"), "s- s2 x-")
        self.assertEqual(mapped("xss", "ysf"), "x- s2 s-")

    def test_lines_that_never_were_have_a_place_too(self) -> None:
        lines = LineMap(joined("abc"), joined("xabc"))
        self.assertEqual([lines.new_line(n) for n in (-1, 0, 4, 10**9)], [None] * 4)
        for line in (-1, 0, 4, 10**9):
            self.assertIn(lines.nearest(line), range(1, 5))
        self.assertEqual(LineMap(joined("abc"), b"").nearest(2), 1)

    def test_where_the_old_text_is_unknown_nothing_is_taken_to_have_moved(self) -> None:
        lines = LineMap(b"", joined("abcdef"))
        self.assertEqual([lines.nearest(n) for n in (1, 4, 99)], [1, 4, 6])
        self.assertIsNone(lines.new_line(4))

    def test_reindented_code_keeps_its_lines(self) -> None:
        lines = line_map("a = 1\nb(a)\n", "try:\n    a = 1\n    b(a)\nexcept E:\n    pass\n")
        self.assertEqual([lines.new_line(1), lines.new_line(2)], [2, 3])


class HostileTexts(unittest.TestCase):
    """Each of these took minutes with a quadratic alignment; here the suite would stand still."""

    def check(self, old: list[int], new: list[int]) -> LineMap:
        lines = LineMap(numbered(old), numbered(new))
        pairs = [(n, lines.new_line(n)) for n in range(1, len(old) + 1)]
        targets = [target for _, target in pairs if target is not None]
        self.assertEqual(targets, sorted(set(targets)))
        self.assertTrue(all(target is None or old[n - 1] == new[target - 1] for n, target in pairs))
        return lines

    def test_a_hundred_thousand_equal_lines(self) -> None:
        lines = self.check([1] * 100_000, [1] * 99_000)
        self.assertEqual(lines.new_line(99_000), 99_000)

    def test_a_hundred_thousand_other_lines(self) -> None:
        lines = self.check(list(range(100_000)), list(range(100_000, 200_000)))
        self.assertEqual(lines.nearest(50_000), 50_000)

    def test_a_hundred_thousand_lines_in_reverse(self) -> None:
        self.check(list(range(100_000)), list(range(100_000))[::-1])

    def test_two_kinds_of_lines_at_random(self) -> None:
        draw = random.Random(1)
        self.check([draw.randrange(2) for _ in range(50_000)], [draw.randrange(2) for _ in range(50_000)])

    def test_blank_lines_between_all_others(self) -> None:
        old = [n // 2 if n % 2 else 0 for n in range(50_000)]
        new = [*old[:25_000], 7, 7, 7, *old[25_000:]]
        self.assertEqual(self.check(old, new).new_line(50_000), 50_003)

    def test_anchors_that_appear_one_by_one(self) -> None:
        """Each region has one line that occurs once, and it cuts off one line that hides the next."""
        depth = 4000
        old: list[int] = []
        for n in range(depth):
            old = [n + 1, n, *old] if n % 2 else [*old, n, n + 1]
        new = old[:]
        new.insert(len(new) // 2, -1 % 2**63)
        self.check([2**40, *old, 2**41], [2**42, *new, 2**43])

    def test_insertions_alone_lose_no_line(self) -> None:
        draw = random.Random(2)
        for _ in range(300):
            old = [draw.randrange(6) for _ in range(draw.randrange(1, 40))]
            new = list(old)
            for _ in range(draw.randrange(8)):
                new.insert(draw.randrange(len(new) + 1), draw.randrange(6))
            lines = self.check(old, new)
            self.assertNotIn(None, [lines.new_line(n) for n in range(1, len(old) + 1)])
