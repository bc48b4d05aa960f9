from __future__ import annotations

from penstock.algebra.plan import Filter, Node, Upsert
from penstock.rewrite.conditions import push_below


def push_filter_through_upsert(node: Node) -> Node | None:
    """filter_p(upsert_K(S)) = upsert_K(filter_p(S)), for parts p that read only the key K.

    A condition on anything else must not go below: it could drop the latest record of a key, and
    let an older one come back.
    """
    match node:
        case Filter(Upsert() as below):
            return push_below(node, below.key)
    return None
