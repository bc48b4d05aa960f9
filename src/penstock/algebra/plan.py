"""Plan nodes: what a query says. Immutable, self-validating, with derived schemas.

A node that exists is well formed: unknown columns, wrong types and clashing names raise PlanError
when it is built. Two nodes are equal when they say the same, so equal sub-plans are one sub-plan.
Meanings are in `reference`; how nodes run is in `penstock.physical`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal, Self, TypeAlias

import pyarrow as pa

from penstock.algebra import aggregates, expr
from penstock.algebra.aggregates import AggregateCall
from penstock.algebra.calendar import UTC, Midnights
from penstock.algebra.expr import Expr
from penstock.errors import PlanError
from penstock.kinds import kind
from penstock.record import Direction


@dataclass(frozen=True)
class Node:
    """The base of all plan nodes."""

    @property
    def schema(self) -> pa.Schema:
        raise NotImplementedError

    @cached_property
    def inputs(self) -> tuple[Node, ...]:
        found: list[Node] = []
        for field in fields(self):
            value = getattr(self, field.name)
            found += [value] if isinstance(value, Node) else []
            if isinstance(value, tuple):
                found += [item for item in value if isinstance(item, Node)]
        return tuple(found)

    def with_inputs(self, *inputs: Node) -> Self:
        """The same operation over other inputs; the same object over its own."""
        if all(new is old for new, old in zip(inputs, self.inputs, strict=True)):
            return self
        rest = iter(inputs)
        values: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Node):
                value = next(rest)
            elif isinstance(value, tuple):
                value = tuple(next(rest) if isinstance(item, Node) else item for item in value)
            values[field.name] = value
        return type(self)(**values)

    def walk(self) -> list[Node]:
        """This node and all below it, inputs first, each once however many read it."""
        found: dict[int, Node] = {}

        def visit(node: Node) -> None:
            if id(node) not in found:
                for child in node.inputs:
                    visit(child)
                found[id(node)] = node

        visit(self)
        return list(found.values())

    def require(self, condition: bool, complaint: str) -> None:
        if not condition:
            raise PlanError(f"{type(self).__name__}: {complaint}")

    def _require_columns(self, names: tuple[str, ...], schema: pa.Schema) -> None:
        known = schema.names
        for name in names:
            self.require(name in known, f"no column {name!r}; there are {known}")
        self.require(len(set(names)) == len(names), f"a column is named twice in {names}")

    def _require_until(self, until: Expr | None, schema: pa.Schema, names: Sequence[str]) -> None:
        """A time from which on what has these values can no longer change, said by simple means."""
        if until is not None:
            known = pa.schema([schema.field(name) for name in names])
            self._require_expr(until, known, pa.int64())
            self.require(expr.is_simple(until), f"until {until}: only simple expressions can be")

    def _require_expr(self, expression: Expr, schema: pa.Schema, kind: pa.DataType) -> None:
        expr.check_columns(expression, schema, type(self).__name__)
        found = expression.type
        self.require(found == kind, f"{expression} is {found}, expected {kind}")


@dataclass(frozen=True)
class OneInput(Node):
    """A node whose records are those of its one input."""

    input: Node

    @property
    def schema(self) -> pa.Schema:
        return self.input.schema


@kind("scan")
@dataclass(frozen=True)
class Scan(Node):
    """An input stream, by name; `append_only` promises that its records never end or go.

    `time` is the column that says when a record begins, if there is one. `promised` is a condition
    that is true of every record, or NULL.
    """

    name: str
    columns: pa.Schema
    append_only: bool = False
    time: str | None = None
    promised: Expr | None = None

    def __post_init__(self) -> None:
        names = self.columns.names
        self.require(len(set(names)) == len(names), f"columns are named twice in {names}")
        self.require(self.time is None or self.time in names, f"no column {self.time!r}")
        if self.promised is not None:
            self._require_expr(self.promised, self.columns, pa.bool_())

    @property
    def schema(self) -> pa.Schema:
        return self.columns


@kind("filter")
@dataclass(frozen=True)
class Filter(OneInput):
    """The records for which the predicate is true."""

    predicate: Expr

    def __post_init__(self) -> None:
        self._require_expr(self.predicate, self.input.schema, pa.bool_())


@kind("map")
@dataclass(frozen=True)
class Map(Node):
    """A new record computed from each record."""

    input: Node
    outputs: tuple[tuple[str, Expr], ...]

    def __post_init__(self) -> None:
        names = [name for name, _ in self.outputs]
        self.require(len(set(names)) == len(names), f"columns are named twice in {names}")
        for _, expression in self.outputs:
            expr.check_columns(expression, self.input.schema, "Map")

    @cached_property
    def schema(self) -> pa.Schema:
        return pa.schema([(name, expression.type) for name, expression in self.outputs])


def project(node: Node, names: tuple[str, ...] | list[str]) -> Map:
    """The Map that keeps just these columns."""
    schema = node.schema
    known = schema.names
    for name in names:
        node.require(name in known, f"no column {name!r} to project")
    return Map(node, tuple((name, expr.Column(name, schema.field(name).type)) for name in names))


@kind("union")
@dataclass(frozen=True)
class Union(Node):
    """All elements of all inputs; weights add."""

    parts: tuple[Node, ...]

    def __post_init__(self) -> None:
        self.require(len(self.parts) > 0, "needs at least one input")
        for part in self.parts:
            _require_same_types(self, self.parts[0].schema, part.schema)

    @property
    def schema(self) -> pa.Schema:
        return self.parts[0].schema


JoinKind: TypeAlias = Literal["inner", "left", "right", "full", "semi", "anti"]
JOIN_KINDS: tuple[JoinKind, ...] = ("inner", "left", "right", "full", "semi", "anti")


@kind("equality")
@dataclass(frozen=True)
class Equality:
    """`left = right`, or `left <=> right` where NULL equals NULL."""

    left: str
    right: str
    null_safe: bool = False


@kind("join")
@dataclass(frozen=True)
class Join(Node):
    """Pairs of records valid at the same time; without `on` and `where`, the Cartesian product.

    `where` is any further condition on the pair. `keep_left` and `keep_right` say until when a
    record of that side may still meet a new record of the other; they free state and never change
    a result, provided they are true.
    """

    left: Node
    right: Node
    kind: JoinKind = "inner"
    on: tuple[Equality, ...] = ()
    where: Expr | None = None
    keep_left: Expr | None = None
    keep_right: Expr | None = None

    def __post_init__(self) -> None:
        self.require(self.kind in JOIN_KINDS, f"no join kind {self.kind!r}; {JOIN_KINDS}")
        left, right = self.left.schema, self.right.schema
        both = sorted({*left.names}.intersection(right.names))
        self.require(not both, f"both sides have columns {both}; rename one side with Map")
        for equality in self.on:
            self._require_columns((equality.left,), left)
            self._require_columns((equality.right,), right)
            types = left.field(equality.left).type, right.field(equality.right).type
            self.require(types[0] == types[1], f"cannot compare {types[0]} and {types[1]}")
        if self.where is not None:
            self._require_expr(self.where, pa.schema([*left, *right]), pa.bool_())
        for keep, side in ((self.keep_left, left), (self.keep_right, right)):
            if keep is not None:
                self._require_expr(keep, side, pa.int64())

    @cached_property
    def schema(self) -> pa.Schema:
        if self.kind in ("semi", "anti"):
            return self.left.schema
        return pa.schema([*self.left.schema, *self.right.schema])


@kind("distinct")
@dataclass(frozen=True)
class Distinct(OneInput):
    """Every record once.

    `until`, computed from the record, says from when on the input has no more changes of it. It
    frees state and never changes a result, provided it is true; NULL is never.
    """

    until: Expr | None = None

    def __post_init__(self) -> None:
        self._require_until(self.until, self.input.schema, self.input.schema.names)


SetKind: TypeAlias = Literal[
    "difference", "intersection", "max union", "strict difference", "except", "intersect"
]
SET_KINDS: tuple[SetKind, ...] = (
    "difference",
    "intersection",
    "max union",
    "strict difference",
    "except",
    "intersect",
)


@kind("set operation")
@dataclass(frozen=True)
class SetOperation(Node):
    """Two multisets combined record by record; EXCEPT ALL is `difference`, EXCEPT is `except`."""

    kind: SetKind
    left: Node
    right: Node

    def __post_init__(self) -> None:
        self.require(self.kind in SET_KINDS, f"no set operation {self.kind!r}; {SET_KINDS}")
        _require_same_types(self, self.left.schema, self.right.schema)

    @property
    def schema(self) -> pa.Schema:
        return self.left.schema


@kind("group")
@dataclass(frozen=True)
class Group(OneInput):
    """The j-th stream of the paper's grouping: the records that `function` assigns to `index`."""

    function: Expr
    index: int

    def __post_init__(self) -> None:
        self._require_expr(self.function, self.input.schema, pa.int64())


