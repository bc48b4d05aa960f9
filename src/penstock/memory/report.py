"""The verdict on a query, for those who ask for it: data that prints well."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from penstock.algebra.cardinality import total
from penstock.algebra.sizes import TIMES
from penstock.memory.outcome import OperatorVerdict

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
