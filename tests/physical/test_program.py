"""What is the same runs once."""

import math

import pyarrow as pa
import pytest

from penstock.algebra import codec
from penstock.algebra.expr import Column, Literal
from penstock.algebra.plan import Distinct, Map, Node, Scan
from penstock.physical.lower import Graph
from penstock.physical.program import Compiler, Program

SCAN = Scan("s", pa.schema([("a", pa.int64())]))


@pytest.mark.parametrize("value", [1.5, math.nan, -0.0])
def test_equal_plans_that_were_read_from_a_log_share_their_operators(value: float) -> None:
    outputs = (("a", Column("a", pa.int64())), ("x", Literal(value, pa.float64())))
    written = codec.encode(Distinct(Map(SCAN, outputs)))
    program = _compiled(codec.decode(written), codec.decode(written))
    assert len(program.places) == len(program.lanes) == 1


def test_zeros_of_different_sign_do_not() -> None:
    plans = [Distinct(Map(SCAN, (("x", Literal(zero, pa.float64())),))) for zero in (0.0, -0.0)]
    assert len(_compiled(*plans).places) == 2


def _compiled(*plans: Node) -> Program:
    compiler = Compiler(Graph())
    for i, plan in enumerate(plans):
        compiler.add(f"v{i}", plan)
    return compiler.program()
