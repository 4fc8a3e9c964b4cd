"""What a Python dependency file asks for, read without pip: requirements and constraints files.

The grammar is that of pip's requirements file format and of PEP 508. Markers are dropped: which branch
holds is decided where the project is installed, so each branch is audited. Nothing that the file says is
carried out; includes are named for the caller, who knows what lies inside the project.
"""

import enum
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from appsecgate.advisories.pep440 import canonical_name, parse_version
from appsecgate.model import EvidenceReason

MAX_REQUIREMENTS = 20_000
"""Per file; what lies beyond is named as not audited."""


MAX_REQUIREMENT_CHARS = 4_000
"""Of one requirement without its hashes."""


class Origin(enum.StrEnum):
    """Where a file says that a package comes from."""

    UNSAID = "unsaid"
    PUBLIC = "public"
    """The public Python package index, by its own name."""
    PRIVATE = "private"
    """Another index; it may be a mirror."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """One package that a file asks for."""

    name: str
    """Normalised (PEP 503); "" where none can be told."""
    version: str | None
    """The one version that is asked for, normalised (PEP 440); None where several would do."""
    line: int
    """Where it stands, counted from 1."""
    problem: EvidenceReason = EvidenceReason.NONE
    """Why no audit can speak for it, even where ``version`` is known (a URL may hold anything)."""
    detail: str = ""
    """The problem in a few words. Never a URL: it may hold credentials."""
    origin: Origin = Origin.UNSAID
    pinned_in: str = ""
    """``path:line`` of the pin where another file holds it."""


@dataclass(frozen=True, slots=True)
class Include:
    """A ``-r`` or ``-c`` line."""

    target: str
    """As written, relative to the file."""
    line: int
    constraint: bool


@dataclass(frozen=True, slots=True)
class DependencyFile:
    """A file, read. ``requirements`` holds an entry with a problem for every line that cannot be audited."""

    requirements: tuple[Requirement, ...] = ()
    includes: tuple[Include, ...] = ()


_REQ_PUBLIC_FILE = re.compile(r"https?://[^/]+(?:/[^/]+)*?/packages/[0-9a-f]{2}/[0-9a-f]{2}/[0-9a-f]{60}/[^/]+")
_REQ_COMMENT = re.compile(r"(?:^|\s)#.*$")
_PEP508_NAME = r"(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[[^\]]*\])?\s*"
_REQ_SPECIFIED = re.compile(_PEP508_NAME + r"(?P<specifiers>(?:[(=<>!~].*)?)", re.ASCII)
_REQ_DIRECT = re.compile(_PEP508_NAME + r"@(?P<reference>.+)", re.ASCII)
_REQ_SPECIFIER = re.compile(r"\s*(===|==|~=|!=|<=|>=|<|>)\s*([^\s,;()]+)\s*")
_REQ_ARCHIVE = re.compile(r"\.(?:whl|zip|tar\.gz|tgz|tar\.bz2|tbz|tar\.xz|tar)$", re.IGNORECASE)
_REQ_PATH = re.compile(r"(?:\.{0,2}[/\\]|\.{1,2}$|[A-Za-z]:[/\\]|~[/\\])")
_REQ_REFERENCE = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?//|(?:git|hg|svn|bzr)\+|file:", re.IGNORECASE)
_REQ_OPTIONS = re.compile(r"\s--?(?:hash|global-option|install-option|config-settings?|C)\b[=\s]?.*$")

_REQ_FILE_OPTIONS = {"-r": False, "--requirement": False, "-c": True, "--constraint": True}
_REQ_EDITABLE_OPTIONS = frozenset({"-e", "--editable"})
_REQ_HARMLESS = (
    "-i --index-url --pypi-url --extra-index-url --no-index -f --find-links --no-binary --only-binary --prefer-binary"
    " --pre --trusted-host --require-hashes --use-feature --process-dependency-links --always-unzip -Z"
)
_REQ_HARMLESS_OPTIONS = frozenset(_REQ_HARMLESS.split())
_REQ_SHORT_OPTIONS = ("-r", "-c", "-e", "-i", "-f")


def parse_requirements(text: str) -> DependencyFile:
    """Read a requirements or constraints file."""
    requirements: list[Requirement] = []
    includes: list[Include] = []
    for line, content in _requirement_lines(text):
        if len(requirements) >= MAX_REQUIREMENTS:
            requirements.append(Requirement("", None, line, EvidenceReason.PARTIAL, "more requirements than are read"))
            break
        if not content.startswith("-"):
            requirements.append(parse_requirement(content, line))
            continue
        option, value = _split_requirement_option(content)
        if option in _REQ_FILE_OPTIONS:
            includes.append(Include(value, line, _REQ_FILE_OPTIONS[option]))
        elif option in _REQ_EDITABLE_OPTIONS:
            requirements.append(_editable_requirement(value, line))
        elif option not in _REQ_HARMLESS_OPTIONS:
            requirements.append(
                Requirement("", None, line, EvidenceReason.PARSE_FAILED, "an option that pip does not know")
            )
    return DependencyFile(tuple(requirements), tuple(includes))


def parse_requirement(text: str, line: int) -> Requirement:
    """One PEP 508 requirement, path or URL; its marker, extras and hashes are dropped."""
    text = " ".join(_REQ_OPTIONS.sub("", text).split())  # long runs of blanks would cost square time below
    if len(text) > MAX_REQUIREMENT_CHARS:
        return Requirement("", None, line, EvidenceReason.PARSE_FAILED, "this line is too long")
    if "${" in text:
        return Requirement("", None, line, EvidenceReason.UNSUPPORTED_DEPENDENCY, "named by an environment variable")
    direct = _REQ_DIRECT.fullmatch(text)
    if direct is not None:
        return referenced_requirement(canonical_name(direct["name"]), direct["reference"], line)
    text = text.partition(";")[0].strip()
    if _REQ_REFERENCE.match(text) or _REQ_PATH.match(text) or _REQ_ARCHIVE.search(text):
        return referenced_requirement("", text, line)
    match = _REQ_SPECIFIED.fullmatch(text)
    if match is None:
        return Requirement("", None, line, EvidenceReason.PARSE_FAILED, "this line is no requirement")
    return specified_requirement(canonical_name(match["name"]), match["specifiers"], line)


def specified_requirement(name: str, specifiers: str, line: int, origin: Origin = Origin.UNSAID) -> Requirement:
    """A named package with PEP 440 specifiers; pinned where one ``==`` or ``===`` names a whole version."""
    bare = specifiers.strip()
    if bare.startswith("(") and bare.endswith(")"):
        bare = bare[1:-1]
    found = _REQ_SPECIFIER.findall(bare)
    if bare.strip() and re.sub(r"[\s,]", "", _REQ_SPECIFIER.sub("", bare)):
        return Requirement(
            name, None, line, EvidenceReason.PARSE_FAILED, f"{name}: its version is not readable", origin
        )
    pins = [value for operator, value in found if operator in ("==", "===") and not value.endswith(".*")]
    if not pins:
        wanted = ",".join(f"{operator}{value}" for operator, value in found)[:60]
        why = f"{name} is not pinned" + (f" ({wanted})" if wanted else "")
        return Requirement(name, None, line, EvidenceReason.UNPINNED_DEPENDENCY, why, origin)
    versions = {parsed.key: parsed.text for pin in pins if (parsed := parse_version(pin)) is not None}
    if len(versions) != 1:
        why = (
            f"{name}: {pins[0][:40]} is no PEP 440 version" if not versions else f"{name} is pinned to several versions"
        )
        return Requirement(name, None, line, EvidenceReason.UNSUPPORTED_DEPENDENCY, why, origin)
    return Requirement(name, versions.popitem()[1], line, origin=origin)


def referenced_requirement(name: str, reference: str, line: int) -> Requirement:
    """A package named by a URL or a path: it may hold anything, so it is never audited clean.

    Where the file's name tells package and version (a wheel, a source archive), these are kept and audited
    besides, since a vulnerable version is one wherever it was fetched from.
    """
    reference = reference.strip()
    what = "a URL" if _REQ_REFERENCE.match(reference) and not reference.lower().startswith("file:") else "a path"
    if re.match(r"(?:git|hg|svn|bzr)\+|git@", reference, re.IGNORECASE):
        what = "a version control address"
    told_name, version = _named_by_archive(reference)
    name = name or told_name or _guessed_name(reference)
    words = f"{name} comes from {what}" if name else f"a package comes from {what}"
    return Requirement(name, version if name == told_name else None, line, EvidenceReason.UNSUPPORTED_DEPENDENCY, words)


def is_public_file(url: str) -> bool:
    """Whether a URL has the form of the public index's files, whose path is their digest; mirrors keep it."""
    return bool(_REQ_PUBLIC_FILE.match(url))


