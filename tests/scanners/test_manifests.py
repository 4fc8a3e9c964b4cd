import posixpath
import time
import unittest
from collections.abc import Mapping, Sequence

from appsecgate.model import EvidenceReason
from appsecgate.scanners.manifests import beside_manifest, resolve_manifest

Row = tuple[str, str | None, int, str]

PYPROJECT = """\
[build-system]
requires = ["setuptools==60.0", "wheel"]

[project]
name = "shop"
dependencies = [
    "django>=3",
    "requests==2.19.0",
]
[project.optional-dependencies]
dev = ["pytest>=7"]

[dependency-groups]
test = ["coverage==7.0", {include-group = "more"}]

[tool.uv.sources]
pytest = { git = "https://host/pytest.git" }
"""
POETRY = """\
[tool.poetry.dependencies]
python = "^3.11"
django = "3.2.0"
requests = { version = "^2.19", extras = ["socks"] }
own = { path = "../own" }
[tool.poetry.group.dev.dependencies]
pytest = [{ version = "==7.0", python = "<3.12" }, { version = ">=8" }]
"""
LOCK = '[[package]]\nname = "django"\nversion = "3.2.0"\n\n[metadata]\n'


def rows(path: str, files: Mapping[str, str]) -> list[Row]:
    return [(item.name, item.version, item.line, item.pinned_in) for item in resolve_manifest(path, files)]


def problems(path: str, files: Mapping[str, str]) -> list[tuple[str, EvidenceReason]]:
    found = resolve_manifest(path, files)
    return [(item.name, item.problem) for item in found if item.problem is not EvidenceReason.NONE]


def beside(path: str, files: Mapping[str, str]) -> Sequence[str]:
    return beside_manifest(
        path,
        files[path],
        lambda folder: [posixpath.basename(name) for name in files if posixpath.dirname(name) == folder],
    )


class Includes(unittest.TestCase):
    def test_an_included_file_counts_at_the_line_that_includes_it(self) -> None:
        files = {
            "a/r.txt": "x==1\n-r more/b.txt\n",
            "a/more/b.txt": "django==3.2.0\n-r ../c.txt\n",
            "a/c.txt": "q==2\n",
        }
        self.assertEqual(
            rows("a/r.txt", files),
            [("x", "1", 1, ""), ("django", "3.2.0", 2, "a/more/b.txt:1"), ("q", "2", 2, "a/c.txt:1")],
        )
        self.assertEqual(beside("a/r.txt", files), ["a/more/b.txt"])
        self.assertEqual(beside("a/more/b.txt", files), ["a/c.txt"])

    def test_a_constraint_pins_what_is_asked_for_and_nothing_else(self) -> None:
        files = {"r.txt": "django\nflask>=1\nx==1\n-c c.txt\n", "c.txt": "django==3.2.0\nunasked==1\nx==2\n"}
        self.assertEqual(
            rows("r.txt", files), [("django", "3.2.0", 1, "c.txt:1"), ("flask", None, 2, ""), ("x", "1", 3, "")]
        )

    def test_what_cannot_be_followed_is_named(self) -> None:
        for line, problem in (
            ("-r nope.txt", EvidenceReason.FILE_MISSING),
            ("-c nope.txt", EvidenceReason.FILE_MISSING),
            ("-r ../../etc/x.txt", EvidenceReason.PARTIAL),
            ("-r /etc/passwd", EvidenceReason.PARTIAL),
            ("-r https://user:secret@host/r.txt", EvidenceReason.UNSUPPORTED_DEPENDENCY),
            ("-r file:///etc/passwd", EvidenceReason.UNSUPPORTED_DEPENDENCY),
        ):
            with self.subTest(line=line):
                files = {"a/r.txt": f"x==1\n{line}\n"}
                self.assertEqual(problems("a/r.txt", files), [("", problem)])
                self.assertNotIn("secret", resolve_manifest("a/r.txt", files)[1].detail)
        self.assertEqual(beside("a/r.txt", {"a/r.txt": "-r ../../x\n-r /y\n-r https://h/z"}), [])

    def test_circles_and_doubling_includes_end(self) -> None:
        circle = {"a.txt": "-r b.txt\nx==1", "b.txt": "-r a.txt\ny==1"}
        self.assertEqual({row[0] for row in rows("a.txt", circle)}, {"x", "y"})
        doubling = {f"{n}.txt": f"-r {n + 1}.txt\n-r {n + 1}.txt\np{n}==1\n" for n in range(30)} | {"30.txt": "z==1"}
        self.assertEqual(len(rows("0.txt", doubling)), 31)


