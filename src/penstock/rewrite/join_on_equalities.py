from __future__ import annotations

from dataclasses import replace

from penstock.algebra.expr import Call, Column, Expr, conjunction, conjuncts
from penstock.algebra.plan import Equality, Join, Node


def join_on_equalities(node: Node) -> Node | None:
    """S1 join_(a = b and q) S2 = S1 join_q S2 on a = b, where a is of S1, b of S2; of any kind.

    The same for `a <=> b`, where NULL equals NULL. Two records are partners where all of `on` and
    `where` is true, so a condition may be in either; by `on` the engine finds partners by hash.
    """
    match node:
        case Join(where=condition) if condition is not None:
            parts = conjuncts(condition)
            found = {part: _equality(node, part) for part in parts}
            rest = tuple(part for part in parts if found[part] is None)
            if len(rest) < len(parts):
                on = dict.fromkeys((*node.on, *filter(None, found.values())))
                return replace(node, on=tuple(on), where=conjunction(rest) if rest else None)
    return None


def _equality(join: Join, part: Expr) -> Equality | None:
    match part:
        case Call("=" | "<=>" as operator, (Column(a, kind), Column(b, other))) if kind == other:
            left, right = join.left.schema.names, join.right.schema.names
            if a in left and b in right:
                return Equality(a, b, operator == "<=>")
            if b in left and a in right:
                return Equality(b, a, operator == "<=>")
    return None
