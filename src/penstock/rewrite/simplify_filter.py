from __future__ import annotations

import pyarrow as pa

from penstock.algebra.expr import Literal, conjuncts
from penstock.algebra.plan import Filter, Node
from penstock.rewrite.conditions import filtered

_TRUE = Literal(True, pa.bool_())


def simplify_filter(node: Node) -> Node | None:
    """filter_(p and TRUE)(S) = filter_p(S), filter_(p and p)(S) = filter_p(S), filter_TRUE(S) = S.

    A condition such as `a = a` is no constant: it is NULL where a is.
    """
    match node:
        case Filter(source, predicate):
            parts = conjuncts(predicate)
            needed = tuple(part for part in dict.fromkeys(parts) if part != _TRUE)
            return filtered(source, needed) if len(needed) < len(parts) else None
    return None
