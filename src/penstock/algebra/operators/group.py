from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from penstock.algebra.expr import Expr
from penstock.algebra.operators.node import OneInput
from penstock.kinds import kind


@kind("group")
@dataclass(frozen=True)
class Group(OneInput):
    """The j-th stream of the paper's grouping: the records that `function` assigns to `index`."""

    function: Expr
    index: int

    def __post_init__(self) -> None:
        self.require_expr(self.function, self.input.schema, pa.int64())
