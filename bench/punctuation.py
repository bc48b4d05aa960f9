"""Punctuations: what they cost and what they save.

Figure 2 of the punctuation paper, scaled up: sensors report for 60 hours, the union of two streams
of reports is grouped by hour, and an hour's maximum is passed on when it is final. And the auction:
items joined with bids, a sum for each item, with a punctuation for each item and without.
Writes docs/images/punctuation.svg. Times on a busy machine mean little: read the ratios.
`python -m bench.punctuation [sensors] [bids]`.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

from bench.charts import Line, chart
from penstock.runtime.spark import start_spark
from penstock.session import Session, connect
from penstock.testing.processes import memory

HOURS, MINUTES = 60, 60
MINUTE = 60_000_000
FREQUENCIES = (0, 1, 2, 5, 10, 30)
IMAGES = Path(__file__).parents[1] / "docs" / "images"
STAMP = pa.timestamp("us", tz="UTC")


@dataclass
class Run:
    """Seconds until the first result and in all, and rows of state after each step."""

    first: float | None = None
    total: float = 0.0
    state: list[int] = field(default_factory=list)
    peak: int = 0


def main() -> None:
    sensors, bids = (int(arg) for arg in [*sys.argv[1:], "500", "10000000"][:2])
    spark = start_spark("local[2]")
    spark.sparkContext.setLogLevel("ERROR")
    figure_2(spark, sensors)
    auction(spark, bids)


# --- the warehouse --------------------------------------------------------------------------------


def figure_2(spark: SparkSession, sensors: int) -> None:
    rows = 2 * sensors * HOURS * MINUTES
    print(f"the warehouse: {rows:,} reports of {2 * sensors:,} sensors over {HOURS} hours\n")
    warehouse(spark, 10, 1)
    runs = {frequency: warehouse(spark, sensors, frequency) for frequency in FREQUENCIES}
    print(f"{'punctuations an hour':>20} {'first':>8} {'total':>8} {'ratio':>6} {'most state':>12}")
    for frequency, run in runs.items():
        first = "-" if run.first is None else f"{run.first:.1f} s"
        print(
            f"{frequency:20} {first:>8} {run.total:6.1f} s {run.total / runs[0].total:6.2f} "
            f"{max(run.state):12,}"
        )
    lines = [Line(f"{f} an hour", list(enumerate(runs[f].state))) for f in (0, 1, 30)]
    (IMAGES / "punctuation.svg").write_text(
        chart("State of the union", "hours of reports", "rows", lines)
    )
    print()


def warehouse(spark: SparkSession, sensors: int, frequency: int) -> Run:
    with (
        tempfile.TemporaryDirectory(prefix="penstock-bench-") as path,
        connect(path, spark, unbounded="allow", keep_input=False) as db,
    ):
        for name in ("sensor1", "sensor2"):
            db.sql(f"""
                CREATE SOURCE {name} (sid INT, hour INT, minute INT, currtmp DOUBLE, at TIMESTAMP,
                  p STRING) EVENT TIME at;
                CREATE STREAM {name}_reports OVER {name} KEY NULL
                  PUNCTUATED BY COLUMN p, BY DOMAIN (minute BETWEEN 0 AND 59)
            """)
        db.sql("""
            CREATE VIEW hottest AS
              SELECT hour, max(currtmp) AS maxtemp FROM (
                SELECT currtmp, hour FROM sensor1_reports UNION
                SELECT currtmp, hour FROM sensor2_reports)
              GROUP BY hour EMIT FINAL
        """)
        run, began = Run(), time.perf_counter()
        for hour in range(HOURS):
            for place, name in enumerate(("sensor1", "sensor2")):
                db.source(name).append(_reports(sensors, place, hour, frequency))
            _step(db, run, began, "hottest")
        for name in ("sensor1", "sensor2"):
            db.source(name).end()
        _step(db, run, began, "hottest")
        run.total = time.perf_counter() - began
        assert db.view("hottest").snapshot().count() == HOURS
        return run


def _reports(sensors: int, place: int, hour: int, frequency: int) -> pa.Table:
    rng = np.random.default_rng(2 * hour + place)
    minute = np.repeat(np.arange(MINUTES, dtype=np.int32), sensors)
    at = (hour * MINUTES + minute.astype(np.int64)) * MINUTE
    table = pa.table(
        {
            "sid": pa.array(np.tile(np.arange(sensors, dtype=np.int32) + sensors * place, MINUTES)),
            "hour": pa.array(np.full(len(minute), hour, dtype=np.int32)),
            "minute": pa.array(minute),
            "currtmp": pa.array(rng.uniform(20, 95, len(minute))),
            "at": pa.array(at).cast(STAMP),
            "p": pa.nulls(len(minute), pa.string()),
        }
    )
    marks = [
        {
            "at": (hour * MINUTES + (i + 1) * MINUTES // frequency) * MINUTE - 1,
            "p": f"<*,{hour},[{i * MINUTES // frequency},{(i + 1) * MINUTES // frequency}),*,*>",
        }
        for i in range(frequency)
    ]
    return pa.concat_tables([table, pa.Table.from_pylist(marks, table.schema)])


# --- the auction ----------------------------------------------------------------------------------


def auction(spark: SparkSession, bids: int, batches: int = 20) -> None:
    print(f"the auction: {bids:,} bids for {bids // 50:,} items, in {batches} batches\n")
    auction_run(spark, bids // 100, batches, punctuated=True)
    print(f"{'':20} {'rate':>12} {'most state':>12} {'state at the end':>17} {'peak memory':>12}")
    rates = []
    for punctuated in (False, True):
        run = auction_run(spark, bids, batches, punctuated)
        rates.append(bids / run.total)
        name = "with punctuations" if punctuated else "without"
        print(
            f"{name:20} {rates[-1]:10,.0f}/s {max(run.state):12,} {run.state[-1]:17,} "
            f"{run.peak / 1e3:9,.0f} MB"
        )
    print(f"\nrate with punctuations: {rates[1] / rates[0]:.2f} of that without")


def auction_run(spark: SparkSession, bids: int, batches: int, punctuated: bool) -> Run:
    with (
        tempfile.TemporaryDirectory(prefix="penstock-bench-") as path,
        connect(path, spark, unbounded="allow", keep_input=False) as db,
    ):
        db.sql("""
            CREATE SOURCE items (item BIGINT, seller BIGINT, t BIGINT, p STRING) EVENT TIME t;
            CREATE SOURCE bids (item BIGINT, increase BIGINT, t BIGINT, p STRING) EVENT TIME t;
            CREATE STREAM item_stream OVER items KEY NULL PUNCTUATED BY COLUMN p;
            CREATE STREAM bid_stream OVER bids KEY NULL PUNCTUATED BY COLUMN p;
        """)
        emit = "EMIT FINAL" if punctuated else ""
        db.sql(f"""
            CREATE VIEW totals AS
              SELECT i.item, i.seller, sum(b.increase) AS total
              FROM item_stream i JOIN bid_stream b ON i.item = b.item
              GROUP BY i.item, i.seller {emit}
        """)
        run, began = Run(), time.perf_counter()
        for items, offers in _auction(bids, batches, punctuated):
            db.source("items").append(items)
            db.source("bids").append(offers)
            _step(db, run, began, None)
        for name in ("items", "bids"):
            db.source(name).end()
        _step(db, run, began, None)
        run.total = time.perf_counter() - began
        run.peak = sum(memory("VmHWM"))
        return run


def _auction(bids: int, batches: int, punctuated: bool) -> Iterator[tuple[pa.Table, pa.Table]]:
    """An item is offered every 50 bids, and open for the 100 items that follow."""
    rng = np.random.default_rng(1)
    size = bids // batches
    for batch in range(batches):
        t = np.arange(batch * size, (batch + 1) * size, dtype=np.int64)
        newest = t // 50
        item = np.maximum(newest - rng.integers(0, 100, size), 0)
        new = t[t % 50 == 0]
        done = new // 50 - 101
        ended = done >= 0
        offers = {"item": item, "increase": rng.integers(1, 100, size), "t": t}
        items = {"item": new // 50, "seller": new // 50 % 1000, "t": new}
        yield (
            _marked(items, new // 50, new, punctuated),
            _marked(offers, done[ended], new[ended], punctuated),
        )


def _marked(
    columns: dict[str, np.ndarray], items: np.ndarray, at: np.ndarray, punctuated: bool
) -> pa.Table:
    """Rows, and after the time of each of some items, that no more of it comes."""
    rows = pa.table({name: pa.array(values) for name, values in columns.items()})
    rows = rows.append_column("p", pa.nulls(rows.num_rows, pa.string()))
    if not punctuated:
        return rows
    texts = [f"<{item},*,*>" for item in items.tolist()]
    nothing = {name: pa.nulls(len(texts), pa.int64()) for name in columns}
    marks = {**nothing, "t": pa.array(at), "p": pa.array(texts, pa.string())}
    return pa.concat_tables([rows, pa.table(marks)])


# --- steps ----------------------------------------------------------------------------------------


def _step(db: Session, run: Run, began: float, view: str | None) -> None:
    progress = db.step()
    if progress is None:
        return
    own = {k: v for k, v in progress["state"].items() if not k.startswith(("view ", "base "))}
    run.state.append(sum(state_table["rows"] for state_table in own.values()))
    if view is not None and run.first is None and db.view(view).snapshot().count():
        run.first = time.perf_counter() - began


if __name__ == "__main__":
    main()
