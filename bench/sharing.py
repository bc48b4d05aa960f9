"""Sharing: what 1, 10, 50 and 100 overlapping queries over one stream keep and take.

Sensors report temperatures. Dashboards ask for the last four minutes, refreshed every minute, every
two or every four: by sensor, room, floor or kind, of some of them or of all, some figures each. The
first asks for everything; with sharing the others are answered from it, and without it each runs
apart. Both are fed the same rows, in the same steps, one after the other.
Writes docs/images/sharing.svg and sharing-steps.svg. Times on a busy machine mean little: read the
ratios.
`python -m bench.sharing [rows a step] [sensors] [most queries]`.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

from bench.charts import Line, chart
from penstock.runtime.spark import start_spark
from penstock.session import Session, connect

COUNTS = (1, 10, 50, 100)
STEPS, WARM = 8, 5
MINUTE = 60_000_000
STAMP = pa.timestamp("us", tz="UTC")
IMAGES = Path(__file__).parents[1] / "docs" / "images"
SOURCE = """CREATE SOURCE readings
  (sensor INT, room INT, floor INT, kind STRING, temp INT, at TIMESTAMP) EVENT TIME at"""
KEYS = ("sensor", "room", "floor", "kind")
FIGURES = ("count(*) AS n", "sum(temp) AS total", "min(temp) AS low", "max(temp) AS high")
KINDS = ("air", "water", "wall", "pipe")


@dataclass(frozen=True)
class Measured:
    created: float
    seconds: float
    rows: int
    size: int


def main() -> None:
    rows, sensors, most = (int(arg) for arg in [*sys.argv[1:], "200000", "200", "100"][:3])
    spark = start_spark("local[2]")
    spark.sparkContext.setLogLevel("ERROR")
    counts = [count for count in COUNTS if count <= most]
    print(f"{rows:,} rows a step, of a minute each, from {sensors:,} sensors\n")
    print("queries  sharing  create s  step s  state rows  state MB")
    measure(spark, 1, True, rows, sensors)
    found: dict[tuple[int, bool], Measured] = {}
    for count in counts:
        for sharing in (True, False):
            got = found[count, sharing] = measure(spark, count, sharing, rows, sensors)
            word = "on" if sharing else "off"
            told = f"{got.created:9.1f}{got.seconds:8.2f}{got.rows:12,}{got.size / 1e6:10.1f}"
            print(f"{count:7}  {word:>7}{told}", flush=True)
    print("\nqueries  state off / on  step off / on")
    for count in counts:
        on, off = found[count, True], found[count, False]
        print(f"{count:7}{off.size / on.size:16.1f}{off.seconds / on.seconds:15.1f}")
    first, last = counts[0], counts[-1]
    growth = found[last, True].size / found[first, True].size
    slower = found[last, True].seconds / found[first, True].seconds
    print(f"\nwith sharing, {last} queries keep {growth:.1f} times what one does, ", end="")
    print(f"and take {slower:.1f} times as long")
    draw(counts, found)


def queries(count: int) -> list[str]:
    """As many overlapping queries; the first has all groups and figures of the others."""
    rng = Random(1)
    found = [_query(KEYS, FIGURES, "", 1)]
    while len(found) < count:
        keys = [key for key in KEYS if rng.random() < 0.4]
        figures = rng.sample(FIGURES, rng.randint(1, 3))
        where = rng.choice(("", f"floor = {rng.randint(0, 3)}", f"kind = '{rng.choice(KINDS)}'"))
        text = _query(keys, figures, where, rng.choice((1, 1, 1, 2, 4)))
        if text not in found:
            found.append(text)
    return found


def _query(keys: Sequence[str], figures: Sequence[str], where: str, slide: int) -> str:
    window = f"[RANGE 4 MINUTES SLIDE {slide} MINUTES]"
    text = f"SELECT {', '.join([*keys, *figures])} FROM readings {window}"
    text += f" WHERE {where}" if where else ""
    return text + (f" GROUP BY {', '.join(keys)}" if keys else "")


def measure(spark: SparkSession, count: int, sharing: bool, rows: int, sensors: int) -> Measured:
    with (
        tempfile.TemporaryDirectory() as path,
        connect(
            path, spark, sharing=sharing, keep_input=False, unbounded="allow", retention=2 * MINUTE
        ) as db,
    ):
        db.sql(SOURCE)
        started = time.perf_counter()
        for number, text in enumerate(queries(count)):
            db.sql(f"CREATE VIEW q{number} AS {text}")
        created = time.perf_counter() - started
        seconds = []
        for step in range(STEPS):
            batch = batch_of(step, rows, sensors)
            started = time.perf_counter()
            db.source("readings").append(batch)
            db.step()
            seconds.append(time.perf_counter() - started)
        kept, size = state_of(db)
    return Measured(created, float(np.median(seconds[WARM:])), kept, size)


def state_of(db: Session) -> tuple[int, int]:
    """Rows and bytes of input buffers, operators and views."""
    progress = db.last_progress
    assert progress is not None
    state_tables = progress["state"].values()
    return sum(state_table["rows"] for state_table in state_tables), sum(
        state_table["bytes"] for state_table in state_tables
    )


def batch_of(step: int, rows: int, sensors: int) -> pa.Table:
    rng = np.random.default_rng(step)
    sensor = rng.integers(0, sensors, rows)
    times = np.sort(rng.integers(step * MINUTE, (step + 1) * MINUTE, rows))
    return pa.table(
        {
            "sensor": pa.array(sensor, pa.int32()),
            "room": pa.array(sensor // 10, pa.int32()),
            "floor": pa.array(sensor // 10 % 4, pa.int32()),
            "kind": pa.array(np.array(KINDS)[sensor % 4]),
            "temp": pa.array(rng.integers(0, 100, rows), pa.int32()),
            "at": pa.array(times).cast(STAMP),
        }
    )


def draw(counts: list[int], found: dict[tuple[int, bool], Measured]) -> None:
    def line(name: str, sharing: bool, of: str) -> Line:
        scale = 1e6 if of == "size" else 1
        return Line(name, [(n, getattr(found[n, sharing], of) / scale) for n in counts])

    lines = [line("apart", False, "size"), line("shared", True, "size")]
    text = chart("State of overlapping queries", "queries", "MB", lines)
    (IMAGES / "sharing.svg").write_text(text)
    lines = [line("apart", False, "seconds"), line("shared", True, "seconds")]
    text = chart("A step of overlapping queries", "queries", "seconds", lines)
    (IMAGES / "sharing-steps.svg").write_text(text)


if __name__ == "__main__":
    main()
