"""Pairing on one axis: the nearest first, order kept, doubts named, and never quadratic."""

import itertools
import random
import unittest

from appsecgate.identity.lines import LineGap
from appsecgate.identity.pairing import NewSpot, OldSpot, pair_spots

SAME_SIZE = LineGap(1, 5, 1, 5)
GROWN = LineGap(1, 5, 1, 9)


def changed(*positions: int, gap: LineGap | None = SAME_SIZE) -> list[OldSpot]:
    return [OldSpot(index, position, anchored=False, gap=gap) for index, position in enumerate(positions)]


def new(*positions: int) -> list[NewSpot]:
    return [NewSpot(index, position) for index, position in enumerate(positions)]


Table = tuple[tuple[tuple[int, ...], tuple[int, ...], dict[int, int]], ...]


class Nearest(unittest.TestCase):
    def test_the_nearest_are_paired_first(self) -> None:
        cases: Table = (
            ((10,), (12,), {0: 0}),
            ((10, 20), (19,), {1: 0}),
            ((10,), (8, 13), {0: 0}),
            ((10,), (8, 12), {0: 0}),  # as near: the upper one
            ((10, 14), (12,), {0: 0}),
            ((10, 20), (11, 21), {0: 0, 1: 1}),
            ((10, 12), (11, 13), {0: 0, 1: 1}),
            ((), (1,), {}),
            ((1,), (), {}),
        )
        for olds, news, want in cases:
            with self.subTest(olds=olds, news=news):
                self.assertEqual(dict(pair_spots(changed(*olds), new(*news)).pairs), want)

    def test_those_of_one_place_keep_their_order(self) -> None:
        cases = (
            ((5, 5), (5, 5), {0: 0, 1: 1}),
            ((5, 5), (7, 9), {0: 0, 1: 1}),
            ((5, 5), (1, 3), {0: 0, 1: 1}),
            ((1, 3), (5, 5), {0: 0, 1: 1}),
            ((7, 9), (5, 5), {0: 0, 1: 1}),
            ((5, 5, 5), (6, 6, 9), {0: 0, 1: 1, 2: 2}),
            ((5, 5, 5), (1, 4, 4), {0: 0, 1: 1, 2: 2}),
        )
        for olds, news, want in cases:
            with self.subTest(olds=olds, news=news):
                self.assertEqual(dict(pair_spots(changed(*olds), new(*news)).pairs), want)

    def test_pairs_do_not_cross(self) -> None:
        pairing = pair_spots(changed(10, 12, 14), new(13, 15, 17))
        self.assertEqual(dict(pairing.pairs), {0: 0, 1: 1, 2: 2})

    def test_none_is_paired_beyond_the_bound(self) -> None:
        for position, want in ((29, {0: 0}), (30, {0: 0}), (31, {})):
            with self.subTest(position=position):
                self.assertEqual(dict(pair_spots(changed(10), new(position), within=20).pairs), want)

    def test_an_unchanged_line_goes_before_an_estimate(self) -> None:
        olds = [OldSpot(0, 5, anchored=False, gap=SAME_SIZE), OldSpot(1, 5, anchored=True, gap=None)]
        pairing = pair_spots(olds, new(5))
        self.assertEqual((dict(pairing.pairs), pairing.doubtful), ({1: 0}, frozenset()))

    def test_an_unchanged_line_that_is_silent_now_comes_last(self) -> None:
        olds = [OldSpot(0, 5, anchored=True, gap=None), OldSpot(1, 20, anchored=False, gap=SAME_SIZE)]
        pairing = pair_spots(olds, new(7))
        self.assertEqual((dict(pairing.pairs), pairing.doubtful), ({1: 0}, frozenset()))

    def test_those_are_paired_that_trying_all_pairs_would_pair(self) -> None:
        draw = random.Random(3)
        for _ in range(500):
            olds = sorted(draw.sample(range(60), draw.randrange(1, 8)))
            news = sorted(draw.sample(range(60), draw.randrange(1, 8)))
            left = sorted(
                (abs(o - n), o, n, i, j) for (i, o), (j, n) in itertools.product(enumerate(olds), enumerate(news))
            )
            want: dict[int, int] = {}
            for *_, i, j in left:
                if i not in want and j not in want.values():
                    want[i] = j
            got = dict(pair_spots(changed(*olds), new(*news)).pairs)
            self.assertEqual(sorted(got), sorted(want))
            self.assertEqual([got[i] for i in sorted(got)], sorted(want.values()))
            farthest = max(abs(olds[i] - news[j]) for i, j in want.items())
            self.assertLessEqual(max(abs(olds[i] - news[j]) for i, j in got.items()), farthest)


class Doubts(unittest.TestCase):
    def test_an_equal_claim_is_a_doubt(self) -> None:
        cases: tuple[tuple[tuple[int, ...], tuple[int, ...], LineGap, set[int]], ...] = (
            ((10, 14), (12,), SAME_SIZE, {1}),
            ((10, 10), (12,), SAME_SIZE, {1}),
            ((10, 10), (10,), SAME_SIZE, {1}),
            ((10, 13), (12,), SAME_SIZE, set()),  # told apart by distance
            ((10, 13), (12,), GROWN, {0}),  # where the distance is an estimate
            ((10, 14), (12, 13), SAME_SIZE, set()),  # nobody is left over
            ((10, 14), (), SAME_SIZE, set()),
        )
        for olds, news, gap, want in cases:
            with self.subTest(olds=olds, news=news, grown=gap is GROWN):
                self.assertEqual(pair_spots(changed(*olds, gap=gap), new(*news)).doubtful, want)

    def test_one_whose_line_is_unchanged_elsewhere_leaves_no_doubt(self) -> None:
        olds = [OldSpot(0, 9, anchored=True, gap=None), OldSpot(1, 11, anchored=False, gap=GROWN)]
        self.assertEqual(pair_spots(olds, new(10)).doubtful, frozenset())

    def test_two_of_one_unchanged_line_of_which_one_is_left_are_in_doubt(self) -> None:
        olds = [OldSpot(0, 5, anchored=True, gap=None), OldSpot(1, 5, anchored=True, gap=None)]
        self.assertEqual(pair_spots(olds, new(5)).doubtful, {1})

    def test_one_that_another_diff_puts_on_a_taken_line_is_in_doubt(self) -> None:
        olds = [OldSpot(0, 5, anchored=True, gap=None), OldSpot(1, 6, anchored=False, gap=SAME_SIZE, rival=5)]
        pairing = pair_spots(olds, new(5))
        self.assertEqual((dict(pairing.pairs), pairing.doubtful), ({0: 0}, {1}))


class Many(unittest.TestCase):
    def test_thousands_are_paired_one_to_one(self) -> None:
        draw = random.Random(4)
        shapes = {
            "one place": ([1] * 20_000, [1] * 20_000),
            "two places": ([1] * 20_000, [9] * 20_000),
            "one against many": ([1] * 20_000, list(range(20_000))),
            "at random": (
                sorted(draw.randrange(10**5) for _ in range(20_000)),
                sorted(draw.randrange(10**5) for _ in range(20_000)),
            ),
        }
        for name, (olds, news) in shapes.items():
            with self.subTest(name):
                pairs = pair_spots(changed(*olds), new(*news)).pairs
                self.assertEqual(len(pairs), 20_000)
                self.assertEqual(len({i for i, _ in pairs}), len({j for _, j in pairs}))
