"""The ledger at size: exporting a million rows beside pyarrow's writer, and queries over 100,000 findings.

``python3 -m benchmarks.bench_ledger [ROWS [FINDINGS]]`` prints Markdown tables. Every export is a process of its
own, so that its peak memory is its own; pyarrow reads the same rows from the same database, in equal row groups.
"""

import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from appsecgate.model import Category, Finding, Scanner, ScanVerdict, Severity
from appsecgate.redact.redactor import Redactor
from appsecgate.store.connection import Store
from appsecgate.store.query import run_query
from appsecgate.store.scans import ScanRecord

ROOT = Path(__file__).resolve().parent.parent
PROJECT = "0123456789abcdef"
START = datetime(2026, 3, 1, tzinfo=UTC)
PER_SCAN = 20_000
ROUNDS = 7
QUERIES = {
    "GROUP BY severity": "SELECT severity, count(*) AS n FROM v_findings GROUP BY severity",
    "GROUP BY severity, status": "SELECT severity, status, count(*) FROM v_findings GROUP BY 1, 2",
    "WHERE … GROUP BY rule": "SELECT rule_id, count(*) FROM v_findings WHERE severity = 'high' GROUP BY rule_id",
    "GROUP BY file, worst 20": (
        "SELECT file_path, count(*) AS n FROM v_findings GROUP BY file_path ORDER BY n DESC LIMIT 20"
    ),
    "v_summary": "SELECT * FROM v_summary",
    "one finding by id": "SELECT * FROM v_findings WHERE logical_id = 'f000000000000007'",
}
OURS = """
import resource, sys, time
from datetime import UTC, datetime
from pathlib import Path
from appsecgate.exports.snapshot import write_snapshot
from appsecgate.store.connection import Store
data, form = Path(sys.argv[1]), sys.argv[2]
store = Store.open(data, clock=lambda: datetime.now(UTC))
began = time.perf_counter()
target = data / "exports" / f"{form}-{time.monotonic_ns()}"
done = write_snapshot(store, None, target, form, prompt_version="1", now="-")
size = sum(file.stat().st_size for file in done.path.iterdir())
print(time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, size / 1e6)
"""
PYARROW = """
import resource, sqlite3, sys, time
from datetime import datetime
from pathlib import Path
import pyarrow, pyarrow.parquet
from appsecgate.store.public_views import ColumnType, public_views
kinds = {"text": pyarrow.string(), "integer": pyarrow.int64(), "real": pyarrow.float64(), "boolean": pyarrow.bool_(),
         "timestamp": pyarrow.timestamp("us", "UTC")}
convert = {"boolean": lambda cell: None if cell is None else bool(cell),
           "timestamp": lambda cell: None if cell is None else datetime.fromisoformat(cell)}
db = sqlite3.connect(Path(sys.argv[1]) / "appsecgate.db")
options = {"compression": "gzip", "compression_level": 1} if sys.argv[2] == "gzip" else {"compression": sys.argv[2]}
began, size = time.perf_counter(), 0
for view in public_views().values():
    schema = pyarrow.schema([(column.name, kinds[column.type]) for column in view.columns])
    path = Path(sys.argv[1]) / f"{view.name}.pyarrow.{sys.argv[2]}"
    cursor = db.execute(f"SELECT {', '.join(schema.names)} FROM {view.name}")
    with pyarrow.parquet.ParquetWriter(path, schema, **options) as writer:
        while rows := cursor.fetchmany(20_000):
            columns = [
                [convert[column.type](cell) for cell in cells] if column.type in convert else cells
                for column, cells in zip(view.columns, zip(*rows))
            ]
            arrays = [pyarrow.array(cells, kind) for cells, kind in zip(columns, schema.types)]
            writer.write_batch(pyarrow.record_batch(arrays, schema=schema))
    size += path.stat().st_size
print(time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, size / 1e6)
"""
READING = """
import resource, sys, time
from datetime import UTC, datetime
from pathlib import Path
from appsecgate.store.connection import Store
from appsecgate.store.public_views import public_views
store = Store.open(Path(sys.argv[1]), clock=lambda: datetime.now(UTC))
began = time.perf_counter()
with store.read() as reader:
    for name in public_views():
        for _ in reader.view_rows(name, None):
            pass
print(time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 0)
"""


