"""What time itself closes: columns that the rows still to come can only have larger values in.

Rows of a stream come in the order of their event time, as far as its delay allows for. So from some
time on no change can concern a record with a given event time, or a value computed from it such as
the end of a window. Grouping, joins and DISTINCT on such columns need not remember what is closed,
and a record that is closed is final. Each operator says what holds of its columns (`progress`,
`ahead`); here is what they say it with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from penstock.algebra.expr import Column, Expr
from penstock.algebra.operators.node import Node, Offsets
from penstock.algebra.times import micros, most_offset, shifted


def closed_by_time(plan: Node, columns: tuple[str, ...] | None = None) -> Expr | None:
    """From when on no record with the values of a record in these columns can change."""
    for column, k in plan.progress.items():
        if columns is None or column in columns:
            return shifted(micros(Column(column, plan.schema.field(column).type)), "+", 1 - k)
    return None


def span(plan: Node, until: Expr) -> int | None:
    """For how long at most a record of the plan is needed, if it is until then.

    Law: if a record that comes at t has `c <= t + k`, it is past any time `c + d` at `t + k + d`.
    What is kept until then at most, are the records that came in a span of k + d.
    """
    found = [
        k + offset
        for column, k in plan.ahead.items()
        if (offset := most_offset(until, column)) is not None
    ]
    return max(min(found), 1) if found else None


def in_common(
    plan: Node, sides: Sequence[Offsets], chosen: Callable[[Sequence[int]], int]
) -> Offsets:
    """Columns of which something is known on all sides, by their place."""
    names = [node.schema.names for node in plan.inputs]
    found: dict[str, int] = {}
    for i, name in enumerate(plan.schema.names):
        known = [side[own[i]] for side, own in zip(sides, names, strict=True) if own[i] in side]
        if len(known) == len(sides):
            found[name] = chosen(known)
    return found
