"""Predicates taken apart and put together.

A filter keeps the records for which its predicate is TRUE, and a conjunction is TRUE exactly where
all of its parts are. So a filter by a conjunction is a filter by each part, in any order, also
where parts are NULL. All rules about filters rest on this.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from penstock.algebra import expr
from penstock.algebra.expr import Expr
from penstock.algebra.plan import Filter, Node


def parted(
    predicate: Expr, chosen: Callable[[Expr], bool]
) -> tuple[tuple[Expr, ...], tuple[Expr, ...]]:
    """The conjuncts that were chosen, and the others."""
    parts = expr.conjuncts(predicate)
    return tuple(filter(chosen, parts)), tuple(part for part in parts if not chosen(part))


def reads_only(names: Collection[str]) -> Callable[[Expr], bool]:
    return lambda part: expr.columns(part) <= set(names)


def filtered(node: Node, parts: Iterable[Expr]) -> Node:
    """The node, filtered by the parts if there are any."""
    listed = tuple(parts)
    return Filter(node, expr.conjunction(listed)) if listed else node
