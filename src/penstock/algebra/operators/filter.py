from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from penstock.algebra.expr import Expr
from penstock.algebra.operators.node import OneInput
from penstock.kinds import kind


@kind("filter")
@dataclass(frozen=True)
class Filter(OneInput):
    """The records for which the predicate is true."""

    predicate: Expr

    def __post_init__(self) -> None:
        self.require_expr(self.predicate, self.input.schema, pa.bool_())
