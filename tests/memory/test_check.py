"""The polynomial check against the enumeration, its witnesses, and its speed.

`PENSTOCK_EFFORT=10` tries ten times as many queries.
"""

import os
import time
from random import Random

import pytest

from penstock.memory.check import check
from penstock.memory.query import Query, Stream
from penstock.memory.witness import distinguishes, witness
from penstock.reasoning.closure import Attribute, compare
from tests.memory.by_definition import bounded_by_enumeration, bounded_by_figure_2
from tests.memory.random_queries import random_query

EFFORT = int(os.environ.get("PENSTOCK_EFFORT", "1"))


def test_differential_polynomial_and_enumeration() -> None:
    outcomes = set()
    for seed in range(3000 * EFFORT):
        rng = Random(seed)
        query = random_query(rng, rng.choice([3, 4, 4, 4, 5]))
        bounded = bounded_by_enumeration(query)
        assert check(query).bounded == bounded, f"seed {seed}"
        outcomes.add((query.distinct, bounded))
    assert len(outcomes) == 4


def test_differential_figure_2_and_enumeration() -> None:
    for seed in range(60 * EFFORT):
        query = random_query(Random(seed), 5)
        assert bounded_by_figure_2(query) == bounded_by_enumeration(query), f"seed {seed}"


def test_oracle_every_failure_has_a_witness() -> None:
    """No query is called unbounded that is not: its answers tell all prefixes apart."""
    tried = 0
    for seed in range(120 * EFFORT):
        query = random_query(Random(seed))
        for failure in check(query).failures:
            found = witness(query, failure, 6)
            assert found is not None, f"seed {seed}"
            assert distinguishes(query, found), f"seed {seed}"
            tried += 1
    assert tried > 60 * EFFORT


def test_a_large_witness_is_made_quickly() -> None:
    s, t = Stream("S", ("a", "b")), Stream("T", ("c", "d"))
    where = {compare(s["a"], "<", t["c"]), compare(s["b"], "<=", t["d"])}
    query = Query((s, t), frozenset(where), distinct=True)
    (failure, _) = check(query).failures
    found = witness(query, failure, 2000)
    assert found is not None
    assert len({item[0].row for item in found.items}) == 2000


def wide_query(rng: Random, *, distinct: bool) -> Query:
    streams = tuple(Stream(f"S{n}", ("a", "b", "c", "d", "e")) for n in range(12))
    known = [attribute for stream in streams for attribute in stream.attributes]
    hidden = {attribute: rng.randint(0, 100) for attribute in known}
    where = set()
    for _ in range(150):
        x, y = sorted(rng.sample(known, 2), key=lambda a: hidden[a])
        where.add(compare(x, "<" if hidden[x] < hidden[y] else "=", y))
    where |= {compare(a, ">", -1) for a in known} | {compare(a, "<", 101) for a in known[::2]}
    return Query(streams, frozenset(where), (), distinct)


@pytest.mark.parametrize("distinct", [False, True])
def test_twelve_streams_and_sixty_attributes_in_a_second(distinct: bool) -> None:
    query = wide_query(Random(7), distinct=distinct)
    start = time.process_time()
    check(query)
    assert time.process_time() - start < 1


def test_a_wide_bounded_query_in_a_second() -> None:
    """Every attribute of eleven streams above one of the twelfth: all pairs must be looked at."""
    streams = tuple(Stream(f"S{n}", ("a", "b", "c", "d", "e")) for n in range(12))
    low = streams[0]["a"]
    where = {
        compare(low, "<", attribute) for stream in streams[1:] for attribute in stream.attributes
    }
    query = Query(streams, frozenset(where), (), distinct=True)
    start = time.process_time()
    assert check(query).bounded
    assert time.process_time() - start < 1


def test_a_query_validates_itself() -> None:
    s = Stream("S", ("a",))
    with pytest.raises(ValueError, match="at least one stream"):
        Query(())
    with pytest.raises(ValueError, match="share a name"):
        Query((s, s))
    with pytest.raises(ValueError, match=r"T\.a is not an attribute of S"):
        Query((s,), frozenset({compare(Attribute("T", "a"), "<", 1)}))
    with pytest.raises(ValueError, match="differ in their columns"):
        Query((s, Stream("S2", ("b",), "S")))
    with pytest.raises(ValueError, match="no column b"):
        s["b"]
    with pytest.raises(ValueError, match="twice"):
        Stream("S", ("a", "a"))
    with pytest.raises(ValueError, match="is not one of"):
        compare(s["a"], "!=", 1)


def test_an_unsatisfiable_query_is_bounded() -> None:
    s, t = Stream("S", ("a",)), Stream("T", ("b",))
    where = {compare(s["a"], "<", t["b"]), compare(t["b"], "<", s["a"])}
    assert check(Query((s, t), frozenset(where), (s["a"],))).bounded