def _guessed_name(reference: str) -> str:
    """The name after ``#egg=``, else what the last part of a repository's address suggests; "" where nothing does."""
    egg = re.search(r"[#&]egg=([A-Za-z0-9._-]+)", reference)
    if egg:
        return canonical_name(egg[1])
    path = re.split(r"[?#;]", reference)[0].rstrip("/")
    last = re.split(r"[/:\\]", path)[-1].partition("@")[0].removesuffix(".git")
    return canonical_name(last) if re.fullmatch(r"[A-Za-z][A-Za-z0-9._-]*", last) else ""


def _editable_requirement(value: str, line: int) -> Requirement:
    name = referenced_requirement("", value.partition("[")[0], line).name
    words = f"{name or 'a package'} is installed in editable form"
    return Requirement(name, None, line, EvidenceReason.UNSUPPORTED_DEPENDENCY, words)


def _named_by_archive(reference: str) -> tuple[str, str | None]:
    """(name, version) of a wheel or source archive, as far as its file name tells."""
    try:
        path = unquote(urlsplit(reference.partition(";")[0].strip()).path)
    except ValueError:
        return "", None
    base = re.split(r"[/\\]", path)[-1]
    if base.lower().endswith(".whl"):
        parts = base[:-4].split("-")
        name, version = (parts[0], parts[1]) if len(parts) in (5, 6) else ("", "")
    else:
        match = re.fullmatch(r"(.+)-([0-9][^-]*)", _REQ_ARCHIVE.sub("", base)) if _REQ_ARCHIVE.search(base) else None
        name, version = (match[1], match[2]) if match else ("", "")
    parsed = parse_version(version) if version else None
    return (canonical_name(name), parsed.text) if parsed and re.fullmatch(r"[A-Za-z0-9._-]+", name) else ("", None)


