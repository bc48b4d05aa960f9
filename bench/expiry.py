"""Expiry strategies: figures 10 to 15 of the negative-tuples paper, and what `auto` rests on.

The paper schedules operators tuple by tuple, and so does `bench.queueing`, over the kernels of the
engine and without Spark: an engine that takes all that waits in one step, as Penstock's does, has
no queues to measure. Rates are multiples of what the machine can serve, so that the curves cross
where they do in the paper, on any machine.
Then whole batches, on the engine in one process: where negative tuples cost less than ends.
Writes docs/images/expiry-*.svg. `python -m bench.expiry [rows a stream]`.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

import numpy as np
import pyarrow as pa

from bench.charts import Line, chart
from bench.queueing import Costs, Load, Outcome, Row, served
from penstock.algebra import plan as p
from penstock.algebra.aggregates import AggregateCall
from penstock.element import BEGIN, INF, Elements
from penstock.ingest.sources import SourceDefinition
from penstock.output.definitions import ViewDefinition
from penstock.physical.expiry import Strategy
from penstock.runtime.engine import Engine
from penstock.runtime.options import Options
from penstock.testing.engine_runs import LocalJobs

IMAGES = Path(__file__).parents[1] / "docs" / "images"
INT = pa.int64()
NAMES: dict[Strategy, str] = {
    "input": "input-triggered",
    "negative": "negative tuples",
    "negative+messages": "with messages",
    "piggyback": "piggyback",
    "auto": "auto",
}
SHOWN: tuple[Strategy, ...] = ("input", "negative", "piggyback", "auto")
ITEMS, WINDOW = 100, 40
SELECTIVITIES = (0.1, 0.25, 0.4, 0.55, 0.7, 0.85, 1.0)
MATCHES = (0.2, 0.6, 1.0, 1.4, 1.8)
LOADS = (0.2, 0.4, 0.6, 0.8, 1.0)
MULTIPLICITIES = (1, 2, 3, 4, 5)
Runs = dict[Strategy, list[Outcome]]


# --- the queries ----------------------------------------------------------------------------------


def q1(rows: int, gap: float, selectivity: float) -> Load:
    """How many favorite items were sold lately? The table has so large a part of all items."""
    rng = np.random.default_rng(1)
    window = int(gap * WINDOW * 1e6)
    s = p.Scan("s", pa.schema([("item", INT)]), append_only=True)
    table = p.Scan("favorites", pa.schema([("favorite", INT)]), append_only=True)
    on = (p.Equality("item", "favorite"),)
    join = p.Join(p.Window(s, "sliding", window), table, "inner", on)
    plan = p.Aggregate(join, (), (AggregateCall("count", (), "n"),))
    favorite = range(round(selectivity * ITEMS))
    known = Elements.of(table.schema, [((i,), BEGIN, INF, 1) for i in favorite])
    sold = [Row("s", at, (int(rng.integers(ITEMS)),)) for at in _times(rng, rows, gap)]
    passing = [row.at for row in sold if row.record[0] in favorite]
    return Load(plan, {"favorites": known}, sold, window, [(at, at + window) for at in passing])


def q2(
    rows: int, gap: float, matches: float, multiplicity: float = 1.0, span: float | None = None
) -> Load:
    """The largest price at stores that both streams name. A row meets `matches` of the other stream
    on average, if the window is as long as `WINDOW` rows take; one that meets any at all meets
    `multiplicity` of them."""
    rng = np.random.default_rng(2)
    window = int((gap * WINDOW if span is None else span) * 1e6)
    scans = [p.Scan(n, pa.schema([(f"{n}s", INT), (f"{n}p", INT)]), True) for n in ("a", "b")]
    windows = [p.Window(scan, "sliding", window) for scan in scans]
    join = p.Join(windows[0], windows[1], "inner", (p.Equality("as", "bs"),))
    plan = p.Aggregate(join, (), (AggregateCall("max", ("bp",), "most"),))
    multiplicity = max(multiplicity, matches)
    meet, stores = matches / multiplicity, round(WINDOW * matches / multiplicity**2)
    found = []
    for place, scan in enumerate(scans):
        for at in _times(rng, rows, gap, place):
            store = int(rng.integers(stores)) if rng.random() < meet else -1 - at
            found.append(Row(scan.name, at, (store, int(rng.integers(1000)))))
    found.sort(key=lambda row: row.at)
    return Load(plan, {}, found, window, _pairs(found, window))


def _times(rng: np.random.Generator, rows: int, gap: float, place: int = 0) -> list[int]:
    """Arrivals in microseconds, exponentially apart; those of two streams are never the same."""
    steps = np.maximum(rng.exponential(gap * 1e6, rows).astype(np.int64), 2)
    times: list[int] = (np.cumsum(steps) // 2 * 2 + place).tolist()
    return times


def _pairs(rows: Sequence[Row], window: int) -> list[tuple[int, int]]:
    """The validity of each pair of rows that meet."""
    found = []
    for i, row in enumerate(rows):
        for other in reversed(rows[:i]):
            if other.at + window <= row.at:
                break
            if other.source != row.source and other.record[0] == row.record[0]:
                found.append((row.at, other.at + window))
    return found


# --- batches --------------------------------------------------------------------------------------


BATCH, KEYS, STEPS = 10_000, 1000, 13


def engine_of(path: Path, expiry: Strategy, multiplicity: int, readers: int) -> Engine:
    """Joins rows, valid for five batches, with a table in which each has so many partners, and
    counts the results in so many ways."""
    s = p.Scan("s", pa.schema([("k", INT), ("v", INT), ("t", INT)]), append_only=True)
    table = p.Scan("r", pa.schema([("j", INT), ("w", INT)]), append_only=True)
    on = (p.Equality("k", "j"),)
    join = p.Join(p.Window(s, "sliding", 5 * BATCH), table, "inner", on)
    partners = np.repeat(np.arange(KEYS), multiplicity)
    engine = Engine(path, LocalJobs(), Options(tasks=1, keep_input=False))
    engine.define("s", SourceDefinition("s", s.schema, "t"))
    known = pa.table({"j": partners, "w": np.arange(len(partners)) % 7})
    engine.define_table("r", table.schema, known)
    for key in ("w", "v", "k", "j")[:readers]:
        plan = p.Aggregate(join, (key,), (AggregateCall("count", (), "n"),))
        engine.define(f"by {key}", ViewDefinition(plan, (key,), expiry=expiry))
    return engine


def in_batches(
    strategies: Sequence[Strategy], multiplicity: int, readers: int
) -> dict[Strategy, float]:
    """The processor time of a step by each strategy, in turns, so that all meet the same machine;
    of the second half of the steps, when windows are full and auto has chosen."""
    rng = np.random.default_rng(3)
    spent: dict[Strategy, list[float]] = {expiry: [] for expiry in strategies}
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as path:
        engines = {
            e: engine_of(Path(path) / str(i), e, multiplicity, readers)
            for i, e in enumerate(strategies)
        }
        for step in range(STEPS):
            rows = {"k": rng.integers(0, KEYS, BATCH), "v": rng.integers(0, 50, BATCH)}
            rows["t"] = np.arange(step * BATCH, (step + 1) * BATCH)
            for expiry, engine in engines.items():
                engine.receive_table("s", pa.table(rows))
                engine.advance_watermark("s", (step + 1) * BATCH)
                started = time.process_time()
                engine.step()
                spent[expiry].append(time.process_time() - started)
        for engine in engines.values():
            engine.close()
    return {expiry: median(found[STEPS // 2 :]) for expiry, found in spent.items()}


def batches() -> None:
    strategies: tuple[Strategy, ...] = ("piggyback", "negative", "auto")
    print("a stream joined with a table, in batches (ms)")
    print(f"{'partners, readers':>20} " + " ".join(f"{NAMES[e]:>16}" for e in strategies))
    worst = 0.0
    for readers in (1, 4):
        for multiplicity in (1, 4, 8):
            found = in_batches(strategies, multiplicity, readers)
            shown = " ".join(f"{ms(seconds):16.0f}" for seconds in found.values())
            print(f"{multiplicity:>17}, {readers} {shown}", flush=True)
            worst = max(worst, found.pop("auto") / min(found.values()))
    print(f"auto is at most {worst - 1:+.1%} from the best\n")


# --- runs -----------------------------------------------------------------------------------------


class Bench:
    def __init__(self, rows: int) -> None:
        self.rows = rows
        self.costs = Costs()

    def calibrate(self) -> None:
        """See what operators cost; then how far apart rows may come that negative tuples can just
        be served where the paper's curves cross."""
        for expiry in NAMES:
            for load in (q1(self.rows, 0.01, 0.5), q2(self.rows, 0.01, 1.0)):
                served(load, expiry, self.costs, 0)
        self.costs.settle()
        self.gap1 = self._cost(q1(self.rows, 0.01, 0.8))
        self.gap2 = 2 * self._cost(q2(self.rows, 0.01, 1.4))
        print(f"a row of Q1 and its negative tuple take {self.gap1 * 1e3:.2f} ms, of Q2 ", end="")
        print(f"{self.gap2 / 2 * 1e3:.2f} ms\n")

    def _cost(self, load: Load) -> float:
        outcome = served(load, "negative", self.costs, 0)
        return outcome.busy / outcome.arrived

    def over(self, loads: Sequence[Load], strategies: Sequence[Strategy] = SHOWN) -> Runs:
        warm = [int(1.2 * load.window) for load in loads]
        return {
            expiry: [
                served(load, expiry, self.costs, w) for load, w in zip(loads, warm, strict=True)
            ]
            for expiry in strategies
        }


