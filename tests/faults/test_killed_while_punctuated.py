"""Kill -9 of a driver whose streams are punctuated: nothing is lost, counts twice or closes early.

What punctuations said is as much in the log as rows are, and what has come of them, state that was
let go and results that were final, must agree with it in whatever moment the process dies.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from penstock.runtime.options import Options
from penstock.testing.scripts import COLLECT, STEP, Advance, Kill, Operation, Reopen, Rows, Script
from tests.faults.pipelines import assert_same

pytestmark = pytest.mark.long

PIPELINE = """
CREATE SOURCE items (item INT, seller INT, t INT, p STRING) EVENT TIME t;
CREATE SOURCE bids (item INT, increase INT, t INT, p STRING) EVENT TIME t;
CREATE STREAM item_stream OVER items KEY NULL PUNCTUATED BY COLUMN p;
CREATE STREAM bid_stream OVER bids KEY NULL PUNCTUATED BY COLUMN p;
CREATE VIEW totals AS
  SELECT i.item, i.seller, sum(b.increase) AS total
  FROM item_stream i JOIN bid_stream b ON i.item = b.item
  GROUP BY i.item, i.seller EMIT FINAL;
CREATE VIEW unsold AS
  SELECT i.item, b.item AS bid FROM item_stream i LEFT JOIN bid_stream b ON i.item = b.item
  EMIT FINAL;
CREATE VIEW bidding AS
  SELECT item, count(*) AS n FROM bid_stream GROUP BY item EMIT CHANGES;
"""
POINTS = (
    "os.link",
    "os.fsync",
    "penstock.state.log.Log.commit",
    "penstock.state.store.SegmentWriter.write",
    "penstock.state.compaction.merge",
    "penstock.execution.task.StageTask.run",
    "penstock.runtime.step_loop.StepLoop.step",
    "penstock.runtime.receiver.Receiver.receive_rows",
    "penstock.runtime.maintenance.Maintenance.condense",
    "penstock.punctuation.closings.Closings.settled",
    "penstock.testing.scripts.deliver",
)
ROUNDS, NEW = 9, 150
"""Items of a stage are bid for in this and the next, and are then closed, one by one."""
BROKEN = 1000
"""The increase of bids that come when their item is closed."""


def operations(rng: Random) -> list[Operation]:
    found: list[Operation] = []
    for now in range(ROUNDS):
        mine = range(now * NEW, (now + 1) * NEW)
        t = 10 * now
        offered: list[tuple[Any, ...]] = [(item, item % 7, t, None) for item in mine]
        found.append(Rows("items", offered + [(None, None, t + 1, f"<{i},*,*>") for i in mine]))
        open_items = range(max(0, now - 1) * NEW, (now + 1) * NEW)
        bids: list[tuple[Any, ...]] = [
            (rng.choice(open_items), rng.randint(1, 9), t + rng.randint(2, 8), None)
            for _ in range(2 * NEW)
        ]
        done = range(max(0, now - 1) * NEW, now * NEW)
        marks = [(None, None, t + 8, f"<{item},*,*>") for item in done]
        broken = [(item, BROKEN, t + 9, None) for item in done[:3]]
        found += [Rows("bids", bids + marks + broken), STEP]
        if rng.random() < 0.3:
            found.append(COLLECT)
    return [*found, Advance("items", 10 * ROUNDS), Advance("bids", 10 * ROUNDS), STEP]


def test_differential_kills_of_punctuated_streams(tmp_path: Path) -> None:
    options = Options(tasks=2, grace=0.0, unbounded="allow")
    rng = Random("punctuated")
    plain = Script(PIPELINE, operations(rng), options)
    expected = plain.run(tmp_path / "undisturbed", watch=POINTS)
    assert all(expected.calls[point] for point in POINTS), "a point that is never come to"
    assert_right(plain, expected.changes["totals"], expected.changes["unsold"])
    ops = list(plain.operations)
    for _ in range(16):
        kill = Kill(at=rng.choice(POINTS), call=rng.choice((1, 2, 4)), after=rng.random() < 0.5)
        ops.insert(rng.randrange(len(ops)), kill)
    ops.insert(rng.randrange(len(ops)), Reopen(replace(options, tasks=3)))
    found = replace(plain, operations=ops).run(tmp_path / "killed")
    assert_same(found, expected)
    assert found.kills >= 6


def assert_right(plain: Script, totals: Counter[Any], unsold: Counter[Any]) -> None:
    """Each item that both streams have closed, once, with all its bids."""
    sums: Counter[int] = Counter()
    for operation in plain.operations:
        if isinstance(operation, Rows) and operation.source == "bids":
            for item, increase, _, mark in operation.rows:
                if mark is None and increase != BROKEN:
                    sums[item] += increase
    closed = range((ROUNDS - 1) * NEW)
    assert {(item, total) for _, item, _, total, _ in totals} == {
        (item, sums[item]) for item in closed if item in sums
    }
    assert len(totals) == totals.total() == len([item for item in closed if item in sums])
    alone = sorted(item for _, item, bid, _ in unsold if bid is None)
    assert alone == [item for item in closed if item not in sums]
