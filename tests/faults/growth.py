"""How a state directory grows with its steps, without Spark; prints a line every so many of them.

python -m tests.faults.growth STEPS [DIRECTORY]

Seconds are those of the processor: other work on the machine does not show.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pyarrow as pa

from penstock.algebra import plan as p
from penstock.algebra.aggregates import AggregateCall
from penstock.runtime.options import Options
from penstock.state.manifest import Manifest, manifest_to_json
from penstock.testing.local_session import local_session

ROWS, KEYS, TICKS = 100, 20, 10
SCHEMA = pa.schema([("key", pa.int64()), ("value", pa.int64()), ("at", pa.int64())])
_scan = p.Scan("readings", SCHEMA, append_only=True, time="at")
_calls = (AggregateCall("count", (), "n"), AggregateCall("sum", ("value",), "total"))
VIEWS = {
    "totals": p.Aggregate(_scan, ("key",), _calls),
    "lately": p.Aggregate(p.Window(_scan, "sliding", 5 * TICKS), ("key",), _calls),
    "seen": p.Distinct(p.project(_scan, ("key",))),
    "all": p.project(_scan, ("key", "value")),
}
"""Changes that take back, results that end by themselves, few results, and one for each row."""


def rows(step: int) -> pa.Table:
    """The rows of a step, of which one is late."""
    rng = np.random.default_rng(step)
    at = rng.integers(step * TICKS, (step + 1) * TICKS, ROWS)
    at[0] = 0
    columns = [rng.integers(0, KEYS, ROWS), rng.integers(0, 1000, ROWS), at]
    return pa.Table.from_arrays([pa.array(column) for column in columns], schema=SCHEMA)


def sizes(manifest: Manifest, directory: Path) -> dict[str, Any]:
    """What a directory has come to."""
    runs = list((directory / "runs").glob("*.arrow"))
    text = json.dumps(manifest_to_json(manifest))
    log = list((directory / "log").iterdir())
    return {
        "files": len(runs),
        "live files": len(manifest.segments()),
        "megabytes": sum(path.stat().st_size for path in runs) / 1e6,
        "checkpoint": len(text),
        "log files": len(log),
        "publications": {view: len(log) for view, log in manifest.changelogs.items()},
    }


def run(steps: int, directory: Path, every: int = 100) -> list[dict[str, Any]]:
    found = []
    with local_session(directory, Options(tasks=2, grace=0.0)) as session:
        source = session.create_source("readings", SCHEMA, "at")
        for name, plan in VIEWS.items():
            session.create_view(name, plan)
        seconds: list[float] = []
        for step in range(1, steps + 1):
            source.append(rows(step))
            source.append([("no number", 1, 1)])
            started = process_time()
            assert session.step() is not None
            seconds.append(process_time() - started)
            if step % every == 0:
                median, most = float(np.median(seconds)), max(seconds)
                size = sizes(session.engine.manifest, directory)
                found.append({"steps": step, "median": median, "slowest": most, **size})
                print(json.dumps(found[-1]), flush=True)
                seconds = []
    return found


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        run(int(sys.argv[1]), Path(sys.argv[2] if len(sys.argv) > 2 else place) / "state")
