"""What a plan says, as a short name: equal for plans that are written in the same way.

What merely frees state, the times until which rows are kept, changes no result, and is left out.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from penstock.algebra.codec import fingerprint
from penstock.algebra.plan import Node

_HINTS = ("until", "keep_left", "keep_right")


class Identities:
    """The names of plans, each worked out once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Node, str]] = {}

    def of(self, plan: Node) -> str:
        if id(plan) not in self._known:
            for node in plan.walk():
                if id(node) not in self._known:
                    self._known[id(node)] = node, self._named(node)
        return self._known[id(plan)][1]

    def _named(self, node: Node) -> str:
        values = [getattr(node, f.name) for f in fields(node) if f.name not in _HINTS]
        return fingerprint((type(node).__name__, *map(self._part, values)))

    def _part(self, value: Any) -> Any:
        if isinstance(value, Node):
            return self._known[id(value)][1]
        if isinstance(value, tuple):
            return tuple(map(self._part, value))
        return value
