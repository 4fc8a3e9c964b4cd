"""Scope keys: the names that Python gives, and what stands in where there are none."""

import types
import unittest
import warnings
from collections.abc import Iterator

from appsecgate.identity.scopes import MODULE_SCOPE, ScopeMap, parse_python, scope_key, scope_map
from appsecgate.model import Category, Package, Scanner
from tests.identity.toy import finding, line_map, source

NESTED = """\
import os

@decorate
@other(
    1,
)
def top(a=default()):
    x = lambda: (
        a
    )

    def inner():
        return [y
                for y in a]

    class Local:
        async def method(self):
            def deepest(): return 1
            return deepest
    return inner

@decorate
class Outer(Base):
    field = 1

    @property
    def value(self):
        return 1

    class Nested:
        def method(self): pass

    if os.name:
        def chosen(self): return 1
    else:
        def chosen(self): return 2

    try:
        def tried(self): return 1
    except E:
        def failed(self): return 1
    else:
        def went(self): return 1
    finally:
        def ended(self): return 1

def sets_global():
    global bound, Kept
    def bound():
        def within(): return 1
    class Kept:
        def method(self): return 1
    def own():
        def bound(): return 1

for a in b:
    while c:
        with d:
            async def looped(): return 1

match a:
    case 1:
        def matched(): return 1
    case _:
        class _Private:
            def __mangled(self): return 1

tail = 1
"""


