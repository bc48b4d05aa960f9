"""Batches that a producer numbers: each is received once, however often it is sent.

Law: of a producer that numbers its batches, no number is received twice and none is taken for
received that was not. What is remembered of a producer is bounded: ranges of numbers, one where
none was left out. Numbers below what is remembered are refused, never guessed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from penstock.errors import PlanError
from penstock.kinds import kind

_MOST_RANGES = 64
_MOST_CHARACTERS = 200
_FORM = re.compile(r"(?P<producer>.+)/(?P<number>[0-9]{1,18})", re.DOTALL)


@dataclass(frozen=True, slots=True)
class BatchId:
    """One batch of a producer, written `producer/number`."""

    producer: str
    number: int

    @staticmethod
    def parse(text: Any) -> BatchId:
        match = _FORM.fullmatch(text) if isinstance(text, str) else None
        if match is None or len(match["producer"]) > _MOST_CHARACTERS:
            shown = repr(text) if isinstance(text, str | int) else type(text).__name__
            raise PlanError(
                f"batch={shown[:80]} does not name a batch; write the name of the producer, of at "
                f"most {_MOST_CHARACTERS} characters, and the number of its batch, "
                "such as 'loader-1/17'"
            )
        return BatchId(match["producer"], int(match["number"]))

    def __str__(self) -> str:
        return f"{self.producer}/{self.number}"


@kind("batch numbers")
@dataclass(frozen=True, slots=True)
class BatchNumbers:
    """The numbers received of one producer, as closed ranges in order that do not touch.

    Nothing is known of numbers below `since`.
    """

    ranges: tuple[tuple[int, int], ...] = ()
    since: int = 0

    def has(self, number: int) -> bool | None:
        """Whether a number was received; None where that is not known any more."""
        if number < self.since:
            return None
        return any(first <= number <= last for first, last in self.ranges)

    def add(self, number: int) -> BatchNumbers:
        below = [r for r in self.ranges if r[1] < number - 1]
        above = [r for r in self.ranges if r[0] > number + 1]
        touched = self.ranges[len(below) : len(self.ranges) - len(above)]
        first = min([number, *(r[0] for r in touched)])
        last = max([number, *(r[1] for r in touched)])
        ranges = (*below, (first, last), *above)
        if len(ranges) <= _MOST_RANGES:
            return BatchNumbers(ranges, self.since)
        return BatchNumbers(ranges[1:], ranges[0][1] + 1)
