"""What a Python dependency file asks for, read without pip: requirements and constraints files.

The grammar is that of pip's requirements file format and of PEP 508. Markers are dropped: which branch
holds is decided where the project is installed, so each branch is audited. Nothing that the file says is
carried out; includes are named for the caller, who knows what lies inside the project. Where pip and uv read a
line differently, what either of them would install is read.
"""

import codecs
import enum
import re
import shlex
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from urllib.parse import unquote, urlsplit

from appsecgate.advisories.pep440 import parse_version
from appsecgate.model import EvidenceReason
from appsecgate.scanners.told_names import told_name

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
    OWN = "own"
    """A directory of the project: nobody expects the index to know it."""


class Naming(enum.StrEnum):
    """How far a requirement's name binds what gets installed."""

    STATED = "stated"
    GUESSED = "guessed"
    """From a URL or a path, which may hold a package of any name."""
    PROJECT = "project"
    """The project itself (``.``): what it needs stands in its own manifests."""


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
    wanted: tuple[tuple[str, str], ...] = ()
    """(operator, version) of an unpinned one, as far as PEP 440 has it."""
    naming: Naming = Naming.STATED
    conditional: bool = False
    """It has a marker, so that it does not hold everywhere: as a constraint it pins nothing for certain."""

    @property
    def may_be_any(self) -> bool:
        """Whether it may bring a package of any name."""
        return self.naming is Naming.GUESSED or (not self.name and self.naming is not Naming.PROJECT)


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
_REQ_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,198}[A-Za-z0-9])?", re.ASCII)
_REQ_SPECIFIED = re.compile(_PEP508_NAME + r"(?P<specifiers>(?:[(=<>!~].*)?)", re.ASCII)
_REQ_DIRECT = re.compile(_PEP508_NAME + r"@(?P<reference>.+)", re.ASCII)
_REQ_SPECIFIER = re.compile(r"\s*(===|==|~=|!=|<=|>=|<|>)\s*([^\s,;()]+)\s*")
_REQ_ARCHIVE = re.compile(r"\.(?:whl|zip|tar\.gz|tgz|tar\.bz2|tbz|tar\.xz|tar)$", re.IGNORECASE)
_REQ_PATH = re.compile(r"(?:\.{0,2}[/\\]|\.{1,2}(?:\[|$)|[A-Za-z]:[/\\]|~[/\\])")
_REQ_REFERENCE = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?//|(?:git|hg|svn|bzr)\+|file:", re.IGNORECASE)
_REQ_OPTIONS = re.compile(r"\s--?(?:hash|global-option|install-option|config-settings?|C)\b[=\s]?.*$")

_REQ_CODING = re.compile(r"coding[:=][ \t]*([-\w.]+)", re.ASCII)
_REQ_CODECS = frozenset({"utf-8", "utf-8-sig", "ascii", "iso8859-1", "iso8859-15", "cp1252"})

_REQ_FILE_OPTIONS = {"-r": False, "--requirement": False, "-c": True, "--constraint": True}
_REQ_EDITABLE_OPTIONS = frozenset({"-e", "--editable"})
_REQ_FLAGS = "--no-index --prefer-binary --require-hashes --pre --process-dependency-links --always-unzip -Z"
_REQ_VALUED = (
    "-r --requirement -c --constraint -e --editable -i --index-url --pypi-url --extra-index-url -f --find-links"
    " --no-binary --only-binary --trusted-host --use-feature"
    " --hash --global-option --install-option --config-settings --config-setting -C"
)
_REQ_TAKES_VALUE = {**dict.fromkeys(_REQ_FLAGS.split(), False), **dict.fromkeys(_REQ_VALUED.split(), True)}


