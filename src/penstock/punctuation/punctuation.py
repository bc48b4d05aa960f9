"""A punctuation: no record that matches it follows. One pattern for each attribute of a schema.

Meaning: a record matches where each of its values matches the pattern of its attribute.

Law: `match(t, p.combine(q)) = match(t, p) and match(t, q)`. Where nothing can match both, the
result is the paper's Psi: the punctuation of empty patterns only, for which `is_nothing` is true.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from penstock.errors import PlanError
from penstock.punctuation import pattern as pt
from penstock.punctuation.domain import Domain, domains_of
from penstock.punctuation.pattern import ANY, NONE, Pattern


@dataclass(frozen=True)
class Punctuation:
    """One pattern for each column of a schema; a record matches where all of them do."""

    schema: pa.Schema
    patterns: tuple[Pattern, ...]

    def __post_init__(self) -> None:
        names = self.schema.names
        if len(self.patterns) != len(names):
            raise PlanError(
                f"found {len(self.patterns)} patterns, expected one for each of {names}"
            )
        values: list[Pattern] = []
        try:
            for pattern, domain in zip(self.patterns, self.domains, strict=True):
                values.append(pt.checked(pattern, domain))
        except PlanError as error:
            raise PlanError(f"column {names[len(values)]!r}: {error.args[0]}") from None
        object.__setattr__(self, "patterns", tuple(values))

    @staticmethod
    def of(schema: pa.Schema, **named: Pattern) -> Punctuation:
        """The named attributes have these patterns, all others the wildcard."""
        return Punctuation.of_mapping(schema, named)

    @staticmethod
    def of_mapping(schema: pa.Schema, named: Mapping[str, Pattern]) -> Punctuation:
        require_columns(schema, list(named))
        return Punctuation(schema, tuple(named.get(name, ANY) for name in schema.names))

    @staticmethod
    def nothing(schema: pa.Schema) -> Punctuation:
        """Psi, which no record matches."""
        return Punctuation(schema, (NONE,) * len(schema))

    @property
    def domains(self) -> tuple[Domain, ...]:
        return domains_of(self.schema)

    def __getitem__(self, name: str) -> Pattern:
        require_columns(self.schema, [name])
        return self.patterns[self.schema.get_field_index(name)]

    @property
    def is_nothing(self) -> bool:
        return NONE in self.canonical().patterns

    @property
    def constrained(self) -> tuple[str, ...]:
        """The attributes whose pattern is not the wildcard, nor the same as it."""
        found = zip(self.schema.names, self.canonical().patterns, strict=True)
        return tuple(name for name, pattern in found if pattern != ANY)

    def matches(self, record: Sequence[Any]) -> bool:
        parts = zip(record, self.patterns, self.domains, strict=True)
        return all(pt.matches(value, pattern, domain) for value, pattern, domain in parts)

    def canonical(self) -> Punctuation:
        """The same for punctuations that match the same records."""
        found = tuple(map(pt.canonical, self.patterns, self.domains))
        return Punctuation(self.schema, (NONE,) * len(found) if NONE in found else found)

    def combine(self, other: Punctuation) -> Punctuation:
        """What matches both; Psi where nothing does."""
        require_same_types(self.schema, other.schema)
        found = map(pt.combine, self.patterns, other.patterns, self.domains)
        return Punctuation(self.schema, tuple(found)).canonical()

    def covers(self, other: Punctuation) -> bool:
        """Whether each record that matches the other one matches this one."""
        require_same_types(self.schema, other.schema)
        sides = zip(self.patterns, other.patterns, self.domains, strict=True)
        return other.is_nothing or all(pt.covers(p, q, domain) for p, q, domain in sides)

    def project(self, names: Sequence[str]) -> Punctuation | None:
        """The same said of records of these attributes only; None where others matter."""
        require_columns(self.schema, names)
        if not self.is_nothing and not set(self.constrained) <= set(names):
            return None
        schema = pa.schema([self.schema.field(name) for name in names])
        return Punctuation(schema, tuple(self[name] for name in names))

    def wild(self, names: Sequence[str]) -> Punctuation:
        """The same but for these attributes, which are wildcards."""
        require_columns(self.schema, names)
        pairs = zip(self.schema.names, self.patterns, strict=True)
        return Punctuation(self.schema, tuple(ANY if name in names else p for name, p in pairs))

    def extend(self, schema: pa.Schema) -> Punctuation:
        """The same said of wider records: wildcards for the attributes that are new."""
        require_columns(schema, self.schema.names)
        return Punctuation.of_mapping(
            schema, dict(zip(self.schema.names, self.patterns, strict=True))
        )


def require_columns(schema: pa.Schema, names: Sequence[str]) -> None:
    for name in names:
        if name not in schema.names:
            raise PlanError(f"no column {name!r}; there are {schema.names}")


def require_same_types(a: pa.Schema, b: pa.Schema) -> None:
    if a.types != b.types:
        raise PlanError(f"punctuations of different records: {a.types} and {b.types}")
