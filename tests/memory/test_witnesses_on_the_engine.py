"""Witnesses on the engine: state grows with every row of one, unless the query is bounded."""

from __future__ import annotations

import pytest

from penstock.errors import PlanError
from penstock.testing.witnessing import rows_kept, witness_of
from tests.memory.verdict_cases import SOURCES

PAPER = {name: SOURCES[name] for name in ("s", "t")}
Q5 = "SELECT DISTINCT a FROM s JOIN t ON b < d AND c < e WHERE a = 10"
Q6 = "SELECT DISTINCT a FROM s JOIN t ON b < d AND c < e AND b < e AND c < d WHERE a = 10"

UNBOUNDED = {
    "Q1": "SELECT DISTINCT a FROM s WHERE a > 10",
    "Q2": "SELECT a FROM s JOIN t ON a = d",
    "Q4": "SELECT a FROM s JOIN t ON b < d WHERE a = 10",
    "Q5": Q5,
    "groups": "SELECT b, count(*) FROM s GROUP BY b",
    "values": "SELECT count(DISTINCT b) FROM s",
    "maximum": "SELECT max(b) FROM s JOIN t ON b < d",
}


@pytest.mark.parametrize("sql", UNBOUNDED.values(), ids=UNBOUNDED)
def test_state_grows_on_the_witness_of_an_unbounded_query(sql: str) -> None:
    items = witness_of(sql, PAPER, 400).items
    for came, kept in rows_kept(sql, PAPER, items):
        assert kept >= 0.9 * came


def test_a_bounded_query_forgets_the_witness_of_its_neighbour() -> None:
    found = witness_of(Q5, PAPER, 400)
    rows = [*found.items, *(row for probe in found.probes for row in probe)]
    assert max(kept for _, kept in rows_kept(Q6, PAPER, rows)) <= 20
    assert rows_kept(Q5, PAPER, rows)[-1][1] >= 0.9 * len(rows)


def test_a_bounded_query_has_no_witness() -> None:
    with pytest.raises(PlanError, match="There is no witness"):
        witness_of(Q6, PAPER, 10)


def test_other_types_have_witnesses() -> None:
    sources = {"bids": SOURCES["bids"], "readings": SOURCES["readings"]}
    for sql in ("SELECT DISTINCT price FROM bids", "SELECT DISTINCT sensor FROM readings"):
        came, kept = rows_kept(sql, sources, witness_of(sql, sources, 100).items)[-1]
        assert kept == came == 100
