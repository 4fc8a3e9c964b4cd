"""Importing a public advisory database, and auditing a hundred pins by a server that is warm.

``python3 -m benchmarks.bench_dependencies DUMP [DUMP …]`` prints Markdown; each DUMP is a zip or a directory of OSV
records. The first one's packages are the pins. Every round audits new content.
"""

import sqlite3
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from appsecgate.store.advisory_import import import_advisories
from appsecgate.store.advisory_index import ADVISORY_FILE
from benchmarks.measuring import median, table
from tests.support import PACKAGE, link_scanners, mcp_client

IMPORT_S, AUDIT_S, PINS, ROUNDS = 20.0, 2.0, 100, 9


def pins_of(data: Path) -> str:
    """A requirements file with pins that the copy has something to say about."""
    connection = sqlite3.connect(data / ADVISORY_FILE)
    try:
        sql = "SELECT DISTINCT name FROM package ORDER BY name LIMIT ?"
        names = [name for (name,) in connection.execute(sql, (PINS,))]
    finally:
        connection.close()
    return "".join(f"{name}==1.0\n" for name in names)


def audits(data: Path, project: Path) -> list[float]:
    """Seconds of each call of scan_file on the hundred pins."""
    text = pins_of(data)
    target = project / "requirements.txt"
    times = []
    with mcp_client(PACKAGE, project, data, APPSECGATE_SCANNERS_ENABLED="pip-audit") as client:
        target.write_text(text)
        client.call("scan_file", path="requirements.txt")
        time.sleep(8)  # the workers load in the background
        for number in range(ROUNDS):
            target.write_text(f"# round {number}\n{text}")
            began = time.perf_counter()
            client.call("scan_file", path="requirements.txt")
            times.append(time.perf_counter() - began)
    return times


def report(dumps: list[Path]) -> str:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        data, project = Path(folder, "data"), Path(folder, "project")
        project.mkdir()
        link_scanners(data)
        for dump in reversed(dumps):
            began = time.perf_counter()
            found = import_advisories(dump, data, datetime.now(UTC))
            took = time.perf_counter() - began
            what = (
                f"import of {found.imported:,} records ({'directory' if dump.is_dir() else dump.name.split('.')[-1]})"
            )
            rows.append([what, f"{took:.2f}", f"{IMPORT_S:.0f}", "yes" if took < IMPORT_S else "NO"])
        took = median(audits(data, project))
        rows.append([f"audit of {PINS} pins, warm", f"{took:.2f}", f"{AUDIT_S:.0f}", "yes" if took < AUDIT_S else "NO"])
    return table(["what", "s", "bound, s", "within"], rows)


if __name__ == "__main__":
    print(report([Path(word) for word in sys.argv[1:]]))
