"""What is defined, in which order, and what a view's key makes of its changes."""

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from penstock.algebra.aggregates import AggregateCall
from penstock.algebra.plan import Aggregate, Node, Periodic, Scan, Upsert, Window
from penstock.errors import PlanError
from penstock.ingest.sources import SourceDefinition
from penstock.output.definitions import ViewDefinition
from penstock.runtime.options import Options
from penstock.session import Session
from penstock.testing.local_session import local_session

SCHEMA = pa.schema([("k", pa.int64()), ("v", pa.int64()), ("t", pa.int64())])
SOURCE = SourceDefinition("s", SCHEMA, "t")
SCAN = Scan("s", SCHEMA, append_only=True)


def opened(path: Path) -> Session:
    return local_session(path, Options(tasks=3))


def listed(df: Any) -> list[tuple[Any, ...]]:
    return list(zip(*(c.to_pylist() for c in df.toArrow().columns), strict=True))


def test_definitions_of_any_kind_are_kept_in_order(tmp_path: Path) -> None:
    written = ViewDefinition(SCAN, ("k",), "SELECT * FROM s")
    with opened(tmp_path) as db:
        db._engine.define("every two", Periodic(2))
        db._engine.define("s", SOURCE)
        db._engine.define("written", written)
        db.create_view("bare", SCAN)
        with pytest.raises(PlanError, match="'every two' exists already"):
            db.create_view("every two", SCAN)
        with pytest.raises(PlanError, match="'x': int is not a kind of definition"):
            db._engine.define("x", 7)
    with opened(tmp_path) as db:
        assert list(db._engine.definitions.items()) == [
            ("every two", Periodic(2)),
            ("s", SOURCE),
            ("written", written),
            ("bare", ViewDefinition(SCAN, expiry="auto")),
        ]
        assert list(db._engine.views) == ["written", "bare"]
        assert db.view("written").plan == SCAN


def test_a_key_is_made_of_columns_of_the_view(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="no column 'x' to be a key; there are k, v, t"):
        ViewDefinition(SCAN, ("k", "x"))


def test_changes_of_a_key_come_in_order(tmp_path: Path) -> None:
    highest = Aggregate(Window(SCAN, "sliding", 5), ("k",), (AggregateCall("max", ("v",), "most"),))
    with local_session(tmp_path, Options(tasks=1)) as db:
        db._engine.define("s", SOURCE)
        view = db.create_view("highest", highest, ("k",))
        db.source("s").append([(2, 1, 1), (1, 1, 1), (5, 1, 1), (1, 2, 3), (4, 1, 6), (3, 1, 6)])
        db.source("s").append([(5, 0, 6)])
        db.source("s").end()
        db.step()
        assert listed(view.changes()) == [
            ("+", 1, 1, 1),
            ("+", 2, 1, 1),
            ("+", 5, 1, 1),
            ("u", 1, 2, 3),
            ("-", 2, 1, 6),
            ("u", 5, 0, 6),
            ("+", 3, 1, 6),
            ("+", 4, 1, 6),
            ("-", 1, 2, 8),
            ("-", 3, 1, 11),
            ("-", 4, 1, 11),
            ("-", 5, 0, 11),
        ]


def plans() -> dict[str, tuple[Node, tuple[str, ...]]]:
    counted = (AggregateCall("count", (), "n"), AggregateCall("max", ("v",), "most"))
    return {
        "latest": (Upsert(SCAN, ("k",)), ("k",)),
        "groups": (Aggregate(Window(SCAN, "sliding", 6), ("k",), counted), ("k",)),
        "total": (Aggregate(Window(SCAN, "sliding", 6), (), counted), ()),
    }


@pytest.mark.parametrize("seed", range(5))
def test_updates_are_pairs_of_changes(seed: int, tmp_path: Path) -> None:
    rng = Random(seed)
    with opened(tmp_path) as db:
        db._engine.define("s", SOURCE)
        for name, (plan, key) in plans().items():
            db.create_view(name, plan)
            db.create_view(f"{name} by key", plan, key)
        for t in range(0, 40, 4):
            rows = [(rng.randrange(4), rng.randrange(4), t + rng.randrange(4)) for _ in range(6)]
            db.source("s").append(sorted(rows, key=lambda row: row[-1]))
            db.step()
        db.source("s").end()
        db.step()
        for name, (_, key) in plans().items():
            plain, keyed = db.view(name), db.view(f"{name} by key")
            assert sorted(listed(keyed.snapshot(20))) == sorted(listed(plain.snapshot(20)))
            assert sorted(listed(keyed.history()), key=repr) == sorted(
                listed(plain.history()), key=repr
            )
            expected = with_updates(listed(plain.changes()), len(key))
            assert Counter(listed(keyed.changes())) == expected
            assert expected


def with_updates(changes: list[tuple[Any, ...]], key: int) -> Counter[tuple[Any, ...]]:
    """Pairs of changes of one key, the first columns of the record, at one time made one."""
    there: dict[Any, dict[str, tuple[Any, ...]]] = {}
    for op, *e, ts in changes:
        there.setdefault((ts, *e[:key]), {})[op] = (*e, ts)
    found: Counter[tuple[Any, ...]] = Counter()
    for by_op in there.values():
        if len(by_op) == 2:
            found["u", *by_op["+"]] += 1
        else:
            ((op, change),) = by_op.items()
            found[op, *change] += 1
    return found


def test_columns_that_reading_adds_make_way(tmp_path: Path) -> None:
    names = ["TS", "op", "_OP", "valid_to", "__valid_to"]
    schema = pa.schema([(name, pa.int64()) for name in names])
    with opened(tmp_path) as db:
        source = db.create_source("s", schema, "TS")
        view = db.create_view("v", db.scan("s"))
        source.append([(1, 2, 3, 4, 5)])
        source.end()
        db.step()
        assert view.changes().toArrow().schema.names == ["__op", *names, "_ts"]
        assert view.history().toArrow().schema.names == [*names, "valid_from", "_valid_to"]
        assert listed(view.changes()) == [("+", 1, 2, 3, 4, 5, 1)]
