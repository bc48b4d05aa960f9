"""What the fault tests run: a few views that between them use every part of the engine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

import pyarrow as pa

from penstock.algebra import plan as p
from penstock.algebra.aggregates import AggregateCall
from penstock.algebra.expr import Column
from penstock.ingest.sources import SourceDefinition
from penstock.runtime.options import Options
from penstock.session import Session
from penstock.state import changelog
from penstock.testing.local_session import local_session
from penstock.testing.scripts import (
    COLLECT,
    STEP,
    Advance,
    Open,
    Operation,
    Outcome,
    Plans,
    Rows,
    Script,
)

BIDS = SourceDefinition(
    "bids",
    pa.schema([("auction", pa.int64()), ("price", pa.int64()), ("time", pa.int64())]),
    time="time",
    delay=5,
)
AUCTIONS = SourceDefinition(
    "auctions",
    pa.schema([("id", pa.int64()), ("seller", pa.string()), ("opened", pa.int64())]),
    time="opened",
    delay=5,
)
SOURCES = (BIDS, AUCTIONS)

_bids = p.Scan("bids", BIDS.schema, append_only=True)
_auctions = p.Scan("auctions", AUCTIONS.schema, append_only=True)
_recent = p.Window(_bids, "sliding", 20)


def _renamed(node: p.Node, **names: str) -> p.Map:
    columns = [(names.get(f.name, f.name), Column(f.name, f.type)) for f in node.schema]
    return p.Map(node, tuple(columns))


LATELY = p.Aggregate(
    _recent,
    ("auction",),
    (AggregateCall("count", (), "bids"), AggregateCall("max", ("price",), "highest")),
)
"""One round: bids of the last 20 ticks, by auction."""

SALES = p.Aggregate(
    p.Join(
        p.project(_recent, ("auction", "price")),
        p.Window(_renamed(_auctions, id="item"), "sliding", 60),
        on=(p.Equality("auction", "item"),),
    ),
    ("seller",),
    (AggregateCall("sum", ("price",), "total"),),
)
"""Two rounds: joined by auction, added up by seller."""

SEEN = p.Distinct(p.project(_bids, ("auction",)))

VIEWS = {"lately": LATELY, "sales": SALES, "seen": SEEN}


def operations(seed: int, steps: int, rows: int = 12) -> list[Operation]:
    """Batches in disorder, some of them late, with promises, steps and garbage collections."""
    rng = Random(seed)
    found: list[Operation] = []
    for now in range(10, 10 * steps + 10, 10):
        bids = [(rng.randrange(6), rng.randrange(100), now + _jitter(rng)) for _ in range(rows)]
        found.append(Rows("bids", bids))
        if rng.random() < 0.6:
            opened = [(rng.randrange(6), f"seller {rng.randrange(3)}", now + _jitter(rng))]
            found.append(Rows("auctions", opened))
        else:
            found.append(Advance("auctions", now))
        if rng.random() < 0.3:
            found.append(Advance("bids", now + 3))
        found.append(STEP)
        if rng.random() < 0.2:
            found.append(COLLECT)
    return found


def cycles(count: int) -> list[Operation]:
    """Few operations, for where each is a job of Spark: batches, promises and a step, again."""
    found: list[Operation] = []
    for now in range(10, 10 * count + 10, 10):
        found += [
            Rows("bids", [(i % 4, i, now + i % 5) for i in range(20)]),
            Rows("auctions", [(now // 10, f"seller {now}", now)]),
            Advance("bids", now + 5),
            Advance("auctions", now + 5),
            STEP,
        ]
    return found


def _jitter(rng: Random) -> int:
    return rng.choice((0, 1, 2, 4, 7, 9, -3, -12))


def merging_often(directory: Path, options: Options) -> Session:
    """A session without Spark whose steps merge publications whenever there are two of a level."""
    changelog.FAN = 2
    return local_session(directory, options)


def script(
    ops: Sequence[Operation], options: Options | None = None, open: Open = merging_often
) -> Script:
    """A script, run in processes of its own."""
    return Script(Plans(SOURCES, VIEWS), ops, options or Options(tasks=2, grace=0.0), open)


def assert_same(found: Outcome, expected: Outcome) -> None:
    assert found.received == expected.received
    for name in expected.changes:
        assert found.changes[name] == expected.changes[name], f"changes of {name}"
        assert found.snapshots[name] == expected.snapshots[name], f"snapshot of {name}"
        assert found.delivered[name] == expected.delivered[name], f"sink of {name}"
