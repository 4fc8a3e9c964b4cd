"""Secrets that are put together out of several literals: read as one, masked part by part."""

import unittest

from appsecgate.redact.escapes import without_escapes
from appsecgate.redact.joined import find_joined, joined_reading, pieces_in_base, scattered_readings
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

    def test_every_language_has_its_escapes(self) -> None:
        for written, char in {
            "x41": "A", "x0041": "A", "x{41}": "A", "x{0041}": "A", "u0041": "A", "uuu0041": "A", "u{41}": "A", "u{000041}": "A",
            "U00000041": "A", "N{LATIN CAPITAL LETTER A}": "A", "N{DIGIT FIVE}": "5", "N{U+0041}": "A", "101": "A", "0101": "A",
            "65": "5", "065": "5", "o{101}": "A",
        }.items():  # fmt: skip
            with self.subTest(written):
                self.assertEqual(without_escapes(f"{BACK}{written}BE9"), f"{char}BE9")
        for kept in ("n", "x0a", "u00e9", "N{NO SUCH NAME}", "N{BULLET}", "12", "8", "U0001F600"):
            with self.subTest(kept):
                self.assertEqual(without_escapes(f"{BACK}{kept} "), f"{BACK}{kept} ")

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

    def test_tokens_in_parts_are_masked_though_nobody_reported_them(self) -> None:
        redactor = Redactor(KEY)
        for kind, token in P.tokens().items():
            if kind.split()[0] not in ("aws_access_key", "github_token", "gitlab_token", "stripe_key", "slack_token", "jwt"):
                continue
            a, b, c = token[:3], token[3:12], token[12:]
            for name, form in {
                "call": f'f("name", "{a}" + "{b}" + "{c}", "other")',
                "line": f'a = "{VALUE}"; x = "{a}{b}" "{c}"; eval(a)',
                "lines": f'x = ("{a}"\n  "{b}"  # part\n  "{c}")',
                "list": f'["first", "{a}", "{b}", "{c}", "last"].join("")',
                "escape": f'x = "{BACK}x{ord(a[0]):02x}{token[1:]}"',
                "escapes": f'x = "{"".join(f"{BACK}u{ord(char):04x}" for char in token)}"',
                "format": f'"{a}%s" % "{b}{c}"',
                "method": f'"{a}".concat("{b}{c}")',
                "diff": f'-x = ("{a}"\n-  "{b}"\n-  "{c}")\n+x = 1',
            }.items():
                with self.subTest(kind, form=name):
                    for masked in (redactor.text(form), "\n".join(redactor.mask_source(source(form), []).lines)):
                        self.assertNotIn(c, masked)
                        self.assertNotIn(b, masked)
                        self.assertIn(f":{redactor.digest(token)}]", masked)
                        self.assertEqual(masked.count("\n"), form.count("\n"))
                        self.assertEqual(redactor.text(masked), masked)

    def test_what_stands_beside_a_whole_token_stays(self) -> None:
        redactor = Redactor(KEY)
        for token in P.tokens().values():
            masked = redactor.text(f'x = ["first", "{token}", "second", "third"]')
            self.assertTrue(masked.startswith('x = ["first", "') and masked.endswith('", "second", "third"]'), masked)

    def test_no_number_of_seams_lets_a_token_through(self) -> None:
        redactor = Redactor(KEY)
        for before in ('"a" "b",\n' * 60_000, "# " + "x" * 2_100_000 + "\n"):
            masked = redactor.text(f'{before}eval(f("{A}" + "{B}" + "{C}"))\n')
            self.assertNotIn(B, masked)
            self.assertNotIn(C, masked)

    def test_beyond_the_bound_of_work_every_literal_is_masked(self) -> None:
        secret = "hunter" + "Zq81xLm" + "PqrStu"
        redactor = known(secret, *(P.chars(ALNUM, length) for length in range(6, 30)))
        lines = "".join(f'"{number:06x}" + "k{number:05x}",\n' for number in range(30_000))
        text = f'name = "shop"\n{lines}eval("{secret[:9]}" + "{secret[9:]}")\n'
        masked = redactor.text(text)
        self.assertTrue(masked.startswith('name = "shop"\n'))
        self.assertIn("[REDACTED:literal:", masked)
        self.assertRegex(masked, r'eval\("\[REDACTED:\w+:\w{8}\]" \+ "\[REDACTED:\w+:\w{8}\]"\)\n\Z')
        self.assertEqual(masked.count("\n"), text.count("\n"))

    def test_beyond_the_bound_bare_values_are_masked_too(self) -> None:
        secret = "hunter" + "Zq81xLm" + "PqrStu"
        redactor = known(secret)
        lines = "".join(f"k{number}: v{number:018x}\n" for number in range(110_000))
        masked = redactor.text(f"name: shop\n{lines}word: {secret}\n")
        self.assertEqual(masked.count("\n"), 110_002)
        self.assertTrue(masked.splitlines()[-1].startswith("word: [REDACTED:literal:"), masked[-60:])

    def test_a_name_in_code_is_masked_like_its_value_and_others_stay(self) -> None:
        redactor = known(secret := "hunter2Zq81xLmPq")
        for name, masked in {
            f"{VALUE}.run": f"[REDACTED:aws_access_key:{redactor.digest(VALUE)}].run",
            f"Shop.<locals>.{secret}": f"Shop.<locals>.[REDACTED:aws_access_key:{redactor.digest(secret)}]",
        }.items():
            self.assertEqual(redactor.identifier(name), masked)
            self.assertEqual(redactor.identifier(masked), masked)
        for name in ("<module>", "Shop.pay", "outer.<locals>.inner", "f3b1c2d4e5f60718293a4b5c6d7e8f90", "sk_test_mode", "password"):
            self.assertEqual(redactor.identifier(name), name)

    def test_a_key_in_lower_case_is_masked_and_a_word_is_not(self) -> None:
        redactor = Redactor(KEY)
        self.assertNotIn(VALUE[4:].lower(), redactor.text(f"{VALUE.lower()}==1.0"))
        self.assertEqual(redactor.text("asiapacificnortheast==1.0"), "asiapacificnortheast==1.0")

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
