"""Secrets that are put together out of several literals: read as one, masked part by part."""

import unittest

from appsecgate.redact.joined import find_joined, joined_reading, pieces_in_base, scattered_readings, without_escapes
from appsecgate.redact.redactor import Redactor, SecretMark
from tests.redact.planted import ALNUM, KEY, Planter, source

P = Planter(77)
BACK = "\\"
VALUE = "AKIA" + P.chars("ABCDEFGHJKLMNPQRSTUVWXYZ234567", 16)
A, B, C = VALUE[:4], VALUE[4:11], VALUE[11:]
FORMS = {
    "plus": f'x = "{A}" + "{B}" + "{C}"',
    "lines": f'x = ("{A}"  # a part\n     f"{B}"\n     r\'{C}\')',
    "dots": f"$x = '{A}' .\n  '{B}' . '{C}';",
    "list": f'x = ["{A}", "{B}",\n  "{C}"].join("")',
    "escape": f'x = "{BACK}x41{VALUE[1:]}"',
    "braces": f'x = "{BACK}u{{41}}{VALUE[1:]}"',
    "continued": f'x = "{A}{B}{BACK}\n  {C}"',
    "behind": f'x = "{P.chars(ALNUM, 4)}" "{A}" "{B}" "{C}" "b"',
    "letters": "x = ['a', " + ", ".join(f"'{char}'" for char in VALUE) + ", 'b']",
    "shell": f"X={A}'{B}'\"{C}\"",
}


def known(*values: str) -> Redactor:
    blank = Redactor(KEY)
    return Redactor(KEY, known=[SecretMark("aws_access_key", len(value), blank.digest(value)) for value in values])


class ReadingTest(unittest.TestCase):
    def test_what_a_program_puts_together_is_found_whole(self) -> None:
        for name, text in FORMS.items():
            with self.subTest(name):
                reading = joined_reading(text)
                assert reading is not None
                found = [value for _, value in find_joined(reading, [len(VALUE)], lambda value: value == VALUE, 1000)]
                self.assertEqual(found, [VALUE])

    def test_its_parts_are_where_they_stand(self) -> None:
        reading = joined_reading(FORMS["plus"])
        assert reading is not None
        [(place, _)] = find_joined(reading, [len(VALUE)], lambda value: value == VALUE, 1000)
        self.assertEqual([FORMS["plus"][a:b] for a, b in pieces_in_base(reading, place)], [A, B, C])

    def test_text_without_a_seam_has_no_reading(self) -> None:
        for text in ("", f'x = "{VALUE}"', "a b c", '{"a": "b"}', "x = f('a')"):
            with self.subTest(text):
                self.assertIsNone(joined_reading(text))

    def test_parts_with_code_between_them_are_found_in_scattered_readings(self) -> None:
        text = f'a = "{A}"\nb = "{B}"\nc = "{C}"\nx = a + b + c'
        found = [
            value
            for reading in scattered_readings(text)
            for _, value in find_joined(reading, [len(VALUE)], lambda value: value == VALUE, 1000)
        ]
        self.assertEqual(found, [VALUE])

    def test_escapes_become_what_they_stand_for_and_lines_stay(self) -> None:
        text = f"{BACK}x41{BACK}u0042{BACK}103%44&#69;&#x46;{BACK}x0a\n{BACK}xe9"
        self.assertEqual(without_escapes(text), f"ABCDEF{BACK}x0a\n{BACK}xe9")

    def test_the_number_of_tests_is_bounded(self) -> None:
        tested: list[str] = []

        def accepts(value: str) -> bool:
            tested.append(value)
            return False

        reading = joined_reading('"a" + "b" + ' * 2000)
        assert reading is not None
        list(find_joined(reading, range(2, 40), accepts, 10))
        self.assertLessEqual(len(tested), 10)


class MaskingTest(unittest.TestCase):
    def test_every_part_of_a_known_secret_is_masked_as_the_whole(self) -> None:
        redactor = known(VALUE)
        digest = redactor.digest(VALUE)
        for name, text in FORMS.items():
            with self.subTest(name):
                for masked in (redactor.text(text), "\n".join(redactor.mask_source(source(text), []).lines)):
                    self.assertIn(f":{digest}]", masked)
                    for part in (B, C):
                        self.assertNotIn(part, masked)
                    self.assertEqual(masked.count("\n"), text.count("\n"))
                    self.assertEqual(redactor.text(masked), masked)

    def test_literals_that_are_no_secret_stay(self) -> None:
        redactor = known(VALUE)
        for text in ('x = "shop" + "keeper"', f'y = "{P.chars(ALNUM, 5)}" "b"', '["a", "b"].join("")'):
            with self.subTest(text):
                self.assertEqual(redactor.text(text), text)

    def test_lengths_are_those_of_the_secrets_with_these_digits(self) -> None:
        redactor = known(VALUE, "other-secret-1")
        self.assertEqual(redactor.lengths_of([redactor.digest(VALUE)]), frozenset({20}))
        self.assertEqual(redactor.lengths_of(["00000000"]), frozenset())


if __name__ == "__main__":
    unittest.main()