@kind("aggregate")
@dataclass(frozen=True)
class Aggregate(Node):
    """One record per group that is not empty; without keys, one record at all times.

    `until`, computed from the keys, says from when on the input has no more changes of a group, as
    where rows arrive in the order of the time they are grouped by. It frees state and never changes
    a result, provided it is true; NULL is never.
    """

    input: Node
    keys: tuple[str, ...]
    calls: tuple[AggregateCall, ...]
    until: Expr | None = None

    def __post_init__(self) -> None:
        self._require_columns(self.keys, self.input.schema)
        for call in self.calls:
            self._require_columns(call.columns, self.input.schema)
        names = [*self.keys, *(call.name for call in self.calls)]
        self.require(len(set(names)) == len(names), f"columns are named twice in {names}")
        self.require(self.until is None or len(self.keys) > 0, "until is for groups by keys")
        self._require_until(self.until, self.input.schema, self.keys)
        _ = self.schema

    @cached_property
    def schema(self) -> pa.Schema:
        source = self.input.schema
        calls = [(c.name, aggregates.result_type(c, source)) for c in self.calls]
        return pa.schema([*(source.field(key) for key in self.keys), *calls])


@kind("window")
@dataclass(frozen=True)
class Window(OneInput):
    """Ends the validity of each record of an append-only stream.

    sliding: `size` after it began; fixed: at the next multiple of `size`, of the zone's days.
    """

    kind: Literal["sliding", "fixed"]
    size: int
    zone: str = UTC

    def __post_init__(self) -> None:
        self.require(self.kind in ("sliding", "fixed"), f"no window kind {self.kind!r}")
        self.require(self.size > 0, f"the size must be positive, not {self.size}")


