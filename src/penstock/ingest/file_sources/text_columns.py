"""Columns of texts into columns of values, as many as surely are what `TextValues` would make of
them; the others are left to it.

Law: what is taken here is what `TextValues` makes of the text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as t

from penstock import record
from penstock.algebra.calendar import zone_named
from penstock.ingest.fitting import fit
from penstock.ingest.text_values import TextValues
from penstock.record import Mask

Taken: TypeAlias = tuple[pa.Array, Mask]
"""A column, and where it holds the value of the text; elsewhere it is NULL and says nothing."""
_DAY = "([1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])-[0-9]{2}-[0-9]{2}"
_CLOCK = r"[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?"
_INNER = "(0[1-9][0-9]{2}|[1-8][0-9]{3})-[0-9]{2}-[0-9]{2}"
_NEAR_YEARS = "(19[1-9][0-9]|20[0-9]{2})-[0-9]{2}-[0-9]{2}"
_WHOLE = "^-?[0-9]{1,18}$"
_NUMBER = r"^-?[0-9]{1,30}(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,2})?$"
_ERRORS = (pa.ArrowException, OverflowError)


def taken(texts: pa.Array, kind: pa.DataType, values: TextValues) -> Taken:
    """The values of texts in a type. NULL is taken; an empty text is left."""
    if t.is_string(kind):
        return texts, np.ones(len(texts), dtype=np.bool_)
    if t.is_integer(kind):
        return _narrowed(_matching(texts, _WHOLE, lambda x: x.cast(pa.int64())), kind)
    if t.is_floating(kind):
        return _narrowed(_matching(texts, _NUMBER, lambda x: x.cast(pa.float64())), kind)
    if t.is_boolean(kind):
        return _matching(texts, "^(?i:true|false)$", lambda x: pc.equal(pc.utf8_lower(x), "true"))
    if t.is_decimal(kind):
        whole, scale = kind.precision - kind.scale, kind.scale
        part = rf"(\.[0-9]{{1,{scale}}})?" if scale else ""
        pattern = rf"^-?[0-9]{{1,{whole}}}{part}$" if whole > 0 else "^$"
        return _matching(texts, pattern, lambda x: x.cast(kind))
    if t.is_date(kind) and values.dates is None:
        return _matching(texts, f"^{_DAY}$", lambda x: x.cast(kind))
    if t.is_timestamp(kind):
        return _times(texts, kind, values)
    return _nothing(texts, kind)


def _times(texts: pa.Array, kind: pa.TimestampType, values: TextValues) -> Taken:
    """Times that name their zone, and then those that do not."""
    local = pa.timestamp("us")
    if kind.tz is None:
        if values.local_times is not None:
            return _nothing(texts, kind)
        return _matching(texts, f"^{_DAY}({_CLOCK})?$", lambda x: x.cast(local).cast(kind))
    if values.times is not None:
        return _nothing(texts, kind)
    zoned = f"^{_INNER}{_CLOCK}(Z|[+-](0[0-9]|1[0-7]):[0-5][0-9])$"
    found, done = _matching(texts, zoned, lambda x: x.cast(pa.timestamp("us", "UTC")).cast(kind))
    if done.all():
        return found, done
    zone = values.zone if str(zone_named(values.zone)) == values.zone else None
    if zone is None or zone == "Z":
        return found, done
    rest = pc.if_else(pa.array(done), pa.scalar(None, pa.string()), texts)

    def in_zone(x: pa.Array) -> pa.Array:
        return pc.assume_timezone(x.cast(local), zone, ambiguous="earliest").cast(kind)

    more, known = _matching(rest, f"^{_NEAR_YEARS}({_CLOCK})?$", in_zone)
    return pc.coalesce(found, more), known


def _narrowed(wide: Taken, kind: pa.DataType) -> Taken:
    column, done = wide
    found, bad = fit(column, kind)
    return found, done & ~bad


def _nothing(texts: pa.Array, kind: pa.DataType) -> Taken:
    return pa.nulls(len(texts), kind), ~record.valid(texts)


def _matching(texts: pa.Array, pattern: str, convert: Callable[[pa.Array], pa.Array]) -> Taken:
    """The texts of a form, converted; where some are of the form and are no value, by halves."""
    like = record.numpy(pc.match_substring_regex(texts, pattern).fill_null(True))
    if not like.all():
        texts = pc.if_else(pa.array(like), texts, pa.scalar(None, texts.type))
    found, done = _by_halves(texts, convert)
    return found, like & done


def _by_halves(texts: pa.Array, convert: Callable[[pa.Array], pa.Array]) -> Taken:
    try:
        return convert(texts), np.ones(len(texts), dtype=np.bool_)
    except _ERRORS:
        if len(texts) == 1:
            nothing = convert(pa.nulls(1, texts.type))
            return nothing, np.zeros(1, dtype=np.bool_)
    middle = len(texts) // 2
    parts = [_by_halves(half, convert) for half in (texts[:middle], texts[middle:])]
    return pa.concat_arrays([part[0] for part in parts]), np.concatenate([p[1] for p in parts])
