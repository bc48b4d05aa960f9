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
from penstock.algebra.codec import fingerprint
from penstock.algebra.expr import (
    Call,
    Column,
    Expr,
    Literal,
    cast,
    columns,
    compare,
    conjunction,
    is_simple,
    with_columns,
)
from penstock.memory.products import NoProductError, Reader, unplaced
from penstock.memory.query import Query, Stream
from penstock.memory.values import Declared
from penstock.reasoning.closure import Atom, Attribute, Closure, Comparison, Element
from penstock.reasoning.conditions import (
    Condition,
    Every,
    TooManyPartsError,
    attributes_of,
    is_conjunction,
    split,
    uncast,
)
from penstock.reasoning.products import Rows, relations_of

_COMPARED = ("<", "<=", "=", ">=", ">")


class JoinedReader(Reader):
    """Moreover collects `filters` of each stream and `joins`, as expressions.

    `atoms` are comparisons between streams, `mixed` attributes in other conditions between them,
    and `choices` what these say.
    """

    def __init__(self, product: Rows) -> None:
        super().__init__(product, [str(i) for i in range(len(product.relations))], Declared())
        self.filters: dict[int, list[Expr]] = {}
        self.atoms: list[Atom] = []
        self.joins: list[Expr] = []
        self.mixed: set[Attribute] = set()
        self.choices: list[Condition] = []
        self.alone: list[Condition] = []

    def name(self, place: int, value: Expr) -> str:
        return value.name if isinstance(value, Column) else f"{value} {fingerprint(value)}"

    def compared(self, value: Expr) -> Attribute | None:
        return self.attribute(value) if len(relations_of([value])) == 1 else None

    def stored(self, value: Expr) -> Expr:
        """An expression over one stream, in terms of its attribute."""
        core = uncast(value)
        if not relations_of([value]):
            return value
        if value == core:
            return Column(str(self.attribute(core)), core.type)
        assert isinstance(value, Call)
        return Call(value.function, (self.stored(value.args[0]),), value.type)

    def note(self, condition: Expr) -> None:
        places = relations_of([condition])
        if len(places) > 1:
            self._note_join(condition)
            return
        place = next(iter(places), 0)
        self.filters.setdefault(place, []).append(unplaced(condition))
        said = self.translation.condition(condition, self.compared)
        if said is not None:
            self.alone.append(said)
            self.asked.append(said)
        if not is_conjunction(said):
            self.opaque.append((place, condition))

    def note_met(self, place: int, condition: Expr) -> None:
        met = compare("<=>", condition, Literal(True, pa.bool_()))
        self.held.append(Atom(self.attribute(met), Comparison.EQUAL, 1))

    def forget(self) -> None:
        """Where all conditions together cannot be met: no row needs to be looked at."""
        never = Literal(False, pa.bool_())
        self.filters = {place: [never] for place in range(len(self.scans))}
        self.atoms, self.joins, self.mixed = [], [], set()

    def not_null(self) -> frozenset[Attribute]:
        """The attributes that are not NULL in rows that meet the conditions on their stream."""
        return frozenset(
            a
            for a, own in self.expressions.items()
            if (isinstance(own, Column) and own.name in self.declared.never_null(self.scan(a)))
            or _is_met(own)
            or self.excludes_null(a)
        )

    def _note_join(self, condition: Expr) -> None:
        match condition:
            case Call(operator, (left, right)) if operator in _COMPARED:
                atom = self.translation.condition(condition, self.compared)
                stored = compare(operator, self.stored(left), self.stored(right))
                if isinstance(atom, Atom) and is_simple(stored) and has_ranks(operator, left.type):
                    self.atoms.append(atom)
                    self.asked.append(atom)
                    self.joins.append(stored)
                    return
        self._note_mixed(condition)

    def _note_mixed(self, condition: Expr) -> None:
        """A condition that is no comparison: of each stream, what it asks is an attribute."""
        stored = self._by_stream(condition)
        if not is_simple(stored):
            raise NoProductError
        self.joins.append(stored)
        said = self.translation.condition(condition, self.compared)
        if said is not None:
            self.choices.append(said)

    def _by_stream(self, value: Expr) -> Expr:
        if len(relations_of([value])) == 1:
            self.mixed.add(self.attribute(value))
            return self.stored(value)
        match value:
            case Call(function, args, kind):
                return Call(function, tuple(map(self._by_stream, args)), kind)
        return value