def parse_requirements(text: str) -> DependencyFile:
    """Read a requirements or constraints file."""
    requirements: list[Requirement] = []
    includes: list[Include] = []
    if codec := _hiding_codec(text):
        requirements.append(_unreadable_requirement(1, f"pip would decode it as {codec}"))
    for line, content in _requirement_lines(text):
        if len(requirements) + len(includes) >= MAX_REQUIREMENTS:
            requirements.append(Requirement("", None, line, EvidenceReason.PARTIAL, "more requirements than are read"))
            break
        asked, options = _split_at_options(content)
        if asked:  # options of a requirement do not choose the package
            requirements.append(parse_requirement(asked, line))
            continue
        given = _requirement_options(options)
        if given is None:
            requirements.append(_unreadable_requirement(line, "an option that pip does not know"))
            continue
        editable = [value for option, value in given if option in _REQ_EDITABLE_OPTIONS]
        requirements += [_editable_requirement(value, line) for value in editable]
        named = [(_REQ_FILE_OPTIONS[option], value) for option, value in given if option in _REQ_FILE_OPTIONS]
        lists = [Include(value, line, False) for is_constraint, value in named if not is_constraint]
        # pip takes a line's first constraint alone, and none beside a list
        includes += lists or [Include(value, line, True) for _, value in named[:1]]
    return DependencyFile(tuple(requirements), tuple(includes))


def _unreadable_requirement(line: int, why: str) -> Requirement:
    return Requirement("", None, line, EvidenceReason.PARSE_FAILED, why)


def _hiding_codec(text: str) -> str:
    """The codec of a coding line (PEP 263, which pip heeds) under which text may say something else; "" else.

    In UTF-7 a comment can hold a line break, and a requirement behind it.
    """
    for name in dict.fromkeys(_REQ_CODING.findall(text)):
        try:
            codec = codecs.lookup(name).name
        except (LookupError, ValueError):
            continue  # pip stops at it
        if codec not in _REQ_CODECS:
            return codec[:40]
    return ""


def parse_requirement(text: str, line: int) -> Requirement:
    """One PEP 508 requirement, path or URL; its marker, extras and hashes are dropped."""
    text = " ".join(_REQ_OPTIONS.sub("", text).split())  # long runs of blanks would cost square time below
    if len(text) > MAX_REQUIREMENT_CHARS:
        return _unreadable_requirement(line, "this line is too long")
    if "${" in text:
        return Requirement("", None, line, EvidenceReason.UNSUPPORTED_DEPENDENCY, "named by an environment variable")
    direct = _REQ_DIRECT.fullmatch(text)
    if direct is not None:
        return referenced_requirement(told_name(direct["name"]), direct["reference"], line)
    text, _, marker = text.partition(";")
    text = text.strip()
    if _REQ_REFERENCE.match(text) or _REQ_PATH.match(text) or _REQ_ARCHIVE.search(text):
        return referenced_requirement("", text, line)
    match = _REQ_SPECIFIED.fullmatch(text)
    if match is None:
        return _unreadable_requirement(line, "this line is no requirement")
    found = specified_requirement(told_name(match["name"]), match["specifiers"], line)
    return replace(found, conditional=True) if marker.strip() else found


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
        unpinned = EvidenceReason.UNPINNED_DEPENDENCY
        return Requirement(name, None, line, unpinned, why, origin, wanted=tuple(found[:20]))
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
    naming = _binding(name, reference)
    name = name or told_name or _guessed_name(reference)
    words = f"{name} comes from {what}" if name else f"a package comes from {what}"
    pinned = version if name == told_name else None
    return Requirement(name, pinned, line, EvidenceReason.UNSUPPORTED_DEPENDENCY, words, naming=naming)


def _binding(name: str, reference: str) -> Naming:
    """pip holds ``name @ …`` and a wheel's file name against the package's own metadata, ``#egg=`` it does not."""
    if name or re.search(r"\.whl(?:[#?;]|$)", reference, re.IGNORECASE):
        return Naming.STATED
    return Naming.PROJECT if re.fullmatch(r"(?:file:)?\./?(?:\[[^\]]*\])?", reference) else Naming.GUESSED


