"""A process that writes: each turn stores a scan and an attempt in one transaction and then says so on stdout."""

import sys
from datetime import UTC, datetime
from pathlib import Path

from appsecgate.model import FixStatus, ScanVerdict
from appsecgate.store.connection import Store
from appsecgate.store.scans import ScanRecord
from tests.store.ledger import applied, evidence_row, make_attempt, make_finding

STAMP = "2026-03-01T12:00:00.000Z"


def main(data: str, project_id: str, name: str, writes: int) -> None:
    store = Store.open(Path(data), clock=lambda: datetime.now(UTC))
    finding = make_finding("contested")
    for turn in range(writes):
        note = f"{name} {turn}"
        record = ScanRecord(note, project_id, name, "file", STAMP, STAMP, ScanVerdict.FINDINGS, note)
        with store.write() as writer:
            writer.touch_project(project_id, name, f"/{name}")
            writer.add_scan(
                record,
                findings=[finding, make_finding(f"{name} {turn % 20}")],
                evidence=[evidence_row(1, 2, STAMP)],
                targets=[applied(finding.file_path)],
            )
            writer.add_attempt(project_id, make_attempt(finding, FixStatus.NOT_FIXED, STAMP, note=note))
        print(note.replace(" ", ":"), flush=True)
    store.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
