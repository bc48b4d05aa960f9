"""Which results are known to have no duplicates."""

from __future__ import annotations

from penstock.algebra import plan as p


def is_set(node: p.Node) -> bool:
    """Whether no record of the node's snapshots occurs twice, whatever the inputs.

    A full join of sets is none: a left record of NULLs, padded on the right, equals a right record
    of NULLs, padded on the left.
    """
    match node:
        case p.Distinct() | p.Aggregate() | p.Upsert() | p.RowWindow(rows=1):
            return True
        case p.SetOperation("except" | "intersect"):
            return True
        case p.SetOperation("intersection", left, right):
            return is_set(left) or is_set(right)
        case p.SetOperation("max union", left, right):
            return is_set(left) and is_set(right)
        case p.SetOperation(left=left) | p.Join(left, kind="semi" | "anti"):
            return is_set(left)
        case p.Join(left, right, kind):
            return kind != "full" and is_set(left) and is_set(right)
        case p.Union((only,)):
            return is_set(only)
        case p.Changes(source, time=time):
            return time is not None and is_set(source)
        case p.Map() | p.Union() | p.Scan():
            return False
    return is_set(node.inputs[0])
