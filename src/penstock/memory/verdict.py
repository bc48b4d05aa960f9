"""The outcome of the check, as data: bounded or not, and which condition fails where."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from penstock.memory.joins import Reference
from penstock.memory.query import Aggregate
from penstock.reasoning.closure import Atom, Attribute


class Role(StrEnum):
    """What an unbounded attribute does in a query that needs it remembered."""

    PROJECTED = "projected"  # each of its values appears in the output
    EQUATED = "equated"  # it must equal an attribute of another stream
    COUNTED = "counted"  # how many tuples lie below or above another stream's decides the output
    COMPARED = "compared"  # two orders of one stream decide the output: no tuple is best in both
    GROUPED = "grouped"  # each of its values is a group of the answer
    AGGREGATED = "aggregated"  # its aggregate needs all values, or the best of them in two orders


@dataclass(frozen=True, slots=True)
class Failure:
    """One reason for unbounded memory: `attributes` of `stream` in a `role`.

    `references` are the inequality joins at fault: one if counted, two if compared, and one that
    competes with a MIN or MAX. `equality` is the equality join at fault. `where` is the satisfiable
    conjunction under which it happens.
    """

    role: Role
    stream: str
    attributes: tuple[Attribute, ...]
    where: frozenset[Atom]
    references: tuple[Reference, ...] = ()
    equality: Atom | None = None
    aggregate: Aggregate | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether constant memory is enough for all streams and interleavings.

    A verdict that is not `certain` says that bounded memory could not be shown, and neither the
    opposite: only where the theory gives a sufficient condition alone.
    """

    failures: tuple[Failure, ...] = ()
    certain: bool = True

    @property
    def bounded(self) -> bool:
        return not self.failures

    def __post_init__(self) -> None:
        if not self.failures and not self.certain:
            raise ValueError("a query shown to be bounded is certainly so")


BOUNDED = Verdict()