def package_name(text: str) -> str:
    """A name normalised (PEP 503); "" where it is none (PEP 508)."""
    return told_name(text) if _REQ_NAME.fullmatch(text) else ""


def is_public_file(url: str) -> bool:
    """Whether a URL has the form of the public index's files, whose path is their digest; mirrors keep it."""
    return bool(_REQ_PUBLIC_FILE.match(url))


def _guessed_name(reference: str) -> str:
    """The name after ``#egg=``, else what the last part of a repository's address suggests; "" where nothing does."""
    egg = re.search(r"[#&]egg=([A-Za-z0-9._-]+)", reference)
    if egg:
        return told_name(egg[1])
    path = re.split(r"[?#;]", reference)[0].rstrip("/")
    last = re.split(r"[/:\\]", path)[-1].partition("@")[0].removesuffix(".git")
    return told_name(last) if re.fullmatch(r"[A-Za-z][A-Za-z0-9._-]*", last) else ""


def _editable_requirement(value: str, line: int) -> Requirement:
    stated = _REQ_DIRECT.fullmatch(value)
    found = referenced_requirement(told_name(stated["name"]) if stated else "", value.partition("[")[0], line)
    words = f"{found.name or 'a package'} is installed in editable form"
    return Requirement(found.name, None, line, EvidenceReason.UNSUPPORTED_DEPENDENCY, words, naming=found.naming)


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
    return (told_name(name), parsed.text) if parsed and re.fullmatch(r"[A-Za-z0-9._-]+", name) else ("", None)


def _requirement_lines(text: str) -> Iterator[tuple[int, str]]:
    """(first line's number, text) with continuations joined, then comments dropped, as pip does it.

    pip begins a new line at form feeds and the like too. A backslash at the end of a comment joins lines for pip and
    not for uv: it is not heeded, so that no requirement disappears behind it.
    """
    pending: list[str] = []
    first = 0
    for number, line in _physical_lines(text):
        bare = _REQ_COMMENT.sub("", line)
        if line.endswith("\\") and bare == line:
            first = first or number
            pending.append(line.strip("\\"))
            continue
        content = "".join([*pending, bare]).strip()
        if content:
            yield first or number, content
        pending, first = [], 0
    content = "".join(pending).strip()
    if content:
        yield first, content


def _physical_lines(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.split("\n"), 1):
        for part in line.splitlines():
            yield number, part
        if not line:
            yield number, ""


def _split_at_options(content: str) -> tuple[str, str]:
    """What stands before the first word that begins with a dash, and the rest: as pip parts a line."""
    words = content.split(" ")
    at = next((place for place, word in enumerate(words) if word.startswith("-")), len(words))
    return " ".join(words[:at]), " ".join(words[at:])


def _requirement_options(text: str) -> list[tuple[str, str]] | None:
    """``-r base.txt``, ``-rbase.txt``, ``--pre --requirement=base.txt`` → (option, value); None where pip stops.

    As pip's parser has it: several options may stand on a line, and other words are passed over.
    """
    if len(text) > MAX_REQUIREMENT_CHARS:
        return None
    try:
        words = deque(shlex.split(text))
    except ValueError:
        return None
    found: list[tuple[str, str]] = []
    while words:
        word = words.popleft()
        if word == "--":
            break
        if not word.startswith("-") or word == "-":
            continue
        option, equals, value = word.partition("=") if word.startswith("--") else (word[:2], word[2:], word[2:])
        takes = _REQ_TAKES_VALUE.get(_whole_option(option))
        if takes is None or (equals and not takes) or (takes and not equals and not words):
            return None
        found.append((_whole_option(option), value if equals else words.popleft() if takes else ""))
    return found


def _whole_option(option: str) -> str:
    """A long option may be cut short as long as it stays the only one that begins so."""
    if option in _REQ_TAKES_VALUE or not option.startswith("--"):
        return option
    longer = [known for known in _REQ_TAKES_VALUE if known.startswith(option)]
    return longer[0] if len(longer) == 1 else option
