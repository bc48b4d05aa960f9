"""What is the same runs once."""

import math

import pyarrow as pa
import pytest

from penstock.algebra import codec
from penstock.algebra.aggregates import AggregateCall
from penstock.algebra.calendar import DAY
from penstock.algebra.expr import Column, Literal
from penstock.algebra.plan import Aggregate, Distinct, Map, Node, Scan, Session, Window
from penstock.physical.lower import Graph
from penstock.physical.program import Compiler, Program
from penstock.physical.subplan import asks_for_the_past

SCAN = Scan("s", pa.schema([("a", pa.int64())]))


@pytest.mark.parametrize("value", [1.5, math.nan, -0.0])
def test_equal_plans_that_were_read_from_a_log_share_their_operators(value: float) -> None:
    outputs = (("a", Column("a", pa.int64())), ("x", Literal(value, pa.float64())))
    written = codec.encode(Distinct(Map(SCAN, outputs)))
    program = _compiled(codec.decode(written), codec.decode(written))
    assert len(program.places) == len(program.input_buffers) == 1


def test_zeros_of_different_sign_do_not() -> None:
    plans = [Distinct(Map(SCAN, (("x", Literal(zero, pa.float64())),))) for zero in (0.0, -0.0)]
    assert len(_compiled(*plans).places) == 2


def test_groups_stay_where_some_of_their_keys_brought_the_rows() -> None:
    """A session's rows are together by its partition; so are its groups, which have a start too."""
    rows = Scan("s", pa.schema([("a", pa.int64()), ("b", pa.int64())]))
    sessions = Session(rows, ("a",), 10, "start")
    count = (AggregateCall("count", (), "n"),)
    program = _compiled(Aggregate(sessions, ("a", "start"), count))
    groups = program.places[-1].operator.kernel
    assert groups is not None
    assert {state_table.owner for state_table in groups.state_tables} == {("a",)}
    assert program.stages == _compiled(sessions).stages
    assert _compiled(Aggregate(sessions, ("b", "start"), count)).stages == program.stages + 1


@pytest.mark.parametrize("zone", ["UTC", "Europe/Paris"])
def test_a_window_asks_when_rows_came_whatever_the_zone_of_its_days(zone: str) -> None:
    log = Scan("s", pa.schema([("a", pa.int64()), ("at", pa.int64())]), True, "at")
    root = Graph().lower(Window(log, "fixed", DAY, zone))
    (given,) = root.inputs
    assert asks_for_the_past(root, {given.identity: "given"})
    assert not asks_for_the_past(root, {root.identity: "given"})


def _compiled(*plans: Node) -> Program:
    compiler = Compiler(Graph())
    for i, plan in enumerate(plans):
        compiler.add(f"v{i}", plan)
    return compiler.program()
