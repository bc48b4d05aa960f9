"""Verdicts on the operators of a plan, as data."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.algebra.cardinality import Bound


@dataclass(frozen=True)
class OperatorVerdict:
    """What one operator, or several that are judged together, must remember.

    `within` is how much at most and what bounds it, None where nothing does. `because` says so in
    words. `engine_keeps` says what is kept beyond need by the engine as it is today. `targets` are
    the columns that would have to be bounded, as they are called in the query. `missing` names the
    punctuations that would bound it. A verdict that is not `certain` says only that no bound could
    be shown.
    """

    operator: str
    within: Bound | None
    because: str
    engine_keeps: str | None = None
    targets: tuple[str, ...] = ()
    certain: bool = True
    missing: str | None = None

    @property
    def bounded(self) -> bool:
        return self.within is not None

    @property
    def bound(self) -> str | None:
        """How much is kept at most, as a formula."""
        return str(self.within.size) if self.within is not None else None

    @property
    def number(self) -> int | None:
        """How many rows or values that is, where it is known."""
        return self.within.size.number if self.within is not None else None

    @property
    def outcome(self) -> str:
        if self.within is None:
            return "unbounded" if self.certain else "no bound could be shown"
        words = [word for word in self.within.by if word]
        return f"bounded by {' and '.join(words)}" if words else "bounded"
