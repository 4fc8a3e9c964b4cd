"""How many hits of one scan are kept: what is cut is counted, named, and never looks clean."""

import unittest

from appsecgate.model import (
    CUT_HITS,
    Category,
    EvidenceReason,
    EvidenceState,
    Hit,
    Scanner,
    Severity,
    TargetEvidence,
)
from appsecgate.scan.hit_limits import (
    HITS_PER_FILE,
    HITS_PER_PROJECT,
    HITS_PER_RULE,
    HITS_PER_SCAN,
    HITS_WHEN_FULL,
    MOST_HITS_PER_SCAN,
    HitRoom,
    KeptHits,
    keep_hits,
)


def hits(path: str, count: int, rule: str = "rule") -> list[Hit]:
    """Of one rule, the last line first."""
    return [
        Hit(Scanner.SEMGREP, rule, Category.SAST, Severity.HIGH, path, line, line, "m", "1") for line in range(count, 0, -1)
    ]


def target(path: str, reason: EvidenceReason = EvidenceReason.NONE, detail: str = "") -> TargetEvidence:
    state = EvidenceState.NOT_VERIFIED if reason else EvidenceState.APPLIED
    return TargetEvidence(Scanner.SEMGREP, path, "0" * 64, state, reason, detail)


class HitLimitsTest(unittest.TestCase):
    def keep(self, found: list[Hit], *targets: TargetEvidence, room: HitRoom | None = None) -> KeptHits:
        kept = keep_hits(found, targets, room or HitRoom(45))
        self.assertEqual(len(kept.hits) + kept.cut.total(), len(found))
        return kept

    def test_what_is_within_the_bounds_stays_as_it_is(self) -> None:
        found = hits("a.py", HITS_PER_RULE) + hits("b.py", HITS_PER_RULE)
        kept = self.keep(found, target("a.py"), target("b.py"))
        self.assertEqual((kept.hits, kept.targets), (found, [target("a.py"), target("b.py")]))

    def test_beyond_them_the_first_lines_are_kept_and_the_file_is_not_verified(self) -> None:
        kept = self.keep([*hits("a.py", HITS_PER_RULE + 5), *hits("b.py", 1)], target("a.py"), target("b.py"))
        of_a = [hit.line_start for hit in kept.hits if hit.path == "a.py"]
        self.assertEqual(of_a, list(range(1, HITS_PER_RULE + 1)))
        one, other = kept.targets
        self.assertEqual((one.state, one.reason), (EvidenceState.NOT_VERIFIED, EvidenceReason.PARTIAL))
        self.assertEqual(one.detail, f"{CUT_HITS}1,000 of 1,005 hits")
        self.assertEqual(other, target("b.py"))
        self.assertEqual(dict(kept.cut), {"a.py": 5})

    def test_many_rules_in_one_file_are_bounded_together(self) -> None:
        kept = self.keep([hit for rule in "abcdefgh" for hit in hits("a.py", HITS_PER_RULE, rule)], target("a.py"))
        self.assertEqual(len(kept.hits), HITS_PER_FILE)
        self.assertEqual(kept.targets[0].reason, EvidenceReason.PARTIAL)

    def test_where_there_is_no_room_files_with_few_come_first_and_the_others_are_not_reached(self) -> None:
        found = [hit for number in range(15) for hit in hits(f"many{number:02}.py", HITS_PER_RULE)] + hits("few.py", 3)
        kept = self.keep(found, *(target(path) for path in sorted({hit.path for hit in found})))
        self.assertLessEqual(len(kept.hits), HITS_PER_SCAN)
        self.assertEqual(sum(hit.path == "few.py" for hit in kept.hits), 3)
        left = {row.path for row in kept.targets if row.reason is EvidenceReason.TIME_BUDGET}
        self.assertEqual(left, set(kept.cut))
        self.assertEqual({row.path for row in kept.targets if row.state is EvidenceState.APPLIED} & left, set())
        self.assertFalse(left & {hit.path for hit in kept.hits})

    def test_runs_of_one_scan_share_the_room(self) -> None:
        room = HitRoom(45)
        for number in range(12):
            kept = self.keep(hits(f"{number}.py", HITS_PER_RULE), target(f"{number}.py"), room=room)
        self.assertEqual((room.taken, kept.hits), (HITS_PER_SCAN, []))

    def test_what_was_missing_before_is_still_said(self) -> None:
        before = target("a.py", EvidenceReason.PARSE_FAILED, "line 3: Syntax error")
        (row,) = self.keep(hits("a.py", HITS_PER_RULE + 1), before).targets
        self.assertEqual(row.reason, EvidenceReason.PARSE_FAILED)
        self.assertTrue(row.detail.startswith(before.detail))

    def test_the_room_grows_with_the_time_within_bounds(self) -> None:
        for seconds, most in ((0, HITS_PER_SCAN), (45, HITS_PER_SCAN), (100, 20_000), (float("inf"), MOST_HITS_PER_SCAN)):
            with self.subTest(seconds):
                self.assertEqual(HitRoom(seconds).most, most)

    def test_full_books_leave_little_room_and_more_time_for_storing(self) -> None:
        for in_books, most in ((0, HITS_PER_SCAN), (HITS_PER_PROJECT - 3_000, 3_000), (10**6, HITS_WHEN_FULL)):
            with self.subTest(in_books):
                self.assertEqual(HitRoom(45, in_books).most, most)
        room = HitRoom(45, 20_000)
        before = room.reserve_s
        room.take(1_000)
        self.assertGreater(room.reserve_s, before)
        self.assertGreater(before, HitRoom(45).reserve_s)


if __name__ == "__main__":
    unittest.main()
