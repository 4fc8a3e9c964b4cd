"""Dependency declarations that are not lists of requirements: pyproject.toml, Pipfile, setup.cfg, setup.py.

They mostly give ranges; a lock file beside them holds the pins (see ``manifests``). setup.py is parsed, never run.
"""

import ast
import configparser
import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import replace

from appsecgate.advisories.pep440 import parse_version
from appsecgate.model import EvidenceReason, Json
from appsecgate.scanners.lockfiles import broken_file, load_toml
from appsecgate.scanners.report_json import json_object, json_text
from appsecgate.scanners.requirements import (
    DependencyFile,
    Include,
    Origin,
    Requirement,
    package_name,
    parse_requirement,
    specified_requirement,
)
from appsecgate.scanners.told_names import told_name

MAX_PYPROJECT_CHARS = 2 << 20
"""Of a file that people write; Pipfile too."""
_QUOTED_TEXT = re.compile(r""""([^"]*)"|'([^']*)'""")
_SETUP_KEYS = ("install_requires", "setup_requires", "tests_require")
_ASSIGNED_KEY = re.compile(r"""(?<![\w.-])([\w.-]++)["']?[ \t]*=(?!=)""")


class _Lines:
    """Where literals and keys stand in a file, found in one pass; equal ones are given out one after the other."""

    def __init__(self, text: str) -> None:
        self._places: dict[str, deque[int]] = {}
        for number, line in enumerate(text.split("\n"), 1):
            found = {line.strip(), *(match[1] or match[2] for match in _QUOTED_TEXT.finditer(line))}
            found |= {f"{match[1]}=" for match in _ASSIGNED_KEY.finditer(line)}
            found |= {part.strip() for part in line.partition("=")[2].split(";")}
            for literal in found - {""}:
                self._places.setdefault(literal, deque()).append(number)

    def of_string(self, value: str) -> int:
        """The line of the next ``"value"``, or of the line that is nothing else; 1 where it is not found."""
        places = self._places.get(value)
        if not places:
            return 1
        return places.popleft() if len(places) > 1 else places[0]

    def of_key(self, key: str) -> int:
        """The line of the next ``key =``, bare or quoted; 1 where it is not found."""
        return self.of_string(f"{key}=")


def parse_pyproject(text: str) -> DependencyFile:
    """PEP 621, PEP 735 groups, and the tables of Poetry, PDM and uv; build requirements where they are pinned."""
    document = load_toml(text, MAX_PYPROJECT_CHARS)
    if isinstance(document, DependencyFile):
        return document
    lines = _Lines(text)
    tool = json_object(document.get("tool"))
    found = [
        *_pep621(document, tool, lines),
        *_poetry(json_object(tool.get("poetry")), lines),
        *_tool_tables(tool, lines),
        *(
            item
            for item in _string_requirements(json_object(document.get("build-system")).get("requires"), lines)
            if item.version
        ),
    ]
    found = _with_uv_sources(found, json_object(json_object(tool.get("uv")).get("sources")))
    return DependencyFile(tuple(found), tuple(_dynamic_files(tool, lines)))


def parse_pipfile(text: str) -> DependencyFile:
    """``[packages]``, ``[dev-packages]`` and further categories: names with ``"*"``, ``"==1.0"`` or a table."""
    document = load_toml(text, MAX_PYPROJECT_CHARS)
    if isinstance(document, DependencyFile):
        return document
    lines = _Lines(text)
    found: list[Requirement] = []
    for section, entries in document.items():
        if section in ("source", "requires", "scripts", "pipenv", "pipenv-options") or not isinstance(entries, dict):
            continue
        found += [_tabled(name, entry, lines.of_key(name), poetry=False) for name, entry in entries.items()]
    return DependencyFile(tuple(found))


def parse_setup_cfg(text: str) -> DependencyFile:
    """``[options] install_requires``, ``setup_requires``, ``tests_require`` and ``[options.extras_require]``."""
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(text)
    except (configparser.Error, ValueError):
        return broken_file("it is not a valid configuration file")
    options = parser.items("options") if parser.has_section("options") else []
    values = [value for key, value in options if key.replace("-", "_") in _SETUP_KEYS]  # setuptools takes either
    if parser.has_section("options.extras_require"):
        values += [value for _, value in parser.items("options.extras_require")]
    lines = _Lines(text)
    # a list is one entry per line, or one line parted by semicolons
    items = [item.strip() for value in values for item in value.split("\n" if "\n" in value else ";") if item.strip()]
    files = [
        Include(name.strip(), lines.of_string(item), False)
        for item in items
        if item.startswith("file:")
        for name in item.removeprefix("file:").split(",")
    ]
    found = [parse_requirement(item, lines.of_string(item)) for item in items if not item.startswith(("file:", "#"))]
    return DependencyFile(tuple(found), tuple(files))


