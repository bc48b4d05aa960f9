"""Which joins are told by negative tuples what has expired, from what they were seen to do.

A tuple that carries its end has results that carry it, and every operator that reads them keeps the
end of each. A negative tuple has the join probe once more and make its results once more, which
costs about as much as to keep their ends once. So ends are passed on unless a tuple makes many
results and several operators read them. Either way means the same to every operator, tuple by
tuple: a choice may change between any two steps.

`bench/expiry.py` measures where the two cost the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from penstock.physical.kernel import Kernel
from penstock.physical.kernels.adaptive_join import AdaptiveJoin
from penstock.physical.lower import Operator
from penstock.physical.program import Program

TO_NEGATIVE, TO_PIGGYBACK = 12.0, 8.0
"""Ends kept again for each row, above and below which another probe costs less and more."""

_ENOUGH = 100.0
_MEMORY = 0.8


@dataclass(frozen=True)
class Seen:
    """Of a join: rows that came with an end after their step, all rows, and their results."""

    ending: float = 0.0
    tuples: float = 0.0
    results: float = 0.0

    def then(self, ending: float, tuples: float, results: float) -> Seen:
        """What was seen lately counts more."""
        return Seen(
            _MEMORY * self.ending + ending,
            _MEMORY * self.tuples + tuples,
            _MEMORY * self.results + results,
        )

    @property
    def per_tuple(self) -> float:
        return self.results / max(self.tuples, 1.0)

    def kept(self, readers: int) -> float:
        """How many ends of results would be kept by more than one operator, for each row."""
        return self.per_tuple * max(readers - 1, 0) * self.ending / max(self.tuples, 1.0)


class Chooser:
    """Chooses, before each step, which adaptive joins get negative tuples."""

    def __init__(self) -> None:
        self._program: Program | None = None
        self._readers: dict[int, int] = {}
        self._seen: dict[str, Seen] = {}
        self._negative: set[str] = set()

    def told(self, program: Program, answered: Mapping[int, Kernel]) -> dict[int, Kernel]:
        """What runs in place of kernels, by their places: what does already, and the joins that
        expire by negative tuples now."""
        found = dict(answered)
        for number in self._joins(program):
            place = program.places[number]
            if self.is_negative(place.identity):
                join = found.get(number, place.operator.kernel)
                assert isinstance(join, AdaptiveJoin)
                found[number] = replace(join, expires=True)
        return found

    def is_negative(self, join: str) -> bool:
        return join in self._negative

    def observe(self, program: Program, totals: Mapping[str, Mapping[str, float]]) -> None:
        """Learn from what the operators of a step report."""
        for number, readers in self._joins(program).items():
            join = program.places[number].identity
            if join in totals:
                of = totals[join]
                seen = self._seen.get(join, Seen())
                seen = seen.then(of["ending"], of["rows_in"], of["rows_out"])
                self._seen[join] = seen
                self._decide(join, seen.kept(readers), seen.tuples >= _ENOUGH)

    def _decide(self, join: str, kept: float, enough: bool) -> None:
        if enough and kept > TO_NEGATIVE:
            self._negative.add(join)
        elif kept < TO_PIGGYBACK:
            self._negative.discard(join)

    def why(self, join: str) -> str:
        """What the choice rests on, by the identity of a join."""
        seen = self._seen.get(join)
        return "nothing seen yet" if seen is None else f"{seen.per_tuple:.1f} results a row"

    def _joins(self, program: Program) -> dict[int, int]:
        """The joins that have a choice, by place, and how many operators read each."""
        if program is not self._program:
            count = _readers(program)
            self._program = program
            self._readers = {
                number: count.get(place.operator, 0)
                for number, place in enumerate(program.places)
                if isinstance(place.operator.work, AdaptiveJoin)
            }
        return self._readers


def _readers(program: Program) -> dict[Operator, int]:
    """How many operators that keep state read the results of each that does."""
    count: dict[Operator, int] = {}
    for place in program.places:
        if place.operator.kernel is not None:
            for below in {found for child in place.operator.inputs for found in _kept_by(child)}:
                count[below] = count.get(below, 0) + 1
    return count


def _kept_by(operator: Operator) -> list[Operator]:
    if operator.kernel is not None:
        return [operator]
    return [found for child in operator.inputs for found in _kept_by(child)]
