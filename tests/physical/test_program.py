"""What is the same runs once."""

import math

import pyarrow as pa
import pytest

from penstock.algebra import codec
from penstock.algebra.expr import Column, Literal
from penstock.algebra.plan import Distinct, Map, Scan
from penstock.physical.program import compile_views

SCAN = Scan("s", pa.schema([("a", pa.int64())]))


@pytest.mark.parametrize("value", [1.5, math.nan, -0.0])
def test_equal_plans_that_were_read_from_a_log_share_their_operators(value: float) -> None:
    outputs = (("a", Column("a", pa.int64())), ("x", Literal(value, pa.float64())))
    written = codec.encode(Distinct(Map(SCAN, outputs)))
    program = compile_views({"v": codec.decode(written), "w": codec.decode(written)})
    assert len(program.places) == len(program.lanes) == 1


def test_zeros_of_different_sign_do_not() -> None:
    plans = [Distinct(Map(SCAN, (("x", Literal(zero, pa.float64())),))) for zero in (0.0, -0.0)]
    assert len(compile_views({"v": plans[0], "w": plans[1]}).places) == 2
