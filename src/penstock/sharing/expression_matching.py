"""Expressions computed from the columns that there are.

A table says which expressions are columns, in the form in which they are compared. An expression is
derived from it where it is one of these, has only one value, or is a function of such.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import pyarrow as pa

from penstock.algebra.expr import Call, Column, Expr, Literal
from penstock.algebra.times import last_multiple, moved_by
from penstock.reasoning.implication import Conjunction
from penstock.reasoning.products import is_aggregate

Special = Callable[[Expr], Expr | None]


class MissingError(Exception):
    """What is not there."""

    def __init__(self, expr: Expr) -> None:
        super().__init__(str(expr))
        self.expr = expr


class ExpressionMatcher:
    """`facts` are known of the records that matter. Of those that are still to be told from others
    by what is derived, no value is `certain`. `special` derives what tables cannot."""

    def __init__(
        self,
        table: Iterable[tuple[Expr, str]],
        facts: Conjunction,
        certain: bool = True,
        special: Special | None = None,
    ) -> None:
        self._facts = facts
        self._certain = certain
        self._special = special
        self._table: dict[Expr, str] = {}
        for expr, name in table:
            self._table.setdefault(facts.represent(expr), name)

    def __call__(self, expr: Expr) -> Expr:
        if isinstance(expr, Literal):
            return expr
        name = self._table.get(self._facts.represent(expr))
        if name is not None:
            return Column(name, expr.type)
        found = self._facts.constant(expr) if self._certain else None
        if found is None and self._special is not None:
            return self._special(expr) or self._of_parts(expr)
        return found or self._of_parts(expr)

    def can(self, expr: Expr) -> bool:
        try:
            self(expr)
        except MissingError:
            return False
        return True

    def find(self, expr: Expr) -> Expr | None:
        """The column that is an expression."""
        name = self._table.get(self._facts.represent(expr))
        return None if name is None else Column(name, expr.type)

    def _of_parts(self, expr: Expr) -> Expr:
        if not isinstance(expr, Call) or is_aggregate(expr):
            raise MissingError(expr)
        return self._coarser(expr) or Call(expr.function, tuple(map(self, expr.args)), expr.type)

    def _coarser(self, expr: Call) -> Expr | None:
        """The last multiple of a period before a time, from that of a part of the period."""
        wanted = floor_of(expr)
        if wanted is None:
            return None
        time, period, offset = wanted
        for known, name in self._table.items():
            inner = known.args[0] if _is_stamp(known) else known  # type: ignore[union-attr]
            found = floor_of(inner)
            if found is None or self._facts.represent(found[0]) != self._facts.represent(time):
                continue
            if period % found[1] == 0 and (offset - found[2]) % found[1] == 0:
                column: Expr = Column(name, known.type)
                if _is_stamp(known):
                    column = Call("unix_micros", (column,), pa.int64())
                return last_multiple(column, period, offset)
        return None


def _is_stamp(expr: Expr) -> bool:
    return isinstance(expr, Call) and expr.function == "timestamp_micros"


def floor_of(expr: Expr) -> tuple[Expr, int, int] | None:
    """The time, period and offset of which an expression is the last multiple."""
    match expr:
        case Call("-", (time, Call("%", (Call("+", args), Literal(int() as period))))):
            for rest in args:
                match rest:
                    case Call("%", (moved, Literal(int() as other))) if other == period:
                        (base, by), (own, later) = moved_by(moved), moved_by(time)
                        known = base == own and Literal(period, pa.int64()) in args
                        return (time, period, later - by) if known else None
    return None


def named(table: Mapping[str, Expr]) -> list[tuple[Expr, str]]:
    return [(expr, name) for name, expr in table.items()]
