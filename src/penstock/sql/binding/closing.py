"""EMIT FINAL: a row is passed on when nothing that can still come can change it."""

from __future__ import annotations

from penstock.algebra.closing import ALWAYS, ends_needed, final_from
from penstock.algebra.plan import Node, Restrict, Scan, SortKey, Window, append_only
from penstock.sql.binding.diagnostics import Diagnostics


def final(plan: Node, diagnostics: Diagnostics, order: SortKey | None = None) -> Node:
    """The records of a plan from when on they are final; they stay, and come in order."""
    if append_only(plan) and order is None:
        return plan
    start = final_from(plan, order)
    if start == ALWAYS:
        return plan
    if any(isinstance(node, Window) or _ends(node) for node in plan.walk()):
        diagnostics.unsupported(
            "Under EMIT FINAL rows stay, and here they are taken back again: by a window after a "
            "stream's name, or a condition on NOW().",
            "Group by window(ts, '10 seconds') instead, or write EMIT CHANGES.",
        )
    streams = {node.name for node in plan.walk() if isinstance(node, Scan) and node.time}
    if start is None or ends_needed(start) >= streams:
        diagnostics.unsupported(
            "No row of this query would ever be final: later rows can always change it.",
            "Group by window(ts, '10 seconds'), whose groups close when time passes their end, and "
            "select its start or end; or by columns of a stream that punctuations close; or write "
            "EMIT CHANGES.",
        )
    return Restrict(plan, start, None)


def _ends(node: Node) -> bool:
    return isinstance(node, Restrict) and node.end is not None
