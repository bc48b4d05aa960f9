from __future__ import annotations

from dataclasses import dataclass

from penstock.kinds import kind


@kind("periodic")
@dataclass(frozen=True)
class Periodic:
    """The time points `offset + k * period`, for all integers k."""

    period: int
    offset: int = 0

    def latest(self, time: int) -> int:
        return (time - self.offset) // self.period * self.period + self.offset

    @property
    def longest(self) -> int:
        """How much is between two of them."""
        return self.period

    def describe(self) -> str:
        return f"every {self.period} from {self.offset}"


@kind("time points")
@dataclass(frozen=True)
class TimePoints:
    """Finitely many time points, in ascending order."""

    points: tuple[int, ...]

    def latest(self, time: int) -> int | None:
        return max((point for point in self.points if point <= time), default=None)

    def describe(self) -> str:
        return f"points {', '.join(map(str, self.points))}"
