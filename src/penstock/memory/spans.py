"""How far ahead of its own coming a record's columns can lie, and so for how long it is needed.

Law: if a record that comes at t has `c <= t + k`, it is past any time `c + d` at `t + k + d`. What
is kept until then at most, are the records that came in a span of k + d.
"""

from __future__ import annotations

from penstock.algebra.expr import Expr
from penstock.algebra.plan import (
    Node,
)
from penstock.algebra.times import most_offset
from penstock.sql.windows import Duration


def span(plan: Node, until: Expr) -> int | None:
    """For how long at most a record of the plan is needed, if it is until then."""
    found = [
        k + offset
        for column, k in plan.ahead.items()
        if (offset := most_offset(until, column)) is not None
    ]
    return max(min(found), 1) if found else None


def shown(length: int, integer_time: bool) -> str:
    """A span as SQL writes it; a tick more than a whole number of seconds is not worth a word."""
    if not integer_time and length > 1_000_000 and length % 1_000_000 <= 2:
        length -= length % 1_000_000
    return str(Duration(length, ticks=integer_time))
