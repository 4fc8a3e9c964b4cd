"""Which file is read how, and what a manifest asks for once its includes, constraints and locks are followed.

A manifest reports every package that it brings, at its own line, wherever the pin stands: ``-r base.txt`` is the
line of all that base.txt asks for, and a range in pyproject.toml is pinned by the lock file beside it.
"""

import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from appsecgate.advisories.pep440 import allows
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
_NAMED_AND_BACK = re.compile(r"(?:^|[/\\])(?!\.{1,2}[/\\])[^/\\]+[/\\]+(?:\.[/\\]+)*\.\.(?:[/\\]|$)")
"""``a/../b``: the kernel follows ``a`` first, which may be a link."""
_MAX_INCLUDE_DEPTH = 32
_MAX_CARRIED = 3 * MAX_REQUIREMENTS
_MAX_FOLLOWED = 1_000
"""Includes of one manifest that are followed: hundreds of files may each include all the others."""
_MAX_WORK = 200_000
"""Requirements that the manifests of one run take over from included files; then no more includes are followed."""
_MAX_REMEMBERED_CHARS = 64_000
_MANY_FILES = 512
_AS_ITSELF, _AS_REQUIREMENTS, _AS_CONSTRAINTS = "itself", "requirements", "constraints"


def parse_manifest(path: str, text: str) -> DependencyFile:
    """Read a file by its name; one without a name of its own is read as requirements."""
    return _read_manifest(_manifest_parser(path), text)


def _read_manifest(parser: Callable[[str], DependencyFile], text: str) -> DependencyFile:
    """What many manifests include is not read again for each of them."""
    remembered = _remembered_manifest if len(text) <= _MAX_REMEMBERED_CHARS else _remembered_lock
    return remembered(parser, text)


@lru_cache(maxsize=4)
def _remembered_lock(parser: Callable[[str], DependencyFile], text: str) -> DependencyFile:
    return parser(text)


@lru_cache(maxsize=_MANY_FILES)
def _remembered_manifest(parser: Callable[[str], DependencyFile], text: str) -> DependencyFile:
    return parser(text)


def _manifest_parser(path: str) -> Callable[[str], DependencyFile]:
    name = posixpath.basename(path).lower()
    if re.fullmatch(r"pylock\..+\.toml", name):
        name = "pylock.toml"
    return _MANIFEST_PARSERS.get(name, parse_requirements)


def beside_manifest(path: str, text: str, listing: Callable[[str], Sequence[str]]) -> list[str]:
    """Project-relative paths of the files that a manifest's answer depends on: its includes and its locks.

    ``listing`` gives the files of a project directory (names or project-relative paths).
    """
    includes = parse_manifest(path, text).includes
    found = [target for include in includes for target in _include_targets(path, include.target)]
    names = _lock_names(path)
    here = posixpath.dirname(path)
    found += _named_in(here, names, listing)
    folder = here
    while "uv.lock" in names and folder and not any(posixpath.basename(name).lower() in names for name in found):
        folder = posixpath.dirname(folder)  # a workspace keeps one lock at its root
        found += _named_in(folder, ("uv.lock",), listing)
    return list(dict.fromkeys(name for name in found if name != path))


def kin_of_manifest(path: str, names: Sequence[str]) -> list[str]:
    """Of the names in a manifest's folder, those that are changed together with it: its locks, or what it locks."""
    own = posixpath.basename(path).lower()
    locks = _lock_names(path)
    return [name for name in names if name.lower() in locks or own in _lock_names(name)]


def resolve_manifest(path: str, texts: Mapping[str, str]) -> tuple[Requirement, ...]:
    """All that the manifest asks for. ``texts``: path → content of the manifest and of what lies beside it."""
    return resolve_manifests([path], texts)[path]


