"""What the scanners may ask of a local advisory copy, wherever it is kept."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from appsecgate.advisories.merge import AdvisoryAnswer

MAX_AGE_DAYS = 30
"""A copy whose newest record is older does not prove a project clean; what it does find still counts."""


@dataclass(frozen=True, slots=True)
class AdvisoryStatus:
    """The local copy at a glance."""

    records: int
    """Records about Python packages that are not withdrawn."""
    packages: int
    """Packages that at least one of them speaks of."""
    source_date: str
    """``modified`` of the newest record: how old the knowledge is. RFC 3339, UTC, ``Z``; "" without a copy."""
    imported_at: str
    age_days: int | None
    """Whole days between ``source_date`` and the asking; None without a copy."""
    digest: str
    """16 hex digits over the content: part of the ruleset hash, so that a new copy is a new question."""
    problem: str = ""
    """Why there is no usable copy; "" where there is one."""

    @property
    def usable(self) -> bool:
        return not self.problem and self.records > 0

    def is_stale(self, max_age_days: int = MAX_AGE_DAYS) -> bool:
        return self.age_days is not None and self.age_days > max_age_days


class AdvisoryLookup(Protocol):
    """Asked from several threads at once."""

    def status(self, now: datetime) -> AdvisoryStatus:
        """Never raises: a missing or broken copy is a ``problem``."""
        ...

    def lookup(self, name: str, version: str) -> AdvisoryAnswer:
        """What the copy says; ``name`` in any spelling. Raises AdvisoryError where there is no usable copy."""
        ...

    def knows(self, name: str) -> bool:
        """Whether some record speaks of the package. Raises AdvisoryError where there is no usable copy."""
        ...

    def knows_flaw(self, advisory_id: str) -> bool:
        """Whether some record goes by this name. Raises AdvisoryError where there is no usable copy."""
        ...
