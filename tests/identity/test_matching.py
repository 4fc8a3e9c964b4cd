"""What keeps an identity and what does not, told as edits of a text (see ``toy``)."""

import itertools
import unittest
from collections.abc import Callable
from dataclasses import replace

from appsecgate.identity.evidence import MatchKind
from appsecgate.identity.fingerprint import logical_id
from appsecgate.identity.lines import LineMap
from appsecgate.identity.matching import Known, Matching, match
from appsecgate.identity.scopes import ScopeMap
from appsecgate.model import Category, Finding, Package, Scanner
from tests.identity.toy import Memory, finding, ids_by_code, ids_by_line, known, report

THREE = """\
import os

def first(a):
    x = 1
    sink(one)
    return x

class Second:
    def method(self):
        leak(two)
        y = 2
        sink(three)
        return y

sink(four)
"""
SCRIPT = "\n".join(
    "\n".join([f"function f{n}() {{", f"  let v{n} = {n}", f"  sink(v{n})", f"  done({n})", "}", ""]) for n in range(8)
)

Edit = tuple[str, Callable[[str], str]]
AS_IT_IS: Edit = ("as it is", str)


class Drift(unittest.TestCase):
    """Edits that leave the weakness alone: every id is kept, nothing is new, nothing is gone."""

    EDITS: tuple[Edit, ...] = (
        ("a line above", lambda text: "\n" + text),
        ("a hundred lines above", lambda text: "# note\n" * 100 + text),
        ("three blank lines everywhere", lambda text: text.replace("\n", "\n\n\n\n")),
        ("an import", lambda text: text.replace("import os\n", "import os\nimport shlex\n")),
        ("other line ends", lambda text: text.replace("\n", "\r\n")),
        ("old line ends", lambda text: text.replace("\n", "\r")),
        ("other margins", lambda text: text.replace("    ", "\t")),
        ("calls over three lines", lambda text: text.replace("(", "(\n        ").replace(")", ",\n    )")),
        ("other quotes and blanks", lambda text: text.replace("sink(", "sink( ").replace("leak(", "leak( ")),
        ("comments behind each line", lambda text: text.replace(")\n", ")  # checked\n")),
        ("everything from the end to the front", lambda text: text + "\n" * 30 + "end()\n"),
    )

    def check_kept(self, memory: Memory, done: Matching) -> None:
        self.assertEqual({f.logical_id for f in memory.first.findings}, set(done.pairs))
        self.assertEqual((done.appeared, done.vanished, done.ambiguous), ((), (), frozenset()))
        for old, now in zip(
            sorted(memory.first.findings, key=lambda f: f.line_start),
            sorted(done.findings, key=lambda f: f.line_start),
            strict=True,
        ):
            self.assertEqual(now.logical_id, old.logical_id)

    def test_ids_survive(self) -> None:
        for (name, edit), (path, text) in itertools.product(self.EDITS, (("a.py", THREE), ("a.js", SCRIPT))):
            with self.subTest(name, path=path):
                memory = Memory({path: text})
                self.check_kept(memory, memory.edit(edit(text), path))

    def test_ids_survive_a_rename(self) -> None:
        for old, new, text in (("a.py", "b/c.py", THREE), ("a.js", "b.ts", SCRIPT), ("a.py", "a.txt", THREE)):
            for name, edit in (AS_IT_IS, *self.EDITS[:3]):
                with self.subTest(name, new=new):
                    memory = Memory({old: text, "other.py": "sink(other)"})
                    done = memory.scan({new: edit(text), "other.py": "sink(other)"}, {new: old})
                    self.assertEqual(ids_by_code(done), ids_by_code(memory.first))
                    self.assertEqual((done.appeared, done.vanished), ((), ()))
                    self.assertEqual({done.how[f.logical_id] for f in done.findings if f.file_path == new}, {"renamed"})
                    again = memory.edit("\n" + edit(text), new)
                    self.assertEqual(ids_by_code(again), ids_by_code(memory.first))

    def test_ids_survive_a_move_within_the_file(self) -> None:
        head, first, second, tail = THREE.partition("def first")[0], *THREE.partition("def first")[1:], ""
        second, tail = second.split("\nsink(four)", 1)
        body, method = second.split("class Second", 1)
        moved = f"{head}class Second{method}\n" + "\n" * 50 + f"{first}{body}\nsink(four){tail}"
        memory = Memory({"a.py": THREE})
        done = memory.edit(moved)
        self.assertEqual(ids_by_code(done), ids_by_code(memory.first))
        self.assertEqual((done.appeared, done.vanished), ((), ()))

    def test_ids_survive_a_new_name_of_the_function(self) -> None:
        memory = Memory({"a.py": THREE})
        done = memory.edit(THREE.replace("def first", "def renamed"))
        self.assertEqual(ids_by_code(done), ids_by_code(memory.first))
        moved = next(f for f in done.findings if f.code == "sink(one)")
        self.assertEqual((moved.scope_key, done.how[moved.logical_id]), ("renamed", MatchKind.FINGERPRINT))

    def test_ids_survive_a_file_that_no_longer_parses(self) -> None:
        memory = Memory({"a.py": THREE})
        broken = memory.edit("\n" * 40 + THREE.replace("(self):", "(self:").replace("three", "changed"))
        self.assertEqual(sorted(f.logical_id for f in broken.findings), sorted(ids_by_code(memory.first).values()))
        mended = memory.edit(THREE)
        self.assertEqual(ids_by_code(mended), ids_by_code(memory.first))

    def test_a_reviewed_secret_may_move_ten_lines(self) -> None:
        for path in ("a.py", "a.js", "a.env"):
            with self.subTest(path):
                memory = Memory({path: "leak(key)\n" + "x = 1\n" * 10})
                done = memory.edit("x = 1\n" * 10 + "leak(key)\n", path)
                self.assertEqual((done.appeared, done.vanished), ((), ()))

    def test_a_changed_weakness_in_its_scope_keeps_its_id(self) -> None:
        memory = Memory({"a.py": THREE})
        done = memory.edit("import re\n" * 100 + THREE.replace("sink(three)", "z = 3\n        sink(changed)"))
        id_of = ids_by_code(memory.first)["sink(three)"]
        self.assertEqual(done.pairs[id_of].code, "sink(changed)")
        self.assertEqual(done.how[id_of], MatchKind.SCOPE)


