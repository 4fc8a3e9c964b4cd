"""The kinds of evidence that make a new finding a known one, strongest first."""

import enum
import re
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from appsecgate.identity.pairing import NewSpot, OldSpot

NEAR_LINES = 20
"""How far from its mapped line a finding with changed code in another scope is still the same."""

PACKAGE_SCOPE = "pkg:"
RESOURCE_SCOPE = "res:"

_FORMATTING = re.compile(r"\s+|,(?=\s*[)\]}])|;\s*\Z")


class MatchKind(enum.StrEnum):
    """By which evidence a finding kept its identity, strongest first."""

    SCOPE_AND_CODE = "scope_and_code"
    FINGERPRINT = "fingerprint"
    SCOPE = "scope"
    NEAREST = "nearest"
    RENAMED = "renamed"
    RETURNED = "returned"
    """It was fixed or gone before and is reported again."""


@dataclass(frozen=True, slots=True)
class MatchSide:
    """A finding as it is compared, old or new."""

    group: tuple[str, str, str]
    """Scanner, rule and the path that its file has now: nothing is compared across groups."""
    scope: str
    code: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class OldSide(MatchSide):
    spot: OldSpot


@dataclass(frozen=True, slots=True)
class NewSide(MatchSide):
    spot: NewSpot


@dataclass(frozen=True, slots=True)
class MatchStage:
    """One kind of evidence: old and new ones with equal keys are candidates, ``None`` is none."""

    kind: MatchKind
    key: Callable[[MatchSide], Hashable]
    within: int | None = None


def unformatted(code: str) -> str:
    """Code without what a formatter changes: white space, trailing commas, the kind of quotes."""
    return _FORMATTING.sub("", code).replace("'", '"')


def _unless_package(side: MatchSide, key: str) -> str | None:
    """A package is the same finding under its own name alone, wherever else code or lines agree."""
    return None if side.scope.startswith(PACKAGE_SCOPE) else key


# A fingerprint counts equal code from the top of the file, so when the first of two equal ones is
# fixed the second takes over its fingerprint. Equal code is therefore compared without the ordinal,
# and the line map tells which one is left.
BY_CODE = (
    MatchStage(MatchKind.SCOPE_AND_CODE, lambda side: (side.scope, side.code)),
    MatchStage(MatchKind.SCOPE_AND_CODE, lambda side: (side.scope, unformatted(side.code))),
    MatchStage(MatchKind.FINGERPRINT, lambda side: _unless_package(side, side.code)),
    MatchStage(MatchKind.FINGERPRINT, lambda side: _unless_package(side, unformatted(side.code))),
)
BY_PLACE = (
    MatchStage(MatchKind.SCOPE, lambda side: side.scope),
    MatchStage(MatchKind.NEAREST, lambda side: _unless_package(side, ""), within=NEAR_LINES),
)
# Of what was fixed or gone the lines are those of some earlier text: only equal code brings it back.
BY_MEMORY = (*BY_CODE[:2], MatchStage(MatchKind.FINGERPRINT, lambda side: side.fingerprint))
