"""From what a query says to what runs: plan nodes to operators.

An operator is an input, a transform, or a kernel with state. Most nodes become one operator. The
others are put together from few: an anti-join is its left side less the semi-join, an outer join
the inner join and the padded anti-joins, ranks with ties a join with the values that qualify.
Equal operators are one, so what two parts of a plan share runs once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import pyarrow as pa

from penstock.algebra import plan as p
from penstock.algebra.aggregates import AggregateCall
from penstock.algebra.arrival import SEQUENCE, sequenced
from penstock.algebra.calendar import DAY, UTC, Midnights
from penstock.algebra.closing import closes, closes_given, earliest, latest
from penstock.algebra.codec import fingerprint
from penstock.algebra.expr import Column, Expr, Literal, columns, compare, is_simple, substitute
from penstock.algebra.times import shifted
from penstock.element import INF
from penstock.memory.cardinality import has_few_values, undeclared_cardinalities
from penstock.memory.summaries import Part, Summary, parts_of, summaries_of
from penstock.physical.closing import asks, known
from penstock.physical.distribution import Partitioning, key_of, keys_of, partitioning
from penstock.physical.kernel import Kernel
from penstock.physical.kernels.aggregate import GroupAggregate
from penstock.physical.kernels.aggregate_sums import sources
from penstock.physical.kernels.changes import ChangeStream
from penstock.physical.kernels.coalesce import Coalescing
from penstock.physical.kernels.combining import Combine, can_combine
from penstock.physical.kernels.counted_product import CountedProduct, Sums
from penstock.physical.kernels.distinct_product import DistinctProduct
from penstock.physical.kernels.join import InnerJoin
from penstock.physical.kernels.multiplicity import Multiplicity
from penstock.physical.kernels.rank import TopRows
from penstock.physical.kernels.schedule import Restriction, Splitting
from penstock.physical.kernels.session import Sessions
from penstock.physical.kernels.sync import Synchronization, ToPoints
from penstock.physical.transforms import (
    End,
    EndOfDays,
    LocalTopK,
    Merge,
    Negate,
    PreAggregation,
    Project,
    Select,
    Stamp,
    Transform,
)
from penstock.record import Direction

_NEWEST = Direction(descending=True, nulls_first=False)
_AT, _BEST = "__at", "__best"


@dataclass(frozen=True, eq=False)
class Operator:
    """Who does the work, and over what. The elements of a scan come from outside.

    Operators of one graph that do the same work over the same inputs are the same object.
    """

    work: Transform | Kernel | p.Scan
    inputs: tuple[Operator, ...]
    known_as: str = ""

    @cached_property
    def kernel(self) -> Kernel | None:
        """The work where it keeps state."""
        return self.work if isinstance(self.work, Kernel) else None

    @cached_property
    def is_linear(self) -> bool:
        """Whether it only transforms what comes from sources, so that it can as rows arrive.

        Rows that wait for a point in time are stamped when it comes.
        """
        below = self.kernel is None and all(child.is_linear for child in self.inputs)
        return below and not (isinstance(self.work, Stamp) and self.waits)

    @property
    def waits(self) -> bool:
        """Whether many rows come at once, at points in time."""
        return any(isinstance(operator.work, ToPoints) for operator in self.walk())

    @cached_property
    def schema(self) -> pa.Schema:
        if self.kernel is not None:
            return self.kernel.schema
        if isinstance(self.work, p.Scan):
            return self.work.schema
        return self.work.schema(*(operator.schema for operator in self.inputs))

    @cached_property
    def partitioning(self) -> Partitioning | None:
        return partitioning(self)

    @cached_property
    def identity(self) -> str:
        """A name for what is computed: the same in all graphs, and in all processes."""
        return self.known_as or fingerprint(
            (self.work, tuple(child.identity for child in self.inputs))
        )

    def walk(self) -> Iterator[Operator]:
        """This operator and all below it, inputs first, each once."""
        seen: set[Operator] = set()
        yield from self._walk(seen)

    def _walk(self, seen: set[Operator]) -> Iterator[Operator]:
        if self not in seen:
            seen.add(self)
            for child in self.inputs:
                yield from child._walk(seen)
            yield self


def _sums_of(names: tuple[str, ...], calls: Sequence[AggregateCall]) -> Sums:
    """What of an input's columns is summed for these calls."""
    wanted = sources(calls).items()
    return tuple((s, tuple(sorted(functions))) for s, functions in wanted if s.reads(names))