class Distance(unittest.TestCase):
    def test_another_scope_is_the_same_within_twenty_lines_alone(self) -> None:
        for gap, kept in ((20, True), (21, False)):
            with self.subTest(gap=gap):
                memory = Memory({"a.py": "def f():\n    sink(a)\n" + "x\n" * 30})
                done = memory.edit("def f():\n    safe(a)\n" + "x\n" * (gap - 1) + "sink(b)\n" + "x\n" * 30)
                self.assertEqual(done.vanished == (), kept)
                self.assertEqual(done.appeared == (), kept)

    def test_the_distance_counts_from_where_the_old_line_is_now(self) -> None:
        old = "x1\nx2\nsink(a)\nx4\n"
        for path in ("a.js", "a.py"):
            memory = Memory({path: old})
            done = memory.edit("y\n" * 300 + old.replace("sink(a)", "sink(b)"), path)
            self.assertEqual((done.appeared, done.vanished), ((), ()))

    def test_an_old_bucket_is_that_of_the_line_now(self) -> None:
        """Twenty lines above put the first of two equal ones into the bucket of the second."""
        body = [f"line{n}" for n in range(60)]
        body[4] = body[24] = "sink(a)"
        for gone, left in ((4, 24), (24, 4)):
            memory = Memory({"a.js": "\n".join(body)})
            ids = ids_by_line(memory.first)
            edited = [*body[:gone], "safe(a)", *body[gone + 1 :]]
            done = memory.edit("\n".join(["// note"] * 20 + edited), "a.js")
            self.assertEqual(done.vanished, (ids[gone + 1],))
            self.assertEqual(set(done.pairs), {ids[left + 1]})

    def test_equal_code_is_the_same_at_any_distance(self) -> None:
        memory = Memory({"a.js": "sink(a)\n" + "x\n" * 500})
        done = memory.edit("x\n" * 500 + "sink(a)\n", "a.js")
        self.assertEqual((done.appeared, done.vanished), ((), ()))

    def test_rules_files_and_scanners_do_not_mix(self) -> None:
        memory = Memory({"a/views.py": "sink(a)\n", "b/views.py": "safe(a)\n"})
        done = memory.scan({"a/views.py": "leak(a)\n", "b/views.py": "sink(a)\n"})
        self.assertEqual(len(done.vanished), 1)
        self.assertEqual(len(done.appeared), 2)


