"""What is closed, and from when on: many punctuations with their times as few tables.

Meaning: a function from records to times, the least time of all punctuations that a record
matches. Law: `arranged` keeps this function.

Boxes become rows of tables as in `blocks`; the time is one more thing to say about a row, and not
an attribute. Those with several ranges stay alone and cost a match of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from penstock.element import BEGIN, INF
from penstock.punctuation.blocks import Box, Sides, boxes_of, dispatched
from penstock.punctuation.steps import Steps
from penstock.punctuation.timetable import Timetable, concat, times_of
from penstock.record import Columns, Ints

_MOST_COMPARED = 64


class Boxes(NamedTuple):
    """Row i of the sides is a box that holds from time i on."""

    sides: Sides
    times: Ints


class Loose(NamedTuple):
    """A punctuation by itself, as a box, and the time from which on it holds."""

    box: Box
    time: int

    def covers(self, other: Loose) -> bool:
        return self.time <= other.time and self.box.covers(other.box)


@dataclass(frozen=True, eq=False)
class Schedule:
    """`always`: when everything is closed."""

    always: int = INF
    tables: tuple[Timetable, ...] = ()
    loose: tuple[Loose, ...] = ()

    def __bool__(self) -> bool:
        return self.always < INF or bool(self.tables or self.loose)

    def __len__(self) -> int:
        """How many punctuations it takes to say the same, or a few more."""
        return sum(table.steps.piece_count for table in self.tables) + len(self.loose) + 1

    def and_also(self, boxes: Iterable[Boxes]) -> Schedule:
        return arranged(self, boxes)

    def settled(self, frontier: int) -> Schedule:
        """Times before the frontier are as good as the beginning."""
        return arranged(
            Schedule(
                BEGIN if self.always < frontier else self.always,
                tuple(table.settled(frontier) for table in self.tables),
                tuple(Loose(b, BEGIN if t < frontier else t) for b, t in self.loose),
            )
        )

    def from_the_beginning(self, attribute: int) -> Schedule:
        """Boxes that constrain an attribute hold from the beginning, the others as they do."""
        boxes = [
            Boxes(sides, np.full(len(times), BEGIN, dtype=np.int64))
            for sides, times in self.boxes()
            if any(place == attribute for place, _ in sides)
        ]
        return self.and_also(boxes) if boxes else self

    def moved(self, places: Sequence[int]) -> Schedule:
        """The same of records whose attributes are at other places."""
        boxes = (
            tuple(sorted(((places[a], s) for a, s in box.parts), key=lambda side: side[0]))
            for box, _ in self.loose
        )
        return Schedule(
            self.always,
            tuple(table.moved(places) for table in self.tables),
            tuple(Loose(Box(b), t) for b, (_, t) in zip(boxes, self.loose, strict=True)),
        )

    def plain(self, attribute: int) -> Steps | None:
        """What is said of the values of one attribute, whatever the others are."""
        return next((t.steps for t in self.tables if not t.keys and t.spread == attribute), None)

    def first(self, columns: Columns, length: int) -> Ints:
        """For each record the time from which on it is closed, INF for never."""
        found = np.full(length, self.always, dtype=np.int64)
        for table in self.tables:
            np.minimum(found, table.first(columns, length), out=found)
        for box, time in self.loose:
            np.minimum(found, np.where(box.matches(columns, length), time, INF), out=found)
        return found

    def boxes(self) -> Iterator[Boxes]:
        """The same as boxes."""
        if self.always < INF:
            yield Boxes([], np.array([self.always]))
        for table in self.tables:
            yield Boxes(*table.boxes())
        for box, time in self.loose:
            yield Boxes(box.parts, np.array([time]))


NOTHING = Schedule()


def arranged(before: Schedule, boxes: Iterable[Boxes] = ()) -> Schedule:
    """What a schedule and some boxes say, merged."""
    always, loose = before.always, list(before.loose)
    tables: dict[tuple[tuple[int, ...], int], list[Timetable]] = {}
    for table in before.tables:
        tables.setdefault(table.shape, []).append(table)
    waiting = list(boxes)
    while True:
        for sides, times in waiting:
            for rows, chosen, spread in dispatched(sides, np.arange(len(times))):
                mine = times[rows]
                if spread is not None:
                    table = Timetable.of(chosen, spread, mine)
                    tables.setdefault(table.shape, []).append(table)
                elif chosen:
                    alone = zip(boxes_of(chosen, len(rows)), mine.tolist(), strict=True)
                    loose += [Loose(box, time) for box, time in alone]
                else:
                    always = min(always, int(mine.min(initial=INF)))
        waiting = []
        for shape, found in list(tables.items()):
            table = concat(found)
            whole = table.steps.is_constant
            tables[shape] = [table]
            if np.any(whole):
                full = table.take(np.flatnonzero(whole))
                waiting.append(Boxes(full.key_sides(), full.steps.whole))
                tables[shape] = [table.take(np.flatnonzero(~whole))]
        if not waiting:
            break
    merged = [found[0] for found in tables.values() if len(found[0])]
    kept = _uncovered(loose, merged, always)
    return Schedule(always, tuple(_absorbed(merged, always)), tuple(kept))


def _absorbed(tables: list[Timetable], always: int) -> Iterator[Timetable]:
    """The tables without what a table of one attribute, or of none, says anyway."""
    plain = {table.spread: table.steps for table in tables if not table.keys}
    for table in tables:
        if always < INF:
            steps = table.steps
            null, time = (np.where(t < always, t, INF) for t in (steps.null, steps.time))
            table = table.with_steps(steps.with_times(null, time))
        for at, attribute in enumerate(table.shape[0]):
            if attribute in plain:
                said = times_of(table.keys[at], plain[attribute]) <= table.steps.soonest
                table = table.take(np.flatnonzero(~said))
        if table.keys and table.spread in plain:
            one, steps = plain[table.spread], table.steps
            null = np.where(one.null[0] <= steps.null, INF, steps.null)
            time = np.where(steps.covered_by(one), INF, steps.time)
            table = table.with_steps(steps.with_times(null, time))
        if len(table):
            yield table


def _uncovered(boxes: list[Loose], tables: list[Timetable], always: int) -> list[Loose]:
    """The boxes that none of the others, and no table of one attribute, makes superfluous."""
    settled = [
        Loose(Box(((table.spread, sets.take(np.flatnonzero(time == BEGIN))),)), BEGIN)
        for table in (tables if boxes else ())
        for _, time, sets in (table.steps.pieces(),)
        if not table.keys and np.any(time == BEGIN)
    ]
    kept: list[Loose] = []
    for box in boxes:
        near = kept[:_MOST_COMPARED]
        if box.time < always and not any(other.covers(box) for other in (*settled, *near)):
            kept = [k for k in near if not box.covers(k)] + kept[_MOST_COMPARED:]
            kept.append(box)
    return kept
