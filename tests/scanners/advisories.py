"""A small advisory copy, made from the records in tests/data/osv, and a clock that stands still."""

from datetime import UTC, datetime
from pathlib import Path

from appsecgate.store.advisory_import import import_advisories
from appsecgate.store.advisory_index import AdvisoryIndex
from tests.advisories.samples import OSV_DIRECTORY

NOW = datetime(2026, 1, 20, tzinfo=UTC)
"""Ten days after the newest record of tests/data/osv."""


def small_copy(data_dir: Path, now: datetime = NOW) -> AdvisoryIndex:
    """Import tests/data/osv into ``data_dir``; the index's clock shows ``now``."""
    import_advisories(OSV_DIRECTORY, data_dir, now)
    return AdvisoryIndex(data_dir, clock=lambda: now)