def package_finding(rule: str, version: str, *aliases: str, name: str = "django", line: int = 1) -> Finding:
    package = Package("PyPI", name, version, None, (rule, *aliases))
    return finding(
        f"{name} {version} {rule}",
        rule=rule,
        line=line,
        path="requirements.txt",
        scanner=Scanner.PIP_AUDIT,
        category=Category.SCA,
        package=package,
    )


def resource_finding(address: str, code: str, line: int, rule: str = "CKV_AWS_1") -> Finding:
    return finding(
        code,
        rule=rule,
        line=line,
        path="main.tf",
        scanner=Scanner.CHECKOV,
        category=Category.IAC,
        resource=address,
    )


def rescan(before: list[Finding], after: list[Finding]) -> tuple[list[str], Matching]:
    """The ids of a first scan, and how a second one is matched with them."""
    first = match([], before, scopes={}, line_maps={})
    ids = [f.logical_id for f in first.findings]
    return ids, match([known(f) for f in first.findings], after, scopes={}, line_maps={})


class PackagesAndResources(unittest.TestCase):
    def test_the_formula_names_package_and_resource(self) -> None:
        (first,), _ = rescan([package_finding("CVE-1", "3.2")], [])
        self.assertEqual(first, logical_id("CVE-1", "requirements.txt", "pkg:PyPI/django"))
        (first,), _ = rescan([resource_finding("aws_s3_bucket.a", "{}", 9)], [])
        self.assertEqual(first, logical_id("CKV_AWS_1", "main.tf", "res:aws_s3_bucket.a"))

    def test_another_version_that_is_vulnerable_too_is_the_same_finding(self) -> None:
        ids, done = rescan([package_finding("CVE-1", "3.2")], [package_finding("CVE-1", "3.3", line=40)])
        self.assertEqual((list(done.pairs), done.vanished, done.appeared), (ids, (), ()))

    def test_another_package_with_the_same_flaw_is_another_finding(self) -> None:
        _, done = rescan([package_finding("CVE-1", "3.2")], [package_finding("CVE-1", "3.2", name="django-lts")])
        self.assertEqual((len(done.vanished), len(done.appeared)), (1, 1))

    def test_a_flaw_that_got_its_cve_number_is_the_same_finding(self) -> None:
        ids, done = rescan(
            [package_finding("GHSA-x", "3.2", "PYSEC-1")],
            [package_finding("CVE-1", "3.2", "GHSA-x", "PYSEC-1")],
        )
        self.assertEqual((list(done.pairs), done.vanished, done.appeared), (ids, (), ()))
        self.assertEqual(done.findings[0].rule_id, "CVE-1")

    def test_a_resource_is_known_by_its_address_wherever_it_stands(self) -> None:
        before = [resource_finding("b.one", "one {}", 1), resource_finding("b.two", "two {}", 100)]
        after = [resource_finding("b.two", "two { x }", 1), resource_finding("b.one", "one { x }", 300)]
        ids, done = rescan(before, after)
        self.assertEqual({i: done.pairs[i].resource for i in ids}, dict(zip(ids, ("b.one", "b.two"), strict=True)))

    def test_a_resource_under_a_new_name_is_not_fixed(self) -> None:
        ids, done = rescan([resource_finding("b.one", "one {}", 1)], [resource_finding("b.other", "other {}", 3)])
        self.assertEqual((list(done.pairs), done.vanished), (ids, ()))

    def test_two_checks_of_a_resource_are_two_findings(self) -> None:
        both = [resource_finding("b.one", "{}", 1), resource_finding("b.one", "{}", 1, rule="CKV_AWS_2")]
        ids, done = rescan(both, both[:1])
        self.assertEqual(done.vanished, (ids[1],))


