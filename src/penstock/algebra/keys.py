"""Keys: columns whose values no two records of a plan share at any time."""

from __future__ import annotations

from penstock.algebra.plan import Node


def key_of(plan: Node) -> tuple[str, ...] | None:
    """A key as short as the plan shows it to be; () where there is never more than one record."""
    return plan.unique_key()
