"""Expressions in a form in which those that mean the same are more often equal.

Law: an expression and its form have the same value for every record, NULL and errors included.
"""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from penstock.algebra.expr import Call, Expr, columns

FROM, UNTIL = "from now", "until now"
"""Conditions on the current time: it has reached a time, it has not reached it yet."""

AGGREGATE = "aggregate "
"""What the names of aggregates begin with where they stand among expressions."""

_COMMUTATIVE = ("=", "<>", "<=>", "+", "*")
_FLIPPED = {">": "<", ">=": "<="}
_NEGATED = {"=": "<>", "<>": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def canonical(expr: Expr) -> Expr:
    if not isinstance(expr, Call):
        return expr
    args = tuple(map(canonical, expr.args))
    match expr.function, args:
        case ("and" | "or") as word, _:
            return _flat(word, args)
        case "not", (Call("not", (inner,)),):
            return inner
        case "not", (Call(comparison, sides),) if comparison in _NEGATED:
            return canonical(Call(_NEGATED[comparison], sides, expr.type))
        case function, (left, right) if function in _FLIPPED:
            return Call(_FLIPPED[function], (right, left), expr.type)
        case function, (_, _) if function in _COMMUTATIVE:
            return Call(function, tuple(sorted(args, key=_order)), expr.type)
    return Call(expr.function, args, expr.type)


def is_exact(kind: pa.DataType) -> bool:
    """Whether values that are equal are the same: of floats, 0.0 equals -0.0."""
    return not (pa.types.is_floating(kind) or pa.types.is_nested(kind))


def is_aggregate(expr: Expr) -> bool:
    return isinstance(expr, Call) and expr.function.startswith(AGGREGATE)


def has_aggregate(expr: Expr) -> bool:
    match expr:
        case Call(_, args):
            return is_aggregate(expr) or any(map(has_aggregate, args))
    return False


def is_temporal(expr: Expr) -> bool:
    return isinstance(expr, Call) and expr.function in (FROM, UNTIL)


def atoms_of(exprs: Iterable[Expr]) -> set[int]:
    """The numbers of the relations whose columns are read."""
    return {int(name.partition(":")[0]) for expr in exprs for name in columns(expr)}


def _flat(word: str, args: tuple[Expr, ...]) -> Expr:
    parts: dict[Expr, None] = {}
    for arg in args:
        match arg:
            case Call(function, inner) if function == word:
                parts |= dict.fromkeys(inner)
            case _:
                parts[arg] = None
    listed = tuple(sorted(parts, key=_order))
    return listed[0] if len(listed) == 1 else Call(word, listed, pa.bool_())


def _order(expr: Expr) -> tuple[str, str]:
    return str(expr), str(expr.type)
