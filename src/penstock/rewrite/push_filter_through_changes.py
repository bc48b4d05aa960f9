from __future__ import annotations

from penstock.algebra.plan import Changes, Filter, Node
from penstock.rewrite.conditions import push_below


def push_filter_through_changes(node: Node) -> Node | None:
    """filter_p(changes(S)) = changes(filter_p(S)), for parts p that do not read the time.

    A record comes and goes by itself, whatever other records do.
    """
    match node:
        case Filter(Changes() as below):
            return push_below(node, below.input.schema.names)
    return None
