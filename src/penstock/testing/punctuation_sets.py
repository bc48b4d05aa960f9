"""Many punctuations as one: normalised, merged, and matched against whole columns.

Meaning: a set matches a record where one of its punctuations does. Only this counts: lists are
split and joined, adjoining ranges merged, patterns that together match everything become the
wildcard, and what another punctuation covers is dropped. Sets over one attribute are canonical.

Cost: 100,000 punctuations of one key are one sorted array, and matching is one hash lookup per
record, as for an IN list. See `blocks` for the shapes that are not merged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from penstock.errors import PlanError
from penstock.punctuation import pattern as pt
from penstock.punctuation.blocks import EVERYTHING, Block, Side, arranged, combined, covers
from penstock.punctuation.domain import domains_of
from penstock.punctuation.pattern import Pattern, Wildcard
from penstock.punctuation.punctuation import Punctuation, require_columns, require_same_types
from penstock.punctuation.table import Table
from penstock.punctuation.valuesets import values_of
from penstock.record import Columns, Ints, Mask


@dataclass(frozen=True, eq=False)
class PunctuationSet:
    """Punctuations of one schema, merged into blocks that constrain the same columns."""

    schema: pa.Schema
    blocks: tuple[Block, ...] = ()

    @staticmethod
    def of(schema: pa.Schema, punctuations: Iterable[Punctuation]) -> PunctuationSet:
        shapes: dict[tuple[bool, ...], list[tuple[Pattern, ...]]] = {}
        for punctuation in punctuations:
            if punctuation.schema is not schema:
                require_same_types(schema, punctuation.schema)
            patterns = punctuation.patterns
            shapes.setdefault(tuple([type(p) is not Wildcard for p in patterns]), []).append(
                patterns
            )
        domains = domains_of(schema)
        boxes: list[list[Side]] = []
        for shape, rows in shapes.items():
            columns = list(zip(*rows, strict=True))
            used = [at for at, constrained in enumerate(shape) if constrained]
            boxes.append([(at, pt.value_sets(columns[at], domains[at])) for at in used])
        return PunctuationSet(schema, arranged(boxes))

    @staticmethod
    def of_values(schema: pa.Schema, columns: Mapping[str, pa.Array]) -> PunctuationSet:
        """A punctuation of constants for each row of some columns, NULL as `null`."""
        require_columns(schema, list(columns))
        domains, sides = domains_of(schema), []
        for name, column in columns.items():
            at = schema.get_field_index(name)
            if column.type != schema.field(at).type:
                raise PlanError(f"column {name!r} is {column.type}, not {schema.field(at).type}")
            owner = np.zeros(len(column), dtype=np.int64)
            if len(columns) > 1:
                owner = np.arange(len(column))
            count = len(column) if len(columns) > 1 else 1
            sides.append((at, values_of(domains[at], count, owner, column)))
        return PunctuationSet(schema, arranged([sorted(sides, key=lambda side: side[0])]))

    @staticmethod
    def everything(schema: pa.Schema) -> PunctuationSet:
        return PunctuationSet(schema, (EVERYTHING,))

    # --- what is in it --------------------------------------------------------------------------

    def __len__(self) -> int:
        """The number of its punctuations, as they are merged."""
        return sum(block.piece_count for block in self.blocks)

    def __bool__(self) -> bool:
        return bool(self.blocks)

    @cached_property
    def punctuations(self) -> tuple[Punctuation, ...]:
        width = len(self.schema)
        found = (patterns for block in self.blocks for patterns in block.pieces(width))
        return tuple(Punctuation(self.schema, patterns) for patterns in found)

    def covers(self, punctuation: Punctuation) -> bool:
        """Whether each record that matches the punctuation surely matches the set.

        True is always right. A punctuation that is covered only by several blocks, of which more
        than one constrains several attributes, is missed.
        """
        if punctuation.is_nothing:
            return True
        pairs = enumerate(zip(punctuation.patterns, punctuation.domains, strict=True))
        sides = [(at, pt.value_set([pattern], domain)) for at, (pattern, domain) in pairs]
        for block in self.blocks:
            if isinstance(block, Table) and not block.keys:
                attribute, wanted = sides[block.spread]
                sides[block.spread] = attribute, wanted - block.sets
        if any(wanted.is_nothing[0] for _, wanted in sides):
            return True
        rest = [side for side in sides if not side[1].is_everything[0]]
        return any(covers(block, rest) for block in self.blocks)

    # --- records --------------------------------------------------------------------------------

    def which(self, columns: Columns) -> Ints:
        """For each record a punctuation that it matches, as a place in `punctuations`, or -1."""
        length = self._length(columns)
        found = np.full(length, -1, dtype=np.int64)
        before = 0
        for block in self.blocks:
            piece = block.which(columns, length)
            found = np.where((found < 0) & (piece >= 0), piece + before, found)
            before += block.piece_count
        return found

    def matches(self, columns: Columns) -> Mask:
        """Which records match the set."""
        length = self._length(columns)
        mask = np.zeros(length, dtype=np.bool_)
        for block in self.blocks:
            mask |= block.matches(columns, length)
        return mask

    def matches_record(self, record: Sequence[Any]) -> bool:
        fields = zip(record, self.schema, strict=True)
        return bool(self.matches(tuple(pa.array([v], type=field.type) for v, field in fields))[0])

    def without(self, columns: Columns) -> PunctuationSet:
        """The part of the set that none of the records matches.

        It has at least those of `punctuations` that no record matches; and where some values of a
        list or range match, the others stay, as if they had never been merged. A punctuation that
        was dropped for a wider one stays as far as that one does.
        """
        length = self._length(columns)
        kept: list[Sequence[Side]] = []
        for block in self.blocks:
            if isinstance(block, Table):
                kept.append(block.without(columns, length).sides())
                continue
            hit = np.flatnonzero(block.matches(columns, length))
            if not len(hit):
                kept.append(block.sides())
            elif block.parts:
                at, sets = max(block.parts, key=lambda side: len(side[1].cut))
                found = columns[at].take(pa.array(hit))
                seen = values_of(sets.domain, 1, np.zeros(len(hit), dtype=np.int64), found)
                kept.append([(a, s - seen if a == at else s) for a, s in block.parts])
        return PunctuationSet(self.schema, arranged(kept))

    def _length(self, columns: Columns) -> int:
        if len(columns) != len(self.schema):
            raise PlanError(f"found {len(columns)} columns, expected {self.schema.names}")
        return len(columns[0]) if columns else 0

    # --- sets -----------------------------------------------------------------------------------

    def __or__(self, other: PunctuationSet) -> PunctuationSet:
        """What either matches."""
        require_same_types(self.schema, other.schema)
        return PunctuationSet(
            self.schema, arranged([block.sides() for block in (*self.blocks, *other.blocks)])
        )

    def combine(self, other: PunctuationSet) -> PunctuationSet:
        """What both match: all combinations of their punctuations."""
        require_same_types(self.schema, other.schema)
        pairs = [combined(a, b) for a in self.blocks for b in other.blocks]
        return PunctuationSet(self.schema, arranged([sides for pair in pairs for sides in pair]))

    def within(self, names: Sequence[str]) -> PunctuationSet:
        """The punctuations that constrain only these attributes."""
        require_columns(self.schema, names)
        places = {self.schema.get_field_index(name) for name in names}
        return PunctuationSet(
            self.schema, tuple(block for block in self.blocks if block.attributes <= places)
        )

    def project(self, names: Sequence[str]) -> PunctuationSet:
        """`within`, said of records of these attributes only."""
        return self.within(names)._over(pa.schema([self.schema.field(name) for name in names]))

    def extend(self, schema: pa.Schema) -> PunctuationSet:
        """The same said of wider records: wildcards for the attributes that are new."""
        require_columns(schema, self.schema.names)
        return self._over(schema)

    def _over(self, schema: pa.Schema) -> PunctuationSet:
        place = [schema.get_field_index(name) for name in self.schema.names]
        boxes = [
            sorted(((place[at], sets) for at, sets in block.sides()), key=lambda side: side[0])
            for block in self.blocks
        ]
        return PunctuationSet(schema, arranged(boxes))


# --- the functions of the paper's table 1, over columns instead of lists of tuples ---------------
# `t` is a record, `ts` are records as columns, `p` is a punctuation and `ps` a set of them.


def match(t: Sequence[Any], p: Punctuation) -> bool:
    return p.matches(t)


def nomatch(t: Sequence[Any], p: Punctuation) -> bool:
    return not p.matches(t)


def combine(p: Punctuation, q: Punctuation) -> Punctuation:
    """What matches both; Psi, which `is_nothing`, where nothing does."""
    return p.combine(q)


def set_match(ts: Columns, ps: PunctuationSet) -> Mask:
    """For each record, whether it matches any punctuation."""
    return ps.matches(ts)


def set_nomatch(ts: Columns, ps: PunctuationSet) -> Mask:
    """For each record, whether it matches no punctuation."""
    return ~ps.matches(ts)


def set_match_ts(ts: Columns, ps: PunctuationSet) -> Columns:
    """The records that match any punctuation."""
    return _where(ts, set_match(ts, ps))


def set_nomatch_ts(ts: Columns, ps: PunctuationSet) -> Columns:
    """The records that match no punctuation."""
    return _where(ts, set_nomatch(ts, ps))


def set_nomatch_ps(ts: Columns, ps: PunctuationSet) -> PunctuationSet:
    """What of the punctuations no record matches.

    The paper's answer is all p without a match. A set does not remember which punctuation a value
    came from: so lists and ranges are also split, and their unmatched values stay.
    """
    return ps.without(ts)


def set_combine(ps1: PunctuationSet, ps2: PunctuationSet) -> PunctuationSet:
    """All combinations of a punctuation of each that are not Psi."""
    return ps1.combine(ps2)


def _where(ts: Columns, mask: Mask) -> Columns:
    chosen = pa.array(mask)
    return tuple(column.filter(chosen) for column in ts)
