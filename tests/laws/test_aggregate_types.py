"""Every aggregate function over every type it takes, filtered and distinct, under retractions."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from penstock.algebra import plan as p
from penstock.algebra.aggregates import CHOICES, FUNCTIONS, TIMED, VARIANCES, AggregateCall
from penstock.errors import PlanError
from penstock.testing.local_runs import assert_agrees_with_reference
from penstock.testing.random_streams import Stream, random_streams
from tests.laws.nodes import compaction_at_every_turn, seeded

pytestmark = pytest.mark.long

UTC = dt.UTC
KINDS: dict[str, tuple[pa.DataType, tuple[Any, ...]]] = {
    "long": (pa.int64(), (0, 1, -7, 2**40, -(2**50))),
    "byte": (pa.int8(), (-128, 0, 127)),
    "double": (pa.float64(), (0.0, -0.0, 1.5, 0.1, 1e100, 5e-324, math.inf, math.nan)),
    "huge": (pa.float64(), (1e300, -1e300, 1.0)),
    "infinite": (pa.float64(), (math.inf, -math.inf, math.nan, 1.0)),
    "float": (pa.float32(), (0.5, 0.25, -3.0, math.nan)),
    "decimal": (pa.decimal128(12, 2), tuple(map(Decimal, ("0.00", "-1.25", "1.01", "9999.99")))),
    "wide": (pa.decimal128(38, 10), tuple(map(Decimal, ("1E+20", "-1E-10", "12345678901.5")))),
    "text": (pa.string(), ("", "a", "aa", "ä", "z")),
    "binary": (pa.binary(), (b"", b"\0", b"\xff")),
    "flag": (pa.bool_(), (False, True)),
    "date": (pa.date32(), (dt.date(1970, 1, 1), dt.date(2024, 2, 29), dt.date(1, 1, 1))),
    "time": (pa.timestamp("us", "UTC"), (dt.datetime(2020, 1, 1, tzinfo=UTC),)),
}


def scan_of(kind: pa.DataType, grows: bool = False) -> p.Scan:
    columns = [("k", pa.int64()), ("v", kind), ("at", pa.int64()), ("taken", pa.bool_())]
    return p.Scan("s", pa.schema(columns), append_only=grows)


def calls_over(function: str, scan: p.Scan) -> list[AggregateCall]:
    """The function plain, filtered and distinct; none where it does not take the type."""
    fraction = 0.3 if function.startswith("percentile") else None
    args = ("v", "at") if function in TIMED else ("v",)
    ways = [(distinct, where) for distinct in (False, True) for where in (None, "taken")]
    calls = [
        AggregateCall(function, args, f"c{i}", distinct, where, fraction)
        for i, (distinct, where) in enumerate(ways)
    ]
    try:
        p.Aggregate(scan, ("k",), tuple(calls))
    except PlanError:
        return []
    return calls


def streams_of(rng: Random, values: tuple[Any, ...], grows: bool = False) -> Mapping[str, Stream]:
    """Random streams whose small integers stand for three of the values."""
    chosen = [rng.choice(values) for _ in range(3)]
    rows = random_streams(rng, [scan_of(pa.int64(), grows)], size=8)["s"]
    return {
        "s": [
            ((k, None if v is None else chosen[v], at, taken), ts, te, n)
            for (k, v, at, taken), ts, te, n in rows
        ]
    }


PAIRS = [
    (function, kind)
    for kind, (arrow, _) in KINDS.items()
    for function in FUNCTIONS
    if calls_over(function, scan_of(arrow))
    and not (kind == "huge" and function in VARIANCES)  # whose squares are infinite
]


@pytest.mark.parametrize(("function", "kind"), PAIRS)
def test_oracle(function: str, kind: str) -> None:
    arrow, values = KINDS[kind]
    scan = scan_of(arrow)
    calls = calls_over(function, scan)
    plan = p.Aggregate(scan, ("k",), (*calls, AggregateCall("count", (), "rows")))
    with seeded(f"{function} {kind}", 0) as rng, compaction_at_every_turn():
        assert_agrees_with_reference(plan, [streams_of(rng, values) for _ in range(40)], rng)


@pytest.mark.parametrize(("function", "kind"), [p for p in PAIRS if p[0] in (*CHOICES, *TIMED)])
def test_oracle_of_what_grows(function: str, kind: str) -> None:
    """Of groups that only grow no more is kept than their first and last values."""
    arrow, values = KINDS[kind]
    scan = scan_of(arrow, grows=True)
    plan = p.Aggregate(scan, ("k",), tuple(calls_over(function, scan)))
    with seeded(f"{function} {kind} of what grows", 0) as rng, compaction_at_every_turn():
        cases = [streams_of(rng, values, grows=True) for _ in range(40)]
        assert_agrees_with_reference(plan, cases, rng)