def parse_setup_py(text: str) -> DependencyFile:
    """The literal lists given to ``setup()`` under any name; what a program computes is named as not audited."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return broken_file("it is no valid Python")
    found: list[Requirement] = []
    calls = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            is_setup = _called_name(node.func) == "setup"
            calls += is_setup
            for keyword in node.keywords:
                if keyword.arg in (*_SETUP_KEYS, "extras_require"):
                    found += _literal_requirements(keyword.value)
                elif keyword.arg is None and is_setup:
                    found.append(_computed(keyword.value.lineno))
        elif _touches_requirements(node):
            found.append(_computed(getattr(node, "lineno", 1)))
    if not calls and any(map(_imports_builder, ast.walk(tree))):
        found.append(_computed(1))
    return DependencyFile(tuple(found))


def _called_name(function: ast.expr) -> str:
    return (
        function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
    )


def _touches_requirements(node: ast.AST) -> bool:
    """``distribution.install_requires`` and ``arguments["install_requires"]``: set somewhere else than in a call."""
    if isinstance(node, ast.Attribute):
        return node.attr in (*_SETUP_KEYS, "extras_require") and not isinstance(node.ctx, ast.Load)
    return isinstance(node, ast.Constant) and node.value in (*_SETUP_KEYS, "extras_require")


def _imports_builder(node: ast.AST) -> bool:
    if isinstance(node, ast.Import):
        return any(alias.name.split(".")[0] in ("setuptools", "distutils") for alias in node.names)
    return isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in ("setuptools", "distutils")


def _literal_requirements(node: ast.expr) -> Iterator[Requirement]:
    if isinstance(node, ast.Dict):
        for value in node.values:
            yield from _literal_requirements(value)
    elif isinstance(node, ast.List | ast.Tuple):
        for item in node.elts:
            yield from _literal_requirements(item)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        for line in filter(None, map(str.strip, node.value.splitlines())):
            yield parse_requirement(line.partition(" #")[0], node.lineno)
    else:
        yield _computed(node.lineno)


def _computed(line: int) -> Requirement:
    return Requirement("", None, line, EvidenceReason.UNSUPPORTED_DEPENDENCY, "computed when the package is built")


def _string_requirements(value: Json, lines: _Lines) -> Iterator[Requirement]:
    """Requirement strings in a list, or in the lists of a table; includes of groups bring nothing new."""
    if isinstance(value, dict):
        for entry in value.values():
            yield from _string_requirements(entry, lines)
    for item in value if isinstance(value, list) else []:
        if isinstance(item, str):
            yield parse_requirement(item, lines.of_string(item))


def _tool_tables(tool: Mapping[str, Json], lines: _Lines) -> Iterator[Requirement]:
    """Lists of PDM, uv, Rye and Hatch beside the standard ones. Overrides take the place of what a package asks for."""
    pdm, uv = json_object(tool.get("pdm")), json_object(tool.get("uv"))
    for entry in (
        pdm.get("dev-dependencies"),
        uv.get("dev-dependencies"),
        uv.get("override-dependencies"),
        json_object(tool.get("rye")).get("dev-dependencies"),
    ):
        yield from _string_requirements(entry, lines)
    for name, entry in json_object(json_object(pdm.get("resolution")).get("overrides")).items():
        line = lines.of_key(name)
        if re.match(r"[\s\d<>=!~*,.]*$", json_text(entry), re.ASCII):
            yield _tabled(name, entry, line, poetry=True)
        else:
            yield parse_requirement(f"{name} @ {json_text(entry)}", line)
    for environment in json_object(json_object(tool.get("hatch")).get("envs")).values():
        for key in ("dependencies", "extra-dependencies"):
            yield from _string_requirements(json_object(environment).get(key), lines)


def _pep621(document: Mapping[str, Json], tool: Mapping[str, Json], lines: _Lines) -> Iterator[Requirement]:
    project = json_object(document.get("project"))
    declared = project.get("dependencies", [])
    if not isinstance(declared, list) or not all(isinstance(item, str) for item in declared):
        why = "project.dependencies is no list of texts"
        yield Requirement("", None, lines.of_key("dependencies"), EvidenceReason.PARSE_FAILED, why)
    yield from _string_requirements(declared, lines)
    yield from _string_requirements(project.get("optional-dependencies"), lines)
    yield from _string_requirements(document.get("dependency-groups"), lines)
    dynamic = project.get("dynamic")
    told = json_object(json_object(tool.get("setuptools")).get("dynamic"))
    for key in ("dependencies", "optional-dependencies"):
        if isinstance(dynamic, list) and key in dynamic and not (told.get(key) or json_object(tool.get("poetry"))):
            yield _computed(lines.of_key("dynamic"))


def _dynamic_files(tool: Mapping[str, Json], lines: _Lines) -> Iterator[Include]:
    """Setuptools' ``dynamic.dependencies = {file = ["requirements.txt"]}``."""
    dynamic = json_object(json_object(tool.get("setuptools")).get("dynamic"))
    entries: list[Json] = [dynamic.get("dependencies"), *json_object(dynamic.get("optional-dependencies")).values()]
    for entry in entries:
        files = entry.get("file") if isinstance(entry, dict) else None
        for name in files if isinstance(files, list) else [files]:
            if isinstance(name, str):
                yield Include(name, lines.of_string(name), False)


