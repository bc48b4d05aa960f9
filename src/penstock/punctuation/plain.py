"""Punctuations as text that can be read by the column.

Plain is what has constants, ranges and wildcards, of integers and of texts without escapes:
`<17, *, [3,5), 'S01'>`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from penstock.punctuation.domain import Domain, Keys, domains_of
from penstock.punctuation.schedule import Boxes
from penstock.punctuation.valuesets import ValueSets
from penstock.record import Ints, Mask

_PARTS = ("one", "open", "low", "high", "close")
_DIGITS = {8: 2, 16: 4, 32: 9, 64: 18}
"""By the width of an integer, how many digits surely fit."""


def is_plain(texts: pa.Array, schema: pa.Schema) -> Mask:
    found = pc.match_substring_regex(texts, _pattern(schema))
    long = _too_long(schema)
    if long is not None:
        found = pc.and_not(found, pc.match_substring_regex(texts, long))
    return found.to_numpy(zero_copy_only=False).astype(np.bool_)


def read(texts: pa.Array, times: Ints, schema: pa.Schema) -> Iterator[Boxes]:
    """The boxes of plain texts, those of one shape together."""
    parts = pc.extract_regex(texts, _pattern(schema, captured=True))
    columns = {field.name: parts.field(i) for i, field in enumerate(parts.type)}
    words = [
        {part: columns[f"{part}{i}"] for part in _PARTS if f"{part}{i}" in columns}
        for i in range(len(schema))
    ]
    stars = [pc.equal(word["one"], "*").to_numpy(zero_copy_only=False) for word in words]
    for rows, constrained in _shapes(np.stack(stars, axis=1)):
        sides = [(i, _sets(words[i], rows, domains_of(schema)[i])) for i in constrained]
        yield Boxes(sides, times[rows])


def widened(texts: pa.Array, about: pa.Schema, place: int) -> pa.Array:
    """Plain texts with a wildcard more, before the pattern at a place or after the last one."""
    if place == len(about):
        return pc.replace_substring_regex(texts, r"\s*>\s*$", ",*>")
    before = "".join(rf"{_attribute(kind)}\s*,\s*" for kind in about.types[:place])
    return pc.replace_substring_regex(texts, rf"^(\s*<\s*{before})", r"\1*,")


def _value(kind: pa.DataType) -> str | None:
    """How a plain value of a type looks; None where there are none."""
    if pa.types.is_signed_integer(kind):
        return "-?[0-9]+"
    return r"'[^'\\]*'" if pa.types.is_string(kind) else None


def _attribute(kind: pa.DataType, name: str | None = None) -> str:
    """How the pattern of an attribute looks; with a name, its parts are captured."""
    one, opens, low, high, close = (
        "(?:" if name is None else f"(?P<{part}{name}>" for part in _PARTS
    )
    value = _value(kind)
    if value is None:
        return rf"{one}\*)"
    low, high = rf"{low}{value})?\s*", rf"\s*{high}{value})?\s*"
    return rf"(?:{one}\*|{value})|{opens}[\[(])\s*{low},{high}{close}[\])]))"


@lru_cache(maxsize=64)
def _pattern(schema: pa.Schema, captured: bool = False) -> str:
    parts = [_attribute(kind, str(i) if captured else None) for i, kind in enumerate(schema.types)]
    return r"^\s*<\s*" + r"\s*,\s*".join(parts) + r"\s*>\s*$"


@lru_cache(maxsize=64)
def _too_long(schema: pa.Schema) -> str | None:
    """More digits than surely fit the integers of a schema."""
    widths = [kind.bit_width for kind in schema.types if pa.types.is_signed_integer(kind)]
    return f"[0-9]{{{_DIGITS[min(widths)] + 1}}}" if widths else None


def _shapes(wild: npt.NDArray[np.bool_]) -> Iterator[tuple[Ints, list[int]]]:
    """Rows with the same wildcards, and the attributes that have none."""
    varied = np.flatnonzero(wild.any(axis=0) & ~wild.all(axis=0))
    shape = np.unique(wild[:, varied], axis=0, return_inverse=True)[1].reshape(-1)
    for number in range(int(shape.max(initial=-1)) + 1):
        rows = np.flatnonzero(shape == number)
        yield rows, np.flatnonzero(~wild[rows[0]]).tolist()


def _sets(words: Mapping[str, pa.Array], rows: Ints, domain: Domain) -> ValueSets:
    """The sets of some rows, from the parts of their patterns."""
    part = {name: column.take(pa.array(rows)) for name, column in words.items()}
    single = _given(part["one"])
    points = np.flatnonzero(single)
    constants = ValueSets.of_points(domain, len(rows), points, _keys(part["one"], points, domain))
    if single.all():
        return constants
    start = np.repeat(domain.key_array([domain.first]), len(rows))
    low, high = (np.flatnonzero(_given(part[end])) for end in ("low", "high"))
    start[low] = _cuts(part["low"], low, _is(part["open"], "(")[low], domain)
    stop = start.copy()
    stop[high] = _cuts(part["high"], high, _is(part["close"], "]")[high], domain)
    bounded = _given(part["high"])
    full = ~single & (~bounded | (start < stop).astype(np.bool_))
    some, ended = np.flatnonzero(full), np.flatnonzero(full & bounded)
    none = np.zeros(len(rows), dtype=np.bool_)
    return constants | ValueSets.of_intervals(domain, none, some, start[some], ended, stop[ended])


def _cuts(words: pa.Array, rows: Ints, after: Mask, domain: Domain) -> Keys:
    """The keys of some words, or those after them: no plain value is the last of its type."""
    keys = _keys(words, rows, domain)
    keys[after] = domain.next_of(keys[after])
    return keys


def _keys(words: pa.Array, rows: Ints, domain: Domain) -> Keys:
    chosen = words.take(pa.array(rows))
    if pa.types.is_string(domain.type):
        return domain.keys_of(pc.utf8_slice_codeunits(chosen, 1, -1))
    return domain.keys_of(chosen.cast(domain.type))


def _given(words: pa.Array) -> Mask:
    return ~_is(words, "")


def _is(words: pa.Array, sign: str) -> Mask:
    found: Mask = pc.equal(words, sign).to_numpy(zero_copy_only=False)
    return found
