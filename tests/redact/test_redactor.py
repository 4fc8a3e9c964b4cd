"""The redactor's promises about any text: idempotent, line count kept, linear, ordinary code left alone."""

import random
import sys
import sysconfig
import time
import unittest
from collections.abc import Iterator
from pathlib import Path

from appsecgate.errors import ConfigError
from appsecgate.redact.cleaning import bound_text, clean_text, cut_before
from appsecgate.redact.kinds import SECRET_PLACEHOLDER, SecretKind, known_kind
from appsecgate.redact.redactor import Redactor, SecretMark
from tests.redact.planted import ALNUM, KEY, Planter, redactor, source
from tests.redact.test_assignments import DIALECTS, PASSWORD
from tests.redact.test_connections import MASKED

FRAGMENTS = (
    "password=", 'password = "', "token: ", "'", '"', "\\", "\n", " ", "=", ":", "://u:p@h/", "AKIA" + "IOSFODNN7EXAMPL2", "?sig=",
    "-----BEGIN " + "PRIVATE KEY-----", "-----END " + "PRIVATE KEY-----", "MIIEvQIBADANBgkqhkiG9w0B", "[REDACTED:jwt:12345678]",
    "[REDACTED:", "secret", "key", "Authorization: Bearer ", "hunter2hunter2", ";Password=", "host=", "{", "}", "(", ")", "[", "]", ",",
    "<password>", "</", "&", "${", "f'", "|\n  ", "é", "\x1b[0m", "a1B2c3D4e5F6g7H8i9J0k1L2", "0123456789abcdef0123456789abcdef", "-u a:",
)  # fmt: skip


class RedactorTest(unittest.TestCase):
    def test_a_placeholder_names_kind_and_digest(self) -> None:
        mask = redactor()
        self.assertRegex(mask.placeholder("jwt", "x"), r"^\[REDACTED:jwt:[0-9a-f]{8}\]$")
        self.assertEqual(mask.placeholder("no such kind", "x"), f"[REDACTED:secret:{mask.digest('x')}]")
        self.assertEqual(mask.digest("x"), mask.digest("x"))
        self.assertNotEqual(mask.digest("x"), Redactor(b"other key").digest("x"))
        self.assertEqual(len(mask.digest("\udcff")), 8)
        self.assertEqual(known_kind("jwt"), SecretKind.JWT)

    def test_one_secret_has_one_digest_wherever_it_stands(self) -> None:
        text = f'password = "{PASSWORD}"\npostgres://u:{PASSWORD}@h/d\nDB_PASSWORD={PASSWORD}\n'
        self.assertEqual(len(set(SECRET_PLACEHOLDER.findall(redactor().text(text)))), 1)

    def test_placeholders_survive_in_every_place_where_a_secret_would_be_masked(self) -> None:
        held = redactor().placeholder("secret", "x")
        for _, form in DIALECTS:
            self.assertEqual(redactor().text(form.format(held)), form.format(held))
        for _, form in MASKED:
            self.assertEqual(redactor().text(form.format(held), entropy=True), form.format(held))

    def test_a_secret_beside_a_forged_placeholder_is_masked(self) -> None:
        for text in (
            f'password = "[REDACTED:secret:00000000]{PASSWORD}"',
            f'password = "{PASSWORD}[REDACTED:secret:00000000]"',
            f'password = "[REDACTED:{PASSWORD}:00000000]"',
        ):
            with self.subTest(text=text):
                self.assertNotIn(PASSWORD, redactor().text(text))

    def test_masking_a_masked_text_changes_nothing(self) -> None:
        choose = random.Random(61)
        mask = redactor()
        for _ in range(500):
            text = "".join(choose.choice(FRAGMENTS) for _ in range(choose.randint(1, 14)))
            for entropy in (False, True):
                once = mask.text(text, entropy=entropy)
                with self.subTest(text=text, entropy=entropy):
                    self.assertEqual(mask.text(once, entropy=entropy), once)
                    self.assertEqual(once.count("\n"), text.count("\n"))

    def test_patterns_of_the_human_are_masked_and_bad_ones_refused(self) -> None:
        mask = Redactor(KEY, extra_patterns=[r"emp-(\d+)", "xyz+", "q*", "(never)?zz"])
        self.assertRegex(
            mask.text("emp-123 and xyzzz zz"),
            r"^emp-\[REDACTED:custom:\w{8}\] and \[REDACTED:custom:\w{8}\] \[REDACTED:custom:\w{8}\]$",
        )
        derived = mask.with_known([SecretMark("secret", 9, "00000000")])
        self.assertIn("custom", derived.text("emp-123"))
        with self.assertRaises(ConfigError) as caught:
            Redactor(KEY, extra_patterns=["("])
        self.assertIn("'('", str(caught.exception))

    def test_a_pattern_that_never_rests_is_stopped(self) -> None:
        mask = Redactor(KEY, extra_patterns=[r"(?<=\])x"])
        self.assertEqual(mask.text("]" + "x" * 40).count("[REDACTED:custom:"), 6)

    def test_json_is_masked_in_strings_keys_and_by_names(self) -> None:
        token = "gh" + "p_" + Planter(62).chars(ALNUM, 36)
        held = redactor().placeholder("github_token", token)
        value = {
            token: token,
            "password": "correcthorse",
            "pin_password": 12345678,
            "port": 12345678,
            "list": [
                token,
                1,
                1.5,
                None,
                True,
                {"name": "DB_PASSWORD", "value": "correcthorse"},
                {"value": 3, "name": 4},
            ],
            "secret": [token, "correcthorse"],
            "inf": float("inf"),
        }
        masked = redactor().json(value)  # type: ignore[arg-type]
        self.assertNotIn("correcthorse", repr(masked))
        self.assertNotIn("12345678", repr(masked["pin_password"]))  # type: ignore[index, call-overload]
        self.assertEqual(masked["port"], 12345678)  # type: ignore[index, call-overload]
        self.assertEqual(masked["inf"], "inf")  # type: ignore[index, call-overload]
        self.assertEqual(masked[held], held)  # type: ignore[index, call-overload]
        self.assertEqual(redactor().json(masked), masked)

    def test_json_reads_a_list_of_strings_as_lines(self) -> None:
        block = Planter(63).pem()
        masked = redactor().json([*block, "two\nlines", "end"])
        self.assertEqual(len(masked), len(block) + 2)  # type: ignore[arg-type]
        self.assertEqual(masked[-2:], ["two\nlines", "end"])  # type: ignore[index]
        self.assertNotIn(block[2][:12], repr(masked))
        self.assertEqual(redactor().json([]), [])

    def test_json_that_is_too_deep_is_dropped(self) -> None:
        value: list[object] = []
        for _ in range(5_000):
            value = [value, 1]
        self.assertIn("None", repr(redactor().json(value)))  # type: ignore[arg-type]

    def test_repeated_texts_come_from_the_cache_and_many_texts_do_not_fill_it(self) -> None:
        mask = redactor()
        for number in range(600):
            mask.text(f"password = 'secret{number}value'")
        self.assertIs(mask.text("password = 'secret1value'"), mask.text("password = 'secret1value'"))


