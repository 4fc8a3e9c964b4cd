import json
import unittest
from pathlib import Path

from appsecgate.model import EvidenceReason
from appsecgate.scanners.lockfiles import (
    parse_pdm_lock,
    parse_pipfile_lock,
    parse_poetry_lock,
    parse_pylock,
    parse_uv_lock,
)
from appsecgate.scanners.manifests import parse_manifest, resolve_manifest
from appsecgate.scanners.requirements import Origin, Requirement

LOCKS = Path(__file__).resolve().parent.parent / "data" / "locks"
"""Written by the real tools for ``requests==2.19.0`` and ``jinja2==2.10``; the index's host names were replaced,
and Poetry's, which had to be locked through a named mirror, lost its source tables."""

UNSUPPORTED = EvidenceReason.UNSUPPORTED_DEPENDENCY
POETRY = """
[[package]]
name = "Django"
version = "3.2.0"
[[package]]
name = "inner"
version = "1.0"
[package.source]
type = "legacy"
url = "https://index.example/simple"
reference = "private"
[[package]]
name = "from-git"
version = "1.0"
[package.source]
type = "git"
url = "https://user:secret@host/x.git"
[metadata]
lock-version = "2.0"
"""
UV = """
version = 1
[[package]]
name = "shop"
version = "0.1.0"
source = { virtual = "." }
[[package]]
name = "member"
version = "0.1.0"
source = { editable = "packages/member" }
[[package]]
name = "outside"
version = "0.1.0"
source = { editable = "../outside" }
[[package]]
name = "from-git"
version = "1.0"
source = { git = "https://host/x?rev=1#1" }
[[package]]
name = "rare"
version = "1.0"
source = { registry = "https://index.example/simple" }
"""
PDM = """
[metadata]
lock_version = "4.5.0"
[[package]]
name = "requests"
version = "2.19.0"
[[package]]
name = "requests"
version = "2.19.0"
extras = ["socks"]
[[package]]
name = "local"
version = "1.0"
path = "./vendor/local"
[[package]]
name = "own"
version = "1.0"
path = "./packages/own"
editable = true
"""
PYLOCK = """
lock-version = "1.0"
[[packages]]
name = "requests"
version = "2.19.0"
index = "https://index.example/simple"
[[packages]]
name = "tree"
directory = { path = "./tree" }
[[packages]]
name = "vcs"
vcs = { type = "git", url = "https://host/x.git", commit-id = "1" }
[[packages]]
version = "1.0"
"""
PIPFILE = {
    "_meta": {
        "sources": [{"name": "pypi", "url": "https://index.example"}, {"name": "inner", "url": "https://inner.example"}]
    },
    "default": {
        "requests": {"version": "==2.19.0", "index": "pypi"},
        "secret-sauce": {"version": "==1.0", "index": "inner"},
        "from-git": {"git": "https://host/x.git", "ref": "1"},
        "me": {"path": ".", "editable": True},
        "star": {"version": "*"},
    },
    "develop": {"requests": {"version": "==2.20.0"}},
}


def short(requirement: Requirement) -> tuple[str, str | None, EvidenceReason]:
    return requirement.name, requirement.version, requirement.problem


