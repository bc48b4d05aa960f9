"""Which joins are told by negative tuples what has expired, from what they were seen to do.

A tuple that carries its end has results that carry it, and every operator that reads them keeps the
end of each. A negative tuple has the join probe once more, and nobody keeps ends but Expire. So the
ends are passed on unless a tuple makes many results, or many operators read them. Either way means
the same to every operator, tuple by tuple: a choice may change between any two steps.

`bench/expiry.py` measures where the two cost the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from penstock.physical.expiry.planning import is_adaptive
from penstock.physical.kernel import Kernel
from penstock.physical.kernels.expire import Expire
from penstock.physical.kernels.join import InnerJoin
from penstock.physical.lower import Operator
from penstock.physical.program import FromEdge, FromOperator, Origin, Program

TO_NEGATIVE, TO_PIGGYBACK = 10.0, 7.0
"""Ends kept for each tuple, above and below which another probe costs less and more."""

_ENOUGH = 100.0
_MEMORY = 0.8


@dataclass(frozen=True)
class Seen:
    """Of a join: tuples that came with an end after their step, all tuples, and their results."""

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
        """How many ends would be kept for each tuple that carries one."""
        return self.per_tuple * (readers + 1) * self.ending / max(self.tuples, 1.0)


@dataclass(frozen=True)
class Adaptive:
    """A join of a program whose tuples may come with or without ends."""

    identity: str
    expires: tuple[int, ...]
    readers: int


class Chooser:
    def __init__(self) -> None:
        self._program: Program | None = None
        self._joins: list[Adaptive] = []
        self._seen: dict[str, Seen] = {}
        self._negative: set[str] = set()

    def kernels(self, program: Program) -> dict[int, Kernel]:
        """The operators, by their places, that send negative tuples now."""
        found: dict[int, Kernel] = {}
        for join in self._joins_of(program):
            if self.is_negative(join.identity):
                for place in join.expires:
                    work = program.places[place].operator.work
                    assert isinstance(work, Expire)
                    found[place] = replace(work, passes=False)
        return found

    def is_negative(self, join: str) -> bool:
        return join in self._negative

    def observe(self, program: Program, totals: Mapping[str, Mapping[str, float]]) -> None:
        """Learn from what the operators of a step report."""
        for join in self._joins_of(program):
            below = [program.places[place].identity for place in join.expires]
            if join.identity in totals:
                mine = totals[join.identity]
                ending = sum(totals[each]["ending"] for each in below if each in totals)
                seen = self._seen.get(join.identity, Seen())
                seen = seen.then(ending, mine["rows_in"], mine["rows_out"])
                self._seen[join.identity] = seen
                self._decide(join, seen)

    def _decide(self, join: Adaptive, seen: Seen) -> None:
        kept = seen.kept(join.readers)
        if seen.tuples >= _ENOUGH and kept > TO_NEGATIVE:
            self._negative.add(join.identity)
        elif kept < TO_PIGGYBACK:
            self._negative.discard(join.identity)

    def why(self, join: str) -> str:
        """What the choice rests on, by the identity of a join."""
        seen = self._seen.get(join)
        if seen is None:
            return "nothing seen yet"
        return f"{seen.per_tuple:.1f} results a tuple"

    def _joins_of(self, program: Program) -> list[Adaptive]:
        if program is not self._program:
            self._program, self._joins = program, list(_adaptive(program))
        return self._joins


def _adaptive(program: Program) -> list[Adaptive]:
    readers = _readers(program)
    found = []
    for place in program.places:
        if isinstance(place.operator.work, InnerJoin):
            below = [_producer(program, origin) for origin in place.origins]
            expires = [
                i for i in below if i is not None and is_adaptive(program.places[i].operator)
            ]
            if expires:
                count = readers.get(place.operator, 0)
                found.append(Adaptive(place.identity, tuple(expires), count))
    return found


def _producer(program: Program, origin: Origin) -> int | None:
    match origin:
        case FromOperator(place):
            return place
        case FromEdge(edge):
            return program.edges[edge].producer
    return None


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
