"""`penstock check`: does a view or query fit in bounded memory?

A plan that selects, projects, joins and aggregates append-only streams is one that the theory
decides: `penstock.memory`. Where every stream has a window, memory is what the windows hold. Of any
other plan the command says that it cannot say, and why.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from penstock.algebra import plan as p
from penstock.algebra.expr import Call, Column, Expr, Literal, conjuncts
from penstock.cli.explaining import plans
from penstock.memory.aggregation import check_aggregates
from penstock.memory.check import check_split
from penstock.memory.conditions import Condition, Every, TooManyPartsError, split
from penstock.memory.domains import (
    BOOLEANS,
    Dates,
    Decimals,
    Domain,
    Integers,
    Strings,
    UnorderedError,
    condition,
)
from penstock.memory.predicates import Attribute
from penstock.memory.query import (
    AVG,
    COUNT,
    COUNT_DISTINCT,
    MAX,
    MEDIAN,
    MIN,
    SUM,
    Aggregate,
    AggregateQuery,
    Query,
    Stream,
)
from penstock.memory.verdict import Failure, Role, Verdict
from penstock.sql.statements import Statement

if TYPE_CHECKING:
    from penstock.session import Session


class Outcome(StrEnum):
    BOUNDED = "bounded"
    WINDOWED = "bounded by its windows"
    UNBOUNDED = "UNBOUNDED"
    UNDECIDED = "not decided"


@dataclass(frozen=True)
class Checked:
    """The verdict on one view or query, why, and what would bound it."""

    name: str
    outcome: Outcome
    reasons: tuple[str, ...] = ()
    repairs: tuple[str, ...] = ()

    @property
    def unbounded(self) -> bool:
        return self.outcome is Outcome.UNBOUNDED

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "outcome": self.outcome.lower(),
            "reasons": self.reasons,
            "repairs": self.repairs,
        }

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.outcome}", *(f"  {reason}" for reason in self.reasons)]
        if self.repairs:
            lines += ["  What would bound it:", *(f"    {repair}" for repair in self.repairs)]
        return "\n".join(lines)


class UndecidedError(Exception):
    """What of a plan is beyond the check."""


def verdicts(db: Session, statements: Iterable[Statement]) -> list[Checked]:
    """The verdict on each view and query; definitions are made in the session, nothing is run."""
    return [checked(name, plan) for name, plan in plans(db, statements)]


def checked(name: str, plan: p.Node) -> Checked:
    open_ended = sorted(_without_window(plan))
    if not open_ended:
        reason = "A row is forgotten when it leaves its window: memory is what the windows hold."
        return Checked(name, Outcome.WINDOWED, (reason,))
    try:
        verdict = _decided(plan)
    except UndecidedError as error:
        return Checked(name, Outcome.UNDECIDED, (str(error),))
    if verdict.bounded:
        return Checked(name, Outcome.BOUNDED, ("Constant memory is enough for all inputs.",))
    reasons = tuple(dict.fromkeys(map(reason_of, verdict.failures)))
    repairs = tuple(dict.fromkeys(r for f in verdict.failures for r in repairs_of(f)))
    outcome = Outcome.UNBOUNDED if verdict.certain else Outcome.UNDECIDED
    return Checked(name, outcome, reasons, repairs)


def _without_window(plan: p.Node) -> Iterator[str]:
    """The streams whose rows never leave."""
    match plan:
        case p.Window() | p.RowWindow(partition=()):
            return
        case p.Restrict(end=end) if end is not None:
            return
        case p.Scan(name, time=time) if time is not None:
            yield name
    for node in plan.inputs:
        yield from _without_window(node)


# --- from plans to queries of the theory ----------------------------------------------------------

FUNCTIONS = {"sum": SUM, "count": COUNT, "min": MIN, "max": MAX, "avg": AVG, "median": MEDIAN}


@dataclass(frozen=True)
class Join:
    """Streams joined under a condition, and what each column of the result is."""

    streams: tuple[Stream, ...]
    conditions: tuple[Condition, ...]
    columns: dict[str, Attribute | Literal | None]  # None: computed


def _decided(plan: p.Node) -> Verdict:
    strings, plan = Strings(), _without_renaming(plan)
    try:
        match plan:
            case p.Aggregate(source, keys, calls):
                return _aggregated(_join(source, strings), keys, calls)
            case p.Distinct(source):
                return _selected(_join(source, strings), plan.schema.names, distinct=True)
        return _selected(_join(plan, strings), plan.schema.names, distinct=False)
    except (TooManyPartsError, UnorderedError) as error:
        raise UndecidedError(f"Its condition is beyond the check: {error}.") from error


def _without_renaming(plan: p.Node) -> p.Node:
    """The aggregate that select lists of plain columns are put on, if one is."""
    below = plan
    while isinstance(below, p.Map) and all(isinstance(e, Column) for _, e in below.outputs):
        below = below.input
    return below if isinstance(below, p.Aggregate) else plan


def _selected(join: Join, names: Iterable[str], *, distinct: bool) -> Verdict:
    select = tuple(a for name in names for a in _attributes(join, name))
    parts = split(Every(join.conditions))
    return check_split(Query(join.streams, select=select, distinct=distinct), parts)


def _aggregated(join: Join, keys: Iterable[str], calls: Iterable[Any]) -> Verdict:
    group_by = tuple(a for key in keys for a in _attributes(join, key))
    aggregates = tuple(_aggregate(join, call) for call in calls)
    parts = split(Every(join.conditions)).parts
    if len(parts) > 1:
        raise UndecidedError("Its condition has alternatives under an aggregate.")
    if not parts:
        return Verdict()
    return check_aggregates(AggregateQuery(join.streams, parts[0], group_by, aggregates))


def _aggregate(join: Join, call: Any) -> Aggregate:
    function = FUNCTIONS.get(call.function)
    if function is None or call.where is not None or len(call.args) > 1:
        raise UndecidedError(f"The aggregate {call.name} is beyond the check.")
    if call.distinct:
        function = COUNT_DISTINCT if function is COUNT else function
    of = next((a for name in call.args for a in _attributes(join, name)), None)
    if of is None and function is not COUNT:
        raise UndecidedError(f"The aggregate {call.name} is of a constant.")
    return Aggregate(function, of)


def _attributes(join: Join, name: str) -> Iterator[Attribute]:
    found = join.columns[name]
    if found is None:
        raise UndecidedError(f"Column {name} is computed; the check knows plain columns.")
    if isinstance(found, Attribute):
        yield found


def _join(plan: p.Node, strings: Strings, used: dict[str, int] | None = None) -> Join:
    used = {} if used is None else used
    match plan:
        case p.Scan(name, schema, append_only, time):
            if not append_only or time is None:
                raise UndecidedError(f"{name} is a table; the check knows streams.")
            used[name] = used.get(name, 0) + 1
            alias = name if used[name] == 1 else f"{name}{used[name]}"
            stream = Stream(alias, tuple(schema.names), name)
            return Join((stream,), (), {column: stream[column] for column in schema.names})
        case p.Filter(source, predicate):
            below = _join(source, strings, used)
            return _having(below, conjuncts(predicate), strings)
        case p.Map(source, outputs):
            below = _join(source, strings, used)
            return replace(below, columns={n: _value(e, below) for n, e in outputs})
        case p.Join(left, right, "inner", on, where):
            sides = _join(left, strings, used), _join(right, strings, used)
            both = Join(
                (*sides[0].streams, *sides[1].streams),
                (*sides[0].conditions, *sides[1].conditions),
                {**sides[0].columns, **sides[1].columns},
            )
            schema = pa.schema([*left.schema, *right.schema])
            equalities = tuple(
                Call("=", tuple(Column(c, schema.field(c).type) for c in (e.left, e.right)), _BOOL)
                for e in on
            )
            return _having(both, (*equalities, *(conjuncts(where) if where else ())), strings)
        case p.Upsert(key=key):
            raise UndecidedError(
                f"The latest row of each ({', '.join(key)}) is kept: bounded if there are "
                "boundedly many of them."
            )
    words = type(plan).__name__
    raise UndecidedError(f"{words} is beyond the check, which knows select, project and join.")


_BOOL = pa.bool_()


def _value(expression: Expr, join: Join) -> Attribute | Literal | None:
    match expression:
        case Column(name):
            return join.columns[name]
        case Literal():
            return expression
    return None


def _having(join: Join, tests: Iterable[Expr], strings: Strings) -> Join:
    return replace(
        join, conditions=(*join.conditions, *(_condition(test, join, strings) for test in tests))
    )


_SWAPPED = {"<": ">", "<=": ">=", "=": "=", "<>": "<>", ">": "<", ">=": "<="}


def _condition(test: Expr, join: Join, strings: Strings) -> Condition:
    if isinstance(test, Call) and test.function in _SWAPPED:
        left, right = (_value(arg, join) for arg in test.args)
        domain = _domain(test.args[0].type, strings)
        if isinstance(left, Attribute) and right is not None and domain is not None:
            return condition(domain, left, test.function, _constant(right))
        if isinstance(right, Attribute) and left is not None and domain is not None:
            return condition(domain, right, _SWAPPED[test.function], _constant(left))
    raise UndecidedError(
        f"The condition {test} is beyond the check, which compares columns and constants."
    )


def _constant(value: Attribute | Literal) -> object:
    return value.value if isinstance(value, Literal) else value


def _domain(kind: pa.DataType, strings: Strings) -> Domain | None:
    if pa.types.is_integer(kind):
        return Integers()
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return strings
    if pa.types.is_date(kind):
        return Dates()
    if pa.types.is_decimal(kind):
        return Decimals(kind.scale)
    return BOOLEANS if pa.types.is_boolean(kind) else None


# --- the verdict in words -------------------------------------------------------------------------


def reason_of(failure: Failure) -> str:
    names = " and ".join(map(str, failure.attributes))
    match failure.role:
        case Role.PROJECTED:
            return f"{names} is in the answer and has no bounds: every value seen must be kept."
        case Role.EQUATED:
            return (
                f"{names} has no bounds and is matched by {failure.equality}: every value seen "
                "must be kept, for a match that may come."
            )
        case Role.COUNTED:
            joins = " and ".join(str(r.join) for r in failure.references)
            return f"{names} is compared by {joins}: how many rows match needs all of its values."
        case Role.COMPARED:
            joins = " and ".join(str(r.join) for r in failure.references)
            return f"{names} are compared by {joins}: no one row is best in both orders."
        case Role.GROUPED:
            return f"{names} has no bounds and is grouped by: every value seen is a group."
        case Role.AGGREGATED:
            return f"{failure.aggregate} needs all values of {names}, which has no bounds."


def repairs_of(failure: Failure) -> Iterator[str]:
    for attribute in failure.attributes:
        yield f"bounds in WHERE: {attribute} BETWEEN low AND high"
    yield f"a window: FROM {failure.stream} [RANGE ...]"
