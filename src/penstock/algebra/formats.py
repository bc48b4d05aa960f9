"""Times as text, in the patterns of `date_format` that are simple: numbers of fixed width.

Others, such as names of months, are Spark's to write. All clocks are UTC.
"""

from __future__ import annotations

import re
from itertools import groupby

import numpy as np
import pyarrow as pa

from penstock import record

_SECOND = 1_000_000
_UNITS = {"ss": _SECOND, "mm": 60 * _SECOND, "HH": 3600 * _SECOND}
_DAY = 86_400 * _SECOND
_FIELDS = ("yyyy", "MM", "dd", *_UNITS)
_PLAIN = re.compile(r"[-/:.,_ ]")


def pieces(pattern: str) -> list[str] | None:
    """The fields and signs of a pattern; None where it has others."""
    found = ["".join(run) for _, run in groupby(pattern)]
    known = all(piece in _FIELDS or _PLAIN.fullmatch(piece[0]) for piece in found)
    return found if known else None


def formatted(times: pa.Array, pattern: str) -> pa.Array:
    """Instants, in microseconds, as text; each different text is made once.

    They mostly come in their order, so that those of one text lie together.
    """
    parts = pieces(pattern)
    assert parts is not None, pattern
    unit = min((_UNITS.get(part, _DAY) for part in parts), default=_DAY)
    moments = record.numpy(times) // unit
    begin = np.flatnonzero(record.starts_of(moments))
    known, which = np.unique(moments[begin], return_inverse=True)
    texts = pa.array([_text(moment * unit, parts) for moment in known.tolist()], pa.string())
    places = np.repeat(which.astype(np.int32), np.diff(begin, append=len(moments)))
    return texts.take(pa.array(places, mask=~record.valid(times)))


def _text(micros: int, parts: list[str]) -> str:
    days, rest = divmod(micros, _DAY)
    day = np.datetime64(days, "D")
    month = int(day.astype("M8[M]").astype(np.int64))
    year = 1970 + month // 12
    fields = {
        "yyyy": f"{'+' * (year > 9999)}{'-' * (year < 0)}{abs(year):04}",
        "MM": f"{month % 12 + 1:02}",
        "dd": f"{days - int(day.astype('M8[M]').astype('M8[D]').astype(np.int64)) + 1:02}",
        "HH": f"{rest // _UNITS['HH']:02}",
        "mm": f"{rest // _UNITS['mm'] % 60:02}",
        "ss": f"{rest // _UNITS['ss'] % 60:02}",
    }
    return "".join(fields.get(part, part) for part in parts)
