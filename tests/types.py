"""A few values of every Arrow type that Spark's types become, chosen to be hard to tell apart."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from typing import Any

import pyarrow as pa

_DAYS = (dt.date(1, 1, 1), dt.date(1969, 12, 31), dt.date(1970, 1, 1), dt.date(9999, 12, 31))
_TIMES = (dt.datetime(1, 1, 1), dt.datetime(1970, 1, 1), dt.datetime(2024, 2, 29, 1, 2, 3, 4))
_PAIR = pa.struct([("a", pa.int32()), ("b", pa.string())])
_MONTHS = pa.month_day_nano_interval()

VALUES: dict[str, tuple[pa.DataType, list[Any]]] = {
    "null": (pa.null(), [None]),
    "bool": (pa.bool_(), [False, True]),
    "int8": (pa.int8(), [-128, -1, 0, 1, 127]),
    "int16": (pa.int16(), [-(2**15), -1, 0, 2**15 - 1]),
    "int32": (pa.int32(), [-(2**31), -1, 0, 2**31 - 1]),
    "int64": (pa.int64(), [-(2**63), -1, 0, 1, 2**32, 2**63 - 1]),
    "float32": (pa.float32(), [-math.inf, -1.5, -0.0, 0.0, 1e-45, 1.5, math.inf, math.nan]),
    "float64": (pa.float64(), [-math.inf, -1.5, -0.0, 0.0, 5e-324, 0.1, math.inf, math.nan]),
    "decimal": (pa.decimal128(10, 2), [Decimal("-0.01"), Decimal("0.00"), Decimal("99999999.99")]),
    "wide decimal": (pa.decimal128(38, 0), [Decimal(-(10**37)), Decimal(2**64), Decimal(2**65)]),
    "string": (pa.string(), ["", "a", "b", "a\0", "aaaaaaaa", "aaaaaaaab", "ä" * 20, "\U0001f600"]),
    "large string": (pa.large_string(), ["", "a", "aaaaaaaa", "aaaaaaaab"]),
    "binary": (pa.binary(), [b"", b"\0", b"\0\0", b"\xff", b"\xff" * 9]),
    "date": (pa.date32(), list(_DAYS)),
    "timestamp": (pa.timestamp("us"), list(_TIMES)),
    "timestamp in zone": (
        pa.timestamp("us", "UTC"),
        [time.replace(tzinfo=dt.UTC) for time in _TIMES],
    ),
    "duration": (pa.duration("us"), [dt.timedelta(days=-1), dt.timedelta(0), dt.timedelta(9, 8)]),
    "interval": (
        _MONTHS,
        [pa.MonthDayNano(v) for v in ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))],
    ),
    "list": (pa.list_(pa.int32()), [[], [None], [0], [0, None], [0, 0], [1]]),
    "list of doubles": (pa.list_(pa.float64()), [[0.0], [-0.0], [math.nan], [math.nan, 1.0]]),
    "list of lists": (
        pa.list_(pa.list_(pa.string())),
        [[], [[]], [[], []], [["a"], None], [["a"]]],
    ),
    "struct": (_PAIR, [{"a": 0, "b": ""}, {"a": None, "b": None}, {"a": 0, "b": None}]),
    "struct of structs": (
        pa.struct([("p", _PAIR), ("q", pa.bool_())]),
        [{"p": None, "q": True}, {"p": {"a": 1, "b": "x"}, "q": True}, {"p": None, "q": None}],
    ),
    "list of structs": (pa.list_(_PAIR), [[], [None], [{"a": 1, "b": "x"}], [{"a": 1, "b": None}]]),
    "map": (
        pa.map_(pa.string(), pa.int64()),
        [[], [("k", 1)], [("k", None)], [("k", 1), ("l", 2)]],
    ),
}
