from __future__ import annotations

from penstock.algebra import plan as p
from penstock.algebra.expr import read
from penstock.algebra.operators.map import only


def prune_columns(node: p.Node) -> p.Node | None:
    """map_f(S) = map_f(S without the columns that f does not read).

    Likewise for an aggregate, and for the right of semi and anti joins, which shows no column of
    it. Multiplicities add up where records become equal, so counts and sums stay. Each operator
    says how far down columns can be left out (`narrow`); where nothing can be, the rule does not
    apply.
    """
    pruned = _pruned(node)
    return None if pruned == node else pruned


def _pruned(node: p.Node) -> p.Node:
    match node:
        case p.Map(source, outputs):
            return node.with_inputs(source.narrowed(read(*(e for _, e in outputs))))
        case p.Aggregate():
            return node.narrowed(node.schema.names)
        case p.Join(right=right, kind="semi" | "anti"):
            names = node.reads.intersection(right.schema.names)
            return node.with_inputs(node.left, only(right, names))
    return node
