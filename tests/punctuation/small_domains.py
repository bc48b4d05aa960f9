"""A few values of types of every kind, chosen next to each other, and random patterns over them.

A pattern made of these values can only change its mind at one of them or at the value after it, so
trying those and the one before (`universe`) decides whether two patterns are the same.
"""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from penstock.punctuation.domain import Domain, domain_of
from penstock.punctuation.pattern import ANY, NONE, Constant, Pattern, Range, ValueList

_NEXT = math.nextafter(1.0, 2.0)
_NOON = dt.datetime(2024, 2, 29, 12)
_TICK = dt.timedelta(microseconds=1)

VALUES: dict[str, tuple[pa.DataType, list[Any]]] = {
    "bool": (pa.bool_(), [False, True]),
    "int8": (pa.int8(), [-128, -127, 0, 1, 2, 3, 4, 126, 127]),
    "int64": (pa.int64(), [-(2**63), 0, 1, 2, 2**63 - 2, 2**63 - 1]),
    "float64": (pa.float64(), [-math.inf, -0.0, 0.0, 5e-324, 1.0, _NEXT, math.inf, math.nan]),
    "float32": (pa.float32(), [-math.inf, -1.5, 0.0, 0.5, math.inf, math.nan]),
    "decimal": (pa.decimal128(2, 1), [Decimal(f"{n}.{m}") for n in (-9, 0, 9) for m in (0, 1, 9)]),
    "wide decimal": (pa.decimal128(38, 0), [Decimal(n) for n in (1 - 10**38, -1, 0, 2**64, 2**65)]),
    "string": (pa.string(), ["", "\0", "a", "a\0", "a\0\0", "ab", "ä", "\U0001f600"]),
    "binary": (pa.binary(), [b"", b"\0", b"a", b"\xff", b"\xff\0"]),
    "date": (pa.date32(), [dt.date(2024, 2, n) for n in (1, 27, 28, 29)]),
    "timestamp": (pa.timestamp("us"), [_NOON - dt.timedelta(1), _NOON, _NOON + _TICK]),
    "timestamp in zone": (
        pa.timestamp("us", "Europe/Berlin"),
        [t.replace(tzinfo=dt.UTC) for t in (_NOON, _NOON + _TICK, _NOON + 2 * _TICK)],
    ),
    "duration": (pa.duration("us"), [-_TICK, 0 * _TICK, _TICK, dt.timedelta(1)]),
    "time": (pa.time64("us"), [dt.time(0), dt.time(12), dt.time(23, 59, 59, 999999)]),
    "list": (pa.list_(pa.int32()), [[], [None], [0], [0, 0]]),
    "struct": (pa.struct([("a", pa.int32())]), [{"a": None}, {"a": 1}]),
}
NAMES = st.sampled_from(sorted(VALUES))


def domain(name: str, nullable: bool = True) -> Domain:
    return domain_of(VALUES[name][0], nullable)


def universe(name: str, nullable: bool = True) -> list[Any]:
    where = domain(name)
    if not where.ordered:
        return [*VALUES[name][1], *([None] if nullable else [])]
    keys = {where.first}
    for value in VALUES[name][1]:
        key = where.key(value)
        keys |= {where.before(key), key, where.after(key)}
    found = []
    for key in sorted(keys - {None}):
        try:
            found.append(where.value(key))
        except (ValueError, OverflowError):  # a time before the year 1
            continue
    return [*found, *([None] if nullable else [])]


def patterns(name: str) -> st.SearchStrategy[Pattern]:
    values = VALUES[name][1]
    value, listed = st.sampled_from(values), st.sampled_from([*values, None])
    kinds: list[st.SearchStrategy[Pattern]] = [
        st.sampled_from([ANY, NONE]),
        listed.map(Constant),
        st.lists(listed, min_size=1, max_size=5).map(lambda found: ValueList(tuple(found))),
    ]
    if domain(name).ordered:
        end = st.one_of(st.none(), value)
        kinds.append(st.builds(Range, end, end, st.booleans(), st.booleans()))
    return st.one_of(kinds)


def oracle_matches(value: Any, pattern: Pattern) -> bool:
    """The definition, in Python's own order."""
    if pattern in (ANY, NONE):
        return pattern == ANY
    if isinstance(pattern, Constant):
        return _same(value, pattern.value)
    if isinstance(pattern, ValueList):
        return any(_same(value, item) for item in pattern.values)
    assert isinstance(pattern, Range)
    if value is None:
        return False
    low, high = pattern.low, pattern.high
    above = low is None or _less(low, value) or (pattern.low_closed and _same(low, value))
    below = high is None or _less(value, high) or (pattern.high_closed and _same(high, value))
    return above and below


def _same(a: Any, b: Any) -> bool:
    return (a != a and b != b) or bool(a == b)


def _less(a: Any, b: Any) -> bool:
    if isinstance(a, str):
        return bool(a.encode() < b.encode())
    return a == a and (b != b or bool(a < b))
