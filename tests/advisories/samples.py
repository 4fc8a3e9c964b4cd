"""Made-up OSV records for the tests: the files in tests/data/osv, and short ones built in place."""

import json
from pathlib import Path
from typing import Any

from appsecgate.advisories.osv import OsvRecord, parse_osv

OSV_DIRECTORY = Path(__file__).resolve().parent.parent / "data" / "osv"


def osv_record(record_id: str = "PYSEC-1", *events: dict[str, str], name: str = "pkg", **fields: Any) -> OsvRecord:
    """A record with one ECOSYSTEM range; ``fields`` are set beside it."""
    return parse_osv(osv_json(record_id, *events, name=name, **fields))


def osv_json(record_id: str = "PYSEC-1", *events: dict[str, str], name: str = "pkg", **fields: Any) -> dict[str, Any]:
    affected: dict[str, Any] = {"package": {"ecosystem": "PyPI", "name": name}}
    if events:
        affected["ranges"] = [{"type": "ECOSYSTEM", "events": list(events)}]
    if "versions" in fields:
        affected["versions"] = fields.pop("versions")
    base: dict[str, Any] = {"id": record_id, "modified": "2026-01-01T00:00:00Z", "affected": [affected]}
    return {**base, **fields}


def recorded(name: str) -> dict[str, Any]:
    """A record of tests/data/osv."""
    loaded: dict[str, Any] = json.loads((OSV_DIRECTORY / f"{name}.json").read_text(encoding="utf-8"))
    return loaded
