"""The meaning of plans: their snapshots at one time point, over plain Python multisets.

Each operator says what its snapshot is made of; here is what all of them are said with.

This is the oracle that the engine is held to, never the engine. It is written to be read beside
the definitions of the temporal algebra. Nothing here is fast.
The streams are empty before the time `FIRST`.
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
from penstock.algebra.aggregates import DISCRETE, PERCENTILES, AggregateCall, result_type
from penstock.algebra.operators.node import Node
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
        self._known: dict[tuple[int, int], tuple[Node, Relation]] = {}

    def at(self, node: Node, t: int) -> Relation:
        """The snapshot of the node's result at time t; counts are never zero."""
        if (id(node), t) not in self._known:
            relation = node.snapshot(self, t)
            self._known[id(node), t] = node, Counter({e: n for e, n in relation.items() if n})
        return self._known[id(node), t][1]

    def stream(self, name: str) -> list[tuple[Record, int, int, int]]:
        """The elements of a stream, as they came."""
        return self._streams[name]

    def arrivals(self, source: Node, t: int) -> list[tuple[int, Record]]:
        """The records of an append-only stream up to time t, in order, duplicates repeated."""
        found: list[tuple[int, Record]] = []
        for s in range(FIRST, t + 1):
            new = minus(self.at(source, s), self.at(source, s - 1))
            found += [(s, e) for e in sorted(new.elements(), key=sortable)]
        return found

    def _sequence(self, source: Node, t: int) -> list[tuple[int, Record]]:
        """The records of a source up to time t as they came, and what is made of each of them."""
        (name,) = source.source_names
        found: list[tuple[int, Record]] = []
        for row in self._streams[name]:
            e, ts, te, n = row
            if ts <= t:
                made = Reference({name: [(e, ts, te, 1)]}).at(source, ts)
                found += [(ts, record) for _ in range(n) for record in made.elements()]
        return found

    def newest(
        self,
        source: Node,
        t: int,
        rows: int,
        partition: tuple[str, ...],
        order: tuple[str, ...],
        arrival: bool,
    ) -> Relation:
        """The latest records of each partition of an append-only stream."""
        key, rank = picker(partition, source.schema), picker(order, source.schema)
        arrivals = self._sequence(source, t) if arrival else self.arrivals(source, t)
        arrivals.sort(key=lambda item: (item[0], sortable(rank(item[1]))))
        by_key: dict[Record, list[Record]] = {}
        for _, e in arrivals:
            by_key.setdefault(key(e), []).append(e)
        return Counter(e for group in by_key.values() for e in group[-rows:])

    def latest_event(self, stream: Node, t: int) -> int | None:
        """The last time up to t at which records of a stream began."""
        times = range(FIRST, t + 1)
        moves = {s: minus(self.at(stream, s), self.at(stream, s - 1)) for s in times}
        return max((s for s, new in moves.items() if +new), default=None)


def directed(value: Any, nulls_first: bool, descending: bool) -> Any:
    if value is None:
        return (0 if nulls_first else 2, ())
    return (1, _Reversed(sortable(value)) if descending else sortable(value))


class _Reversed(tuple[Any, ...]):
    def __new__(cls, value: Any) -> _Reversed:
        return super().__new__(cls, (value,))

    def __lt__(self, other: tuple[Any, ...]) -> bool:
        return bool(other[0] < self[0])


def sortable(value: Any) -> Any:
    """A key by which any value sorts: NULL first, NaN last, sequences item by item."""
    if value is None:
        return (0,)
    if isinstance(value, tuple):
        return (1, tuple(sortable(item) for item in value))
    return (2,) if value == "NaN" else (1, value)


# --- aggregation --------------------------------------------------------------------------------


