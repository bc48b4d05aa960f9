"""`penstock show`: a state directory, read without Spark and beside its writer."""

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner, Result

from penstock.algebra.aggregates import AggregateCall
from penstock.algebra.plan import Aggregate, Window
from penstock.cli.main import main
from penstock.runtime.options import Options
from penstock.testing.local_session import local_session

TEMPS = pa.schema([("room", pa.string()), ("temp", pa.int64()), ("t", pa.int64())])


@pytest.fixture
def state(tmp_path: Path) -> Iterator[Path]:
    """A directory whose writer is at work."""
    with local_session(tmp_path / "state", Options(tasks=2)) as db:
        db.create_source("temps", TEMPS, time="t")
        recent = Window(db.scan("temps"), "sliding", 10)
        call = AggregateCall("max", ("temp",), "hottest")
        db.create_view("hottest", Aggregate(recent, ("room",), (call,)), key=("room",))
        db.source("temps").append([("a", 80, 0), ("b", 70, 1), ("a", 90, 5), ("b", 60, 12)])
        db.step()
        yield tmp_path / "state"


def show(*words: str | Path) -> Result:
    return CliRunner().invoke(main, ["show", *map(str, words)])


def test_a_directory(state: Path) -> None:
    shown = show(state)
    assert shown.exit_code == 0
    assert "complete before 12" in shown.output
    lines = [line.split() for line in shown.output.splitlines()]
    assert ["hottest", "room,", "hottest", "room", "1", "3"] in lines


def test_a_directory_as_json(state: Path) -> None:
    found = json.loads(show(state, "--json").output)
    assert found["frontier"] == "12"
    assert found["sources"] == [
        {"name": "temps", "kind": "source", "rows": 4, "late": 0, "complete before": "12"}
    ]
    assert [view["name"] for view in found["views"]] == ["hottest"]


def test_a_view_now_and_before(state: Path) -> None:
    assert json.loads(show(state, "hottest", "--json").output)["rows"] == [
        {"room": "a", "hottest": 90}
    ]
    then = json.loads(show(state, "hottest", "--at", "4", "--json").output)
    assert then["rows"] == [{"room": "a", "hottest": 80}, {"room": "b", "hottest": 70}]


def test_a_view_that_is_not_there(state: Path) -> None:
    shown = show(state, "coldest")
    assert shown.exit_code == 3
    assert "no view 'coldest'; there are: hottest" in shown.output


def test_a_time_that_is_not_complete(state: Path) -> None:
    shown = show(state, "hottest", "--at", "40")
    assert shown.exit_code == 3
    assert "time 40 is not complete yet; everything before 12 is" in shown.output


def test_a_directory_of_something_else(tmp_path: Path) -> None:
    shown = show(tmp_path)
    assert shown.exit_code == 2
    assert "is not a state directory" in shown.output


def test_a_directory_that_is_not_there(tmp_path: Path) -> None:
    shown = show(tmp_path / "nowhere")
    assert shown.exit_code == 2
    assert "does not exist" in shown.output


def test_a_time_without_a_view(state: Path) -> None:
    assert show(state, "--at", "4").exit_code == 2
