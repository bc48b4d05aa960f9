from __future__ import annotations

from penstock.algebra.expr import Expr, conjuncts
from penstock.algebra.plan import Filter, Node
from penstock.rewrite.conditions import filtered


def push_filter(node: Node) -> Node | None:
    """filter_p(op(S1, S2)) = op(filter_p1(S1), filter_p2(S2)), for the parts of p that may pass op.

    Each operator says which conditions pass it, and why (`passes_filter`).
    """
    match node:
        case Filter(below, predicate):
            parts = conjuncts(predicate)
            passing = {part: below.passes_filter(part) for part in parts}
            if any(conditions is not None for conditions in passing.values()):
                inputs = (
                    filtered(source, _on(i, [passing[part] for part in parts]))
                    for i, source in enumerate(below.inputs)
                )
                above = (part for part in parts if passing[part] is None)
                return filtered(below.with_inputs(*inputs), above)
    return None


def _on(place: int, passing: list[tuple[Expr | None, ...] | None]) -> list[Expr]:
    """The conditions that go to one input."""
    found = (conditions[place] for conditions in passing if conditions is not None)
    return [condition for condition in found if condition is not None]
