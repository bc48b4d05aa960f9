from __future__ import annotations

from penstock.algebra import plan as p
from penstock.rewrite.narrowing import narrowed, only, read, read_by_join


def prune_columns(node: p.Node) -> p.Node | None:
    """map_f(S) = map_f(S without the columns that f does not read).

    Likewise for an aggregate, and for the right of semi and anti joins, which shows no column of
    it. Multiplicities add up where records become equal, so counts and sums stay. `narrowing` says
    how far down columns can be left out; where nothing can be, the rule does not apply.
    """
    pruned = _pruned(node)
    return None if pruned == node else pruned


def _pruned(node: p.Node) -> p.Node:
    match node:
        case p.Map(source, outputs):
            return node.with_inputs(narrowed(source, read(*(e for _, e in outputs))))
        case p.Aggregate():
            return narrowed(node, node.schema.names)
        case p.Join(right=right, kind="semi" | "anti"):
            names = read_by_join(node).intersection(right.schema.names)
            return node.with_inputs(node.left, only(right, names))
    return node
