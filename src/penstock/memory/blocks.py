"""Blocks: parts of a plan that the theory decides as a whole.

A block is a selection, projection and inner join of streams without windows, with DISTINCT or an
aggregation on top or neither. An expression over one stream is one more attribute of it. A
condition on one stream that the theory has no words for is left out: filters need no memory, so
what is bounded without it is bounded with it. One between streams has no such excuse, and the plan
is then no block.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count

import pyarrow as pa

from penstock.algebra import plan as p
from penstock.algebra.aggregates import VARIANCES, AggregateCall
from penstock.algebra.codec import fingerprint
from penstock.algebra.expr import Call, Column, Expr, with_columns
from penstock.memory import query
from penstock.memory.products import NoProductError, Reader, product_of, unplaced, without_distinct
from penstock.memory.query import Aggregate, Function, Kind, Stream
from penstock.memory.values import ColumnAnalysis, Declared
from penstock.reasoning.closure import Attribute, compare
from penstock.reasoning.conditions import Condition, Every, attributes_of, between, uncast
from penstock.reasoning.products import Forms, Rows, named, relations_of, renumbered

Term = Attribute | None  # None is a constant


@dataclass(frozen=True)
class Block:
    """`select` are the attributes of the answer, or those grouped by where there are aggregates.

    NULL is one more value of an attribute that is `nullable`.
    """

    streams: tuple[Stream, ...]
    condition: Condition
    select: tuple[Attribute, ...]
    distinct: bool = False
    aggregates: tuple[Aggregate, ...] | None = None
    nodes: tuple[p.Node, ...] = ()
    exact: bool = True  # whether all of the plan is said
    nullable: frozenset[Attribute] = frozenset()

    @property
    def timed(self) -> bool:
        """Whether time lets some operator of it forget."""
        return any(_closes(node) for node in self.nodes)


def block_of(plan: p.Node, declared: Declared, analysis: ColumnAnalysis) -> Block | None:
    """The block that a plan is, if it is one."""
    distinct = isinstance(plan, p.Distinct)
    rows = plan.input if isinstance(plan, p.Distinct | p.Aggregate) else plan
    try:
        product = product_of(rows, as_set=distinct, timed=True)
        reader = _BlockReader(product, _names_of(rows, []), declared)
        reader.label(without_distinct(rows) if distinct else rows, analysis, Forms())
        for condition in product.conditions:
            reader.note(condition)
        if isinstance(plan, p.Aggregate):
            return reader.block(plan, plan.keys, False, tuple(map(reader.call, plan.calls)))
        return reader.block(plan, product.outputs, distinct, None)
    except NoProductError:
        return None


def _closes(node: p.Node) -> bool:
    match node:
        case p.Join(keep_left=left, keep_right=right):
            return left is not None or right is not None
        case p.Distinct(until=until) | p.Aggregate(until=until):
            return until is not None
    return False


def _names_of(plan: p.Node, names: list[str]) -> list[str]:
    """The streams as the query calls them: x, where columns become x.a, x.b."""
    for source in plan.inputs:
        _names_of(source, names)
    match plan:
        case p.Scan(name):
            others = (f"{name} ({n})" for n in count(2))
            names.append(name if name not in names else next(n for n in others if n not in names))
        case p.Map(source, outputs):
            alias = _alias(source, [name for name, _ in outputs])
            if alias is not None and alias not in names:
                names[-1] = alias
    return names


def _alias(source: p.Node, names: list[str]) -> str | None:
    """What columns are prefixed with, where they are those of a stream and expressions."""
    while isinstance(source, p.Filter):
        source = source.input
    prefixes = {name.split(".")[0] for name in names if "." in name}
    others = any("." not in name and "(" not in name for name in names)
    if not isinstance(source, p.Scan) or len(prefixes) != 1 or others:
        return None
    (prefix,) = prefixes
    return prefix if prefix.isidentifier() else None


class _BlockReader(Reader):
    """An expression is called as the query calls it, or else as it is written."""

    def __init__(self, product: Rows, names: list[str], declared: Declared) -> None:
        super().__init__(product, names, declared)
        self.labels: dict[tuple[int, Expr], str] = {}
        self.taken = [dict.fromkeys(scan.schema.names) for scan in self.scans]
        self.few: dict[Attribute, int] = {}  # of so many unknown values
        self.exact = True

    def label(self, plan: p.Node, analysis: ColumnAnalysis, forms: Forms, first: int = 0) -> int:
        """Note what a plan calls the expressions that it computes; the number of streams so far."""
        last = first + isinstance(plan, p.Scan)
        for source in plan.inputs:
            last = self.label(source, analysis, forms, last)
        if isinstance(plan, p.Map):
            for name, value in forms.of(plan).outputs.items():
                moved = uncast(renumbered(value, {i: i + first for i in range(last - first)}))
                if isinstance(moved, Call) and len(relations_of([moved])) == 1:
                    self._label_computed(moved, name, plan, analysis)
        return last

    def _label_computed(
        self, value: Expr, name: str, plan: p.Node, analysis: ColumnAnalysis
    ) -> None:
        own = self._labelled(value, name)
        if not pa.types.is_boolean(value.type) and not _is_remainder(value):
            finite = analysis.of(plan).values.get(name)
            if finite is not None and finite.number is not None:
                self.few.setdefault(own, finite.number)

    def _labelled(self, value: Expr, label: str) -> Attribute:
        """An expression over one stream under a name, unless it has one."""
        places = relations_of([value])
        if len(places) != 1:
            raise NoProductError
        (place,) = places
        key, taken = (place, unplaced(value)), self.taken[place]
        if key not in self.labels:
            name = named(label)
            self.labels[key] = name if name not in taken else f"{name} ({len(taken)})"
            taken[self.labels[key]] = None
            self.exact = False
        return self.attribute(value)

    def name(self, place: int, value: Expr) -> str:
        return value.name if isinstance(value, Column) else self.labels[place, value]

    def compared(self, value: Expr) -> Attribute | None:
        """Columns and expressions that have names; others have no words."""
        value = uncast(value)
        known = isinstance(value, Column) or any(
            (place, unplaced(value)) in self.labels for place in relations_of([value])
        )
        return self.attribute(value) if known else None

    def _joined(self, value: Expr) -> Attribute | None:
        """An expression on one side of a condition between streams."""
        value = uncast(value)
        if isinstance(value, Column) or len(relations_of([value])) != 1:
            return self.compared(value)
        return self._labelled(value, self._text(value))

    def _text(self, value: Expr) -> str:
        def shown(column: Column) -> Column:
            place, _, own = column.name.partition(":")
            return Column(str(Attribute(self.names[int(place)], own)), column.type)

        return str(with_columns(value, shown))

    def _term(self, value: Expr) -> Term:
        value = uncast(value)
        return self.attribute(value) if relations_of([value]) else None

    def note_met(self, place: int, condition: Expr) -> None:
        met = Attribute(self.names[place], fingerprint(unplaced(condition)))
        self.held.append(compare(met, "=", 1))

    def note(self, condition: Expr) -> None:
        places = relations_of([condition])
        joins = len(places) > 1
        match condition:
            case Call("=" | "<=>", (left, right)) if joins and left.type == right.type:
                one, other = self._joined(left), self._joined(right)
                if one is not None and other is not None:
                    self.asked.append(compare(one, "=", other))
                    return
        said = self.translation.condition(condition, self._joined if joins else self.compared)
        if said is not None:
            self.asked.append(said)
        if said is None or not places:
            self.exact = False
            if joins:
                raise NoProductError
            self.opaque += [(place, condition) for place in places]

    def block(
        self,
        plan: p.Node,
        names: Iterable[str],
        distinct: bool,
        aggregates: tuple[Aggregate, ...] | None,
    ) -> Block:
        terms = (self._term(self.product.outputs[name]) for name in names)
        select = tuple(dict.fromkeys(term for term in terms if term is not None))
        self.note_promised()
        self.note_opaque()
        self.share()
        mentioned = set(self._mentioned())
        for own, number in self.few.items():
            if own not in mentioned:
                self.held.append(between(own, 0, number - 1))
        aggregated = (a.of for a in aggregates or () if a.of is not None)
        used = {*select, *mentioned, *self.few, *aggregated}
        return Block(
            self.streams(used),
            Every((*self.asked, *self.held)),
            select,
            distinct,
            aggregates,
            tuple(_from_above(plan)),
            self.exact,
            frozenset(a for a in used if self._may_be_null(a)),
        )

    def _mentioned(self) -> Iterator[Attribute]:
        for condition in (*self.asked, *self.held):
            yield from attributes_of(condition)

    def _may_be_null(self, attribute: Attribute) -> bool:
        promised = attribute.name in self.declared.never_null(self.scan(attribute))
        return not promised and not self.excludes_null(attribute)

    # --- aggregates -----------------------------------------------------------------------------

    def call(self, call: AggregateCall) -> Aggregate:
        of = self._argument(call)
        match call.plain, call.distinct:
            case "count", False:
                return Aggregate(query.COUNT, of)
            case "count", True:
                return self._over(query.COUNT_DISTINCT, of)
            case ("sum" | "avg") as name, False:
                return self._over({"sum": query.SUM, "avg": query.AVG}[name], of)
            case (("min" | "any_value"), _):
                return self._over(query.MIN, of)
            case "max", _:
                return self._over(query.MAX, of)
            case "median", False:
                return self._over(query.MEDIAN, of)
            case name, False if name in VARIANCES:
                return self._over(Function(name, Kind.ALGEBRAIC, duplicate_sensitive=True), of)
            case ("percentile" | "percentile_disc" | "percentile_disc_desc") as name, False:
                return self._over(Function(name, Kind.HOLISTIC, duplicate_sensitive=True), of)
            case ("sum" | "avg" | "collect_set") as name, _:
                return self._over(Function(name, Kind.HOLISTIC, duplicate_sensitive=False), of)
        raise NoProductError

    def _over(self, function: Function, of: Term) -> Aggregate:
        """Of a constant, all that matters is whether there is a row."""
        return Aggregate(query.COUNT, None) if of is None else Aggregate(function, of)

    def _argument(self, call: AggregateCall) -> Term:
        outputs = self.product.outputs
        of = None if not call.args else self._term(outputs[call.args[0]])
        if call.where is None:
            return of
        read = tuple(outputs[name] for name in call.columns)
        if not relations_of(read):
            return None
        if not call.args:
            return self._labelled(Call("counted", read, pa.bool_()), f"{call.where} counted")
        label = call.name if of is None else f"{of.name} filtered"
        return self._labelled(Call("if", read, read[0].type), label)


def _is_remainder(value: Expr) -> bool:
    return isinstance(value, Call) and value.function == "%"


def _from_above(plan: p.Node) -> Iterator[p.Node]:
    yield plan
    for source in plan.inputs:
        yield from _from_above(source)
