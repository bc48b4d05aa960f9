"""oracle: TPC-H's queries as views over changing tables, and DuckDB on the tables as they are.

The parameters in `tpch/*.sql` are such that each query finds something in 12,000 line items.
"""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import penstock
from penstock.sql.binding.types import sql_type
from penstock.testing.engine_runs import read_locally

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUERIES = {
    path.stem: path.read_text() for path in sorted((Path(__file__).parent / "tpch").iterdir())
}
KEYS = {
    "customer": ("c_custkey",),
    "lineitem": ("l_orderkey", "l_linenumber"),
    "nation": ("n_nationkey",),
    "orders": ("o_orderkey",),
    "part": ("p_partkey",),
    "partsupp": ("ps_partkey", "ps_suppkey"),
    "region": ("r_regionkey",),
    "supplier": ("s_suppkey",),
}
BATCHES = 3


@dataclass(frozen=True)
class Change:
    """A row comes, changes or goes; the number is that of a row of the whole table, by its key.

    An update gives the row the other columns of `like`.
    """

    op: str
    row: int
    like: int


def generated(folder: Path) -> dict[str, pa.Table]:
    program = Path(sys.executable).parent / "tpchgen-cli"
    size = ("-s", "0.002", "--output-dir", str(folder))
    subprocess.run([program, "parquet", *size], check=True, capture_output=True)
    return {name: _keyed(name, _plain(pq.read_table(folder / f"{name}.parquet"))) for name in KEYS}


def _keyed(name: str, table: pa.Table) -> pa.Table:
    """One row for each key: with few suppliers, the generator gives a part the same one twice."""
    keys = zip(*(table.column(column).to_pylist() for column in KEYS[name]), strict=True)
    return table.take(list({key: row for row, key in enumerate(keys)}.values()))


def _plain(table: pa.Table) -> pa.Table:
    fields = [
        field.with_type(pa.string()) if pa.types.is_string_view(field.type) else field
        for field in table.schema
    ]
    return table.cast(pa.schema(fields))


def batches(rng: Random, rows: int) -> Iterator[list[Change]]:
    """All rows come in the end; in later batches some that are there change or go again."""
    there: set[int] = set()
    for b in range(BATCHES):
        new = range(b * rows // BATCHES, (b + 1) * rows // BATCHES)
        touched = rng.sample(sorted(there), len(there) // 8 if rows >= 100 else 0)
        changes = [Change("+", row, row) for row in new]
        for row in touched:
            op = rng.choice("u-")
            changes.append(Change(op, row, rng.randrange(rows) if op == "u" else row))
        there |= set(new)
        there -= {change.row for change in changes if change.op == "-"}
        yield changes


def rows_of(name: str, table: pa.Table, rows: list[int], likes: list[int]) -> pa.Table:
    keys = table.select(KEYS[name]).take(rows)
    rest = table.take(likes)
    columns = [keys.column(c) if c in KEYS[name] else rest.column(c) for c in table.schema.names]
    return pa.Table.from_arrays(columns, schema=table.schema)


def same(found: tuple[Any, ...], expected: tuple[Any, ...]) -> bool:
    return all(map(_same_value, found, expected))


def _same_value(found: Any, expected: Any) -> bool:
    """Exactly, but for floats; where Spark has a decimal and DuckDB a float, to its last digit."""
    match found, expected:
        case float(), float():
            return math.isclose(found, expected, rel_tol=1e-9)
        case Decimal(), float():
            last = float(Decimal(1).scaleb(int(found.as_tuple().exponent)))
            return math.isclose(found, expected, rel_tol=1e-9, abs_tol=0.5001 * last)
    return bool(found == expected)


def _sort_key(row: tuple[Any, ...]) -> list[str]:
    return [f"{v:.6g}" if isinstance(v, float | Decimal) else str(v) for v in row]


@pytest.mark.spark
def test_oracle_all_queries_on_changing_tables(spark: SparkSession, tmp_path: Path) -> None:
    tables = generated(tmp_path / "tables")
    duck, rng = duckdb.connect(), Random(1)
    changes = {name: batches(rng, table.num_rows) for name, table in tables.items()}
    there: dict[str, dict[int, int]] = {name: {} for name in tables}
    found_rows: set[str] = set()
    with penstock.connect(tmp_path / "state", spark, tasks=2, unbounded="allow") as db:
        for name, table in tables.items():
            columns = ", ".join(f"{field.name} {sql_type(field.type)}" for field in table.schema)
            db.sql(f"""
                CREATE SOURCE {name}_changes (op STRING, at BIGINT, {columns}) EVENT TIME at;
                CREATE STREAM {name} OVER {name}_changes KEY ({", ".join(KEYS[name])}) OP op;
            """)
        for name, query in QUERIES.items():
            db.sql(f"CREATE VIEW {name} AS {query}")
        for b in range(BATCHES):
            for name, table in tables.items():
                batch = next(changes[name])
                rows = rows_of(name, table, [c.row for c in batch], [c.like for c in batch])
                rows = rows.append_column("op", pa.array([c.op for c in batch]))
                rows = rows.append_column("at", pa.array([b] * len(batch), pa.int64()))
                db.source(f"{name}_changes").append(rows)
                db.source(f"{name}_changes").advance(b + 1)
                now = there[name]
                for change in batch:
                    now[change.row] = change.like
                    if change.op == "-":
                        del now[change.row]
                duck.register(name, rows_of(name, table, list(now), list(now.values())))
            db.step()
            for name, query in QUERIES.items():
                expected = sorted(duck.execute(query).fetchall(), key=_sort_key)
                snapshot = read_locally(db.view(name).committed().snapshot()).to_pylist()
                found = sorted((tuple(row.values()) for row in snapshot), key=_sort_key)
                assert len(found) == len(expected), f"{name} in batch {b}"
                for one, other in zip(found, expected, strict=True):
                    assert same(one, other), f"{name} in batch {b}: {one}, not {other}"
                if any(value is not None for row in found for value in row):
                    found_rows.add(name)
    assert found_rows == set(QUERIES)
