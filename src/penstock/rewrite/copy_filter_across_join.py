from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa

from penstock.algebra import plan as p
from penstock.algebra.expr import Column, Expr, columns, conjuncts, renamed, substitute
from penstock.algebra.inlining import is_expensive
from penstock.rewrite.conditions import filtered
from penstock.rewrite.push_join_condition import DROPS_LEFT, DROPS_RIGHT


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
    if isinstance(node, p.Filter):
        for condition in conjuncts(node.predicate):
            if columns(condition) == {name}:
                yield name, condition
    below = node.lineage(name)
    if below is not None:
        yield from _met(*below)


def meets(node: p.Node, condition: Expr) -> bool:
    """Whether a condition is met, as far as it is known; where it could not be moved to, it is."""
    return _CASES[type(node)](node, condition)


def _by_none(node: p.Node, condition: Expr) -> bool:
    return False


def _by_filter(node: p.Filter, condition: Expr) -> bool:
    return condition in conjuncts(node.predicate) or meets(node.input, condition)


def _by_map(node: p.Map, condition: Expr) -> bool:
    return meets(node.input, substitute(condition, dict(node.outputs)))


def _by_join(node: p.Join, condition: Expr) -> bool:
    own = node.where is not None and condition in conjuncts(node.where)
    used = columns(condition)
    sides = [side for side in node.inputs if used <= set(side.schema.names)]
    return own or any(meets(side, condition) for side in sides)


def _by_all(node: p.Union, condition: Expr) -> bool:
    schema = node.schema
    return all(meets(part, renamed(condition, schema, part.schema)) for part in node.parts)


def _by_groups(node: p.Aggregate, condition: Expr) -> bool:
    return not columns(condition) <= set(node.keys) or meets(node.input, condition)


def _by_input(node: p.Node, condition: Expr) -> bool:
    source = node.inputs[0]
    return not columns(condition) <= set(source.schema.names) or meets(source, condition)


def _by_left(node: p.SetOperation, condition: Expr) -> bool:
    return meets(node.left, condition)


_CASES: Mapping[type[p.Node], Callable[[Any, Expr], bool]] = p.for_each_operator(
    (_by_none, (p.Scan,)),
    (_by_filter, (p.Filter,)),
    (_by_map, (p.Map,)),
    (_by_join, (p.Join,)),
    (_by_all, (p.Union,)),
    (_by_left, (p.SetOperation,)),
    (_by_groups, (p.Aggregate,)),
    (
        _by_input,
        (
            *(p.Changes, p.Coalesce, p.Distinct, p.Group, p.Rank, p.Restrict, p.RowWindow),
            *(p.Session, p.Split, p.Sync, p.Upsert, p.Window),
        ),
    ),
)
