from __future__ import annotations

from penstock.algebra.plan import Equality, Join, JoinKind, Node, project

_MIRRORED: dict[JoinKind, JoinKind] = {
    "inner": "inner",
    "left": "right",
    "right": "left",
    "full": "full",
}


def commute(node: Node) -> Node | None:
    """S1 join S2 = map_f(S2 join S1), where f restores the order of the columns.

    A left join becomes a right join, and the other way round; semi and anti joins have no mirror
    image. It undoes itself, so it is not one of RULES; the ordering of joins uses it.
    """
    match node:
        case Join(kind=kind) if kind in _MIRRORED:
            mirrored = Join(
                node.right,
                node.left,
                _MIRRORED[kind],
                tuple(Equality(on.right, on.left, on.null_safe) for on in node.on),
                node.where,
                node.keep_right,
                node.keep_left,
            )
            return project(mirrored, node.schema.names)
    return None
