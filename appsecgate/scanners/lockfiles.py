"""Lock files of Python package managers, read as pinned requirements.

poetry.lock, uv.lock, pdm.lock and pylock.toml (PEP 751) are TOML with one table per package, Pipfile.lock is
JSON. The parsers of the standard library give no line numbers, so lines are found in the text: the n-th
package table belongs to the n-th ``[[package]]`` header.
"""

import bisect
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping

from appsecgate.advisories.pep440 import parse_version
from appsecgate.decoding_toml import MAX_TOML_CHARS, UnreasonableTomlError, parse_toml
from appsecgate.model import EvidenceReason, Json
from appsecgate.scanners.report_json import json_list, json_object, json_text
from appsecgate.scanners.requirements import (
    MAX_REQUIREMENTS,
    DependencyFile,
    Origin,
    Requirement,
    is_public_file,
    package_name,
)


def parse_poetry_lock(text: str) -> DependencyFile:
    """``[[package]]`` with ``[package.source]`` of type git, url, file, directory or legacy (another index)."""
    return _toml_lock(text, "package", _poetry_source)


def parse_uv_lock(text: str) -> DependencyFile:
    """``[[package]]`` with ``source = { registry | git | url | path | directory | editable | virtual = … }``."""
    return _toml_lock(text, "package", _uv_source)


def parse_pdm_lock(text: str) -> DependencyFile:
    """``[[package]]`` with ``git``, ``url`` or ``path`` beside name and version."""
    return _toml_lock(text, "package", _pdm_source)


def parse_pylock(text: str) -> DependencyFile:
    """PEP 751: ``[[packages]]`` with ``index``, ``vcs``, ``directory`` or ``archive``."""
    return _toml_lock(text, "packages", _pylock_source)


def parse_pipfile_lock(text: str) -> DependencyFile:
    """Sections ``default`` and ``develop`` (and categories of that form) of ``name: {version, index, git, path …}``."""
    try:
        document: Json = json.loads(text)
    except (ValueError, RecursionError):
        return broken_file("it is not valid JSON")
    if not isinstance(document, dict):
        return broken_file("its top level is no object")
    indexes = _pipfile_indexes(document.get("_meta"))
    found: list[Requirement] = []
    keys = _JsonKeys(text)
    position = -1
    for section, entries in document.items():
        if section == "_meta" or not isinstance(entries, dict):
            continue
        position, _ = keys.next(section, position)
        for name, entry in entries.items():
            position, line = keys.next(name, position)
            if not (isinstance(entry, dict) and entry.get("editable") and _is_here(entry.get("path"))):
                found.append(_pipfile_entry(name, entry, line, indexes))
    if len(found) > MAX_REQUIREMENTS:
        found[MAX_REQUIREMENTS:] = [_more_packages()]
    return DependencyFile(tuple(found))


def _more_packages() -> Requirement:
    return Requirement("", None, 1, EvidenceReason.PARTIAL, "more packages than are read")


def broken_file(why: str) -> DependencyFile:
    """A file that could not be read as what its name says."""
    return DependencyFile((Requirement("", None, 1, EvidenceReason.PARSE_FAILED, why),))


def load_toml(text: str, max_chars: int = MAX_TOML_CHARS) -> dict[str, Json] | DependencyFile:
    """The document, or a broken file that says why it is none."""
    try:
        return parse_toml(text, max_chars)
    except UnreasonableTomlError as error:
        return broken_file(str(error))
    except (ValueError, RecursionError):
        return broken_file("it is not valid TOML")


_LockSource = tuple[Origin | None, str]
"""(origin, "") for a package that has one, (None, what it comes from) otherwise; (None, "") for the project itself."""


def _toml_lock(text: str, table: str, source_of: Callable[[Mapping[str, Json]], _LockSource]) -> DependencyFile:
    document = load_toml(text)
    if isinstance(document, DependencyFile):
        return document
    packages = document.get(table, [])
    if not isinstance(packages, list):
        return broken_file(f"{table} is no list of tables")
    if not packages and not _says_what_it_is(document):
        return broken_file("it names no packages and no lock version")
    lines = _table_lines(text, table, len(packages))
    found: dict[tuple[str, str | None], Requirement] = {}
    for package, line in zip(packages[:MAX_REQUIREMENTS], lines, strict=False):
        requirement = _locked(package, line, source_of)
        if requirement is not None:
            # extras have tables of their own with equal versions
            found.setdefault((requirement.name or f"line {line}", requirement.version), requirement)
    if len(packages) > MAX_REQUIREMENTS:
        found["", None] = _more_packages()
    return DependencyFile(tuple(found.values()))


def _says_what_it_is(document: Mapping[str, Json]) -> bool:
    return any(key in document for key in ("metadata", "version", "lock-version"))


def _locked(package: Json, line: int, source_of: Callable[[Mapping[str, Json]], _LockSource]) -> Requirement | None:
    name = package_name(json_text(package.get("name"))) if isinstance(package, dict) else ""
    if not isinstance(package, dict) or not name:
        return Requirement("", None, line, EvidenceReason.PARSE_FAILED, "a package without a usable name")
    parsed = parse_version(json_text(package.get("version")))
    version = parsed.text if parsed else None
    origin, elsewhere = source_of(package)
    if origin is None and not elsewhere or origin is Origin.OWN and version is None:
        return None
    if origin is None:
        words = f"{name} comes from {elsewhere}"
        return Requirement(name, version, line, EvidenceReason.UNSUPPORTED_DEPENDENCY, words)
    if version is None:
        words = f"{name} has no version that can be compared"
        return Requirement(name, None, line, EvidenceReason.UNSUPPORTED_DEPENDENCY, words, origin)
    return Requirement(name, version, line, origin=origin)