def _poetry(poetry: Mapping[str, Json], lines: _Lines) -> Iterator[Requirement]:
    groups = json_object(poetry.get("group"))
    tables = [json_object(poetry.get("dependencies")), json_object(poetry.get("dev-dependencies"))]
    tables += [json_object(json_object(groups.get(name)).get("dependencies")) for name in groups]
    for table in tables:
        for name, entry in table.items():
            if name == "python":
                continue
            line = lines.of_key(name)
            for variant in entry if isinstance(entry, list) else [entry]:
                yield _tabled(name, variant, line, poetry=True)


def _tabled(name: str, entry: Json, line: int, *, poetry: bool) -> Requirement:
    """``name = "…"`` or ``name = {version = …, git = …}`` as Poetry and Pipenv write them."""
    told, name = name, package_name(name)
    if not name:
        return Requirement("", None, line, EvidenceReason.PARSE_FAILED, f"{told[:60]!r} is no package name")
    table = entry if isinstance(entry, dict) else {"version": entry}
    for key, words in (("git", "a version control address"), ("url", "a URL"), ("file", "a path"), ("path", "a path")):
        if key in table:
            return Requirement(name, None, line, EvidenceReason.UNSUPPORTED_DEPENDENCY, f"{name} comes from {words}")
    version = json_text(table.get("version")).strip()
    origin = Origin.PRIVATE if table.get("source") or table.get("index") not in (None, "pypi") else Origin.UNSAID
    if poetry and (parsed := parse_version(version)) is not None:  # Poetry reads a bare version as ==
        return Requirement(name, parsed.text, line, origin=origin)
    if re.fullmatch(r"\s*={2,3}\s*[^\s,*]+", version):
        return specified_requirement(name, version, line, origin)
    why = f"{name} is not pinned" + (f" ({version[:60]})" if version else "")
    return Requirement(name, None, line, EvidenceReason.UNPINNED_DEPENDENCY, why, origin, wanted=_poetry_range(version))


def _poetry_range(text: str) -> tuple[tuple[str, str], ...]:
    """``^1.2``, ``~1.2`` and PEP 440's own operators; empty (no bound) where a part is anything else."""
    bounds: list[tuple[str, str]] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        match = re.fullmatch(r"(\^|~=|~|[<>]=?|[!=]=)\s*([0-9][0-9A-Za-z.*+!-]*)", part, re.ASCII)
        if match is None:
            return ()
        operator, version = match[1], match[2]
        if operator not in ("^", "~"):
            bounds.append((operator, version))
            continue
        if not re.fullmatch(r"[0-9]{1,9}(?:\.[0-9]{1,9}){0,5}", version):
            return ()
        numbers = [int(number) for number in version.split(".")]
        first = next((place for place, number in enumerate(numbers) if number), len(numbers) - 1)
        kept = first if operator == "^" else min(1, len(numbers) - 1)
        upper = [*numbers[:kept], numbers[kept] + 1]
        bounds += [(">=", version), ("<", ".".join(map(str, upper)))]
    return tuple(bounds)


def _with_uv_sources(found: list[Requirement], sources: Mapping[str, Json]) -> list[Requirement]:
    """uv's ``[tool.uv.sources]`` sends single packages elsewhere."""
    places: dict[str, str | None] = {}
    for name, source in sources.items():
        for variant in source if isinstance(source, list) else [source]:
            if isinstance(variant, dict):
                index = "index" in variant or variant.get("workspace") is True  # the lock has the member
                what = "a version control address" if "git" in variant else "a URL" if "url" in variant else "a path"
                places[told_name(name)] = None if index else what
    result = []
    for item in found:
        if item.name in places:
            what_else = places[item.name]
            if what_else is None:
                item = replace(item, origin=Origin.PRIVATE)
            else:
                item = replace(
                    item,
                    version=None,
                    problem=EvidenceReason.UNSUPPORTED_DEPENDENCY,
                    detail=f"{item.name} comes from {what_else}",
                )
        result.append(item)
    return result
