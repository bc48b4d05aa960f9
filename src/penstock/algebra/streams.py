"""What plans say of streams: when records of a node come, and all of its records as a stream."""

from __future__ import annotations

from itertools import count

from penstock.algebra.plan import (
    Changes,
    Distinct,
    Join,
    Node,
    Window,
    project,
)


def rstream(node: Node, time: str | None = None) -> Node:
    """RSTREAM of CQL: all records of a node at each time at which any of them comes or goes.

    The times of changes are a stream. Each of them stays for one tick, and joined with the node it
    lets through what is there then; as no time comes twice, all of that comes anew. Where `time` is
    given, the time is a column of that name.
    """
    names = node.schema.names
    stamp = time or next(name for i in count() if (name := f"time{i}") not in names)
    times = project(Changes(node, "changed", stamp), (stamp,))
    there = Changes(Join(node, Distinct(Window(times, "sliding", 1))), "inserted")
    return there if time is not None else project(there, names)


def time_column(node: Node) -> str | None:
    """The column that holds the time at which a record comes, where an append-only node has one."""
    return node.time_column()
