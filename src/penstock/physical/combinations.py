"""Which rows of several sets go together: the combinations that satisfy conditions on pairs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from penstock import record, sorting
from penstock.algebra.evaluate import evaluate, evaluate_mask
from penstock.algebra.expr import Call, Expr, columns, conjunction
from penstock.element import Elements
from penstock.record import Columns, Hashes, Ints
from penstock.state.state_table import equal_pairs


def combinations(sets: Sequence[Elements], conditions: Sequence[Expr]) -> tuple[Ints, ...]:
    """The rows of each set that go together: one set after the other, equalities by hash."""
    rows: tuple[Ints, ...] = (np.arange(len(sets[0])),)
    waiting = list(conditions)
    for place in range(1, len(sets)):
        known = side_by_side(sets[:place], rows)
        names = {*known.schema.names, *sets[place].schema.names}
        ready = [condition for condition in waiting if columns(condition) <= names]
        waiting = [condition for condition in waiting if condition not in ready]
        i, j = _pairs(known, sets[place], ready)
        rows = (*(own[i] for own in rows), j)
    return rows


def side_by_side(sets: Sequence[Elements], rows: Sequence[Ints]) -> Elements:
    """The records of combinations; their times and weights mean nothing."""
    schema = pa.schema([field for x in sets for field in x.schema])
    taken = [c for x, own in zip(sets, rows, strict=True) for c in record.take(x.columns, own)]
    none = np.zeros(len(rows[0]), dtype=np.int64)
    return Elements(schema, tuple(taken), none, none, none)


def _pairs(left: Elements, right: Elements, conditions: Sequence[Expr]) -> tuple[Ints, Ints]:
    left_key, right_key = _keys(left, right, conditions)
    (a, i), (b, j) = _sorted(left_key, len(left)), _sorted(right_key, len(right))
    whole = conjunction(tuple(conditions))
    found: list[tuple[Ints, Ints]] = []
    for needles, rows in equal_pairs(a, b):
        left_rows, right_rows = i[needles], j[rows]
        if conditions:
            both = side_by_side((left, right), (left_rows, right_rows))
            meet = evaluate_mask(whole, both)
            left_rows, right_rows = left_rows[meet], right_rows[meet]
        found.append((left_rows, right_rows))
    none = np.empty(0, dtype=np.int64)
    return (
        np.concatenate([none, *(left_rows for left_rows, _ in found)]),
        np.concatenate([none, *(right_rows for _, right_rows in found)]),
    )


def _keys(left: Elements, right: Elements, conditions: Sequence[Expr]) -> tuple[Columns, Columns]:
    """What the equalities compare, on either side."""
    keys: list[tuple[pa.Array, pa.Array]] = []
    for condition in conditions:
        match condition:
            case Call("=", (x, y)):
                if columns(y) <= {*left.schema.names}:
                    x, y = y, x
                keys.append((evaluate(x, left), evaluate(y, right)))
    return tuple(x for x, _ in keys), tuple(y for _, y in keys)


def _sorted(key: Columns, rows: int) -> tuple[Hashes, Ints]:
    hashes = record.hash_rows(key, rows)
    order = sorting.sort_hashes(hashes)
    return hashes[order], order
