"""Blocks: parts of a plan that the theory decides as a whole.

A block is a selection, projection and inner join of streams without windows, with DISTINCT or an
aggregation on top or neither. An expression over one stream is one more attribute of it. A
condition on one stream that the theory has no words for is left out: filters need no memory, so
what is bounded without it is bounded with it. One between streams has no such excuse, and the plan
is then no block.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

import pyarrow as pa

from penstock.algebra import plan as p
from penstock.algebra.aggregates import VARIANCES, AggregateCall
from penstock.algebra.codec import fingerprint
from penstock.algebra.expr import Call, Column, Expr, Literal, conjuncts, substitute
from penstock.memory import query
from penstock.memory.query import Aggregate, Function, Kind, Stream
from penstock.memory.values import Declared, Knowledge, connected, is_not_null
from penstock.reasoning.closure import Atom, Attribute, Element, compare
from penstock.reasoning.conditions import (
    BOOLEANS,
    Condition,
    Every,
    Some,
    Translation,
    attributes_of,
    between,
    excludes_null,
    uncast,
)
from penstock.reasoning.products import named


class NoBlockError(Exception):
    """The plan has parts that the theory does not know."""


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


def block_of(plan: p.Node, declared: Declared, knowledge: Knowledge) -> Block | None:
    """The block that a plan is, if it is one."""
    try:
        return _Reader(declared, knowledge).block(plan)
    except NoBlockError:
        return None


def _closes(node: p.Node) -> bool:
    match node:
        case p.Join(keep_left=left, keep_right=right):
            return left is not None or right is not None
        case p.Distinct(until=until) | p.Aggregate(until=until):
            return until is not None
    return False


@dataclass
class _Occurrence:
    """One appearance of a stream: its attributes are columns, and expressions over them."""

    name: str
    scan: p.Scan
    terms: dict[str, Term]
    columns: dict[str, None]

    @property
    def source(self) -> str:
        return self.scan.name


@dataclass
class _Reader:
    declared: Declared
    knowledge: Knowledge
    translation: Translation = field(default_factory=Translation)
    occurrences: list[_Occurrence] = field(default_factory=list)
    conditions: list[Condition] = field(default_factory=list)
    domains: list[Condition] = field(default_factory=list)  # met by all values but NULL
    nodes: list[p.Node] = field(default_factory=list)
    opaque: list[tuple[Expr, Mapping[str, Term]]] = field(default_factory=list)
    few: dict[Attribute, int] = field(default_factory=dict)  # of so many unknown values
    exact: bool = True

    def block(self, plan: p.Node) -> Block:
        self.nodes.append(plan)
        match plan:
            case p.Distinct(source):
                terms = self._rows(source, distinct=True)
                return self._made(terms.values(), distinct=True)
            case p.Aggregate(source, keys, calls):
                terms = self._rows(source)
                groups = [terms[key] for key in keys]
                made = tuple(self._call(call, terms, source) for call in calls)
                return self._made(groups, aggregates=made)
        self.nodes.pop()
        terms = self._rows(plan)
        return self._made(terms.values())

    def _made(
        self,
        select: Iterable[Term],
        distinct: bool = False,
        aggregates: tuple[Aggregate, ...] | None = None,
    ) -> Block:
        chosen = tuple(dict.fromkeys(term for term in select if isinstance(term, Attribute)))
        self._note_promised({*chosen, *_aggregated(aggregates)})
        self._note_opaque()
        mentioned = set(self._mentioned())
        for own, number in self.few.items():
            if own not in mentioned:
                self.domains.append(between(own, 0, number - 1))
        used = {*chosen, *mentioned, *self.few, *_aggregated(aggregates)}
        by_source: dict[str, dict[str, None]] = {}
        for occurrence in self.occurrences:
            mine = {a.name: None for a in sorted(used) if a.stream == occurrence.name}
            by_source.setdefault(occurrence.source, {}).update(mine)
        streams = tuple(
            Stream(o.name, tuple(by_source[o.source]), o.source) for o in self.occurrences
        )
        return Block(
            streams,
            Every((*self.conditions, *self.domains)),
            chosen,
            distinct,
            aggregates,
            tuple(self.nodes),
            self.exact,
            frozenset(a for a in used if self._may_be_null(a)),
        )

    def _mentioned(self) -> Iterator[Attribute]:
        for condition in (*self.conditions, *self.domains):
            yield from attributes_of(condition)

    def _may_be_null(self, attribute: Attribute) -> bool:
        (own,) = (o for o in self.occurrences if o.name == attribute.stream)
        if attribute.name in self.declared.never_null(own.scan):
            return False
        return not self._must_not_be_null(attribute)

    # --- rows -----------------------------------------------------------------------------------

    def _rows(self, plan: p.Node, distinct: bool = False) -> dict[str, Term]:
        """The columns of a plan as attributes; its conditions are noted."""
        self.nodes.append(plan)
        match plan:
            case p.Scan() if plan.is_stream:
                return self._scan(plan)
            case p.Filter(source, predicate):
                terms = self._rows(source, distinct)
                self._note(predicate, terms)
                return terms
            case p.Map(source, outputs):
                terms = self._rows(source, distinct)
                self._rename(source, outputs, terms)
                return {name: self._term(value, terms, name, plan) for name, value in outputs}
            case p.Join(left, right, "inner"):
                terms = {**self._rows(left, distinct), **self._rows(right, distinct)}
                for equality in plan.on:
                    self._equate(terms[equality.left], terms[equality.right], plan, equality)
                if plan.where is not None:
                    self._note(plan.where, terms)
                return terms
            case p.Distinct(source) if distinct:
                return self._rows(source, distinct)
        raise NoBlockError

    def _scan(self, plan: p.Scan) -> dict[str, Term]:
        taken = [occurrence.name for occurrence in self.occurrences]
        name, count = plan.name, 1
        while name in taken:
            count += 1
            name = f"{plan.name} ({count})"
        terms: dict[str, Term] = {}
        columns = dict.fromkeys(plan.schema.names)
        self.occurrences.append(_Occurrence(name, plan, terms, columns))
        for column in plan.schema:
            own = Attribute(name, column.name)
            terms[column.name] = own
            if pa.types.is_boolean(column.type):
                self.domains.append(BOOLEANS.members(own))
        return terms

    def _rename(
        self, source: p.Node, outputs: tuple[tuple[str, Expr], ...], terms: dict[str, Term]
    ) -> None:
        """An occurrence is called what the query calls it: x, where columns become x.a, x.b."""
        below = source
        while isinstance(below, p.Filter):
            below = below.input
        prefixes = {name.split(".")[0] for name, _ in outputs if "." in name}
        if not isinstance(below, p.Scan) or len(prefixes) != 1:
            return
        (prefix,) = prefixes
        own = self.occurrences[-1]
        if prefix in [o.name for o in self.occurrences] or not prefix.isidentifier():
            return
        if any("." not in name and "(" not in name for name, _ in outputs):
            return
        old, own.name = own.name, prefix
        self.conditions = [_renamed(condition, old, prefix) for condition in self.conditions]
        self.domains = [_renamed(condition, old, prefix) for condition in self.domains]
        for name, term in terms.items():
            if term is not None and term.stream == old:
                terms[name] = Attribute(prefix, term.name)

    def _term(self, value: Expr, terms: Mapping[str, Term], name: str, plan: p.Node) -> Term:
        value = uncast(value)
        match value:
            case Column(column):
                return terms[column]
            case Literal():
                return None
        return self._derived(value, terms, name, plan)

    def _derived(
        self, value: Expr, terms: Mapping[str, Term], name: str, plan: p.Node | None
    ) -> Term:
        """An expression as an attribute of the one stream that it reads."""
        used = [terms[column] for column in _columns(value)]
        owners = {term.stream for term in used if term is not None}
        if not owners:
            return None
        if len(owners) > 1:
            raise NoBlockError
        (owner,) = owners
        self.exact = False
        occurrence = next(o for o in self.occurrences if o.name == owner)
        own = Attribute(owner, named(name))
        if own.name in occurrence.columns:
            own = Attribute(owner, f"{own.name} ({len(occurrence.columns)})")
        occurrence.columns[own.name] = None
        match value:
            case Call("%", (_, Literal(int() as period, _))) if period:
                self.domains.append(between(own, 1 - abs(period), abs(period) - 1))
                return own
        if pa.types.is_boolean(value.type):
            self.domains.append(BOOLEANS.members(own))
            return own
        finite = None if plan is None else self.knowledge.of(plan).values.get(name)
        if finite is not None and finite.number is not None:
            self.few[own] = finite.number
        return own

    def _note_promised(self, wanted: set[Attribute]) -> None:
        """What sources promise, where it is about columns that matter.

        NULL keeps every promise, but no condition. So where a stream occurs again, that there are
        conditions on a column counts by itself.
        """
        repeated = self._repeated()
        for occurrence in self.occurrences:
            scan, terms = occurrence.scan, occurrence.terms
            used = {*wanted, *self._mentioned()}
            names = [name for name, term in terms.items() if term in used]
            for part in connected(self.declared.relied(scan), names):
                condition = self.translation.condition(part, partial(_plain_term, terms=terms))
                if condition is not None:
                    self.domains.append(condition)
                for name in _columns(part) if occurrence.name in repeated else ():
                    term = terms[name]
                    if term is not None and self._must_not_be_null(term):
                        column = Column(name, scan.schema.field(name).type)
                        self.opaque.append((is_not_null(column), terms))

    def _must_not_be_null(self, attribute: Attribute) -> bool:
        return any(excludes_null(condition, attribute) for condition in self.conditions)

    def _repeated(self) -> set[str]:
        """The occurrences of streams that have others."""
        sources = [occurrence.source for occurrence in self.occurrences]
        return {o.name for o in self.occurrences if sources.count(o.source) > 1}

    def _note_opaque(self) -> None:
        """Let streams that occur again have an attribute for each condition that has no words.

        Else one occurrence would seem to do for another that is more particular.
        """
        repeated = self._repeated()
        for part, terms in self.opaque:
            used = {c: term for c in _columns(part) if (term := terms[c]) is not None}
            (owner,) = {term.stream for term in used.values()}
            if owner in repeated:
                named = {c: Column(term.name, pa.null()) for c, term in used.items()}
                own = Attribute(owner, fingerprint(substitute(part, named)))
                self.domains.append(compare(own, "=", 1))

    # --- conditions -----------------------------------------------------------------------------

    def _equate(self, left: Term, right: Term, plan: p.Join, equality: p.Equality) -> None:
        if left is not None and right is not None:
            self.conditions.append(compare(left, "=", right))
        elif left is not None or right is not None:
            raise NoBlockError  # an attribute equals a constant that is no longer known

    def _note(self, predicate: Expr, terms: Mapping[str, Term]) -> None:
        for part in conjuncts(predicate):
            self._note_part(part, terms)

    def _note_part(self, part: Expr, terms: Mapping[str, Term]) -> None:
        owners = {t.stream for c in _columns(part) if (t := terms[c]) is not None}

        def attribute(value: Expr) -> Attribute | None:
            value = uncast(value)
            if isinstance(value, Column):
                return terms[value.name]
            if isinstance(value, Literal) or len(owners) < 2:
                return None
            return self._derived(value, terms, str(value), None)

        condition = self.translation.condition(part, attribute)
        if condition is not None:
            self.conditions.append(condition)
        if condition is None or not owners:
            self.exact = False
            if len(owners) > 1:
                raise NoBlockError
            self.opaque += [(part, terms)] if owners else []

    # --- aggregates -----------------------------------------------------------------------------

    def _call(self, call: AggregateCall, terms: Mapping[str, Term], source: p.Node) -> Aggregate:
        of = self._argument(call, terms, source)
        match call.function, call.distinct:
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
        raise NoBlockError

    def _over(self, function: Function, of: Term) -> Aggregate:
        """Of a constant, all that matters is whether there is a row."""
        return Aggregate(query.COUNT, None) if of is None else Aggregate(function, of)

    def _argument(self, call: AggregateCall, terms: Mapping[str, Term], source: p.Node) -> Term:
        if not call.args:
            if call.where is not None:
                return self._derived(
                    Column(call.where, pa.bool_()), terms, f"{call.where} counted", None
                )
            return None
        of = terms[call.args[0]]
        if call.where is None:
            return of
        columns = tuple(Column(c, source.schema.field(c).type) for c in call.columns)
        name = f"{of.name} filtered" if isinstance(of, Attribute) else call.name
        return self._derived(Call("if", columns, columns[0].type), terms, name, None)


def _plain_term(value: Expr, terms: Mapping[str, Term]) -> Term:
    value = uncast(value)
    return terms[value.name] if isinstance(value, Column) else None


def _columns(value: Expr) -> Iterator[str]:
    match value:
        case Column(name):
            yield name
        case Call(args=args):
            for arg in args:
                yield from _columns(arg)


def _aggregated(aggregates: tuple[Aggregate, ...] | None) -> Iterator[Attribute]:
    for aggregate in aggregates or ():
        if aggregate.of is not None:
            yield aggregate.of


def _renamed(condition: Condition, old: str, new: str) -> Condition:
    def element(value: Element) -> Element:
        if isinstance(value, Attribute) and value.stream == old:
            return Attribute(new, value.name)
        return value

    match condition:
        case Atom(left, comparison, right):
            return Atom(element(left), comparison, element(right))
        case Every(parts):
            return Every(tuple(_renamed(part, old, new) for part in parts))
        case Some(parts, exclusive):
            return Some(tuple(_renamed(part, old, new) for part in parts), exclusive)
