from __future__ import annotations

from dataclasses import dataclass

from penstock.algebra.operators.same_snapshots import SameSnapshots
from penstock.kinds import kind


@kind("split")
@dataclass(frozen=True)
class Split(SameSnapshots):
    """The same snapshots in shorter elements: finite validities are cut into pieces of `size`."""

    size: int

    def __post_init__(self) -> None:
        self.require(self.size > 0, f"the size must be positive, not {self.size}")

    def describe(self) -> str:
        return f"split {self.size}"
