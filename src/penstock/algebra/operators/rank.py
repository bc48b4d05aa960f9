from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, Self, TypeAlias

import pyarrow as pa

from penstock.algebra.cardinality import Bound, Cardinalities, least, rows_of_each
from penstock.algebra.closing import Kind, Known, closed_by_time, closes
from penstock.algebra.expr import Expr, columns
from penstock.algebra.operators.map import only
from penstock.algebra.operators.node import Node, Offsets, Outputs, listed
from penstock.algebra.operators.sort_key import SortKey
from penstock.algebra.reference import Record, Reference, Relation, directed, picker, sortable
from penstock.kinds import kind

RankKind: TypeAlias = Literal["row_number", "rank", "dense_rank"]


RANK_KINDS: tuple[RankKind, ...] = ("row_number", "rank", "dense_rank")


@kind("rank")
@dataclass(frozen=True)
class Rank(Node):
    """The records of each partition whose rank by `order` is at most `limit`, all if it is None.

    Where `number` is given, the rank is a column of that name. Row numbers break ties by the order
    of records. `until`, computed from the partition columns, says from when on the input has no
    more changes of a partition. It frees state and never changes a result, provided it is true;
    NULL is never.
    """

    input: Node
    partition: tuple[str, ...]
    order: tuple[SortKey, ...]
    limit: int | None
    kind: RankKind = "row_number"
    number: str | None = None
    until: Expr | None = None

    def __post_init__(self) -> None:
        self.require(self.kind in RANK_KINDS, f"no rank {self.kind!r}; {RANK_KINDS}")
        if self.limit is None:
            self.require(self.number is not None, "without a limit, the rank must have a name")
        else:
            self.require(self.limit > 0, f"the limit must be positive, not {self.limit}")
        self.require_columns(self.partition, self.input.schema)
        self.require_columns(tuple(key.column for key in self.order), self.input.schema)
        self.require(self.number not in self.input.schema.names, f"{self.number!r} exists already")
        self.require_until(self.until, self.input.schema, self.partition)

    @cached_property
    def schema(self) -> pa.Schema:
        if self.number is None:
            return self.input.schema
        return self.input.schema.append(pa.field(self.number, pa.int64()))

    def describe(self) -> str:
        count = "all" if self.limit is None else self.limit
        words = [f"{self.kind} {count}", *listed("per", self.partition)]
        words += listed("by", tuple(key.describe() for key in self.order))
        words += [f"as {self.number}"] if self.number is not None else []
        words += [f"until {self.until}"] if self.until is not None else []
        return " ".join(words)

    def unique_key(self) -> tuple[str, ...] | None:
        if self.kind == "row_number" and self.limit == 1:
            return self.partition
        key = self.input.unique_key()
        if key is not None or self.kind != "row_number" or self.number is None:
            return key
        return (*self.partition, self.number)

    def is_set(self) -> bool:
        return self.input.is_set()

    def is_append_only(self) -> bool:
        return False

    def time_column(self) -> None:
        return None

    def sequenced(self) -> None:
        return None

    def snapshot(self, reference: Reference, t: int) -> Relation:
        schema = self.input.schema
        key, position = picker(self.partition, schema), schema.names.index
        partitions: dict[Record, list[Record]] = {}
        for e in reference.at(self.input, t).elements():
            partitions.setdefault(key(e), []).append(e)
        result: Relation = Counter()
        for group in partitions.values():
            group.sort(key=sortable)
            for sort_key in reversed(self.order):
                i = position(sort_key.column)
                direction = sort_key.nulls_first, sort_key.descending
                group.sort(key=lambda e, i=i, d=direction: directed(e[i], *d))  # type: ignore[misc]
            order = [tuple(e[position(k.column)] for k in self.order) for e in group]
            for i, e in enumerate(group):
                number = {
                    "row_number": i + 1,
                    "rank": order.index(order[i]) + 1,
                    "dense_rank": len(set(order[: i + 1])),
                }[self.kind]
                if self.limit is None or number <= self.limit:
                    result[(*e, number) if self.number else e] += 1
        return result

    def passes_filter(self, condition: Expr) -> tuple[Expr] | None:
        """Where only the partition is read: each is ranked by itself, kept or dropped whole."""
        return (condition,) if columns(condition) <= set(self.partition) else None

    def passes_map(self, outputs: Outputs) -> None:
        return None

    def narrow(self, names: set[str]) -> Node:
        """Row numbers break ties by the order of whole records."""
        if self.limit is None and self.number not in names:
            return self.input.narrowed(names)
        source = self.input
        if self.kind != "row_number":
            ranked = {*self.partition, *(key.column for key in self.order)}
            source = only(source, (names | ranked) - {self.number})
        return self.replaced(input=source, number=self.number if self.number in names else None)

    @cached_property
    def progress(self) -> Offsets:
        return {column: k for column, k in self.input.progress.items() if column in self.partition}

    @property
    def ahead(self) -> Offsets:
        return self.input.ahead

    def with_closing(self) -> Self:
        return replace(self, until=closed_by_time(self.input, self.partition))

    def closes(self, known: Known, kind: Kind) -> Expr | None:
        return self.input.when_closed(known.only(self.partition), "any")

    def cardinality(self, known: Cardinalities) -> Bound | None:
        if self.kind != "row_number" or self.limit is None:
            return known.of(self.input)
        first = rows_of_each(self.limit, known.partitions(self.input, self.partition), "limit")
        return least([first, known.of(self.input)])

    def let_go(self) -> tuple[Expr | None]:
        return (closes(self.input, self.partition),)

    def lineage(self, column: str) -> tuple[Node, str] | None:
        return self.some_of(self.input, column)
