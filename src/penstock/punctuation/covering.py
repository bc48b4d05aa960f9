"""What is said of all values of an attribute, one or a few values at a time.

Where each value of an attribute has a time, for some values of the others, then from the largest
of these times on that is said of the others alone: `<1, 8>`, `<2, 8>` and "no sensors but 1 and 2"
are `<*, 8>`. What is said of the attribute alone is taken together with all else.

Rows of a table are taken together exactly. Punctuations of several ranges, and with them all others
of the same attributes, only where they agree in the others: ranges that merely overlap are not cut
into pieces that do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from penstock.element import BEGIN, INF
from penstock.punctuation import pattern as pt
from penstock.punctuation.blocks import multiplied
from penstock.punctuation.keys import different
from penstock.punctuation.schedule import Boxes, Loose, Schedule, arranged
from penstock.punctuation.steps import Steps
from penstock.punctuation.timetable import Timetable, concat, times_of
from penstock.punctuation.valuesets import ValueSets
from penstock.record import Ints


def without_attribute(schedule: Schedule, gone: int) -> Schedule:
    """From when on records are closed whatever the value of an attribute is."""
    kept = tuple(table for table in schedule.tables if gone not in table.attributes)
    alone = tuple(loose for loose in schedule.loose if gone not in loose.box.attributes)
    rest = Schedule(schedule.always, kept, alone)
    tables: dict[tuple[int, ...], list[Timetable]] = {}
    boxes: dict[tuple[int, ...], list[Loose]] = {}
    for table in schedule.tables:
        if gone in table.attributes:
            tables.setdefault(tuple(sorted(table.attributes)), []).append(table)
    for loose in schedule.loose:
        if gone in loose.box.attributes:
            boxes.setdefault(tuple(sorted(loose.box.attributes)), []).append(loose)
    plain = schedule.plain(gone)
    found: list[Boxes] = []
    made: list[Timetable] = []
    for attributes in {**tables, **boxes}:
        same = tables.get(attributes, [])
        across = [table for table in same if table.spread != gone]
        made += [one for table in across for one in _over_keys(table, gone, plain)]
        along = [table for table in same if table.spread == gone]
        if along:
            found.append(_over_spread(concat(along + turned(across, gone)), plain))
        if attributes in boxes:
            found.append(_over_boxes(same, boxes[attributes], gone, plain))
    return arranged(replace(rest, tables=(*kept, *made)), found)


def with_plain(steps: Steps, plain: Steps | None) -> Steps:
    """The functions with what is said anyway."""
    if plain is None:
        return steps
    every = np.arange(len(steps))
    both = Steps.concat([steps, plain.take(np.zeros_like(every))])
    return both.least(np.concatenate([every, every]), len(steps))


def _over_spread(table: Timetable, plain: Steps | None) -> Boxes:
    """Of the keys of a row, when all values of the spread attribute have been closed."""
    when = with_plain(table.steps, plain).whole if table.keys else table.steps.whole
    rows = np.flatnonzero(when < INF)
    return Boxes([(a, sets.take(rows)) for a, sets in table.key_sides()], when[rows])


def _over_keys(table: Timetable, gone: int, plain: Steps | None) -> Iterator[Timetable]:
    """Of rows that agree in the other keys, when those for all values of one key are closed."""
    key = next(key for key in table.keys if key.attribute == gone)
    rest = tuple(key for key in table.keys if key.attribute != gone)
    first, group = different(rest, len(table))
    listed = Steps.of(key.sets(), np.full(len(table), BEGIN), group, len(first))
    others = with_plain(listed, plain).whole
    good = others < INF
    rows = np.flatnonzero(good[group])
    if not len(rows):
        return
    number = np.cumsum(good) - 1
    steps, count = table.steps.take(rows), int(good.sum())
    if plain is not None:
        anyway = Steps.constant(steps.domain, times_of(key, plain)[rows])
        every = np.arange(len(rows))
        both = Steps.concat([steps, anyway])
        steps = both.least(np.concatenate([every, every]), len(rows))
    steps = steps.largest(number[group[rows]], count)
    at_least = others[good]
    null = np.maximum(steps.null, at_least)
    steps = steps.with_times(null, np.maximum(steps.time, at_least[steps.owner]))
    keys = tuple(key.take(first[good]) for key in rest)
    yield Timetable(keys, table.spread, steps)


def turned(tables: list[Timetable], gone: int) -> list[Timetable]:
    """The single values of tables, as tables of which another attribute is the spread one."""
    found = []
    for table in tables:
        sides, times = table.boxes()
        lists = np.flatnonzero(dict(sides)[table.spread].sizes > 0)
        rows, chosen = multiplied([(a, s.take(lists)) for a, s in sides], gone)
        if len(rows):
            found.append(Timetable.of(chosen, gone, times[lists][rows]))
    return found


def _over_boxes(
    tables: list[Timetable], boxes: list[Loose], gone: int, plain: Steps | None
) -> Boxes:
    """A row for each group of boxes that agree in the others and together have all values."""
    parts = [Boxes(*table.boxes()) for table in tables]
    parts += [Boxes(box.parts, np.array([time])) for box, time in boxes]
    times = np.concatenate([part.times for part in parts])
    sides = {
        same[0][0]: ValueSets.concat([sets for _, sets in same])
        for same in zip(*(part.sides for part in parts), strict=True)
    }
    values = sides.pop(gone)
    first, group = _groups(list(sides.values()), len(times))
    when = with_plain(Steps.of(values, times, group, len(first)), plain).whole
    good = np.flatnonzero(when < INF)
    return Boxes([(a, sets.take(first[good])) for a, sets in sides.items()], when[good])


def _groups(others: list[ValueSets], count: int) -> tuple[Ints, Ints]:
    """The first row of each group of rows with equal sets, and the group of each row."""
    code = np.zeros(count, dtype=np.int64)
    for sets in others:
        names = [str(pt.patterns(sets, row)) for row in range(count)]
        own = np.unique(names, return_inverse=True)[1]
        code = np.unique(code * count + own, return_inverse=True)[1]
    return np.unique(code, return_index=True)[1], code
