from __future__ import annotations

from penstock.algebra.plan import Map, Node


def push_map(node: Node) -> Node | None:
    """map_f(op(S1, S2)) = op(map_f1(S1), map_f2(S2)), where f may pass op.

    Each operator says whether a map passes it, and why (`passes_map`).
    """
    match node:
        case Map(below, outputs):
            passing = below.passes_map(outputs)
            if passing is not None:
                pairs = zip(below.inputs, passing, strict=True)
                inputs = (source if own is None else Map(source, own) for source, own in pairs)
                return below.with_inputs(*inputs)
    return None
