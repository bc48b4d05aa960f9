"""What sources promise of their rows, as far as it can be relied on.

A promise is met, or NULL (as a CHECK is), so it bounds a column that may be NULL to its values and
NULL. Where it is about several columns, a NULL in one would leave the others free: then it counts
only if none of them is ever NULL.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

import pyarrow as pa

from penstock.algebra.expr import Call, Column, Expr, Literal, columns, conjuncts
from penstock.algebra.plan import Scan

_COMPARISONS = ("<", "<=", "=", ">=", ">", "<>")


def never_null(scan: Scan) -> frozenset[str]:
    """The columns that are not NULL, by the word of their source; a time never is."""
    found = {scan.time} if scan.time is not None else set()
    for part in _parts(scan):
        match part:
            case Call("not", (Call("is null", (Column(name),)),)):
                found.add(name)
    return frozenset(found)


def relied(scan: Scan) -> tuple[Expr, ...]:
    """The conditions that hold of the values of a scan's columns, whatever is NULL among them."""
    return reliable(_parts(scan), never_null(scan))


def reliable(parts: Iterable[Expr], never_null: Collection[str]) -> tuple[Expr, ...]:
    def counts(part: Expr) -> bool:
        names = columns(part)
        return _plain(part) and (len(names) == 1 or names <= frozenset(never_null))

    return tuple(filter(counts, parts))


def connected(parts: Iterable[Expr], names: Collection[str]) -> Iterator[Expr]:
    """The conditions on some columns, on those that these are compared with, and so on."""
    known, left = set(names), list(parts)
    while found := [part for part in left if columns(part) & known]:
        left = [part for part in left if part not in found]
        known.update(*map(columns, found))
        yield from found


def is_not_null(column: Column) -> Expr:
    return Call("not", (Call("is null", (column,), pa.bool_()),), pa.bool_())


def _parts(scan: Scan) -> tuple[Expr, ...]:
    return () if scan.promised is None else conjuncts(scan.promised)


def _plain(condition: Expr) -> bool:
    """Whether a condition compares columns and constants, so that it is NULL of no values."""
    match condition:
        case Call("and" | "or" | "not", args):
            return all(map(_plain, args))
        case Call(operator, (left, right)) if operator in _COMPARISONS:
            return _is_value(left) and _is_value(right)
    return False


def _is_value(expr: Expr) -> bool:
    match expr:
        case Call("cast", (inner,)):
            return _is_value(inner)
        case Literal(value):
            return value is not None
    return isinstance(expr, Column)
