"""Names, spans of time and expressions as text: for those who read about a query, and as SQL.

For readers, columns are called as in the query, casts and conversions of times are left out, and
times that are moved by microseconds are moved by minutes again. As SQL, all of it is there.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.algebra.expr import (
    ARITHMETIC,
    COMPARISONS,
    Call,
    Column,
    Expr,
    Literal,
    one_column_tested,
)
from penstock.reasoning.implication import FROM, UNTIL
from penstock.reasoning.products import Aggregation, is_aggregate, named
from penstock.sql.binding.types import shown
from penstock.sql.windows import Duration

_OR, _AND, _COMPARISON, _ARITHMETIC, _NAME = range(5)
"""How tightly the parts of an expression are bound; looser ones inside others have parentheses."""


def expression(value: Expr) -> str:
    """An expression for readers."""
    return _text(value, _OR, exact=False)


def sql_expression(value: Expr) -> str:
    """An expression as SQL; its columns have the names that they are quoted by."""
    return _text(value, _OR, exact=True)


def listed(names: Iterable[str]) -> str:
    """`a, b and c`."""
    found = list(names)
    return " and ".join(filter(None, (", ".join(found[:-1]), *found[-1:])))


def duration(length: int, integer_time: bool) -> str:
    """A span as SQL writes it; a tick more than a whole number of seconds is not worth a word."""
    if not integer_time and length > 1_000_000 and length % 1_000_000 <= 2:
        length -= length % 1_000_000
    return str(Duration(length, ticks=integer_time))


def aggregate(
    function: str,
    args: Iterable[str],
    distinct: bool = False,
    where: str | None = None,
    parameter: float | None = None,
) -> str:
    listed = [*args, *([] if parameter is None else [str(parameter)])]
    text = f"{function}({'DISTINCT ' if distinct else ''}{', '.join(listed) or '*'})"
    return text if where is None else f"{text} FILTER (WHERE {where})"


def _text(value: Expr, inside: int, exact: bool) -> str:
    found, bound = _written(value, inside, exact)
    return f"({found})" if bound < inside else found


def _written(value: Expr, inside: int, exact: bool) -> tuple[str, int]:
    """The text of an expression, and how tightly it is bound."""

    def part(arg: Expr, level: int = _NAME) -> str:
        return _text(arg, level, exact)

    match value:
        case Column(name):
            return name if exact else named(name), _NAME
        case Call("cast", (arg,), kind) if exact:
            return f"CAST({part(arg, _OR)} AS {shown(kind)})", _NAME
        case Call("cast" | "unix_micros" | "timestamp_micros", (arg,)) if not exact:
            return _written(arg, inside, exact)
        case Call("+" | "-" as sign, (Call("unix_micros") as time, Literal(int() as by))) if (
            not exact
        ):
            if abs(by) <= 1:
                return _written(time, inside, exact)
            sign = "-" if (by < 0) == (sign == "+") else "+"
            return f"{part(time)} {sign} {duration(abs(by), integer_time=False)}", _NAME
        case Call(function, (time,)) if function in (FROM, UNTIL):
            text = part(time)
            return (f"{text} <= NOW()" if function == FROM else f"NOW() < {text}"), _COMPARISON
        case Call("or", tests) if (column := one_column_tested(value)) is not None:
            values = (str(test.args[1]) for test in tests if isinstance(test, Call))
            return f"{part(column)} IN ({', '.join(values)})", _COMPARISON
        case Call("and" | "or" as word, args):
            level = _AND if word == "and" else _OR
            return f" {word.upper()} ".join(part(arg, level) for arg in args), level
        case Call("not", (arg,)):
            return f"NOT ({part(arg, _OR)})", _COMPARISON
        case Call("is null", (arg,)):
            return f"{part(arg)} IS NULL", _COMPARISON
        case Call(operator, (left, right)) if operator in COMPARISONS:
            return f"{part(left)} {operator} {part(right)}", _COMPARISON
        case Call(operator, (left, right)) if operator in ARITHMETIC:
            return f"{part(left)} {operator} {part(right)}", _ARITHMETIC
        case Call() if is_aggregate(value):
            call = Aggregation.of(value)
            where = None if call.where is None else part(call.where, _OR)
            texts = [part(arg, _OR) for arg in call.args]
            return aggregate(call.function, texts, call.distinct, where), _NAME
        case Call(function, args, kind):
            level = _NAME if "{" in function else _OR
            columns = tuple(Column(part(arg, level), arg.type) for arg in args)
            return str(Call(function, columns, kind)), _NAME
    return str(value), _NAME
