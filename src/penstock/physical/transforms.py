"""Linear operators: each element by itself becomes elements; nothing is remembered.

Law: a transform of a sum is the sum of the transforms, so signed weights pass as they are, and the
order and grouping of the input never show.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, Protocol

import numpy as np
import pyarrow as pa

from penstock import record, sorting
from penstock.algebra.calendar import Midnights
from penstock.algebra.evaluate import evaluate, evaluate_ints, evaluate_mask
from penstock.algebra.expr import Column, Expr
from penstock.element import BEGIN, INF, Elements, add_time, concat
from penstock.kinds import operator
from penstock.physical.kernel import timeline
from penstock.record import Direction


class Transform(Protocol):
    """A linear operator: a schema from schemas, elements from elements."""

    def schema(self, *inputs: pa.Schema) -> pa.Schema: ...
    def apply(self, *inputs: Elements) -> Elements: ...


@operator("select")
@dataclass(frozen=True)
class Select:
    """The elements whose record the predicate is true of (algorithm 1)."""

    predicate: Expr

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return inputs[0]

    def apply(self, *inputs: Elements) -> Elements:
        return inputs[0].where(evaluate_mask(self.predicate, inputs[0]))


@operator("project")
@dataclass(frozen=True)
class Project:
    """New records computed from the old ones (algorithm 2)."""

    outputs: tuple[tuple[str, Expr], ...]

    @property
    def passes(self) -> bool:
        """Whether it looks at no value."""
        return all(isinstance(expr, Column) for _, expr in self.outputs)

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return pa.schema([(name, expr.type) for name, expr in self.outputs])

    def apply(self, *inputs: Elements) -> Elements:
        columns = tuple(evaluate(expr, inputs[0]) for _, expr in self.outputs)
        return replace(inputs[0], schema=self.schema(inputs[0].schema), columns=columns)


@operator("end")
@dataclass(frozen=True)
class End:
    """Ends each validity: `size` after it began, or at the next multiple of `size`."""

    kind: Literal["sliding", "fixed"]
    size: int

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return inputs[0]

    def apply(self, *inputs: Elements) -> Elements:
        x = inputs[0]
        past = x.ts
        if self.kind == "fixed":  # there are no multiples before the beginning of time
            past = np.where(x.ts < BEGIN + self.size, BEGIN, x.ts - x.ts % self.size)
        return replace(x, te=np.minimum(x.te, add_time(past, self.size)))


@operator("end of days")
@dataclass(frozen=True)
class EndOfDays:
    """Ends each validity when the next of some days begins."""

    days: Midnights

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return inputs[0]

    def apply(self, *inputs: Elements) -> Elements:
        x = inputs[0]
        return replace(x, te=np.minimum(x.te, self.days.after(x.ts)))


@operator("gather")
@dataclass(frozen=True)
class PreAggregation:
    """Adds up equal records that are not seen before the time `start`, computed from them.

    They are there from the last of their beginnings before that on: for who looks at them only
    from the start on, or from when on no more of them come, that is the same.
    """

    start: Expr

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return inputs[0]

    def apply(self, *inputs: Elements) -> Elements:
        x = inputs[0]
        unseen = (x.te == INF) & (x.ts < evaluate_ints(self.start, x))
        seen, x = x.where(~unseen), x.where(unseen)
        order, fresh = record.arrange(x.columns, record.hash_rows(x.columns, len(x)), x.ts)
        first = np.flatnonzero(fresh)
        last = order[np.append(first[1:], len(x)) - 1] if len(x) else order
        n = np.add.reduceat(x.n[order], first) if len(x) else x.n
        gathered = replace(x.take(last), n=n)
        return concat(x.schema, [gathered.where(n != 0), seen])


@operator("foremost")
@dataclass(frozen=True)
class LocalTopK:
    """Of rows of a partition that come at one time, those that can be among its first `limit`.

    For who looks for the first rows of partitions that only grow, that is the same. Rows that are
    as far as the last of them stay: who looks breaks ties.
    """

    partition: tuple[str, ...]
    order: tuple[tuple[str, Direction], ...]
    limit: int

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return inputs[0]

    def apply(self, *inputs: Elements) -> Elements:
        x = inputs[0]
        keys = x.key(self.partition)
        frames = timeline(keys, record.hash_rows(keys, len(x)), x.ts)
        rows, group = frames.order, frames.frame
        crowded = (np.bincount(group) > self.limit)[group]
        rows, group = rows[crowded], group[crowded]
        values = record.take(x.key([name for name, _ in self.order]), rows)
        code = record.order_codes(values, [each for _, each in self.order], len(rows))
        in_order = sorting.sort_by(group, code)
        start = np.flatnonzero(record.starts_of(group))
        last = np.zeros(int(group.max(initial=0)) + 1, dtype=np.int64)
        last[group[start]] = code[in_order[start + self.limit - 1]]
        stays = np.ones(len(x), dtype=np.bool_)
        stays[rows[code > last[group]]] = False
        return x.where(stays)


@operator("stamp")
@dataclass(frozen=True)
class Stamp:
    """Adds the time at which an element begins as a column of its record."""

    name: str

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return inputs[0].append(pa.field(self.name, pa.int64()))

    def apply(self, *inputs: Elements) -> Elements:
        x = inputs[0]
        columns = (*x.columns, pa.array(x.ts))
        return replace(x, schema=self.schema(x.schema), columns=columns)


@operator("negate")
@dataclass(frozen=True)
class Negate:
    """Takes away what the input adds."""

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return inputs[0]

    def apply(self, *inputs: Elements) -> Elements:
        return inputs[0].negated()


@operator("merge")
@dataclass(frozen=True)
class Merge:
    """All elements of all inputs; lock-step makes the merge of algorithm 9 a mere union."""

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return inputs[0]

    def apply(self, *inputs: Elements) -> Elements:
        return concat(inputs[0].schema, inputs)
