"""Errors look like Spark's, and survive the way from a worker to the driver."""

import pickle
from pathlib import Path

import pytest
from pyspark.errors import PySparkException

from penstock import errors
from penstock.errors import PenstockError, PlanError, SqlContext, StateError

LEAVES = PenstockError.__subclasses__()


def test_tells_condition_sqlstate_and_place() -> None:
    sql = "SELECT a,\n       b + 1\nFROM s"
    place = SqlContext(sql, start=sql.index("b + 1"), end=sql.index("\nFROM"), view="hot")
    error = PlanError("There is no column `b`; `s` has `a`.", context=place)

    assert isinstance(error, PySparkException)
    assert error.getCondition() == "INVALID_PLAN"
    assert error.getSqlState() == "42000"
    assert error.getQueryContext()[0].fragment() == "b + 1"
    assert str(error) == (
        "[INVALID_PLAN] There is no column `b`; `s` has `a`. SQLSTATE: 42000\n"
        "== SQL of VIEW hot (line 2, position 8) ==\n"
        "       b + 1\n"
        "       ^^^^^"
    )


def test_underlines_only_the_first_line_of_a_fragment() -> None:
    assert SqlContext("a\n+ b", start=0, end=5).summary().endswith("\na\n^")


def test_points_past_the_end_of_the_text() -> None:
    assert SqlContext("SELECT\n", start=7, end=7).summary().endswith("(line 2, position 1) ==\n\n^")


def test_a_state_error_names_its_file() -> None:
    error = StateError("state/log/7", "ends after 3 of 12 bytes")
    assert error.path == Path("state/log/7")
    assert "state/log/7: ends after 3 of 12 bytes" in str(error)


@pytest.mark.parametrize(
    "error",
    [
        PlanError("no", context=SqlContext("SELECT 1", 0, 6)),
        StateError(Path("log/7"), "empty"),
        errors.LateRowError("late"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_survives_pickling(error: PenstockError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert copy.getQueryContext() == error.getQueryContext()


def test_conditions_are_distinct_and_the_docstring_lists_every_class() -> None:
    assert len({leaf.condition for leaf in LEAVES}) == len(LEAVES)
    assert all(len(leaf.sqlstate) == 5 for leaf in LEAVES)
    assert errors.__doc__ is not None
    assert all(f"── {leaf.__name__} " in errors.__doc__ for leaf in LEAVES)
