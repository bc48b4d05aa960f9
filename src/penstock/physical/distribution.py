"""Where rows are: by which columns the results of an operator are spread over tasks.

Rows with equal values in the columns of a *spread* are in one task, chosen by the hash of those
values. Each part of a spread is a set of columns that are equal in every row (the two sides of a
join's equality), any of which will do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from penstock.algebra.expr import Column, Expr
from penstock.algebra.plan import Scan
from penstock.physical.kernels.join import InnerJoin
from penstock.physical.transforms import Merge, Project

if TYPE_CHECKING:
    from penstock.physical.lower import Operator

Key: TypeAlias = tuple[str, ...]
Partitioning: TypeAlias = tuple[frozenset[str], ...]


def partitioning(operator: Operator) -> Partitioning | None:
    """How an operator's results are spread; None where nothing is known."""
    match operator.work:
        case Scan():
            return None
        case InnerJoin(left_key=left, right_key=right):
            return tuple(frozenset(pair) for pair in zip(left, right, strict=True))
        case _ if operator.kernel is not None:
            return tuple(frozenset((name,)) for name in operator.kernel.partition_by[0] or ())
        case Project(outputs):
            return _renamed(operator.inputs[0].partitioning, outputs)
        case Merge():
            return _common([child.partitioning for child in operator.inputs])
    return operator.inputs[0].partitioning


def satisfies(found: Partitioning | None, key: Key) -> bool:
    """Whether rows that are spread this way need not move to be spread by the key."""
    return (
        found is not None
        and len(found) == len(key)
        and all(name in part for name, part in zip(key, found, strict=True))
    )


def keys_of(found: Partitioning | None, keys: Key) -> Key | None:
    """Fewer than these keys by which rows are spread already; None where there are none."""
    chosen = tuple(min(part & set(keys), default="") for part in found or ())
    return chosen if chosen and all(chosen) and len(chosen) < len(keys) else None


def key_of(operator: Operator) -> Key:
    """Columns by which an operator's results are spread, or could be: all of them."""
    found = operator.partitioning
    if found is None:
        return tuple(operator.schema.names)
    return tuple(min(part) for part in found)


def _renamed(
    found: Partitioning | None, outputs: tuple[tuple[str, Expr], ...]
) -> Partitioning | None:
    if found is None:
        return None
    columns = [(name, e.name) for name, e in outputs if isinstance(e, Column)]
    parts = [frozenset(new for new, old in columns if old in part) for part in found]
    return tuple(parts) if all(parts) else None


def _common(partitionings: Sequence[Partitioning | None]) -> Partitioning | None:
    """How all inputs of a merge are spread, if they are in the same way."""
    known = [found for found in partitionings if found is not None]
    if len(known) < len(partitionings) or len({len(found) for found in known}) > 1:
        return None
    parts = [frozenset.intersection(*same) for same in zip(*known, strict=True)]
    return tuple(parts) if all(parts) else None
