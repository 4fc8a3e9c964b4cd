"""Which new file is a vanished one: the same pairs as by comparing each with each, in time that does not grow so."""

import random
import unittest
from collections import Counter

from appsecgate.scan.renames import RENAME_SHARE, pair_renames, shared_lines

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


if __name__ == "__main__":
    unittest.main()