class Order(unittest.TestCase):
    def test_the_order_of_reports_and_of_memory_changes_nothing(self) -> None:
        old = "def f():\n    sink(a); sink(a)\n    sink(b)\n    sink(c)\n"
        new = "x\ndef f():\n    sink(a)\n    sink(d); sink(e)\n    y\n    sink(f)\n"
        memory = Memory({"a.py": old})
        before = list(memory.known.values())
        found = report("a.py", new)
        maps = {"a.py": LineMap(b"", b"")}

        def outcome(known_order: tuple[Known, ...], found_order: tuple[Finding, ...]) -> object:
            done = match(known_order, found_order, scopes={}, line_maps=maps)
            named = sorted((f.line_start, f.code, f.logical_id, f.slot) for f in done.findings)
            return named, sorted(done.vanished), done.ambiguous, sorted(done.appeared)

        want = outcome(tuple(before), tuple(found))
        for known_order in itertools.permutations(before):
            for found_order in itertools.permutations(found):
                self.assertEqual(outcome(known_order, found_order), want)

    def test_findings_come_back_in_the_order_given(self) -> None:
        found = report("a.py", THREE)
        done = match([], found, scopes={}, line_maps={})
        self.assertEqual([f.line_start for f in done.findings], [f.line_start for f in found])


class Many(unittest.TestCase):
    """With a quadratic matching these alone would take minutes."""

    def test_five_hundred_hits_of_one_rule_keep_their_ids(self) -> None:
        text = "def f():\n" + "    sink(a)\n" * 500
        memory = Memory({"a.py": text})
        ids = ids_by_line(memory.first)
        done = memory.edit("\n" * 100 + text)
        self.assertEqual({line - 100: identity for line, identity in ids_by_line(done).items()}, ids)
        lines = text.split("\n")
        lines[250] = "    safe(a)"
        done = memory.edit("\n".join(lines))
        self.assertEqual(len(done.vanished), 1)
        self.assertEqual(done.vanished, (ids[251],))

    def test_five_thousand_findings_that_all_changed_are_matched(self) -> None:
        before = [finding(f"sink(a{n})", line=n // 3 + 1) for n in range(5_000)]
        first = match([], before, scopes={}, line_maps={})
        memory = [known(f) for f in first.findings]
        for name, step in (("each changed", 1), ("all on one line", 0)):
            with self.subTest(name):
                after = [replace(f, code=f"sink(b{n})", line_start=n // 3 * step + 1) for n, f in enumerate(before)]
                done = match(memory, after, scopes={}, line_maps={})
                self.assertEqual(len({f.logical_id for f in done.findings}), 5_000)
                self.assertEqual(len(done.pairs) + len(done.vanished), 5_000)

    def test_many_renamed_files_are_matched(self) -> None:
        before = [finding(path=f"old/{n}.py", line=1) for n in range(3000)]
        first = match([], before, scopes={}, line_maps={})
        after = [replace(f, file_path=f.file_path.replace("old", "new")) for f in before]
        renames = {f.file_path: f.file_path.replace("new", "old") for f in after}
        done = match([known(f) for f in first.findings], after, scopes={}, line_maps={}, renames=renames)
        self.assertEqual((len(done.pairs), done.vanished, done.appeared), (3000, (), ()))


class Copies(unittest.TestCase):
    def test_one_id_goes_to_one_of_two_copies(self) -> None:
        memory = Memory({"a.py": "sink(a)\n"})
        (id_of,) = ids_by_code(memory.first).values()
        done = memory.scan({"b.py": "sink(a)\n", "c.py": "sink(a)\n"}, {"b.py": "a.py", "c.py": "a.py"})
        self.assertEqual(done.pairs[id_of].file_path, "b.py")
        self.assertEqual(done.appeared, (logical_id("toy.sink", "c.py", "<module>"),))

    def test_a_file_that_is_still_there_keeps_its_findings(self) -> None:
        memory = Memory({"a.py": "sink(a)\n"})
        (id_of,) = ids_by_code(memory.first).values()
        done = memory.scan({"a.py": "sink(a)\n", "b.py": "sink(a)\n"}, {"b.py": "a.py"})
        self.assertEqual(done.pairs[id_of].file_path, "a.py")


class ScopesByDefault(unittest.TestCase):
    def test_a_file_without_scopes_has_buckets(self) -> None:
        done = match([], report("a.py", "\n" * 20 + "sink(a)"), scopes={}, line_maps={})
        self.assertEqual(done.findings[0].scope_key, "L1")
        done = match([], report("a.py", "sink(a)"), scopes={"a.py": ScopeMap((), python=True)}, line_maps={})
        self.assertEqual(done.findings[0].scope_key, "<module>")
