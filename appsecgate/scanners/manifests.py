"""Which file is read how, and what a manifest asks for once its includes, constraints and locks are followed.

A manifest reports every package that it brings, at its own line, wherever the pin stands: ``-r base.txt`` is the
line of all that base.txt asks for, and a range in pyproject.toml is pinned by the lock file beside it.
"""

import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from appsecgate.model import EvidenceReason
from appsecgate.scanners.lockfiles import (
    parse_pdm_lock,
    parse_pipfile_lock,
    parse_poetry_lock,
    parse_pylock,
    parse_uv_lock,
)
from appsecgate.scanners.pyproject import parse_pipfile, parse_pyproject, parse_setup_cfg, parse_setup_py
from appsecgate.scanners.requirements import (
    MAX_REQUIREMENTS,
    DependencyFile,
    Include,
    Requirement,
    parse_requirements,
)

_MANIFEST_PARSERS: Mapping[str, Callable[[str], DependencyFile]] = {
    "pyproject.toml": parse_pyproject,
    "pipfile": parse_pipfile,
    "setup.cfg": parse_setup_cfg,
    "setup.py": parse_setup_py,
    "poetry.lock": parse_poetry_lock,
    "uv.lock": parse_uv_lock,
    "pdm.lock": parse_pdm_lock,
    "pylock.toml": parse_pylock,
    "pipfile.lock": parse_pipfile_lock,
}
_LOCKS_OF = {
    "pyproject.toml": ("poetry.lock", "uv.lock", "pdm.lock", "pylock.toml"),
    "pipfile": ("pipfile.lock",),
}
_MANIFEST_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
"""Of a URL, or a drive letter."""
_MAX_INCLUDE_DEPTH = 32


def parse_manifest(path: str, text: str) -> DependencyFile:
    """Read a file by its name; one without a name of its own is read as requirements."""
    name = posixpath.basename(path).lower()
    if re.fullmatch(r"pylock\..+\.toml", name):
        name = "pylock.toml"
    return _MANIFEST_PARSERS.get(name, parse_requirements)(text)


def beside_manifest(path: str, text: str, listing: Callable[[str], Sequence[str]]) -> list[str]:
    """Project-relative paths of the files that a manifest's answer depends on: its includes and its locks.

    ``listing`` gives the files of a project directory (names or project-relative paths).
    """
    wanted = [_inside_project(path, include.target) for include in parse_manifest(path, text).includes]
    found = [target for target in wanted if target]
    names = _lock_names(path)
    here = posixpath.dirname(path)
    found += _named_in(here, names, listing)
    folder = here
    while "uv.lock" in names and folder and not any(posixpath.basename(name).lower() in names for name in found):
        folder = posixpath.dirname(folder)  # a workspace keeps one lock at its root
        found += _named_in(folder, ("uv.lock",), listing)
    return list(dict.fromkeys(name for name in found if name != path))


def resolve_manifest(path: str, texts: Mapping[str, str]) -> tuple[Requirement, ...]:
    """All that the manifest asks for. ``texts``: path → content of the manifest and of what lies beside it."""
    return _ManifestResolver(texts).resolve(path)


