"""EMIT FINAL: a row is passed on when nothing that can still come can change it."""

from __future__ import annotations

from penstock.algebra.plan import Node, Restrict, RowWindow, Upsert, Window, append_only
from penstock.rewrite.progress import closes
from penstock.sql.binding.complaints import Complaints


def final(plan: Node, complaints: Complaints) -> Node:
    """The records of a plan from when on they are final; they stay."""
    if append_only(plan):
        return plan
    for node in plan.walk():
        if isinstance(node, Window | RowWindow | Upsert) or (
            isinstance(node, Restrict) and node.end is not None
        ):
            complaints.unsupported(
                "Under EMIT FINAL rows stay, and here they are taken back again: by a window after "
                "a stream's name, a condition on NOW(), or the key of a stream.",
                "Group by window(ts, '10 seconds') instead, or write EMIT CHANGES.",
            )
    end = closes(plan)
    if end is None:
        complaints.unsupported(
            "No row of this query would ever be final: later rows can always change it.",
            "Group by window(ts, '10 seconds'), whose groups close when time passes their end, and "
            "select its start or end; or write EMIT CHANGES.",
        )
    return Restrict(plan, end, None)
