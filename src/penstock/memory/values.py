"""How many values the columns of plans take, and what sources promise of their rows.

A promise is met, or NULL (as a CHECK is), so it bounds a column that may be NULL to its values and
NULL. Where it is about several columns, a NULL in one would leave the others free: then it counts
only if none of them is ever NULL.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import pyarrow as pa

from penstock.algebra import plan as p
from penstock.algebra import sizes
from penstock.algebra.expr import (
    Call,
    Column,
    Expr,
    Literal,
    columns,
    compare,
    conjuncts,
    substitute,
)
from penstock.algebra.plan import (
    Aggregate,
    Filter,
    Join,
    Map,
    Node,
    Scan,
    SetOperation,
    Union,
)
from penstock.algebra.sizes import Factor, Size
from penstock.reasoning.closure import Attribute, Closure
from penstock.reasoning.conditions import Every, TooManyPartsError, Translation, split, uncast
from penstock.reasoning.products import named

_COMPARISONS = ("<", "<=", "=", ">=", ">", "<>")


def never_null(scan: Scan) -> frozenset[str]:
    """The columns that are not NULL, by the word of their source; a time never is."""
    found = {scan.time} if scan.time is not None else set()
    for part in _parts(scan):
        match part:
            case Call("not", (Call("is null", (Column(name),)),)):
                found.add(name)
    return frozenset(found)


def relied(scan: Scan) -> tuple[Expr, ...]:
    """The conditions that hold of the values of a scan's columns, whatever is NULL among them."""
    return reliable(_parts(scan), never_null(scan))


def reliable(parts: Iterable[Expr], never_null: Collection[str]) -> tuple[Expr, ...]:
    def counts(part: Expr) -> bool:
        names = columns(part)
        return _plain(part) and (len(names) == 1 or names <= frozenset(never_null))

    return tuple(filter(counts, parts))


def connected(parts: Iterable[Expr], names: Collection[str]) -> Iterator[Expr]:
    """The conditions on some columns, on those that these are compared with, and so on."""
    wanted = set(names)
    for group, about in _connected(parts):
        if group & wanted:
            yield from about


def is_not_null(column: Column) -> Expr:
    return Call("not", (Call("is null", (column,), pa.bool_()),), pa.bool_())


def _parts(scan: Scan) -> tuple[Expr, ...]:
    return () if scan.promised is None else conjuncts(scan.promised)


def _plain(condition: Expr) -> bool:
    """Whether a condition compares columns and constants, so that it is NULL of no values."""
    match condition:
        case Call("and" | "or" | "not", args):
            return all(map(_plain, args))
        case Call(operator, (left, right)) if operator in _COMPARISONS:
            return _is_value(left) and _is_value(right)
    return False


def _is_value(expr: Expr) -> bool:
    match expr:
        case Call("cast", (inner,)):
            return _is_value(inner)
        case Literal(value):
            return value is not None
    return isinstance(expr, Column)


MOST_VALUES = 1_000_000_000
_CHOICES = ("min", "max", "any_value")
_HERE = ""  # the one stream that the records of a plan are of, for the theory


