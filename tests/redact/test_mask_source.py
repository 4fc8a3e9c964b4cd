"""A whole file masked once: flagged secrets, their further occurrences, known marks, and the map of columns."""

import hashlib
import re
import unittest
from dataclasses import replace
from typing import Any

from appsecgate.model import Category, Hit
from appsecgate.redact.entropy import looks_random
from appsecgate.redact.redactor import Redactor, SecretMark
from tests.redact.planted import ALNUM, HEX, KEY, Planter, hit, redactor, source

P = Planter(41)
PLAIN = "correct" + "horse"
RANDOM = P.chars(ALNUM, 20)


def sha1(text: str) -> str:
    return hashlib.sha1(text.encode()).hexdigest()


def span(text: str, secret: str, line: int = 1) -> dict[str, Any]:
    start = text.split("\n")[line - 1].index(secret) + 1
    return {"col_start": start, "col_end": start + len(secret)}


class LocatingTest(unittest.TestCase):
    def masked(self, text: str, *hits: Hit, path: str = "app/config.py") -> str:
        return "\n".join(redactor().mask_source(source(text, path), hits).lines)

    def test_columns_give_the_exact_span(self) -> None:
        text = f"conn = open_it({PLAIN!r}, 'other words')"
        masked = self.masked(text, hit(**span(text, PLAIN)))
        self.assertRegex(masked, r"^conn = open_it\('\[REDACTED:secret:[0-9a-f]{8}\]', 'other words'\)$")

    def test_the_hash_finds_the_value_in_literals_bare_values_and_tokens(self) -> None:
        for text in (
            f"x = f('{PLAIN}', 'other words')",
            f"name = {PLAIN}",
            f"- {PLAIN} # other words",
            f"<a>{PLAIN}</a> other words",
            f"other;{PLAIN};words",
            f'x = "a {PLAIN} b"',
        ):
            with self.subTest(text=text):
                masked = self.masked(text, hit(secret_sha1=sha1(PLAIN)))
                before, after = text.split(PLAIN)
                self.assertTrue(masked.startswith(before) and masked.endswith(after), masked)
                self.assertNotIn(PLAIN, masked)

    def test_a_value_with_signs_is_found_by_its_hash(self) -> None:
        for secret in ("p@ss w0rd!", "a:b=c;d", "(x)", 'quo"te'):
            for text in (f"x({secret!r})", f"zz {secret} zz", f"k: {secret}"):
                with self.subTest(text=text):
                    masked = self.masked(text, hit(secret_sha1=sha1(secret)))
                    self.assertNotIn(secret, masked)

    def test_overlong_candidates_are_not_hashed(self) -> None:
        text = f"{'w' * 600} zz {PLAIN} zz"
        masked = self.masked(text, hit(secret_sha1=sha1(PLAIN)))
        self.assertRegex(masked, r"^w{600} zz \[REDACTED:secret:\w+\] zz$")

    def test_where_nothing_is_located_every_literal_of_the_line_is_masked(self) -> None:
        wrong = sha1("something else")
        cases = (
            ("f('ab', \"cd\", `ef`) + 1", "f('#', \"#\", `#`) + 1"),
            ("name = value here  ", "name = #  "),
            ("nothing but words", "#"),
            ("   ", "   "),
            ("f('unclosed literal", "f('#"),
        )
        for text, want in cases:
            with self.subTest(text=text):
                masked = self.masked(text, hit(secret_sha1=wrong))
                self.assertEqual(re.sub(r"\[REDACTED:[^]]+\]", "#", masked), want)

    def test_columns_that_do_not_hold_the_hashed_value_are_masked_beside_the_literals(self) -> None:
        text = f"f('one', {RANDOM})"
        masked = self.masked(text, hit(secret_sha1=sha1("gone"), **span(text, RANDOM)))
        self.assertNotIn("one", masked)
        self.assertNotIn(RANDOM, masked)

    def test_columns_over_a_whole_statement_mask_its_literals(self) -> None:
        text = 'x = call("abc", 12)'
        masked = self.masked(text, hit(col_start=1, col_end=len(text) + 1))
        self.assertRegex(masked, r'^x = call\("\[REDACTED:literal:[0-9a-f]{8}\]", 12\)$')

    def test_two_secrets_on_one_line_are_both_masked(self) -> None:
        text = f"f('{PLAIN}', '{RANDOM}', 'other')"
        for hits in (
            (hit(secret_sha1=sha1(PLAIN)), hit(secret_sha1=sha1(RANDOM))),
            (hit(**span(text, PLAIN)), hit(**span(text, RANDOM))),
        ):
            masked = self.masked(text, *hits)
            self.assertNotIn(PLAIN, masked)
            self.assertNotIn(RANDOM, masked)
            self.assertIn("'other'", masked)

    def test_a_hash_of_a_prefix_masks_the_whole_token(self) -> None:
        text = f"x {PLAIN}{RANDOM} y"
        self.assertRegex(
            self.masked(text, hit(secret_sha1=sha1(PLAIN + RANDOM[:3]), **span(text, PLAIN + RANDOM[:3]))),
            r"^x \[\S+\] y$",
        )

    def test_the_first_line_of_a_key_block_is_no_secret_and_the_key_is_masked(self) -> None:
        block = Planter(42).pem()
        text = "\n".join(block)
        masked = self.masked(text, hit(secret_sha1=sha1("BEGIN RSA PRIVATE KEY")))
        self.assertTrue(masked.startswith(block[0]))
        self.assertNotIn(block[1][:10], masked)

    def test_a_flagged_key_block_keeps_its_marks_whatever_its_body_looks_like(self) -> None:
        block = Planter(42).pem()
        for body in (block[1:-1], ["some words here", "and there"], ["x y"], ["short"]):
            text = "\n".join(["a = 1", block[0], *body, block[-1], "b = 2"])
            one = hit(2, line_end=len(body) + 3, col_start=1, col_end=len(block[-1]) + 1)
            lines = self.masked(text, one).split("\n")
            with self.subTest(body=body[0][:9]):
                self.assertEqual((lines[0], lines[1], lines[-2], lines[-1]), ("a = 1", block[0], block[-1], "b = 2"))
                self.assertTrue(all(line.startswith("[REDACTED:private_key:") for line in lines[2:-2]), lines)

    def test_a_hard_coded_secret_of_another_scanner_is_masked_too(self) -> None:
        text = f"login('{PLAIN}', user)"
        for cwe in ("CWE-798", "CWE-798: Use of Hard-coded Credentials", "cwe-259", "321"):
            with self.subTest(cwe=cwe):
                masked = self.masked(text, hit(category=Category.SAST, cwe=(cwe,), col_start=1, col_end=len(text) + 1))
                self.assertNotIn(PLAIN, masked)
        self.assertEqual(self.masked(text, hit(category=Category.SAST, cwe=("CWE-89",))), text)

    def test_nothing_is_exempt_on_a_flagged_line(self) -> None:
        commit = P.chars(HEX, 40)
        text = f"commit {commit}\ncommit {commit}x"
        masked = self.masked(text, hit(1, secret_sha1=sha1("gone")))
        self.assertNotIn(commit, masked.split("\n")[0])

    def test_hostile_positions_do_not_raise(self) -> None:
        text = f"a = '{PLAIN}'\n\nb"
        odd = (-(10**9), -1, 0, 1, 2, 3, 4, 10**9)
        for line in odd:
            for end in odd:
                for col_start in (None, -5, 0, 3, 10**9):
                    for col_end in (None, -5, 0, 3, 10**9):
                        masked = redactor().mask_source(
                            source(text),
                            [
                                hit(
                                    line_start=line,
                                    line_end=end,
                                    col_start=col_start,
                                    col_end=col_end,
                                    secret_sha1="zz",
                                )
                            ],
                        )
                        self.assertEqual(len(masked.lines), 3)
                        masked.cut(line, col_start, end, col_end)
                        masked.text(line, end)

    def test_an_empty_file_has_one_line(self) -> None:
        self.assertEqual(redactor().mask_source(source(""), [hit()]).lines, ("",))

    def test_a_line_of_a_megabyte_is_bounded(self) -> None:
        text = "x = '" + "ab " * 350_000 + "'"
        masked = redactor().mask_source(source(text), [hit(secret_sha1=sha1("gone"))])
        self.assertEqual(len(masked.lines), 1)


