"""Plans as short indented text."""

from __future__ import annotations

from collections.abc import Callable

from penstock.algebra.plan import Node


def outline(node: Node, note: Callable[[Node], str | None] | None = None) -> str:
    """One line per node, inputs indented below it. What has a note is one thing with all below."""
    said = None if note is None else note(node)
    inner = note if said is None else None
    below = [line for source in node.inputs for line in outline(source, inner).split("\n")]
    own = node.describe() if said is None else f"{node.describe()}  ({said})"
    return "\n".join([own, *(f"  {line}" for line in below)])