def _code_objects(code: types.CodeType) -> Iterator[types.CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from _code_objects(constant)


class PythonScopes(unittest.TestCase):
    def setUp(self) -> None:
        self.scopes = scope_map(source("a.py", NESTED))

    def test_a_scope_is_named_as_python_names_it(self) -> None:
        asked = 0
        for code in _code_objects(compile(NESTED, "a.py", "exec")):
            if not code.co_name.startswith("<"):
                asked += 1
                with self.subTest(name=code.co_qualname):
                    self.assertEqual(self.scopes.at(code.co_firstlineno), code.co_qualname)
        self.assertEqual(asked, 26)

    def test_every_line_has_its_innermost_definition(self) -> None:
        cases = {
            1: MODULE_SCOPE,
            2: MODULE_SCOPE,
            3: "top",  # a decorator belongs to its definition
            5: "top",
            7: "top",
            9: "top",  # a lambda belongs to the definition around it
            14: "top.<locals>.inner",
            15: "top",
            16: "top.<locals>.Local",
            18: "top.<locals>.Local.method.<locals>.deepest",
            19: "top.<locals>.Local.method",
            20: "top",
            21: MODULE_SCOPE,
            22: "Outer",
            24: "Outer",
            26: "Outer.value",
            31: "Outer.Nested.method",
            33: "Outer",
            999: MODULE_SCOPE,
            0: MODULE_SCOPE,
        }
        for line, want in cases.items():
            with self.subTest(line=line):
                self.assertEqual(self.scopes.at(line), want)

    def test_two_definitions_of_one_name_are_one_scope(self) -> None:
        lines = [n for n, text in enumerate(NESTED.split("\n"), 1) if "def chosen" in text]
        self.assertEqual([self.scopes.at(line) for line in lines], ["Outer.chosen", "Outer.chosen"])

    def test_what_is_above_a_function_does_not_change_its_name(self) -> None:
        shifted = scope_map(source("a.py", "\n" * 100 + NESTED))
        self.assertEqual([shifted.at(line + 100) for line in range(1, 80)], [self.scopes.at(n) for n in range(1, 80)])

    def test_the_enclosing_definition_has_its_lines(self) -> None:
        span = self.scopes.enclosing(9)
        assert span is not None
        self.assertEqual((span.start, span.end, span.key), (3, 20, "top"))
        self.assertIsNone(self.scopes.enclosing(2))

    def test_line_ends_do_not_matter(self) -> None:
        for end in ("\r\n", "\r"):
            other = scope_map(source("a.py", NESTED.replace("\n", end)))
            self.assertEqual(other.spans, self.scopes.spans)

    def test_stubs_and_windows_programs_are_python(self) -> None:
        for path in ("a.pyi", "a.pyw", "A.PY"):
            with self.subTest(path=path):
                self.assertEqual(scope_map(source(path, "def f():\n    x")).at(2), "f")


class OtherScopes(unittest.TestCase):
    def test_other_languages_have_buckets_of_twenty_lines(self) -> None:
        scopes = scope_map(source("a.js", "function f() {}"))
        self.assertTrue(scopes.parsed)
        self.assertFalse(scopes.python)
        cases = {1: "L0", 19: "L0", 20: "L1", 39: "L1", 40: "L2", 1000: "L50"}
        self.assertEqual({line: scopes.at(line) for line in cases}, cases)
        self.assertIsNone(scopes.enclosing(1))

    def test_python_that_does_not_parse_says_so_and_has_buckets(self) -> None:
        texts = {
            "a parenthesis is missing": "def f(:\n    pass",
            "a binary": "x = 1\0",
            "nested too deep": "(" * 5000 + ")" * 5000,
            "a long chain": "x" + ".a" * 200_000,
            "indented too deep": "".join(" " * n + "if 1:\n" for n in range(200)) + " " * 200 + "x",
            "the old language": "print 'a'",
        }
        for name, text in texts.items():
            with self.subTest(name):
                scopes = scope_map(source("a.py", text))
                self.assertFalse(scopes.parsed)
                self.assertEqual(scopes.at(25), "L1")

    def test_a_lone_surrogate_is_no_crash(self) -> None:
        self.assertIsNone(parse_python("x = '\udc80'"))
        self.assertIsNone(parse_python("x = '\0'"))

    def test_warnings_about_hostile_literals_stay_unsaid(self) -> None:
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            self.assertIsNotNone(parse_python("x = '\\d'; 1 is 1; assert (1, 2)"))
        self.assertEqual(heard, [])

    def test_a_file_that_no_longer_parses_keeps_its_last_scopes_where_they_are_now(self) -> None:
        good = "def f():\n    a\n    b\n\ndef g():\n    c\n    d\n"
        cases = {
            "100 lines above": (
                "#\n" * 100 + good.replace("c", "c("),
                {101: "f", 103: "f", 106: "g", 107: "g"},
            ),
            "a broken head": (good.replace("def g():", "def g(:"), {1: "f", 3: "f", 5: "g", 7: "g"}),
            "a line more inside": (
                good.replace("    a\n", "    a\n    (\n"),
                {1: "f", 4: "f", 6: "g", 8: "g"},
            ),
            "the end of a function less": (
                good.replace("    b\n\n", "") + "(",
                {1: "f", 2: "f", 3: "g", 5: "g", 6: MODULE_SCOPE},
            ),
            "all in one line": ("(f g)", {1: "g"}),
            "a function less": (good[good.index("def g") :] + "(", {1: "g", 3: "g"}),
        }
        stored = scope_map(source("a.py", good)).to_json()
        for name, (text, want) in cases.items():
            with self.subTest(name):
                self.assertFalse(scope_map(source("a.py", text)).parsed)
                scopes = ScopeMap.from_json(stored).shifted(line_map(good, text))
                self.assertFalse(scopes.parsed)
                self.assertEqual({line: scopes.at(line) for line in want}, want)

    def test_a_scope_map_survives_storage(self) -> None:
        for scopes in (scope_map(source("a.py", NESTED)), ScopeMap.buckets(), ScopeMap.buckets(parsed=False)):
            again = ScopeMap.from_json(scopes.to_json())
            self.assertEqual((again.spans, again.python, again.parsed), (scopes.spans, scopes.python, scopes.parsed))

    def test_any_other_text_is_refused(self) -> None:
        for text in (
            "",
            "[]",
            "{}",
            "null",
            '{"python":true,"parsed":true,"spans":[[1]]}',
            '{"spans":[["a",1,2]]}',
        ):
            with self.subTest(text=text), self.assertRaises(ValueError):
                ScopeMap.from_json(text)


class KeysByCategory(unittest.TestCase):
    def test_each_category_has_its_own_key(self) -> None:
        scopes = scope_map(source("a.py", "def f():\n    x\ny\n"))
        package = Package("PyPI", "django", "3.2.0")
        iac, sca, secret, licence = Category.IAC, Category.SCA, Category.SECRET, Category.LICENSE
        cases = {
            "f": finding(line=2),
            "<module>": finding(line=3),
            "f:AWS Access Key": finding(line=2, category=secret, scanner=Scanner.DETECT_SECRETS, rule="AWS Access Key"),
            "pkg:PyPI/django": finding(line=2, category=sca, package=package),
            "res:aws_s3_bucket.logs": finding(line=2, category=iac, resource="aws_s3_bucket.logs"),
        }
        for want, one in cases.items():
            with self.subTest(want):
                self.assertEqual(scope_key(one, scopes), want)
        self.assertEqual(scope_key(finding(category=licence, package=package), scopes), "pkg:PyPI/django")
        self.assertEqual(scope_key(finding(line=2, category=iac), scopes), "f")
        self.assertEqual(scope_key(finding(line=2, category=sca), scopes), "f")
