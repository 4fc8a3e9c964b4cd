"""Version numbers of Python packages, compared as PEP 440 says.

The grammar is the regular expression of PEP 440's appendix B, the order that of its section "Summary of
permitted suffixes and relative ordering". Nothing here raises: text that is no version gives ``None``.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

MAX_VERSION_CHARS = 200
"""Longer text is no version. Python refuses to read numbers of more than 4,300 digits anyway."""

_PEP440_PATTERN = re.compile(
    r"""v?
    (?:(?P<epoch>[0-9]+)!)?
    (?P<release>[0-9]+(?:\.[0-9]+)*)
    (?:[-_.]?(?P<pre>alpha|a|beta|b|preview|pre|c|rc)[-_.]?(?P<pre_n>[0-9]+)?)?
    (?P<post>-(?P<post_n1>[0-9]+)|[-_.]?(?:post|rev|r)[-_.]?(?P<post_n2>[0-9]+)?)?
    (?P<dev>[-_.]?dev[-_.]?(?P<dev_n>[0-9]+)?)?
    (?:\+(?P<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
_PRE_LETTER = {"alpha": "a", "beta": "b", "c": "rc", "pre": "rc", "preview": "rc"}
_PRE_RANK = {"a": 0, "b": 1, "rc": 2}

_NAME_SEPARATORS = re.compile(r"[-_.]+")

VersionKey: TypeAlias = tuple[
    int, tuple[int, ...], tuple[int, int], int, tuple[int, int], tuple[tuple[int, int, str], ...]
]


@dataclass(frozen=True, slots=True)
class PackageVersion:
    """A version and its place in the order. Two spellings of one version are equal by ``key`` alone."""

    text: str
    """Normalised as PEP 440 says: ``1.0-RC.1`` → ``1.0rc1``."""
    key: VersionKey
    prerelease: bool
    """Alpha, beta, candidate or development release."""
    local: bool

    @property
    def public_key(self) -> VersionKey:
        """The place of the version without its local part (``+cu118``)."""
        return (*self.key[:5], ())

    @property
    def major(self) -> tuple[int, int]:
        """Epoch and first release number: what a major jump changes."""
        return self.key[0], (self.key[1] or (0,))[0]


@lru_cache(maxsize=65536)
def parse_version(text: str) -> PackageVersion | None:
    """The version that a text names, or None where PEP 440 knows none in it."""
    text = text.strip()
    if len(text) > MAX_VERSION_CHARS:
        return None
    match = _PEP440_PATTERN.fullmatch(text)
    if match is None:
        return None
    part = match.groupdict()
    release = tuple(int(number) for number in part["release"].split("."))
    pre = _pre_release(part["pre"], part["pre_n"])
    post = None if part["post"] is None else int(part["post_n1"] or part["post_n2"] or 0)
    dev = None if part["dev"] is None else int(part["dev_n"] or 0)
    local = tuple(_NAME_SEPARATORS.split(part["local"].lower())) if part["local"] else ()
    epoch = int(part["epoch"] or 0)
    return PackageVersion(
        text=_pep440_text(epoch, release, pre, post, dev, local),
        key=_pep440_key(epoch, release, pre, post, dev, local),
        prerelease=pre is not None or dev is not None,
        local=bool(local),
    )


def allows(specifiers: Sequence[tuple[str, str]], version: str) -> bool:
    """Whether a version fits every ``(operator, version)`` of PEP 440. What cannot be compared counts as fitting."""
    parsed = parse_version(version)
    return parsed is None or all(_fits(operator, value, parsed) for operator, value in specifiers)


def _fits(operator: str, value: str, version: PackageVersion) -> bool:
    bound = parse_version(value.removesuffix(".*"))
    if bound is None:
        return True
    if operator == "~=" or value.endswith(".*"):
        numbers = _release_numbers(bound)
        prefix = numbers[:-1] if operator == "~=" else numbers
        padded = (*_release_numbers(version), *(0 for _ in prefix))
        inside = version.key[0] == bound.key[0] and padded[: len(prefix)] == prefix
        return not inside if operator == "!=" else inside and (operator != "~=" or version.key >= bound.key)
    own = version.key if bound.local else version.public_key
    answers = {
        "==": own == bound.key, "===": own == bound.key, "!=": own != bound.key,
        "<": own < bound.key, "<=": own <= bound.key, ">": own > bound.key, ">=": own >= bound.key,
    }  # fmt: skip
    return answers.get(operator, True)


def _release_numbers(version: PackageVersion) -> tuple[int, ...]:
    match = re.match(r"(?:[0-9]+!)?([0-9.]*[0-9])", version.text)
    return tuple(int(number) for number in match[1].split(".")) if match else ()


def canonical_name(name: str) -> str:
    """A package's name as PEP 503 normalises it."""
    return _NAME_SEPARATORS.sub("-", name.strip()).lower()


def _pre_release(letter: str | None, number: str | None) -> tuple[str, int] | None:
    if letter is None:
        return None
    letter = letter.lower()
    return _PRE_LETTER.get(letter, letter), int(number or 0)


def _pep440_key(
    epoch: int,
    release: tuple[int, ...],
    pre: tuple[str, int] | None,
    post: int | None,
    dev: int | None,
    local: tuple[str, ...],
) -> VersionKey:
    """Within a release: dev < a < b < rc < final < post; a dev of each of them comes before it."""
    while release and release[-1] == 0:
        release = release[:-1]
    if pre is not None:
        pre_key = (_PRE_RANK[pre[0]], pre[1])
    elif post is None and dev is not None:
        pre_key = (-1, 0)
    else:
        pre_key = (3, 0)
    dev_key = (1, 0) if dev is None else (0, dev)
    # a number beats a word, a longer local version beats its own beginning
    local_key = tuple((1, int(word), "") if word.isdigit() else (0, 0, word) for word in local)
    return epoch, release, pre_key, -1 if post is None else post, dev_key, local_key


def _pep440_text(
    epoch: int,
    release: tuple[int, ...],
    pre: tuple[str, int] | None,
    post: int | None,
    dev: int | None,
    local: tuple[str, ...],
) -> str:
    text = f"{epoch}!" if epoch else ""
    text += ".".join(map(str, release))
    if pre is not None:
        text += f"{pre[0]}{pre[1]}"
    if post is not None:
        text += f".post{post}"
    if dev is not None:
        text += f".dev{dev}"
    if local:
        text += "+" + ".".join(str(int(word)) if word.isdigit() else word for word in local)
    return text
