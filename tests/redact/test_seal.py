"""A sealed finding: nothing raw in it, by category, bounded, whatever the scanner says."""

import hashlib
import unittest
from dataclasses import replace
from typing import Any

from appsecgate.model import Category, Finding, Hit, Package, Scanner, Severity
from appsecgate.redact.redactor import Redactor
from appsecgate.redact.seal import MESSAGE_MAX_CHARS, SNIPPET_MAX_CHARS, SNIPPET_MAX_LINES, seal
from tests.redact.planted import ALNUM, KEY, Planter, every_piece, hit, redactor, source

P = Planter(51)
PLAIN = "correct" + "horse"
TOKEN = "gh" + "p_" + P.chars(ALNUM, 36)


def sha1(text: str) -> str:
    return hashlib.sha1(text.encode()).hexdigest()


class SealTest(unittest.TestCase):
    def sealed(self, text: str, one: Hit, path: str = "app/config.py") -> Finding:
        mask = redactor()
        return seal(one, mask.mask_source(source(text, path), [one]), mask)

    def test_no_planted_secret_is_in_any_field_whatever_the_kind_the_category_and_the_field(self) -> None:
        secrets = Planter(52).tokens() | {"password": f"password = '{P.password()}'"}
        secrets["private_key block"] = "\n".join(Planter(53).pem())
        for label, secret in secrets.items():
            for category in Category:
                text = f"before\nx = '''{secret}'''\nafter"
                count = text.count("\n")
                one = hit(
                    2,
                    category=category,
                    line_end=count,
                    message=f"found {secret} here",
                    cwe=(secret,),
                    owasp=(secret,),
                    references=(f"https://example.com/?q={secret}",),
                    metadata={"patch": f"y = {secret}", "deep": [{"list": [secret, 1, None, True]}], secret: "key"},
                    resource=secret,
                    package=Package("pypi", "name", secret, secret, (secret,)),
                )
                with self.subTest(kind=label, category=category):
                    shown = repr(self.sealed(text, one))
                    value = (
                        secret.split("'")[1] if label == "password" else secret.split("\n")[1 if "\n" in secret else 0]
                    )
                    for piece in every_piece(value[8:], 10):
                        self.assertNotIn(piece, shown)

    def test_a_plain_word_that_was_flagged_is_not_in_the_message_either(self) -> None:
        text = f"login('{PLAIN}')"
        one = hit(
            secret_sha1=sha1(PLAIN),
            message=f"Secret {PLAIN} in '{PLAIN}'",
            metadata={"found": [PLAIN], "x": f"a {PLAIN}"},
        )
        finding = self.sealed(text, one)
        self.assertNotIn(PLAIN, repr(finding))
        self.assertEqual(finding.code, redactor().placeholder("secret", PLAIN))
        self.assertEqual(finding.secret_digests, (redactor().digest(PLAIN),))
        self.assertEqual(finding.snippet, f"login('{finding.code}')")

    def test_hashes_of_secrets_are_dropped(self) -> None:
        digest = sha1(PLAIN)
        one = hit(
            secret_sha1=digest,
            message=f"hash {digest}",
            metadata={
                "hashed_secret": digest,
                "Secret_Hash": "x",
                "deep": [{"hashed_secret": "x"}],
                "y": f"is {digest}",
            },
        )
        finding = self.sealed(f"login('{PLAIN}')", one)
        self.assertNotIn(digest, repr(finding))
        self.assertEqual(finding.metadata, {"deep": [{}], "y": "is "})

    def test_the_hit_is_carried_over_and_ids_stay_empty(self) -> None:
        one = hit(
            2,
            category=Category.SAST,
            line_end=3,
            message="m",
            severity=Severity.LOW,
            suppressed_inline=True,
            cwe=("CWE-89",),
            owasp=("A03:2021",),
            references=("https://example.com/a",),
            metadata={"confidence": "HIGH", "n": 3, "ok": True, "none": None},
        )
        finding = self.sealed("a\nb = c(\n  d)\ne", one)
        self.assertEqual(
            (finding.scanner, finding.rule_id, finding.category, finding.severity, finding.file_path),
            (Scanner.SEMGREP, "Secret Keyword", Category.SAST, Severity.LOW, "app/config.py"),
        )
        self.assertEqual((finding.line_start, finding.line_end, finding.message), (2, 3, "m"))
        self.assertEqual((finding.snippet, finding.code), ("b = c(\n  d)", "b = c( d)"))
        self.assertEqual(
            (finding.cwe, finding.owasp, finding.references), (("CWE-89",), ("A03:2021",), ("https://example.com/a",))
        )
        self.assertEqual(finding.metadata, {"confidence": "HIGH", "n": 3, "ok": True, "none": None})
        self.assertEqual((finding.fingerprint, finding.scope_key, finding.logical_id, finding.slot), ("", "", "", 1))
        self.assertTrue(finding.suppressed_inline)
        self.assertIsNone(finding.resource)
        self.assertIsNone(finding.package)
        self.assertEqual(finding.secret_digests, ())

    def test_code_is_the_span_where_there_are_columns_and_lines_where_not(self) -> None:
        text = "x = eval(a)  +  f(b)"
        one = hit(category=Category.SAST, col_start=5, col_end=12)
        self.assertEqual(self.sealed(text, one).code, "eval(a)")
        self.assertEqual(self.sealed(text, replace(one, col_start=None, col_end=None)).code, "x = eval(a) + f(b)")

    def test_each_category_keeps_what_it_may(self) -> None:
        text = f"resource {{\n  token = '{TOKEN}'\n}}"
        package = Package("pypi", "django", "3.2.0", "3.2.5", ("CVE-2021-1", "GHSA-x"))
        cases = {
            Category.IAC: (text.replace(TOKEN, redactor().placeholder("github_token", TOKEN)), "resource { token"),
            Category.SCA: ("django 3.2.0, fixed in 3.2.5", "django 3.2.0 CVE-2021-1"),
            Category.LICENSE: ("", "django 3.2.0 CVE-2021-1"),
        }
        for category, (snippet, code) in cases.items():
            with self.subTest(category=category):
                finding = self.sealed(
                    text, hit(category=category, line_end=3, package=package, col_start=1, col_end=2), "main.tf"
                )
                self.assertEqual(finding.snippet, snippet)
                self.assertTrue(finding.code.startswith(code), finding.code)
        bare = self.sealed("x", hit(category=Category.SCA, package=replace(package, fixed_version=None)))
        self.assertEqual(bare.snippet, "django 3.2.0")
        none = self.sealed("x", hit(category=Category.SCA))
        self.assertEqual((none.snippet, none.code), ("", "Secret Keyword"))

    def test_a_secret_finding_carries_no_patch(self) -> None:
        metadata = {"patch": "x = y", "remediation": "rotate it"}
        self.assertEqual(self.sealed("a = 'b'", hit(metadata=metadata)).metadata, {"remediation": "rotate it"})
        self.assertEqual(self.sealed("a = 'b'", hit(category=Category.SAST, metadata=metadata)).metadata, metadata)

    def test_two_secrets_on_a_line_have_two_codes(self) -> None:
        text = f"f('{PLAIN}', '{TOKEN}')"
        mask = redactor()
        hits = [hit(secret_sha1=sha1(PLAIN)), hit(secret_sha1=sha1(TOKEN))]
        masked = mask.mask_source(source(text), hits)
        one, two = (seal(each, masked, mask) for each in hits)
        self.assertNotEqual(one.code, two.code)
        self.assertEqual(one.snippet, two.snippet)
        self.assertNotIn(PLAIN, one.snippet)

    def test_a_secret_that_moves_keeps_its_code(self) -> None:
        one = hit(secret_sha1=sha1(PLAIN))
        first = self.sealed(f"f('{PLAIN}')", one)
        moved = self.sealed("\n" * 10 + f"f('{PLAIN}')", replace(one, line_start=11, line_end=11))
        self.assertEqual((first.code, first.snippet), (moved.code, moved.snippet))

    def test_the_code_of_a_key_block_names_its_key(self) -> None:
        codes = set()
        for seed in (1, 2):
            block = Planter(seed).pem()
            one = hit(2, secret_sha1=sha1("BEGIN RSA PRIVATE KEY"))
            finding = self.sealed("\n".join(["x", *block]), one)
            self.assertEqual(len(finding.secret_digests), 1)
            codes.add(finding.code)
        self.assertEqual(len(codes), 2)

    def test_a_secret_finding_without_anything_masked_keeps_its_bare_code(self) -> None:
        self.assertEqual(self.sealed("\n\nx", hit(1)).code, "")

    def test_texts_are_bounded_with_a_visible_mark(self) -> None:
        text = "\n".join(f"line {number} of the file" for number in range(500))
        finding = self.sealed(
            text, hit(category=Category.SAST, line_end=500, message="word " * 5_000, metadata={"x": "word " * 5_000})
        )
        self.assertLessEqual(len(finding.message), MESSAGE_MAX_CHARS)
        self.assertIn("[cut, ", finding.message)
        self.assertIn("[cut, ", str(finding.metadata["x"]))
        self.assertEqual(finding.snippet.count("\n"), SNIPPET_MAX_LINES)
        self.assertTrue(finding.snippet.endswith("… [cut, 440 more lines]"))
        self.assertLessEqual(len(finding.code), 2_000)
        wide = self.sealed("x" * 100_000, hit(category=Category.SAST))
        self.assertLessEqual(len(wide.snippet), SNIPPET_MAX_CHARS)

    def test_what_is_cut_from_the_code_still_counts(self) -> None:
        one = hit(category=Category.SAST)
        codes = {self.sealed("word " * 1_000 + end, one).code for end in ("a", "b")}
        self.assertEqual(len(codes), 2)

    def test_a_bound_never_leaves_half_a_secret_or_half_a_placeholder(self) -> None:
        for shift in range(0, 60, 3):
            message = "w " * (MESSAGE_MAX_CHARS // 2 - 40) + "z" * shift + f" {TOKEN} " + "w " * 20_000
            shown = self.sealed("x", hit(category=Category.SAST, message=message)).message
            self.assertNotIn(TOKEN[4:12], shown)
            self.assertEqual(shown.count("[REDACTED:"), shown.count("]") - 1)
        block = "\n".join(P.pem(lines=300))
        shown = self.sealed("x", hit(category=Category.SAST, message=f"k {block[:15_990]} {TOKEN}")).message
        self.assertNotIn(TOKEN[4:12], shown)

    def test_control_characters_and_escapes_are_gone_and_line_ends_stay(self) -> None:
        dirty = "a\x1b[31mred\x1b[0m\x00b\x1b]0;title\x07c\x9b1md\re\x7f\x85f\tg\nh\x1b"
        finding = self.sealed(
            "x",
            hit(category=Category.SAST, message=dirty, rule_id="r\x1b[1m\nx" + "y" * 999, metadata={"k\x00": dirty}),
        )
        self.assertEqual(finding.message, "aredbcdef\tg\nh")
        self.assertEqual(finding.metadata, {"k": "aredbcdef\tg\nh"})
        self.assertTrue(finding.rule_id.startswith("r xyyy"))
        self.assertLessEqual(len(finding.rule_id), 300)

    def test_a_secret_divided_by_an_escape_is_masked(self) -> None:
        finding = self.sealed("x", hit(category=Category.SAST, message=f"{TOKEN[:9]}\x1b[1m{TOKEN[9:]}"))
        self.assertEqual(finding.message, redactor().placeholder("github_token", TOKEN))

    def test_a_finding_can_be_stored_whatever_bytes_the_file_has(self) -> None:
        finding = self.sealed("f('\u202e')", hit(category=Category.SAST, message="\udcff"))
        self.assertEqual((finding.snippet, finding.message), ("f('<U+202E>')", "\ufffd"))
        repr(finding).encode()

    def test_hostile_hits_do_not_raise(self) -> None:
        mask = redactor()
        deep: Any = "x"
        for _ in range(100):
            deep = [deep, {"k": deep}] if not isinstance(deep, list) or len(deep) < 2 else [deep]
        text = f"a = '{PLAIN}'\nb"
        odd = (-(10**12), -1, 0, 1, 2, 3, 10**12)
        for category in Category:
            for line in odd:
                for end in odd:
                    for first, last in ((None, None), (-1, 10**12), (10**12, -1), (3, None), (None, 0)):
                        one = hit(
                            line,
                            category=category,
                            line_end=end,
                            col_start=first,
                            col_end=last,
                            secret_sha1="",
                            metadata={"deep": deep, "nan": float("nan"), "many": list(range(1_000))},
                        )
                        finding = seal(one, mask.mask_source(source(text), [one]), mask)
                        self.assertGreaterEqual(finding.line_end, finding.line_start)
                        self.assertGreaterEqual(finding.line_start, 1)
                        self.assertEqual(finding.metadata["nan"], "nan")

    def test_metadata_is_masked_by_its_names_too(self) -> None:
        finding = self.sealed(
            "x",
            hit(category=Category.SAST, metadata={"password": PLAIN, "env": [{"name": "API_TOKEN", "value": PLAIN}]}),
        )
        self.assertNotIn(PLAIN, repr(finding))

    def test_sealing_is_reproducible(self) -> None:
        one = hit(secret_sha1=sha1(PLAIN), message=f"m {TOKEN}")
        text = f"f('{PLAIN}', '{TOKEN}')"
        self.assertEqual(self.sealed(text, one), self.sealed(text, one))
        other = Redactor(b"\x01" * 32)
        self.assertNotEqual(self.sealed(text, one).code, seal(one, other.mask_source(source(text), [one]), other).code)
        self.assertEqual(len(KEY), 32)
