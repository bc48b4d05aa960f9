"""Products of streams in the words of the theory: what they show and ask, as attributes.

A product is a selection and projection of streams without windows (`penstock.reasoning.products`).
An expression over one stream is an attribute of it, and conditions are conditions on attributes, as
far as there are words for them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

import pyarrow as pa

from penstock.algebra import plan as p
from penstock.algebra.expr import Call, Column, Expr, Literal, columns, substitute, with_columns
from penstock.memory.query import Stream
from penstock.memory.values import Declared, connected, is_not_null
from penstock.reasoning.closure import Attribute
from penstock.reasoning.conditions import (
    BOOLEANS,
    Condition,
    Translation,
    between,
    excludes_null,
    uncast,
)
from penstock.reasoning.products import Forms, Rows, placed, relations_of


class NoProductError(Exception):
    """The plan is more than a selection and projection of a product of streams."""


def product_of(plan: p.Node, *, as_set: bool = False, timed: bool = False) -> Rows:
    """The product that a plan is; where only the set of its rows matters, DISTINCT adds nothing.

    Joins that let go of rows in time are none, unless `timed`.
    """
    plan = without_distinct(plan) if as_set else plan
    for node in plan.walk():
        match node:
            case p.Filter() | p.Map():
                known = True
            case p.Join(kind="inner", keep_left=left, keep_right=right):
                known = timed or (left is None and right is None)
            case _:
                known = isinstance(node, p.Scan) and node.is_stream
        if not known:
            raise NoProductError
    rows = Forms().of(plan)
    assert isinstance(rows, Rows)
    return rows


def without_distinct(plan: p.Node) -> p.Node:
    if isinstance(plan, p.Distinct):
        return without_distinct(plan.input)
    return plan.with_inputs(*map(without_distinct, plan.inputs))


def scans_of(product: Rows) -> tuple[p.Scan, ...]:
    return tuple(each.plan for each in product.relations if isinstance(each.plan, p.Scan))


class Reader(ABC):
    """Reads a product into the words of the theory; its streams are called by `names`.

    `asked` are conditions that rows must meet. `held` are those that values meet by themselves:
    what is promised, and of which type they are. Those that are `opaque` are not said as they are.
    """

    def __init__(self, product: Rows, names: Sequence[str], declared: Declared) -> None:
        self.product = product
        self.scans = scans_of(product)
        self.names = tuple(names)
        self.declared = declared
        self.translation = Translation()
        self.expressions: dict[Attribute, Expr] = {}
        self.asked: list[Condition] = []
        self.held: list[Condition] = []
        self.opaque: list[tuple[int, Expr]] = []

    @abstractmethod
    def name(self, place: int, value: Expr) -> str:
        """What an expression over the columns of a stream is called."""

    @abstractmethod
    def compared(self, value: Expr) -> Attribute | None:
        """The attribute that an expression in a condition is, if it is one."""

    def attribute(self, value: Expr) -> Attribute:
        """An expression over one stream, as an attribute of it."""
        value = uncast(value)
        places = relations_of([value])
        if len(places) != 1:
            raise NoProductError
        (place,) = places
        own = unplaced(value)
        attribute = Attribute(self.names[place], self.name(place, own))
        self.note_attribute(attribute, own)
        return attribute

    def note_attribute(self, attribute: Attribute, own: Expr) -> None:
        if attribute in self.expressions:
            return
        self.expressions[attribute] = own
        match own:
            case Call("%", (_, Literal(int() as period, _))) if period:
                self.held.append(between(attribute, 1 - abs(period), abs(period) - 1))
            case _ if pa.types.is_boolean(own.type):
                self.held.append(BOOLEANS.members(attribute))

    def scan(self, attribute: Attribute) -> p.Scan:
        return self.scans[self.names.index(attribute.stream)]

    @property
    def repeated(self) -> frozenset[int]:
        """The streams that occur again."""
        sources = [scan.name for scan in self.scans]
        return frozenset(i for i, source in enumerate(sources) if sources.count(source) > 1)

    def note_promised(self) -> None:
        """What sources promise of the columns that matter; as a filter it would do nothing.

        NULL keeps every promise, but no condition. So where a stream occurs again, that there are
        conditions on a column counts by itself.
        """
        for place, scan in enumerate(self.scans):
            own = [a.name for a in self.expressions if a.stream == self.names[place]]
            names = {f.name: Column(placed(place, f.name), f.type) for f in scan.schema}
            for part in connected(self.declared.relied(scan), own):
                said = self.translation.condition(substitute(part, names), self.compared)
                if said is not None:
                    self.held.append(said)
                for name in columns(part) if place in self.repeated else ():
                    known = name in self.declared.never_null(scan)
                    if not known and self.excludes_null(self.attribute(names[name])):
                        self.opaque.append((place, is_not_null(names[name])))

    def note_opaque(self) -> None:
        """Let streams that occur again have an attribute for each condition without words.

        Else one occurrence of a stream would seem to do for another that is more particular.
        """
        for place, condition in self.opaque:
            if place in self.repeated:
                self.note_met(place, condition)

    @abstractmethod
    def note_met(self, place: int, condition: Expr) -> None:
        """Let it be an attribute of a stream that a condition is met."""

    def share(self) -> None:
        """Let all occurrences of a stream have the same attributes."""
        for a, own in list(self.expressions.items()):
            for name, scan in zip(self.names, self.scans, strict=True):
                if scan.name == self.scan(a).name:
                    self.note_attribute(Attribute(name, a.name), own)

    def excludes_null(self, attribute: Attribute) -> bool:
        return any(excludes_null(condition, attribute) for condition in self.asked)

    def streams(self, used: Iterable[Attribute]) -> tuple[Stream, ...]:
        """The streams, with these of their attributes; all occurrences of one have the same."""
        columns: dict[str, dict[str, None]] = {scan.name: {} for scan in self.scans}
        for a in sorted(used):
            columns[self.scan(a).name][a.name] = None
        pairs = zip(self.names, self.scans, strict=True)
        return tuple(Stream(name, tuple(columns[s.name]), s.name) for name, s in pairs)


def unplaced(value: Expr) -> Expr:
    """An expression over one stream, in the stream's own columns."""
    return with_columns(value, lambda c: Column(c.name.partition(":")[2], c.type))
