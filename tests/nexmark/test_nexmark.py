"""All queries of Nexmark give DuckDB's answers, over a stream that came in batches."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest

from bench.nexmark.answers import database, expected, multiset
from bench.nexmark.generate import Settings, events, write
from bench.nexmark.growing import steps_of
from bench.nexmark.penstock_run import QUERIES, SYNCHRONIZED, define, feed
from penstock.session import connect

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EVENTS = 50_000


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("nexmark")
    write(EVENTS, directory, Settings(rate=500), files=3)
    return directory


@pytest.fixture(scope="module")
def answers(data: Path) -> duckdb.DuckDBPyConnection:
    return database(data)


@pytest.mark.spark
@pytest.mark.parametrize("query", [*QUERIES, *SYNCHRONIZED])
def test_answers_are_those_of_duckdb(
    query: str, data: Path, answers: duckdb.DuckDBPyConnection, spark: SparkSession, tmp_path: Path
) -> None:
    with connect(tmp_path, spark, keep_input=False, unbounded="allow") as db:
        feed(db, define(db, query), data)
        found = multiset(db.view("answer").snapshot().toArrow())
    wanted = expected(answers, query)
    assert wanted
    assert found == wanted


@pytest.mark.spark
def test_steps_that_are_measured_leave_what_they_keep(
    data: Path, spark: SparkSession, tmp_path: Path
) -> None:
    timing = steps_of("q3", data, spark, tmp_path)
    assert len(timing.steps) == 3
    assert sum(timing.steps) <= timing.seconds
    with connect(tmp_path, spark, unbounded="allow") as db:
        kept = [
            state_table.refs
            for name, state_table in db.engine.manifest.state_tables.items()
            if "join" in name
        ]
    assert len(kept) == 2
    assert all(kept)


def test_events_do_not_depend_on_how_they_are_cut() -> None:
    whole, settings = events(0, 5_000, Settings()), Settings()
    first, second = events(0, 1_234, settings), events(1_234, 5_000, settings)
    for kind, table in whole.items():
        assert table.to_pylist() == first[kind].to_pylist() + second[kind].to_pylist()


def test_kinds_come_in_their_proportions() -> None:
    made = events(0, 50_000, Settings())
    assert {kind: table.num_rows for kind, table in made.items()} == {
        "person": 1_000,
        "auction": 3_000,
        "bid": 46_000,
    }
