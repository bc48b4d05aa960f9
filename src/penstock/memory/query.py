"""Select-project-join queries over streams, with an optional aggregation on top."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from penstock.reasoning.closure import Atom, Attribute, Closure


@dataclass(frozen=True, slots=True)
class Stream:
    """An occurrence of a stream in a query. Occurrences of one stream share its `source`."""

    name: str
    columns: tuple[str, ...]
    source: str = ""

    def __post_init__(self) -> None:
        if not self.source:
            object.__setattr__(self, "source", self.name)
        if len(set(self.columns)) < len(self.columns):
            raise ValueError(f"stream {self.name} names a column twice: {', '.join(self.columns)}")

    def __getitem__(self, column: str) -> Attribute:
        if column not in self.columns:
            known = ", ".join(self.columns)
            raise ValueError(f"stream {self.name} has no column {column}, only {known}")
        return Attribute(self.name, column)

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return tuple(Attribute(self.name, column) for column in self.columns)


@dataclass(frozen=True, slots=True)
class Query:
    """The projection of a selection of a product of streams.

    A `distinct` projection eliminates duplicates, any other preserves them.
    """

    streams: tuple[Stream, ...]
    where: frozenset[Atom] = frozenset()
    select: tuple[Attribute, ...] = ()
    distinct: bool = False

    def __post_init__(self) -> None:
        names = [stream.name for stream in self.streams]
        if not names:
            raise ValueError("a query reads at least one stream")
        if len(set(names)) < len(names):
            raise ValueError(f"two streams of a query share a name: {', '.join(names)}")
        columns: dict[str, tuple[str, ...]] = {}
        for stream in self.streams:
            if columns.setdefault(stream.source, stream.columns) != stream.columns:
                raise ValueError(f"the occurrences of {stream.source} differ in their columns")
        known = set(self.attributes)
        for used in (*self.select, *(a for atom in self.where for a in atom.attributes)):
            if used not in known:
                raise ValueError(f"{used} is not an attribute of {', '.join(names)}")

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return tuple(attribute for stream in self.streams for attribute in stream.attributes)

    @property
    def constants(self) -> frozenset[int]:
        return frozenset(constant for atom in self.where for constant in atom.constants)

    @property
    def joins_itself(self) -> bool:
        return len({stream.source for stream in self.streams}) < len(self.streams)

    def closure(self) -> Closure:
        return Closure(self.where, self.attributes)

    def having(self, *atoms: Atom) -> Query:
        """The query with more atoms in its selection."""
        return replace(self, where=self.where.union(atoms))


class Kind(StrEnum):
    """How much of a bag of values an aggregate needs to follow one more value.

    Distributive: its own value; algebraic: a summary of bounded size; holistic: neither.
    """

    DISTRIBUTIVE = "distributive"
    ALGEBRAIC = "algebraic"
    HOLISTIC = "holistic"


@dataclass(frozen=True, slots=True)
class Function:
    """An aggregate function. It is duplicate-sensitive if a bag and its set may differ in it.

    `standard` functions have a necessary condition for bounded memory; others a sufficient one.
    """

    name: str
    kind: Kind
    duplicate_sensitive: bool
    standard: bool = False


SUM = Function("sum", Kind.DISTRIBUTIVE, duplicate_sensitive=True, standard=True)
COUNT = Function("count", Kind.DISTRIBUTIVE, duplicate_sensitive=True, standard=True)
MIN = Function("min", Kind.DISTRIBUTIVE, duplicate_sensitive=False, standard=True)
MAX = Function("max", Kind.DISTRIBUTIVE, duplicate_sensitive=False, standard=True)
AVG = Function("avg", Kind.ALGEBRAIC, duplicate_sensitive=True, standard=True)
COUNT_DISTINCT = Function("count_distinct", Kind.HOLISTIC, duplicate_sensitive=False, standard=True)
MEDIAN = Function("median", Kind.HOLISTIC, duplicate_sensitive=True, standard=True)


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A function of an attribute, or of whole rows: COUNT(*)."""

    function: Function
    of: Attribute | None

    def __post_init__(self) -> None:
        if self.of is None and self.function is not COUNT:
            raise ValueError(f"{self.function.name} needs an attribute; only count goes without")

    def __str__(self) -> str:
        return f"{self.function.name}({'*' if self.of is None else self.of})"


@dataclass(frozen=True, slots=True)
class AggregateQuery:
    """SELECT group_by, aggregates FROM streams WHERE where GROUP BY group_by.

    The current answer is kept in memory, and counts as memory used.
    """

    streams: tuple[Stream, ...]
    where: frozenset[Atom] = frozenset()
    group_by: tuple[Attribute, ...] = ()
    aggregates: tuple[Aggregate, ...] = ()

    def __post_init__(self) -> None:
        self.characteristic()

    def characteristic(self) -> Query:
        """The query that projects all attributes grouped by or aggregated.

        It eliminates duplicates iff no aggregate is sensitive to them.
        """
        used = [a.of for a in self.aggregates if a.of is not None]
        sensitive = any(a.function.duplicate_sensitive for a in self.aggregates)
        return Query(self.streams, self.where, (*self.group_by, *used), distinct=not sensitive)

    def reduced(self, *, distinct: bool) -> Query:
        """The reduced characteristic query, which projects the grouping attributes only."""
        return Query(self.streams, self.where, self.group_by, distinct)

    def closure(self) -> Closure:
        return self.reduced(distinct=True).closure()
