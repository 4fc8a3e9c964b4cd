"""Identity under random edits. Needs hypothesis; without it the module says so and is skipped."""

import difflib
import sys
import unittest

from appsecgate.identity.fingerprint import logical_id
from appsecgate.identity.lines import HASH_BYTES, LineMap
from tests.identity.toy import Memory, ids_by_code

try:
    from hypothesis import example, given, settings
    from hypothesis import strategies as st
except ImportError:
    print(
        "tests.identity.test_properties: hypothesis is not installed, property tests do not run",
        file=sys.stderr,
    )
    raise unittest.SkipTest("hypothesis is not installed") from None

PROPERTY = settings(max_examples=120, deadline=None, database=None)
SMALL_TEXT = st.lists(st.sampled_from("abcde "), max_size=14)
FILLERS = ("", "x = 1", "y = x", "# note", "return x", "z(y)")
PLACES = st.integers(0, 10**6)
PATHS = st.sampled_from(("a.py", "a.js"))


def joined(lines: list[str]) -> bytes:
    return b"".join(line.encode().ljust(HASH_BYTES) for line in lines)


@st.composite
def programs(draw: st.DrawFn, *, distinct: bool = False) -> list[str]:
    """Functions with fillers and sinks; equal sinks are as likely as others unless ``distinct``."""
    lines: list[str] = []
    for number in range(draw(st.integers(1, 4))):
        lines.append(f"def f{number}(a):")
        for part in range(draw(st.integers(1, 5))):
            sink = f"sink({number}{part})" if distinct else f"sink({draw(st.sampled_from('ab'))})"
            lines.append("    " + draw(st.sampled_from((sink, *FILLERS[1:4]))))
        lines.append("")
    return lines


@st.composite
def edited(draw: st.DrawFn, lines: list[str]) -> list[str]:
    """Removals of lines that no rule flags, insertions of lines that are nowhere else; it still parses.

    (A line removed here and inserted there is the same edit as one that moves what is between.)
    """
    result = list(lines)
    for _ in range(draw(st.integers(0, 8))):
        at = draw(PLACES) % (len(result) + 1)
        inside = at < len(result) and result[at].startswith("    ")
        removable = 0 < at < len(result) - 1 and result[at].strip() in FILLERS
        if draw(st.booleans()) and removable and not result[at - 1].startswith("def"):
            del result[at]
        else:
            result.insert(at, f"{'    ' if inside else ''}# {draw(PLACES)} {len(result)}")
    return result


class Maps(unittest.TestCase):
    @PROPERTY
    @given(SMALL_TEXT, SMALL_TEXT)
    @example(list("abab"), list("baba"))
    def test_a_map_is_monotone_and_maps_equal_lines_alone(self, old: list[str], new: list[str]) -> None:
        lines = LineMap(joined(old), joined(new))
        found = [(n, lines.new_line(n)) for n in range(1, len(old) + 1)]
        targets = [target for _, target in found if target is not None]
        self.assertEqual(targets, sorted(set(targets)))
        for n, target in found:
            if target is not None:
                self.assertEqual(old[n - 1], new[target - 1])
        near = [lines.nearest(n) for n in range(1, len(old) + 1)]
        self.assertEqual(near, sorted(near))

    @PROPERTY
    @given(SMALL_TEXT, st.lists(st.tuples(PLACES, st.sampled_from("abcdexyz")), max_size=6), st.booleans())
    def test_where_one_text_is_within_the_other_it_finds_as_many_lines_as_difflib(
        self, short: list[str], insertions: list[tuple[int, str]], backwards: bool
    ) -> None:
        long = list(short)
        for place, line in insertions:
            long.insert(place % (len(long) + 1), line)
        old, new = (long, short) if backwards else (short, long)
        lines = LineMap(joined(old), joined(new))
        blocks = difflib.SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
        mapped = sum(lines.new_line(n) is not None for n in range(1, len(old) + 1))
        self.assertGreaterEqual(mapped, sum(block.size for block in blocks))
        self.assertEqual(mapped, len(short))


class Identity(unittest.TestCase):
    @PROPERTY
    @given(st.data(), PATHS)
    def test_edits_beside_the_flagged_lines_keep_every_id(self, data: st.DataObject, path: str) -> None:
        lines = data.draw(programs(distinct=True))
        memory = Memory({path: "\n".join(lines)})
        for _ in range(3):
            lines = data.draw(edited(lines))
            done = memory.edit("\n".join(lines), path)
            self.assertEqual(ids_by_code(done), ids_by_code(memory.first))
            self.assertEqual((done.appeared, done.vanished), ((), ()))

    @PROPERTY
    @given(st.data(), PATHS)
    def test_equal_ones_keep_their_ids_in_order(self, data: st.DataObject, path: str) -> None:
        lines = data.draw(programs())
        memory = Memory({path: "\n".join(lines)})
        done = memory.edit("\n".join(data.draw(edited(lines))), path)
        before = [f.logical_id for f in sorted(memory.first.findings, key=lambda f: f.line_start)]
        self.assertEqual([f.logical_id for f in sorted(done.findings, key=lambda f: f.line_start)], before)

    @PROPERTY
    @given(st.data(), PATHS)
    def test_an_honest_removal_vanishes_and_no_other_does(self, data: st.DataObject, path: str) -> None:
        lines = data.draw(programs(distinct=True))
        flagged = [n for n, line in enumerate(lines) if "sink" in line]
        memory = Memory({path: "\n".join(lines)})
        if flagged:
            at = data.draw(st.sampled_from(flagged))
            fixed = ids_by_code(memory.first)[lines[at].strip()]
            lines[at] = data.draw(st.sampled_from(("    safe(a)", "    pass")))
            done = memory.edit("\n".join(data.draw(edited(lines))), path)
            self.assertEqual((done.vanished, done.appeared, done.ambiguous), ((fixed,), (), frozenset()))

    @PROPERTY
    @given(st.lists(programs(), min_size=2, max_size=5), PATHS)
    def test_whatever_happens_ids_are_one_to_one(self, versions: list[list[str]], path: str) -> None:
        memory = Memory({path: "\n".join(versions[0])})
        for version in versions[1:]:
            present = {identity for identity, one in memory.known.items() if one.present}
            done = memory.edit("\n".join(version), path)
            ids = [one.logical_id for one in done.findings]
            self.assertEqual(len(set(ids)), len(ids))
            self.assertEqual({one.logical_id for one in done.pairs.values()}, set(done.pairs))
            self.assertEqual(set(done.vanished) | (set(done.pairs) & present), present)
            self.assertEqual(set(done.appeared) | (set(done.pairs) & present), set(ids))
            self.assertLessEqual(done.ambiguous, set(done.vanished))
            self.assertEqual(set(done.how), set(done.pairs))
            fewer = len(present) - len(ids)
            self.assertEqual(bool(done.vanished) or fewer <= 0, True, "fewer findings: something vanished")

    @PROPERTY
    @given(programs(), PATHS)
    def test_first_ids_follow_the_formula(self, lines: list[str], path: str) -> None:
        for one in Memory({path: "\n".join(lines)}).first.findings:
            self.assertEqual(one.logical_id, logical_id(one.rule_id, path, one.scope_key, one.slot))
