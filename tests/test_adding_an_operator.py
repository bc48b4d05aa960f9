"""Adding an operator is mechanical (CONTRIBUTING.md): this fails when one of its parts is missing.

What an operator must say of itself is in `test_operators.py`.
"""

from __future__ import annotations

import ast
import inspect
from functools import cache
from pathlib import Path
from random import Random

import pytest

from penstock.algebra import plan as p
from penstock.algebra.aggregates import FUNCTIONS
from penstock.algebra.outline import outline
from penstock.algebra.reference import Reference
from penstock.physical import kernels
from penstock.physical.lower import Graph
from penstock.testing.random_plans import Plans, random_plan, scans_of
from penstock.testing.random_streams import random_streams
from tests.laws.nodes import NODES

KERNELS = Path(inspect.getfile(kernels)).parent


@cache
def random_nodes() -> list[p.Node]:
    """Every node of many random plans."""
    plans = [random_plan(Random(seed), 4) for seed in range(400)]
    return [node for plan in plans for node in plan.walk()]


@pytest.mark.parametrize("kind", p.OPERATORS, ids=lambda kind: kind.__name__)
def test_random_plans_have_it_the_reference_defines_it_and_the_planner_runs_it(
    kind: type[p.Node],
) -> None:
    examples = [node for node in random_nodes() if type(node) is kind]
    assert examples, f"random plans have no {kind.__name__}: add it to penstock.testing"
    for node in examples[:5]:
        Reference(random_streams(Random(1), scans_of(node))).at(node, 3)
        Graph().lower(node)
        assert outline(node)


def test_every_node_is_in_the_law_tests() -> None:
    covered = {type(make(Plans(Random(1)))) for make in NODES.values()}
    assert {*p.OPERATORS} - covered == {p.Scan}, "add a maker to tests/laws/nodes.py"


@pytest.mark.parametrize(
    ("kind", "attribute", "values"),
    [
        (p.Join, "kind", p.JOIN_KINDS),
        (p.SetOperation, "kind", p.SET_KINDS),
        (p.Rank, "kind", p.RANK_KINDS),
        (p.Changes, "kind", p.CHANGE_KINDS),
        (p.Window, "kind", ("sliding", "fixed")),
    ],
)
def test_random_plans_have_every_kind_of_it(
    kind: type[p.Node], attribute: str, values: tuple[str, ...]
) -> None:
    found = {getattr(node, attribute) for node in random_nodes() if type(node) is kind}
    assert found == {*values}


def test_random_plans_have_every_aggregate_function() -> None:
    aggregates = [node for node in random_nodes() if isinstance(node, p.Aggregate)]
    assert {call.function for node in aggregates for call in node.calls} == {*FUNCTIONS}


def kernel_files() -> list[Path]:
    """The files with a class that takes steps."""
    return [
        path
        for path in sorted(KERNELS.glob("*.py"))
        if any(
            isinstance(node, ast.FunctionDef) and node.name == "step"
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
        )
    ]


@pytest.mark.parametrize("path", kernel_files(), ids=lambda path: path.stem)
def test_a_kernel_says_what_it_means_keeps_and_costs(path: Path) -> None:
    said = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    missing = [word for word in ("Meaning", "Law", "State", "Cost") if f"\n{word}: " not in said]
    assert not missing, f"{path.name} does not say its {missing}"
