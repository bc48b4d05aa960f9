from __future__ import annotations

from dataclasses import dataclass

from penstock.algebra.operators.node import OneInput
from penstock.kinds import kind


@kind("split")
@dataclass(frozen=True)
class Split(OneInput):
    """The same snapshots in shorter elements: finite validities are cut into pieces of `size`."""

    size: int

    def __post_init__(self) -> None:
        self.require(self.size > 0, f"the size must be positive, not {self.size}")
