"""Join the package into one readable file, or say with file and line why that is not possible.

The modules come one after another under banners, in an order in which each one's imports stand above
it; standard-library imports are merged on top; own imports fall away, since all names are then in one
place. What that asks of the package is checked here, and everything that is wrong is said at once.

``__main__.py`` may have two blocks under ``if __name__ == "__main__":``. What the last one says stands at the end;
what the first one says stands below the modules that ``__main__.py`` imports above it, which therefore come first.
"""

import ast
import builtins
import heapq
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from scripts.house import DATA_NOTES, PACKAGE

MODULE_NAMES = {"__file__", "__name__", "__doc__", "__package__", "__spec__", "__path__", "globals"}
"""Names that mean something else once all modules are one."""
RULER = "# " + "=" * 98


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """A broken rule. ``line`` is 1-based."""

    path: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text}"


@dataclass(slots=True)
class Module:
    """One module of the package, taken apart."""

    name: str
    path: str
    source: str
    tree: ast.Module
    needs: dict[str, int] = field(default_factory=dict)
    """Own module → line of the import."""
    taken: list[tuple[str, str, int]] = field(default_factory=list)
    """(own module, name, line) for each name imported from it."""
    imports: list[tuple[str, int]] = field(default_factory=list)
    """Standard imports at the top, one name each: ``import re`` or ``from enum import StrEnum``."""
    typing_imports: list[tuple[str, int]] = field(default_factory=list)
    """The same from blocks under ``if TYPE_CHECKING:``."""
    defined: dict[str, int] = field(default_factory=dict)
    """Top-level name → line of its first binding."""
    guarded: dict[str, int] = field(default_factory=dict)
    """Names bound by an import below ``if`` or ``try`` at the top."""
    beginning: str = ""
    """The first block under ``if __name__ == "__main__":`` of ``__main__.py``, where it has two."""
    early: set[str] = field(default_factory=set)
    """Own modules that are imported above that block."""
    ending: str = ""
    """The last such block."""
    cut: set[int] = field(default_factory=set)
    """Lines that do not go into the joined file."""


