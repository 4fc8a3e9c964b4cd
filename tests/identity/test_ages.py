"""Ages of lines: what was there keeps its age, wherever it stands now; what is new came with the last change."""

import unittest

from appsecgate.identity.ages import carry_ages, pack_ages, runs_of, unpack_ages
from appsecgate.identity.lines import HASH_BYTES


def joined(lines: str) -> bytes:
    return b"".join(line.encode().ljust(HASH_BYTES) for line in lines)


class AgesTest(unittest.TestCase):
    def test_lines_keep_their_age_and_new_ones_have_the_last_changes(self) -> None:
        cases: tuple[tuple[str, list[int], str, list[int]], ...] = (
            ("", [], "ab", [9, 9]),
            ("ab", [1, 2], "ab", [1, 2]),
            ("ab", [1, 2], "axb", [1, 9, 2]),
            ("ab", [1, 2], "xxab", [9, 9, 1, 2]),
            ("abc", [1, 2, 3], "bca", [2, 3, 1]),
            ("ab", [1, 2], "aab", [9, 1, 2]),
            ("aab", [1, 2, 3], "b", [3]),
            ("ab", [1], "ab", [9, 9]),
        )
        for old, ages, new, expected in cases:
            with self.subTest(old=old, new=new):
                self.assertEqual(sorted(carry_ages(joined(old), ages, joined(new), 9)), sorted(expected))

    def test_packing_is_undone_by_unpacking(self) -> None:
        for ages in ([], [5], [5, 5, 5], [1, 2, 2, 1]):
            self.assertEqual(unpack_ages(pack_ages(ages)), ages)
        for text in ("x", "1", "1*", "*2", "1*2,z"):
            self.assertEqual(unpack_ages(text), [])

    def test_runs_are_found_as_wholes(self) -> None:
        lines = [b"a", b"b", b"a", b"b", b"c"]
        self.assertEqual(runs_of(lines, [b"a", b"b"]), [0, 2])
        self.assertEqual(runs_of(lines, [b"b", b"c"]), [3])
        self.assertEqual(runs_of(lines, []), [])
