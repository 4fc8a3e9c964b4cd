"""DuckDB, pyarrow and Polars read our Parquet files: every value, every type, and what the footer promises."""

import io
import json
import tempfile
import unittest
from pathlib import Path
from typing import Any

from appsecgate.exports.parquet import GROUP_ROWS
from appsecgate.exports.parquet_chunk import PAGE_ROWS
from appsecgate.exports.snapshot import MANIFEST_NAME, write_snapshot
from appsecgate.model import FixStatus, Severity
from appsecgate.store.public_views import ColumnType, PublicView, public_views
from tests.exports.columns import (
    odd_rows,
    odd_view,
    parquet_bytes,
    plain_columns,
    plain_value,
    read_ndjson,
    real_bits,
    require_readers,
)
from tests.store.ledger import OTHER, PROJECT, LedgerCase, make_finding

SIZES = (0, 1, 9, 500, PAGE_ROWS + 1)
DUCKDB_TYPES = {
    ColumnType.TEXT: "VARCHAR",
    ColumnType.INTEGER: "BIGINT",
    ColumnType.REAL: "DOUBLE",
    ColumnType.BOOLEAN: "BOOLEAN",
    ColumnType.TIMESTAMP: "TIMESTAMP WITH TIME ZONE",
}
ARROW_TYPES = {
    ColumnType.TEXT: "string",
    ColumnType.INTEGER: "int64",
    ColumnType.REAL: "double",
    ColumnType.BOOLEAN: "bool",
    ColumnType.TIMESTAMP: "timestamp[us, tz=UTC]",
}
POLARS_TYPES = {
    ColumnType.TEXT: "String",
    ColumnType.INTEGER: "Int64",
    ColumnType.REAL: "Float64",
    ColumnType.BOOLEAN: "Boolean",
    ColumnType.TIMESTAMP: "Datetime(time_unit='us', time_zone='UTC')",
}