@kind("row window")
@dataclass(frozen=True)
class RowWindow(OneInput):
    """The latest `rows` records of an append-only stream, or of each partition of it.

    Among records of one time, those later by `order` are newer, then those that arrived later, or
    where that does not count, those later in the order of records.
    """

    rows: int
    partition: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    arrival: bool = False

    def __post_init__(self) -> None:
        self.require(self.rows > 0, f"the number of rows must be positive, not {self.rows}")
        self._require_columns(self.partition, self.input.schema)
        self._require_columns(self.order, self.input.schema)


@kind("upsert")
@dataclass(frozen=True)
class Upsert(OneInput):
    """The latest record of each key of an append-only stream, none where `deleted` is true of it.

    Among records of one time, the newest is that of a row window.
    """

    key: tuple[str, ...]
    order: tuple[str, ...] = ()
    deleted: Expr | None = None
    arrival: bool = False

    def __post_init__(self) -> None:
        self._require_columns(self.key, self.input.schema)
        self._require_columns(self.order, self.input.schema)
        if self.deleted is not None:
            self._require_expr(self.deleted, self.input.schema, pa.bool_())


@kind("session")
@dataclass(frozen=True)
class Session(Node):
    """Adds to each record of an append-only stream the time at which its session began.

    A record more than `gap` after the last one of its partition begins a new session.
    """

    input: Node
    partition: tuple[str, ...]
    gap: int
    start: str = "session_start"

    def __post_init__(self) -> None:
        self.require(self.gap > 0, f"the gap must be positive, not {self.gap}")
        self._require_columns(self.partition, self.input.schema)
        self.require(self.start not in self.input.schema.names, f"{self.start!r} exists already")

    @cached_property
    def schema(self) -> pa.Schema:
        return self.input.schema.append(pa.field(self.start, pa.int64()))


@kind("sort key")
@dataclass(frozen=True)
class SortKey:
    column: str
    descending: bool = False
    nulls_first: bool = True

    @property
    def direction(self) -> Direction:
        return Direction(self.descending, self.nulls_first)


RankKind: TypeAlias = Literal["row_number", "rank", "dense_rank"]
RANK_KINDS: tuple[RankKind, ...] = ("row_number", "rank", "dense_rank")