def resolve_manifests(paths: Sequence[str], texts: Mapping[str, str]) -> dict[str, tuple[Requirement, ...]]:
    """All that each of the manifests asks for, within a bound on what includes bring over and over."""
    resolved: dict[str, tuple[Requirement, ...]] = {}
    spent = 0
    for path in paths:
        resolver = _ManifestResolver(texts, followed=0 if spent < _MAX_WORK else _MAX_FOLLOWED)
        try:
            resolved[path] = resolver.resolve(path).asked
        except _TooManyIncludesError:
            more = Requirement("", None, 1, EvidenceReason.PARTIAL, "more includes than are followed")
            resolved[path] = _bounded_list([more, *parse_manifest(path, texts[path]).requirements])
        spent += resolver.carried
    return resolved


class _TooManyIncludesError(Exception):
    """Files that include each other multiply, and what they bring with them."""


@dataclass(frozen=True, slots=True)
class _Resolved:
    asked: tuple[Requirement, ...] = ()
    """What gets installed."""
    pins: tuple[Requirement, ...] = ()
    """Of a constraints file: what only bounds others."""


@dataclass(slots=True)
class _ManifestResolver:
    """What is included is read as requirements whatever its name is, since that is how pip reads it."""

    texts: Mapping[str, str]
    done: dict[tuple[str, str], _Resolved] = field(default_factory=dict)
    open: list[tuple[str, str]] = field(default_factory=list)
    carried: int = 0
    """Requirements taken over from included files so far."""
    followed: int = 0

    def resolve(self, path: str, role: str = _AS_ITSELF) -> _Resolved:
        key = (path, role)
        if key in self.done:
            return self.done[key]
        if key in self.open:
            return _Resolved()  # a circle brings nothing new
        if len(self.open) > _MAX_INCLUDE_DEPTH:
            return _Resolved((Requirement("", None, 1, EvidenceReason.PARTIAL, "includes nest too deep"),))
        self.open.append(key)
        try:
            text = self.texts[path]
            file = parse_manifest(path, text) if role == _AS_ITSELF else _read_manifest(parse_requirements, text)
            self.done[key] = self._resolve(path, file, role)
        finally:
            self.open.pop()
        return self.done[key]

    def _resolve(self, path: str, file: DependencyFile, role: str) -> _Resolved:
        found: list[Requirement] = []
        pins: dict[str, list[Requirement]] = {}
        once = {(include.target, include.constraint): include for include in reversed(file.includes)}
        for include in sorted(once.values(), key=lambda include: include.line):
            self.followed += 1
            if self.followed > _MAX_FOLLOWED:
                raise _TooManyIncludesError
            targets, problem = self._included(path, include)
            if problem is not None:
                found.append(problem)
            for target in targets:
                inner = self._carried(target, include)
                # pip installs what a constraints file includes with -r
                found += [_brought_in(item, target, include.line) for item in inner.asked]
                _add_pins(pins, target, inner.pins)
        bounds = file.requirements if role == _AS_CONSTRAINTS else ()
        own_pins = tuple(_placed(path, pin) for pin in bounds)
        found += file.requirements if role != _AS_CONSTRAINTS else ()
        for lock in self._locks(path) if role == _AS_ITSELF else ():
            _add_pins(pins, lock, self.resolve(lock).asked)
        found = [pinned for item in found for pinned in _pinned(item, pins)]
        deeper = tuple(pin for group in pins.values() for pin in group) if role == _AS_CONSTRAINTS else ()
        return _Resolved(_bounded_list(found), (*own_pins, *deeper)[:MAX_REQUIREMENTS])

    def _carried(self, target: str, include: Include) -> _Resolved:
        """What the included file brings, as long as there is room: files that include each other multiply."""
        if self.carried <= _MAX_CARRIED:
            inner = self.resolve(target, _AS_CONSTRAINTS if include.constraint else _AS_REQUIREMENTS)
            self.carried += len(inner.asked) + len(inner.pins)
            if self.carried <= _MAX_CARRIED:
                return inner
        return _Resolved((Requirement("", None, 1, EvidenceReason.PARTIAL, "includes bring more than is read"),))

    def _included(self, path: str, include: Include) -> tuple[list[str], Requirement | None]:
        shown = posixpath.basename(include.target)[:60]
        targets = _include_targets(path, include.target)
        there = [target for target in targets if target in self.texts]
        if _MANIFEST_SCHEME.match(include.target):
            reason, words = EvidenceReason.UNSUPPORTED_DEPENDENCY, "includes a list from a URL"
        elif _NAMED_AND_BACK.search(include.target):
            reason, words = EvidenceReason.PARTIAL, f"includes {shown} through a folder and back, which a link may bend"
        elif not targets:
            reason, words = EvidenceReason.PARTIAL, f"includes {shown} from outside the project"
        elif not there:
            reason, words = EvidenceReason.FILE_MISSING, f"includes {shown}, which cannot be read"
        else:
            return there, None
        return [], Requirement("", None, include.line, reason, words)

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


