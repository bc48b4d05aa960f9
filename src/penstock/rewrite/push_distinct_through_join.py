from __future__ import annotations

from dataclasses import replace

from penstock.algebra.plan import Distinct, Join, Node


def push_distinct_through_join(node: Node) -> Node | None:
    """distinct(S1 join S2) = distinct(S1) join distinct(S2), for all kinds but full joins.

    The multiplicity of a pair (a, b) is [p(a, b)] * m1(a) * m2(b), for any condition p, be it TRUE
    (the product) or equalities. It is positive exactly where p(a, b), m1(a) > 0 and m2(b) > 0: so
    distinct makes of it [p(a, b)] * [m1(a) > 0] * [m2(b) > 0], the multiplicity on the right hand
    side. Whether a record has a partner depends on which records there are, not on how many; so a
    padded or kept record a has multiplicity m1(a) on the left and [m1(a) > 0] on the right, and
    equals no pair, as it has no partner. Semi and anti joins need no distinct on the right.

    In a full join a record of NULLs padded on the right equals one padded on the left: distinct
    makes one of the two, and the right hand side would not. When a pair changes no more says
    nothing of either side, so a distinct that lets go of pairs stays.
    """
    match node:
        case Distinct(Join(left, right, kind) as join, None) if kind != "full":
            counted = kind not in ("semi", "anti")
            return replace(
                join,
                left=_distinct(left),
                right=_distinct(right) if counted else right,
            )
    return None


def _distinct(node: Node) -> Node:
    return node if node.is_set() else Distinct(node)
