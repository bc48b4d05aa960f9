"""The meaning of every node: its snapshot at one time point, over plain Python multisets.

This is the oracle that the engine is held to, never the engine. It is written to be read beside
the definitions of the temporal algebra; the equation numbers are those of the paper. Nothing here
is fast. The streams are empty before the time `FIRST`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Context, Decimal
from fractions import Fraction
from functools import cache
from operator import itemgetter
from typing import Any, TypeAlias

import pyarrow as pa

from penstock.algebra import expr as ex
from penstock.algebra import plan as p
from penstock.algebra.aggregates import DISCRETE, PERCENTILES, AggregateCall, result_type
from penstock.algebra.calendar import DAY, Midnights
from penstock.element import hashable
from penstock.errors import DivisionByZeroError

Record: TypeAlias = tuple[Any, ...]
Relation: TypeAlias = Counter[Record]
Stream: TypeAlias = Iterable[tuple[Record, int, int, int]]

FIRST = 0
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Reference:
    """Evaluates plans over streams of plain `(record, ts, te, n)` tuples."""

    def __init__(self, streams: Mapping[str, Stream]) -> None:
        self._streams = {
            name: [(hashable(e), ts, te, n) for e, ts, te, n in stream]
            for name, stream in streams.items()
        }
        self._known: dict[tuple[int, int], tuple[p.Node, Relation]] = {}

    def at(self, node: p.Node, t: int) -> Relation:
        """The snapshot of the node's result at time t; counts are never zero."""
        if (id(node), t) not in self._known:
            relation = self._evaluate(node, t)
            self._known[id(node), t] = node, Counter({e: n for e, n in relation.items() if n})
        return self._known[id(node), t][1]

    def _evaluate(self, node: p.Node, t: int) -> Relation:
        match node:
            case p.Scan(name):
                return _sum((e, n) for e, ts, te, n in self._streams[name] if ts <= t < te)
            case p.Filter(source, predicate):  # (1)
                truth = _function(predicate, source.schema)
                return Counter({e: n for e, n in self.at(source, t).items() if truth(e)})
            case p.Map(source, outputs):  # (2)
                functions = [_function(expression, source.schema) for _, expression in outputs]
                rows = self.at(source, t).items()
                return _sum((tuple([f(e) for f in functions]), n) for e, n in rows)
            case p.Join():  # (3), (11), (12)
                return _join(node, self.at(node.left, t), self.at(node.right, t))
            case p.Distinct(source):  # (4)
                return Counter(dict.fromkeys(self.at(source, t), 1))
            case p.SetOperation(kind, left, right):  # (5), (13), (14), (15)
                m1, m2 = self.at(left, t), self.at(right, t)
                count = _SET_OPERATIONS[kind]
                return Counter({e: count(m1[e], m2[e]) for e in {*m1, *m2}})
            case p.Group(source, function, index):  # (6)
                assign = _function(function, source.schema)
                return Counter({e: n for e, n in self.at(source, t).items() if assign(e) == index})
            case p.Aggregate(source):  # (7)
                return _aggregate(node, self.at(source, t))
            case p.Union(parts):  # (8)
                return _sum(item for part in parts for item in self.at(part, t).items())
            case p.Window(source, "sliding", w):  # (9)
                return _minus(self.at(source, t), self.at(source, t - w))
            case p.Window(source, _, w, zone) if zone != "UTC":
                days = Midnights(w // DAY, zone)
                return _minus(self.at(source, t), self.at(source, days.latest(t) - 1))
            case p.Window(source, _, w):  # (10)
                return _minus(self.at(source, t), self.at(source, t // w * w - 1))
            case p.RowWindow(source, rows, partition, order, arrival):
                return self._latest(source, t, rows, partition, order, arrival)
            case p.Upsert(source, key, order, deleted, arrival):
                latest = self._latest(source, t, 1, key, order, arrival)
                gone = _function(deleted, source.schema) if deleted else lambda e: False
                return Counter({e: n for e, n in latest.items() if not gone(e)})
            case p.Session(source, partition, gap):
                return self._sessions(source, t, partition, gap)
            case p.Rank(source):
                return _rank(node, self.at(source, t))
            case p.Coalesce(source) | p.Split(source):
                return self.at(source, t)
            case p.Sync(source, points):
                known = [self._latest_point(each, t) for each in points]
                point = max((s for s in known if s is not None), default=None)
                return Counter() if point is None else self.at(source, point)
            case p.Changes(source, kind, time):
                if t < FIRST:
                    return Counter()
                moved = _minus(self.at(source, t), self.at(source, t - 1)).items()
                now = (((*e, t) if time else e, _CHANGES[kind](d)) for e, d in moved)
                return _sum((*self.at(node, t - 1).items(), *now))
            case p.Restrict(source, start, end):
                lower, upper = (_bound(b, source.schema) for b in (start, end))
                rows = self.at(source, t).items()
                return Counter({e: n for e, n in rows if lower(e, -1) <= t < upper(e, t + 1)})
        raise NotImplementedError(type(node).__name__)

    def _arrivals(self, source: p.Node, t: int) -> list[tuple[int, Record]]:
        """The records of an append-only stream up to time t, in order, duplicates repeated."""
        found: list[tuple[int, Record]] = []
        for s in range(FIRST, t + 1):
            new = _minus(self.at(source, s), self.at(source, s - 1))
            found += [(s, e) for e in sorted(new.elements(), key=_sortable)]
        return found

    def _sequence(self, source: p.Node, t: int) -> list[tuple[int, Record]]:
        """The records of a source up to time t as they came, and what is made of each of them."""
        match source:
            case p.Scan(name):
                return [(ts, e) for e, ts, _, n in self._streams[name] if ts <= t for _ in range(n)]
            case p.Filter(below, predicate):
                truth = _function(predicate, below.schema)
                return [(ts, e) for ts, e in self._sequence(below, t) if truth(e) is True]
            case p.Map(below, outputs):
                functions = [_function(expression, below.schema) for _, expression in outputs]
                rows = self._sequence(below, t)
                return [(ts, tuple([f(e) for f in functions])) for ts, e in rows]
            case p.Group(below, function, index):
                assign = _function(function, below.schema)
                return [(ts, e) for ts, e in self._sequence(below, t) if assign(e) == index]
        raise TypeError(f"{type(source).__name__} has no order of arrival")

    def _latest(
        self,
        source: p.Node,
        t: int,
        rows: int,
        partition: tuple[str, ...],
        order: tuple[str, ...],
        arrival: bool,
    ) -> Relation:
        key, rank = _picker(partition, source.schema), _picker(order, source.schema)
        arrivals = self._sequence(source, t) if arrival else self._arrivals(source, t)
        arrivals.sort(key=lambda item: (item[0], _sortable(rank(item[1]))))
        by_key: dict[Record, list[Record]] = {}
        for _, e in arrivals:
            by_key.setdefault(key(e), []).append(e)
        return Counter(e for group in by_key.values() for e in group[-rows:])

    def _sessions(self, source: p.Node, t: int, partition: tuple[str, ...], gap: int) -> Relation:
        key = _picker(partition, source.schema)
        last: dict[Record, tuple[int, int]] = {}
        rows: Relation = Counter()
        for s, e in self._arrivals(source, t):
            start, before = last.get(key(e), (s, s))
            start = s if s - before > gap else start
            last[key(e)] = (start, s)
            rows[*e, start] += 1
        return rows

    def _latest_point(
        self, points: p.Periodic | p.TimePoints | Midnights | p.Node, t: int
    ) -> int | None:
        match points:
            case p.Periodic(period, offset):
                return (t - offset) // period * period + offset
            case Midnights():
                return points.latest(t)
            case p.TimePoints(listed):
                return max((point for point in listed if point <= t), default=None)
        moves = {s: _minus(self.at(points, s), self.at(points, s - 1)) for s in range(FIRST, t + 1)}
        return max((s for s, new in moves.items() if +new), default=None)


_SET_OPERATIONS: dict[p.SetKind, Callable[[int, int], int]] = {
    "difference": lambda m1, m2: max(m1 - m2, 0),
    "intersection": min,
    "max union": max,
    "strict difference": lambda m1, m2: m1 if m2 == 0 else 0,
    "except": lambda m1, m2: int(m1 > 0 and m2 == 0),
    "intersect": lambda m1, m2: int(m1 > 0 and m2 > 0),
}


_CHANGES: dict[p.ChangeKind, Callable[[int], int]] = {
    "inserted": lambda d: max(d, 0),
    "deleted": lambda d: max(-d, 0),
    "changed": abs,
}


def _join(node: p.Join, left: Relation, right: Relation) -> Relation:
    """Pairs, and for the outer kinds the rows that found no partner, padded with NULLs."""
    schema = pa.schema([*node.left.schema, *node.right.schema])
    condition = _function(node.where, schema) if node.where is not None else lambda e: True
    left_key = _picker(tuple(on.left for on in node.on), node.left.schema)
    right_key = _picker(tuple(on.right for on in node.on), node.right.schema)

    def comparable(key: Record) -> bool:
        return all(v is not None or on.null_safe for v, on in zip(key, node.on, strict=True))

    partners: dict[Record, list[Record]] = {}
    for b in right:
        partners.setdefault(right_key(b), []).append(b)
    joined = {
        (a, b)
        for a in left
        if comparable(left_key(a))
        for b in partners.get(left_key(a), ())
        if condition(a + b) is True
    }
    left_met, right_met = {a for a, _ in joined}, {b for _, b in joined}
    if node.kind == "semi":
        return Counter({a: left[a] for a in left_met})
    if node.kind == "anti":
        return Counter({a: n for a, n in left.items() if a not in left_met})
    result: Relation = Counter({a + b: left[a] * right[b] for a, b in joined})
    if node.kind in ("left", "full"):
        padding = (None,) * len(node.right.schema)
        result += Counter({a + padding: n for a, n in left.items() if a not in left_met})
    if node.kind in ("right", "full"):
        padding = (None,) * len(node.left.schema)
        result += Counter({padding + b: n for b, n in right.items() if b not in right_met})
    return result


def _rank(node: p.Rank, rows: Relation) -> Relation:
    schema = node.input.schema
    key, position = _picker(node.partition, schema), schema.names.index
    partitions: dict[Record, list[Record]] = {}
    for e in rows.elements():
        partitions.setdefault(key(e), []).append(e)
    result: Relation = Counter()
    for group in partitions.values():
        group.sort(key=_sortable)
        for sort_key in reversed(node.order):
            i = position(sort_key.column)
            direction = sort_key.nulls_first, sort_key.descending
            group.sort(key=lambda e, i=i, d=direction: _directed(e[i], *d))  # type: ignore[misc]
        order = [tuple(e[position(k.column)] for k in node.order) for e in group]
        for i, e in enumerate(group):
            number = {
                "row_number": i + 1,
                "rank": order.index(order[i]) + 1,
                "dense_rank": len(set(order[: i + 1])),
            }[node.kind]
            if node.limit is None or number <= node.limit:
                result[(*e, number) if node.number else e] += 1
    return result


def _directed(value: Any, nulls_first: bool, descending: bool) -> Any:
    if value is None:
        return (0 if nulls_first else 2, ())
    return (1, _Reversed(_sortable(value)) if descending else _sortable(value))


class _Reversed(tuple[Any, ...]):
    def __new__(cls, value: Any) -> _Reversed:
        return super().__new__(cls, (value,))

    def __lt__(self, other: tuple[Any, ...]) -> bool:
        return bool(other[0] < self[0])


def _sortable(value: Any) -> Any:
    """A key by which any value sorts: NULL first, NaN last, sequences item by item."""
    if value is None:
        return (0,)
    if isinstance(value, tuple):
        return (1, tuple(_sortable(item) for item in value))
    return (2,) if value == "NaN" else (1, value)


# --- aggregation --------------------------------------------------------------------------------


def _aggregate(node: p.Aggregate, rows: Relation) -> Relation:
    schema = node.input.schema
    key = _picker(node.keys, schema)
    groups: dict[Record, list[Record]] = {} if node.keys else {(): []}
    for e in rows.elements():
        groups.setdefault(key(e), []).append(e)
    return Counter(
        (*k, *(_call(call, schema, group) for call in node.calls)) for k, group in groups.items()
    )


def _call(call: AggregateCall, schema: pa.Schema, group: list[Record]) -> Any:
    columns = [schema.names.index(arg) for arg in call.args]
    if call.where is not None:
        where = schema.names.index(call.where)
        group = [e for e in group if e[where] is True]
    if not columns:
        return len(group)
    values = [e[columns[0]] for e in group if e[columns[0]] is not None]
    if call.distinct or call.function == "collect_set":
        values = list(dict.fromkeys(values))
    if call.function == "count":
        return len(values)
    if call.function in ("collect_list", "collect_set"):
        return tuple(sorted(values, key=_sortable))
    if call.function in ("first", "last"):
        pairs = [
            (_sortable(e[columns[1]]), e[columns[0]]) for e in group if e[columns[1]] is not None
        ]
        pick = min if call.function == "first" else max
        return pick(pairs, key=lambda pair: (pair[0], _sortable(pair[1])))[1] if pairs else None
    if not values:
        return None
    if call.function in ("min", "any_value"):
        return min(values, key=_sortable)
    if call.function == "max":
        return max(values, key=_sortable)
    if call.function in PERCENTILES:
        return _percentile(call, sorted(values, key=_sortable))
    return _number(call, values, result_type(call, schema))


def _percentile(call: AggregateCall, ordered: list[Any]) -> Any:
    fraction = 0.5 if call.parameter is None else call.parameter
    if call.function == "percentile_disc_desc":
        ordered = ordered[::-1]
    if call.function in DISCRETE:
        return ordered[max(math.ceil(fraction * len(ordered)), 1) - 1]
    place = fraction * (len(ordered) - 1)
    low, high = float(ordered[math.floor(place)]), float(ordered[math.ceil(place)])
    return hashable(low + (high - low) * (place - math.floor(place)) if low != high else low)


def _number(call: AggregateCall, values: list[Any], kind: pa.DataType) -> Any:
    """Sums, means and variances: exact, then rounded once."""
    if any(v == "NaN" or (isinstance(v, float) and math.isinf(v)) for v in values):
        floats = [float(v) for v in values]
        if call.function in ("sum", "avg"):
            return hashable(sum(floats))
        return None if call.function.endswith("_samp") and len(values) == 1 else "NaN"
    exact = [Fraction(v) for v in values]
    count, total = len(exact), sum(exact, Fraction(0))
    if call.function == "sum":
        return _rounded(total, kind)
    if call.function == "avg":
        if pa.types.is_decimal(kind):
            return _rounded(total / count, kind)
        return float(total) / count
    squares = sum(x * x for x in exact) - total * total / count
    divisor = count - (1 if call.function.endswith("_samp") else 0)
    if divisor == 0:
        return None
    variance = float(squares / divisor)
    return math.sqrt(variance) if call.function.startswith("stddev") else variance


def _rounded(value: Fraction, kind: pa.DataType) -> Any:
    if pa.types.is_decimal(kind):
        half_up = math.floor(abs(value) * 10**kind.scale + Fraction(1, 2))
        return Decimal(half_up if value >= 0 else -half_up).scaleb(-kind.scale, Context(prec=99))
    return int(value) if pa.types.is_integer(kind) else float(value)


# --- expressions --------------------------------------------------------------------------------


def _function(expression: ex.Expr, schema: pa.Schema) -> Callable[[Record], Any]:
    """A function of records; what it reads of them decides, so that is looked at only once."""
    if isinstance(expression, ex.Column):
        return itemgetter(schema.names.index(expression.name))
    names = tuple(ex.columns(expression))
    read = _picker(names, schema)

    @cache
    def known(values: Record) -> Any:
        return hashable(value(expression, dict(zip(names, values, strict=True))))

    return lambda e: known(read(e))


def value(expression: ex.Expr, row: Mapping[str, Any]) -> Any:
    """An expression's value for one row, in SQL's three-valued logic."""
    match expression:
        case ex.Column(name):
            return row[name]
        case ex.Literal(constant):
            return hashable(constant)
        case ex.Call("and", args):
            found = [value(arg, row) for arg in args]
            return False if False in found else None if None in found else True
        case ex.Call("or", args):
            found = [value(arg, row) for arg in args]
            return True if True in found else None if None in found else False
        case ex.Call("if", (test, then, otherwise)):
            return value(then if value(test, row) is True else otherwise, row)
        case ex.Call("coalesce", args):
            found = [value(arg, row) for arg in args]
            return next((v for v in found if v is not None), None)
        case ex.Call("is null", (arg,)):
            return value(arg, row) is None
        case ex.Call("<=>", (left, right)):
            return value(left, row) == value(right, row)
        case ex.Call(function, args, kind):
            found = [value(arg, row) for arg in args]
            if None in found:
                return None
            try:
                return _STRICT[function](*found, *([kind] if function == "cast" else []))
            except ZeroDivisionError:
                raise DivisionByZeroError(f"{expression}: division by zero") from None
    raise NotImplementedError(str(expression))


def _arithmetic(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function for numbers as records hold them, where NaN is a word."""
    return lambda *args: hashable(function(*(float(v) if v == "NaN" else v for v in args)))


def _remainder(a: Any, b: Any) -> Any:
    result = abs(a) % abs(b)
    return -result if a < 0 else result


def _converted(v: Any, kind: pa.DataType) -> Any:
    """A value of a narrower type as one of a wider type; days and clocks are those of UTC."""
    match v:
        case datetime():
            return v.replace(tzinfo=UTC)
        case date():
            return datetime(v.year, v.month, v.day, tzinfo=UTC)
        case int() if pa.types.is_floating(kind):
            return float(v)
    return v


_STRICT: dict[str, Callable[..., Any]] = {
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    "<": lambda a, b: _sortable(a) < _sortable(b),
    "<=": lambda a, b: _sortable(a) <= _sortable(b),
    ">": lambda a, b: _sortable(a) > _sortable(b),
    ">=": lambda a, b: _sortable(a) >= _sortable(b),
    "not": lambda a: not a,
    "+": _arithmetic(lambda a, b: a + b),
    "-": _arithmetic(lambda a, b: a - b),
    "*": _arithmetic(lambda a, b: a * b),
    "/": _arithmetic(lambda a, b: a / b),
    "%": _arithmetic(_remainder),
    "negative": _arithmetic(lambda a: -a),
    "cast": _converted,
    "unix_micros": lambda v: (v - _EPOCH) // timedelta(microseconds=1),
    "timestamp_micros": lambda v: _EPOCH + timedelta(microseconds=v),
    "unix_date": lambda v: (v - _EPOCH.date()).days,
    "date_format": lambda v, pattern: v.strftime(_strftime(pattern)),
}


def _strftime(pattern: str) -> str:
    signs = {"yyyy": "%Y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S"}
    return re.sub("|".join(signs), lambda found: signs[found.group()], pattern)


def _bound(bound: ex.Expr | None, schema: pa.Schema) -> Callable[[Record, int], float]:
    """A bound on time computed from a record: `absent` where none was asked for, NULL is never."""
    if bound is None:
        return lambda e, absent: absent
    function = _function(bound, schema)
    return lambda e, absent: math.nan if (v := function(e)) is None else v


def _picker(names: tuple[str, ...], schema: pa.Schema) -> Callable[[Record], Record]:
    places = [schema.names.index(name) for name in names]
    return lambda e: tuple([e[i] for i in places])


def _sum(items: Iterable[tuple[Record, int]]) -> Relation:
    total: Relation = Counter()
    for e, n in items:
        total[e] += n
    return total


def _minus(a: Relation, b: Relation) -> Relation:
    """Multiplicities subtracted, without the truncation at zero of the bag difference."""
    return Counter({e: a[e] - b[e] for e in {*a, *b} if a[e] != b[e]})
