from __future__ import annotations

from penstock.algebra.plan import Distinct, Node, Union


def drop_distinct_in_union(node: Node) -> Node | None:
    """distinct(distinct(S1) union S2) = distinct(S1 union S2).

    Which records there are is all that the outer distinct sees. The converse, distinct(S1 union S2)
    = distinct(S1) union distinct(S2), does not hold: a record may be in both. Not where the outer
    one says until when records change: more of a record of S1 may come later.
    """
    match node:
        case Distinct(Union(parts), None) if any(isinstance(part, Distinct) for part in parts):
            bare = (part.input if isinstance(part, Distinct) else part for part in parts)
            return Distinct(Union(tuple(bare)))
    return None
