from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import pyarrow as pa

from penstock.algebra import expr
from penstock.algebra.arrival import FIELD
from penstock.algebra.cardinality import Bound, Cardinalities
from penstock.algebra.closing import Kind, Known, inverse
from penstock.algebra.expr import Column, Expr, columns, read
from penstock.algebra.inlining import inlined, is_expensive
from penstock.algebra.monotone import monotone
from penstock.algebra.operators.node import Node, Offsets, Outputs
from penstock.algebra.reference import Reference, Relation, function_of, summed
from penstock.algebra.times import least_offset, most_offset, shifted
from penstock.kinds import kind


@kind("map")
@dataclass(frozen=True)
class Map(Node):
    """A new record computed from each record."""

    input: Node
    outputs: Outputs

    def __post_init__(self) -> None:
        names = [name for name, _ in self.outputs]
        self.require(len(set(names)) == len(names), f"columns are named twice in {names}")
        for _, expression in self.outputs:
            expr.check_columns(expression, self.input.schema, "Map")

    @cached_property
    def schema(self) -> pa.Schema:
        return pa.schema([(name, expression.type) for name, expression in self.outputs])

    def describe(self) -> str:
        return f"map {', '.join(n if str(e) == n else f'{n}={e}' for n, e in self.outputs)}"

    def unique_key(self) -> tuple[str, ...] | None:
        key = self.input.unique_key()
        names = {e.name: name for name, e in reversed(self.outputs) if isinstance(e, expr.Column)}
        if key is None or not all(name in names for name in key):
            return None
        return tuple(names[name] for name in key)

    def is_set(self) -> bool:
        return False

    def is_append_only(self) -> bool:
        return self.input.is_append_only()

    def time_column(self) -> str | None:
        below = self.input.time_column()
        names = [n for n, e in self.outputs if isinstance(e, expr.Column) and e.name == below]
        return names[0] if below is not None and names else None

    def sequenced(self) -> Node | None:
        below = self.input.sequenced()
        number = (FIELD.name, expr.Column(FIELD.name, FIELD.type))
        return None if below is None else Map(below, (*self.outputs, number))

    def snapshot(self, reference: Reference, t: int) -> Relation:
        """Equation 2."""
        functions = [function_of(expression, self.input.schema) for _, expression in self.outputs]
        rows = reference.at(self.input, t).items()
        return summed((tuple([f(e) for f in functions]), n) for e, n in rows)

    def passes_filter(self, condition: Expr) -> tuple[Expr] | None:
        """filter_p(map_f(S)) = map_f(filter_(p of f)(S)), where p reads no expensive output.

        Such an output would be computed twice, by the filter and by the map.
        """
        by_name = dict(self.outputs)
        if any(is_expensive(by_name[name]) for name in columns(condition)):
            return None
        below = inlined(condition, by_name)
        return None if below is None else (below,)

    def passes_map(self, outputs: Outputs) -> None:
        """Neither needs to go below the other: `merge_maps` makes one of them."""
        return None

    def narrow(self, names: set[str]) -> Self:
        kept = tuple(output for output in self.outputs if output[0] in names)
        below = self.input.narrowed(read(*(value for _, value in kept)))
        return self.replaced(input=below, outputs=kept)

    @cached_property
    def progress(self) -> Offsets:
        return self._offsets(self.input.progress, least_offset)

    @cached_property
    def ahead(self) -> Offsets:
        return self._offsets(self.input.ahead, most_offset)

    def _offsets(self, below: Offsets, offset_of: Callable[[Expr, str], int | None]) -> Offsets:
        return {
            name: k + offset
            for name, value in self.outputs
            for column, k in below.items()
            if (offset := offset_of(value, column)) is not None
        }

    def with_closing(self) -> Self:
        return self

    def closes(self, known: Known, kind: Kind) -> Expr | None:
        return self.input.when_closed(self._below(known), kind)

    def _below(self, known: Known) -> Known:
        """What is known of the records that others are computed from."""
        exact: dict[str, Expr] = {}
        upper: dict[str, Expr] = {}
        for name, value in self.outputs:
            if isinstance(value, Column) and name in known.exact:
                exact[value.name] = known.exact[name]
            most = known.most(name)
            for column in columns(value) if most is not None else ():
                offset = least_offset(value, column)
                if offset is not None and most is not None:
                    upper.setdefault(column, shifted(most, "-", offset))
        for name, value in self.outputs:
            found = monotone(value) if name in known.exact else None
            if found is not None and found.column.name not in exact:
                exact[found.column.name] = inverse(known.exact[name], value, found.column)
        return Known(exact, upper)

    def cardinality(self, known: Cardinalities) -> Bound | None:
        return known.of(self.input)

    def let_go(self) -> tuple[()]:
        return ()

    def lineage(self, column: str) -> tuple[Node, str] | None:
        value = dict(self.outputs)[column]
        return (self.input, value.name) if isinstance(value, expr.Column) else None


def project(node: Node, names: tuple[str, ...] | list[str]) -> Map:
    """The Map that keeps just these columns."""
    schema = node.schema
    known = schema.names
    for name in names:
        node.require(name in known, f"no column {name!r} to project")
    return Map(node, tuple((name, expr.Column(name, schema.field(name).type)) for name in names))


def only(node: Node, needed: Iterable[str]) -> Node:
    """The node's result with just the needed columns, in their order; at least one."""
    names = set(needed) or set(node.schema.names[:1])
    result = node.narrowed(names)
    if set(result.schema.names) == names:
        return result
    return project(result, [name for name in result.schema.names if name in names])
