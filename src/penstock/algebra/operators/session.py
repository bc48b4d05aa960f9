from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from penstock.algebra.operators.node import Node
from penstock.kinds import kind


@kind("session")
@dataclass(frozen=True)
class Session(Node):
    """Adds to each record of an append-only stream the time at which its session began.

    A record more than `gap` after the last one of its partition begins a new session.
    """

    input: Node
    partition: tuple[str, ...]
    gap: int
    start: str = "session_start"

    def __post_init__(self) -> None:
        self.require(self.gap > 0, f"the gap must be positive, not {self.gap}")
        self.require_columns(self.partition, self.input.schema)
        self.require(self.start not in self.input.schema.names, f"{self.start!r} exists already")

    @cached_property
    def schema(self) -> pa.Schema:
        return self.input.schema.append(pa.field(self.start, pa.int64()))