class Graph:
    """Lowers plans into one graph of operators.

    What is lowered for one view `apart` is not that of any other, though it may do the same.
    """

    def __init__(self, apart: str = "") -> None:
        self._apart = apart
        self._lowered: dict[int, tuple[p.Node, Operator]] = {}
        self._operators: dict[tuple[object, ...], Operator] = {}
        self._bounds = undeclared_cardinalities()

    def lower(self, node: p.Node) -> Operator:
        if id(node) not in self._lowered:
            self._lowered[id(node)] = node, self._lower(node)
        return self._lowered[id(node)][1]

    def operator(self, work: Transform | Kernel | p.Scan, *inputs: Operator) -> Operator:
        """The operator of this graph that does this work over these inputs."""
        return self._run(work, *inputs)

    def _run(self, work: Transform | Kernel | p.Scan, *inputs: Operator) -> Operator:
        same = (fingerprint(work), *map(id, inputs))  # as written: NaN is NaN, and 0.0 is not -0.0
        if same not in self._operators:
            apart = not inputs and self._apart
            known_as = fingerprint((work, self._apart)) if apart else ""
            self._operators[same] = Operator(work, inputs, known_as)
        return self._operators[same]

    def _lower(self, node: p.Node) -> Operator:
        if isinstance(node, p.Restrict) and (started := self._started(node)) is not None:
            return started
        if summaries := summaries_of(node):
            return self._summarized(summaries)
        if isinstance(node, p.Aggregate) and (parts := parts_of(node)):
            return self._grouped(node, parts)
        return _CASES[type(node)](self, node, *map(self.lower, node.inputs))

    def _scan(self, node: p.Scan) -> Operator:
        return self._run(node)

    def _filter(self, node: p.Filter, rows: Operator) -> Operator:
        return self._run(Select(node.predicate), rows)

    def _group_of(self, node: p.Group, rows: Operator) -> Operator:
        index = Literal(node.index, pa.int64())
        return self._run(Select(compare("=", node.function, index)), rows)

    def _map(self, node: p.Map, rows: Operator) -> Operator:
        return self._run(Project(node.outputs), rows)

    def _union(self, node: p.Union, *parts: Operator) -> Operator:
        return self._run(Merge(), *(self._named(part, node.schema.names) for part in parts))

    def _changes_of(self, node: p.Changes, rows: Operator) -> Operator:
        return self._changes(node.input, node.kind, node.time)

    def _window(self, node: p.Window, rows: Operator) -> Operator:
        if node.zone == UTC:
            return self._run(End(node.kind, node.size), self._arrivals(node.input))
        days = Midnights(node.size // DAY, node.zone)
        return self._run(EndOfDays(days), self._arrivals(node.input))

    def _distinct_of(self, node: p.Distinct, rows: Operator) -> Operator:
        return self._distinct(rows, earliest(node.until, closes(node.input)))

    def _set_operation(self, node: p.SetOperation, left: Operator, right: Operator) -> Operator:
        kernel = Multiplicity(node.schema, node.kind, closes(node))
        return self._run(kernel, left, self._named(right, node.schema.names))

    def _aggregate(self, node: p.Aggregate, rows: Operator) -> Operator:
        until = earliest(node.until, closes(node.input, node.keys))
        return self._run_groups(self._groups(node.input, node.keys, node.calls, until), rows)

    def _row_window(self, node: p.RowWindow, rows: Operator) -> Operator:
        return self._newest(node.input, node.rows, node.partition, node.order, node.arrival)

    def _upsert(self, node: p.Upsert, rows: Operator) -> Operator:
        return self._newest(node.input, 1, node.key, node.order, node.arrival, node.deleted)

    def _session(self, node: p.Session, rows: Operator) -> Operator:
        kernel = Sessions(node.input.schema, node.partition, node.gap, node.start)
        return self._run(kernel, self._arrivals(node.input))

    def _coalesce(self, node: p.Coalesce, rows: Operator) -> Operator:
        return self._run(Coalescing(node.limit), rows)

    def _split(self, node: p.Split, rows: Operator) -> Operator:
        return self._run(Splitting(node.schema, key_of(rows), node.size), rows)

    def _sync(self, node: p.Sync, rows: Operator, *events: Operator) -> Operator:
        return self._synchronized(node.input, node.points, rows)

    def _restrict(self, node: p.Restrict, rows: Operator) -> Operator:
        asked = node.start is not None and asks(node.start)
        kernel = Restriction(node.schema, key_of(rows), node.start, node.end, asked)
        return self._run(kernel, rows)

    def _synchronized(
        self,
        source: p.Node,
        points: tuple[p.Periodic | p.TimePoints | Midnights | p.Node, ...],
        rows: Operator,
    ) -> Operator:
        known = tuple(each for each in points if not isinstance(each, p.Node))
        marks = [self._arrivals(each) for each in points if isinstance(each, p.Node)]
        if rows.is_linear and not marks:
            return self._run(ToPoints(known), rows)
        grows = p.append_only(source)
        kernel = Synchronization(source.schema, key_of(rows), known, len(marks), grows)
        return self._run(kernel, rows, *marks)

    # --- groups ---------------------------------------------------------------------------------

    def _groups(
        self,
        source: p.Node,
        keys: tuple[str, ...],
        calls: tuple[AggregateCall, ...],
        until: Expr | None,
    ) -> GroupAggregate:
        grows = p.append_only(source)
        return GroupAggregate(source.schema, keys, calls, until, append_only=grows)

    def _run_groups(self, groups: GroupAggregate, rows: Operator) -> Operator:
        """Where rows of a group are together already, by some of its keys, they need not move;
        those that come at once are added up as they arrive."""
        if groups.append_only and rows.is_linear and rows.waits and can_combine(groups.calls):
            combined = self._run(Combine(groups.keys, groups.calls), rows)
            return self._run(replace(groups, combined=True), combined)
        return self._run(replace(groups, together=keys_of(rows.partitioning, groups.keys)), rows)

    def _started(self, node: p.Restrict) -> Operator | None:
        """Groups that start when their keys say so, which the aggregate can see to by itself."""
        if node.start is None or node.end is not None:
            return None
        return self._from(node.input, node.start)

    def _from(self, node: p.Node, start: Expr) -> Operator | None:
        match node:
            case p.Map(source, outputs):
                simple = {name: value for name, value in outputs if is_simple(value)}
                if not columns(start) <= simple.keys():
                    return None
                rows = self._from(source, substitute(start, simple))
                return rows and self._run(Project(outputs), rows)
            case p.Filter(source, predicate):
                rows = self._from(source, start)
                return rows and self._run(Select(predicate), rows)
            case p.Aggregate(source, keys, calls, until) if keys and columns(start) <= set(keys):
                if parts_of(node):
                    return None
                until = latest(earliest(until, closes(source, keys)), shifted(start, "+", 1))
                groups = self._groups(source, keys, calls, until)
                rows = self.lower(source)
                unasked = known(start, {})
                if groups.append_only and unasked and set(source.schema.names) == set(keys):
                    rows = self._run(PreAggregation(unasked), rows)
                return self._run(replace(groups, start=start, opens=True), rows)
        return None

    # --- summaries ------------------------------------------------------------------------------

    def _summarized(
        self, summaries: tuple[Summary, ...], calls: tuple[AggregateCall, ...] = ()
    ) -> Operator:
        """Joins of summaries, and what their columns are; `calls` are those that sums are for."""
        parts = [self._product(summary, calls) for summary in summaries]
        return parts[0] if len(parts) == 1 else self._distinct(self._run(Merge(), *parts))

    def _product(self, summary: Summary, calls: tuple[AggregateCall, ...]) -> Operator:
        inputs = tuple(map(self.lower, summary.inputs))
        schemas = tuple(operator.schema for operator in inputs)
        chosen = tuple(sorted({name for _, e in summary.outputs for name in columns(e)}))
        kernel: Kernel
        if summary.rankings is not None:
            kernel = DistinctProduct(
                schemas, summary.conditions, chosen, summary.rankings, summary.keys, summary.best
            )
        else:
            sums = tuple(_sums_of(names, calls) for names in summary.summed)
            kernel = CountedProduct(schemas, summary.conditions, chosen, sums, summary.keys)
        return self._run(Project(summary.outputs), self._run(kernel, *inputs))

    def _grouped(self, node: p.Aggregate, parts: tuple[Part, ...]) -> Operator:
        """The groups of each part, which are the same, side by side."""
        until = closes(node.input, node.keys)
        first, *others = (self._group(node, part, until) for part in parts)
        whole = first
        for i, other in enumerate(others):
            keys = {key: Column(f"__{i}.{key}", other.schema.field(key).type) for key in node.keys}
            names = [keys[name].name if name in keys else name for name in other.schema.names]
            on = tuple(p.Equality(key, own.name, null_safe=True) for key, own in keys.items())
            theirs = None if until is None else substitute(until, keys)
            whole = self._inner(whole, self._named(other, names), on, until, theirs)
        return whole if len(parts) == 1 else self._columns(whole, node.schema.names)

    def _group(self, node: p.Aggregate, part: Part, until: Expr | None) -> Operator:
        rows = self._summarized(part.summaries, part.calls)
        summed = tuple(name for names in part.summaries[0].summed for name in names)
        best = any(summary.best for summary in part.summaries)
        grows = not best and p.append_only(node.input)
        kernel = GroupAggregate(part.rows, node.keys, part.calls, until, summed, grows)
        return self._run(kernel, rows)

    # --- joins ----------------------------------------------------------------------------------

    def _join(self, node: p.Join, left: Operator, right: Operator) -> Operator:
        keep_left = earliest(node.keep_left, node.meets(left=True))
        keep_right = earliest(node.keep_right, node.meets(left=False))
        few = has_few_values(node.left, self._bounds), has_few_values(node.right, self._bounds)
        inner = self._inner(left, right, node.on, keep_left, keep_right, few)
        if node.where is not None:
            inner = self._run(Select(node.where), inner)
        pairs = None if node.where is None else inner
        if node.kind == "inner":
            return inner
        if node.kind == "semi":
            return self._semi(node, left, right, pairs)
        if node.kind == "anti":
            return self._less(left, self._semi(node, left, right, pairs))
        parts = [inner]
        if node.kind in ("left", "full"):
            alone = self._less(left, self._semi(node, left, right, pairs))
            parts.append(self._padded(alone, node.schema))
        if node.kind in ("right", "full"):
            on = tuple(p.Equality(e.right, e.left, e.null_safe) for e in node.on)
            turned = p.Join(node.right, node.left, "semi", on, node.where)
            alone = self._less(right, self._semi(turned, right, left, pairs))
            parts.append(self._padded(alone, node.schema))
        return self._run(Merge(), *parts)

    def _inner(
        self,
        left: Operator,
        right: Operator,
        on: tuple[p.Equality, ...],
        keep_left: Expr | None = None,
        keep_right: Expr | None = None,
        few: tuple[bool, bool] = (False, False),
    ) -> Operator:
        kernel = InnerJoin(
            left.schema,
            right.schema,
            tuple(equality.left for equality in on),
            tuple(equality.right for equality in on),
            tuple(equality.null_safe for equality in on),
            keep_left,
            keep_right,
            few,
        )
        return self._run(kernel, left, right)

    def _semi(
        self, node: p.Join, left: Operator, right: Operator, pairs: Operator | None
    ) -> Operator:
        """The left rows that have a partner: by the keys there are, or by the pairs there are."""
        names, keep = left.schema.names, node.meets(left=True)
        if pairs is not None:
            until = latest(closes(node.left), keep)
            kernel = Multiplicity(left.schema, "semi", until)
            return self._run(kernel, left, self._columns(pairs, names))
        fields = [right.schema.field(equality.right) for equality in node.on]
        keys = tuple((f"__key{i}", Column(f.name, f.type)) for i, f in enumerate(fields))
        own = {column.name: Column(name, column.type) for name, column in keys}
        theirs = {e.left: own[e.right] for e in node.on}
        there = self._distinct(self._run(Project(keys), right), closes_given(node.right, own))
        renamed = tuple(
            p.Equality(equality.left, name, equality.null_safe)
            for equality, (name, _) in zip(node.on, keys, strict=True)
        )
        both = self._inner(left, there, renamed, keep, closes_given(node.left, theirs))
        return self._columns(both, names)

    def _less(self, whole: Operator, part: Operator) -> Operator:
        """A part taken away from the whole that contains it."""
        return self._run(Merge(), whole, self._run(Negate(), part))

    def _padded(self, rows: Operator, schema: pa.Schema) -> Operator:
        """Rows of one side of a join, with NULLs for the other side."""
        own = rows.schema.names
        outputs = tuple(
            (f.name, Column(f.name, f.type) if f.name in own else Literal(None, f.type))
            for f in schema
        )
        return self._run(Project(outputs), rows)

    # --- streams, their latest rows, ranks ------------------------------------------------------

    def _arrivals(self, source: p.Node) -> Operator:
        """A node's records as a stream: elements begin when the record comes, and never end."""
        return self._changes(source, "inserted", None)

    def _changes(self, source: p.Node, kind: p.ChangeKind, time: str | None) -> Operator:
        rows = self.lower(source)
        if not p.append_only(source) or kind == "deleted":
            return self._run(ChangeStream(rows.schema, key_of(rows), kind, time), rows)
        return rows if time is None else self._run(Stamp(time), rows)

    def _newest(
        self,
        source: p.Node,
        rows: int,
        partition: tuple[str, ...],
        order: tuple[str, ...],
        arrival: bool,
        ghost: Expr | None = None,
    ) -> Operator:
        names = source.schema.names
        if arrival:
            source, order = sequenced(source), (*order, SEQUENCE)
        stamped = self._run(Stamp(_AT), self._arrivals(source))
        by_age = tuple((name, _NEWEST) for name in dict.fromkeys((_AT, *order, *names)))
        kernel = TopRows(
            stamped.schema,
            partition,
            by_age,
            rows,
            append_only=True,
            ghost=ghost,
            until=closes(source, partition, "gain"),
        )
        return self._columns(self._run(kernel, stamped), names)

    def _rank(self, node: p.Rank, rows: Operator) -> Operator:
        node = replace(node, until=earliest(node.until, closes(node.input, node.partition)))
        keys = tuple(dict.fromkeys((*node.partition, *(key.column for key in node.order))))
        if node.kind == "row_number":
            return self._first(node, rows)
        if node.kind == "dense_rank":
            qualified = self._first(node, self._distinct(self._columns(rows, keys), node.until))
        elif node.number is None:
            first = self._columns(self._first(node, rows), keys)
            qualified = self._distinct(first, node.until)
        else:
            first = self._first(node, rows)
            best = AggregateCall("min", (node.number,), _BEST)
            qualified = self._run(GroupAggregate(first.schema, keys, (best,), node.until), first)
        return self._with_keys_of(node, rows, qualified, keys)

    def _first(self, node: p.Rank, rows: Operator) -> Operator:
        order = tuple((key.column, key.direction) for key in node.order)
        grows = p.append_only(node.input)
        limit = INF if node.limit is None else node.limit
        if grows and limit < INF and rows.is_linear and rows.waits:
            rows = self._run(LocalTopK(node.partition, order, limit), rows)
        kernel = TopRows(
            rows.schema,
            node.partition,
            order,
            limit,
            node.number,
            append_only=grows,
            until=node.until,
        )
        return self._run(kernel, rows)

    def _with_keys_of(
        self, node: p.Rank, rows: Operator, qualified: Operator, keys: tuple[str, ...]
    ) -> Operator:
        """The rows whose partition and order values are among those that qualify."""
        renamed = tuple((f"__{f.name}", Column(f.name, f.type)) for f in qualified.schema)
        other = self._run(Project(renamed), qualified)
        on = tuple(p.Equality(key, f"__{key}", null_safe=True) for key in keys)
        outputs = [(f.name, Column(f.name, f.type)) for f in rows.schema]
        if node.number is not None:
            outputs.append((node.number, Column(other.schema.names[-1], pa.int64())))
        other_names = {column.name: Column(name, column.type) for name, column in renamed}
        until = None if node.until is None else substitute(node.until, other_names)
        both = self._inner(rows, other, on, node.until, until)
        return self._run(Project(tuple(outputs)), both)

    # --- parts ----------------------------------------------------------------------------------

    def _distinct(self, rows: Operator, until: Expr | None = None) -> Operator:
        return self._run(Multiplicity(rows.schema, "distinct", until), rows)

    def _named(self, rows: Operator, names: Sequence[str]) -> Operator:
        """The same columns under these names."""
        if rows.schema.names == list(names):
            return rows
        fields = zip(names, rows.schema, strict=True)
        outputs = tuple((name, Column(f.name, f.type)) for name, f in fields)
        return self._run(Project(outputs), rows)

    def _columns(self, rows: Operator, names: Sequence[str]) -> Operator:
        outputs = tuple((name, Column(name, rows.schema.field(name).type)) for name in names)
        return self._run(Project(outputs), rows)


_CASES: Mapping[type[p.Node], Callable[..., Operator]] = p.for_each_operator(
    (Graph._scan, (p.Scan,)),
    (Graph._filter, (p.Filter,)),
    (Graph._map, (p.Map,)),
    (Graph._union, (p.Union,)),
    (Graph._join, (p.Join,)),
    (Graph._distinct_of, (p.Distinct,)),
    (Graph._set_operation, (p.SetOperation,)),
    (Graph._group_of, (p.Group,)),
    (Graph._aggregate, (p.Aggregate,)),
    (Graph._window, (p.Window,)),
    (Graph._row_window, (p.RowWindow,)),
    (Graph._upsert, (p.Upsert,)),
    (Graph._session, (p.Session,)),
    (Graph._rank, (p.Rank,)),
    (Graph._coalesce, (p.Coalesce,)),
    (Graph._split, (p.Split,)),
    (Graph._sync, (p.Sync,)),
    (Graph._changes_of, (p.Changes,)),
    (Graph._restrict, (p.Restrict,)),
)