class OccurrencesTest(unittest.TestCase):
    def test_a_flagged_value_is_masked_wherever_else_it_stands_with_one_digest(self) -> None:
        text = f"a = f('{PLAIN}')\n# {PLAIN}!\nb = ['x{PLAIN}', '{PLAIN}']\nurl = q?{PLAIN}&c"
        lines = redactor().mask_source(source(text), [hit(secret_sha1=sha1(PLAIN))]).lines
        self.assertNotIn(PLAIN, "\n".join(lines).replace(f"x{PLAIN}", ""))
        self.assertEqual(len(set(re.findall(r"\[REDACTED[^]]+\]", "\n".join(lines)))), 1)

    def test_a_value_with_digits_is_masked_within_longer_words(self) -> None:
        secret = PLAIN + "42"
        lines = redactor().mask_source(source(f"f('{secret}')\ng('x{secret}y')"), [hit(secret_sha1=sha1(secret))]).lines
        self.assertNotIn(secret, lines[1])

    def test_short_and_common_values_are_masked_only_where_flagged(self) -> None:
        for secret in ("abc", "password", "token"):
            with self.subTest(secret=secret):
                text = f"f('{secret}')\n{secret} = g({secret}, '{secret}')"
                lines = redactor().mask_source(source(text), [hit(secret_sha1=sha1(secret))]).lines
                self.assertNotIn(f"'{secret}'", lines[0])
                self.assertEqual(lines[1], text.split("\n")[1])

    def test_a_random_value_of_a_secret_name_is_masked_wherever_else_it_stands(self) -> None:
        lines = redactor().mask_source(source(f"password = '{RANDOM}'\nf(x_{RANDOM}_y)"), ()).lines
        self.assertNotIn(RANDOM, "\n".join(lines))

    def test_many_values_do_not_take_forever(self) -> None:
        text = "\n".join(f"password = 'aB3{number:06d}xyzW'" for number in range(3_000))
        masked = redactor().mask_source(source(text), ())
        self.assertNotIn("xyzW", "\n".join(masked.lines))
        self.assertLessEqual(len(masked.marks), 1_000)