def aggregated(call: AggregateCall, schema: pa.Schema, group: list[Record]) -> Any:
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
        return tuple(sorted(values, key=sortable))
    if call.function in ("first", "last"):
        pairs = [
            (sortable(e[columns[1]]), e[columns[0]]) for e in group if e[columns[1]] is not None
        ]
        pick = min if call.function == "first" else max
        return pick(pairs, key=lambda pair: (pair[0], sortable(pair[1])))[1] if pairs else None
    if not values:
        return None
    if call.function in ("min", "any_value"):
        return min(values, key=sortable)
    if call.function == "max":
        return max(values, key=sortable)
    if call.function in PERCENTILES:
        return _percentile(call, sorted(values, key=sortable))
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
    """Sums, means and variances: exact, then rounded once; of `try_`, NULL where too large."""
    if any(v == "NaN" or (isinstance(v, float) and math.isinf(v)) for v in values):
        floats = [float(v) for v in values]
        if call.plain in ("sum", "avg"):
            return hashable(sum(floats))
        return None if call.function.endswith("_samp") and len(values) == 1 else "NaN"
    exact = [Fraction(v) for v in values]
    count, total = len(exact), sum(exact, Fraction(0))
    if call.plain == "avg" and not pa.types.is_decimal(kind):
        return float(total) / count
    if call.plain in ("sum", "avg"):
        result = _rounded(total if call.plain == "sum" else total / count, kind)
        return result if call.plain == call.function or _fits(result, kind) else None
    squares = sum(x * x for x in exact) - total * total / count
    divisor = count - (1 if call.function.endswith("_samp") else 0)
    if divisor == 0:
        return None
    variance = float(squares / divisor)
    return math.sqrt(variance) if call.function.startswith("stddev") else variance


def _fits(value: Any, kind: pa.DataType) -> bool:
    if pa.types.is_decimal(kind):
        return bool(abs(value) < Decimal(10) ** (kind.precision - kind.scale))
    return not pa.types.is_integer(kind) or -(2**63) <= value < 2**63


def _rounded(value: Fraction, kind: pa.DataType) -> Any:
    if pa.types.is_decimal(kind):
        half_up = math.floor(abs(value) * 10**kind.scale + Fraction(1, 2))
        return Decimal(half_up if value >= 0 else -half_up).scaleb(-kind.scale, Context(prec=99))
    return int(value) if pa.types.is_integer(kind) else float(value)


# --- expressions --------------------------------------------------------------------------------


def function_of(expression: ex.Expr, schema: pa.Schema) -> Callable[[Record], Any]:
    """A function of records; what it reads of them decides, so that is looked at only once."""
    if isinstance(expression, ex.Column):
        return itemgetter(schema.names.index(expression.name))
    names = tuple(ex.columns(expression))
    read = picker(names, schema)

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
    "<": lambda a, b: sortable(a) < sortable(b),
    "<=": lambda a, b: sortable(a) <= sortable(b),
    ">": lambda a, b: sortable(a) > sortable(b),
    ">=": lambda a, b: sortable(a) >= sortable(b),
    "not": lambda a: not a,
    "+": _arithmetic(lambda a, b: a + b),
    "-": _arithmetic(lambda a, b: a - b),
    "*": _arithmetic(lambda a, b: a * b),
    "/": _arithmetic(lambda a, b: a / b),
    "%": _arithmetic(_remainder),
    "negative": _arithmetic(lambda a: -a),
    "abs": _arithmetic(abs),
    "cast": _converted,
    "unix_micros": lambda v: (v - _EPOCH) // timedelta(microseconds=1),
    "timestamp_micros": lambda v: _EPOCH + timedelta(microseconds=v),
    "unix_date": lambda v: (v - _EPOCH.date()).days,
    "date_format": lambda v, pattern: v.strftime(_strftime(pattern)),
}


def _strftime(pattern: str) -> str:
    signs = {"yyyy": "%Y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S"}
    return re.sub("|".join(signs), lambda found: signs[found.group()], pattern)


def picker(names: tuple[str, ...], schema: pa.Schema) -> Callable[[Record], Record]:
    places = [schema.names.index(name) for name in names]
    return lambda e: tuple([e[i] for i in places])


def summed(items: Iterable[tuple[Record, int]]) -> Relation:
    total: Relation = Counter()
    for e, n in items:
        total[e] += n
    return total


def minus(a: Relation, b: Relation) -> Relation:
    """Multiplicities subtracted, without the truncation at zero of the bag difference."""
    return Counter({e: a[e] - b[e] for e in {*a, *b} if a[e] != b[e]})
