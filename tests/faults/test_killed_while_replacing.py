"""Kill -9 while a view is replaced: the old one or the new one is there, and nothing of both."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from penstock.runtime.options import Options
from penstock.testing.scripts import (
    COLLECT,
    KILL,
    STEP,
    Advance,
    Kill,
    Operation,
    Outcome,
    Rows,
    Script,
    Sql,
)

pytestmark = pytest.mark.long

PIPELINE = """
CREATE SOURCE bids (auction INT, price INT, t INT) EVENT TIME t DELAY 5;
CREATE SOURCE auctions (id INT, seller STRING, t INT) EVENT TIME t DELAY 5;
CREATE VIEW lately AS
  SELECT auction, count(*) AS bids, max(price) AS highest FROM bids [RANGE 20] GROUP BY auction;
CREATE VIEW busy AS SELECT auction, bids FROM lately WHERE bids > 1;
CREATE VIEW sold AS
  SELECT a.seller, l.bids FROM lately AS l JOIN auctions [RANGE 60] AS a ON l.auction = a.id;
CREATE VIEW seen AS SELECT DISTINCT auction FROM bids;
"""
OTHERS = (
    "CREATE OR REPLACE VIEW lately AS SELECT auction, count(*) AS bids, min(price) AS highest "
    "FROM bids [RANGE 40] WHERE price > 10 GROUP BY auction",
    "CREATE OR REPLACE VIEW lately AS SELECT a.id AS auction, count(*) AS bids, max(b.price) AS "
    "highest, sum(b.price) AS total FROM bids [RANGE 20] AS b JOIN auctions [RANGE 50] AS a "
    "ON b.auction = a.id GROUP BY a.id",
    "CREATE OR REPLACE VIEW lately AS SELECT auction, count(*) AS bids, max(price) AS highest "
    "FROM bids [FIXED 30] GROUP BY auction",
)
POINTS = (
    "os.link",
    "os.fsync",
    "penstock.state.log.Log.commit",
    "penstock.state.store.SegmentWriter.write",
    "penstock.execution.task.StageTask.run",
    "penstock.runtime.replacement.Building.advance",
    "penstock.runtime.replacement.Building.finished",
    "penstock.runtime.redefinition.differences",
    "penstock.testing.scripts.deliver",
)
"""Where the driver dies: around whatever is done to build a view, to take it over and to tell."""


def moves(seed: int, times: Sequence[int]) -> list[Operation]:
    rng = Random(seed)
    found: list[Operation] = []
    for now in times:
        bids = [
            (rng.randrange(6), rng.randrange(100), now + rng.randrange(-4, 8)) for _ in range(8)
        ]
        found += [Rows("bids", bids), Rows("auctions", [(rng.randrange(6), "xyz"[now % 3], now)])]
        found += [Advance("auctions", now + 3), STEP]
    return found


def script(operations: Sequence[Operation]) -> Script:
    return Script(PIPELINE, operations, Options(tasks=2, grace=0.0))


def replacing(seed: int, count: int) -> list[Operation]:
    """Steps, and now and then another query for the view that others read."""
    found: list[Operation] = []
    for number in range(count):
        start = 40 * number + 10
        found += moves(seed + number, range(start, start + 20, 10))
        found += [Sql(OTHERS[(seed + number) % len(OTHERS)]), COLLECT]
        found += moves(seed + number + 50, range(start + 20, start + 40, 10))
    return found


def assert_same(found: Outcome, expected: Outcome) -> None:
    assert found.received == expected.received
    assert found.changes.keys() == expected.changes.keys()
    for name in expected.changes:
        assert found.changes[name] == expected.changes[name], f"changes of {name}"
        assert found.snapshots[name] == expected.snapshots[name], f"snapshot of {name}"
        assert found.delivered[name] == expected.delivered[name], f"sink of {name}"


def test_differential_kills_at_the_calls_of_a_replacement(tmp_path: Path) -> None:
    """From just before it to just after it."""
    before = moves(1, range(10, 50, 10))
    ops = [*before, Sql(OTHERS[1]), COLLECT, *moves(2, [50])]
    script(before).run(tmp_path / "before")
    shutil.copytree(tmp_path / "before", tmp_path / "undisturbed")
    expected = script(ops).run(tmp_path / "undisturbed", len(before), watch=POINTS)
    for place, point in enumerate(POINTS):
        calls = expected.calls.get(point, 0)
        assert calls > 0, f"{point} is not called: the test proves nothing"
        directory = tmp_path / point
        shutil.copytree(tmp_path / "before", directory)
        kill = Kill(at=point, call=max(calls // 3, 1), after=place % 2 == 1)
        found = script([*before, kill, *ops[len(before) :]]).run(directory, len(before))
        assert found.kills == 1, f"{point} was not called again"
        assert_same(found, expected)
        shutil.rmtree(directory)


@pytest.mark.parametrize("seed", range(1))
def test_differential_kills_at_random_moments_of_replacements(seed: int, tmp_path: Path) -> None:
    """At times, at calls, and at once, again and again."""
    plain = script(replacing(seed, 3))
    expected = plain.run(tmp_path / "undisturbed")
    rng = Random(f"replacing {seed}")
    ops: list[Operation] = []
    for operation in plain.operations:
        if isinstance(operation, Sql):
            for _ in range(3):
                point, call = rng.choice(POINTS), rng.choice((1, 1, 2, 3, 9))
                at_call = Kill(at=point, call=call, after=rng.random() < 0.5)
                ops.append(rng.choice((at_call, Kill(delay=rng.uniform(0.001, 0.3)))))
        elif rng.random() < 0.1:
            ops.append(KILL)
        ops.append(operation)
    found = script(ops).run(tmp_path / "killed")
    assert_same(found, expected)
    assert found.kills >= 3
