from __future__ import annotations

from penstock.algebra.expr import conjuncts
from penstock.algebra.plan import Filter, Node
from penstock.rewrite.conditions import filtered


def merge_filters(node: Node) -> Node | None:
    """filter_p(filter_q(S)) = filter_(q and p)(S). The inner condition stays the first."""
    match node:
        case Filter(Filter(source, inner), outer):
            return filtered(source, (*conjuncts(inner), *conjuncts(outer)))
    return None
