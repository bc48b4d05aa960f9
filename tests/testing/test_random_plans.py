"""Random plans and streams: they are of every kind, valid, and the same for the same seed."""

from __future__ import annotations

from collections import Counter
from random import Random

from penstock.algebra import expr as ex
from penstock.algebra import plan as p
from penstock.algebra.reference import FIRST, Reference
from penstock.element import INF
from penstock.testing.random_expressions import TYPES, random_expression
from penstock.testing.random_plans import SCANS, random_plan, scans_of
from penstock.testing.random_streams import HORIZON, random_streams

TIMES = range(FIRST, HORIZON + 2)


def test_the_same_seed_gives_the_same_plan_and_streams() -> None:
    for seed in range(20):
        first, second = Random(seed), Random(seed)
        plan = random_plan(first, 4)
        assert plan == random_plan(second, 4)
        assert repr(random_streams(first, SCANS)) == repr(random_streams(second, SCANS))


def test_all_kinds_of_nodes_occur() -> None:
    nodes = [node for seed in range(600) for node in random_plan(Random(seed), 3).walk()]
    assert {type(node) for node in nodes} == set(p.OPERATORS)
    assert {node.kind for node in nodes if isinstance(node, p.Join)} == set(p.JOIN_KINDS)
    assert {node.kind for node in nodes if isinstance(node, p.SetOperation)} == set(p.SET_KINDS)
    assert {node.kind for node in nodes if isinstance(node, p.Rank)} == set(p.RANK_KINDS)


def test_all_simple_functions_occur() -> None:
    found: set[str] = set()
    for seed in range(300):
        rng = Random(seed)
        expression = random_expression(rng, rng.choice(SCANS).schema, rng.choice(TYPES))
        assert ex.is_simple(expression)
        found |= functions(expression)
    assert found == set(ex.SIMPLE)


def functions(expression: ex.Expr) -> set[str]:
    match expression:
        case ex.Call(function, args):
            return {function}.union(*map(functions, args))
    return set()


def test_snapshots_are_never_negative() -> None:
    for seed in range(200):
        reference = Reference(random_streams(Random(seed), SCANS))
        for scan in SCANS:
            assert all(n > 0 for t in TIMES for n in reference.at(scan, t).values())


def test_streams_have_elements_of_all_forms() -> None:
    forms: Counter[tuple[bool, bool, bool]] = Counter()
    for seed in range(100):
        for scan in SCANS:
            for _, _, te, n in random_streams(Random(seed), [scan])[scan.name]:
                forms[scan.append_only, te == INF, n > 0] += 1
    changing = {(False, ends, positive) for ends in (False, True) for positive in (False, True)}
    assert set(forms) == {(True, True, True), *changing}


def test_what_has_to_grow_grows() -> None:
    for seed in range(150):
        rng = Random(seed)
        plan = random_plan(rng, 4)
        reference = Reference(random_streams(rng, scans_of(plan)))
        for node in plan.walk():
            if isinstance(node, p.Window | p.RowWindow | p.Upsert | p.Session):
                for t in TIMES:
                    before, after = reference.at(node.input, t - 1), reference.at(node.input, t)
                    assert before <= after, f"seed {seed}"
