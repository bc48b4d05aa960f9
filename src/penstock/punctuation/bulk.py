"""Many punctuations at once, as texts and as boxes.

A punctuation for each item of an auction comes by the thousand, and such are plain: they are read
as columns are. All others are read one by one.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from penstock.errors import PlanError
from penstock.punctuation import pattern as pt
from penstock.punctuation import plain, text
from penstock.punctuation.domain import domains_of
from penstock.punctuation.pattern import Pattern, Wildcard
from penstock.punctuation.punctuation import Punctuation
from penstock.punctuation.schedule import Boxes
from penstock.record import Ints, Mask


def boxes(schema: pa.Schema, punctuations: Iterable[tuple[Punctuation, int]]) -> list[Boxes]:
    """Punctuations with the times from which on they hold."""
    shapes: dict[tuple[bool, ...], list[tuple[tuple[Pattern, ...], int]]] = {}
    for one, time in punctuations:
        shape = tuple(type(pattern) is not Wildcard for pattern in one.patterns)
        shapes.setdefault(shape, []).append((one.patterns, time))
    domains = domains_of(schema)
    found = []
    for shape, rows in shapes.items():
        columns = list(zip(*(patterns for patterns, _ in rows), strict=True))
        used = [at for at, constrained in enumerate(shape) if constrained]
        sides = [(at, pt.value_sets(columns[at], domains[at])) for at in used]
        found.append(Boxes(sides, np.array([time for _, time in rows], dtype=np.int64)))
    return found


def read(texts: pa.Array, times: Ints, schema: pa.Schema) -> list[Boxes]:
    """The boxes of texts that are punctuations, with the times from which on they hold."""
    easy = plain.is_plain(texts, schema)
    rest = np.flatnonzero(~easy).tolist()
    one_by_one = [(text.parse(texts[row].as_py(), schema), int(times[row])) for row in rest]
    chosen = texts if easy.all() else texts.filter(pa.array(easy))
    together = plain.read(chosen, times[easy], schema) if len(chosen) else ()
    return [*together, *boxes(schema, one_by_one)]


def well_formed(texts: pa.Array, schema: pa.Schema) -> Mask:
    """Which texts are punctuations of records of the schema."""
    good = plain.is_plain(texts, schema).copy()
    for place in np.flatnonzero(~good).tolist():
        good[place] = _is_one(texts[place].as_py(), schema)
    return good


def _is_one(words: str, schema: pa.Schema) -> bool:
    try:
        text.parse(words, schema)
    except PlanError:
        return False
    return True


def widened(texts: pa.Array, schema: pa.Schema, place: int) -> pa.Array:
    """The same about records with one more attribute: any value is meant of it.

    `schema` is that of the wider records, and `place` the attribute's in it.
    """
    about = schema.remove(place)
    easy = plain.is_plain(texts, about) if len(about) else np.zeros(len(texts), dtype=np.bool_)
    found = plain.widened(texts, about, place)
    if easy.all():
        return found
    words = found.to_pylist()
    for row in np.flatnonzero(~easy).tolist():
        one = text.parse(texts[row].as_py(), about)
        patterns = dict(zip(about.names, one.patterns, strict=True))
        words[row] = text.write(Punctuation.of_mapping(schema, patterns))
    return pa.array(words, pa.string())
