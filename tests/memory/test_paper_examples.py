"""The tables and examples of the paper on memory requirements, with its sets."""

import pytest

from penstock.memory.check import check, check_aggregates
from penstock.memory.joins import Extreme, conflicts, max_ref, min_ref
from penstock.memory.query import (
    COUNT,
    MEDIAN,
    SUM,
    Aggregate,
    AggregateQuery,
    Query,
    Stream,
)
from penstock.memory.self_joins import covers, derived_orders, fold
from penstock.memory.verdict import Role
from penstock.memory.witness import distinguishes, witness
from penstock.reasoning.closure import Attribute, Closure, Element, compare
from tests.memory.by_definition import bounded_by_enumeration, bounded_by_figure_2
from tests.memory.paper import TABLE_1, S, T, atoms, query


@pytest.mark.parametrize("distinct", [False, True], ids=["preserving", "eliminating"])
@pytest.mark.parametrize(
    ("streams", "where", "preserving", "eliminating"),
    [row[1:] for row in TABLE_1],
    ids=[row[0] for row in TABLE_1],
)
def test_table_1(
    streams: tuple[Stream, ...], where: str, preserving: bool, eliminating: bool, distinct: bool
) -> None:
    tested = query(streams, where, "A", distinct=distinct)
    expected = eliminating if distinct else preserving
    assert check(tested).bounded == expected
    assert bounded_by_enumeration(tested) == expected
    assert bounded_by_figure_2(tested) == expected


def test_table_1_failures_name_attribute_stream_and_role() -> None:
    first = check(query((S,), "A > 10", "A", distinct=True)).failures
    assert [(f.role, f.stream, f.attributes) for f in first] == [(Role.PROJECTED, "S", (S["A"],))]
    fourth = check(query((S, T), "B < D, A = 10", "A")).failures
    assert [(f.role, f.attributes) for f in fourth] == [
        (Role.COUNTED, (S["B"],)),
        (Role.COUNTED, (T["D"],)),
    ]
    fifth = check(query((S, T), "B < D, C < E, A = 10", "A", distinct=True)).failures
    assert [(f.role, f.stream, f.attributes) for f in fifth] == [
        (Role.COMPARED, "S", (S["B"], S["C"])),
        (Role.COMPARED, "T", (T["D"], T["E"])),
    ]


def test_section_4_closure() -> None:
    one = Stream("S", ("A", "B"))
    closure = Closure(atoms((one,), "A < 5, 8 < B"))
    assert closure.atoms() == atoms((one,), "A < 5, A < 8, 5 < B, 8 < B, A < B")


def test_section_4_redundancy() -> None:
    one = Stream("S", ("A", "B", "C"))
    a_below_c = compare(one["A"], "<", one["C"])
    assert Closure(atoms((one,), "A < B, B < C, A < C")).redundant(a_below_c)
    assert Closure(atoms((one,), "A < C, A = 5, C > 5")).redundant(a_below_c)
    equal = Closure(atoms((one,), "A = B, A < C, B < C"))
    assert not equal.redundant(a_below_c)
    assert not equal.redundant(compare(one["B"], "<", one["C"]))


FIGURE_1 = (
    Stream("S1", ("A", "B", "C", "D")),
    Stream("S2", ("E", "F", "G")),
    Stream("S3", ("H", "I", "J")),
)


def names(attributes: frozenset[Attribute]) -> str:
    return "".join(sorted(attribute.name for attribute in attributes))


def test_example_5_5() -> None:
    """The drawing is not in the text: these edges are those stated, and give the sets stated."""
    where = "G < C, G < B, C < B, H < A, J < F, 10 < E, E < F, F < 20"
    closure = query(FIGURE_1, where).closure()
    assert closure.redundant(compare(FIGURE_1[1]["G"], "<", FIGURE_1[0]["B"]))
    assert closure.bounded(FIGURE_1[1]["F"])
    assert names(max_ref(closure, "S1")) == "AC"
    assert names(min_ref(closure, "S1")) == ""
    assert names(max_ref(closure, "S2")) == ""
    assert names(min_ref(closure, "S2")) == "G"
    assert names(min_ref(closure, "S3")) == "HJ"
    assert names(max_ref(closure, "S3")) == ""


def test_example_5_7() -> None:
    s, t = Stream("S", ("A", "B")), Stream("T", ("C",))
    tested = query((s, t), "A < 20, A = C, C > 10, B > 20", "A")
    assert len(list(derived_orders(tested))) == 1
    assert check(tested).bounded
    closure = tested.closure()
    assert compare(s["A"], ">", 10) in closure.filters("S")
    assert closure.values(s["A"]) == closure.values(t["C"]) == (11, 19)