def _requirement_lines(text: str) -> Iterator[tuple[int, str]]:
    """(first line's number, text) with continuations joined, then comments dropped, as pip does it."""
    pending: list[str] = []
    first = 0
    for number, line in enumerate(text.split("\n"), 1):
        comment = line.lstrip().startswith("#")
        if line.endswith("\\") and not comment:
            first = first or number
            pending.append(line[:-1])
            continue
        # a comment line ends a continued one, as in pip
        joined = "".join([*pending, " " + line if comment and pending else line])
        content = _REQ_COMMENT.sub("", joined).strip()
        if content:
            yield first or number, content
        pending, first = [], 0
    content = _REQ_COMMENT.sub("", "".join(pending)).strip()
    if content:
        yield first, content


def _split_requirement_option(content: str) -> tuple[str, str]:
    """``-r base.txt``, ``-rbase.txt``, ``--requirement=base.txt`` → (option, value)."""
    option, equals, value = content.partition("=")
    if content.startswith("--") and equals and not re.search(r"\s", option):
        return option, _unquoted_option(value)
    parts = content.split(None, 1)
    for short in _REQ_SHORT_OPTIONS:
        if content.startswith(short) and not content.startswith("--") and len(parts[0]) > 2:
            return short, _unquoted_option(content[2:].lstrip("= "))
    return parts[0], _unquoted_option(parts[1] if len(parts) > 1 else "")


def _unquoted_option(value: str) -> str:
    try:
        words: Sequence[str] = shlex.split(value)
    except ValueError:
        return value.strip()
    return words[0] if words else ""