def figure(
    number: str,
    title: str,
    y_name: str,
    x_name: str,
    places: Sequence[float],
    runs: Runs,
    value: Callable[[Outcome], float],
) -> None:
    """Print the curves of a figure and draw them."""
    print(f"figure {number}: {title} ({y_name})")
    print(f"{x_name:>20} " + " ".join(f"{x:>8g}" for x in places))
    for expiry, outcomes in runs.items():
        print(f"{NAMES[expiry]:>20} " + " ".join(f"{value(o):8.3g}" for o in outcomes))
    print()
    lines = [
        Line(NAMES[expiry], [(x, value(o)) for x, o in zip(places, outcomes, strict=True)])
        for expiry, outcomes in runs.items()
    ]
    (IMAGES / f"expiry-{number}.svg").write_text(chart(title, x_name, y_name, lines))


def verdict(places: Sequence[float], runs: Runs) -> None:
    """Where input-triggered expiry overtakes negative tuples, and how far auto is from the best."""
    ahead = [
        x
        for x, by_input, negative in zip(places, runs["input"], runs["negative"], strict=True)
        if by_input.average < negative.average
    ]
    since = f"from {ahead[0]:g} on" if ahead else "nowhere"
    rest = zip(runs["auto"], *(runs[each] for each in runs if each != "auto"), strict=True)
    worst = max(auto.average / min(o.average for o in others) for auto, *others in rest)
    print(f"input-triggered is ahead of negative tuples {since}; ", end="")
    print(f"auto is at most {worst - 1:+.1%} from the best\n")


