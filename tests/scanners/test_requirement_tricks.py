"""Files that try to bring in a package which no audit sees; the judge is pip's own reader, where it is installed."""

import json
import random
import re
import subprocess
import tempfile
import unittest
from collections.abc import Mapping, Sequence
from pathlib import Path

from appsecgate.advisories.pep440 import canonical_name
from appsecgate.model import EvidenceReason, Scanner
from appsecgate.scanners.manifests import resolve_manifest
from appsecgate.scanners.requirements import Requirement, parse_requirements
from tests.scanners.installed import require_installed

TOP = "r.txt"
BAD = "django==3.2.0"
BAD_PINS = {("django", "3.2.0"), ("django", "3.2")}
TRICKS: Mapping[str, Mapping[str, str]] = {
    "case and separators": {TOP: "DJaNGO == 3.2.0"},
    "two options on a line": {TOP: "--pre -r b.txt", "b.txt": BAD},
    "an index and an include": {TOP: "-i https://host/simple --requirement b.txt", "b.txt": BAD},
    "a word between options": {TOP: "--pre nothing -rb.txt", "b.txt": BAD},
    "a long option cut short": {TOP: "--req b.txt", "b.txt": BAD},
    "a long option with an equals sign": {TOP: "--requirement=b.txt", "b.txt": BAD},
    "a name that begins with an equals sign": {TOP: "-r=b.txt", "=b.txt": BAD, "b.txt": "x==1"},
    "quotes": {TOP: "-r 'b c.txt'", "b c.txt": BAD},
    "an escape": {TOP: "-r b\\.txt", "b.txt": BAD},
    "a folder and back": {TOP: "-r a/../b.txt", "b.txt": BAD, "a/x": ""},
    "a list inside constraints": {TOP: "-c c.txt", "c.txt": "-r b.txt", "b.txt": BAD},
    "a list inside itself as constraints": {TOP: "-c c.txt", "c.txt": "-r c2.txt", "c2.txt": f"-c c.txt\n{BAD}"},
    "two constraints on a line": {TOP: "django\n-c a.txt -c b.txt", "a.txt": "x==1", "b.txt": "django==4.2"},
    "constraints beside a list": {TOP: "django\n-r a.txt -c b.txt", "a.txt": "x==1", "b.txt": "django==4.2"},
    "a constraint under a marker": {TOP: "django\n-c b.txt", "b.txt": "django==4.2 ; python_version < '2'"},
    "a form feed": {TOP: f"x==1 # nothing\x0c{BAD}"},
    "a line separator": {TOP: f"# nothing\u2028{BAD}\n# x\x85y==1\n#\x1cz==1\n#\x0bq==2"},
    "a carriage return": {TOP: f"# nothing\r{BAD}\r"},
    "a comment that ends in a backslash": {TOP: f"# nothing \\\n{BAD}"},
    "a comment inside a continuation": {TOP: f"x==1 \\\n# nothing \\\n{BAD}"},
    "a continued name": {TOP: "djan\\\ngo==3\\\n.2.0"},
    "many backslashes": {TOP: "\\\\django==3.2.\\\\\\\n0"},
    "a byte order mark": {TOP: f"\ufeff{BAD}"},
    "a hash that is no comment": {TOP: "django==3.2.0#egg"},
    "a file that another reader would own": {TOP: "-r setup.py\n-r poetry.lock", "setup.py": "django==3.2", "poetry.lock": "y==2"},
    "a deep chain": {TOP: "-r 0.txt", **{f"{n}.txt": f"-r {n + 1}.txt" for n in range(60)}, "60.txt": BAD},
    "a circle": {TOP: f"-r b.txt\n{BAD}", "b.txt": "-r c.txt\ny==1", "c.txt": "z==1\n-c b.txt"},
    "folders": {TOP: "-r a/b/c.txt", "a/b/c.txt": "-r ../d.txt", "a/d.txt": f"{BAD}\n-c ../c.txt", "c.txt": "x==1"},
    "options behind a requirement": {TOP: "django==3.2.0 -r b.txt --hash=sha256:aa", "b.txt": "x==1"},
    "a hash alone": {TOP: f"--hash=sha256:{'a' * 64}\n{BAD}"},
    "two pins": {TOP: "django==4.2\ndjango==3.2.0"},
    "an editable behind an option": {TOP: "--pre -e ./django"},
    "an address that may hold anything": {TOP: "git+https://host/harmless.git\nhttps://host/x.zip#egg=harmless"},
    "an extra": {TOP: "django[argon2,bcrypt] (==3.2.0)"},
    "tabs and odd blanks": {TOP: "django\t==\t3.2.0\t#x"},
    "an environment variable": {TOP: "${WHAT}==3.2.0\ndjango==${V}\n-r ${F}.txt"},
}  # fmt: skip
"""Name → files; the first is the one that is audited."""

ORACLE = """
import json, os, sys, tempfile
from pip._internal.exceptions import PipError
from pip._internal.req.req_file import RequirementsFileParser, get_line_parser
answers = []
for files in json.load(sys.stdin):
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for path, text in files.items():
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
            with open(path, "wb") as file:
                file.write(text.encode("utf-8"))
        sys.setrecursionlimit(2000)
        found = []
        try:
            for line in RequirementsFileParser(None, get_line_parser(None)).parse(next(iter(files)), False):
                if line.is_requirement:
                    found.append([line.requirement, line.is_editable, line.constraint])
        except (PipError, RecursionError, UnicodeError, LookupError, AttributeError) as error:
            found = [type(error).__name__] if not found else found
        os.chdir("/")
    answers.append(found)
print(json.dumps(answers))
"""
"""Prints, for each project on stdin, what pip would install: [requirement, editable, constraint]."""


