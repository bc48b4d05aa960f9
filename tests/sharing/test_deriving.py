"""The last multiple of a period is told again from its expression."""

from __future__ import annotations

import pyarrow as pa
import pytest

from penstock.algebra.expr import Column
from penstock.algebra.times import last_multiple, shifted
from penstock.sharing.expression_matching import floor_of

T = Column("t", pa.int64())


@pytest.mark.parametrize("later", [0, 5, -5])
@pytest.mark.parametrize("offset", [0, 3])
def test_period_and_offset_are_found(later: int, offset: int) -> None:
    time = shifted(T, "+", later)
    assert floor_of(last_multiple(time, 10, offset)) == (time, 10, offset)