@dataclass(slots=True)
class _ManifestResolver:
    texts: Mapping[str, str]
    done: dict[str, tuple[Requirement, ...]] = field(default_factory=dict)
    open: list[str] = field(default_factory=list)

    def resolve(self, path: str) -> tuple[Requirement, ...]:
        if path in self.done:
            return self.done[path]
        if path in self.open or len(self.open) > _MAX_INCLUDE_DEPTH:
            return ()  # a circle brings nothing new
        self.open.append(path)
        try:
            self.done[path] = self._resolve(path, parse_manifest(path, self.texts[path]))
        finally:
            self.open.pop()
        return self.done[path]

    def _resolve(self, path: str, file: DependencyFile) -> tuple[Requirement, ...]:
        found = list(file.requirements)
        pins: dict[str, list[Requirement]] = {}
        for include in file.includes:
            target, problem = self._included(path, include)
            if problem is not None:
                found.append(problem)
                continue
            inner = self.resolve(target)
            if include.constraint:
                _add_pins(pins, target, inner)
            else:
                found += [_brought_in(item, target, include.line) for item in inner]
        for lock in self._locks(path):
            _add_pins(pins, lock, self.resolve(lock))
        found = [pinned for item in found for pinned in _pinned(item, pins)]
        unique = {(item.name or item.line, item.version, item.problem, item.detail): item for item in reversed(found)}
        ordered = sorted(unique.values(), key=lambda item: (item.line, item.name, item.version or ""))
        return tuple(ordered[:MAX_REQUIREMENTS])

    def _included(self, path: str, include: Include) -> tuple[str, Requirement | None]:
        shown = posixpath.basename(include.target)[:60]
        if _MANIFEST_SCHEME.match(include.target):
            reason, words = EvidenceReason.UNSUPPORTED_DEPENDENCY, "includes a list from a URL"
        elif not (target := _inside_project(path, include.target)):
            reason, words = EvidenceReason.PARTIAL, f"includes {shown} from outside the project"
        elif target not in self.texts:
            reason, words = EvidenceReason.FILE_MISSING, f"includes {shown}, which cannot be read"
        else:
            return target, None
        return "", Requirement("", None, include.line, reason, words)

    def _locks(self, path: str) -> list[str]:
        names = _lock_names(path)
        here = posixpath.dirname(path)
        beside = [
            other
            for other in self.texts
            if posixpath.dirname(other) == here and posixpath.basename(other).lower() in names
        ]
        while "uv.lock" in names and here and not beside:
            here = posixpath.dirname(here)
            beside = [lock for lock in (posixpath.join(here, "uv.lock"),) if lock in self.texts]
        return beside


def _lock_names(path: str) -> tuple[str, ...]:
    name = posixpath.basename(path).lower()
    if name.endswith(".in"):  # pip-compile and uv write requirements.txt from requirements.in
        return (name[:-3] + ".txt",)
    return _LOCKS_OF.get(name, ())


def _named_in(folder: str, names: Sequence[str], listing: Callable[[str], Sequence[str]]) -> list[str]:
    if not names:
        return []
    entries = [posixpath.basename(entry) for entry in listing(folder)]
    return [posixpath.join(folder, entry) for entry in sorted(entries) if entry.lower() in names]


def _inside_project(path: str, target: str) -> str:
    """The project-relative path that ``target`` means in the file ``path``; "" where it leaves the project."""
    if not target or target.startswith(("/", "\\", "~")) or _MANIFEST_SCHEME.match(target) or "\0" in target:
        return ""
    joined = posixpath.normpath(posixpath.join(posixpath.dirname(path), target.replace("\\", "/")))
    return "" if joined.startswith("..") or joined == "." else joined


def _add_pins(pins: dict[str, list[Requirement]], path: str, requirements: Sequence[Requirement]) -> None:
    for item in requirements:
        if item.name and item.problem is not EvidenceReason.UNPINNED_DEPENDENCY:
            pins.setdefault(item.name, []).append(replace(item, pinned_in=item.pinned_in or f"{path}:{item.line}"))


def _brought_in(item: Requirement, path: str, line: int) -> Requirement:
    place = item.pinned_in or f"{path}:{item.line}"
    detail = f"{item.detail} ({posixpath.basename(path)}:{item.line})" if item.detail else ""
    return replace(item, line=line, pinned_in=place, detail=detail[:200])


def _pinned(item: Requirement, pins: Mapping[str, Sequence[Requirement]]) -> list[Requirement]:
    """An unpinned requirement with the versions that a lock or constraint gives it."""
    if item.problem is not EvidenceReason.UNPINNED_DEPENDENCY or item.name not in pins:
        return [item]
    return [replace(pin, line=item.line) for pin in pins[item.name]]
