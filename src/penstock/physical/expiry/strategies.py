"""The names of the strategies."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from penstock.errors import PlanError

Strategy: TypeAlias = Literal["auto", "piggyback", "negative", "negative+messages", "input"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)


def check(name: str) -> Strategy:
    """The strategy of a name."""
    for known in STRATEGIES:
        if name.lower() == known:
            return known
    raise PlanError(f"expiry is {name!r}; expected one of: {', '.join(STRATEGIES)}")
