"""Which reports are one weakness, and which only look like it."""

import itertools
import unittest
from dataclasses import replace

from appsecgate.identity.duplicates import cwe_numbers, merge_duplicates
from appsecgate.model import Category, Finding, Package, Scanner, Severity
from tests.identity.toy import finding

SECRET = Category.SECRET


def named(*findings: Finding) -> list[Finding]:
    """Findings with ids ``0``, ``1``, … in the order given."""
    return [replace(one, logical_id=str(index)) for index, one in enumerate(findings)]


def standing(*findings: Finding) -> dict[str, tuple[str, ...]]:
    """Who stands for whom, checked from both sides."""
    merged = merge_duplicates(named(*findings))
    groups = {one.logical_id: tuple(t.logical_id for t in one.also_reported_by) for one in merged}
    for one in merged:
        if one.merged_into is not None:
            assert one.logical_id in groups[one.merged_into]
            assert not one.also_reported_by
    assert sum(len(twins) for twins in groups.values()) == sum(one.merged_into is not None for one in merged)
    return {representative: twins for representative, twins in groups.items() if twins}


def shell(rule: str, line: int = 5, end: int | None = None, cwe: str = "CWE-78: OS command injection") -> Finding:
    return finding(rule=rule, line=line, end=end, cwe=[cwe])


def advisory(rule: str, *aliases: str, name: str = "django", version: str = "3.2", line: int = 1) -> Finding:
    package = Package("PyPI", name, version, None, (rule, *aliases))
    return finding(
        rule=rule,
        line=line,
        path="r.txt",
        scanner=Scanner.PIP_AUDIT,
        category=Category.SCA,
        package=package,
        cwe=["CWE-79"],
    )


class Weaknesses(unittest.TestCase):
    def test_one_cwe_on_overlapping_lines_is_one_weakness(self) -> None:
        cases = {
            "one line": (shell("a"), shell("b")),
            "a span and a line of it": (shell("a", 1, 9), shell("b", 9)),
            "a number said otherwise": (shell("a"), shell("b", cwe="cwe-078")),
            "two scanners": (shell("a"), replace(shell("b"), scanner=Scanner.CHECKOV)),
        }
        for name, pair in cases.items():
            with self.subTest(name):
                self.assertEqual(standing(*pair), {"0": ("1",)})

    def test_what_only_looks_alike_stays_apart(self) -> None:
        resource = replace(shell("CKV_1"), scanner=Scanner.CHECKOV, category=Category.IAC, resource="b.a")
        cases = {
            "another line": (shell("a", 5), shell("b", 6)),
            "another file": (shell("a"), replace(shell("b"), file_path="b.py")),
            "another cwe": (shell("a"), shell("b", cwe="CWE-79")),
            "a cwe that begins alike": (shell("a"), shell("b", cwe="CWE-781")),
            "no cwe": (finding(rule="a"), finding(rule="b")),
            "one rule": (shell("a", 1, 9), shell("a", 3, 4)),
            "two checks of a resource": (resource, replace(resource, rule_id="CKV_2")),
            "two flaws of a package": (advisory("CVE-1"), advisory("CVE-2")),
            "a flaw of a package and a weakness of the text": (
                advisory("CVE-1"),
                replace(shell("x", 1, cwe="CWE-79"), file_path="r.txt"),
            ),
        }
        for name, pair in cases.items():
            with self.subTest(name):
                self.assertEqual(standing(*pair), {})

    def test_the_worst_stands_for_all_then_the_first_scanner_then_the_rule(self) -> None:
        low, high = replace(shell("a"), severity=Severity.LOW), shell("b")
        self.assertEqual(standing(low, high), {"1": ("0",)})
        self.assertEqual(standing(replace(shell("a"), scanner=Scanner.CHECKOV), shell("b")), {"1": ("0",)})
        self.assertEqual(standing(shell("c"), shell("b"), shell("a")), {"2": ("1", "0")})

    def test_a_twin_is_named_with_scanner_rule_and_id(self) -> None:
        first, second = merge_duplicates(named(shell("a"), shell("b")))
        (twin,) = first.also_reported_by
        self.assertEqual((twin.scanner, twin.rule_id, twin.logical_id), (Scanner.SEMGREP, "b", "1"))
        self.assertEqual(second.merged_into, "0")

    def test_a_wide_report_does_not_join_what_lies_apart_in_it(self) -> None:
        wide = replace(shell("wide", 1, 99), severity=Severity.CRITICAL)
        self.assertEqual(standing(wide, shell("a", 3), shell("b", 50), shell("c", 50)), {"0": ("1",), "2": ("3",)})

    def test_what_two_share_with_a_third_does_not_join_them(self) -> None:
        both = finding(rule="a", line=5, cwe=["CWE-78", "CWE-88"])
        self.assertEqual(standing(both, shell("b"), shell("c", cwe="CWE-88")), {"0": ("1",)})

    def test_two_pairs_on_one_line_are_two_pairs(self) -> None:
        pairs = standing(shell("a"), shell("a"), shell("b"), shell("b"))
        self.assertEqual(pairs, {"0": ("2",), "1": ("3",)})

    def test_earlier_merges_are_forgotten(self) -> None:
        merged = merge_duplicates(named(shell("a"), shell("b")))
        self.assertEqual(merge_duplicates(merged), merged)
        (alone,) = merge_duplicates(merged[1:])
        self.assertIsNone(alone.merged_into)

    def test_the_order_of_reports_changes_nothing(self) -> None:
        found = named(shell("a", 1, 9), shell("b", 2, 4), shell("c", 4, 6), shell("a", 5), finding(rule="d"))
        want = {f.logical_id: f for f in merge_duplicates(found)}
        for order in itertools.permutations(found):
            self.assertEqual({f.logical_id: f for f in merge_duplicates(order)}, want)

    def test_cwe_numbers_are_read_out_of_any_wording(self) -> None:
        one = finding(cwe=["CWE-78: OS command (see CWE-88)", "cwe-020", "CWE_5", "nothing", "xCWE-9"])
        self.assertEqual(cwe_numbers(one), {78, 88, 20, 5})


