from __future__ import annotations

from penstock.algebra.expr import Expr, conjunction, conjuncts
from penstock.algebra.plan import Equality, Join, Node
from penstock.rewrite.conditions import reads_only


def reassociate(node: Node) -> Node | None:
    """(S1 join_p S2) join_q S3 = S1 join_r (S2 join_s S3), for inner joins; products if all TRUE.

    A triple has the product of the three multiplicities where p and q hold; s takes the parts of
    them that do not read S1, and r the rest. Joins that say until when to keep records stay as
    they are: what is known of a pair of streams says nothing of another pair. It is not one of
    RULES, as no one shape is best; the ordering of joins uses it.
    """
    match node:
        case Join(Join(first, second, "inner") as pair, third, "inner") if not (
            _keeps(node) or _keeps(pair)
        ):
            names = second.schema.names
            with_second = tuple(on for on in node.on if on.left in names)
            with_first = tuple(on for on in node.on if on.left not in names)
            parts = (*_parts(pair.where), *_parts(node.where))
            inside = reads_only([*names, *third.schema.names])
            inner = _joined(second, third, with_second, [part for part in parts if inside(part)])
            outer = [part for part in parts if not inside(part)]
            return _joined(first, inner, (*pair.on, *with_first), outer)
    return None


def _keeps(join: Join) -> bool:
    return join.keep_left is not None or join.keep_right is not None


def _parts(where: Expr | None) -> tuple[Expr, ...]:
    return conjuncts(where) if where is not None else ()


def _joined(left: Node, right: Node, on: tuple[Equality, ...], parts: list[Expr]) -> Join:
    return Join(left, right, "inner", on, conjunction(tuple(parts)) if parts else None)
