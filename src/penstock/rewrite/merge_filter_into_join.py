from __future__ import annotations

from dataclasses import replace

from penstock.algebra.expr import conjunction, conjuncts
from penstock.algebra.plan import Filter, Join, Node


def merge_filter_into_join(node: Node) -> Node | None:
    """filter_p(S1 join_q S2) = S1 join_(q and p) S2, for inner joins.

    An outer join would show the records again, padded, that the filter drops.
    """
    match node:
        case Filter(Join(kind="inner", where=where) as join, predicate):
            before = conjuncts(where) if where is not None else ()
            return replace(join, where=conjunction((*before, *conjuncts(predicate))))
    return None
