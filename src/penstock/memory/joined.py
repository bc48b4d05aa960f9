"""A product in the words of the theory, and back: attributes, what is implied of them, plans."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import permutations
from typing import Any

import pyarrow as pa

from penstock.algebra import plan as p
from penstock.algebra.expr import (
    Call,
    Column,
    Expr,
    Literal,
    cast,
    columns,
    compare,
    conjunction,
)
from penstock.memory.closure import Closure
from penstock.memory.conditions import (
    Every,
    TooManyPartsError,
    attributes_of,
    split,
)
from penstock.memory.predicates import Atom, Attribute, Comparison, Element
from penstock.memory.products import NoProductError, Product, places, unplaced
from penstock.memory.query import Query, Stream
from penstock.memory.reader import Reader, has_ranks, is_micros

_BITS = {pa.int8(): 8, pa.int16(): 16, pa.int32(): 32, pa.int64(): 64}


@dataclass(frozen=True)
class Extreme:
    """An attribute of which the largest value matters, or the smallest."""

    attribute: Attribute
    high: bool


@dataclass(frozen=True)
class Joined:
    """`expressions` say what attributes are, `filters` what each stream's rows must meet.

    An attribute is the column of its name wherever rows of several streams stand side by side.
    """

    product: Product
    streams: tuple[Stream, ...]
    closure: Closure
    alone: Closure  # what the conditions on single streams imply by themselves
    select: tuple[Attribute, ...]
    conditions: tuple[Expr, ...]
    atoms: frozenset[Atom]
    filters: Mapping[int, Sequence[Expr]]
    expressions: Mapping[Attribute, Expr]
    outputs: Mapping[str, Expr]
    windows: Mapping[Attribute, tuple[int, int]]
    strings: Mapping[int, str]
    mixed: frozenset[Attribute]  # in conditions that are no comparisons
    known: frozenset[Attribute] = frozenset()  # not to be NULL, whatever is compared now
    not_null: frozenset[Attribute] = frozenset()  # in rows that meet the conditions on them
    never: bool = False  # whether no combination meets the conditions

    @property
    def compared(self) -> frozenset[Attribute]:
        """The attributes in conditions between streams."""
        return frozenset(a for atom in self.atoms for a in atom.attributes)

    @property
    def told_apart(self) -> frozenset[Attribute]:
        """The attributes of which every value meets others."""
        equalities = [atom for atom in self.atoms if atom.comparison is Comparison.EQUAL]
        return self.mixed.union(*(atom.attributes for atom in equalities))

    def attributes_of(self, output: str) -> list[Attribute]:
        """What a column of the output shows, if it is no constant."""
        return [a for a in self.select if str(a) in columns(self.outputs[output])]

    def extreme(self, output: str, high: bool) -> Extreme:
        for attribute in self.attributes_of(output):
            if has_ranks("<", self.expressions[attribute].type):
                return Extreme(attribute, high)
        raise NoProductError

    def kept(self, stream: str) -> list[Attribute]:
        """What can matter of a row, once it has met the conditions on its stream."""
        needed = sorted({*self.select, *self.compared, *self.mixed})
        return [a for a in needed if a.stream == stream]

    def folded(self, query: Query, closure: Closure) -> Joined:
        """The same of a query that does without some occurrences of a stream."""
        renamed = {str(a): str(b) for a, b in zip(self.select, query.select, strict=True)}
        joins = frozenset(a for a in query.where if a.is_join and not _by_constants(closure, a))
        return replace(
            self,
            streams=query.streams,
            closure=closure,
            select=query.select,
            conditions=tuple(self._condition(atom) for atom in sorted(joins, key=str)),
            atoms=joins,
            known=self.known | self.compared,
            outputs={name: _renamed(value, renamed) for name, value in self.outputs.items()},
        )

    def _condition(self, atom: Atom) -> Expr:
        left, right = (Column(str(a), self.expressions[a].type) for a in atom.attributes)
        return _compared(atom.comparison.value, left, right)

    def input(
        self, stream: str, cut: Iterable[Attribute], summed: Iterable[str]
    ) -> tuple[p.Map, tuple[str, ...]]:
        """The rows of a stream that can meet any, with what matters of them; what is summed last.

        Attributes that are `cut` are replaced, beyond all constants, by the next value there.
        """
        place = int(stream)
        conditions = [*self.filters.get(place, ()), *self._implied(stream)]
        source: p.Node = self.product.scans[place]
        if conditions:
            source = p.Filter(source, conjunction(tuple(conditions)))
        outputs = {str(a): self.expressions[a] for a in self.kept(stream)}
        for a in cut:
            outputs[str(a)] = _cut(self.expressions[a], *self.windows[a])
        own = [name for name in summed if places(self.product.columns[name]) == {place}]
        added = {name: unplaced(self.product.columns[name]) for name in own}
        if not outputs:
            outputs[f"{place}.there"] = Literal(True, pa.bool_())
        return p.Map(source, (*outputs.items(), *added.items())), tuple(own)

    def _implied(self, stream: str) -> Iterator[Expr]:
        """What all conditions together imply of a stream, beyond its own."""
        own = {a: e for a, e in self.expressions.items() if a.stream == stream}
        for a, value in own.items():
            if a in self.compared | self.known:
                yield Call("not", (Call("is null", (value,), pa.bool_()),), pa.bool_())
            if self.closure.values(a) != self.alone.values(a):
                yield from self._within(value, *self.closure.values(a))
        for a, b in permutations(own, 2):
            most = self.closure.bound(a, b)
            if most <= 0 and most < min(_between(self.closure, a, b), self.alone.bound(a, b)):
                yield _compared("<" if most < 0 else "<=", own[a], own[b])

    def _within(self, value: Expr, low: float, high: float) -> Iterator[Expr]:
        if pa.types.is_string(value.type):
            texts = [text for number, text in self.strings.items() if low <= number <= high]
            options = tuple(compare("=", value, Literal(t, value.type)) for t in texts)
            yield options[0] if len(options) == 1 else Call("or", options, pa.bool_())
        elif pa.types.is_boolean(value.type):
            yield value if low else Call("not", (value,), pa.bool_())
        else:
            for operator, end in ((">=", low), ("<=", high)):
                if abs(end) < float("inf") and (literal := literal_of(int(end), value.type)):
                    yield compare(operator, value, literal)

    @property
    def orderly(self) -> bool:
        """Whether every row can be placed among others and the constants in all its attributes."""
        kinds = {a: self.expressions[a].type for s in self.streams for a in s.attributes}
        named = all(has_ranks("<", k) or pa.types.is_boolean(k) for k in kinds.values())
        there = self.compared | self.known | self.not_null
        return named and not self.mixed and kinds.keys() <= there


def joined(product: Product, names: Sequence[str]) -> Joined | None:
    """The product with these columns.

    None if too much depends on a condition between streams that does not just compare two columns.
    """
    reader = Reader()
    for condition in product.conditions:
        reader.note(condition)
    sources = [scan.name for scan in product.scans]
    repeated = {i for i, source in enumerate(sources) if sources.count(source) > 1}
    outputs = {name: reader.stored(product.columns[name]) for name in names}
    chosen = (product.columns[name] for name in names)
    select = tuple(dict.fromkeys(reader.attribute(v) for v in chosen if places(v)))
    for i, scan in enumerate(product.scans):
        reader.note_promised(i, scan, repeated=i in repeated)
    reader.note_opaque(repeated)
    reader.share(sources)
    named: dict[str, dict[str, None]] = {source: {} for source in sources}
    for a in sorted(reader.expressions):
        named[sources[int(a.stream)]][a.name] = None
    streams = tuple(Stream(str(i), tuple(named[s]), s) for i, s in enumerate(sources))
    attributes = [a for stream in streams for a in stream.attributes]
    not_null = reader.not_null(product.scans)
    choices = [c for c in reader.choices if not_null.issuperset(attributes_of(c))]
    try:
        parts = split(Every((*reader.alone, *reader.atoms, *choices))).parts
        alone = split(Every(tuple(reader.alone))).parts
    except TooManyPartsError:
        return None
    never = not parts
    if never:
        parts = alone = (frozenset(),)
        reader.forget(len(sources))
    closure = Closure.hull([Closure(part, attributes) for part in parts])
    if not never and not all(map(closure.bounded, reader.mixed)):
        return None
    strings = {number: text for text, number in reader.translation.strings.items()}
    return Joined(
        product,
        streams,
        closure,
        Closure.hull([Closure(part, attributes) for part in alone]),
        select,
        tuple(reader.joins),
        frozenset(reader.atoms),
        reader.filters,
        reader.expressions,
        outputs,
        _windows(attributes, [atom for part in parts for atom in part]),
        strings,
        frozenset(reader.mixed),
        not_null=not_null,
        never=never,
    )


def _between(closure: Closure, a: Element, b: Element) -> float:
    """How far a can be above b, for all that constants say."""
    return closure.bound(a, 0) + closure.bound(0, b)


def _by_constants(closure: Closure, atom: Atom) -> bool:
    """Whether an atom between two attributes follows from what constants say of each."""
    most = -1 if atom.comparison is Comparison.LESS else 0
    found = _between(closure, atom.left, atom.right) <= most
    if atom.comparison is Comparison.EQUAL:
        found = found and _between(closure, atom.right, atom.left) <= most
    return found


def _windows(
    attributes: Iterable[Attribute], atoms: Iterable[Atom]
) -> dict[Attribute, tuple[int, int]]:
    """The least and greatest constant that an attribute can be compared with, also by way of
    others."""
    group = {a: frozenset((a,)) for a in attributes}
    constants: dict[Attribute, set[int]] = {a: set() for a in group}
    for atom in atoms:
        for a in atom.attributes:
            constants[a].update(atom.constants)
        together = frozenset().union(*(group[a] for a in atom.attributes))
        group |= dict.fromkeys(together, together)
    windows = {}
    for a, others in group.items():
        found = {c for other in others for c in constants[other]} or {0}
        windows[a] = min(found), max(found)
    return windows


def _compared(operator: str, left: Expr, right: Expr) -> Expr:
    """A comparison of attributes, which are of one type or integers of different widths."""
    if left.type != right.type:
        wide = pa.int64()
        left, right = (e if e.type == wide else cast(e, wide) for e in (left, right))
    return compare(operator, left, right)


def _renamed(value: Expr, names: Mapping[str, str]) -> Expr:
    match value:
        case Column(name, kind):
            return Column(names.get(name, name), kind)
        case Call(function, args, kind):
            return Call(function, tuple(_renamed(arg, names) for arg in args), kind)
    return value


def _cut(value: Expr, low: int, high: int) -> Expr:
    below, above = literal_of(low - 1, value.type), literal_of(high + 1, value.type)
    cut = value
    for operator, end in (("<", below), (">", above)):
        if end is not None:
            cut = Call("if", (compare(operator, value, end), end, cut), value.type)
    return cut


def literal_of(rank: int, kind: pa.DataType) -> Literal | None:
    """The value of a rank among the integers (see domains.py); None where the type has none."""
    value: Any = None
    try:
        if kind in _BITS:
            value = rank if -(1 << (_BITS[kind] - 1)) <= rank < 1 << (_BITS[kind] - 1) else None
        elif pa.types.is_decimal(kind):
            value = Decimal(rank).scaleb(-kind.scale) if abs(rank) < 10**kind.precision else None
        elif pa.types.is_date32(kind):
            value = date.fromordinal(rank)
        elif is_micros(kind):
            zone = UTC if kind.tz else None
            value = datetime(1970, 1, 1, tzinfo=zone) + timedelta(microseconds=rank)
    except (ValueError, OverflowError):
        return None
    return None if value is None else Literal(value, kind)
