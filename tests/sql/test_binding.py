"""What queries become: plans, without Spark."""

from __future__ import annotations

import pyarrow as pa
import pytest

from penstock.algebra import plan as p
from penstock.algebra.outline import outline
from penstock.sql import parse
from penstock.sql.binding import Catalog, Relation, bind_query
from penstock.sql.binding.local_analyser import LocalAnalyser
from penstock.sql.statements import Query

COLUMNS = pa.schema([("a", pa.int64()), ("b", pa.int64()), ("t", pa.int64())])
CATALOG = Catalog(
    {
        name: Relation("source", p.Scan(name, COLUMNS, append_only=True, time="t"), "t")
        for name in ("r", "s")
    },
    pa.int64(),
)


def bound(text: str) -> p.Node:
    (query,) = parse(text)
    assert isinstance(query, Query)
    return bind_query(query, CATALOG, LocalAnalyser()).plan


def nodes(plan: p.Node, kind: type[p.Node]) -> list[p.Node]:
    return [node for node in plan.walk() if isinstance(node, kind)]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT a FROM r ORDER BY a, a DESC LIMIT 3",
        "SELECT row_number() OVER (ORDER BY a, b, a) AS n FROM r",
        "SELECT a FROM r UNION ALL SELECT a FROM s ORDER BY a, 1 LIMIT 3",
    ],
)
def test_a_column_may_stand_twice_in_an_order(text: str) -> None:
    (rank,) = nodes(bound(text), p.Rank)
    assert isinstance(rank, p.Rank)
    columns = [key.column for key in rank.order]
    assert len(columns) == len(set(columns))


def test_a_window_on_now_is_the_window_after_a_name() -> None:
    written = bound("SELECT a FROM r [RANGE 5]")
    meant = bound("SELECT a FROM r WHERE NOW() - 5 < ts AND ts <= NOW()")
    assert [type(node) for node in nodes(meant, p.Window)] == [p.Window]
    assert not nodes(meant, p.Restrict)
    assert [w.size for w in nodes(written, p.Window) if isinstance(w, p.Window)] == [5]


def test_comma_joins_follow_equalities() -> None:
    (join,) = nodes(bound("SELECT r.b FROM r, s WHERE r.a = s.a AND s.b > 3"), p.Join)
    assert isinstance(join, p.Join)
    assert [(e.left, e.right) for e in join.on] == [("r.a", "s.a")]
    assert join.where is None


def test_what_branches_of_or_share_is_a_condition_of_its_own() -> None:
    plan = bound("SELECT r.b FROM r, s WHERE (r.a = s.a AND r.b = 1) OR (r.a = s.a AND r.b = 2)")
    (join,) = nodes(plan, p.Join)
    assert isinstance(join, p.Join)
    assert len(join.on) == 1


def test_a_correlated_aggregate_is_a_group_for_each_value() -> None:
    plan = bound("SELECT a, (SELECT count(*) FROM s WHERE s.a = r.a) AS n FROM r")
    (aggregate,) = nodes(plan, p.Aggregate)
    assert isinstance(aggregate, p.Aggregate)
    assert len(aggregate.keys) == 1
    assert "coalesce" in outline(plan), "no rows are counted as 0"


def test_any_other_dependence_is_on_a_domain() -> None:
    plan = bound("SELECT a, (SELECT max(s.b) FROM s WHERE s.a < r.a) AS n FROM r")
    assert len(nodes(plan, p.Distinct)) == 1
    (inner, outer) = nodes(plan, p.Join)
    assert isinstance(inner, p.Join)
    assert isinstance(outer, p.Join)
    assert outer.kind == "left"
    assert all(equality.null_safe for equality in outer.on)


def test_bounds_between_times_free_what_a_join_keeps() -> None:
    (join,) = nodes(
        bound("SELECT r.a FROM r JOIN s ON r.a = s.a AND s.t <= r.t + 5 AND r.t - 5 <= s.t"), p.Join
    )
    assert isinstance(join, p.Join)
    assert str(join.keep_left) == "(r.t + 6)"
    assert str(join.keep_right) == "(s.t + 6)"
