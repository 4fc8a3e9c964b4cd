"""The builder: text that survives embedding, a single file that runs alone, and refusals with file and line."""

import contextlib
import io
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Mapping
from pathlib import Path

from scripts.build import BuildError, Output, embedded_module, stale, text_literal, write
from scripts.reference import architecture_page, views_page
from scripts.single_file import SingleFileError, join_package

SMALL = {
    "appsecgate/__init__.py": '"""A small program."""\n\n__version__ = "1"\n',
    "appsecgate/errors.py": '"""Errors."""\n\nimport json\n\n\nclass Refused(Exception):\n    code = json.dumps(1)\n',
    "appsecgate/zoo/__init__.py": '"""Animals."""\n',
    "appsecgate/zoo/cat.py": (
        '"""Cats.\n\nThey come\nafter errors."""\n\nfrom enum import StrEnum\nfrom typing import TYPE_CHECKING\n\n'
        "from appsecgate.errors import (\n    Refused,\n)\n\nif TYPE_CHECKING:\n    from decimal import Decimal\n\n"
        "    from appsecgate.errors import Refused\n\n__all__ = ['Cat']\n\n\n"
        'class Cat(Refused):  # a comment stays\n    price: "Decimal | None" = None\n\n\n'
        "class Mood(StrEnum):\n    CALM = 'calm'\n"
    ),
    "appsecgate/__main__.py": (
        '"""The end."""\n\nimport json\nimport sys\nfrom enum import StrEnum\n\nfrom appsecgate import __version__\n'
        "from appsecgate.zoo.cat import Cat, Mood\n\n\ndef run() -> int:\n"
        "    assert issubclass(Mood, StrEnum)\n"
        "    print(json.dumps([Cat.code, __version__, Mood.CALM, sys.argv[1:]]))\n    return 7\n\n\n"
        'if __name__ == "__main__":\n    raise SystemExit(run())\n'
    ),
}
REFUSALS: list[tuple[str, str, str]] = [
    ("relative import", "from . import errors\n", "x.py:1: relative import"),
    ("relative name", "from .errors import Refused\n", "x.py:1: relative import"),
    ("alias", "from appsecgate.errors import Refused as No\n", "x.py:1: an import with another name"),
    ("standard alias", "import json as j\n", "x.py:1: an import with another name"),
    ("own import without from", "import appsecgate.errors\n", "x.py:1: own import without from"),
    ("a module by name", "from appsecgate.zoo import cat\n", "x.py:1: imports a module"),
    ("star", "from appsecgate.errors import *\n", "x.py:1: star import"),
    ("standard star", "from json import *\n", "x.py:1: star import"),
    ("future", "from __future__ import annotations\n", "x.py:1: from __future__"),
    ("third party", "import yaml\n", "x.py:1: not in the standard library: yaml"),
    ("third party from", "\nfrom yaml import load\n", "x.py:2: not in the standard library: yaml"),
    ("missing module", "from appsecgate.nowhere import x\n", "x.py:1: there is no module appsecgate.nowhere"),
    ("missing name", "from appsecgate.errors import Nope\n", "x.py:1: appsecgate.errors has no top-level name"),
    ("late import", "def f():\n    from appsecgate.errors import Refused\n", "x.py:2: own import that is not at"),
    ("guarded import", "if 1:\n    from appsecgate.errors import Refused\n", "x.py:2: own import that is not at"),
    ("a name twice", "\n\nclass Cat:\n    pass\n", "also a top-level name of appsecgate/"),
    ("a private name twice", "_x = 1\n", "y.py:1: _x is also a top-level name of appsecgate/x.py:1"),
    ("a name in a branch", "if 1:\n    _x = 1\n", "y.py:1: _x is also a top-level name of appsecgate/x.py:2"),
    ("a builtin hidden", "def open(): ...\n", "x.py:1: open hides a builtin"),
    ("an import hidden", "json = 1\n", "x.py:1: json is elsewhere import json"),
    ("two meanings", "from json import json\n", "json: elsewhere json is"),
    ("file", "def f():\n    return __file__\n", "x.py:2: __file__ means something else"),
    ("name", "log = __name__\n", "x.py:1: __name__ means something else"),
    ("doc", "usage = __doc__\n", "x.py:1: __doc__ means something else"),
    ("globals", "g = globals()\n", "x.py:1: globals means something else"),
    ("code for the type checker", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    a = 1\n", "x.py:3: only imports"),
    ("a circle", "from appsecgate.y import b\na = 1\n", "a circle of imports through appsecgate."),
    ("no Python", "def\n", "x.py:1: does not parse"),
]
TEXTS = (
    "",
    "x",
    "line\nline\n",
    "no newline at the end",
    "tabs\tand \\ backslashes \\",
    "ends in a backslash\\",
    "both ''' and \"\"\" quotes",
    "ends in a quote '",
    'ends in a quote "',
    "'''",
    '"""',
    "carriage\r\nreturns\rtoo",
    "nul \0 and bell \a and escape \x1b",
    "form\ffeed, vertical\vtab, \x1c\x1d\x1e\x85\u2028\u2029 separators",
    "ünïcödé 🎉 \ufeff",
    "{braces} %s \\N{BULLET} \\x41",
)


class TreeCase(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = Path(directory.name)

    def plant(self, files: Mapping[str, str | bytes]) -> Path:
        for name, content in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return self.root


class EmbeddedTest(TreeCase):
    def test_every_text_reads_back_exactly(self) -> None:
        for text in TEXTS:
            with self.subTest(text=text):
                names: dict[str, str] = {}
                source = self.root / "literal.py"
                source.write_bytes(f"text = {text_literal(text)}\n".encode())
                exec(compile(source.read_bytes(), "literal.py", "exec"), names)
                self.assertEqual(names["text"], text)

    def test_ordinary_text_stays_readable(self) -> None:
        self.assertEqual(text_literal("a\n\\d\n"), "r'''a\n\\d\n'''")

    def test_all_kinds_of_files_are_found_by_name(self) -> None:
        root = self.plant(
            {
                "schema.sql": "CREATE TABLE t (a);\n",
                "appsecgate/rules/python.json": "{}",
                "appsecgate/rules/README.md": "not shipped",
                "appsecgate/workers/secrets.py": "print('\\'''')\n",
                "appsecgate/samples/deep/Dockerfile": "FROM x\n",
                "appsecgate/samples/__pycache__/x.pyc": b"\0",
            }
        )
        names: dict[str, object] = {}
        exec(embedded_module(root), names)
        files = names["FILES"]
        self.assertEqual(
            files,
            {
                "schema.sql": "CREATE TABLE t (a);\n",
                "rules/python.json": "{}",
                "workers/secrets.py": "print('\\'''')\n",
                "samples/deep/Dockerfile": "FROM x\n",
            },
        )
        self.assertEqual(names["embedded_names"]("rules/"), ["rules/python.json"])  # type: ignore[operator]
        with self.assertRaisesRegex(KeyError, r"no shipped file 'x'; there are: rules/python\.json"):
            names["read_embedded"]("x")  # type: ignore[operator]

    def test_bytes_that_are_no_text_are_refused_with_their_place(self) -> None:
        root = self.plant({"schema.sql": b"ok \xff"})
        with self.assertRaisesRegex(BuildError, r"schema\.sql: not UTF-8 at byte 3"):
            embedded_module(root)


class SingleFileTest(TreeCase):
    def test_it_runs_alone_in_an_empty_directory(self) -> None:
        text = join_package(self.plant(SMALL))
        empty = self.root / "empty"
        empty.mkdir()
        (empty / "appsecgate.py").write_text(text)
        ran = subprocess.run(
            [sys.executable, "-W", "error", "appsecgate.py", "a"], cwd=empty, capture_output=True, text=True, check=False
        )
        self.assertEqual((ran.returncode, ran.stderr), (7, ""))
        self.assertEqual(ran.stdout, '["1", "1", "calm", ["a"]]\n')

    def test_modules_stand_in_import_order_under_banners(self) -> None:
        text = join_package(self.plant(SMALL))
        banners = [line for line in text.splitlines() if line.startswith("# appsecgate/")]
        self.assertEqual(
            banners,
            [
                "# appsecgate/__init__.py",
                "# appsecgate/errors.py",
                "# appsecgate/zoo/cat.py",
                "# appsecgate/__main__.py",
            ],
        )
        self.assertIn("# They come\n# after errors.\n", text)
        self.assertIn("# a comment stays", text)
        self.assertEqual(text.count("import json\n"), 1)
        self.assertNotIn("from appsecgate", text)
        self.assertIn("\nif TYPE_CHECKING:\n    from decimal import Decimal\n", text)
        self.assertTrue(text.endswith('\n\nif __name__ == "__main__":\n    raise SystemExit(run())\n'))

    def test_what_main_begins_with_stands_below_what_it_needs_and_above_the_rest(self) -> None:
        files = SMALL | {
            "appsecgate/zoo/door.py": '"""Doors."""\n\nfrom appsecgate.zoo.key import KEY\n\n\ndef begin():\n    print(KEY)\n',
            "appsecgate/zoo/key.py": '"""Keys."""\n\nKEY = "begun"\n',
            "appsecgate/__main__.py": (
                '"""The end."""\n\nfrom appsecgate.zoo.door import begin\n\n'
                'if __name__ == "__main__":\n    begin()\n\n'
                "from appsecgate.zoo.cat import Cat\n\n\ndef run() -> int:\n    print(Cat.code)\n    return 0\n\n\n"
                'if __name__ == "__main__":\n    raise SystemExit(run())\n'
            ),
        }
        root = self.plant(files)
        text = join_package(root)
        marks = ["zoo/key.py\n# =", "zoo/door.py\n# =", '"__main__":\n    begin()', "zoo/cat.py\n# =", "SystemExit(run())\n"]
        self.assertEqual(sorted(marks, key=text.index), marks)
        self.assertEqual([text.count(mark) for mark in marks], [1] * 5)
        (root / "one.py").write_text(text)
        for command in (["-m", "appsecgate"], ["one.py"]):
            ran = subprocess.run([sys.executable, *command], cwd=root, capture_output=True, text=True, check=False)
            self.assertEqual((ran.stdout, ran.stderr), ("begun\n1\n", ""))

    def test_the_same_package_gives_the_same_bytes(self) -> None:
        root = self.plant(SMALL)
        self.assertEqual(join_package(root), join_package(root))

    def test_what_breaks_a_rule_is_named_with_file_and_line(self) -> None:
        for name, source, want in REFUSALS:
            with self.subTest(name):
                other = "from appsecgate.x import a\nb = 1\n" if name == "a circle" else "_x = 1\n"
                with self.assertRaises(SingleFileError) as caught:
                    join_package(self.plant({**SMALL, "appsecgate/x.py": source, "appsecgate/y.py": other}))
                self.assertIn(want, str(caught.exception))
                self.assertRegex(str(caught.exception), r"(?m)^appsecgate/\w+(/\w+)?\.py:\d+: ")

    def test_everything_that_is_wrong_is_said_at_once(self) -> None:
        with self.assertRaises(SingleFileError) as caught:
            join_package(self.plant({**SMALL, "appsecgate/x.py": "import yaml\nfrom . import a\nopen = 1\n"}))
        self.assertEqual([problem.line for problem in caught.exception.problems], [1, 2, 3])

    def test_the_same_guarded_standard_import_may_stand_in_two_modules(self) -> None:
        guarded = 'import sys\n\nif sys.platform != "win32":\n    import resource\n'
        text = join_package(self.plant({**SMALL, "appsecgate/x.py": guarded, "appsecgate/y.py": guarded}))
        self.assertEqual(text.count("    import resource\n"), 2)

    def test_a_name_may_be_passed_on_by_a_package(self) -> None:
        files = {
            **SMALL,
            "appsecgate/zoo/__init__.py": "from appsecgate.zoo.cat import Cat\n\n__all__ = ['Cat']\n",
            "appsecgate/x.py": "from appsecgate.zoo import Cat\n\nKITTEN = Cat()\n",
        }
        exec(compile(join_package(self.plant(files)), "x", "exec"), {"__name__": "joined"})


class OutputsTest(TreeCase):
    def run_quietly(self, outputs: tuple[Output, ...]) -> tuple[list[str], str]:
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            failures = write(self.root, outputs)
        return failures, said.getvalue()

    def test_check_names_what_is_missing_and_stale_and_nothing_else(self) -> None:
        made = Output("made.txt", lambda root: (root / "source").read_text().upper(), ("source",))
        self.plant({"source": "a"})
        self.assertEqual(stale(self.root, (made,)), ["made.txt: missing"])
        self.assertEqual(self.run_quietly((made,)), ([], "made.txt: written, 1 bytes\n"))
        self.assertEqual(stale(self.root, (made,)), [])
        self.assertEqual(self.run_quietly((made,)), ([], ""))
        self.plant({"source": "b"})
        self.assertEqual(stale(self.root, (made,)), ["made.txt: stale"])
        (self.root / "source").unlink()
        self.assertEqual(stale(self.root, (made,)), ["made.txt: is there, its source source is not"])

    def test_what_cannot_be_made_is_said_and_the_rest_is_made(self) -> None:
        def broken(_root: Path) -> str:
            raise BuildError("no")

        outputs = (Output("a.txt", broken, ()), Output("b.txt", lambda _root: "b", ()))
        failures, said = self.run_quietly(outputs)
        self.assertEqual(failures, ["a.txt: cannot be made:\nno"])
        self.assertIn("b.txt: written", said)
        self.assertEqual(stale(self.root, outputs), ["a.txt: cannot be made:\nno"])

    def test_the_page_of_views_is_made_of_comments(self) -> None:
        root = self.plant(
            {
                "schema.sql": "CREATE TABLE t (a, b);\n\n-- What there is.\n-- In two lines.\nCREATE VIEW v_t (\n"
                "  a, -- text: one | two\n  b -- integer: three\n) AS\nSELECT a, b FROM t;\n\n"
                "-- Internal.\nCREATE VIEW hidden AS SELECT 1;\n"
            }
        )
        page = views_page(root)
        self.assertIn("## v_t\n\nWhat there is.\nIn two lines.\n", page)
        self.assertIn("| `a` | text | one \\| two |\n| `b` | integer | three |\n", page)
        self.assertNotIn("hidden", page)

    def test_a_view_with_a_silent_column_is_refused(self) -> None:
        root = self.plant({"schema.sql": "-- X.\nCREATE VIEW v_t (\n  a, -- text: one\n  b\n) AS\nSELECT 1, 2;\n"})
        with self.assertRaisesRegex(ValueError, "v_t: each column needs a comment"):
            views_page(root)

    def test_the_tree_is_put_between_its_marks(self) -> None:
        page = "before\n<!-- tree -->\nold\n<!-- /tree -->\nafter\n"
        root = self.plant({**SMALL, "docs/architecture.md": page})
        (root / "appsecgate/zoo").rename(root / "appsecgate/store")
        made = architecture_page(root)
        self.assertTrue(made.startswith("before\n<!-- tree -->\n```\n0  __init__.py"))
        self.assertTrue(made.endswith("```\n<!-- /tree -->\nafter\n"))
        self.assertIn("2  store/", made)
        self.assertIn("cat.py", made)
        (root / "docs/architecture.md").write_text("no marks")
        with self.assertRaisesRegex(ValueError, "no one pair"):
            architecture_page(root)


if __name__ == "__main__":
    unittest.main()