class Secrets(unittest.TestCase):
    def secret(self, rule: str, *digests: str, line: int = 5, scanner: Scanner = Scanner.DETECT_SECRETS) -> Finding:
        return finding(rule=rule, line=line, digests=digests, scanner=scanner, category=SECRET, cwe=["CWE-798"])

    def test_one_value_on_one_line_is_one_secret(self) -> None:
        semgrep = self.secret("hardcoded", "aa", scanner=Scanner.SEMGREP)
        self.assertEqual(standing(self.secret("AWS", "aa"), semgrep), {"1": ("0",)})
        self.assertEqual(standing(self.secret("AWS", "aa"), self.secret("Entropy", "aa")), {"0": ("1",)})
        code = finding(rule="hardcoded", line=5, digests=["aa"], cwe=["CWE-798"])
        self.assertEqual(standing(self.secret("AWS", "aa"), code), {"1": ("0",)})

    def test_two_values_are_two_secrets(self) -> None:
        self.assertEqual(standing(self.secret("AWS", "aa"), self.secret("Stripe", "bb")), {})
        self.assertEqual(standing(self.secret("AWS", "aa"), self.secret("AWS", "bb")), {})
        self.assertEqual(standing(self.secret("AWS", "aa"), self.secret("Entropy", "aa", line=6)), {})

    def test_a_report_of_both_values_joins_one_of_them(self) -> None:
        both = self.secret("hardcoded", "aa", "bb", scanner=Scanner.SEMGREP)
        self.assertEqual(standing(self.secret("AWS", "aa"), self.secret("AWS", "bb"), both), {"2": ("0",)})

    def test_a_weakness_that_merely_holds_the_secret_is_another(self) -> None:
        command = finding(rule="shell", line=5, digests=["aa"], cwe=["CWE-78"])
        self.assertEqual(standing(self.secret("AWS", "aa"), command), {})


class Advisories(unittest.TestCase):
    def test_names_of_one_flaw_are_one_finding(self) -> None:
        cases = {
            "shared": (advisory("CVE-1", "GHSA-1"), advisory("GHSA-1")),
            "chained": (
                advisory("CVE-1", "GHSA-1"),
                advisory("PYSEC-1"),
                advisory("OSV-1", "PYSEC-1", "GHSA-1"),
            ),
            "chained the other way": (
                advisory("CVE-1", "X"),
                advisory("PYSEC-1", "Y"),
                advisory("OSV-1", "Y", "X"),
            ),
        }
        for name, group in cases.items():
            for order in itertools.permutations(group):
                with self.subTest(name):
                    (twins,) = standing(*order).values()
                    self.assertEqual(len(twins), len(group) - 1)

    def test_other_packages_versions_and_files_stay_apart(self) -> None:
        one = advisory("CVE-1", "GHSA-1")
        others = {
            "package": advisory("GHSA-1", name="flask"),
            "version": advisory("GHSA-1", version="4.0"),
            "line": advisory("GHSA-1", line=2),
            "file": replace(advisory("GHSA-1"), file_path="other.txt"),
        }
        for name, other in others.items():
            with self.subTest(name):
                self.assertEqual(standing(one, other), {})

    def test_one_rule_twice_stays_two(self) -> None:
        groups = standing(advisory("CVE-1", "X"), advisory("CVE-1", "X"), advisory("X"))
        self.assertEqual(groups, {"0": ("2",)})


class Many(unittest.TestCase):
    def test_thousands_of_reports_are_grouped_without_comparing_all(self) -> None:
        shapes = {
            "one rule, one line": [shell("a") for _ in range(5_000)],
            "one rule, spans that overlap": [shell("a", n, 5_000) for n in range(5_000)],
            "two rules, each line": [shell(rule, n) for n in range(2_500) for rule in "ab"],
            "two rules, one line": [shell(rule) for _ in range(2_500) for rule in "ab"],
            "sixty rules": [shell(f"r{n % 60}", n // 60) for n in range(5_000)],
            "one flaw under many names": [advisory(f"CVE-{n}", f"CVE-{n + 1}") for n in range(5_000)],
        }
        for name, found in shapes.items():
            with self.subTest(name):
                merged = merge_duplicates(named(*found))
                self.assertEqual(len(merged), len(found))
                for kept in (one for one in merged if one.also_reported_by):
                    rules = [kept.rule_id, *(twin.rule_id for twin in kept.also_reported_by)]
                    self.assertEqual(len(rules), len(set(rules)))
