from __future__ import annotations

from penstock.algebra.plan import Node, Union


def flatten_union(node: Node) -> Node | None:
    """(S1 union S2) union S3 = S1 union S2 union S3, and the union of S alone is S.

    The result has the names of the first part, before and after.
    """
    match node:
        case Union((only,)):
            return only
        case Union(parts) if any(isinstance(part, Union) for part in parts):
            return Union(
                tuple(
                    inner
                    for part in parts
                    for inner in (part.parts if isinstance(part, Union) else (part,))
                )
            )
    return None