class MarksTest(unittest.TestCase):
    def test_marks_recognise_the_secrets_of_one_file_in_another(self) -> None:
        masked = redactor().mask_source(source(f"f('{PLAIN}')"), [hit(secret_sha1=sha1(PLAIN))])
        later = Redactor(KEY, known=masked.marks)
        for text in (f"see {PLAIN}.", f"x='{PLAIN}'", f"{PLAIN}", f"a/{PLAIN}/b", f"q={PLAIN}&"):
            with self.subTest(text=text):
                self.assertNotIn(PLAIN, later.text(text))
                self.assertNotIn(PLAIN, later.mask_source(source(text), ()).lines[0])

    def test_the_window_of_a_file_looks_as_it_did_when_its_secret_was_flagged(self) -> None:
        for text, secret in (
            (f"f('{PLAIN}', 1)\npassword = '{RANDOM}'", PLAIN),
            ("password = 'abc'", "abc"),
            ("PASSWORD=root", "root"),
            ("password: 'password'", "password"),
            (f"commit {P.chars(HEX, 40)}", ""),
        ):
            for path in ("a.py", "a.yaml", ".env", "x"):
                with self.subTest(text=text, path=path):
                    file = source(text, path)
                    first = redactor().mask_source(file, [hit(secret_sha1=sha1(secret or "gone"))])
                    second = Redactor(KEY, known=first.marks).mask_source(file, ())
                    self.assertEqual(first.lines, second.lines)

    def test_short_marks_are_recognised_only_as_literals_beside_a_name(self) -> None:
        marks = redactor().mask_source(source("password = 'abc'"), [hit(secret_sha1=sha1("abc"))]).marks
        self.assertEqual([mark.kind for mark in marks], ["literal"])
        later = Redactor(KEY, known=marks)
        self.assertNotIn("'abc'", later.text("the password is 'abc' here"))
        self.assertEqual(later.text("x = 'abc'; password of abc"), "x = 'abc'; password of abc")

    def test_marks_of_other_versions_and_absurd_ones_are_harmless(self) -> None:
        marks = [
            SecretMark("new_kind", len(PLAIN), redactor().digest(PLAIN)),
            SecretMark("secret", 0, ""),
            SecretMark("secret", 10**9, "zz"),
            SecretMark("secret", -1, "zz"),
        ]
        self.assertRegex(
            Redactor(KEY, known=marks).text(f"see {PLAIN} there"), r"^see \[REDACTED:secret:[0-9a-f]{8}\] there$"
        )

    def test_with_known_adds_and_does_not_forget(self) -> None:
        one, two = "firstsecret", "secondsecret"
        marks = [SecretMark("secret", len(text), redactor().digest(text)) for text in (one, two)]
        first = redactor().with_known(marks[:1])
        both = first.with_known(marks[1:])
        self.assertNotIn(one, both.text(f"{one} {two}"))
        self.assertNotIn(two, both.text(f"{one} {two}"))
        self.assertIs(both.with_known(marks), both)
        self.assertIs(first.with_known(marks[1:]), both)

    def test_the_number_of_digests_is_bounded_and_what_is_left_is_masked(self) -> None:
        mark = SecretMark("secret", 6, "00000000")
        text = " ".join(f"{number:06x}" for number in range(105_000))
        masked = redactor().with_known([mark]).text(text)
        self.assertEqual(masked.split()[:90_000], text.split()[:90_000])
        self.assertRegex(masked, r" \[REDACTED:literal:[0-9a-f]{8}\]\Z")


