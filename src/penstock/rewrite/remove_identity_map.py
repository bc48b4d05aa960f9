from __future__ import annotations

from penstock.algebra.plan import Map, Node, project


def remove_identity_map(node: Node) -> Node | None:
    """map_f(S) = S, where f gives all columns of S, under their names and in their order."""
    match node:
        case Map(source) if node == project(source, source.schema.names):
            return source
    return None
