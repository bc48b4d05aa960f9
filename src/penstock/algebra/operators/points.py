from __future__ import annotations

from dataclasses import dataclass

from penstock.kinds import kind


@kind("periodic")
@dataclass(frozen=True)
class Periodic:
    """The time points `offset + k * period`, for all integers k."""

    period: int
    offset: int = 0

    def describe(self) -> str:
        return f"every {self.period} from {self.offset}"


@kind("time points")
@dataclass(frozen=True)
class TimePoints:
    """Finitely many time points, in ascending order."""

    points: tuple[int, ...]

    def describe(self) -> str:
        return f"points {', '.join(map(str, self.points))}"