def _is_met(value: Expr) -> bool:
    """Whether an attribute is that a condition is met."""
    return isinstance(value, Call) and value.function == "<=>"


def has_ranks(operator: str, kind: pa.DataType) -> bool:
    """Whether values of a type can be compared as integers."""
    if operator == "=" and (pa.types.is_string(kind) or pa.types.is_boolean(kind)):
        return True
    if pa.types.is_decimal(kind):
        return bool(kind.precision <= 18)
    return bool(pa.types.is_integer(kind) or pa.types.is_date32(kind) or is_micros(kind))


def is_micros(kind: pa.DataType) -> bool:
    return pa.types.is_timestamp(kind) and kind.unit == "us"


_BITS = {pa.int8(): 8, pa.int16(): 16, pa.int32(): 32, pa.int64(): 64}


@dataclass(frozen=True)
class BestValue:
    """An attribute of which the largest value matters, or the smallest."""

    attribute: Attribute
    high: bool


@dataclass(frozen=True)
class Joined:
    """`expressions` say what attributes are, `filters` what each stream's rows must meet.

    An attribute is the column of its name wherever rows of several streams stand side by side.
    """

    product: Rows
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

    def extreme(self, output: str, high: bool) -> BestValue:
        for attribute in self.attributes_of(output):
            if has_ranks("<", self.expressions[attribute].type):
                return BestValue(attribute, high)
        raise NoProductError

    def kept(self, stream: str) -> list[Attribute]:
        """What can matter of a row, once it has met the conditions on its stream."""
        needed = sorted({*self.select, *self.compared, *self.mixed})
        return [a for a in needed if a.stream == stream]

    def folded(self, query: Query, closure: Closure) -> Joined:
        """The same of a query that does without some occurrences of a stream."""
        renamed = dict(zip(map(str, self.select), map(str, query.select), strict=True))
        joins = frozenset(a for a in query.where if a.is_join and not _by_constants(closure, a))
        return replace(
            self,
            streams=query.streams,
            closure=closure,
            select=query.select,
            conditions=tuple(self._condition(atom) for atom in sorted(joins, key=str)),
            atoms=joins,
            known=self.known | self.compared,
            outputs={
                name: with_columns(value, lambda c: Column(renamed.get(c.name, c.name), c.type))
                for name, value in self.outputs.items()
            },
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
        source = self.product.relations[place].plan
        if conditions:
            source = p.Filter(source, conjunction(tuple(conditions)))
        outputs = {str(a): self.expressions[a] for a in self.kept(stream)}
        for a in cut:
            outputs[str(a)] = _cut(self.expressions[a], *self.windows[a])
        shown = self.product.outputs
        own = [name for name in summed if relations_of([shown[name]]) == {place}]
        added = {name: unplaced(shown[name]) for name in own}
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


def joined(product: Rows, names: Sequence[str]) -> Joined | None:
    """The product with these columns.

    None if too much depends on a condition between streams that does not just compare two columns.
    """
    reader = JoinedReader(product)
    for condition in product.conditions:
        reader.note(condition)
    outputs = {name: reader.stored(product.outputs[name]) for name in names}
    chosen = (product.outputs[name] for name in names)
    select = tuple(dict.fromkeys(reader.attribute(v) for v in chosen if relations_of([v])))
    reader.note_promised()
    reader.note_opaque()
    reader.share()
    streams = reader.streams(reader.expressions)
    attributes = [a for stream in streams for a in stream.attributes]
    not_null = reader.not_null()
    choices = [c for c in reader.choices if not_null.issuperset(attributes_of(c))]
    try:
        own = (*reader.held, *reader.alone)
        parts = split(Every((*own, *reader.atoms, *choices))).parts
        alone = split(Every(own)).parts
    except TooManyPartsError:
        return None
    never = not parts
    if never:
        parts = alone = (frozenset(),)
        reader.forget()
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


def _cut(value: Expr, low: int, high: int) -> Expr:
    below, above = literal_of(low - 1, value.type), literal_of(high + 1, value.type)
    cut = value
    for operator, end in (("<", below), (">", above)):
        if end is not None:
            cut = Call("if", (compare(operator, value, end), end, cut), value.type)
    return cut


def literal_of(rank: int, kind: pa.DataType) -> Literal | None:
    """The value of a rank among the integers (see `conditions`); None where the type has none."""
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
