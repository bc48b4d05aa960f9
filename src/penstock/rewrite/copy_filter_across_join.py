from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pyarrow as pa

from penstock.algebra import plan as p
from penstock.algebra.expr import Column, Expr, columns, conjuncts, substitute
from penstock.algebra.inlining import is_expensive
from penstock.algebra.positions import renamed
from penstock.rewrite.conditions import filtered
from penstock.rewrite.push_join_condition import DROPS_LEFT, DROPS_RIGHT

_SOME_OF = (
    p.Filter,
    p.Distinct,
    p.Group,
    p.Window,
    p.RowWindow,
    p.Upsert,
    p.Session,
    p.Rank,
    p.Coalesce,
    p.Split,
    p.Restrict,
    p.Changes,
    p.Sync,
)
"""Nodes whose records are some of their first input's, perhaps with a column more."""


def copy_filter_across_join(node: p.Node) -> p.Node | None:
    """filter_p(a)(S1) join S2 on a = b = filter_p(a)(S1) join filter_p(b)(S2) on a = b.

    A record of S2 for which p is not true finds no partner, as all of S1 meet p. So it may go where
    `push_join_condition` may drop one; and so the other way round, for conditions on one column.
    Floats are left alone: 0.0 equals -0.0, and functions may tell them apart.
    """
    match node:
        case p.Join(left, right, kind, on) if on:
            exact = [e for e in on if not pa.types.is_floating(left.schema.field(e.left).type)]
            to_right = {e.left: e.right for e in exact}
            to_left = {e.right: e.left for e in exact}
            new_right = list(_copied(left, right, to_right)) if kind in DROPS_RIGHT else []
            new_left = list(_copied(right, left, to_left)) if kind in DROPS_LEFT else []
            if new_left or new_right:
                return replace(
                    node, left=filtered(left, new_left), right=filtered(right, new_right)
                )
    return None


def _copied(source: p.Node, target: p.Node, names: dict[str, str]) -> Iterator[Expr]:
    """The conditions that all of one side meet, for the other side, unless it is known to."""
    by_name: dict[str, Expr] = {
        name: Column(other, target.schema.field(other).type) for name, other in names.items()
    }
    for name in names:
        for condition in met(source, name):
            new = substitute(condition, by_name)
            if not is_expensive(condition) and not meets(target, new):
                yield new


def met(node: p.Node, name: str) -> list[Expr]:
    """Conditions on one column that are true of all records of a node."""
    column = Column(name, node.schema.field(name).type)
    return list(dict.fromkeys(substitute(c, {n: column}) for n, c in _met(node, name)))


def _met(node: p.Node, name: str) -> Iterator[tuple[str, Expr]]:
    """As they are found on the way down to where the column comes from, by its name there."""
    while node.inputs:
        if isinstance(node, p.Filter):
            for condition in conjuncts(node.predicate):
                if columns(condition) == {name}:
                    yield name, condition
        source = node.inputs[0]
        match node:
            case p.Map(_, outputs):
                found = dict(outputs)[name]
                if not isinstance(found, Column):
                    return
                name = found.name
            case p.Join(_, right, "inner") if name in right.schema.names:
                source = right
            case p.Join(kind="inner" | "left" | "semi" | "anti"):
                pass
            case p.Aggregate(_, keys) if name in keys:
                pass
            case _ if not isinstance(node, _SOME_OF):
                return
        if name not in source.schema.names:
            return
        node = source


def meets(node: p.Node, condition: Expr) -> bool:
    """Whether a condition is met, as far as it is known; where it could not be moved to, it is."""
    used = columns(condition)
    match node:
        case p.Scan():
            return False
        case p.Map(source, outputs):
            return meets(source, substitute(condition, dict(outputs)))
        case p.Join(left, right, where=where):
            own = where is not None and condition in conjuncts(where)
            sides = [side for side in (left, right) if used <= set(side.schema.names)]
            return own or any(meets(side, condition) for side in sides)
        case p.Union(parts):
            schema = node.schema
            return all(meets(part, renamed(condition, schema, part.schema)) for part in parts)
        case p.SetOperation(_, left):
            return meets(left, condition)
        case p.Aggregate(source, keys):
            return not used <= set(keys) or meets(source, condition)
        case p.Filter(source, predicate):
            return condition in conjuncts(predicate) or meets(source, condition)
    source = node.inputs[0]
    return not used <= set(source.schema.names) or meets(source, condition)