def _include_targets(path: str, target: str) -> list[str]:
    """The project-relative paths that ``target`` may mean in the file ``path``; none where it leaves the project.

    A backslash parts folders on Windows and is an ordinary character elsewhere.
    """
    spellings = dict.fromkeys((target, target.replace("\\", "/")))
    inside = (_inside_project(path, spelling) for spelling in spellings)
    return [found for found in inside if found]


def _inside_project(path: str, target: str) -> str:
    """The project-relative path that ``target`` means in the file ``path``; "" where it leaves the project."""
    if not target or target.startswith(("/", "\\", "~")) or _MANIFEST_SCHEME.match(target) or "\0" in target:
        return ""
    joined = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    return "" if joined == ".." or joined.startswith("../") or joined == "." else joined


def _placed(path: str, item: Requirement) -> Requirement:
    return replace(item, pinned_in=item.pinned_in or f"{path}:{item.line}")


def _add_pins(pins: dict[str, list[Requirement]], path: str, requirements: Sequence[Requirement]) -> None:
    for item in requirements:
        if item.name and item.problem is not EvidenceReason.UNPINNED_DEPENDENCY:
            pins.setdefault(item.name, []).append(_placed(path, item))


def _brought_in(item: Requirement, path: str, line: int) -> Requirement:
    detail = f"{item.detail} ({posixpath.basename(path)}:{item.line})" if item.detail else ""
    return replace(_placed(path, item), line=line, detail=detail[:200])


def _pinned(item: Requirement, pins: Mapping[str, Sequence[Requirement]]) -> list[Requirement]:
    """An unpinned requirement with the versions that a lock or constraint gives it.

    Where each of these holds under a marker alone, the requirement may still be free elsewhere. Where none fits the
    range, a tool would resolve anew: a lock that was edited by hand proves nothing.
    """
    if item.problem is not EvidenceReason.UNPINNED_DEPENDENCY or item.name not in pins:
        return [item]
    found = [replace(pin, line=item.line) for pin in pins[item.name]]
    certain = [pin for pin in found if not pin.conditional]
    if any(pin.version is None or allows(item.wanted, pin.version) for pin in certain):
        return found
    why = f"{item.detail}, and {certain[0].version} of {certain[0].pinned_in} does not fit" if certain else item.detail
    return [replace(item, detail=why[:200]), *found]


def _bounded_list(found: Sequence[Requirement]) -> tuple[Requirement, ...]:
    """Each once, in the order of lines; what is cut off is named."""
    unique = {(item.name or item.line, item.version, item.problem, item.detail): item for item in reversed(found)}
    ordered = sorted(unique.values(), key=lambda item: (item.line, item.name, item.version or ""))
    if len(ordered) <= MAX_REQUIREMENTS:
        return tuple(ordered)
    line = ordered[MAX_REQUIREMENTS].line
    more = Requirement("", None, line, EvidenceReason.PARTIAL, "more requirements than are read")
    return (*ordered[:MAX_REQUIREMENTS], more)
