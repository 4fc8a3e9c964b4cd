"""Two of one rule, doubts, returns and slots: who is who where several could be (see ``toy``)."""

import itertools
import unittest

from appsecgate.identity.evidence import MatchKind
from appsecgate.identity.fingerprint import logical_id
from appsecgate.identity.matching import match
from tests.identity.toy import Memory, ids_by_code, ids_by_line, report


class TwoOfOneRule(unittest.TestCase):
    """Two findings of one rule in one scope or file, of which one is fixed."""

    FIXES = ("safe(a)", "y = 1\n    safe(a, y)", "pass", "")
    TEXTS = (
        ("lines between", "def f(a):\n    b()\n    sink(a)\n    c()\n    sink(a)\n    d()\n"),
        ("next to each other", "def f(a):\n    b()\n    sink(a)\n    sink(a)\n    d()\n"),
        ("in two functions", "def f(a):\n    sink(a)\n\ndef g(a):\n    sink(a)\n"),
        (
            "in two equal blocks",
            "def f(a):\n    try:\n        sink(a)\n    except E:\n        c()\n    try:\n        sink(a)\n    except E:\n        c()\n",
        ),
        (
            "over several lines",
            "def f(a):\n    sink(\n        a\n    )\n    c()\n    sink(\n        a\n    )\n",
        ),
        ("at the margin", "sink(a)\nc()\nsink(a)\n"),
    )

    def fix(self, text: str, which: int, fix: str) -> str:
        parts = text.split("sink(a)") if "sink(a)" in text else text.split("sink(\n        a\n    )")
        call = "sink(a)" if "sink(a)" in text else "sink(\n        a\n    )"
        joints = [call, call]
        joints[which] = fix
        return parts[0] + joints[0] + parts[1] + joints[1] + parts[2]

    def test_the_other_one_keeps_its_id(self) -> None:
        for (name, text), path, which, fix, above in itertools.product(
            self.TEXTS, ("a.py", "a.js"), (0, 1), self.FIXES, ("", "import os\n", "\n" * 100)
        ):
            with self.subTest(name, path=path, which=which, fix=fix, above=len(above)):
                memory = Memory({path: text})
                ids = [identity for _, identity in sorted(ids_by_line(memory.first).items())]
                done = memory.edit(above + self.fix(text, which, fix), path)
                self.assertEqual((done.vanished, done.appeared), ((ids[which],), ()))
                self.assertEqual([f.logical_id for f in done.findings], [ids[1 - which]])
                self.assertEqual(done.ambiguous, frozenset())
                fixed = memory.edit(text.replace("sink", "safe"), path)
                self.assertEqual(fixed.vanished, (ids[1 - which],))

    def test_when_the_function_of_the_other_gets_a_new_name_too(self) -> None:
        """The one that is left has the fingerprint of the one that was fixed; its line tells who it is."""
        text = "def f(a):\n    sink(a)\n\ndef g(a):\n    sink(a)\n"
        memory = Memory({"a.py": text})
        first, second = (identity for _, identity in sorted(ids_by_line(memory.first).items()))
        done = memory.edit("def f(a):\n    safe(a)\n\ndef h(a):\n    sink(a)\n")
        self.assertEqual((done.vanished, set(done.pairs)), ((first,), {second}))
        self.assertEqual(done.pairs[second].fingerprint, Memory({"a.py": text}).known[first].fingerprint)

    def test_slots_stick(self) -> None:
        text = "def f(a):\n    sink(one)\n    sink(two)\n    sink(three)\n"
        memory = Memory({"a.py": text})
        ids = ids_by_code(memory.first)
        self.assertEqual(
            ids,
            {
                f"sink({code})": logical_id("toy.sink", "a.py", "f", slot)
                for slot, code in enumerate(("one", "two", "three"), 1)
            },
        )
        done = memory.edit(text.replace("sink(one)", "safe(one)"))
        self.assertEqual(
            {f.code: (f.logical_id, f.slot) for f in done.findings},
            {"sink(two)": (ids["sink(two)"], 2), "sink(three)": (ids["sink(three)"], 3)},
        )

    def test_a_new_one_gets_the_lowest_free_slot(self) -> None:
        memory = Memory({"a.py": "def f(a):\n    sink(one)\n    sink(two)\n"})
        done = memory.edit("def f(a):\n    sink(zero)\n    sink(one)\n    sink(two)\n")
        self.assertEqual(done.appeared, (logical_id("toy.sink", "a.py", "f", 3),))
        self.assertEqual(done.returned, ())


