"""How far an expression may be copied to where its result is used.

Columns and constants always may. A call of a function of `expr.SIMPLE` may, as long as what results
does not grow out of hand; any other call is taken to be expensive, and is never computed twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from penstock.algebra.expr import Call, Column, Expr, is_simple, substitute

LARGEST = 50
"""The number of calls, columns and constants that an expression may grow to."""


def inlined(expression: Expr, outputs: Mapping[str, Expr]) -> Expr | None:
    """The expression over the inputs of these outputs, or None where it would become too large."""
    result = substitute(expression, outputs)
    return result if result == expression or size(result) <= LARGEST else None


def size(expression: Expr) -> int:
    match expression:
        case Call(args=args):
            return 1 + sum(map(size, args))
    return 1


def uses(*expressions: Expr) -> Counter[str]:
    """How often each column is read."""
    found: Counter[str] = Counter()
    for expression in expressions:
        match expression:
            case Column(name):
                found[name] += 1
            case Call(args=args):
                found += uses(*args)
    return found


def is_expensive(expression: Expr) -> bool:
    return not is_simple(expression)
