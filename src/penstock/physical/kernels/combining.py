"""Rows that come to a group at one time, added up before they come to the aggregate.

Law: a group that only grows is asked about after all that came at a time. So the sums of those
rows say as much as the rows do, and of their values the first and the last. A few rows are left for
each group and time: those that hold such values, or else any; one of them has the sums of all as
weights, and together they count as many.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from penstock import record
from penstock.algebra.aggregates import AggregateCall
from penstock.element import Elements
from penstock.kinds import operator
from penstock.physical.kernel import timeline
from penstock.physical.kernels import aggregate_sums
from penstock.physical.kernels.aggregate_values import ValueSource, value_sources
from penstock.physical.kernels.extremes import value_codes
from penstock.record import Ints, Mask, starts_of


def can_combine(calls: tuple[AggregateCall, ...]) -> bool:
    """Whether sums, and the first and the last of values, are all that is asked for."""
    sums = aggregate_sums.sources(calls)
    values = value_sources(calls)
    return not any(source.distinct for source in sums) and all(
        source.sides(calls) is not None for source in values
    )


@operator("combine")
@dataclass(frozen=True)
class Combine:
    """Adds up rows of equal keys and times before they are exchanged."""

    keys: tuple[str, ...]
    calls: tuple[AggregateCall, ...]

    @cached_property
    def kept(self) -> tuple[str, ...]:
        """The columns that are left: keys, and what values are found by."""
        used = [name for source in self._values for name in (*source.args, source.where)]
        return tuple(name for name in dict.fromkeys((*self.keys, *used)) if name is not None)

    @cached_property
    def _values(self) -> tuple[ValueSource, ...]:
        return value_sources(self.calls)

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return pa.schema([inputs[0].field(name) for name in self.kept])

    def apply(self, *inputs: Elements) -> Elements:
        x = inputs[0]
        if len(x) == 0:
            return x.select(self.kept)
        keys = x.key(self.keys)
        frames = timeline(keys, record.hash_rows(keys, len(x)), x.ts)
        order, start, group = frames.order, frames.start, frames.frame
        place = np.flatnonzero(self._left(x, order, start, group))
        leads = np.flatnonzero(starts_of(group[place]))
        n = np.ones(len(place), dtype=np.int64)
        others = np.diff(leads, append=len(place)) - 1
        n[leads] = np.add.reduceat(x.n[order], start) - others
        sums = {}
        for name, weight in self._contributions(x).items():
            sums[name] = np.zeros(len(place), dtype=np.int64)
            sums[name][leads] = np.add.reduceat(weight[order], start)
        return replace(x.select(self.kept).take(order[place]), n=n, sums=sums)

    def _contributions(self, x: Elements) -> dict[str, Ints]:
        """What each row adds to the sums of its group."""
        sums: dict[str, Ints] = {}
        for source, functions in aggregate_sums.sources(self.calls).items():
            sums |= aggregate_sums.contributions(source, functions, x)
        return sums

    def _left(self, x: Elements, order: Ints, start: Ints, group: Ints) -> Mask:
        """The rows that are left, in order: at least one of each group."""
        left = np.zeros(len(order), dtype=np.bool_)
        for source in self._values:
            taking = np.zeros(len(order), dtype=np.bool_)
            taking[source.rows(x)] = True
            place = np.flatnonzero(taking[order])
            code, mine = _ordered(x, source.args)[order[place]], group[place]
            for greatest in source.sides(self.calls) or ():
                left[place[_best(code, mine, greatest)]] = True
        empty = np.ones(len(start), dtype=np.bool_)
        empty[group[left]] = False
        left[start[empty]] = True
        return left


def _ordered(x: Elements, args: tuple[str, ...]) -> Ints:
    """Numbers in the order of the values of rows; where these are whole numbers, themselves."""
    column = x.column(args[0])
    if len(args) == 1 and pa.types.is_integer(column.type):
        return record.numpy(column)
    return value_codes(x, args)


def _best(code: Ints, group: Ints, greatest: bool) -> Ints:
    """A place with the greatest or least code of each group; those of a group lie together."""
    if len(code) == 0:
        return code
    begin = starts_of(group)
    choose = np.maximum if greatest else np.minimum
    best = choose.reduceat(code, np.flatnonzero(begin))
    found = np.flatnonzero(code == best[np.cumsum(begin) - 1])
    return found[starts_of(group[found])]
