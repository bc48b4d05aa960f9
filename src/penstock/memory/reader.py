"""The conditions and columns of a product, read into the words of the theory."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from penstock.algebra import plan as p
from penstock.algebra.codec import fingerprint
from penstock.algebra.expr import (
    Call,
    Column,
    Expr,
    Literal,
    columns,
    compare,
    is_simple,
    substitute,
)
from penstock.memory import domains, promises
from penstock.memory.conditions import Condition, between, excludes_null, is_conjunction
from penstock.memory.predicates import Atom, Attribute, Comparison
from penstock.memory.products import NoProductError, placed, places, unplaced
from penstock.memory.translation import Translation
from penstock.memory.values import uncast

_COMPARED = ("<", "<=", "=", ">=", ">")


@dataclass
class Reader:
    """Collects `filters` of each stream and `joins`, as expressions, and what the theory says of
    them: conditions on one stream `alone`, of which some were `asked` and some are promised;
    comparisons between streams, `atoms`; `mixed` attributes in other conditions between streams,
    and the `choices` that these are; and `opaque` conditions on one stream, that are not said as
    they are.
    """

    translation: Translation = field(default_factory=Translation)
    expressions: dict[Attribute, Expr] = field(default_factory=dict)
    filters: dict[int, list[Expr]] = field(default_factory=dict)
    alone: list[Condition] = field(default_factory=list)
    atoms: list[Atom] = field(default_factory=list)
    joins: list[Expr] = field(default_factory=list)
    mixed: set[Attribute] = field(default_factory=set)
    choices: list[Condition] = field(default_factory=list)
    asked: list[Condition] = field(default_factory=list)
    opaque: list[tuple[int, Expr]] = field(default_factory=list)

    def attribute(self, value: Expr) -> Attribute:
        """An expression over one stream, as an attribute of it."""
        value = uncast(value)
        found = places(value)
        if len(found) != 1:
            raise NoProductError
        own = unplaced(value)
        name = own.name if isinstance(own, Column) else f"{own} {fingerprint(own)}"
        attribute = Attribute(str(next(iter(found))), name)
        self._note_attribute(attribute, own)
        return attribute

    def _note_attribute(self, attribute: Attribute, own: Expr) -> None:
        if attribute in self.expressions:
            return
        self.expressions[attribute] = own
        if pa.types.is_boolean(own.type):
            self.alone.append(domains.BOOLEANS.members(attribute))
        match own:
            case Call("%", (_, Literal(int() as period, _))) if period:
                self.alone.append(between(attribute, 1 - abs(period), abs(period) - 1))

    def stored(self, value: Expr) -> Expr:
        """An expression over one stream, in terms of its attribute."""
        core = uncast(value)
        if not places(value):
            return value
        if value == core:
            return Column(str(self.attribute(core)), core.type)
        assert isinstance(value, Call)
        return Call(value.function, (self.stored(value.args[0]),), value.type)

    def note(self, condition: Expr) -> None:
        found = places(condition)
        if len(found) > 1:
            self._note_join(condition)
            return
        place = next(iter(found), 0)
        self.filters.setdefault(place, []).append(unplaced(condition))
        said = self.translation.condition(condition, self._compared)
        if said is not None:
            self.alone.append(said)
            self.asked.append(said)
        if not is_conjunction(said):
            self.opaque.append((place, condition))

    def forget(self, streams: int) -> None:
        """Where all conditions together cannot be met: no row needs to be looked at."""
        self.filters = {place: [Literal(False, pa.bool_())] for place in range(streams)}
        self.atoms, self.joins, self.mixed = [], [], set()

    def note_opaque(self, places: Collection[int]) -> None:
        """Let some streams have an attribute for each condition that is not said as it is.

        Else one occurrence of a stream would seem to do for another that is more particular.
        """
        for place, condition in self.opaque:
            if place in places:
                met = compare("<=>", condition, Literal(True, pa.bool_()))
                self.alone.append(Atom(self.attribute(met), Comparison.EQUAL, 1))

    def share(self, sources: Sequence[str]) -> None:
        """Let all occurrences of a stream have the same attributes."""
        for a, own in list(self.expressions.items()):
            for place, source in enumerate(sources):
                if source == sources[int(a.stream)]:
                    self._note_attribute(Attribute(str(place), a.name), own)

    def not_null(self, scans: Sequence[p.Scan]) -> frozenset[Attribute]:
        """The attributes that are not NULL in rows that meet the conditions on their stream."""
        found = []
        for a, own in self.expressions.items():
            promised = columns(own) <= promises.never_null(scans[int(a.stream)])
            plain = isinstance(own, Column) and promised
            if plain or _is_met(own) or self._excludes_null(a):
                found.append(a)
        return frozenset(found)

    def note_promised(self, place: int, scan: p.Scan, repeated: bool) -> None:
        """What a source promises of the columns that matter; as a filter it would do nothing.

        NULL keeps every promise, but no condition. So where a stream occurs again, that there are
        conditions on a column counts by itself.
        """
        own = [a.name for a in self.expressions if a.stream == str(place)]
        names = {f.name: Column(placed(place, f.name), f.type) for f in scan.schema}
        for part in promises.connected(promises.relied(scan), own):
            said = self.translation.condition(substitute(part, names), self._compared)
            if said is not None:
                self.alone.append(said)
            for name in columns(part) - promises.never_null(scan) if repeated else ():
                if self._excludes_null(self.attribute(names[name])):
                    self.opaque.append((place, promises.is_not_null(names[name])))

    def _excludes_null(self, attribute: Attribute) -> bool:
        return any(excludes_null(said, attribute) for said in (*self.asked, *self.atoms))

    def _note_join(self, condition: Expr) -> None:
        match condition:
            case Call(operator, (left, right)) if operator in _COMPARED:
                atom = self.translation.condition(condition, self._compared)
                stored = compare(operator, self.stored(left), self.stored(right))
                if isinstance(atom, Atom) and is_simple(stored) and has_ranks(operator, left.type):
                    self.atoms.append(atom)
                    self.joins.append(stored)
                    return
        self._note_mixed(condition)

    def _note_mixed(self, condition: Expr) -> None:
        """A condition that is no comparison: of each stream, what it asks is an attribute."""
        stored = self._by_stream(condition)
        if not is_simple(stored):
            raise NoProductError
        self.joins.append(stored)
        said = self.translation.condition(condition, self._compared)
        if said is not None:
            self.choices.append(said)

    def _by_stream(self, value: Expr) -> Expr:
        if len(places(value)) == 1:
            self.mixed.add(self.attribute(value))
            return self.stored(value)
        match value:
            case Call(function, args, kind):
                return Call(function, tuple(map(self._by_stream, args)), kind)
        return value

    def _compared(self, value: Expr) -> Attribute | None:
        return self.attribute(value) if len(places(value)) == 1 else None


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
