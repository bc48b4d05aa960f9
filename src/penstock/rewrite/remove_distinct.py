from __future__ import annotations

from penstock.algebra.plan import Distinct, Node


def remove_distinct(node: Node) -> Node | None:
    """distinct(S) = S, where S is a set: a distinct, an aggregate, an upsert, a join of sets..."""
    match node:
        case Distinct(source) if source.is_set():
            return source
    return None
