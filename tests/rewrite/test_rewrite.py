"""The rules together: their order, their end, switching them off, saying which were used."""

from __future__ import annotations

import time
from pathlib import Path
from textwrap import dedent

import pyarrow as pa
import pytest

from penstock import rewrite as rw
from penstock.algebra import plan as p
from penstock.algebra.aggregates import AggregateCall
from penstock.algebra.expr import Column, Expr, Literal, arithmetic, compare, conjunction
from penstock.algebra.outline import outline
from penstock.errors import PlanError
from tests.rewrite.patterns import PATTERNS

INT = pa.int64()
BIDS = p.Scan("bids", pa.schema([("auction", INT), ("bidder", INT), ("price", INT)]))
AUCTIONS = p.Scan("auctions", pa.schema([("id", INT), ("seller", INT), ("reserve", INT)]))


def column(name: str) -> Column:
    return Column(name, INT)


def is_(name: str, value: int) -> Expr:
    return compare("=", column(name), Literal(value, INT))


def query() -> p.Node:
    """SELECT auction, max(price) FROM bids [RANGE 60] JOIN auctions WHERE ... GROUP BY auction"""
    joined = p.Join(p.Window(BIDS, "sliding", 60), AUCTIONS)
    conditions = (
        compare("=", column("id"), column("auction")),
        compare(">=", column("price"), column("reserve")),
        is_("seller", 7),
        is_("bidder", 3),
    )
    chosen = p.Filter(joined, conjunction(conditions))
    return p.Aggregate(chosen, ("auction",), (AggregateCall("max", ("price",), "highest"),))


def text(lines: str) -> str:
    return dedent(lines).strip()


def test_a_query() -> None:
    plan, fired, _ = rw.trace(query())
    assert outline(plan) == text(
        """
        aggregate auction, highest=max(price)
          map auction, price
            inner join on auction = id where (price >= reserve)
              window sliding 60
                map auction, price
                  filter (bidder = 3)
                    bids
              map id, reserve
                filter (seller = 7)
                  auctions
        """
    )
    assert fired == (
        "push_filter",
        "merge_filter_into_join",
        "join_on_equalities",
        "prune_columns",
        "push_map",
    )


@pytest.mark.parametrize("name", rw.trace(query()).fired)
def test_a_rule_that_is_off_does_not_fire(name: str) -> None:
    assert name not in rw.trace(query(), off={name}).fired


def test_all_rules_off() -> None:
    assert rw.trace(query(), off=rw.NAMES) == (query(), (), query())


def test_an_unknown_rule_cannot_be_switched_off() -> None:
    with pytest.raises(PlanError, match=r"no rule merge_filter; there are .*merge_filters"):
        rw.rewrite(query(), off={"merge_filter"})


def test_the_names_of_rules_that_are_part_of_others_now_are_taken_with_a_warning() -> None:
    with pytest.warns(DeprecationWarning, match="_through_join is a part of push_filter"):
        fired = rw.trace(query(), off={"push_filter_through_join"}).fired
    assert "push_filter" not in fired


def test_a_condition_is_copied_across_a_join_before_it_passes_a_map() -> None:
    later = p.Map(BIDS, (("next", arithmetic("+", column("auction"), Literal(1, INT))),))
    joined = p.Join(later, AUCTIONS, on=(p.Equality("next", "id"),))
    assert outline(rw.rewrite(p.Filter(joined, is_("next", 5)))) == text(
        """
        inner join on next = id
          map next=(auction + 1)
            filter ((auction + 1) = 5)
              bids
          filter (id = 5)
            auctions
        """
    )


def test_rules_that_undo_each_other_are_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rw, "RULES", (rw.commute,))
    with pytest.raises(RuntimeError, match=r"does not end.*commute"):
        rw.rewrite(query())


def test_a_rank_is_bounded_below_maps_that_rename() -> None:
    ranked = p.Rank(BIDS, ("auction",), (p.SortKey("price", True),), None, "row_number", "n")
    renamed = p.Map(ranked, (("bidder", column("bidder")), ("place", column("n"))))
    first = p.Filter(p.Map(renamed, (("p", column("place")),)), is_("p", 1))
    assert outline(rw.rewrite(first)) == text(
        """
        map p=n
          filter (n = 1)
            row_number 1 per auction by price desc as n
              bids
        """
    )


def test_equal_inputs_stay_equal() -> None:
    total = p.Aggregate(p.Filter(p.Window(BIDS, "fixed", 60), is_("auction", 1)), ("bidder",), ())
    plan = rw.rewrite(p.Union((total, total)))
    first, second = plan.inputs
    assert first == second


def test_groups_are_merged_before_windows_hide_them() -> None:
    count = AggregateCall("count", (), "n")
    groups = (p.Group(p.Window(BIDS, "fixed", 60), column("bidder"), j) for j in (1, 2))
    plan = p.Union(tuple(p.Aggregate(group, ("bidder",), (count,)) for group in groups))
    assert outline(rw.rewrite(plan)) == text(
        """
        aggregate bidder, n=count()
          window fixed 60
            map bidder
              filter ((bidder = 1) OR (bidder = 2))
                bids
        """
    )


def test_a_join_of_eight_wide_streams_takes_no_time() -> None:
    scans = [p.Scan(f"s{i}", pa.schema([(f"c{i}_{j}", INT) for j in range(16)])) for i in range(8)]
    joined: p.Node = scans[0]
    for scan in scans[1:]:
        joined = p.Join(joined, scan)
    conditions = [is_(f"c{i}_2", i) for i in range(8)]
    for i in range(7):
        conditions.append(compare("=", column(f"c{i}_0"), column(f"c{i + 1}_1")))
        conditions.append(compare("<", column(f"c{i}_3"), column(f"c{i + 1}_4")))
    total = AggregateCall("sum", ("c3_7",), "total")
    plan = p.Aggregate(p.Filter(joined, conjunction(tuple(conditions))), ("c0_5", "c7_6"), (total,))
    before = time.process_time()
    rewritten = rw.rewrite(plan)
    assert time.process_time() - before < 0.3
    joins = [node for node in rewritten.walk() if isinstance(node, p.Join)]
    assert all(len(join.on) == 1 and join.where is not None for join in joins)
    assert max(len(join.schema) for join in joins) < 16


def test_each_rule_has_a_file_of_its_name_and_a_docstring() -> None:
    files = {path.stem for path in Path(rw.__file__).parent.glob("*.py")}
    for rule in (*rw.RULES, rw.commute, rw.reassociate):
        assert rule.__name__ in files
        assert rule.__doc__


def test_each_rule_has_patterns_to_be_tried_on() -> None:
    names = {name.partition(":")[0] for name in PATTERNS}
    assert names == {*rw.NAMES, "commute", "reassociate"}
