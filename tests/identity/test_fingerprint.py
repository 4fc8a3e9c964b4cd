"""Ids and fingerprints against digests computed outside the program, with ``sha256sum``.

A logical id hashes ``rule:file:scope`` (``#k`` after the scope), a fingerprint scanner, rule, file, code and ordinal, with NULs
between.
"""

import itertools
import unittest

from appsecgate.identity.fingerprint import fingerprints, logical_id
from appsecgate.model import Category, Package, Scanner
from tests.identity.toy import finding


class LogicalIds(unittest.TestCase):
    def test_the_formula(self) -> None:
        cases = (
            ("bf10894a5e86fe7c", "python.shell", "src/a.py", "Class.method", 1),
            ("fb0e8a08517e6ef0", "python.shell", "src/a.py", "Class.method", 2),
            ("4eb54cce8c84f411", "CVE-2021-1", "req.txt", "pkg:PyPI/django", 1),
            ("95a3dafec367a500", "r", "a.py", "f", 1),
            ("3b590a1f8334e5bb", "r", "a.py", "f", 2),
            ("b01cc819454f4abc", "r", "каталог/a.py", "<module>", 11),
            ("5196431d04197f5a", "r", "a\udcff.py", "f", 1),  # hashed as the byte on disk, 0xff
        )
        for digest, rule_id, path, scope, slot in cases:
            with self.subTest(digest):
                self.assertEqual(logical_id(rule_id, path, scope, slot), digest)

    def test_no_name_at_all_is_a_crash(self) -> None:
        self.assertEqual(len(logical_id("r\ud800", "a.py", "f")), 16)

    def test_one_rule_in_two_functions_or_files_has_two_ids(self) -> None:
        ids = {logical_id("r", path, scope) for path in ("a/views.py", "b/views.py") for scope in "fg"}
        self.assertEqual(len(ids), 4)


class Fingerprints(unittest.TestCase):
    def test_the_formula(self) -> None:
        package = Package("PyPI", "django", "3.2.0")
        cases = {
            "b880a517374a88284d7a03b2ac596e51": finding("sink(a)"),
            "c61810a2848d9526ec9747d2ceccc871": finding(
                "whatever",
                scanner=Scanner.PIP_AUDIT,
                rule="CVE-1",
                path="r.txt",
                category=Category.SCA,
                package=package,
            ),
            "a8da042b9be1e4cbb2bb3bfeedc4cd6a": finding(
                "{}",
                scanner=Scanner.CHECKOV,
                rule="CKV_1",
                path="m.tf",
                category=Category.IAC,
                resource="aws_s3_bucket.a",
            ),
        }
        for digest, one in cases.items():
            with self.subTest(one.code):
                self.assertEqual(fingerprints([one])[0].fingerprint, digest)

    def test_equal_ones_of_a_file_are_counted_from_the_top(self) -> None:
        found = fingerprints([finding(line=30), finding(line=4), finding("sink(b)", line=1)])
        want = [
            "1ca739eaca1b3b4f8903cefbbc9f5d53",
            "b880a517374a88284d7a03b2ac596e51",
            "ca768b600c3e1a81b5a31698159ad46a",
        ]
        self.assertEqual([one.fingerprint for one in found], want)

    def test_no_line_number_is_in_it(self) -> None:
        self.assertEqual(fingerprints([finding(line=1)])[0].fingerprint, fingerprints([finding(line=9)])[0].fingerprint)

    def test_report_order_does_not_matter(self) -> None:
        found = [finding(line=1), finding(line=2), finding("sink(b)", line=2), finding(line=2, rule="other")]
        want = {(f.line_start, f.code, f.rule_id): f.fingerprint for f in fingerprints(found)}
        for order in itertools.permutations(found):
            got = {(f.line_start, f.code, f.rule_id): f.fingerprint for f in fingerprints(order)}
            self.assertEqual(got, want)

    def test_five_thousand_equal_ones_have_five_thousand_fingerprints(self) -> None:
        found = fingerprints([finding(line=n) for n in range(5000)])
        self.assertEqual(len({one.fingerprint for one in found}), 5000)
