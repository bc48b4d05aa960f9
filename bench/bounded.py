"""Queries of bounded memory over as many rows as you like: what they keep, and DuckDB's answers.

Prints, for each million rows, the rows and bytes of the state of each query, and in the end whether
its answer is DuckDB's over all the rows. The queries are those of the paper on memory requirements
(table I and example 8.7) that need constant memory, and some with MIN and MAX of unbounded columns.
`python -m bench.bounded [million rows]`.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from penstock.physical.program import program_of
from penstock.runtime.spark import start_spark
from penstock.session import Session, connect

QUERIES = {
    "Q3": "SELECT a FROM s JOIN t ON a = d WHERE a > 10 AND d < 20",
    "Q3 distinct": "SELECT DISTINCT a FROM s JOIN t ON a = d WHERE a > 10 AND d < 20",
    "Q4 distinct": "SELECT DISTINCT a FROM s JOIN t ON b < d WHERE a = 10",
    "Q6 distinct": "SELECT DISTINCT a FROM s JOIN t ON b < d AND c < e AND b < e AND c < d "
    "WHERE a = 10",
    "Q7": "SELECT a FROM s JOIN t ON b < d WHERE d > 10 AND b < 20 AND a = 10",
    "8.7": "SELECT a, d, sum(b) AS total FROM s, t WHERE a < 20 AND d < 20 AND a > 10 AND d > 10 "
    "GROUP BY a, d",
    "extremes": "SELECT a, min(b) AS least, max(b) AS most FROM s WHERE a BETWEEN 1 AND 9 "
    "GROUP BY a",
    "sum and max": "SELECT a, count(*) AS pairs, sum(c) AS total, max(b) AS most FROM s, t "
    "WHERE a BETWEEN 11 AND 19 AND d BETWEEN 11 AND 19 GROUP BY a",
}
SOURCES = {"s": "a INT, b INT, c INT, at BIGINT", "t": "d INT, e INT, at BIGINT"}

ROWS = 1_000_000  # of a batch
Kept: TypeAlias = tuple[int, int]  # rows and bytes


def view_of(query: str) -> str:
    return query.replace(" ", "_").replace(".", "_").lower()


def batch(rng: np.random.Generator, rows: int, start: int) -> dict[str, pa.Table]:
    """Half of the rows are of s. Few of t pass the conditions, so that the bags stay countable."""
    own = {
        "s": {"a": (0, 100), "b": (-5_000, 5_000), "c": (-5_000, 5_000)},
        "t": {"d": (-4_000_000, 100), "e": (-4_000_000, 100)},
    }
    tables = {}
    for name, columns in own.items():
        count = rows // 2
        values = {c: rng.integers(*ends, count, dtype=np.int32) for c, ends in columns.items()}
        at = np.sort(rng.integers(start, start + rows, count))
        tables[name] = pa.table({**values, "at": at})
    return tables


def state_of(db: Session, query: str) -> Kept:
    """The rows and bytes that a view's operators keep, its answer not counted."""
    plan = db.engine.views[view_of(query)].plan
    program = program_of(plan, "v")
    refs = [
        ref
        for place in program.places
        for name in place.state_tables
        for ref in db.engine.manifest.state_table(name).refs
    ]
    return sum(ref.statistics.rows for ref in refs), sum(ref.statistics.bytes for ref in refs)


def define(db: Session) -> None:
    for name, columns in SOURCES.items():
        db.sql(f"CREATE SOURCE {name} ({columns}) EVENT TIME at")
    for name, sql in QUERIES.items():
        db.sql(f"CREATE VIEW {view_of(name)} AS {sql}")


def feed(db: Session, directory: Path, batches: int, rows: int) -> Iterator[dict[str, Kept]]:
    """After each batch, what is kept; the rows are kept as files for DuckDB."""
    rng = np.random.default_rng(1)
    for i in range(batches):
        for name, table in batch(rng, rows, i * rows).items():
            pq.write_table(table, directory / f"{name}{i}.parquet")
            db.source(name).append(table)
        db.step()
        yield {name: state_of(db, name) for name in QUERIES}
    for name in SOURCES:
        db.source(name).end()
    db.step()


def answers(db: Session, query: str) -> Counter[tuple[Any, ...]]:
    """Each different row of a view, and how often it is there."""
    found = db.view(view_of(query)).snapshot()
    counted = found.groupBy(*found.columns).count().collect()
    return Counter({tuple(row)[:-1]: row["count"] for row in counted})


def expected(directory: Path, query: str) -> Counter[tuple[Any, ...]]:
    with duckdb.connect() as duck:
        for name in SOURCES:
            files = f"{directory}/{name}*.parquet"
            duck.execute(f"CREATE VIEW {name} AS SELECT * FROM read_parquet('{files}')")
        counted = duck.execute(
            f"SELECT *, count(*) FROM ({QUERIES[query]}) GROUP BY ALL"
        ).fetchall()
    return Counter({row[:-1]: row[-1] for row in counted})


def main() -> None:
    batches = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    spark = start_spark("local[2]")
    spark.sparkContext.setLogLevel("ERROR")
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as directory:
        data, state = Path(directory, "data"), Path(directory, "state")
        data.mkdir()
        with connect(state, spark, keep_input=False) as db:
            define(db)
            print(f"{'rows':>12} {'seconds':>8}" + "".join(f"{name:>20}" for name in QUERIES))
            started = time.perf_counter()
            for i, kept in enumerate(feed(db, data, batches, ROWS), start=1):
                sizes = (f"{rows} rows {size:,} B" for rows, size in kept.values())
                seconds = time.perf_counter() - started
                print(f"{i * ROWS:>12,} {seconds:>8.1f}" + "".join(f"{s:>20}" for s in sizes))
                started = time.perf_counter()
            for name in QUERIES:
                found, right = answers(db, name), expected(data, name)
                verdict = "as DuckDB's" if found == right else f"{found} is not DuckDB's {right}"
                print(f"{name:12} {right.total():>14,} rows, {len(right)} different: {verdict}")


if __name__ == "__main__":
    main()
