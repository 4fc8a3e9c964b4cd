"""Properties over generated texts; these need hypothesis, everything else in this folder does not."""

import unittest
from typing import TYPE_CHECKING, Any

from appsecgate.model import Category
from appsecgate.redact.names import is_vocabulary
from appsecgate.redact.seal import seal
from tests.redact.planted import hit, redactor, source
from tests.redact.test_redactor import FRAGMENTS

if TYPE_CHECKING:
    from hypothesis import assume, example, given, settings
    from hypothesis import strategies as st
else:
    try:
        from hypothesis import assume, example, given, settings
        from hypothesis import strategies as st
    except ImportError:
        given = None


def texts() -> Any:
    return st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.text(max_size=12)), max_size=16).map("".join)


@unittest.skipIf(
    given is None, "HYPOTHESIS IS MISSING: the property tests of redaction did not run (pip install hypothesis)"
)
class PropertyTest(unittest.TestCase):
    def test_masking_is_idempotent_and_keeps_the_line_count(self) -> None:
        @settings(max_examples=150, deadline=None)
        @given(texts(), st.booleans())
        def check(text: str, entropy: bool) -> None:
            once = redactor().text(text, entropy=entropy)
            self.assertEqual(redactor().text(once, entropy=entropy), once)
            self.assertEqual(once.count("\n"), text.count("\n"))

        check()

    def test_a_file_keeps_its_lines_and_any_cut_is_masked(self) -> None:
        numbers = st.one_of(st.none(), st.integers(-3, 40))

        @settings(max_examples=120, deadline=None)
        @given(texts(), st.integers(-2, 8), st.integers(-2, 8), numbers, numbers)
        def check(text: str, start: int, end: int, first: int | None, last: int | None) -> None:
            file = source(text.replace("\x00", ""))
            one = hit(start, line_end=end, col_start=first, col_end=last)
            masked = redactor().mask_source(file, [one])
            self.assertEqual(len(masked.lines), len(file.lines))
            cut = masked.cut(start, first, end, last)
            self.assertIn(cut.replace("\x07", ""), masked.cut(1, None, 10**6, None).replace("\x07", ""))

        check()

    def test_a_flagged_value_of_any_shape_is_nowhere_in_the_finding(self) -> None:
        shapes = st.text(
            st.characters(codec="utf-8", exclude_categories=("C", "Z"), exclude_characters="'\\\""),
            min_size=6,
            max_size=40,
        )

        @settings(max_examples=120, deadline=None)
        @given(shapes, st.sampled_from(list(Category)))
        @example("correct" + "horse", Category.SECRET)
        def check(secret: str, category: Category) -> None:
            assume(not is_vocabulary(secret))
            text = f"one = 1\ncall('{secret}')\n"
            one = hit(
                2,
                category=category,
                cwe=("CWE-798",),
                col_start=7,
                col_end=7 + len(secret),
                message=f"found '{secret}'",
            )
            finding = seal(one, redactor().mask_source(source(text), [one]), redactor())
            self.assertNotIn(f"'{secret}'", repr(finding))
            self.assertNotIn(f"'{secret}'", finding.message + finding.snippet)

        check()
