"""Verdicts on the operators of a plan and on a query, as data that prints well."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from penstock.algebra.cardinality import Bound, total
from penstock.algebra.sizes import TIMES


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


WIDTH = 96


@dataclass(frozen=True)
class MemoryVerdict:
    """Whether a query needs bounded memory, per operator, why not, and what would bound it."""

    query: str
    operators: tuple[OperatorVerdict, ...]
    repairs: tuple[str, ...] = ()

    @property
    def bounded(self) -> bool:
        """Whether there is a bound for all inputs."""
        return all(operator.bounded for operator in self.operators)

    @property
    def bound(self) -> str | None:
        """How much is kept at most, as a formula; None where nothing bounds it."""
        found = [operator.within for operator in self.operators if operator.within is not None]
        return str(total(found).size) if self.bounded else None

    @property
    def number(self) -> int | None:
        """How many rows or values that is, where all of it is known."""
        numbers = [operator.number for operator in self.operators if operator.number is not None]
        return sum(numbers) if len(numbers) == len(self.operators) else None

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the memory is not bounded."""
        found = (operator.because for operator in self.operators if not operator.bounded)
        return tuple(dict.fromkeys(found))

    def __str__(self) -> str:
        lines = textwrap.wrap(self._headline(), WIDTH, subsequent_indent="  ")
        for operator in self.operators:
            lines += ["", *_operator(operator)]
        if self.repairs:
            lines += ["", "Any of these would be bounded:"]
            for repair in self.repairs:
                lines += ["", textwrap.indent(repair, "  ")]
        return "\n".join(lines)

    __repr__ = __str__

    def _headline(self) -> str:
        if not self.operators:
            return "BOUNDED: nothing is kept, each row is answered as it comes."
        if not self.bounded:
            proven = any(not o.bounded and o.certain for o in self.operators)
            return "UNBOUNDED" if proven else "NO BOUND COULD BE SHOWN"
        if self.bound == "nothing":
            return "BOUNDED: nothing is kept but the answer itself."
        sums = self.number is not None and any(sign in str(self.bound) for sign in (TIMES, "+"))
        bound = f"BOUNDED: at most {self.bound}" + (f" = {self.number:,}" if sums else "")
        grows = any(operator.engine_keeps for operator in self.operators)
        return f"{bound}, but for now the engine keeps more" if grows else bound


def _operator(operator: OperatorVerdict) -> list[str]:
    title = textwrap.wrap(operator.operator, WIDTH, subsequent_indent="  ")
    known = operator.bound not in (None, "nothing")
    outcome = f"{operator.outcome}, at most {operator.bound}" if known else operator.outcome
    lines = [*title, *_wrapped(outcome), *_wrapped(operator.because)]
    if operator.missing is not None:
        lines += _wrapped(operator.missing)
    if operator.engine_keeps is not None:
        lines += _wrapped(f"For now the engine keeps more: {_lower(operator.engine_keeps)}")
    return lines


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent="  ")


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