class ColumnsTest(unittest.TestCase):
    def test_a_cut_by_original_columns_gives_the_masked_code(self) -> None:
        text = f"f('{RANDOM}');  token = '{RANDOM}' + g(x); h(1)\nnext(2)"
        masked = redactor().mask_source(source(text), [hit(secret_sha1=sha1(RANDOM))])
        for code in ("g(x)", "h(1)", f"token = '{RANDOM}'", f"f('{RANDOM}')"):
            start = text.index(code) + 1
            cut = masked.cut(1, start, 1, start + len(code))
            with self.subTest(code=code):
                self.assertEqual(cut, redactor().with_known(masked.marks).text(code))
        self.assertEqual(masked.cut(1, text.index("h(1)") + 1, 2, 5), "h(1)\nnext")
        self.assertEqual(masked.cut(1, None, 2, None), "\n".join(masked.lines))
        self.assertEqual(masked.cut(2, 3, 1, 2), "")

    def test_a_cut_never_halves_a_placeholder(self) -> None:
        text = f"ab '{RANDOM}' cd"
        masked = redactor().mask_source(source(text), [hit(secret_sha1=sha1(RANDOM))])
        for start in range(1, len(text) + 2):
            for end in range(start, len(text) + 2):
                cut = masked.cut(1, start, 1, end)
                self.assertEqual(cut.count("[REDACTED:"), cut.count("]"))

    def test_lines_stay_and_text_between_lines_is_clamped(self) -> None:
        block = Planter(43).pem()
        text = "\n".join(["a", *block, "b", ""])
        masked = redactor().mask_source(source(text), ())
        self.assertEqual(len(masked.lines), len(text.split("\n")))
        self.assertEqual(masked.text(-5, 1), "a")
        self.assertEqual(masked.text(len(block) + 2, 10**9), "b\n")
        self.assertEqual(masked.text(5, 2), "")

    def test_a_secret_divided_by_control_characters_is_masked_in_the_lines(self) -> None:
        token = Planter(44).tokens()["aws_access_key"]
        masked = redactor().mask_source(source(f"x {token[:10]}\x1b[0m{token[10:]} y\x07"), ())
        self.assertRegex(masked.lines[0], r"^x \[REDACTED:aws_access_key:[0-9a-f]{8}\] y$")

    def test_the_secret_of_a_hit_is_told_where_it_was_located(self) -> None:
        text = f"f('{PLAIN}')"
        one = hit(secret_sha1=sha1(PLAIN))
        masked = redactor().mask_source(source(text), [one])
        self.assertEqual(masked.secret_of(one), redactor().placeholder("secret", PLAIN))
        self.assertIsNone(masked.secret_of(replace(one, secret_sha1=sha1("x"))))

    def test_however_many_values_there_are_each_is_masked_wherever_it_stands(self) -> None:
        values = [value for _ in range(800) if looks_random(value := P.chars(ALNUM, 12))][:600]
        lines = [f'password = "{value}"' for value in values] + [f"# call {value}, then stop" for value in values]
        masked = "\n".join(redactor().mask_source(source("\n".join(lines)), ()).lines)
        self.assertEqual([value for value in values if value in masked], [])
        self.assertEqual(masked.count(", then stop"), 600)
