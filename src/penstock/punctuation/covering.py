"""Punctuations that say the same of all values of an attribute, one or a few values at a time.

Where a set has matched all values of an attribute for some values of the others, it says so of
these others alone. Rows are taken together where they agree in the others, and with those that
constrain nothing else: `<1, 8>`, `<2, 8>` and "no sensors but 1 and 2" are `<*, 8>`. Ranges of
the others that merely overlap are not cut into pieces that agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from penstock.element import BEGIN
from penstock.punctuation import pattern as pt
from penstock.punctuation.blocks import Block, Side, arranged
from penstock.punctuation.domain import domain_of
from penstock.punctuation.pattern import Range
from penstock.punctuation.valuesets import ValueSets
from penstock.record import Ints, Mask

TIME = domain_of(pa.int64(), False)


def without_attribute(blocks: Sequence[Block], gone: int, time: int) -> tuple[Block, ...]:
    """What blocks say whatever the value of an attribute is, and from which time on."""
    kept: list[Sequence[Side]] = [b.sides() for b in blocks if gone not in b.attributes]
    parts = [_Part.of(block, gone, time) for block in blocks if gone in block.attributes]
    if not parts:
        return tuple(blocks)
    plain = [part for part in parts if not part.others]
    shapes: dict[tuple[int, ...], list[_Part]] = {}
    for part in parts:
        shapes.setdefault(tuple(attribute for attribute, _ in part.others), []).append(part)
    for shape, found in shapes.items():
        kept.append(_covered(found, plain if shape else [], time))
    return arranged([sides for sides in kept if len(sides) == 0 or len(sides[0][1])])


@dataclass(frozen=True)
class _Part:
    """Rows: their sets of the attribute, when they begin to hold, and their other sides."""

    values: ValueSets
    begin: Ints
    others: tuple[Side, ...]

    @staticmethod
    def of(block: Block, gone: int, time: int) -> _Part:
        sides = dict(block.sides())
        begin = np.full(len(block), BEGIN, dtype=np.int64)
        if time in sides:
            begin = begin_of(sides[time])
        others = tuple((a, sets) for a, sets in sides.items() if a not in (gone, time))
        return _Part(sides[gone], begin, others)


def begin_of(times: ValueSets) -> Ints:
    """Where each of the sets `[t, )` begins."""
    return times.cut[times.offset[:-1]].astype(np.int64)


def _covered(parts: list[_Part], plain: list[_Part], time: int) -> list[Side]:
    """A row for each group of rows that agree in the others and together have all values."""
    others = [
        (sides[0][0], ValueSets.concat([sets for _, sets in sides]))
        for sides in zip(*(part.others for part in parts), strict=True)
    ]
    values = ValueSets.concat([part.values for part in parts])
    begin = np.concatenate([part.begin for part in parts])
    first, group = _groups([sets for _, sets in others], len(begin))
    for part in plain:
        many = np.tile(np.arange(len(part.begin)), len(first))
        values = ValueSets.concat([values, part.values.take(many)])
        begin = np.concatenate([begin, part.begin[many]])
        group = np.concatenate([group, np.repeat(np.arange(len(first)), len(part.begin))])
    when, complete = _complete_from(values, begin, group, len(first))
    rows = first[complete]
    return [
        *((attribute, sets.take(rows)) for attribute, sets in others),
        (time, pt.value_sets([Range(int(t), None) for t in when[complete]], TIME)),
    ]


def _groups(others: list[ValueSets], count: int) -> tuple[Ints, Ints]:
    """The first row of each group of rows with equal sets, and the group of each row."""
    if not others:
        return np.zeros(1, dtype=np.int64), np.zeros(count, dtype=np.int64)
    code = np.zeros(count, dtype=np.int64)
    for sets in others:
        one, key, is_null = sets.points
        if one.all():
            own = np.unique(key, return_inverse=True)[1] + 1
            own = np.where(is_null, 0, own)
        else:
            names = [str(pt.patterns(sets, row)) for row in range(count)]
            own = np.unique(names, return_inverse=True)[1]
        code = np.unique(code * (int(own.max()) + 1) + own, return_inverse=True)[1]
    return np.unique(code, return_index=True)[1], code


def _complete_from(values: ValueSets, begin: Ints, group: Ints, count: int) -> tuple[Ints, Mask]:
    """From when on the rows of each group that hold have all values, if they ever do.

    The time of each group is searched for among all times, one half after the other.
    """
    times = np.unique(begin)

    def complete(last: Ints) -> Mask:
        holding = np.flatnonzero(begin <= times[last][group])
        return values.take(holding).merged(group[holding], count).is_everything

    low, high = np.zeros(count, dtype=np.int64), np.full(count, len(times) - 1)
    ever = complete(high)
    while np.any(low < high):
        middle = (low + high) // 2
        enough = complete(middle)
        low, high = (
            np.where(enough, low, np.minimum(middle + 1, high)),
            np.where(enough, middle, high),
        )
    return times[high], ever
