"""Boxes of values sorted into tables: how many punctuations become few arrays.

A *side* is an attribute with a set of values per row; row i of several sides is the box of all
records whose attributes lie in the sets i. Law: `arranged` keeps the records that are matched.

A box with at most one side of several values is a row of a table. Short lists on other sides are
multiplied out. What is left, with two or more ranges (or long lists), stays a box of its own and
costs a match of its own: the one case where the cost goes with the number of punctuations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import NamedTuple, TypeAlias

import numpy as np

from penstock.punctuation import pattern as pt
from penstock.punctuation.keys import aligned
from penstock.punctuation.pattern import ANY, Pattern
from penstock.punctuation.table import Table, concat
from penstock.punctuation.valuesets import ValueSets
from penstock.record import Columns, Ints, Mask

Side: TypeAlias = tuple[int, ValueSets]
Sides: TypeAlias = Sequence[Side]

_MOST_MULTIPLIED = 256
_MOST_COMPARED = 64


@dataclass(frozen=True, eq=False)
class Box:
    """One box; without sides, everything."""

    parts: tuple[Side, ...]

    @property
    def attributes(self) -> set[int]:
        return {attribute for attribute, _ in self.parts}

    def sides(self) -> tuple[Side, ...]:
        return self.parts

    def __len__(self) -> int:
        return 1

    @property
    def piece_count(self) -> int:
        return prod(sets.pieces[2] for _, sets in self.parts)

    def which(self, columns: Columns, length: int) -> Ints:
        found = np.zeros(length, dtype=np.int64)
        for attribute, sets in self.parts:
            piece = sets.which(None, columns[attribute])
            both = (found >= 0) & (piece >= 0)
            found = np.where(both, found * sets.pieces[2] + piece, -1)
        return found

    def matches(self, columns: Columns, length: int) -> Mask:
        found = np.ones(length, dtype=np.bool_)
        for attribute, sets in self.parts:
            found &= sets.contain(None, columns[attribute])
        return found

    def pieces(self, width: int) -> Iterator[tuple[Pattern, ...]]:
        for chosen in product(*(pt.patterns(sets) for _, sets in self.parts)):
            named = dict(zip((attribute for attribute, _ in self.parts), chosen, strict=True))
            yield tuple(named.get(attribute, ANY) for attribute in range(width))

    def covers(self, other: Box) -> bool:
        theirs = dict(other.parts)
        return all(
            attribute in theirs and bool((theirs[attribute] - sets).is_nothing[0])
            for attribute, sets in self.parts
        )


Block: TypeAlias = Table | Box

EVERYTHING = Box(())


def arranged(boxes: Iterable[Sides]) -> tuple[Block, ...]:
    """Blocks that match what any row of any of the boxes does, merged."""
    tables: dict[tuple[tuple[int, ...], int], list[Table]] = {}
    loose: list[Box] = []
    waiting = list(boxes)
    while waiting:
        sides = waiting.pop()
        for part in dispatched(sides, np.arange(len(sides[0][1]) if sides else 1)):
            if part.spread is None:
                loose += boxes_of(part.sides, len(part.rows))
            else:
                table = Table.of(part.sides, part.spread)
                tables.setdefault(table.shape, []).append(table)
        if not waiting:
            for shape, found in list(tables.items()):
                table = concat(found)
                full = table.sets.is_everything
                tables[shape] = [table.take(np.flatnonzero(~full))] if full.any() else [table]
                if full.any():
                    rest = table.take(np.flatnonzero(full)).sides()
                    waiting.append([side for side in rest if side[0] != table.spread])
                    if not table.keys:
                        return (EVERYTHING,)
    if any(not box.parts for box in loose):
        return (EVERYTHING,)
    merged = [found[0] for found in tables.values() if len(found[0])]
    merged = [table for table in merged if not table.sets.is_nothing.all()]
    return (*_absorbed(merged), *_uncovered(loose, merged))


def boxes_of(sides: Sides, count: int) -> list[Box]:
    """One box for each row."""
    rows = np.arange(count)[:, None]
    return [Box(tuple((a, s.take(row)) for a, s in sides)) for row in rows]


def combined(a: Block, b: Block) -> list[tuple[Side, ...]]:
    """The boxes of what both blocks match."""
    if isinstance(a, Table) and isinstance(b, Table):
        for one, many in ((a, b), (b, a)):
            if not one.keys and one.spread in many.attributes:
                return [_restricted(many, one)]
        left, right = _pairs(a, b)
    else:
        left = np.repeat(np.arange(len(a)), len(b))
        right = np.tile(np.arange(len(b)), len(a))
    sides = {attribute: sets.take(left) for attribute, sets in a.sides()}
    for attribute, sets in b.sides():
        mine = sets.take(right)
        sides[attribute] = sides[attribute] & mine if attribute in sides else mine
    return [tuple(sorted(sides.items(), key=lambda side: side[0]))]


def covers(block: Block, sides: Sides) -> bool:
    """Whether a block matches all of one box."""
    wanted = dict(sides)
    if not block.attributes <= wanted.keys():
        return False
    if isinstance(block, Box):
        return block.covers(Box(tuple(sides)))
    mine = [(attribute, wanted[attribute]) for attribute in sorted(block.attributes)]
    sizes = [int(sets.sizes[0]) for attribute, sets in mine if attribute != block.spread]
    if min(sizes, default=1) < 0 or prod(sizes) > _MOST_MULTIPLIED:
        return False
    asked = Table.of(multiplied(mine, block.spread)[1], block.spread)
    met = Table.of(combined(asked, block)[0], block.spread)
    pairs = zip(met.sides(), asked.sides(), strict=True)
    return all(found[1] == side[1] for found, side in pairs)


class Part(NamedTuple):
    """Some rows of boxes, as they are to be kept: in a table, or where `spread` is None, alone.

    `rows` are the numbers of the boxes; one whose lists were written out is there several times.
    """

    rows: Ints
    sides: Sides
    spread: int | None


def dispatched(sides: Sides, rows: Ints) -> Iterator[Part]:
    """Boxes, numbered by `rows`, by which of their sides have one element, several, or all.

    Sides of all values are left out, and so are boxes that match nothing.
    """
    if not sides:
        yield Part(rows, sides, None)
        return
    alive = np.ones(len(rows), dtype=np.bool_)
    for _, sets in sides:
        alive &= ~sets.is_nothing
    for attribute, sets in sides:
        full = np.flatnonzero(alive & sets.is_everything)
        if len(full):
            rest = [(a, s.take(full)) for a, s in sides if a != attribute]
            yield from dispatched(rest, rows[full])
            alive[full] = False
    several = np.stack([~sets.points[0] for _, sets in sides])
    crowded = several.sum(axis=0)
    for at, (attribute, _) in enumerate(sides):
        last = at == len(sides) - 1
        mine = (crowded == 1) & several[at] | ((crowded == 0) & last)
        if np.any(alive & mine):
            yield _part(sides, rows, np.flatnonzero(alive & mine), attribute)
    if np.any(alive & (crowded > 1)):
        yield from _written_out(_part(sides, rows, np.flatnonzero(alive & (crowded > 1)), None))


def _part(sides: Sides, rows: Ints, chosen: Ints, spread: int | None) -> Part:
    return Part(rows[chosen], [(a, s.take(chosen)) for a, s in sides], spread)


def _written_out(part: Part) -> Iterator[Part]:
    """Boxes with several sides of several values: with their lists written out, or as they are.

    All sides but one are, where they are lists: that one is a range, or the longest list.
    """
    sizes = np.stack([sets.sizes for _, sets in part.sides])
    spread = np.where(np.any(sizes < 0, axis=0), sizes.argmin(axis=0), sizes.argmax(axis=0))
    others = sizes.copy()
    others[spread, np.arange(len(part.rows))] = 1
    count = np.where(np.all(others > 0, axis=0), others.clip(1).prod(axis=0, dtype=float), np.inf)
    few = count <= _MOST_MULTIPLIED
    for at, (attribute, _) in enumerate(part.sides):
        mine = np.flatnonzero(few & (spread == at))
        if len(mine):
            chosen = _part(part.sides, part.rows, mine, attribute)
            rows, sides = multiplied(chosen.sides, attribute)
            yield Part(chosen.rows[rows], sides, attribute)
    if not few.all():
        yield _part(part.sides, part.rows, np.flatnonzero(~few), None)


def multiplied(sides: Sides, spread: int) -> tuple[Ints, Sides]:
    """Boxes with a row for each choice from the lists of all sides but one, and whose it is."""
    written = dict(sides)
    rows = np.arange(len(written[spread]))
    for attribute in written:
        if attribute != spread:
            owner, written[attribute] = written[attribute].elements()
            written |= {a: s.take(owner) for a, s in written.items() if a != attribute}
            rows = rows[owner]
    return rows, list(written.items())


def _restricted(many: Table, one: Table) -> tuple[Side, ...]:
    """The rows of a table, as far as they lie in the one set of another."""
    if many.spread == one.spread:
        return many.with_sets(many.sets.within(one.sets)).sides()
    return many.take(np.flatnonzero(_key_in(many, one))).sides()


def _key_in(many: Table, one: Table) -> Mask:
    """Which rows have a key in the one set of another table."""
    key = next(key for key in many.keys if key.attribute == one.spread)
    inside = np.searchsorted(one.sets.cut, key.keys, side="right") % 2 == 1
    return np.append(inside, one.sets.null[0])[key.code]


def _pairs(a: Table, b: Table) -> tuple[Ints, Ints]:
    """The pairs of rows that agree in the keys that both tables have."""
    shared = [key.attribute for key in a.keys if key.attribute in b.shape[0]]
    narrow = [tuple(k for k in table.keys if k.attribute in shared) for table in (a, b)]
    code = np.zeros(len(a) + len(b), dtype=np.int64)
    for mine, theirs in zip(*aligned(narrow), strict=True):
        both = np.concatenate([mine.code, theirs.code])
        code = np.unique(code * (len(mine.keys) + 1) + both, return_inverse=True)[1]
    left, right = code[: len(a)], code[len(a) :]
    order = np.argsort(right, kind="stable")
    first = np.searchsorted(right[order], left, side="left")
    size = np.searchsorted(right[order], left, side="right") - first
    owner = np.repeat(np.arange(len(a)), size)
    place = np.arange(len(owner)) - (np.cumsum(size) - size)[owner] + first[owner]
    return owner, order[place]


def _absorbed(tables: list[Table]) -> Iterator[Table]:
    """The tables without what a table of one attribute matches anyway."""
    plain = [table for table in tables if not table.keys]
    for table in tables:
        for one in plain:
            if table.keys and one.spread in table.attributes and len(table):
                if one.spread == table.spread:
                    rest = table.sets.within(one.sets.complement())
                    table = table.with_sets(rest)
                else:
                    table = table.take(np.flatnonzero(~_key_in(table, one)))
        if len(table):
            yield table


def _uncovered(boxes: list[Box], tables: list[Table]) -> list[Box]:
    """The boxes that none of the others, and no table of one attribute, makes superfluous."""
    plain = [Box(((table.spread, table.sets),)) for table in tables if not table.keys]
    kept: list[Box] = []
    for box in boxes:
        if not any(other.covers(box) for other in (*plain, *kept[:_MOST_COMPARED])):
            kept = [k for k in kept[:_MOST_COMPARED] if not box.covers(k)] + kept[_MOST_COMPARED:]
            kept.append(box)
    return kept