class SingleFileError(Exception):
    """The package cannot be joined; ``problems`` says why, one line each."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = sorted(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


def package_files(root: Path) -> list[Path]:
    """Every module of the package below ``root``, sorted; the folders of data are left out."""
    package = root / PACKAGE
    found = (path for path in package.rglob("*.py") if "__pycache__" not in path.parts)
    return sorted(path for path in found if path.relative_to(package).parts[0] not in DATA_NOTES)


def join_package(root: Path, replaced: Mapping[str, str] | None = None) -> str:
    """The package below ``root`` as one program. ``replaced``: path → text that stands for the disk's.

    Raises SingleFileError with everything that stands against it.
    """
    texts = {str(path.relative_to(root)): path.read_text("utf-8") for path in package_files(root)}
    texts.update(replaced or {})
    problems: list[Problem] = []
    modules = [take_apart(path, text, problems) for path, text in sorted(texts.items())]
    by_name = {module.name: module for module in modules}
    check_names(by_name, problems)
    ordered = in_import_order(by_name, problems)
    if problems:
        raise SingleFileError(set(problems))
    return "".join(render(ordered))


def module_name(path: str) -> str:
    parts = path.removesuffix(".py").split("/")
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def take_apart(path: str, source: str, problems: list[Problem]) -> Module:
    """Read one module; what breaks a rule is added to ``problems``."""
    try:
        tree = ast.parse(source, path)
    except SyntaxError as error:
        problems.append(Problem(path, error.lineno or 1, f"does not parse: {error.msg}"))
        tree = ast.Module([], [])
    module = Module(module_name(path), path, source, tree)
    problems += [Problem(path, line, text) for line, text in _read_top_level(module)]
    problems += [Problem(path, line, text) for line, text in _forbidden_inside(module)]
    return module


def _read_top_level(module: Module) -> Iterator[tuple[int, str]]:
    for index, node in enumerate(module.tree.body):
        if index == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            _cut(module, node)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            _cut(module, node)
            yield from _read_import(module, node, module.imports, needed=True)
        elif _is_typing_block(node):
            _cut(module, node)
            yield from _read_typing_block(module, node)
        elif _is_all_list(node):
            _cut(module, node)
        elif _is_main_guard(module, node):
            _cut(module, node)
            if module.ending:
                module.beginning = module.ending
            else:
                module.early = set(module.needs)
            module.ending = ast.get_source_segment(module.source, node) or ""
        else:
            _bind(module, node)


def _cut(module: Module, node: ast.stmt) -> None:
    module.cut.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))


def _is_all_list(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"


def _is_main_guard(module: Module, node: ast.stmt) -> bool:
    if module.path != f"{PACKAGE}/__main__.py" or not isinstance(node, ast.If):
        return False
    return ast.unparse(node.test) == "__name__ == '__main__'"


def _is_typing_block(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def _read_typing_block(module: Module, block: ast.stmt) -> Iterator[tuple[int, str]]:
    assert isinstance(block, ast.If)
    for node in block.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from _read_import(module, node, module.typing_imports, needed=False)
        else:
            yield node.lineno, "only imports may stand under TYPE_CHECKING"
    for node in block.orelse:
        yield node.lineno, "TYPE_CHECKING has no else here"


def _read_import(
    module: Module, node: ast.Import | ast.ImportFrom, into: list[tuple[str, int]], *, needed: bool
) -> Iterator[tuple[int, str]]:
    for alias in node.names:
        if alias.asname is not None:
            yield node.lineno, f"an import with another name: {alias.name} as {alias.asname}"
        if isinstance(node, ast.Import):
            if alias.name.split(".")[0] == PACKAGE:
                yield node.lineno, f"own import without from: write from {alias.name} import …"
            elif alias.name.split(".")[0] not in sys.stdlib_module_names:
                yield node.lineno, f"not in the standard library: {alias.name}"
            else:
                into.append((f"import {alias.name}", node.lineno))
            continue
        yield from _read_from(module, node, alias.name, into, needed=needed)


def _read_from(
    module: Module, node: ast.ImportFrom, name: str, into: list[tuple[str, int]], *, needed: bool
) -> Iterator[tuple[int, str]]:
    origin = node.module or ""
    if node.level:
        yield node.lineno, "relative import"
    elif name == "*":
        yield node.lineno, f"star import from {origin}"
    elif origin == "__future__":
        yield node.lineno, f"from __future__ import {name} would change every module of the single file"
    elif origin.split(".")[0] == PACKAGE:
        module.taken.append((origin, name, node.lineno))
        if needed:
            module.needs.setdefault(origin, node.lineno)
    elif origin.split(".")[0] not in sys.stdlib_module_names:
        yield node.lineno, f"not in the standard library: {origin}"
    else:
        into.append((f"from {origin} import {name}", node.lineno))


def _bind(module: Module, node: ast.stmt) -> None:
    """Note the names that a top-level statement binds, also below if, try, for and with."""
    for name, line in _bound_names(node):
        module.defined.setdefault(name, line)
    for child in _statements(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            for alias in child.names:
                module.guarded.setdefault((alias.asname or alias.name).split(".")[0], child.lineno)


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """The node and what is below it in the same scope."""
    yield node
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
        return
    if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        return
    for child in ast.iter_child_nodes(node):
        yield from _statements(child)


def _bound_names(node: ast.stmt) -> Iterator[tuple[str, int]]:
    for child in _statements(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield child.name, child.lineno
        elif isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            yield child.id, child.lineno


def _forbidden_inside(module: Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(module.tree):
        line = getattr(node, "lineno", 0)
        if line in module.cut:
            continue
        if isinstance(node, ast.Name) and node.id in MODULE_NAMES:
            yield line, f"{node.id} means something else in the single file"
        elif PACKAGE in _import_roots(node):
            yield line, "own import that is not at the top of the module"


def _import_roots(node: ast.AST) -> set[str]:
    """The top-level packages that a statement imports from; a relative import counts as our own."""
    if isinstance(node, ast.ImportFrom):
        return {PACKAGE if node.level else (node.module or "").split(".")[0]}
    if isinstance(node, ast.Import):
        return {alias.name.split(".")[0] for alias in node.names}
    return set()


def check_names(modules: Mapping[str, Module], problems: list[Problem]) -> None:
    """One name, one meaning, over the whole package; and what is imported exists."""
    owners: dict[str, tuple[Module, int]] = {}
    imported: dict[str, str] = {}
    for module in modules.values():
        for statement, line in module.imports + module.typing_imports:
            name = statement.rsplit(" ", 1)[1].split(".")[0]
            meaning = f"import {name}" if statement.startswith("import ") else statement
            if imported.setdefault(name, meaning) != meaning:
                text = f"{meaning}: elsewhere {name} is {imported[name]}"
                problems.append(Problem(module.path, line, text))
    for module in modules.values():
        for name, line in module.defined.items():
            problems += _name_clashes(module, name, line, owners, imported)
    for module in modules.values():
        problems += _missing_names(module, modules)


def _name_clashes(
    module: Module, name: str, line: int, owners: dict[str, tuple[Module, int]], imported: Mapping[str, str]
) -> Iterator[Problem]:
    if name == "_":
        return
    if hasattr(builtins, name) and not name.startswith("__"):
        yield Problem(module.path, line, f"{name} hides a builtin in every module of the single file")
    if name in imported:
        yield Problem(module.path, line, f"{name} is elsewhere {imported[name]}")
    first, first_line = owners.setdefault(name, (module, line))
    if first is not module:
        yield Problem(module.path, line, f"{name} is also a top-level name of {first.path}:{first_line}")


def _missing_names(module: Module, modules: Mapping[str, Module]) -> Iterator[Problem]:
    for origin, name, line in module.taken:
        if origin not in modules:
            yield Problem(module.path, line, f"there is no module {origin}")
        elif f"{origin}.{name}" in modules:
            yield Problem(module.path, line, f"imports a module: write from {origin}.{name} import …")
        elif name not in {*modules[origin].defined, *(taken for _, taken, _ in modules[origin].taken)}:
            yield Problem(module.path, line, f"{origin} has no top-level name {name}")


def in_import_order(modules: Mapping[str, Module], problems: list[Problem]) -> list[Module]:
    """What a module imports stands above it; among those that are free, the early, the shallow, then by name."""
    early = early_modules(modules)
    waiting = {name: {need for need in module.needs if need in modules} for name, module in modules.items()}
    ready = [_order_key(name, early) for name, needs in waiting.items() if not needs]
    heapq.heapify(ready)
    ordered: list[Module] = []
    while ready:
        *_, name = heapq.heappop(ready)
        ordered.append(modules[name])
        del waiting[name]
        for other, needs in waiting.items():
            if name in needs:
                needs.remove(name)
                if not needs:
                    heapq.heappush(ready, _order_key(other, early))
    for name, needs in waiting.items():
        line = min(modules[name].needs[need] for need in needs)
        text = f"a circle of imports through {', '.join(sorted(needs))}"
        problems.append(Problem(modules[name].path, line, text))
    return ordered


def early_modules(modules: Mapping[str, Module]) -> set[str]:
    """What the beginning of ``__main__.py`` needs, directly or not; nothing where it has no beginning."""
    found: set[str] = set()
    waiting = [name for module in modules.values() if module.beginning for name in module.early]
    while waiting:
        name = waiting.pop()
        if name in modules and name not in found:
            found.add(name)
            waiting += modules[name].needs
    return found


def _order_key(name: str, early: Collection[str]) -> tuple[bool, bool, int, str]:
    return name == f"{PACKAGE}.__main__", name not in early, name.count("."), name


def render(modules: list[Module]) -> Iterator[str]:
    """The text of the single file, piece by piece."""
    yield "#!/usr/bin/env python3\n"
    yield '"""AppSecGate in one file: the whole package, joined by scripts/build.py. Do not edit.\n\n'
    yield "Run it with Python 3.11 or later: python appsecgate.py --help\n"
    yield "Licence: Apache-2.0, see the file LICENSE of the project.\n"
    yield "Parts, in the order in which they stand here:\n\n"
    yield from (f"    {module.path}\n" for module in modules if _body(module))
    yield '"""\n\n'
    early = early_modules({module.name: module for module in modules})
    beginnings = [module.beginning for module in modules if module.beginning]
    first = {statement for m in modules if m.name in early or not early for statement, _ in m.imports}
    first |= {"from typing import TYPE_CHECKING", *(f"import {name}" for name in _attribute_roots(beginnings))}
    later = {statement for m in modules for statement, _ in m.imports} - first
    yield from (f"{line}\n" for line in _sorted_imports(first))
    lazy = _sorted_imports(statement for m in modules for statement, _ in m.typing_imports)
    if lazy:
        yield "\nif TYPE_CHECKING:\n"
        yield from (f"    {line}\n" for line in lazy)
    for module in modules:
        if body := _body(module):
            yield f"\n\n{RULER}\n# {module.path}\n{RULER}\n{_banner_text(module)}\n{body}"
        early.discard(module.name)
        if not early and beginnings:
            yield f"\n\n{beginnings.pop()}\n"
            yield "\n" + "".join(f"{line}\n" for line in _sorted_imports(later))
    yield "".join(f"\n\n{module.ending}\n" for module in modules if module.ending)


