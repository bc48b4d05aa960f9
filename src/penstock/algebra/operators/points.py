from __future__ import annotations

from dataclasses import dataclass

from penstock.kinds import kind


@kind("periodic")
@dataclass(frozen=True)
class Periodic:
    """The time points `offset + k * period`, for all integers k."""

    period: int
    offset: int = 0


@kind("time points")
@dataclass(frozen=True)
class TimePoints:
    """Finitely many time points, in ascending order."""

    points: tuple[int, ...]