def test_example_5_8_an_unbounded_projection() -> None:
    s, t = Stream("S", ("A", "B")), Stream("T", ("C",))
    tested = query((s, t), "A > 10, B = C, B = 10", "A")
    (failure,) = check(tested).failures
    assert (failure.role, failure.attributes) == (Role.PROJECTED, (s["A"],))
    found = witness(tested, failure, 8)
    assert found is not None
    assert distinguishes(tested, found)
    assert len({item[0].row[0] for item in found.items}) == 8
    assert all(item[0].row[0] > 10 and item[0].row[1] == 10 for item in found.items)
    assert {probe[0].row for probe in found.probes} == {(10,)}


def test_examples_5_9_and_5_11_a_count_and_a_minimum() -> None:
    s, t = Stream("S", ("A", "B")), Stream("T", ("C",))
    where = "A = 10, B < C, B > 10, C > 10"
    closure = query((s, t), where).closure()
    assert min_ref(closure, "S") == {s["B"]}
    assert max_ref(closure, "T") == {t["C"]}
    assert not max_ref(closure, "S")
    assert not min_ref(closure, "T")
    preserving = query((s, t), where, "A")
    verdict = check(preserving)
    assert {f.attributes for f in verdict.failures} == {(s["B"],), (t["C"],)}
    for failure in verdict.failures:
        found = witness(preserving, failure, 8)
        assert found is not None
        assert distinguishes(preserving, found)
    assert check(query((s, t), where, "A", distinct=True)).bounded


def test_example_5_12_two_orders() -> None:
    tested = query(
        (S, T), "A = 10, B > D, C > E, B > 10, C < 10, D > 10, E < 10", "A", distinct=True
    )
    verdict = check(tested)
    own = next(f for f in verdict.failures if f.stream == "S")
    assert (own.role, own.attributes) == (Role.COMPARED, (S["B"], S["C"]))
    assert [r.keep for r in own.references] == [Extreme.MAX, Extreme.MAX]
    found = witness(tested, own, 8)
    assert found is not None
    assert distinguishes(tested, found)


def test_example_6_1() -> None:
    """H < A and G < C conflict in S1. The drawing's other edges are not in the text."""
    where = "H < A, G < C, C < B, E < F, F < G, H < I, 10 < E"
    tested = query(FIGURE_1, where, distinct=True)
    pairs = [{r.attribute.name for r in pair} for pair in conflicts(tested.closure())]
    assert {"A", "C"} in pairs
    s1, s2, s3 = Stream("S1", ("A", "C")), Stream("S2", ("G",)), Stream("S3", ("H",))
    induced = query((s1, s2, s3), "H < A, G < C, 10 < G, 10 < C", distinct=True)
    kept: set[Element] = {s1["A"], s1["C"], s2["G"], s3["H"], 10}
    assert tested.closure().induced(kept) == induced.where
    assert not bounded_by_enumeration(induced)
    assert not check(induced).bounded


def test_example_8_1_a_redundant_occurrence() -> None:
    one, two = (Stream(name, ("A", "B"), "S") for name in ("S1", "S2"))
    where = {
        compare(one["A"], "=", 10),
        compare(one["A"], "=", two["A"]),
        compare(one["B"], "=", two["B"]),
        compare(one["B"], ">", 10),
    }
    tested = Query((one, two), frozenset(where), (one["A"],), distinct=True)
    closure = tested.closure()
    assert covers(closure, tested, one, two)
    assert covers(closure, tested, two, one)
    folded, _ = fold(tested)
    (left,) = folded.streams
    assert folded.where == {compare(left["A"], "=", 10), compare(left["B"], ">", 10)} | {
        compare(left["A"], "<", left["B"])
    }
    assert check(tested).bounded
    assert not bounded_by_enumeration(tested)  # the theorem without folding


def test_example_8_7_sums_are_pushed_below_the_join() -> None:
    s, t = Stream("S", ("A", "B")), Stream("T", ("C",))
    where = atoms((s, t), "A < 20, C < 20, A > 10, C > 10")
    groups = (s["A"], t["C"])
    tested = AggregateQuery((s, t), where, groups, (Aggregate(SUM, s["B"]),))
    assert not check(tested.characteristic()).bounded
    assert check_aggregates(tested).bounded
    counted = AggregateQuery((s, t), where, groups, (Aggregate(COUNT, None),))
    assert check_aggregates(counted).bounded
    median = AggregateQuery((s, t), where, groups, (Aggregate(MEDIAN, s["B"]),))
    (failure,) = check_aggregates(median).failures
    assert (failure.role, failure.attributes) == (Role.AGGREGATED, (s["B"],))
