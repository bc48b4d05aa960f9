"""Every operator says all that is asked of it, and no analysis has a way out for those left out."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import penstock
from penstock.algebra.operators.node import Node, OneInput
from penstock.algebra.plan import OPERATORS, Filter, Scan, for_each_operator

PACKAGE = Path(penstock.__file__).parent
NAMES = {operator.__name__ for operator in OPERATORS}

SHAPES = {
    "memory/blocks.py: _closes": "the three operators of a block that time can close",
    "memory/operators.py: _session_below": "sessions below filters and maps, or none",
    "memory/products.py: product_of": "a product, or NoProductError",
    "memory/summaries.py: summaries_of": "a product under DISTINCT, or no summary",
    "physical/lower.py: _from": "groups that start by themselves, or not",
    "rewrite/bound_rank.py: bound_rank": "one rule",
    "rewrite/prune_columns.py: _pruned": "one rule: where leaving out columns begins",
    "sharing/views.py: _is_block": "what is looked for among views",
    "sharing/views.py: _keeping": "a guess at costs",
    "sharing/views.py: _with_rest": "what answers from views are made of",
    "sharing/matching.py: _linear": "conditions and columns of a part of a union, or none",
    "sharing/matching.py: _parts": "a union below filters and maps, or none",
}
"""Where code looks for a shape of plans, and what it does with all others."""


def described(operator: type[Node]) -> dict[str, Any]:
    return {name: getattr(operator, name) for name in Node.properties()}


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.__name__)
def test_an_operator_has_a_file_of_its_name_and_says_what_it_does(operator: type[Node]) -> None:
    name = re.sub(r"(?<!^)(?=[A-Z])", "_", operator.__name__).lower()
    assert operator.__module__ == f"penstock.algebra.operators.{name}"
    assert operator.__doc__
    for value in described(operator).values():
        assert not getattr(value, "__isabstractmethod__", False)


@pytest.mark.parametrize("name", Node.properties())
def test_an_operator_that_leaves_out_what_is_asked_cannot_be_defined(name: str) -> None:
    said = {other: value for other, value in described(Filter).items() if other != name}
    with pytest.raises(TypeError, match=f"the operator Forgetful does not say its {name};"):
        type("Forgetful", (Node,), said)
    assert getattr(Node, name).__doc__


def test_what_is_asked_of_operators_is_never_answered_for_them() -> None:
    """But for the schema of those whose records are their input's."""
    assert {*Node.properties()} & {*vars(OneInput)} == {"schema"}


def test_what_only_others_are_made_from_is_no_operator() -> None:
    assert len(OPERATORS) == 19
    classes = [*Node.__subclasses__(), *OneInput.__subclasses__()]
    ours = {each for each in classes if each.__module__.startswith("penstock.")}
    assert {each.__name__ for each in ours - {*OPERATORS}} == {"OneInput", "SameSnapshots"}


def test_an_analysis_without_a_case_for_an_operator_cannot_be_made() -> None:
    others = tuple(operator for operator in OPERATORS if operator is not Filter)
    with pytest.raises(TypeError, match="it leaves out Filter"):
        for_each_operator(("case", others))
    with pytest.raises(TypeError, match="it has one twice"):
        for_each_operator(("case", OPERATORS), ("another", (Scan,)))
    assert for_each_operator(("case", OPERATORS))[Scan] == "case"


def operators_in(node: ast.AST) -> set[str]:
    """The operators that a pattern or a test of a class names."""
    named = (n.attr if isinstance(n, ast.Attribute) else n.id for n in _names(node))
    return NAMES.intersection(named)


def _names(node: ast.AST) -> Iterator[ast.Attribute | ast.Name]:
    yield from (n for n in ast.walk(node) if isinstance(n, ast.Attribute | ast.Name))


def branches(function: ast.FunctionDef) -> Iterator[set[str]]:
    """The operators of each `match`, and of the tests of classes of a function together."""
    tests: set[str] = set()
    tuples = {
        n.targets[0].id: n.value
        for n in ast.walk(function)
        if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name)
    }
    for node in ast.walk(function):
        if isinstance(node, ast.Match):
            yield set().union(*(operators_in(c) for case in node.cases for c in _classes(case)))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance":
            tested = node.args[1]
            given = tuples.get(tested.id) if isinstance(tested, ast.Name) else None
            tests |= operators_in(given or tested)
    yield tests


def _classes(case: ast.match_case) -> Iterator[ast.expr]:
    yield from (n.cls for n in ast.walk(case.pattern) if isinstance(n, ast.MatchClass))


def imports_operators(tree: ast.Module) -> bool:
    found = [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
    wanted = ("penstock.algebra.plan", "penstock.algebra.operators")
    return any(
        (n.module or "").startswith(wanted) or any(a.name == "plan" for a in n.names) for n in found
    )


def test_no_analysis_has_a_branch_for_each_operator() -> None:
    """Whoever needs to know three operators or more asks them, or has a case for each of all."""
    found = set()
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        place = path.relative_to(PACKAGE).as_posix()
        if place.startswith("testing/") or not imports_operators(tree):
            continue
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef) and max(map(len, branches(function))) > 2:
                found.add(f"{place}: {function.name}")
    assert found == {*SHAPES}