def comparable(view: PublicView, columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Reals as their bits; the rest is comparable as it is."""
    reals = {column.name for column in view.columns if column.type is ColumnType.REAL}
    return {
        name: [real_bits(value) for value in values] if name in reals else values for name, values in columns.items()
    }


class ReaderCase(unittest.TestCase):
    """The three readers, each giving column → values with times as microseconds, after checking the types."""

    duckdb: Any
    pyarrow: Any
    parquet: Any
    polars: Any

    @classmethod
    def setUpClass(cls) -> None:
        cls.duckdb, cls.pyarrow, cls.parquet, cls.polars = require_readers(
            "duckdb", "pyarrow", "pyarrow.parquet", "polars"
        )

    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory(prefix="appsecgate-parquet-")
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)

    def file(self, view: PublicView, rows: list[Any]) -> Path:
        path = self.folder / "file.parquet"
        path.write_bytes(parquet_bytes(view, rows))
        return path

    def by_duckdb(self, view: PublicView, path: Path) -> dict[str, list[Any]]:
        with self.duckdb.connect() as connection:
            types = connection.execute(f"DESCRIBE SELECT * FROM '{path}'").fetchall()
            wanted = [(column.name, DUCKDB_TYPES[column.type]) for column in view.columns]
            self.assertEqual([row[:2] for row in types], wanted)
            times = {column.name for column in view.columns if column.type is ColumnType.TIMESTAMP}
            names = [column.name for column in view.columns]
            cells = ", ".join(f"epoch_us({name})" if name in times else name for name in names)
            rows = connection.execute(
                f"SELECT {cells} FROM read_parquet('{path}', file_row_number = true) ORDER BY file_row_number"
            ).fetchall()
        return {name: [row[index] for row in rows] for index, name in enumerate(names)}

    def by_pyarrow(self, view: PublicView, path: Path) -> dict[str, list[Any]]:
        table = self.parquet.ParquetFile(path, page_checksum_verification=True).read()
        table.validate(full=True)
        wanted = [(column.name, ARROW_TYPES[column.type]) for column in view.columns]
        self.assertEqual([(field.name, str(field.type)) for field in table.schema], wanted)
        found = {}
        for column in view.columns:
            values = table.column(column.name)
            if column.type is ColumnType.TIMESTAMP:
                values = values.cast(self.pyarrow.int64())
            found[column.name] = values.to_pylist()
        return found

    def by_polars(self, view: PublicView, path: Path) -> dict[str, list[Any]]:
        frame = self.polars.read_parquet(path)
        wanted = [(column.name, POLARS_TYPES[column.type]) for column in view.columns]
        self.assertEqual([(name, str(kind)) for name, kind in frame.schema.items()], wanted)
        return {name: frame[name].to_physical().to_list() for name in frame.columns}

    def assert_read(self, view: PublicView, path: Path, wanted: dict[str, list[Any]]) -> None:
        for read in (self.by_duckdb, self.by_pyarrow, self.by_polars):
            with self.subTest(read.__name__):
                found = comparable(view, read(view, path))
                for name, values in wanted.items():
                    self.assertEqual(found[name], values, name)


class ReadersTest(ReaderCase):
    def test_three_readers_give_every_odd_value_back(self) -> None:
        view = odd_view()
        for count in SIZES:
            with self.subTest(count):
                rows = odd_rows(count, seed=count)
                self.assert_read(view, self.file(view, rows), plain_columns(view, rows))

    def test_several_row_groups_are_one_table(self) -> None:
        view = PublicView("v_odd", "Odd.", odd_view().columns[:3])
        rows = [row[:3] for row in odd_rows(GROUP_ROWS + 7, seed=1)]
        path = self.file(view, rows)
        self.assertEqual(self.parquet.read_metadata(path).num_row_groups, 2)
        self.assert_read(view, path, plain_columns(view, rows))

    def test_pyarrow_finds_the_metadata_in_order(self) -> None:
        view, count = odd_view(), 300
        rows = odd_rows(count, seed=5)
        metadata = self.parquet.read_metadata(self.file(view, rows))
        self.assertEqual((metadata.num_rows, metadata.num_columns), (count, len(view.columns)))
        self.assertRegex(metadata.created_by, r"^appsecgate version \d")
        group = metadata.row_group(0)
        self.assertEqual((metadata.num_row_groups, group.num_rows), (1, count))
        chunks = [group.column(index) for index in range(group.num_columns)]
        self.assertEqual(group.total_byte_size, sum(chunk.total_uncompressed_size for chunk in chunks))
        for index, (column, chunk) in enumerate(zip(view.columns, chunks, strict=True)):
            with self.subTest(column.name):
                cells = [row[index] for row in rows]
                self.assertEqual((chunk.path_in_schema, chunk.num_values), (column.name, count))
                self.assertEqual(chunk.compression, "GZIP")
                self.assertEqual(chunk.statistics.null_count, cells.count(None))

    def test_what_the_statistics_let_a_reader_skip_is_not_there(self) -> None:
        """A reader with a filter skips row groups by their bounds: it must still find every row."""
        view = odd_view()
        rows = odd_rows(300, seed=6)
        path = self.file(view, rows)
        with self.duckdb.connect() as connection:
            for index, column in enumerate(view.columns):
                values = {plain_value(column.type, row[index]) for row in rows} - {None}
                if column.type in (ColumnType.REAL, ColumnType.BOOLEAN):
                    continue
                shown = f"epoch_us({column.name})" if column.type is ColumnType.TIMESTAMP else column.name
                for value in sorted(values)[:20]:
                    with self.subTest(column=column.name, value=value):
                        wanted = sum(plain_value(column.type, row[index]) == value for row in rows)
                        sql = f"SELECT count(*) FROM '{path}' WHERE {shown} = ?"
                        self.assertEqual(connection.execute(sql, [value]).fetchone(), (wanted,))
                        if column.type is not ColumnType.TIMESTAMP:
                            filters = [(column.name, "=", value)]
                            table = self.parquet.read_table(path, filters=filters)
                            self.assertEqual(table.num_rows, wanted)

    def test_extremes_are_what_the_values_say(self) -> None:
        view = odd_view()
        rows = odd_rows(300, seed=7)
        path = self.file(view, rows)
        lazy = self.polars.scan_parquet(path)
        with self.duckdb.connect() as connection:
            for index, column in enumerate(view.columns):
                values = [value for row in rows if (value := plain_value(column.type, row[index])) is not None]
                if not values or column.type not in (ColumnType.TEXT, ColumnType.INTEGER):
                    continue
                with self.subTest(column.name):
                    sql = f"SELECT min({column.name}), max({column.name}) FROM '{path}'"
                    self.assertEqual(connection.execute(sql).fetchone(), (min(values), max(values)))
                    cell = self.polars.col(column.name)
                    found = lazy.select(cell.min().alias("low"), cell.max().alias("high")).collect().row(0)
                    self.assertEqual(found, (min(values), max(values)))


class SnapshotReadersTest(ReaderCase, LedgerCase):
    """Whole snapshots: Parquet equals NDJSON equals the views."""

    def setUp(self) -> None:
        ReaderCase.setUp(self)
        LedgerCase.setUp(self)

    def fill(self) -> None:
        names = ["plain", "ünï", "日本", "😀", "half\udc80", "nul\0", "tab\t", "long" * 3_000]
        findings = [
            make_finding(f"{number} {name}", message=name, rule_id=name[:20], severity=severity, line_start=number + 1)
            for number, (name, severity) in enumerate(zip(names, [*Severity, *Severity], strict=False))
        ]
        with self.store.write() as writer:
            writer.touch_project(OTHER, "alias-b", "/somewhere/b")
        self.scan(findings)
        self.scan(findings[:3], project_id=OTHER)
        self.show(*findings[:4])
        self.clock.forward(hours=1)
        self.attempt(findings[0], FixStatus.FIXED)
        self.attempt(findings[1], FixStatus.WONT_FIX, note="wég 😀")
        self.scan(findings[2:4], gone=[findings[0].logical_id])

    def test_parquet_equals_ndjson_equals_the_views(self) -> None:
        self.fill()
        for project_id in (PROJECT, None):
            with self.subTest(project_id):
                self.compare(project_id)

    def compare(self, project_id: str | None) -> None:
        now, name = self.clock.text(), project_id or "all"
        folders = {
            form: write_snapshot(self.store, project_id, self.tmp / f"{form}-{name}", form, prompt_version="1", now=now)
            for form in ("ndjson", "parquet")
        }
        self.assertEqual(folders["ndjson"].row_count, folders["parquet"].row_count)
        manifest = json.loads((folders["parquet"].path / MANIFEST_NAME).read_text())
        for view in public_views().values():
            with self.subTest(view.name):
                lines = read_ndjson((folders["ndjson"].path / f"{view.name}.ndjson").read_bytes())
                with self.store.read() as reader:
                    rows = list(reader.view_rows(view.name, project_id))
                self.assertGreater(len(rows), 0)
                wanted = plain_columns(view, rows)
                by_lines = [tuple(line[column.name] for column in view.columns) for line in lines]
                self.assertEqual(plain_columns(view, by_lines), wanted)
                path = folders["parquet"].path / f"{view.name}.parquet"
                self.assert_read(view, path, wanted)
                entry = next(file for file in manifest["files"] if file["view"] == view.name)
                self.assertEqual((entry["name"], entry["rows"]), (path.name, len(rows)))
                self.assertEqual(entry["bytes"], path.stat().st_size)


class FuzzTest(ReaderCase):
    def test_any_text_and_number_survives(self) -> None:
        (hypothesis, strategies) = require_readers("hypothesis", "hypothesis.strategies")
        view = PublicView("v_odd", "Odd.", (odd_view().columns[0], odd_view().columns[5]))
        self.assertEqual([column.type for column in view.columns], [ColumnType.TEXT, ColumnType.INTEGER])
        text = strategies.none() | strategies.text(strategies.characters(), max_size=80)
        number = strategies.none() | strategies.integers(-(2**63), 2**63 - 1)

        @hypothesis.settings(max_examples=60, deadline=None, database=None, derandomize=True)
        @hypothesis.given(strategies.lists(strategies.tuples(text, number), max_size=40))
        def check(rows: list[Any]) -> None:
            table = self.parquet.read_table(io.BytesIO(parquet_bytes(view, rows)))
            wanted = plain_columns(view, rows)
            self.assertEqual({name: table.column(name).to_pylist() for name in wanted}, wanted)

        check()


if __name__ == "__main__":
    unittest.main()
