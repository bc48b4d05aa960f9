"""The order of joins: the one that costs the least, and always the same answer."""

from __future__ import annotations

from pathlib import Path
from random import Random

from penstock.algebra import plan as p
from penstock.algebra.expr import Column, compare
from penstock.reasoning.products import Forms
from penstock.rewrite import rewrite
from penstock.runtime.options import Options
from penstock.sharing.join_order import SourceStatistics, ordered
from penstock.testing.local_session import local_session
from penstock.testing.plan_snapshots import assert_same_meaning
from penstock.testing.random_expressions import INT
from penstock.testing.random_overlaps import OVERLAPPING, Part, Spec, Specs, with_times
from penstock.testing.random_streams import random_streams


def sources(plan: p.Node) -> list[str]:
    """The relations that are joined, those that are joined first at the front."""
    return [node.name for node in plan.walk() if isinstance(node, p.Scan)]


def test_oracle_another_order_is_the_same_query() -> None:
    reordered = 0
    for seed in range(300):
        rng = Random(seed)
        specs = Specs(rng)
        spec = specs.changed(specs.view())
        seen = {scan.name: SourceStatistics(rng.randint(1, 1000), 100) for scan in OVERLAPPING}
        plan = spec.plan()
        found = ordered(plan, seen, Forms())
        if found is not plan and found != plan:
            reordered += 1
            for _ in range(3):
                streams = with_times(random_streams(rng, OVERLAPPING))
                assert_same_meaning(plan, rewrite(found), streams)
    assert reordered > 10


def chain() -> Spec:
    """log and other by k, and changes, which is small, by k of other."""
    parts = (Part("log"), Part("log"), Part("changes"))
    conditions = (
        compare("=", Column("k0", INT), Column("k1", INT)),
        compare("=", Column("k1", INT), Column("k2", INT)),
    )
    return Spec(parts, conditions, (("v", Column("v2", INT)), ("w", Column("v0", INT))))


def test_small_relations_are_joined_first() -> None:
    plan = chain().plan()
    seen = {
        "log": SourceStatistics(100_000, 10, {"k": 10}),
        "changes": SourceStatistics(5, 10, {"k": 5}),
    }
    found = rewrite(ordered(plan, seen, Forms()))
    assert isinstance(found, p.Map)
    assert sources(rewrite(plan))[0] == "log"
    assert "changes" in sources(found)[:2]


def test_nothing_is_reordered_that_was_not_seen() -> None:
    plan = chain().plan()
    assert ordered(plan, {}, Forms()) is plan
    assert (
        ordered(plan, {"log": SourceStatistics(5), "changes": SourceStatistics(5)}, Forms()) is plan
    )


def test_a_session_orders_joins_by_what_it_has_seen(tmp_path: Path) -> None:
    query = """SELECT a.v, c.w FROM big a JOIN large b ON a.k = b.k JOIN small c ON b.j = c.j"""
    for off, first in (((), "small"), (("order_joins",), "big")):
        options = Options(tasks=1, unbounded="allow", rules_off=off)
        with local_session(tmp_path / first, options) as db:
            for name in ("big", "large", "small"):
                db.sql(f"CREATE SOURCE {name} (k INT, j INT, v INT, w INT, t INT) EVENT TIME t")
            for name, count in (("big", 300), ("large", 300), ("small", 2)):
                db.source(name).append([(i % 3, i, i, i, i) for i in range(count)])
            text = str(db.sql(f"EXPLAIN {query}"))
            logical = text[text.index("logical plan") : text.index("physical plan")]
            words = [line.strip() for line in logical.split("\n")]
            assert next(w for w in words if w in ("big", "small")) == first
            db.sql(f"CREATE VIEW v AS {query}")
            for name in ("big", "large", "small"):
                db.source(name).end()
            db.step()
            assert db.view("v").snapshot().toArrow().num_rows == 200