def _attribute_roots(statements: Iterable[str]) -> set[str]:
    """The standard modules that statements use as ``module.name``."""
    nodes = [node for statement in statements for node in ast.walk(ast.parse(statement))]
    names = {n.value.id for n in nodes if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name)}
    return names & sys.stdlib_module_names


def _sorted_imports(statements: Iterable[str]) -> list[str]:
    """``import x`` lines first, then one ``from`` line per module."""
    unique = set(statements)
    plain = sorted(statement for statement in unique if statement.startswith("import "))
    names: dict[str, set[str]] = {}
    for statement in unique.difference(plain):
        _, origin, _, name = statement.split(" ")
        names.setdefault(origin, set()).add(name)
    return plain + [line for origin in sorted(names) for line in _from_lines(origin, sorted(names[origin]))]


def _from_lines(origin: str, names: list[str]) -> list[str]:
    line = f"from {origin} import {', '.join(names)}"
    if len(line) <= 100:
        return [line]
    return [f"from {origin} import (", *(f"    {name}," for name in names), ")"]


def _banner_text(module: Module) -> str:
    text = ast.get_docstring(module.tree) or ""
    return "".join(f"# {line}".rstrip() + "\n" for line in text.splitlines())


def _body(module: Module) -> str:
    lines = module.source.split("\n")
    kept = [line for number, line in enumerate(lines, 1) if number not in module.cut]
    return "\n".join(kept).strip("\n") + "\n" if "".join(kept).strip() else ""
