from __future__ import annotations

from dataclasses import dataclass

from penstock.algebra.operators.same_snapshots import SameSnapshots
from penstock.kinds import kind


@kind("coalesce")
@dataclass(frozen=True)
class Coalesce(SameSnapshots):
    """The same snapshots in fewer elements: adjoining validities are joined, up to `limit` long."""

    limit: int

    def __post_init__(self) -> None:
        self.require(self.limit > 0, f"the limit must be positive, not {self.limit}")

    def describe(self) -> str:
        return f"coalesce {self.limit}"