def unified(files: Mapping[str, str]) -> dict[str, str]:
    """As the files come out of the product's own decoding."""
    return {
        path: text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n") for path, text in files.items()
    }


def is_accounted_for(asked: str, ours: Sequence[Requirement]) -> bool:
    """Whether the audit knows of it: by name and version, or as something that it could not check."""
    match = re.match(r"([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*\(?(.*)", asked, re.ASCII)
    name = canonical_name(match[1]) if match else ""
    pin = re.match(r"===?\s*([^\s,;)]+)", match[2]) if match else None
    for item in ours:
        if item.may_be_any or (item.name == name and item.problem is not EvidenceReason.NONE):
            return True
        if item.name == name and pin and item.version and item.version == pin[1]:
            return True
    return False


class Tricks(unittest.TestCase):
    def test_the_bad_pin_is_seen_or_something_is_named_as_not_audited(self) -> None:
        for trick, files in TRICKS.items():
            with self.subTest(trick):
                found = resolve_manifest(TOP, unified(files))
                bad = any((item.name, item.version) in BAD_PINS for item in found)
                named = any(item.problem is not EvidenceReason.NONE for item in found)
                self.assertTrue(bad or named, found)

    def test_a_coding_line_that_pip_alone_heeds_is_named(self) -> None:
        hidden = "# coding: utf-7\n# +AAo-django==3.2.0+AAo-\nx==1\n"
        self.assertIn("django==3.2.0\n", hidden.encode().decode("utf-7"))
        for text, want in (
            (hidden, True),
            ("# -*- coding: raw_unicode_escape -*-\nx==1\n", True),
            ("#\n# vim: set fileencoding=utf-16-le :\nx==1\n", True),
            ("# -*- coding: utf-8 -*-\nx==1\n", False),
            ("# coding: Latin-1\nx==1\n", False),
            ("# coding: nothing-known\nx==1\n", False),
        ):
            with self.subTest(text=text):
                problems = [item.problem for item in parse_requirements(text).requirements]
                self.assertEqual(EvidenceReason.PARSE_FAILED in problems, want)

    def test_what_may_be_any_package_says_so(self) -> None:
        for text, want in (
            ("pkg @ https://host/x.zip", False),
            ("https://host/pkg-1.0-py3-none-any.whl", False),
            ("https://host/pkg-1.0.tar.gz", True),
            ("git+https://host/pkg.git", True),
            ("git+https://host/x.git#egg=pkg", True),
            ("-e ./pkg", True),
            ("-e 'pkg @ git+https://host/x.git'", False),
            ("./pkg", True),
            ("-e .", False),
            (".[dev]", False),
            ("file:.", False),
            ("-e ..", True),
            ("nonsense here", True),
            ("-r nope.txt", True),
        ):
            with self.subTest(text=text):
                self.assertEqual([item.may_be_any for item in resolve_manifest(TOP, {TOP: text})], [want])


class AgainstPip(unittest.TestCase):
    """All that pip would install is in our reading, by name and version or as not audited."""

    python: Path

    @classmethod
    def setUpClass(cls) -> None:
        python = require_installed(Scanner.PIP_AUDIT).python
        assert python is not None
        cls.python = python

    def ask(self, projects: Sequence[Mapping[str, str]]) -> list[list[list[str | bool] | str]]:
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [str(self.python), "-I", "-c", ORACLE], input=json.dumps(projects), capture_output=True,
                text=True, cwd=folder, check=True, timeout=120,
            )  # fmt: skip
        answers: list[list[list[str | bool] | str]] = json.loads(done.stdout)
        return answers

    def compare(self, projects: Sequence[Mapping[str, str]]) -> int:
        """How many requirements were compared."""
        compared = 0
        for files, answer in zip(projects, self.ask(projects), strict=True):
            ours = resolve_manifest(next(iter(files)), unified(files))
            for entry in answer:
                if isinstance(entry, str):
                    continue  # pip stops at this file
                asked, _, constraint = entry
                if not constraint:
                    compared += 1
                    self.assertTrue(is_accounted_for(str(asked), ours), (files, asked, ours))
        return compared

    def test_the_tricks(self) -> None:
        self.assertGreater(self.compare(list(TRICKS.values())), 40)

    def test_random_files(self) -> None:
        pieces = (
            "django==3.2.0", "flask", "x", "==", "1.0", " ", " ", "  ", "\t", "\\\n", "\\", "\n", "\n", "\n", "\r", "\r\n", "\x0c",
            "\u2028", "\x85", "#", " #", "# c", ";", "; python_version<'3'", "-r b.txt", "-rb.txt", "--requirement", "=", "b.txt",
            "-c", "-c b.txt", "--pre", "-e ./y", "-e", "[a]", "(", ")", "--hash=sha256:aa", "'", '"', "@", " @ ", "https://h/y.zip",
            "-i", "--no-index", "--req", "${A}", "./", ".", ",", "!=2", "é", "$",
        )  # fmt: skip
        chance = random.Random(7)
        projects = []
        for _ in range(600):
            text = "".join(chance.choice(pieces) for _ in range(chance.randint(1, 14)))
            projects.append({TOP: text, "b.txt": "inner==2.0\n" + chance.choice(["", "y==3", "-r r2.txt"]), "r2.txt": "z==9"})
        self.assertGreater(self.compare(projects), 200)
