from __future__ import annotations

from dataclasses import replace

from penstock.algebra.expr import conjunction
from penstock.algebra.plan import Join, JoinKind, Node
from penstock.rewrite.conditions import filtered, parted, reads_only

DROPS_LEFT: tuple[JoinKind, ...] = ("inner", "right", "semi")
DROPS_RIGHT: tuple[JoinKind, ...] = ("inner", "left", "semi", "anti")


def push_join_condition(node: Node) -> Node | None:
    """S1 join_(p and q) S2 = filter_p(S1) join_q S2, where p reads only S1; or S2.

    A record for which p is not true finds no partner. So it may go from the left of inner, right
    and semi joins, and from the right of inner, left, semi and anti joins, which show a record of
    that side only with a partner. The others show it just because it has none.
    """
    match node:
        case Join(left, right, kind, where=condition) if condition is not None:
            to_left, rest = parted(
                condition, lambda part: kind in DROPS_LEFT and reads_only(left.schema.names)(part)
            )
            to_right = tuple(
                part
                for part in rest
                if kind in DROPS_RIGHT and reads_only(right.schema.names)(part)
            )
            rest = tuple(part for part in rest if part not in to_right)
            if to_left or to_right:
                return replace(
                    node,
                    left=filtered(left, to_left),
                    right=filtered(right, to_right),
                    where=conjunction(rest) if rest else None,
                )
    return None
