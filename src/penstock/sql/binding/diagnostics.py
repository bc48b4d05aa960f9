"""Errors about a part of a statement, which point at it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NoReturn, Protocol

from sqlglot import exp

from penstock.errors import PenstockError, PlanError, SqlContext, UnknownNameError, UnsupportedError
from penstock.sql.binding.analyser import AnalysisError
from penstock.sql.text import Name, Span, closest, span_of


class InText(Protocol):
    """A statement: it knows the text that it is part of."""

    def context(self, span: Span | None = None) -> SqlContext: ...


@contextmanager
def in_statement(statement: InText) -> Iterator[None]:
    """Errors of what is done for a statement, that know no place yet, point at the statement."""
    try:
        yield
    except PlanError as error:
        if error.getQueryContext():
            raise
        raise error.at(statement.context()) from error
    except AnalysisError as error:
        Diagnostics(statement).objection(error)


class Diagnostics:
    """Raises errors in the context of one statement."""

    def __init__(self, statement: InText) -> None:
        self._statement = statement

    def wrong(self, message: str, at: exp.Expr | Name | None = None) -> NoReturn:
        self._raise(PlanError, message, at)

    def unsupported(self, what: str, instead: str, at: exp.Expr | Name | None = None) -> NoReturn:
        self._raise(UnsupportedError, f"{what} {instead}", at)

    def no_such(self, message: str, at: exp.Expr) -> NoReturn:
        self._raise(UnknownNameError, message, at)

    def objection(self, error: AnalysisError, at: exp.Expr | Name | None = None) -> NoReturn:
        self._raise(UnsupportedError if error.unsupported else PlanError, str(error), at)

    def unknown(
        self, kind: str, name: str, known: Iterable[str], at: exp.Expr | Name | None = None
    ) -> NoReturn:
        known = list(dict.fromkeys(known))
        meant = closest(name, known)
        hint = f"Did you mean {meant}?" if meant else ""
        if not hint:
            hint = f"There are: {', '.join(known)}." if known else "There are none here."
        self._raise(UnknownNameError, f"There is no {kind} {name}. {hint}", at)

    def _raise(
        self, kind: type[PenstockError], message: str, at: exp.Expr | Name | None
    ) -> NoReturn:
        raise kind(message, context=self._statement.context(_span(at)))


def _span(at: exp.Expr | Name | None) -> Span | None:
    """Where something stands, or what is around it, where it does not know its own place."""
    if isinstance(at, Name):
        return at.span
    while at is not None:
        found = span_of(at)
        if found is not None:
            return found
        at = at.parent
    return None
