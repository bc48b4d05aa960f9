"""What each rule does, by example."""

from __future__ import annotations

from textwrap import dedent

import pytest

from penstock.algebra.outline import outline
from penstock.algebra.plan import Node
from penstock.rewrite import RULES, commute, reassociate
from tests.rewrite.fixtures.filters import FILTERS
from tests.rewrite.fixtures.joins import JOINS
from tests.rewrite.fixtures.maps import MAPS
from tests.rewrite.fixtures.sets import SETS

FIXTURES = [*FILTERS, *JOINS, *SETS, *MAPS]
BY_NAME = {rule.__name__: rule for rule in (*RULES, commute, reassociate)}


@pytest.mark.parametrize(
    ("name", "before", "after"),
    FIXTURES,
    ids=[f"{name}-{i}" for i, (name, _, _) in enumerate(FIXTURES)],
)
def test_fixture(name: str, before: Node, after: str | None) -> None:
    found = BY_NAME[name](before)
    assert (None if found is None else outline(found)) == (
        None if after is None else dedent(after).strip()
    )


def test_every_rule_has_a_fixture() -> None:
    assert {name for name, _, after in FIXTURES if after is not None} == set(BY_NAME)
