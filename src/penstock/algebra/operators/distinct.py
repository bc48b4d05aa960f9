from __future__ import annotations

from dataclasses import dataclass

from penstock.algebra.expr import Expr
from penstock.algebra.operators.node import OneInput
from penstock.kinds import kind


@kind("distinct")
@dataclass(frozen=True)
class Distinct(OneInput):
    """Every record once.

    `until`, computed from the record, says from when on the input has no more changes of it. It
    frees state and never changes a result, provided it is true; NULL is never.
    """

    until: Expr | None = None

    def __post_init__(self) -> None:
        self.require_until(self.until, self.input.schema, self.input.schema.names)
