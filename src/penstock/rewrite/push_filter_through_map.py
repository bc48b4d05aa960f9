from __future__ import annotations

from penstock.algebra.expr import Expr, columns
from penstock.algebra.plan import Filter, Map, Node
from penstock.rewrite.conditions import filtered, parted
from penstock.rewrite.inlining import inlined, is_expensive


def push_filter_through_map(node: Node) -> Node | None:
    """filter_p(map_f(S)) = map_f(filter_(p of f)(S)), for parts p that read no expensive output.

    Such an output would be computed twice, by the filter and by the map.
    """
    match node:
        case Filter(Map(source, outputs), predicate):
            by_name = dict(outputs)

            def movable(part: Expr) -> bool:
                expensive = any(is_expensive(by_name[name]) for name in columns(part))
                return not expensive and inlined(part, by_name) is not None

            inside, outside = parted(predicate, movable)
            if inside:
                below = (part for p in inside if (part := inlined(p, by_name)) is not None)
                return filtered(Map(filtered(source, below), outputs), outside)
    return None
