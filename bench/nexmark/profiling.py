"""Where the time of a query goes, by the engine's own timings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench.nexmark.comparing import say
from bench.nexmark.data import WARM_EVENTS, WARM_FILES, made
from bench.nexmark.generate import Settings
from bench.nexmark.penstock_run import define, feed, run
from penstock.runtime.spark import start_spark
from penstock.session import connect


def profile(query: str, data: Path) -> dict[str, Any]:
    """The seconds of each part; those of tasks are divided by how many run side by side."""
    spark = start_spark("local[2]")
    run(query, made(data.parent, WARM_EVENTS, WARM_FILES, Settings(), False), spark)
    with connect(None, spark, keep_input=False) as db:
        timing = feed(db, define(db, query), data)
        steps, tasks = db.recent_progress, db.engine.tasks
        kinds = {p.identity: type(p.operator.work).__name__ for p in db.engine.program.places}
        operators = _operators(steps, tasks)
    inside = _sums([step["tasks"] for step in steps], tasks)
    outside = _sums([step["seconds"] for step in steps])
    seconds = {
        "receive": timing.receiving,
        "kernels": inside.get("operators", 0.0),
        "publish": inside.get("publish", 0.0),
        "compact": inside.get("compact", 0.0),
        "exchange": inside.get("exchange", 0.0),
        "commit": inside.get("sync", 0.0) + outside.get("commit", 0.0),
    }
    seconds["Spark"] = timing.seconds - sum(seconds.values())
    say(f"{query}: {timing.seconds:.2f} s in {len(steps)} steps")
    for name, value in seconds.items():
        say(f"  {name:10} {value:8.2f} s {value / timing.seconds:5.0%}")
    for name, one in sorted(operators.items(), key=lambda item: -item[1]["seconds"]):
        counts = f"{one['rows_in']:>12,.0f} rows in {one['rows_out']:>12,.0f} out"
        say(f"    {kinds.get(name, name):20} {one['seconds']:8.2f} s {counts}")
    return {"total": timing.seconds, "seconds": seconds}


def _sums(each: list[dict[str, float]], tasks: int = 1) -> dict[str, float]:
    names = {name for one in each for name in one}
    return {name: sum(one.get(name, 0.0) for one in each) / tasks for name in names}


def _operators(steps: list[dict[str, Any]], tasks: int) -> dict[str, dict[str, float]]:
    names = {name for step in steps for name in step["operators"]}
    found = {
        name: _sums([step["operators"].get(name, {}) for step in steps]) for name in sorted(names)
    }
    return {name: {**one, "seconds": one["seconds"] / tasks} for name, one in found.items()}