def made_findings(count: int, seed: int) -> Iterator[Finding]:
    """Findings as a large project has them: few rules, many files, every message a little different."""
    chance = random.Random(seed)
    severities = list(Severity)
    for number in range(count):
        rule = f"python.lang.security.rule-{number % 211}"
        yield Finding(
            scanner=Scanner.SEMGREP,
            rule_id=rule,
            category=Category.SAST,
            severity=severities[number % len(severities)],
            file_path=f"src/package_{number % 97}/module_{number % 5_003}.py",
            line_start=number % 900 + 1,
            line_end=number % 900 + 3,
            message=f"Detected {rule}: input {chance.getrandbits(32):08x} reaches a sink without being checked.",
            snippet="sink(value)",
            code=f"sink(value_{number})",
            cwe=("CWE-79", "CWE-80") if number % 3 else (),
            owasp=("A03:2021",),
            scanner_version="1.185.0",
            fingerprint=f"{chance.getrandbits(128):032x}",
            scope_key=f"f{number}",
            logical_id=f"f{number:015x}",
        )


def filled_store(data: Path, count: int, project_id: str = PROJECT, root: str = "/big") -> Store:
    """A ledger with that many findings of one project."""
    store = Store.open(data, clock=lambda: START)
    findings = made_findings(count, seed=1)
    with store.write() as writer:
        writer.touch_project(project_id, "big", root)
    for number in range(0, count, PER_SCAN):
        part = [next(findings) for _ in range(min(PER_SCAN, count - number))]
        at = (START + timedelta(seconds=number)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        record = ScanRecord(f"scan-{number}", project_id, "bench", "project", at, at, ScanVerdict.FINDINGS, "config")
        with store.write() as writer:
            writer.add_scan(record, findings=part, evidence=[], targets=[], gone=[])
    return store


def measured(python: str, program: str, data: Path, argument: str) -> tuple[float, float, float]:
    """Seconds, peak MB, MB written."""
    done = subprocess.run(
        [python, "-c", program, str(data), argument], cwd=ROOT, check=True, capture_output=True, text=True
    )
    seconds, peak, size = (float(word) for word in done.stdout.split())
    return seconds, peak, size


def export_table(rows: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        data = Path(name)
        filled_store(data, rows).close()
        print(f"\n| {rows:,} findings | seconds | peak memory, MB | files, MB |\n|---|---|---|---|")
        cases = [
            ("reading the views alone", READING, ""),
            ("our NDJSON", OURS, "ndjson"),
            ("our Parquet (GZIP)", OURS, "parquet"),
            ("pyarrow (GZIP, the same level)", PYARROW, "gzip"),
            ("pyarrow (Snappy, its default)", PYARROW, "snappy"),
        ]
        for label, program, argument in cases:
            try:
                seconds, peak, size = measured(sys.executable, program, data, argument)
            except subprocess.CalledProcessError as error:
                print(f"| {label} | not measured: {error.stderr.strip().splitlines()[-1]} | | |")
                continue
            print(f"| {label} | {seconds:.1f} | {peak:.0f} | {size:.0f} |", flush=True)


def milliseconds(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def query_table(count: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        store = filled_store(Path(name), count)
        redactor = Redactor(store.key)
        print(f"\n| query over {count:,} findings | cold, ms | warm, median ms |\n|---|---|---|")
        for label, sql in QUERIES.items():

            def ask(sql: str = sql) -> None:
                run_query(store, PROJECT, "bench", sql, redactor=redactor)

            cold = []
            for _ in range(3):
                store.queries.drop_copy()
                cold.append(milliseconds(ask))
            warm = [milliseconds(ask) for _ in range(ROUNDS)]
            print(f"| {label} | {statistics.median(cold):.0f} | {statistics.median(warm):.1f} |", flush=True)
        store.close()


def main(rows: int, findings: int) -> None:
    versions = {"python": sys.version.split()[0]}
    print(f"python {json.dumps(versions)}")
    query_table(findings)
    export_table(rows)


if __name__ == "__main__":
    numbers = [int(argument.replace("_", "")) for argument in sys.argv[1:]]
    main(*(numbers + [1_000_000, 100_000][len(numbers) :]))