def _poetry_source(package: Mapping[str, Json]) -> _LockSource:
    source = package.get("source")
    if not isinstance(source, dict):
        return Origin.PUBLIC, ""  # poetry writes a source for every package that is not from the public index
    kind = json_text(source.get("type"))
    if kind == "legacy":
        return Origin.PRIVATE, ""
    return None, {"git": "a version control address", "url": "a URL"}.get(kind, "a path")


def _uv_source(package: Mapping[str, Json]) -> _LockSource:
    source = package.get("source")
    if not isinstance(source, dict):
        return Origin.UNSAID, ""
    if "registry" in source:
        return _files_origin(package), ""
    for key in ("virtual", "editable"):
        if key in source:  # the project itself, or a member of its workspace, whose packages stand here too
            return _own_source(source[key]) or (None, "a path outside the project")
    return None, "a version control address" if "git" in source else "a URL" if "url" in source else "a path"


def _pdm_source(package: Mapping[str, Json]) -> _LockSource:
    for key, words in (("git", "a version control address"), ("url", "a URL"), ("path", "a path")):
        if key in package:
            own = _own_source(package["path"]) if key == "path" and package.get("editable") else None
            return own or (None, words)
    return Origin.UNSAID, ""


def _pylock_source(package: Mapping[str, Json]) -> _LockSource:
    if isinstance(package.get("directory"), dict):
        return None, "a path"
    for key, words in (("vcs", "a version control address"), ("archive", "a URL")):
        if key in package:
            return None, words
    return _files_origin(package), ""


def _files_origin(package: Mapping[str, Json]) -> Origin:
    """Public where every file that the lock names has the address of a public one."""
    files = [json_object(file) for file in (package.get("sdist"), *json_list(package.get("wheels")))]
    urls = [json_text(file.get("url")) for file in files if file]
    return Origin.PUBLIC if urls and all(map(is_public_file, urls)) else Origin.UNSAID


def _own_source(path: Json) -> _LockSource | None:
    """Of a directory of the project: the project itself asks for nothing, a part may be a copy of a public package."""
    if _is_here(path):
        return None, ""
    return (Origin.OWN, "") if _own_directory(path) else None


def _is_here(path: Json) -> bool:
    return json_text(path) in (".", "./")


def _own_directory(path: Json) -> bool:
    """A relative path that does not climb."""
    text = json_text(path)
    return bool(text) and not re.match(r"[/\\~]|[A-Za-z]:", text) and ".." not in re.split(r"[/\\]", text)


def _pipfile_indexes(meta: Json) -> tuple[str, ...]:
    """The names of the indexes; Pipenv calls the public one ``pypi``."""
    sources = map(json_object, json_list(json_object(meta).get("sources")))
    return tuple(json_text(source.get("name")) for source in sources)


def _pipfile_entry(name: str, entry: Json, line: int, indexes: tuple[str, ...]) -> Requirement:
    told, name = name, package_name(name)
    if not name:
        return Requirement("", None, line, EvidenceReason.PARSE_FAILED, f"{told[:60]!r} is no package name")
    if not isinstance(entry, dict):
        entry = {"version": entry}
    for key, words in (
        ("git", "a version control address"),
        ("hg", "a version control address"),
        ("svn", "a version control address"),
        ("file", "a URL"),
        ("path", "a path"),
    ):
        if key in entry:
            return Requirement(name, None, line, EvidenceReason.UNSUPPORTED_DEPENDENCY, f"{name} comes from {words}")
    index = json_text(entry.get("index"))
    public = index == "pypi" or (not index and indexes == ("pypi",))
    origin = Origin.PUBLIC if public else Origin.PRIVATE if index else Origin.UNSAID
    parsed = parse_version(json_text(entry.get("version")).removeprefix("=="))
    if parsed is None:
        words = f"{name} has no version that can be compared"
        return Requirement(name, None, line, EvidenceReason.UNSUPPORTED_DEPENDENCY, words, origin)
    return Requirement(name, parsed.text, line, origin=origin)


class _JsonKeys:
    """Where each key of a JSON text stands, found in one pass."""

    def __init__(self, text: str) -> None:
        self._places: dict[str, list[tuple[int, int]]] = {}
        line, counted = 1, 0
        for match in re.finditer(r'"((?:[^"\\]|\\.)*)"\s*:', text):
            line += text.count("\n", counted, match.start())
            counted = match.start()
            self._places.setdefault(match[1], []).append((counted, line))

    def next(self, key: str, after: int) -> tuple[int, int]:
        """(position, line) of the first place of the key behind ``after``; (``after``, 1) where there is none."""
        places = self._places.get(json.dumps(key, ensure_ascii=False)[1:-1], [])
        at = bisect.bisect_right(places, (after, sys.maxsize))
        return places[at] if at < len(places) else (after, 1)


def _table_lines(text: str, table: str, count: int) -> Iterator[int]:
    """For each package table in order, the line of its version (else of its header); line 1 where the text is odd."""
    header = re.compile(rf"[ \t]*\[\[[ \t]*{table}[ \t]*\]\]")
    lines = text.split("\n")
    heads = [number for number, line in enumerate(lines) if header.match(line)]
    if len(heads) != count:  # inline tables, or a string that looks like a header
        yield from [1] * count
        return
    for head, end in zip(heads, [*heads[1:], len(lines)], strict=True):
        inside = (number for number in range(head + 1, end) if re.match(r"\s*version\s*=", lines[number]))
        yield next(inside, head) + 1
