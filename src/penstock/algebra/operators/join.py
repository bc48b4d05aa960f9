from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import pyarrow as pa

from penstock.algebra.expr import Expr
from penstock.algebra.operators.node import Node
from penstock.kinds import kind

JoinKind: TypeAlias = Literal["inner", "left", "right", "full", "semi", "anti"]


JOIN_KINDS: tuple[JoinKind, ...] = ("inner", "left", "right", "full", "semi", "anti")


@kind("equality")
@dataclass(frozen=True)
class Equality:
    """`left = right`, or `left <=> right` where NULL equals NULL."""

    left: str
    right: str
    null_safe: bool = False


@kind("join")
@dataclass(frozen=True)
class Join(Node):
    """Pairs of records valid at the same time; without `on` and `where`, the Cartesian product.

    `where` is any further condition on the pair. `keep_left` and `keep_right` say until when a
    record of that side may still meet a new record of the other; they free state and never change
    a result, provided they are true.
    """

    left: Node
    right: Node
    kind: JoinKind = "inner"
    on: tuple[Equality, ...] = ()
    where: Expr | None = None
    keep_left: Expr | None = None
    keep_right: Expr | None = None

    def __post_init__(self) -> None:
        self.require(self.kind in JOIN_KINDS, f"no join kind {self.kind!r}; {JOIN_KINDS}")
        left, right = self.left.schema, self.right.schema
        both = sorted({*left.names}.intersection(right.names))
        self.require(not both, f"both sides have columns {both}; rename one side with Map")
        for equality in self.on:
            self.require_columns((equality.left,), left)
            self.require_columns((equality.right,), right)
            types = left.field(equality.left).type, right.field(equality.right).type
            self.require(types[0] == types[1], f"cannot compare {types[0]} and {types[1]}")
        if self.where is not None:
            self.require_expr(self.where, pa.schema([*left, *right]), pa.bool_())
        for keep, side in ((self.keep_left, left), (self.keep_right, right)):
            if keep is not None:
                self.require_expr(keep, side, pa.int64())

    @cached_property
    def schema(self) -> pa.Schema:
        if self.kind in ("semi", "anti"):
            return self.left.schema
        return pa.schema([*self.left.schema, *self.right.schema])