def ms(value: float) -> float:
    return 1e3 * value


def in_pipeline(outcome: Outcome) -> float:
    return float(sum(map(sum, outcome.tuples.values())))


def ratio(outcome: Outcome) -> float:
    """Of what comes to the aggregate, whose Trigger, if it has one, reads the messages."""
    counted = outcome.tuples.get("Trigger") or outcome.tuples["GroupAggregate"]
    return counted[1] / max(counted[0], 1)


def average(outcome: Outcome) -> float:
    return ms(outcome.average)


def most(outcome: Outcome) -> float:
    return ms(outcome.most)


def in_join(outcome: Outcome) -> float:
    """Of the time a row takes, what the join does."""
    joins = [seconds for name, seconds in outcome.spent.items() if name.endswith("Join")]
    return ms(sum(joins) / outcome.arrived)


def each(outcome: Outcome) -> float:
    return ms(outcome.busy / outcome.arrived)


# --- the figures ----------------------------------------------------------------------------------


def figure_10(bench: Bench) -> None:
    runs = bench.over([q1(bench.rows, bench.gap1, x) for x in SELECTIVITIES])
    over = ("selectivity", SELECTIVITIES, runs)
    figure("10a", "Q1: average output delay", "ms", *over, average)
    figure("10b", "Q1: largest output delay", "ms", *over, most)
    verdict(SELECTIVITIES, runs)


def figures_11_14b_15b(bench: Bench) -> None:
    places = [x / WINDOW for x in MATCHES]
    runs = bench.over([q2(bench.rows, bench.gap2, x) for x in MATCHES])
    over = ("join selectivity", places, runs)
    figure("11a", "Q2: average output delay", "ms", *over, average)
    figure("11b", "Q2: tuples in the pipeline", "tuples", *over, in_pipeline)
    figure("15b", "Q2: negative tuples for each positive", "ratio", *over, ratio)
    verdict(places, runs)


def figures_12_14a_15a(bench: Bench) -> None:
    span = bench.gap2 * WINDOW
    places = [1 / bench.gap2 * x for x in LOADS]
    runs = bench.over([q2(bench.rows, bench.gap2 / x, 1.4, span=span) for x in LOADS])
    over = ("rows a second", places, runs)
    figure("12a", "Q2: average output delay", "ms", *over, average)
    figure("12b", "Q2: tuples in the pipeline", "tuples", *over, in_pipeline)
    figure("15a", "Q2: negative tuples for each positive", "ratio", *over, ratio)
    verdict(places, runs)


def figure_13(bench: Bench) -> None:
    loads = [q2(bench.rows, 2 * bench.gap2, 1.0, x) for x in MULTIPLICITIES]
    runs = bench.over(loads, ("input", "negative", "negative+messages", "piggyback"))
    over = ("join multiplicity", MULTIPLICITIES, runs)
    figure("13a", "Q2: negative tuples for each positive", "ratio", *over, ratio)
    figure("13b", "Q2: processing time of a row in the join", "ms", *over, in_join)
    figure("13c", "Q2: processing time of a row in all operators", "ms", *over, each)


def main() -> None:
    began = time.perf_counter()
    bench = Bench(int([*sys.argv[1:], "200"][0]))
    bench.calibrate()
    figure_10(bench)
    figures_11_14b_15b(bench)
    figures_12_14a_15a(bench)
    figure_13(bench)
    batches()
    print(f"{time.perf_counter() - began:.0f} seconds")


if __name__ == "__main__":
    main()
