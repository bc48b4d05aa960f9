"""Many punctuations as text at once, where they are plain: `<17,*,3>`, constants and wildcards.

A punctuation for each item of an auction is of this form, and comes by the thousand. All others,
with ranges, lists or quotes, are read one by one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.errors import PlanError
from penstock.punctuation import text
from penstock.punctuation.blocks import Side
from penstock.punctuation.covering import TIME
from penstock.punctuation.domain import domain_of
from penstock.punctuation.punctuation import Punctuation
from penstock.punctuation.valuesets import ValueSets, values_of
from penstock.record import Ints, Mask

_PLAIN = r"^<[0-9*, -]+>$"


def read(texts: pa.Array, at: Ints, schema: pa.Schema) -> tuple[list[Sequence[Side]], Mask]:
    """The boxes of the plain ones, with their time as one more attribute, and which these are."""
    plain, parts = _parts(texts, schema)
    if not parts:
        return [], plain
    wild = np.stack([pc.equal(part, "*").to_numpy(zero_copy_only=False) for part in parts], axis=1)
    shapes, shape = np.unique(wild, axis=0, return_inverse=True)
    boxes: list[Sequence[Side]] = []
    times = at[plain]
    for number in range(len(shapes)):
        rows = np.flatnonzero(shape.reshape(-1) == number)
        sides: list[Side] = []
        for place in np.flatnonzero(~shapes[number]).tolist():
            field = schema.field(place)
            values = parts[place].take(pa.array(rows)).cast(field.type)
            domain = domain_of(field.type, field.nullable)
            sides.append((place, values_of(domain, len(rows), np.arange(len(rows)), values)))
        boxes.append([*sides, (len(schema), _from(times[rows]))])
    return boxes, plain


def well_formed(texts: pa.Array, schema: pa.Schema) -> Mask:
    """Which texts are punctuations of records of the schema."""
    good, _ = _parts(texts, schema)
    good = good.copy()
    for place in np.flatnonzero(~good).tolist():
        good[place] = parsed(texts[place].as_py(), schema) is not None
    return good


def parsed(words: str, schema: pa.Schema) -> Punctuation | None:
    try:
        return text.parse(words, schema)
    except PlanError:
        return None


def widened(texts: pa.Array, schema: pa.Schema, place: int) -> list[str]:
    """The same about records with one more attribute: any value is meant of it.

    `schema` is that of the wider records, and `place` the attribute's in it.
    """
    about = pa.schema([field for i, field in enumerate(schema) if i != place])
    plain, parts = _parts(texts, about)
    found = np.full(len(texts), None, dtype=object)
    if parts:
        parts.insert(place, pa.array(["*"] * len(parts[0]), pa.string()))
        inner = pc.binary_join_element_wise(*parts, ",").to_pylist()
        found[plain] = [f"<{words}>" for words in inner]
    for row in np.flatnonzero(~plain).tolist():
        one = text.parse(texts[row].as_py(), about)
        patterns = dict(zip(about.names, one.patterns, strict=True))
        found[row] = text.write(Punctuation.of_mapping(schema, patterns))
    return [str(words) for words in found]


def _parts(texts: pa.Array, schema: pa.Schema) -> tuple[Mask, list[pa.Array]]:
    """Which texts are plain, and of these the patterns of each attribute, as text."""
    none = np.zeros(len(texts), dtype=np.bool_)
    if len(texts) == 0:
        return none, []
    fits = pc.and_(
        pc.match_substring_regex(texts, _PLAIN),
        pc.equal(pc.count_substring(texts, ","), len(schema) - 1),
    )
    plain = fits.to_numpy(zero_copy_only=False).astype(np.bool_)
    chosen = texts.filter(pa.array(plain))
    split = pc.split_pattern(pc.utf8_slice_codeunits(chosen, 1, -1), ",")
    flat = pc.utf8_trim_whitespace(split.flatten())
    rows = np.arange(len(chosen)) * len(schema)
    parts = [flat.take(pa.array(rows + i)) for i in range(len(schema))]
    for field, part in zip(schema, parts, strict=True):
        constants = part.filter(pc.not_equal(part, "*"))
        if len(constants) and not _all_fit(constants, field.type):
            return none, []
    return plain, parts if len(chosen) else []


def _all_fit(words: pa.Array, kind: pa.DataType) -> bool:
    if not pa.types.is_integer(kind):
        return False
    try:
        words.cast(kind)
    except pa.ArrowInvalid:
        return False
    return True


def _from(times: Ints) -> ValueSets:
    """The sets `[t, )`."""
    none = np.empty(0, dtype=np.int64)
    null = np.zeros(len(times), dtype=np.bool_)
    return ValueSets.of_intervals(TIME, null, np.arange(len(times)), times, none, none)
