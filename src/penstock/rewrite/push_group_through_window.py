from __future__ import annotations

from dataclasses import replace

from penstock.algebra.plan import Group, Node, Window


def push_group_through_window(node: Node) -> Node | None:
    """group_(f,j)(window(S)) = window(group_(f,j)(S)): the window looks at times only."""
    match node:
        case Group(Window(source) as window):
            return replace(window, input=replace(node, input=source))
    return None