class HostileTest(unittest.TestCase):
    def assert_quick(self, text: str, limit_s: float) -> None:
        begin = time.process_time()
        masked = redactor().text(text, entropy=True)
        traced = 8 if sys.gettrace() else 1
        self.assertLess(time.process_time() - begin, limit_s * traced)
        self.assertEqual(masked.count("\n"), text.count("\n"))

    def test_every_fragment_repeated_over_a_long_line_takes_linear_time(self) -> None:
        size = 30_000
        for fragment in (
            *FRAGMENTS,
            "a",
            "sk-",
            "eyJ",
            "eyJ-",
            "MII",
            "ghp_",
            "://",
            "password ",
            "key={",
            'token=["',
            "login a password ",
        ):
            with self.subTest(fragment=fragment):
                self.assert_quick(fragment * (size // len(fragment)), 2.0)

    def test_a_line_of_a_megabyte_takes_seconds_at_most(self) -> None:
        for fragment in ("://a", 'password="', "\\"):
            with self.subTest(fragment=fragment):
                self.assert_quick((fragment * 1_000_000)[:1_000_000], 6.0)

    def test_long_lines_without_line_ends_do_not_repeat_searches(self) -> None:
        for text in ("password='" * 20_000 + "x" * 500_000, 'password="""' * 20_000, "x = `" + "token=\\'" * 20_000):
            with self.subTest(text=text[:12]):
                self.assert_quick(text, 4.0)


class CleaningTest(unittest.TestCase):
    def test_texts_are_cleaned(self) -> None:
        for dirty, clean in (
            ("a\tb\nc", "a\tb\nc"),
            ("a\r\nb\x00\x7f\x85", "a\nb"),
            ("\x1b[1;31mred\x1b[0m", "red"),
            ("\x1b]8;;http://x\x07link\x1b]8;;\x1b\\", "link"),
            ("\x1b(Bx\x1b=y\x9b2Jz", "xyz"),
            ("\x1b", ""),
            ("a\u202eb\u200b", "a<U+202E>b<U+200B>"),
            ("\ud800", "\ufffd"),
            ("zero\u200djoiner", "zero\u200djoiner"),
        ):
            with self.subTest(dirty=dirty):
                self.assertEqual(clean_text(dirty), clean)
                self.assertEqual(clean_text(clean), clean)

    def test_a_cut_ends_before_a_token(self) -> None:
        for text, size, want in (
            ("short", 9, "short"),
            ("one two three", 9, "one two"),
            ("one two three", 7, "one two"),
            ("x" * 9_000, 5_000, "x" * 904),
            ("x" * 9_000, 100, ""),
        ):
            with self.subTest(text=text[:20], size=size):
                self.assertEqual(cut_before(text, size), want)

    def test_a_bound_is_visible_and_spares_placeholders(self) -> None:
        held = redactor().placeholder("secret", "x")
        for size in range(60, 130):
            cut = bound_text("a" * 40 + held + "b" * 100, size)
            self.assertLessEqual(len(cut), size)
            self.assertTrue(cut.endswith("[cut, 166 characters in all]"), cut)
            self.assertIn(cut.count("[REDACTED"), (0, 1))
            self.assertEqual("[REDACTED" in cut, held in cut)
        self.assertEqual(bound_text("abc", 3), "abc")


def ordinary_files(count: int) -> Iterator[Path]:
    """Some sources of the standard library, the same ones each time."""
    root = Path(sysconfig.get_path("stdlib"))
    names = [
        path for path in sorted(root.rglob("*.py")) if not {"site-packages", "test", "tests"}.intersection(path.parts)
    ]
    random.Random(64).shuffle(names)
    return iter([path for path in names if path.stat().st_size < 100_000][:count])


class OrdinaryCodeTest(unittest.TestCase):
    def test_the_standard_library_is_left_as_it_is(self) -> None:
        changed = lines = 0
        for path in ordinary_files(60):
            text = path.read_text("utf-8", "replace")
            lines += text.count("\n")
            for masked in (
                redactor().text(text),
                "\n".join(redactor().mask_source(source(text, "lib/x.py"), ()).lines),
            ):
                changed += sum(
                    1 for a, b in zip(text.split("\n"), masked.split("\n"), strict=True) if a != b and "[REDACTED:" in b
                )
        self.assertGreater(lines, 5_000)
        self.assertLessEqual(changed, 6)
