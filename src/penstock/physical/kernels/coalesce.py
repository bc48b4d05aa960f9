"""Coalescing: the same snapshots in fewer elements.

Meaning: value-equivalent elements whose validities adjoin become one (algorithm 10), as long as
the result is not longer than `limit`.
Law: keeps all snapshots. Nothing waits: only elements that come together are joined.
State: none, so it is a transform.
Cost: follows the delta.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from penstock import record, sorting
from penstock.element import Elements, consolidate
from penstock.kinds import operator
from penstock.record import Ints, Mask


@operator("coalescing")
@dataclass(frozen=True)
class Coalescing:
    """Joins equal records whose validities meet, to at most a length of `limit`."""

    limit: int

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return inputs[0]

    def apply(self, *inputs: Elements) -> Elements:
        x = consolidate(inputs[0])
        group = record.group_rows(x.columns, record.hash_rows(x.columns, len(x))).code
        order = sorting.sort_by(group, x.n, x.ts)
        x, group = x.take(order), group[order]
        adjoins = ~record.starts_of(group, x.n)
        adjoins[1:] &= x.ts[1:] == x.te[:-1]
        begins = _within(self.limit, adjoins, x.ts, x.te)
        ends = np.append(begins[1:], True)[: len(begins)]
        return replace(x.where(begins), te=x.te[ends])


def _within(limit: int, adjoins: Mask, ts: Ints, te: Ints) -> Mask:
    """Where a joined element begins: at the head of a chain, and at each multiple of the limit."""
    head = np.maximum.accumulate(np.where(adjoins, 0, np.arange(len(ts))))
    first, last = (ts - ts[head]) // limit, (te - ts[head] - 1) // limit
    begins = ~adjoins | (first != last)
    begins[1:] |= last[1:] != last[:-1]
    begins[1:] |= first[:-1] != last[:-1]
    return begins
