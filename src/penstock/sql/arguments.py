"""Arguments of functions that sqlglot reads and forgets: the 3 of `collect_list(x, 3)`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

Builder: TypeAlias = Callable[..., Any]


def unread_argument(
    builder: Builder, built: exp.Expr, args: Sequence[Any], dialect: Dialect
) -> int | None:
    """The place of an argument that makes no difference to what is built of them all.

    An argument that became a part of it does. Others are put in the place of any other: where the
    same is built each time, it was not read.
    """
    parts = {id(part) for part in built.walk()}
    for place, arg in enumerate(args):
        if id(arg) in parts or not isinstance(arg, exp.Expr):
            continue
        whole = _built(builder, args, dialect)
        if all(_built(builder, other, dialect) == whole for other in _others(args, place)):
            return place
    return None


def _others(args: Sequence[Any], place: int) -> Iterator[list[Any]]:
    for instead in (exp.column("x"), exp.true(), exp.false(), exp.Literal.string("x")):
        yield [*args[:place], instead, *args[place + 1 :]]


def _built(builder: Builder, args: Sequence[Any], dialect: Dialect) -> exp.Expr | None:
    """What a function becomes of copies of arguments; None where it cannot be built of them."""
    args = [arg.copy() if isinstance(arg, exp.Expr) else arg for arg in args]
    try:
        try:
            built = builder(args)
        except TypeError:
            built = builder(args, dialect=dialect)
    except Exception:  # builders are sqlglot's, and fail in ways of their own
        return None
    return built if isinstance(built, exp.Expr) else None