@kind("rank")
@dataclass(frozen=True)
class Rank(Node):
    """The records of each partition whose rank by `order` is at most `limit`, all if it is None.

    Where `number` is given, the rank is a column of that name. Row numbers break ties by the order
    of records. `until`, computed from the partition columns, says from when on the input has no
    more changes of a partition. It frees state and never changes a result, provided it is true;
    NULL is never.
    """

    input: Node
    partition: tuple[str, ...]
    order: tuple[SortKey, ...]
    limit: int | None
    kind: RankKind = "row_number"
    number: str | None = None
    until: Expr | None = None

    def __post_init__(self) -> None:
        self.require(self.kind in RANK_KINDS, f"no rank {self.kind!r}; {RANK_KINDS}")
        if self.limit is None:
            self.require(self.number is not None, "without a limit, the rank must have a name")
        else:
            self.require(self.limit > 0, f"the limit must be positive, not {self.limit}")
        self._require_columns(self.partition, self.input.schema)
        self._require_columns(tuple(key.column for key in self.order), self.input.schema)
        self.require(self.number not in self.input.schema.names, f"{self.number!r} exists already")
        self._require_until(self.until, self.input.schema, self.partition)

    @cached_property
    def schema(self) -> pa.Schema:
        if self.number is None:
            return self.input.schema
        return self.input.schema.append(pa.field(self.number, pa.int64()))


@kind("coalesce")
@dataclass(frozen=True)
class Coalesce(OneInput):
    """The same snapshots in fewer elements: adjoining validities are joined, up to `limit` long."""

    limit: int

    def __post_init__(self) -> None:
        self.require(self.limit > 0, f"the limit must be positive, not {self.limit}")


@kind("split")
@dataclass(frozen=True)
class Split(OneInput):
    """The same snapshots in shorter elements: finite validities are cut into pieces of `size`."""

    size: int

    def __post_init__(self) -> None:
        self.require(self.size > 0, f"the size must be positive, not {self.size}")


@kind("periodic")
@dataclass(frozen=True)
class Periodic:
    """The time points `offset + k * period`, for all integers k."""

    period: int
    offset: int = 0


@kind("time points")
@dataclass(frozen=True)
class TimePoints:
    """Finitely many time points, in ascending order."""

    points: tuple[int, ...]


@kind("sync")
@dataclass(frozen=True)
class Sync(Node):
    """The input as it was at the latest synchronization point.

    The points are periodic, listed, or the times at which records of another stream begin; where
    there are several of these, all of their points are.
    """

    input: Node
    points: tuple[Periodic | TimePoints | Midnights | Node, ...]

    def __post_init__(self) -> None:
        self.require(isinstance(self.points, tuple), "the points must be a tuple of alternatives")
        self.require(len(self.points) > 0, "needs at least one kind of points")
        for points in self.points:
            match points:
                case Periodic(period):
                    self.require(period > 0, "the period must be positive")
                case TimePoints(listed):
                    self.require(list(listed) == sorted(set(listed)), "the points must ascend")

    @property
    def schema(self) -> pa.Schema:
        return self.input.schema


ChangeKind: TypeAlias = Literal["inserted", "deleted", "changed"]
CHANGE_KINDS: tuple[ChangeKind, ...] = ("inserted", "deleted", "changed")


@kind("changes")
@dataclass(frozen=True)
class Changes(Node):
    """The records that come, go, or do either, at each time, as an append-only stream.

    Where `time` is given, the time of the change is a column of that name. What was there from the
    beginning of time on, as an aggregate without keys is, never came.
    """

    input: Node
    kind: ChangeKind
    time: str | None = None

    def __post_init__(self) -> None:
        self.require(self.kind in CHANGE_KINDS, f"no change {self.kind!r}; {CHANGE_KINDS}")
        self.require(self.time not in self.input.schema.names, f"{self.time!r} exists already")

    @cached_property
    def schema(self) -> pa.Schema:
        if self.time is None:
            return self.input.schema
        return self.input.schema.append(pa.field(self.time, pa.int64()))


@kind("restrict")
@dataclass(frozen=True)
class Restrict(OneInput):
    """Records only while `start <= now < end`, both computed from the record; NULL is never."""

    start: Expr | None = None
    end: Expr | None = None

    def __post_init__(self) -> None:
        for bound in (b for b in (self.start, self.end) if b is not None):
            self._require_expr(bound, self.input.schema, pa.int64())


def append_only(node: Node) -> bool:
    """Whether the records of a node, once there, stay: no element ends, none is negative."""
    match node:
        case Scan():
            return node.append_only
        case Changes():
            return True
        case Filter() | Map() | Union() | Session() | Group() | Coalesce() | Split():
            return all(map(append_only, node.inputs))
        case Join(kind="inner"):
            return all(map(append_only, node.inputs))
        case Sync(source):
            return append_only(source)
    return False


def _require_same_types(node: Node, first: pa.Schema, other: pa.Schema) -> None:
    node.require(
        list(first.types) == list(other.types),
        f"inputs differ: {list(zip(first.names, first.types, strict=True))} and "
        f"{list(zip(other.names, other.types, strict=True))}",
    )
