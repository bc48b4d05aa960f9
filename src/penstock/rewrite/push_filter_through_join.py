from __future__ import annotations

from dataclasses import replace

from penstock.algebra.plan import Filter, Join, JoinKind, Node
from penstock.rewrite.conditions import filtered, parted, reads_only

_LEFT: tuple[JoinKind, ...] = ("inner", "left", "semi", "anti")
_RIGHT: tuple[JoinKind, ...] = ("inner", "right")


def push_filter_through_join(node: Node) -> Node | None:
    """filter_p(S1 join S2) = filter_p(S1) join S2, for parts p that read only S1; or S2.

    To the left for inner, left, semi and anti joins, to the right for inner and right joins: there
    every record of the result has a record of that side in it, unpadded, and whether that record
    finds partners does not depend on the other records of its side.
    """
    match node:
        case Filter(Join(left, right, kind) as join, predicate):
            to_left, rest = parted(
                predicate, lambda part: kind in _LEFT and reads_only(left.schema.names)(part)
            )
            to_right = tuple(
                part for part in rest if kind in _RIGHT and reads_only(right.schema.names)(part)
            )
            if to_left or to_right:
                below = replace(join, left=filtered(left, to_left), right=filtered(right, to_right))
                return filtered(below, (part for part in rest if part not in to_right))
    return None
