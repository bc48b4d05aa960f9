"""Punctuations of a column say of a monotone function of it just what follows, and no more."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from penstock.algebra import plan as p
from penstock.algebra.aggregates import AggregateCall
from penstock.algebra.closing import final_from
from penstock.algebra.expr import ARGUMENT, Call, Column, Expr, Literal, arithmetic, cast
from penstock.algebra.monotone import monotone, values
from penstock.element import BEGIN, INF, Elements
from penstock.punctuation import Constant, Pattern, Punctuation, Range, ValueList
from penstock.punctuation.closings import Closings
from penstock.punctuation.derived import through
from penstock.testing.local_pipeline import LocalPipeline

pytestmark = pytest.mark.long

BYTE, INT, LONG, DOUBLE = pa.int8(), pa.int32(), pa.int64(), pa.float64()
SCHEMA = pa.schema([pa.field("x", BYTE), pa.field("flag", pa.bool_(), nullable=False)])
X = cast(Column(ARGUMENT, BYTE), INT)

FUNCTIONS: dict[str, Expr] = {
    "x": Column(ARGUMENT, BYTE),
    "cast": cast(Column(ARGUMENT, BYTE), LONG),
    "x + 1": arithmetic("+", X, Literal(1, INT)),
    "x - 5": arithmetic("-", X, Literal(5, INT)),
    "2 * x": arithmetic("*", Literal(2, INT), X),
    "3 - x": arithmetic("-", Literal(3, INT), X),
    "-2 * x": arithmetic("*", X, Literal(-2, INT)),
    "- x": Call("negative", (X,), INT),
    "x / 4": arithmetic("/", cast(Column(ARGUMENT, BYTE), DOUBLE), Literal(4.0, DOUBLE)),
    "x - x % 3": arithmetic("-", X, arithmetic("%", X, Literal(3, INT))),
    "floor(x / 3)": Call("FLOOR({0} / 3)", (Column(ARGUMENT, BYTE),), LONG),
    "ceil(x / 3)": Call("CEIL({0} / 3)", (Column(ARGUMENT, BYTE),), LONG),
    "x div 3": Call("{0} DIV 3", (Column(ARGUMENT, BYTE),), LONG),
}
STRICT = ("x", "cast", "x + 1", "x - 5", "2 * x", "3 - x", "-2 * x", "- x")
ALL: list[Any] = [None, *range(-128, 128)]


def random_pattern(rng: Random) -> Pattern:
    low, high = sorted(rng.choices(range(-9, 10), k=2))
    return rng.choice(
        (
            Constant(rng.choice((None, low, high))),
            ValueList(tuple(range(low, high + 1)[:6])),
            Range(low, high),
            Range(rng.choice((None, low)), rng.choice((None, high))),
        )
    )


def random_said(rng: Random) -> list[tuple[Punctuation, int]]:
    said = []
    for _ in range(rng.randint(1, 8)):
        patterns = {"x": random_pattern(rng)}
        if rng.random() < 0.6:
            patterns["flag"] = Constant(rng.random() < 0.5)
        said.append((Punctuation.of_mapping(SCHEMA, patterns), rng.choice((BEGIN, 1, 2))))
    return said


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_value_is_closed_when_all_that_become_it_are(name: str) -> None:
    function, finite = FUNCTIONS[name], 0
    made = values(function, pa.array(ALL, BYTE)).to_pylist()
    for seed in range(25):
        said = random_said(Random(f"{name} {seed}"))
        wanted: dict[Any, int] = {}
        for (x, y), flag in product(zip(ALL, made, strict=True), (False, True)):
            own = min((time for one, time in said if one.matches((x, flag))), default=INF)
            wanted[y, flag] = max(wanted.get((y, flag), BEGIN), own)
        times = Closings(SCHEMA).also(said).over(["x", "flag"])
        records = [pa.array(column) for column in zip(*wanted, strict=True)]
        asked = (records[0].cast(function.type), records[1])
        found = through(times, 0, function).first(asked, len(wanted))
        assert dict(zip(wanted, found.tolist(), strict=True)) == wanted, f"seed {seed}: {said}"
        finite += sum(time < INF for time in wanted.values())
    assert finite


@pytest.mark.parametrize("name", FUNCTIONS)
def test_monotone_functions_are(name: str) -> None:
    found = monotone(FUNCTIONS[name])
    assert found is not None
    made = values(FUNCTIONS[name], pa.array(ALL, BYTE)).to_pylist()
    assert made[0] is None
    assert made[1:] == sorted(made[1:], reverse=not found.rising)
    assert found.strict == (name in STRICT)
    assert len(set(made)) == len(made) or not found.strict


@pytest.mark.parametrize(
    "other",
    [
        arithmetic("%", X, Literal(3, INT)),
        arithmetic("*", X, Literal(0, INT)),
        arithmetic("+", X, X),
        Call("negative", (cast(Column(ARGUMENT, BYTE), DOUBLE),), DOUBLE),
        Call("FLOOR({0})", (Column(ARGUMENT, DOUBLE),), LONG),
        Call("HOUR({0})", (Column(ARGUMENT, pa.timestamp("us", "UTC")),), INT),
    ],
    ids=str,
)
def test_others_are_not(other: Expr) -> None:
    assert monotone(other) is None


def test_a_group_by_a_function_of_a_column() -> None:
    """Of a stream that closes x from 0 on, groups of three close one after the other."""
    schema = pa.schema([("x", LONG), ("v", LONG)])
    x = Column("x", LONG)
    third = arithmetic("-", x, arithmetic("%", x, Literal(3, LONG)))
    scan = p.Scan("s", schema, append_only=True)
    shifted = p.Map(scan, (("y", arithmetic("+", third, Literal(1, LONG))),))
    grouped = p.Aggregate(shifted, ("y",), (AggregateCall("count", (), "n"),))
    pipeline = LocalPipeline(p.Restrict(grouped, final_from(grouped)))
    rows = Elements.of(schema, [((i, 0), 0, INF, 1) for i in range(9)])
    found = []
    said = Closings(schema).also([(Punctuation.of(schema, x=Range(None, -1)), BEGIN)])
    for t, last in enumerate((1, 2, 5, 6), 1):
        said = said.also([(Punctuation.of(schema, x=Range(0, last)), t)])
        out = pipeline.step({"s": rows}, t + 1, {"s": said})
        found.append(sorted(e for e, *_ in out.rows()))
        rows = Elements.of(schema, [])
    assert found == [[], [(1, 3)], [(4, 3)], []]