class Declarations(unittest.TestCase):
    def test_pyproject_tables_are_read(self) -> None:
        self.assertEqual(
            rows("pyproject.toml", {"pyproject.toml": PYPROJECT}),
            [
                ("setuptools", "60.0", 2, ""), ("django", None, 7, ""), ("requests", "2.19.0", 8, ""),
                ("pytest", None, 11, ""), ("coverage", "7.0", 14, ""),
            ],
        )  # fmt: skip
        self.assertEqual(
            problems("pyproject.toml", {"pyproject.toml": PYPROJECT}),
            [("django", EvidenceReason.UNPINNED_DEPENDENCY), ("pytest", EvidenceReason.UNSUPPORTED_DEPENDENCY)],
        )

    def test_poetrys_tables_are_read(self) -> None:
        self.assertEqual(
            rows("pyproject.toml", {"pyproject.toml": POETRY}),
            [
                ("django", "3.2.0", 3, ""),
                ("requests", None, 4, ""),
                ("own", None, 5, ""),
                ("pytest", None, 7, ""),
                ("pytest", "7.0", 7, ""),
            ],
        )

    def test_a_lock_beside_a_declaration_pins_its_ranges(self) -> None:
        for path, text, lock in (
            ("a/pyproject.toml", PYPROJECT, "a/poetry.lock"),
            ("a/pyproject.toml", PYPROJECT, "a/uv.lock"),
            ("a/b/pyproject.toml", PYPROJECT, "uv.lock"),
        ):
            with self.subTest(path=path, lock=lock):
                files = {path: text, lock: LOCK}
                self.assertEqual(beside(path, files), [lock])
                self.assertIn(("django", "3.2.0", 7, f"{lock}:3"), rows(path, files))
        pipfile = {
            "Pipfile": '[packages]\ndjango = "*"\n',
            "Pipfile.lock": '{"default": {"django": {"version": "==3.2.0"}}}',
        }
        self.assertEqual(rows("Pipfile", pipfile), [("django", "3.2.0", 2, "Pipfile.lock:1")])
        compiled = {"requirements.in": "django\n", "requirements.txt": "django==3.2.0\n"}
        self.assertEqual(rows("requirements.in", compiled), [("django", "3.2.0", 1, "requirements.txt:1")])

    def test_a_lock_that_does_not_fit_the_range_pins_nothing(self) -> None:
        lock = '[[package]]\nname = "django"\nversion = "4.2"\n'
        for wanted, fits in (
            ('"django<4"', False),
            ('"django~=3.2"', False),
            ('"django==3.*"', False),
            ('"django!=4.2"', False),
            ('"django>=5"', False),
            ('"django>=3,<5"', True),
            ('"django~=4.1"', True),
            ('"django==4.*"', True),
            ('"django>3.9,!=4.1.*"', True),
            ('"django"', True),
        ):
            with self.subTest(wanted=wanted):
                files = {"pyproject.toml": f"[project]\ndependencies = [{wanted}]\n", "uv.lock": lock}
                self.assertEqual(problems("pyproject.toml", files), [] if fits else [("django", EvidenceReason.UNPINNED_DEPENDENCY)])
                self.assertIn(("django", "4.2"), [row[:2] for row in rows("pyproject.toml", files)])
        for wanted, fits in (
            ("^3.2", False), ("^4.1", True), ("~4.2", True), ("~4.1", False), ("~4", True), (">=3,<4", False), ("*", True),
            ("^3.2 || ^4", True), ("^0.4.2", False), ("4.2", True), ("^4.2.1", False),
        ):  # fmt: skip
            with self.subTest(wanted=wanted):
                text = f'[tool.poetry.dependencies]\ndjango = "{wanted}"\n'
                files = {"pyproject.toml": text, "poetry.lock": lock}
                self.assertEqual(problems("pyproject.toml", files), [] if fits else [("django", EvidenceReason.UNPINNED_DEPENDENCY)])

    def test_setup_files_are_read_and_never_run(self) -> None:
        cfg = "[options]\ninstall_requires =\n    a==1\n    b>=2; python_version<'3'\n[options.extras_require]\nx = c==1;d==2\n"
        self.assertEqual(
            [row[:2] for row in rows("setup.cfg", {"setup.cfg": cfg})],
            [("a", "1"), ("b", None), ("c", "1"), ("d", "2")],
        )
        code = "import setuptools\nsetuptools.setup(install_requires=['a==1',\n  name()], extras_require={'x': ['b==2']})\n"
        self.assertEqual(
            [row[:3] for row in rows("setup.py", {"setup.py": code})], [("a", "1", 2), ("", None, 3), ("b", "2", 3)]
        )
        self.assertEqual(problems("setup.py", {"setup.py": code}), [("", EvidenceReason.UNSUPPORTED_DEPENDENCY)])
        dynamic = '[project]\nname = "x"\ndynamic = ["dependencies"]\n'
        self.assertEqual(
            problems("pyproject.toml", {"pyproject.toml": dynamic}), [("", EvidenceReason.UNSUPPORTED_DEPENDENCY)]
        )
        from_file = dynamic + '[tool.setuptools.dynamic]\ndependencies = {file = ["requirements.txt"]}\n'
        files = {"pyproject.toml": from_file, "requirements.txt": "django==3.2.0"}
        self.assertEqual(rows("pyproject.toml", files), [("django", "3.2.0", 5, "requirements.txt:1")])

    def test_a_file_that_declares_nothing_asks_for_nothing(self) -> None:
        for path, text in (
            ("pyproject.toml", "[tool.ruff]\n"),
            ("setup.cfg", "[metadata]\nname = x\n"),
            ("setup.py", "x = 1\n"),
        ):
            with self.subTest(path=path):
                self.assertEqual(rows(path, {path: text}), [])

    def test_broken_and_hostile_files_are_named(self) -> None:
        for path, text in (
            ("pyproject.toml", "[project"),
            ("pyproject.toml", "a = " + "[" * 5000),
            ("Pipfile", "x"),
            ("setup.cfg", "no section"),
            ("setup.py", "def ("),
            ("setup.py", "(" * 5000),
        ):
            with self.subTest(path=path, text=text[:20]):
                self.assertEqual(problems(path, {path: text}), [("", EvidenceReason.PARSE_FAILED)])
        for text in ('[project]\ndependencies = "x"\n', "[project]\ndependencies = [1, {}]\n"):
            with self.subTest(text=text):
                self.assertEqual(problems("pyproject.toml", {"pyproject.toml": text}), [("", EvidenceReason.PARSE_FAILED)])
        self.assertEqual(rows("pyproject.toml", {"pyproject.toml": "tool = 3\nproject = []\n"}), [])

    def test_what_takes_the_place_of_a_declared_version_is_read(self) -> None:
        for path, text in (
            ("pyproject.toml", '[project]\ndependencies = ["django==4.2"]\n[tool.uv]\noverride-dependencies = ["django==3.2.0"]\n'),
            ("pyproject.toml", '[project]\ndependencies = ["django==4.2"]\n[tool.pdm.resolution.overrides]\ndjango = "3.2.0"\n'),
            ("pyproject.toml", '[tool.hatch.envs.default]\ndependencies = ["django==3.2.0"]\n'),
            ("pyproject.toml", '[tool.rye]\ndev-dependencies = ["django==3.2.0"]\n'),
            ("setup.cfg", "[options]\ninstall-requires =\n  django==3.2.0\n"),
            ("setup.cfg", "[options]\nsetup_requires =\n  django==3.2.0\n"),
            ("setup.py", "from setuptools import setup as go\ngo(install_requires=['django==3.2.0'])\n"),
            ("setup.py", "import setuptools\nsetuptools.setup(install_requires='x==1\\ndjango==3.2.0 # c')\n"),
        ):
            with self.subTest(path=path, text=text):
                self.assertIn(("django", "3.2.0"), [row[:2] for row in rows(path, {path: text})])

    def test_a_setup_file_that_computes_its_requirements_is_named(self) -> None:
        for text in (
            "from setuptools import setup as go\ngo(**{'name': 'x'})\n",
            "import setuptools\ngetattr(setuptools, 'set' + 'up')(name='x')\n",
            "import setuptools\narguments = {}\narguments['install_requires'] = ['x']\nsetuptools.setup(name='x')\n",
            "from setuptools import setup\nd = setup(name='x')\nd.install_requires = ['x']\n",
            "from setuptools import setup\nsetup(install_requires=open('x').read().split())\n",
            "from setuptools import setup\nsetup(install_requires=['a==1'] + more)\n",
        ):
            with self.subTest(text=text):
                self.assertIn(("", EvidenceReason.UNSUPPORTED_DEPENDENCY), problems("setup.py", {"setup.py": text}))
        plain = "import setuptools\nsetuptools.setup()\n"
        self.assertEqual(rows("setup.py", {"setup.py": plain}), [])

    def test_files_that_include_each_other_end_in_bounded_time(self) -> None:
        many = "".join(f"p{number}==1\n" for number in range(19_000))
        everyone = "".join(f"-r {number}.txt\n" for number in range(300))
        files = {f"{number}.txt": everyone + many.replace("p", f"q{number}-") for number in range(300)}
        began = time.monotonic()
        found = resolve_manifest("0.txt", {"0.txt": files["0.txt"], **files})
        self.assertIn(EvidenceReason.PARTIAL, {item.problem for item in found})
        self.assertLess(time.monotonic() - began, 120)

    def test_hostile_files_are_read_in_linear_time(self) -> None:
        blanks, many = " " * 300_000, range(20_000)
        started = time.monotonic()
        for path, text in (
            ("requirements.txt", f"a{blanks}b\n#{blanks}x\na=={blanks}1{blanks}x\na[{blanks}\n"),
            ("requirements.txt", "a-" * 150_000 + "\n" + "a" * 300_000 + "?\n" + "1-" * 150_000 + ".zip"),
            ("requirements.txt", "\\\n" * 100_000),
            ("pyproject.toml", "[project]\ndependencies = [" + ",".join(f'"\\u0061{n}>=1"' for n in many) + "]\n"),
            ("pyproject.toml", "[tool.poetry.dependencies]\n" + "\n".join(f'"\\u0061{n}" = "*"' for n in many)),
            ("Pipfile.lock", '{"default": {' + ",".join(f'"\\u0061{n}": {{"version": "==1"}}' for n in many) + "}}"),
            ("poetry.lock", "[[package]]\n" * 20_000),
        ):
            with self.subTest(path=path, text=text[:30]):
                self.assertLessEqual(len(resolve_manifest(path, {path: text})), 20_000)
        self.assertLess(time.monotonic() - started, 30, "far more than linear time: it takes about two seconds")
