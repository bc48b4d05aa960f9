"""A query answered from the rows of a view: what is missing of them, and what is left to do.

Law: what is left to do, over the view, has the snapshots of the query at all times. Where that is
not known, the view does not match; there is no guess.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa

from penstock.algebra import plan as p
from penstock.algebra.expr import Call, Column, Expr, conjunction
from penstock.algebra.times import last_multiple, micros, shifted
from penstock.sharing.deriving import Deriver, MissingError
from penstock.sharing.expressions import FROM, UNTIL, canonical, is_exact, is_temporal
from penstock.sharing.facts import Facts
from penstock.sharing.form import Atom, Rows, Window, renumbered
from penstock.sharing.identity import Identities
from penstock.sharing.points import Points, contains, same
from penstock.sharing.wording import shown, told

_MOST_ASSIGNMENTS = 24


class NoMatchError(Exception):
    """Why a view does not answer a query."""


@dataclass(frozen=True)
class Remainder:
    """What is left to do with the rows of a view: conditions, over its columns and those of the
    other relations that the query reads, and the points to look at."""

    conditions: tuple[Expr, ...]
    moments: tuple[Expr, ...]
    points: Points | None
    rest: tuple[tuple[int, Atom], ...]
    facts: Facts
    table: tuple[tuple[Expr, str], ...]

    def over(self, view: p.Node) -> p.Node:
        """Rows with the columns of the view, and of the other relations, under their own names.

        Where nothing comes before them, the points are those of the view: many may look at it then.
        """
        points = self.points
        if points is not None and not (self.rest or self.moments):
            view, points = p.Sync(view, points), None
        node: p.Node = p.Map(
            view, tuple((view_column(f.name), Column(f.name, f.type)) for f in view.schema)
        )
        for number, atom in self.rest:
            schema = atom.plan.schema
            outputs = tuple(
                (f"{number}:{name}", Column(own, schema.field(own).type))
                for name, own in atom.names.items()
            )
            node = p.Join(node, p.Map(atom.rows, outputs))
        if self.conditions:
            node = p.Filter(node, conjunction(self.conditions))
        for moment in self.moments:
            assert isinstance(moment, Call)
            (time,) = moment.args
            node = (
                p.Restrict(node, time, None)
                if moment.function == FROM
                else p.Restrict(node, None, time)
            )
        return node if points is None else p.Sync(node, points)


def view_column(name: str) -> str:
    return f"view:{name}"


def assignments(query: Rows, view: Rows) -> Iterator[dict[int, int]]:
    """Which relation of the query each one of the view may be."""
    places = [
        [j for j, atom in enumerate(query.atoms) if atom.identity == mine.identity]
        for mine in view.atoms
    ]
    yield from _assigned(places, {}, [_MOST_ASSIGNMENTS])


def _assigned(
    places: list[list[int]], chosen: dict[int, int], left: list[int]
) -> Iterator[dict[int, int]]:
    if len(chosen) == len(places):
        if left[0] > 0:
            left[0] -= 1
            yield dict(chosen)
        return
    for j in places[len(chosen)]:
        if j not in chosen.values() and left[0] > 0:
            yield from _assigned(places, {**chosen, len(chosen): j}, left)


def remainder(
    query: Rows,
    view: Rows,
    outputs: Mapping[str, Expr],
    numbers: Mapping[int, int],
    known: Identities,
) -> Remainder:
    """What is left to do with the rows of a view; `outputs` are those of its columns to be used."""
    facts = Facts(query.conditions)
    theirs = [renumbered(c, numbers) for c in view.conditions]
    for condition in theirs:
        if not facts.imply(condition):
            raise NoMatchError(f"it has only rows where {told(condition)}")
    held = Facts(theirs)
    covered = set(numbers.values())
    rest = tuple((i, atom) for i, atom in enumerate(query.atoms) if i not in covered)
    table = [(renumbered(e, numbers), view_column(name)) for name, e in outputs.items()]
    for number, atom in rest:
        for name, own in atom.names.items():
            column = f"{number}:{name}"
            table.append((Column(column, atom.plan.schema.field(own).type), column))
    left = [c for c in query.conditions if not held.imply(c)]
    left += _shorter_windows(query, view, numbers)
    try:
        derived = [_condition(c, table, facts, held) for c in left]
    except MissingError as missing:
        raise NoMatchError(f"it does not have {shown(missing.expr)}, to select rows by") from None
    moments = tuple(c for c in derived if is_temporal(c))
    conditions = tuple(c for c in derived if not is_temporal(c))
    points = _points(query.points, view.points, bool(moments or rest), known)
    return Remainder(conditions, moments, points, rest, facts, tuple(table))


def _condition(condition: Expr, table: list[tuple[Expr, str]], facts: Facts, held: Facts) -> Expr:
    """A condition over what there is; columns are not equal before it is seen to that they are."""
    match condition:
        case Call("=" | "<=>", (Column(_, kind), Column())) if is_exact(kind):
            return Deriver(table, held)(condition)
    return Deriver(table, facts, certain=False)(condition)


def _shorter_windows(query: Rows, view: Rows, numbers: Mapping[int, int]) -> list[Expr]:
    """The ends of windows that are shorter than those of the view."""
    found: list[Expr] = []
    for i, mine in enumerate(view.atoms):
        other = query.atoms[numbers[i]]
        if mine.window == other.window:
            continue
        if other.window is None or not _is_within(other.window, mine.window):
            raise NoMatchError("its window ends too early")
        if other.time is None:
            raise NoMatchError("its window is another")
        name, kind = other.time
        own = next(n for n, column in other.names.items() if column == name)
        found.append(_end(other.window, Column(f"{numbers[i]}:{own}", kind)))
    return found


def _is_within(window: Window, other: Window | None) -> bool:
    """Whether rows never leave the one window later than the other."""
    if other is None:
        return True
    match window, other:
        case ("sliding" | "fixed", size, "UTC"), ("sliding", longer, _):
            return size <= longer
        case ("fixed", size, "UTC"), ("fixed", longer, "UTC"):
            return longer % size == 0
    return False


def _end(window: Window, time: Column) -> Expr:
    kind, size, _ = window
    begun = micros(time)
    begun = begun if kind == "sliding" else last_multiple(begun, size)
    return canonical(Call(UNTIL, (shifted(begun, "+", size),), pa.bool_()))


def _points(
    wanted: Points | None, there: Points | None, changed: bool, known: Identities
) -> Points | None:
    """The points to look at anew, None where the view shows what is to be seen already."""
    if same(wanted, there, known):
        return wanted if changed else None
    if there is None:
        return wanted
    if wanted is None:
        raise NoMatchError("it changes only at its points of synchronization")
    if not contains(there, wanted, known):
        raise NoMatchError("it is not synchronized at all the points of the query")
    return wanted
