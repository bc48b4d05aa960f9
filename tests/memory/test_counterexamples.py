"""Where the paper's theorems, as printed, say otherwise: docs/decisions/bounded-memory.md."""

import os
from itertools import pairwise
from random import Random

import pytest

from penstock.memory.check import check, check_aggregates
from penstock.memory.joins import max_ref
from penstock.memory.query import (
    AVG,
    COUNT,
    COUNT_DISTINCT,
    MAX,
    MEDIAN,
    MIN,
    SUM,
    Aggregate,
    AggregateQuery,
    Function,
    Kind,
    Query,
    Stream,
)
from penstock.memory.self_joins import bounded_order, derived_orders, fold
from penstock.memory.summaries import summaries_of
from penstock.memory.verdict import Role
from penstock.memory.witness import Arrival, answer, distinguishes, witness
from penstock.reasoning.closure import compare
from tests.memory.paper import atoms
from tests.memory.random_queries import random_query
from tests.memory.theory_plans import plan_of

EFFORT = int(os.environ.get("PENSTOCK_EFFORT", "1"))

S = Stream("S", ("A", "B"))
T = Stream("T", ("C",))
S1, S2, S3 = (Stream(name, ("A", "B"), "S") for name in ("S1", "S2", "S3"))


def aggregate(where: str, *aggregates: Aggregate, group_by: str = "") -> AggregateQuery:
    groups = tuple(S[column] for column in group_by.split())
    return AggregateQuery((S, T), atoms((S, T), where), groups, aggregates)


@pytest.mark.parametrize("where", ["B < C", "A < C"])
def test_a_maximum_also_competes_with_min_ref(where: str) -> None:
    """Theorem 8.6 asks only for MaxRef(S), which is empty: yet all prefixes can be told apart."""
    tested = aggregate(where, Aggregate(MAX, S["A"]))
    assert not max_ref(tested.closure(), "S")
    assert check(tested.reduced(distinct=True)).bounded
    verdict = check_aggregates(tested)
    (failure,) = verdict.failures
    assert failure.role is Role.AGGREGATED
    assert verdict.certain
    found = witness(tested, failure, 8)
    assert found is not None
    assert distinguishes(tested, found)


def test_a_maximum_does_not_compete_with_joins_that_constants_decide() -> None:
    """Theorem 8.6 takes MaxRef of the query: here {B}, though B < 20 or C < 20 < B in any order."""
    tested = aggregate("C < B, C < 20, B > 10", Aggregate(MAX, S["A"]))
    assert max_ref(tested.closure(), "S") == {S["B"]}
    assert check_aggregates(tested).bounded


def test_a_maximum_agrees_with_its_own_join() -> None:
    assert check_aggregates(aggregate("C < A", Aggregate(MAX, S["A"]))).bounded
    assert check_aggregates(aggregate("A < C", Aggregate(MIN, S["A"]))).bounded
    assert not check_aggregates(aggregate("C < B", Aggregate(MAX, S["A"]))).bounded
    assert check_aggregates(aggregate("", Aggregate(MAX, S["A"]))).bounded


def test_a_constant_average_does_not_see_duplicates() -> None:
    """Theorem 8.6 preserves duplicates for AVG, MEDIAN and SUM, and B < C must not be counted."""
    for function in (AVG, MEDIAN):
        assert check_aggregates(aggregate("B < C, A = 7", Aggregate(function, S["A"]))).bounded
        grouped = aggregate("B < C, A > 0, A < 9", Aggregate(function, S["A"]), group_by="A")
        assert check_aggregates(grouped).bounded
        assert not check_aggregates(aggregate("B < C, A > 6", Aggregate(function, S["A"]))).bounded
    assert check_aggregates(aggregate("B < C, A = 0", Aggregate(SUM, S["A"]))).bounded
    assert not check_aggregates(aggregate("B < C, A = 7", Aggregate(SUM, S["A"]))).bounded


def test_an_order_of_a_self_join_can_need_more_than_the_whole() -> None:
    """Section 8.1: bounded iff all orders are. One order of S1.A = S2.A is not; the whole is S."""
    tested = Query((S1, S2), frozenset({compare(S1["A"], "=", S2["A"])}), distinct=True)
    orders = [fold(Query((S1, S2), o.atoms(), (), True), o) for o in derived_orders(tested)]
    assert not all(bounded_order(closure, query) for query, closure in orders)
    assert check(tested).bounded
    assert len(fold(tested)[0].streams) == 1


def chain(*more: Stream) -> Query:
    streams = (S1, S2, *more)
    where = {
        compare(low[low.columns[0]], "<", high[high.columns[0]]) for low, high in pairwise(streams)
    }
    return Query(streams, frozenset(where), distinct=True)


def test_a_chain_through_one_stream_needs_few_values() -> None:
    """S1.A < S2.A < S3.A asks for three values, S1.A < S2.A < T.C for the two smallest.

    No occurrence is redundant and S2 has both a MaxRef and a MinRef: unbounded, by section 8.1.
    Bounded memory is not shown here; the opposite is not claimed.
    """
    for tested in (chain(S3), chain(T)):
        verdict = check(tested)
        assert not verdict.bounded
        assert not verdict.certain
    for values, expected in (((1, 2), 0), ((1, 2, 9), 1), ((1, 1, 2), 0)):
        arrived = [Arrival("S", (value, 0)) for value in values]
        assert len(answer(chain(S3), arrived)) == expected


