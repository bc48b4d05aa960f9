from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from penstock.algebra import expr
from penstock.algebra.expr import Expr
from penstock.algebra.operators.node import Node
from penstock.kinds import kind


@kind("map")
@dataclass(frozen=True)
class Map(Node):
    """A new record computed from each record."""

    input: Node
    outputs: tuple[tuple[str, Expr], ...]

    def __post_init__(self) -> None:
        names = [name for name, _ in self.outputs]
        self.require(len(set(names)) == len(names), f"columns are named twice in {names}")
        for _, expression in self.outputs:
            expr.check_columns(expression, self.input.schema, "Map")

    @cached_property
    def schema(self) -> pa.Schema:
        return pa.schema([(name, expression.type) for name, expression in self.outputs])


def project(node: Node, names: tuple[str, ...] | list[str]) -> Map:
    """The Map that keeps just these columns."""
    schema = node.schema
    known = schema.names
    for name in names:
        node.require(name in known, f"no column {name!r} to project")
    return Map(node, tuple((name, expr.Column(name, schema.field(name).type)) for name in names))
