"""The rules of the house: who may import whom, who may touch what, and that generated files are current."""

import ast
import sys
import unittest
from collections.abc import Iterator
from pathlib import Path

from scripts.build import stale
from scripts.house import (
    COMMON,
    FLOORS,
    NEIGHBOURS,
    PACKAGE,
    family,
    floor_of,
    imported_modules,
    package_modules,
)

ROOT = Path(__file__).resolve().parent.parent
MODULES = package_modules(ROOT)
MAX_LINES = 400
UNLIMITED = {"embedded"}
"""Data in the form of a module."""
RESERVED = {
    "sqlite3": ("store.",),
    "subprocess": ("process",),
    "multiprocessing": (),
    "asyncio": (),
    "socket": ("scanners.advisory_responder",),
    "socketserver": ("scanners.advisory_responder",),
    "http": ("scanners.advisory_responder",),
    "urllib.request": ("advisory_download",),
    "ssl": ("advisory_download",),
    "ctypes": (),
    "pickle": (),
}
"""Standard modules that only these modules of ours may import.

Sockets: the responder listens on loopback while an audit runs; the download is what ``advisories update`` is for.
"""
PRINTING = ("cli", "setup")


def own_name(module: str) -> str | None:
    """The name below the package, or None for somebody else's module."""
    if module == PACKAGE:
        return "__init__"
    return module.removeprefix(f"{PACKAGE}.") if module.startswith(f"{PACKAGE}.") else None


def calls(path: Path, name: str) -> Iterator[int]:
    """Lines that call a plain name."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
            yield node.lineno


class LayersTest(unittest.TestCase):
    def test_every_module_has_a_floor(self) -> None:
        for module in MODULES:
            with self.subTest(module):
                floor_of(module)
        self.assertEqual({family(module) for module in MODULES}, set(FLOORS), "a floor without a module")

    def test_imports_go_down(self) -> None:
        for module, path in MODULES.items():
            for imported, line in imported_modules(path):
                below = own_name(imported)
                if below is None:
                    continue
                pair = (family(module), family(below))
                near = pair[0] == pair[1] or pair in NEIGHBOURS or below in COMMON
                allowed = near or floor_of(below) < floor_of(module)
                with self.subTest(module=module, line=line):
                    self.assertTrue(allowed, f"{path}:{line}: {module} imports {below}, which is not below it")

    def test_every_neighbourhood_is_used_and_on_one_floor(self) -> None:
        used = {
            (family(module), family(below))
            for module, path in MODULES.items()
            for imported, _ in imported_modules(path)
            if (below := own_name(imported)) is not None
        }
        for pair in NEIGHBOURS:
            with self.subTest(pair):
                self.assertIn(pair, used)
                self.assertEqual(FLOORS[pair[0]], FLOORS[pair[1]])

    def test_only_the_standard_library_is_imported(self) -> None:
        for module, path in MODULES.items():
            for imported, line in imported_modules(path):
                with self.subTest(module=module, line=line):
                    self.assertIn(imported.split(".")[0], {PACKAGE, *sys.stdlib_module_names})

    def test_dangerous_modules_are_imported_where_they_belong(self) -> None:
        for module, path in MODULES.items():
            for imported, line in imported_modules(path):
                for reserved, owners in RESERVED.items():
                    if imported != reserved and not imported.startswith(f"{reserved}."):
                        continue
                    with self.subTest(module=module, line=line):
                        owned = any(module == owner or (owner.endswith(".") and module.startswith(owner)) for owner in owners)
                        self.assertTrue(owned, f"{path}:{line}: {reserved} belongs to {owners or 'nobody'}")

    def test_a_finding_is_made_by_sealing_or_by_reading_it_back(self) -> None:
        for module, path in MODULES.items():
            if family(module) in ("redact", "store"):
                continue
            with self.subTest(module):
                self.assertEqual(list(calls(path, "Finding")), [])

    def test_only_the_command_line_prints(self) -> None:
        for module, path in MODULES.items():
            if family(module) in PRINTING:
                continue
            with self.subTest(module):
                self.assertEqual(list(calls(path, "print")), [])

    def test_nothing_is_evaluated_and_no_shell_is_used(self) -> None:
        for module, path in MODULES.items():
            for name in ("eval", "exec", "__import__"):
                with self.subTest(module=module, name=name):
                    self.assertEqual(list(calls(path, name)), [])
            if module in UNLIMITED:
                continue
            with self.subTest(module=module, name="shell"):
                self.assertNotRegex(ast.unparse(ast.parse(path.read_text("utf-8"))), r"shell=True|os\.system|os\.popen")


class FilesTest(unittest.TestCase):
    def test_no_file_is_too_long(self) -> None:
        files = {**MODULES, **{f"scripts.{path.stem}": path for path in (ROOT / "scripts").glob("*.py")}}
        for module, path in files.items():
            if module not in UNLIMITED:
                with self.subTest(module):
                    self.assertLessEqual(len(path.read_text("utf-8").splitlines()), MAX_LINES)

    def test_every_module_says_what_it_is(self) -> None:
        for module, path in MODULES.items():
            with self.subTest(module):
                self.assertTrue(ast.get_docstring(ast.parse(path.read_text("utf-8"))))

    def test_generated_files_are_current(self) -> None:
        self.assertEqual(stale(ROOT), [], "run: python3 scripts/build.py")

    def test_every_directory_of_tests_is_found_by_the_test_runner(self) -> None:
        for path in (ROOT / "tests").rglob("test_*.py"):
            if (ROOT / "tests/data") in path.parents:
                continue
            for folder in path.relative_to(ROOT).parents:
                if folder != Path():
                    with self.subTest(path=path):
                        self.assertTrue((ROOT / folder / "__init__.py").is_file())

    def test_the_package_can_be_read_without_being_run(self) -> None:
        """Nothing happens at import: a module's top level holds definitions, and calls only to make values."""
        for module, path in MODULES.items():
            for node in ast.parse(path.read_text("utf-8")).body:
                loose = isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant)
                loop = isinstance(node, ast.For | ast.While | ast.With)
                with self.subTest(module=module, line=node.lineno):
                    self.assertFalse(loose or loop, f"{path}:{node.lineno} runs at import")


if __name__ == "__main__":
    unittest.main()
