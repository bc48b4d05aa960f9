"""Names and expressions of plans, as a reader of the query would say them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from penstock.algebra.aggregates import AggregateCall
from penstock.algebra.expr import ARITHMETIC, COMPARISONS, Call, Column, Expr, Literal
from penstock.algebra.plan import Equality
from penstock.memory import spans
from penstock.memory.values import named


def listed(names: Iterable[str]) -> str:
    """`a, b and c`."""
    found = list(names)
    return " and ".join(filter(None, (", ".join(found[:-1]), *found[-1:])))


def some(names: list[str]) -> str:
    """`a, b, c and 5 other columns`."""
    if len(names) <= 4:
        return listed(names)
    return f"{', '.join(names[:3])} and {len(names) - 3} other columns"


def per(names: tuple[str, ...], labels: Mapping[str, str]) -> str:
    """The columns that something is there for each value of; of a window, its start will do."""
    shown = [labels[name] for name in names if labels[name] != "window.end"]
    return f" per {', '.join(shown)}" if shown else ""


def called(call: AggregateCall, labels: Mapping[str, str]) -> str:
    args = ", ".join(labels[arg] for arg in call.args) or "*"
    return f"{call.function}({'DISTINCT ' if call.distinct else ''}{args})"


def equality(on: Equality) -> str:
    return f"{named(on.left)} {'<=>' if on.null_safe else '='} {named(on.right)}"


def expression(value: Expr, outer: bool = True) -> str:
    """An expression; times moved by microseconds are moved by minutes again."""
    match value:
        case Column(name):
            return named(name)
        case Call("unix_micros" | "timestamp_micros", (inner,)):
            return expression(inner, outer)
        case Call("cast", (inner,)):
            return expression(inner, outer)
        case Call("+" | "-" as sign, (Call("unix_micros") as time, Literal(int() as by, _))):
            if abs(by) <= 1:
                return expression(time)
            sign = "-" if (by < 0) == (sign == "+") else "+"
            return f"{expression(time)} {sign} {spans.shown(abs(by), integer_time=False)}"
        case Call("and" | "or" as word, args):
            text = f" {word.upper()} ".join(expression(arg, outer=False) for arg in args)
            return text if outer or word == "and" else f"({text})"
        case Call(operator, (left, right)) if operator in COMPARISONS:
            return f"{expression(left, outer=False)} {operator} {expression(right, outer=False)}"
        case Call(operator, (left, right)) if operator in ARITHMETIC:
            text = f"{expression(left, outer=False)} {operator} {expression(right, outer=False)}"
            return text if outer else f"({text})"
    return str(value)