class Locks(unittest.TestCase):
    def test_locks_of_the_real_tools_give_equal_pins_each_at_its_line(self) -> None:
        want = {"certifi", "chardet", "idna", "jinja2", "markupsafe", "requests", "urllib3"}
        found = sorted(path for path in LOCKS.iterdir())
        self.assertTrue(
            {"uv.lock", "poetry.lock", "pdm.lock", "pylock.toml", "Pipfile.lock"} <= {path.name for path in found}
        )
        for path in found:
            with self.subTest(path=path.name):
                text = path.read_text(encoding="utf-8")
                requirements = parse_manifest(path.name, text).requirements
                versions = {item.name: item.version for item in requirements}
                self.assertEqual(set(versions), want)
                self.assertEqual(
                    (versions["requests"], versions["jinja2"], versions["idna"]), ("2.19.0", "2.10", "2.7")
                )
                self.assertEqual({item.problem for item in requirements}, {EvidenceReason.NONE})
                line = next(item.line for item in requirements if item.name == "requests")
                self.assertIn(
                    "requests" if path.suffix == ".txt" or "Pipfile" in path.name else "2.19.0",
                    text.split("\n")[line - 1],
                )

    def test_public_origins_are_told(self) -> None:
        for name in ("uv.lock", "poetry.lock", "pylock.toml", "Pipfile.lock"):
            with self.subTest(name=name):
                requirements = parse_manifest(name, (LOCKS / name).read_text(encoding="utf-8")).requirements
                self.assertEqual({item.origin for item in requirements}, {Origin.PUBLIC})

    def test_poetry_sources_are_heeded(self) -> None:
        found = parse_poetry_lock(POETRY).requirements
        self.assertEqual(
            [short(item) for item in found],
            [
                ("django", "3.2.0", EvidenceReason.NONE),
                ("inner", "1.0", EvidenceReason.NONE),
                ("from-git", "1.0", UNSUPPORTED),
            ],
        )
        self.assertEqual([item.origin for item in found], [Origin.PUBLIC, Origin.PRIVATE, Origin.UNSAID])
        self.assertEqual([item.line for item in found], [4, 7, 14])
        self.assertNotIn("secret", found[2].detail)

    def test_uv_leaves_the_project_out_audits_its_members_and_names_the_rest(self) -> None:
        requirements = parse_uv_lock(UV).requirements
        found = [short(item) for item in requirements]
        self.assertIs(requirements[0].origin, Origin.OWN)
        want = [
            ("member", "0.1.0", EvidenceReason.NONE),
            ("outside", "0.1.0", UNSUPPORTED),
            ("from-git", "1.0", UNSUPPORTED),
            ("rare", "1.0", EvidenceReason.NONE),
        ]
        self.assertEqual(found, want)

    def test_pdm_extras_are_one_package(self) -> None:
        found = [short(item) for item in parse_pdm_lock(PDM).requirements]
        want = [("local", "1.0", UNSUPPORTED), ("own", "1.0", EvidenceReason.NONE)]
        self.assertEqual(found, [("requests", "2.19.0", EvidenceReason.NONE), *want])

    def test_pylock_names_what_is_no_release(self) -> None:
        found = [short(item) for item in parse_pylock(PYLOCK).requirements]
        want = [("requests", "2.19.0", EvidenceReason.NONE), ("tree", None, UNSUPPORTED), ("vcs", None, UNSUPPORTED)]
        self.assertEqual(found, [*want, ("", None, EvidenceReason.PARSE_FAILED)])

    def test_pipfile_lock_sections_and_indexes_are_read(self) -> None:
        found = parse_pipfile_lock(json.dumps(PIPFILE, indent=1)).requirements
        self.assertEqual(
            [(*short(item), item.origin) for item in found],
            [
                ("requests", "2.19.0", EvidenceReason.NONE, Origin.PUBLIC),
                ("secret-sauce", "1.0", EvidenceReason.NONE, Origin.PRIVATE),
                ("from-git", None, UNSUPPORTED, Origin.UNSAID),
                ("star", None, UNSUPPORTED, Origin.UNSAID),
                ("requests", "2.20.0", EvidenceReason.NONE, Origin.UNSAID),
            ],
        )
        lines = json.dumps(PIPFILE, indent=1).split("\n")
        for item in found:
            self.assertIn(f'"{item.name}"', lines[item.line - 1])

    def test_what_is_no_lock_is_not_read_as_an_empty_one(self) -> None:
        for name, text in (
            ("poetry.lock", "gar bage"),
            ("poetry.lock", ""),
            ("uv.lock", "package = 3"),
            ("pylock.toml", "[[packages"),
            ("Pipfile.lock", "[]"),
            ("Pipfile.lock", "{"),
            ("Pipfile.lock", "[" * 100_000),
            ("pdm.lock", "a = " + "[" * 5_000),
        ):
            with self.subTest(name=name, text=text[:20]):
                (found,) = parse_manifest(name, text).requirements
                self.assertIs(found.problem, EvidenceReason.PARSE_FAILED)

    def test_what_lies_beyond_the_limit_is_named(self) -> None:
        toml = "".join(f'[[package]]\nname = "p{number}"\nversion = "1"\n' for number in range(20_005))
        entries = {f"p{number}": {"version": "==1"} for number in range(20_005)}
        for name, text in (("poetry.lock", toml), ("Pipfile.lock", json.dumps({"default": entries}))):
            with self.subTest(name=name):
                found = parse_manifest(name, text).requirements
                self.assertEqual(len(found), 20_001)
                self.assertIs(found[-1].problem, EvidenceReason.PARTIAL)
                resolved = resolve_manifest(name, {name: text})
                self.assertIn(EvidenceReason.PARTIAL, {item.problem for item in resolved})

    def test_a_name_that_is_none_is_named_and_hides_no_other(self) -> None:
        odd = ("a b", "-x", "x\n", "\U0001f600", "ſhortbread", "", "a" * 300)
        toml = "".join(f"[[package]]\nname = {json.dumps(name, ensure_ascii=False)}\nversion = '1'\n" for name in odd)
        entries = {name: {"version": "==1"} for name in odd}
        for path, text in (("uv.lock", toml), ("Pipfile.lock", json.dumps({"default": entries}))):
            with self.subTest(path=path):
                found = parse_manifest(path, text).requirements
                self.assertEqual([short(item) for item in found], [("", None, EvidenceReason.PARSE_FAILED)] * len(odd))

    def test_an_editable_package_that_is_not_the_project_itself_is_named(self) -> None:
        entries = {"me": {"path": ".", "editable": True}, "django": {"path": "./vendored/django", "editable": True}}
        found = parse_pipfile_lock(json.dumps({"default": entries})).requirements
        self.assertEqual([short(item) for item in found], [("django", None, UNSUPPORTED)])

    def test_an_empty_lock_asks_for_nothing(self) -> None:
        self.assertEqual(parse_uv_lock("version = 1\n").requirements, ())
        self.assertEqual(parse_pipfile_lock('{"_meta": {}, "default": {}}').requirements, ())

    def test_a_string_that_looks_like_a_header_costs_the_lines_and_nothing_else(self) -> None:
        text = '[[package]]\nname = "a"\ndescription = """\n[[package]]\n"""\nversion = "1"\n'
        self.assertEqual([(item.name, item.line) for item in parse_poetry_lock(text).requirements], [("a", 1)])
