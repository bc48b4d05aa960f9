"""A plan without the columns that nothing above it reads.

Columns may go from below an operation that carries them along without looking at them. They must
stay below one whose result depends on whole records: distinct, set operations, row windows and
upserts and row numbers (which break ties by the order of records), changes, and streams of sync
points.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TypeVar

from penstock.algebra import expr
from penstock.algebra import plan as p
from penstock.algebra.expr import Expr


def narrowed(node: p.Node, needed: Iterable[str]) -> p.Node:
    """The node's result with at least the needed columns, in their order, and few others.

    At least one column stays, so that there are records to count.
    """
    names = set(needed) or set(node.schema.names[:1])
    match node:
        case p.Map(source, outputs):
            kept = tuple(output for output in outputs if output[0] in names)
            below = narrowed(source, read(*(e for _, e in kept)))
            return _replaced(node, input=below, outputs=kept)
        case p.Filter(source, condition) | p.Group(source, condition):
            return node.with_inputs(narrowed(source, names | read(condition)))
        case p.Restrict(source, start, end):
            return node.with_inputs(narrowed(source, names | read(start, end)))
        case p.Window(source) | p.Coalesce(source) | p.Split(source):
            return node.with_inputs(narrowed(source, names))
        case p.Sync(source):
            return _replaced(node, input=narrowed(source, names))
        case p.Union(parts):
            kept_at = [i for i, name in enumerate(node.schema.names) if name in names]
            return node.with_inputs(*(only(s, [s.schema.names[i] for i in kept_at]) for s in parts))
        case p.Join():
            return _narrowed_join(node, names)
        case p.Aggregate(source, keys, calls):
            used = tuple(call for call in calls if call.name in names)
            columns = {*keys, *(name for call in used for name in call.columns)}
            return _replaced(node, input=only(source, columns), calls=used)
        case p.Session(source, partition, start=start):
            if start not in names:
                return narrowed(source, names)
            return _replaced(node, input=only(source, {*names, *partition} - {start}))
        case p.Rank(source, limit=None, number=number) if number not in names:
            return narrowed(source, names)
        case p.Rank(source, partition, order, kind=kind, number=number):
            if kind != "row_number":
                ranked = {*partition, *(key.column for key in order)}
                source = only(source, (names | ranked) - {number})
            return _replaced(node, input=source, number=number if number in names else None)
        case p.Changes(time=time) if time not in names:
            return _replaced(node, time=None)
    return node


def only(node: p.Node, needed: Iterable[str]) -> p.Node:
    """The node's result with just the needed columns, in their order; at least one."""
    names = set(needed) or set(node.schema.names[:1])
    result = narrowed(node, names)
    if set(result.schema.names) == names:
        return result
    return p.project(result, [name for name in result.schema.names if name in names])


def read(*expressions: Expr | None) -> set[str]:
    """The columns that any of the expressions reads."""
    return {name for e in expressions if e is not None for name in expr.columns(e)}


def read_by_join(join: p.Join) -> set[str]:
    """The columns of either side that a join's conditions read."""
    keys = {name for equality in join.on for name in (equality.left, equality.right)}
    return keys | read(join.where, join.keep_left, join.keep_right)


T = TypeVar("T", bound=p.Node)


def _replaced(node: T, **values: Any) -> T:
    """The node with other values; the same object where they are its own."""
    if all(getattr(node, name) == value for name, value in values.items()):
        return node
    return replace(node, **values)


def _narrowed_join(join: p.Join, names: set[str]) -> p.Join:
    names = names | read_by_join(join)
    left, right = join.left, join.right
    return _replaced(
        join,
        left=only(left, names.intersection(left.schema.names)),
        right=only(right, names.intersection(right.schema.names)),
    )
