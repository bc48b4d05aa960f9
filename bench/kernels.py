"""How fast the kernels are, on one core and without Spark.

First table: a step of a million rows over state of a million rows, with ten thousand keys. Time is
that of the whole step: kernel, sorting what it remembers into runs, compaction where it is due. It
is also given as a multiple of what NumPy takes to argsort a million integers here.

Second table: a step of ten thousand rows as state grows a hundredfold.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from time import process_time

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from penstock.algebra import plan as p
from penstock.algebra.aggregates import AggregateCall
from penstock.element import INF, Elements
from penstock.testing.local_pipeline import LocalPipeline

MILLION = 1_000_000
KEYS, VALUES = 10_000, 100
STEP = 60_000_000  # microseconds: a minute
INT = pa.int64()

S = p.Scan("s", pa.schema([("k", INT), ("v", INT)]))
R = p.Scan("r", pa.schema([("j", INT), ("w", INT)]))
X = p.Scan("x", pa.schema([("k", INT), ("v", pa.float64())]))
LOG = p.Scan("log", pa.schema([("k", INT), ("v", INT)]), append_only=True)
ON = (p.Equality("k", "j"), p.Equality("v", "w"))

Rows = dict[str, int]
"""How many rows of each scan."""


@dataclass(frozen=True)
class Case:
    """A plan, the rows that are there before the step, and those of the step."""

    plan: p.Node
    before: Rows
    step: Rows


def aggregate(scan: p.Scan, *functions: str, distinct: bool = False) -> Case:
    calls = tuple(AggregateCall(f, ("v",), f"c{i}", distinct) for i, f in enumerate(functions))
    rows = {scan.name: MILLION}
    return Case(p.Aggregate(scan, ("k",), calls), rows, rows)


def over(plan: p.Node) -> Case:
    rows = {scan.name: MILLION for scan in plan.walk() if isinstance(scan, p.Scan)}
    return Case(plan, rows, rows)


HALVES = {"s": MILLION // 2, "r": MILLION // 2}
CASES: Mapping[str, Case] = {
    "join": Case(p.Join(S, R, "inner", ON), {"s": MILLION, "r": MILLION}, {"s": MILLION}),
    "distinct": over(p.Distinct(S)),
    "difference": Case(p.SetOperation("difference", S, R), HALVES, HALVES),
    "count, sum": aggregate(S, "count", "sum"),
    "avg of doubles": aggregate(X, "avg"),
    "min, max": aggregate(S, "min", "max"),
    "count distinct": aggregate(S, "count", distinct=True),
    "median": aggregate(S, "median"),
    "top 10": over(p.Rank(S, ("k",), (p.SortKey("v"),), 10)),
    "upsert": over(p.Upsert(LOG, ("k",))),
    "session": over(p.Session(LOG, ("k",), STEP // 200)),
    "sync": over(p.Sync(S, (p.Periodic(STEP // 3),))),
}

GROWING: Mapping[str, tuple[p.Node, str, str]] = {
    "join": (p.Join(S, R, "inner", ON), "r", "s"),
    "distinct": (p.Distinct(S), "s", "s"),
    "sum by key": (p.Aggregate(S, ("k", "v"), (AggregateCall("sum", ("v",), "c"),)), "s", "s"),
}
SIZES = (MILLION // 10, MILLION, 10 * MILLION)
SMALL = 10_000


def rows(rng: np.random.Generator, scan: p.Scan, count: int, w0: int, keys: int) -> Elements:
    """Random rows that begin in the step from w0 on, and end two steps after they began."""
    ts = rng.integers(w0, w0 + STEP, count)
    te = np.full(count, INF) if scan.append_only else ts + 2 * STEP
    numbers: npt.NDArray[np.generic] = rng.integers(0, VALUES, count)
    if scan is X:
        numbers = rng.normal(100.0, 10.0, count)
    columns = (pa.array(rng.integers(0, keys, count)), pa.array(numbers))
    return Elements(scan.schema, columns, ts, te, np.ones(count, dtype=np.int64))


def inputs(plan: p.Node, counts: Rows, w0: int, keys: int = KEYS) -> dict[str, Elements]:
    rng = np.random.default_rng(w0)
    scans = {node.name: node for node in plan.walk() if isinstance(node, p.Scan)}
    return {name: rows(rng, scans[name], count, w0, keys) for name, count in counts.items()}


def timed(work: Callable[[], object]) -> float:
    start = process_time()
    work()
    return process_time() - start


def measure(case: Case) -> tuple[float, int]:
    """The seconds that the step takes, and how many elements come out."""
    pipeline = LocalPipeline(case.plan)
    pipeline.step(inputs(case.plan, case.before, 0), STEP)
    given = inputs(case.plan, case.step, STEP)
    out: list[Elements] = []
    seconds = timed(lambda: out.append(pipeline.step(given, 2 * STEP)))
    return seconds, len(out[0])


def measure_growth(plan: p.Node, filled: str, fed: str, size: int) -> float:
    """The seconds of a small step, the median of several, over state of a size."""
    keys = size // VALUES
    pipeline = LocalPipeline(plan)
    pipeline.step(inputs(plan, {filled: size}, 0, keys), STEP)
    times = []
    for i in range(1, 6):
        given = inputs(plan, {fed: SMALL}, STEP + i, keys)
        w1 = STEP + i + 1
        given = {name: x.valid_during(np.full(len(x), w1 - 1), x.te) for name, x in given.items()}
        times.append(timed(lambda given=given, w1=w1: pipeline.step(given, w1)))  # type: ignore[misc]
    return median(times)


def main(names: list[str]) -> None:
    pa.set_cpu_count(1)
    numbers = np.random.default_rng(0).integers(0, 2**62, MILLION)
    baseline = median(timed(lambda: np.argsort(numbers, kind="stable")) for _ in range(5))
    print(f"argsort of {MILLION:,} integers: {1000 * baseline:.0f} ms\n")
    print(f"{'step of 1M rows over 1M':<24}{'ms':>8}{'M rows/s':>10}{'x argsort':>11}{'out':>12}")
    for name in names or CASES:
        case = CASES[name]
        seconds, out = min(measure(case) for _ in range(2))
        rate = sum(case.step.values()) / seconds / MILLION
        ratio = seconds / baseline
        print(f"{name:<24}{1000 * seconds:>8.0f}{rate:>10.2f}{ratio:>11.1f}{out:>12,}", flush=True)
    if names:
        return
    sizes = "".join(f"{size:>12,}" for size in SIZES)
    print(f"\n{'ms of a 10k-row step over':<26}{sizes}{'growth':>10}")
    for name, (plan, filled, fed) in GROWING.items():
        times = [measure_growth(plan, filled, fed, size) for size in SIZES]
        shown = "".join(f"{1000 * seconds:>12.1f}" for seconds in times)
        print(f"{name:<26}{shown}{times[-1] / times[0]:>9.1f}x", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
