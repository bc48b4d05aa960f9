"""Equivalences, and inequalities, that the rules rest on but that are not rules themselves."""

from __future__ import annotations

from random import Random

import pyarrow as pa
import pytest

from penstock.algebra import expr as ex
from penstock.algebra import plan as p
from penstock.algebra.aggregates import AggregateCall
from penstock.element import INF
from penstock.testing.plan_snapshots import assert_same_meaning
from penstock.testing.random_expressions import random_expression
from penstock.testing.random_plans import Plans, scans_of
from penstock.testing.random_streams import random_streams

INT = pa.int64()
COUNT = AggregateCall("count", (), "n")
INDEXES = (0, 1, 2)
S = p.Scan("S", pa.schema([("a", INT)]))
T = p.Scan("T", pa.schema([("b", INT)]))


def per_group(source: p.Node, function: ex.Expr, calls: tuple[AggregateCall, ...]) -> p.Node:
    """The paper's aggregation by groups: the union of the aggregates, without keys, of each."""
    parts = []
    for index in INDEXES:
        total = p.Aggregate(p.Group(source, function, index), (), calls)
        columns = p.project(total, total.schema.names).outputs
        parts.append(p.Map(total, (("index", ex.Literal(index, INT)), *columns)))
    return p.Union(tuple(parts))


def by_key(source: p.Node, function: ex.Expr, calls: tuple[AggregateCall, ...]) -> p.Node:
    """The conventional one: an aggregate with the group as its key."""
    columns = p.project(source, source.schema.names).outputs
    assigned = p.Map(source, (("index", function), *columns))
    index = ex.Column("index", INT)
    equal = tuple(ex.compare("=", index, ex.Literal(value, INT)) for value in INDEXES)
    chosen = p.Filter(assigned, ex.Call("or", equal, pa.bool_()))
    return p.Aggregate(chosen, ("index",), calls)


def not_empty(node: p.Node) -> p.Node:
    return p.Filter(node, ex.compare(">", ex.Column("n", INT), ex.Literal(0, INT)))


def test_differential_aggregates_of_groups_are_an_aggregate_by_group() -> None:
    for seed in range(150):
        rng = Random(seed)
        plans = Plans(rng)
        source = plans.plan(1)
        function = random_expression(rng, source.schema, INT)
        calls = (COUNT, *plans.calls(source))
        before = not_empty(per_group(source, function, calls))
        after = by_key(source, function, calls)
        assert_same_meaning(before, after, random_streams(rng, scans_of(source)))


def test_an_empty_group_has_an_aggregate_but_no_key() -> None:
    a = ex.Column("a", INT)
    with pytest.raises(AssertionError, match="snapshots differ"):
        assert_same_meaning(per_group(S, a, (COUNT,)), by_key(S, a, (COUNT,)), {"S": []})


def test_distinct_does_not_distribute_over_union() -> None:
    one = [((1,), 0, INF, 1)]
    with pytest.raises(AssertionError, match="snapshots differ"):
        assert_same_meaning(
            p.Distinct(p.Union((S, T))),
            p.Union((p.Distinct(S), p.Distinct(T))),
            {"S": one, "T": one},
        )


def test_distinct_does_not_distribute_over_full_join() -> None:
    none = [((None,), 0, INF, 1)]
    full = p.Join(S, T, "full", (p.Equality("a", "b"),))
    both = p.Join(p.Distinct(S), p.Distinct(T), "full", (p.Equality("a", "b"),))
    with pytest.raises(AssertionError, match="snapshots differ"):
        assert_same_meaning(p.Distinct(full), both, {"S": none, "T": none})