def test_a_self_join_that_a_witness_proves() -> None:
    where = frozenset({compare(S1["A"], "=", S2["B"])})
    verdict = check(Query((S1, S2), where, distinct=True))
    assert not verdict.bounded
    assert verdict.certain


def test_a_self_join_that_preserves_duplicates_is_checked_as_printed() -> None:
    where = frozenset({compare(S1["A"], "=", S2["A"])})
    tested = Query((S1, S2), where)
    verdict = check(tested)
    assert not verdict.bounded
    assert verdict.certain
    found = witness(tested, verdict.failures[0], 6)
    assert found is not None
    assert distinguishes(tested, found)


def test_theorem_8_5_one_stream() -> None:
    def bounded(function: Function, where: str = "", group_by: str = "") -> bool:
        groups = tuple(S[column] for column in group_by.split())
        tested = AggregateQuery((S,), atoms((S,), where), groups, (Aggregate(function, S["A"]),))
        return check_aggregates(tested).bounded

    assert all(bounded(function) for function in (SUM, COUNT, MIN, MAX, AVG))
    assert not any(bounded(function) for function in (MEDIAN, COUNT_DISTINCT))
    assert all(bounded(function, "A > 1, A < 9") for function in (MEDIAN, COUNT_DISTINCT))
    assert not bounded(SUM, group_by="B")
    assert bounded(SUM, "B > 1, B < 9", group_by="B")


@pytest.mark.parametrize("function", [MEDIAN, COUNT_DISTINCT])
@pytest.mark.parametrize("streams", [(S,), (S, T)], ids=["one stream", "two streams"])
def test_holistic_aggregates_have_witnesses(
    function: Function, streams: tuple[Stream, ...]
) -> None:
    tested = AggregateQuery(streams, atoms((S,), "A > 3"), (), (Aggregate(function, S["A"]),))
    (failure,) = check_aggregates(tested).failures
    found = witness(tested, failure, 8)
    assert found is not None
    assert distinguishes(tested, found)


def test_oracle_extremes_that_fail_have_witnesses() -> None:
    tried = 0
    for seed in range(400 * EFFORT):
        rng = Random(seed)
        base = random_query(rng, 4)
        chosen = Aggregate(rng.choice([MIN, MAX]), rng.choice(base.attributes))
        tested = AggregateQuery(base.streams, base.where, (), (chosen,))
        for failure in check_aggregates(tested).failures:
            if failure.role is Role.AGGREGATED:
                found = witness(tested, failure, 6)
                assert found is not None, f"seed {seed}"
                assert distinguishes(tested, found), f"seed {seed}"
                tried += 1
    assert tried > 20 * EFFORT


def test_groups_and_counts_have_witnesses() -> None:
    grouped = aggregate("A > 3", Aggregate(SUM, S["B"]), group_by="A")
    counted = aggregate("B < C", Aggregate(COUNT, None))
    for tested, role in ((grouped, Role.GROUPED), (counted, Role.COUNTED)):
        failure = check_aggregates(tested).failures[0]
        assert failure.role is role
        found = witness(tested, failure, 6)
        assert found is not None
        assert distinguishes(tested, found)


def test_theorems_8_3_and_8_4_other_functions() -> None:
    concat = Function("concat", Kind.HOLISTIC, duplicate_sensitive=True)
    product = Function("product", Kind.DISTRIBUTIVE, duplicate_sensitive=True)
    alone = AggregateQuery((S,), aggregates=(Aggregate(product, S["A"]),))
    assert check_aggregates(alone).bounded
    assert check_aggregates(aggregate("A > 1, A < 9", Aggregate(concat, S["A"]))).bounded
    for function in (concat, product):
        verdict = check_aggregates(aggregate("B > 1", Aggregate(function, S["A"])))
        assert not verdict.bounded
        assert not verdict.certain
    with pytest.raises(ValueError, match="needs an attribute"):
        Aggregate(SUM, None)


def test_section_7_2_one_representative_is_too_few_with_at_most() -> None:
    """The least attribute is 4 in both tuples of s; each meets what the other does not."""
    s, x, y = Stream("S", ("a", "b")), Stream("X", ("x",)), Stream("Y", ("y",))
    where = {
        compare(x["x"], "<", s["a"]),
        compare(x["x"], "<=", s["b"]),
        compare(y["y"], "<=", s["a"]),
        compare(y["y"], "<", s["b"]),
    }
    query = Query((s, x, y), frozenset(where), (), distinct=True)
    assert check(query).bounded
    tuples = [Arrival("S", (5, 4)), Arrival("S", (4, 5))]
    for own, probe in zip(tuples, ([4, 3], [3, 4]), strict=True):
        later = [Arrival("X", (probe[0],)), Arrival("Y", (probe[1],))]
        assert answer(query, [own, *later])
        (other,) = (each for each in tuples if each != own)
        assert not answer(query, [other, *later])
    (summary,) = summaries_of(plan_of(query))
    assert summary.rankings is not None
    assert len(summary.rankings[0][0].limits) == 2