@dataclass(frozen=True)
class Declared:
    """What is known of sources beside what they promise of each row.

    `domains` are conditions that all rows match, none of whose columns is ever NULL. A rate is a
    number of rows, and the span of time in which no more come. `closing` are columns whose values
    punctuations close.
    """

    domains: Mapping[str, tuple[Expr, ...]] = field(default_factory=dict)
    rates: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    closing: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def coming(self, source: str, rate: tuple[int, int] | None) -> Declared:
        """With the rate of a source."""
        return self if rate is None else replace(self, rates={**self.rates, source: rate})

    def punctuated(self, source: str, names: Iterable[str]) -> Declared:
        """With columns of a source that its punctuations close."""
        known = self.closing.get(source, frozenset()).union(names)
        return replace(self, closing={**self.closing, source: known})

    def matching(self, source: str, condition: Expr | None) -> Declared:
        """With a condition that all rows of a source match."""
        if condition is None:
            return self
        found = (*self.domains.get(source, ()), *conjuncts(condition))
        return replace(self, domains={**self.domains, source: found})

    def never_null(self, scan: Scan) -> frozenset[str]:
        """The columns of a source that are not NULL."""
        return never_null(scan).union(*map(columns, self.domains.get(scan.name, ())))

    def relied(self, scan: Scan) -> tuple[Expr, ...]:
        """The conditions that hold of the values of a source's columns (see promises.py)."""
        return (*relied(scan), *self.domains.get(scan.name, ()))

    def most_rows(self, source: str, length: int) -> int | None:
        """How many rows of a source come within a length of time at most."""
        if source not in self.rates:
            return None
        rows, span = self.rates[source]
        return rows * -(-length // span)


@dataclass(frozen=True)
class ColumnValues:
    """What is known of the records of a plan, by column: values, conditions, what to call it."""

    schema: pa.Schema
    finite: Mapping[str, Factor]
    facts: tuple[Expr, ...]
    labels: Mapping[str, str]

    @cached_property
    def values(self) -> Mapping[str, Factor]:
        """The columns with finitely many values."""
        found = dict(self.finite)
        for name, number in _counted(self.schema, self.facts).items():
            known = found.get(name)
            if known is None or known.number is None or number < known.number:
                found[name] = Factor(f"values of {self.labels[name]}", number)
        for fact in self.facts:
            match fact:
                case Call("=" | "<=>", (Column(a), Column(b))):
                    for one, other in ((a, b), (b, a)):
                        if one not in found and other in found:
                            found[one] = found[other]
        return found

    def product(self, names: tuple[str, ...]) -> Size | None:
        """How many different values these columns have together, if finitely many."""
        if not all(name in self.values for name in names):
            return None
        return sizes.product([self.values[name] for name in names])

    def open(self, names: tuple[str, ...]) -> list[str]:
        """Those of the columns that nothing bounds, as they are called."""
        return [self.labels[name] for name in names if name not in self.values]


class ColumnAnalysis:
    """For each plan, which values its columns can take; each is found once."""

    def __init__(self, declared: Declared) -> None:
        self.declared = declared
        self._known: dict[int, tuple[Node, ColumnValues]] = {}

    def of(self, plan: Node) -> ColumnValues:
        if id(plan) not in self._known:
            self._known[id(plan)] = plan, _CASES[type(plan)](self, plan)
        return self._known[id(plan)][1]

    def _filtered(self, plan: Filter) -> ColumnValues:
        below = self.of(plan.input)
        facts = (*below.facts, *conjuncts(plan.predicate))
        return ColumnValues(plan.schema, below.values, facts, below.labels)

    def _computed(self, plan: Map) -> ColumnValues:
        return _mapped(self.of(plan.input), plan.schema, plan.outputs)

    def _passed_on(self, plan: Node) -> ColumnValues:
        """Records are some of the first input's, perhaps with a column more."""
        below = self.of(plan.inputs[0])
        labels = {name: below.labels.get(name, named(name)) for name in plan.schema.names}
        return ColumnValues(plan.schema, below.values, below.facts, labels)

    def _scanned(self, plan: Scan) -> ColumnValues:
        labels = {name: f"{plan.name}.{name}" for name in plan.schema.names}
        if not plan.is_stream:
            rows = Factor(f"rows of {plan.name}")
            return ColumnValues(plan.schema, dict.fromkeys(plan.schema.names, rows), (), labels)
        never_null = self.declared.never_null(plan)
        relied = self.declared.relied(plan)
        finite = {
            f.name: Factor(f"values of {labels[f.name]}", 2 + (f.name not in never_null))
            for f in plan.schema
            if pa.types.is_boolean(f.type)
        }
        for name, number in _counted(plan.schema, relied).items():
            number += name not in never_null
            finite[name] = Factor(f"values of {labels[name]}", number)
        facts = tuple(part for part in relied if columns(part) <= never_null)
        return ColumnValues(plan.schema, finite, facts, labels)

    def _joined(self, plan: Join) -> ColumnValues:
        left, right = self.of(plan.left), self.of(plan.right)
        labels = {**left.labels, **right.labels}
        names = plan.schema.names
        facts: tuple[Expr, ...] = ()
        if plan.kind in ("inner", "left", "semi", "anti"):
            facts += left.facts
        if plan.kind in ("inner", "right"):
            facts += right.facts
        if plan.kind in ("inner", "semi"):
            equal = [(e.left, e.right) for e in plan.on]
            facts += tuple(compare("=", _column(left, a), _column(right, b)) for a, b in equal)
            facts += conjuncts(plan.where) if plan.where is not None else ()
        values = {**left.values, **right.values}
        both = ColumnValues(pa.schema([*left.schema, *right.schema]), values, facts, labels)
        finite = {name: factor for name, factor in both.values.items() if name in names}
        if plan.kind in ("left", "full"):
            finite |= {n: _or_null(f) for n, f in finite.items() if n in right.schema.names}
        if plan.kind in ("right", "full"):
            finite |= {n: _or_null(f) for n, f in finite.items() if n in left.schema.names}
        kept = tuple(fact for fact in facts if columns(fact) <= set(names))
        return ColumnValues(plan.schema, finite, kept, {name: labels[name] for name in names})

    def _together(self, plan: Union | SetOperation) -> ColumnValues:
        sides = [self.of(node) for node in plan.inputs]
        finite: dict[str, Factor] = {}
        for i, name in enumerate(plan.schema.names):
            parts = [side.values.get(side.schema.names[i]) for side in sides]
            known = [part for part in parts if part is not None]
            label = sides[0].labels[sides[0].schema.names[i]]
            if isinstance(plan, SetOperation) and plan.kind in ("intersection", "intersect"):
                if known:
                    finite[name] = min(known, key=lambda f: f.number or MOST_VALUES)
            elif isinstance(plan, SetOperation) and plan.kind != "max union":
                if parts[0] is not None:
                    finite[name] = parts[0]
            elif len(known) == len(sides):
                numbers = [f.number for f in known if f.number is not None]
                total = sum(numbers) if len(numbers) == len(known) else None
                finite[name] = Factor(f"values of {label}", total)
        facts = sides[0].facts if isinstance(plan, SetOperation) and len(sides) == 2 else ()
        if isinstance(plan, SetOperation) and plan.kind == "max union":
            facts = ()
        labels = {
            name: sides[0].labels[sides[0].schema.names[i]]
            for i, name in enumerate(plan.schema.names)
        }
        return ColumnValues(plan.schema, finite, facts, labels)

    def _aggregated(self, plan: Aggregate) -> ColumnValues:
        below = self.of(plan.input)
        finite = {key: below.values[key] for key in plan.keys if key in below.values}
        labels = {key: below.labels[key] for key in plan.keys}
        for call in plan.calls:
            labels[call.name] = named(call.name)
            if call.function in _CHOICES and call.args[0] in below.values:
                finite[call.name] = _or_null(below.values[call.args[0]])
        facts = tuple(fact for fact in below.facts if columns(fact) <= set(plan.keys))
        return ColumnValues(plan.schema, finite, facts, labels)


_CASES: Mapping[type[Node], Callable[[ColumnAnalysis, Any], ColumnValues]] = p.for_each_operator(
    (ColumnAnalysis._scanned, (Scan,)),
    (ColumnAnalysis._filtered, (Filter,)),
    (ColumnAnalysis._computed, (Map,)),
    (ColumnAnalysis._joined, (Join,)),
    (ColumnAnalysis._together, (Union, SetOperation)),
    (ColumnAnalysis._aggregated, (Aggregate,)),
    (
        ColumnAnalysis._passed_on,
        (
            *(p.Changes, p.Coalesce, p.Distinct, p.Group, p.Rank, p.Restrict, p.RowWindow),
            *(p.Session, p.Split, p.Sync, p.Upsert, p.Window),
        ),
    ),
)


def _mapped(
    below: ColumnValues, schema: pa.Schema, outputs: tuple[tuple[str, Expr], ...]
) -> ColumnValues:
    finite: dict[str, Factor] = {}
    labels: dict[str, str] = {}
    places: dict[str, Expr] = {}
    for name, value in outputs:
        bare = uncast(value)
        if isinstance(bare, Column):
            qualified = "." in name and "(" not in name
            labels[name] = named(name) if qualified else below.labels[bare.name]
            if isinstance(value, Column):
                places.setdefault(value.name, Column(name, value.type))
        else:
            labels[name] = named(name) if not name.startswith(("argument", "key")) else str(value)
        factor = _values_of(value, below, labels[name])
        if factor is not None:
            finite[name] = factor
    facts = tuple(
        substitute(fact, places) for fact in below.facts if columns(fact) <= places.keys()
    )
    return ColumnValues(schema, finite, facts, labels)


def _values_of(value: Expr, below: ColumnValues, label: str) -> Factor | None:
    """How many values an expression can take."""
    match value:
        case Column(name):
            known = below.values.get(name)
            if known is None or known.text.startswith("rows"):
                return known
            return Factor(f"values of {label}", known.number)
        case Literal():
            return Factor(f"values of {label}", 1)
        case Call("%", (_, Literal(int() as period, kind))) if pa.types.is_integer(kind) and period:
            return Factor(f"values of {label}", 2 * abs(period))
        case Call("if", (_, then, otherwise)):
            parts = [_values_of(part, below, label) for part in (then, otherwise)]
            numbers = [part.number for part in parts if part and part.number is not None]
            if len(numbers) == 2:
                return Factor(f"values of {label}", sum(numbers))
    if pa.types.is_boolean(value.type):
        return Factor(f"values of {label}", 3)
    used = columns(value)
    if not used or not used <= below.values.keys():
        return None
    return Factor(f"values of {label}", sizes.product([below.values[c] for c in used]).number)


def _column(known: ColumnValues, name: str) -> Column:
    return Column(name, known.schema.field(name).type)


def _or_null(factor: Factor) -> Factor:
    return Factor(factor.text, None if factor.number is None else factor.number + 1)


def _counted(schema: pa.Schema, facts: tuple[Expr, ...]) -> dict[str, int]:
    """The columns that conditions leave finitely many values, and how many."""
    counts: dict[str, int] = {}
    for names, about in _connected(facts):
        counts |= _counted_together([name for name in schema.names if name in names], about)
    return counts


def _connected(facts: Iterable[Expr]) -> list[tuple[frozenset[str], tuple[Expr, ...]]]:
    """The conditions in groups that share no columns, which say nothing of each other."""
    groups: list[tuple[frozenset[str], tuple[Expr, ...]]] = []
    for fact in facts:
        names: frozenset[str] = columns(fact)
        about: tuple[Expr, ...] = (fact,)
        for group in [group for group in groups if group[0] & names]:
            groups.remove(group)
            names, about = names | group[0], (*group[1], *about)
        groups.append((names, about))
    return groups


def _counted_together(names: list[str], facts: tuple[Expr, ...]) -> dict[str, int]:
    translation = Translation()

    def attribute(value: Expr) -> Attribute | None:
        column = uncast(value)
        return Attribute(_HERE, column.name) if isinstance(column, Column) else None

    found = [translation.condition(fact, attribute) for fact in facts]
    conditions = [condition for condition in found if condition is not None]
    if not conditions:
        return {}
    try:
        parts = split(Every(tuple(conditions))).parts
    except TooManyPartsError:
        return {}
    closures = [Closure(part, [Attribute(_HERE, name) for name in names]) for part in parts]
    counts: dict[str, int] = {}
    for name in names:
        seen = {closure.values(Attribute(_HERE, name)) for closure in closures}
        total = sum(high - low + 1 for low, high in seen)
        if total < math.inf:
            counts[name] = int(total)
    return counts