class Doubts(unittest.TestCase):
    def test_two_candidates_of_which_none_is_nearer_are_a_doubt(self) -> None:
        cases = {
            "one of two on a line, changed": ("sink(a); sink(b)\n", "sink(c)\n"),
            "one of two equal ones on a line": ("x = sink(a) + sink(a)\n", "x = sink(a)\n"),
            "as near to both": ("sink(a)\nx\nsink(b)\n", "y\nsink(c)\nz\n"),
            "one of two equal lines removed": ("x\nsink(a)\nsink(a)\ny\n", "x\nsink(a)\ny\n"),
            "in one stretch that grew": ("sink(a)\nsink(b)\n", "y\nsink(c)\nz\nw\nv\n"),
        }
        for name, (old, new) in cases.items():
            with self.subTest(name):
                memory = Memory({"a.py": old})
                done = memory.edit(new)
                self.assertEqual(len(done.vanished), 1)
                self.assertEqual(done.ambiguous, set(done.vanished))
                later = memory.edit(new + "\n")
                self.assertEqual((later.vanished, later.ambiguous), ((), frozenset()))

    def test_what_can_be_told_apart_is_no_doubt(self) -> None:
        cases = {
            "one unchanged": ("sink(a)\nsink(b)\n", "sink(a)\nsafe(b)\n"),
            "one unchanged on a line": ("sink(a); sink(b)\n", "safe(a); sink(b)\n"),
            "line by line": ("sink(a)\nsink(b)\n", "safe(a)\nsink(c)\n"),
            "both fixed": ("sink(a)\nsink(b)\n", "safe(a)\nsafe(b)\n"),
            "nobody left over": ("sink(a); sink(b)\n", "sink(c); sink(d)\n"),
            "one new": ("sink(a)\n", "sink(b); sink(c)\n"),
        }
        for name, (old, new) in cases.items():
            with self.subTest(name):
                self.assertEqual(Memory({"a.py": old}).edit(new).ambiguous, frozenset())


class Returning(unittest.TestCase):
    def test_a_fixed_one_that_comes_back_has_its_id(self) -> None:
        cases = {
            "as it was": ("def f():\n    sink(a)\n", "def f():\n    sink(a)\n"),
            "formatted": ("def f():\n    sink(a)\n", "def f():\n    sink(\n        a,\n    )\n"),
            "in another function": ("def f():\n    sink(a)\n", "def g():\n    sink(a)\n"),
            "with other code in its scope": ("def f():\n    sink(a)\n", "def f():\n    sink(b)\n"),
        }
        for name, (old, new) in cases.items():
            with self.subTest(name):
                memory = Memory({"a.py": old})
                (id_of,) = ids_by_code(memory.first).values()
                self.assertEqual(memory.edit("def f():\n    safe(a)\n").vanished, (id_of,))
                self.assertEqual(memory.edit("\n" * 50).vanished, ())
                done = memory.edit(new)
                self.assertEqual((done.appeared, done.returned), ((id_of,), (id_of,)))
                self.assertEqual(done.how, {id_of: MatchKind.RETURNED})
                self.assertEqual(done.pairs[id_of].logical_id, id_of)

    def test_one_that_comes_back_is_not_the_changed_form_of_another(self) -> None:
        """Its fingerprint was known before, so it cannot inherit the id of what is fixed now."""
        memory = Memory({"a.py": "def f():\n    sink(a)\n    sink(b)\n"})
        ids = ids_by_code(memory.first)
        memory.edit("def f():\n    safe(a)\n    sink(b)\n")
        done = memory.edit("def f():\n    sink(a)\n    safe(b)\n")
        self.assertEqual(done.returned, (ids["sink(a)"],))
        self.assertEqual(done.vanished, (ids["sink(b)"],))

    def test_a_present_one_goes_before_one_that_was_fixed(self) -> None:
        memory = Memory({"a.py": "def f():\n    sink(a)\n    x\n    sink(a)\n"})
        first, second = (identity for _, identity in sorted(ids_by_line(memory.first).items()))
        memory.edit("def f():\n    safe(a)\n    x\n    sink(a)\n")
        done = memory.edit("def f():\n    x\n    y\n    sink(a)\n")
        self.assertEqual((set(done.pairs), done.returned), ({second}, ()))
        self.assertNotEqual(first, second)


class FreeIds(unittest.TestCase):
    def test_an_inherited_id_and_a_new_one_are_never_the_same(self) -> None:
        memory = Memory({"a.py": "def f(a):\n    sink(a)\n"})
        (inherited,) = ids_by_code(memory.first).values()
        done = memory.edit("def f(a):\n    sink(b)\n\n\ndef g(a):\n    sink(a)\n")
        self.assertEqual(done.pairs[inherited].scope_key, "g")
        self.assertEqual(done.appeared, (logical_id("toy.sink", "a.py", "f", 2),))

    def test_a_bucket_that_another_drifted_out_of_is_not_taken_twice(self) -> None:
        memory = Memory({"a.js": "sink(a)\n"})
        done = memory.edit("sink(b)\n" + "x\n" * 30 + "sink(a)\n", "a.js")
        self.assertEqual(len({f.logical_id for f in done.findings}), 2)
        self.assertEqual(done.appeared, (logical_id("toy.sink", "a.js", "L0", 2),))

    def test_an_id_reserved_elsewhere_is_left_alone(self) -> None:
        plain, second = (logical_id("toy.sink", "a.py", "L0", slot) for slot in (1, 2))
        done = match([], report("a.py", "sink(a)"), scopes={}, line_maps={}, reserved={plain})
        self.assertEqual(done.appeared, (second,))

    def test_two_in_functions_of_one_name_have_two_slots(self) -> None:
        done = Memory({"a.py": "if x:\n    def f():\n        sink(a)\nelse:\n    def f():\n        sink(b)\n"}).first
        self.assertEqual({(f.scope_key, f.slot) for f in done.findings}, {("f", 1), ("f", 2)})
