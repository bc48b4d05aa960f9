"""What every operator of a plan says of itself.

Law: whatever an analysis asks of all operators is an abstract method of `Node`, and an operator
without one of them cannot be defined. So analyses ask, and have no branch for each operator.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import pyarrow as pa

from penstock.algebra import expr
from penstock.algebra.expr import Expr
from penstock.errors import PlanError

if TYPE_CHECKING:
    from penstock.algebra.cardinality import Bound, Cardinalities
    from penstock.algebra.closing import Kind, Known
    from penstock.algebra.reference import Reference, Relation

Offsets: TypeAlias = Mapping[str, int]
"""Columns with a time, and how far that is from another one."""
Outputs: TypeAlias = tuple[tuple[str, Expr], ...]
"""Columns by their names, as they are computed."""


def _is_abstract(value: object) -> bool:
    return bool(getattr(value, "__isabstractmethod__", False))


@dataclass(frozen=True)
class Node:
    """The base of all operators; the abstract methods are what each says of itself.

    A class that only others are made from says so: `class OneInput(Node, base=True)`.
    """

    def __init_subclass__(cls, base: bool = False) -> None:
        missing = cls.unsaid()
        if missing and not base:
            raise TypeError(
                f"the operator {cls.__name__} does not say its {', '.join(missing)}; "
                "what each of them is, is said in penstock.algebra.operators.node"
            )

    @staticmethod
    def properties() -> list[str]:
        """The names of all that an operator must say."""
        return [name for name, value in vars(Node).items() if _is_abstract(value)]

    @classmethod
    def unsaid(cls) -> list[str]:
        """What a class leaves to those that are made from it; nothing of an operator."""
        return [name for name in Node.properties() if _is_abstract(getattr(cls, name))]

    # --- what it says -----------------------------------------------------------------------------

    @property
    @abstractmethod
    def schema(self) -> pa.Schema:
        """The columns of its records."""

    @abstractmethod
    def describe(self) -> str:
        """One line of an outline."""

    @abstractmethod
    def snapshot(self, reference: Reference, t: int) -> Relation:
        """The meaning: the snapshot at time t, made of snapshots of the inputs; zeros may be in it.

        The numbers of equations are those of the temporal algebra's paper.
        """

    # --- its records ------------------------------------------------------------------------------

    @abstractmethod
    def unique_key(self) -> tuple[str, ...] | None:
        """Columns whose values no two records share at any time, as few as the plan shows.

        () where there is never more than one record, None where no columns are known to be a key.
        """

    @abstractmethod
    def is_set(self) -> bool:
        """Whether no record of the snapshots is there twice, whatever the inputs."""

    @abstractmethod
    def is_append_only(self) -> bool:
        """Whether records, once there, stay: no element ends, none is negative."""

    @abstractmethod
    def time_column(self) -> str | None:
        """The column with the time at which a record comes, where an append-only node has one."""

    @abstractmethod
    def sequenced(self) -> Node | None:
        """The node with the number of each row as one more column (`penstock.algebra.arrival`).

        None where records are not the rows of one source, made one by one: they have not its order.
        """

    @abstractmethod
    def lineage(self, column: str) -> tuple[Node, str] | None:
        """The input, and the column of it, that every value of a column is from, with its record.

        None where values are computed, or are from several inputs.
        """

    # --- how it is optimized ----------------------------------------------------------------------

    @abstractmethod
    def passes_filter(self, condition: Expr) -> tuple[Expr | None, ...] | None:
        """The conditions on each input, None for no condition, that do the same below the operator.

        Law: filter_p(op(S1, S2)) = op(filter_p1(S1), filter_p2(S2)). None where it must stay above.
        """

    @abstractmethod
    def passes_map(self, outputs: Outputs) -> tuple[Outputs | None, ...] | None:
        """What is computed from each input, None for nothing, where that does the same below.

        Law: map_f(op(S1, S2)) = op(map_f1(S1), map_f2(S2)). None where it must stay above.
        """

    @abstractmethod
    def narrow(self, names: set[str]) -> Node:
        """The result with at least these of its columns, in their order, and few others.

        Columns may go from below an operator that carries them along without looking at them. They
        must stay below one whose result depends on whole records.
        """

    # --- what time and punctuations close ---------------------------------------------------------

    @property
    @abstractmethod
    def progress(self) -> Offsets:
        """Columns c with k: what changes at a time t are records in which c is at least t + k."""

    @property
    @abstractmethod
    def ahead(self) -> Offsets:
        """Columns c with k: in a record that comes at a time t, c is at most t + k."""

    @abstractmethod
    def with_closing(self) -> Node:
        """The operator told when time closes what it remembers, so that it can forget that."""

    @abstractmethod
    def closes(self, known: Known, kind: Kind) -> Expr | None:
        """From when on no record of which this is known is gained, lost, or either (`closing`)."""

    # --- what it remembers ------------------------------------------------------------------------

    @abstractmethod
    def cardinality(self, known: Cardinalities) -> Bound | None:
        """How many records are there at a time, at most.

        None where records stay for ever, and more of them come.
        """

    @abstractmethod
    def let_go(self) -> tuple[Expr | None, ...]:
        """From when on each part of what it remembers is needed no more, None for never.

        () where nothing that it remembers is let go for what punctuations say.
        """

    # --- what follows, for all of them ------------------------------------------------------------

    @cached_property
    def inputs(self) -> tuple[Node, ...]:
        found: list[Node] = []
        for field in fields(self):
            value = getattr(self, field.name)
            found += [value] if isinstance(value, Node) else []
            if isinstance(value, tuple):
                found += [item for item in value if isinstance(item, Node)]
        return tuple(found)

    def with_inputs(self, *inputs: Node) -> Self:
        """The same operation over other inputs; the same object over its own."""
        if all(new is old for new, old in zip(inputs, self.inputs, strict=True)):
            return self
        rest = iter(inputs)
        values: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Node):
                value = next(rest)
            elif isinstance(value, tuple):
                value = tuple(next(rest) if isinstance(item, Node) else item for item in value)
            values[field.name] = value
        return type(self)(**values)

    def replaced(self, **values: Any) -> Self:
        """The node with other values; the same object where they are its own."""
        if all(getattr(self, name) == value for name, value in values.items()):
            return self
        return replace(self, **values)

    def walk(self) -> list[Node]:
        """This node and all below it, inputs first, each once however many read it."""
        found: dict[int, Node] = {}

        def visit(node: Node) -> None:
            if id(node) not in found:
                for child in node.inputs:
                    visit(child)
                found[id(node)] = node

        visit(self)
        return list(found.values())

    @cached_property
    def source_names(self) -> frozenset[str]:
        """The streams and tables that are read."""
        return frozenset().union(*(source.source_names for source in self.inputs))

    def narrowed(self, needed: Iterable[str]) -> Node:
        """As `narrow`; at least one column stays, so that there are records to count."""
        return self.narrow(set(needed) or set(self.schema.names[:1]))

    def when_closed(self, known: Known, kind: Kind) -> Expr | None:
        """As `closes`, remembered: of a node that many read, the same is asked many times."""
        answers = self.__dict__.setdefault("_closing", {})
        question = (frozenset(known.exact.items()), frozenset(known.upper.items()), kind)
        if question not in answers:
            answers[question] = self.closes(known, kind)
        found: Expr | None = answers[question]
        return found

    # --- what they are said with ------------------------------------------------------------------

    def some_of(self, source: Node, column: str) -> tuple[Node, str] | None:
        """The lineage where records are some of an input's, perhaps with a column more."""
        return (source, column) if column in source.schema.names else None

    def require(self, condition: bool, problem: str) -> None:
        if not condition:
            raise PlanError(f"{type(self).__name__}: {problem}")

    def require_columns(self, names: tuple[str, ...], schema: pa.Schema) -> None:
        known = schema.names
        for name in names:
            self.require(name in known, f"no column {name!r}; there are {known}")
        self.require(len(set(names)) == len(names), f"a column is named twice in {names}")

    def require_until(self, until: Expr | None, schema: pa.Schema, names: Sequence[str]) -> None:
        """A time from which on what has these values can no longer change, said by simple means."""
        if until is not None:
            known = pa.schema([schema.field(name) for name in names])
            self.require_expr(until, known, pa.int64())
            self.require(expr.is_simple(until), f"until {until}: only simple expressions can be")

    def require_expr(self, expression: Expr, schema: pa.Schema, kind: pa.DataType) -> None:
        expr.check_columns(expression, schema, type(self).__name__)
        found = expression.type
        self.require(found == kind, f"{expression} is {found}, expected {kind}")


@dataclass(frozen=True)
class OneInput(Node, base=True):
    """A node whose records are those of its one input."""

    input: Node

    @property
    def schema(self) -> pa.Schema:
        return self.input.schema


def listed(word: str, names: tuple[str, ...]) -> list[str]:
    """The names after a word, as a part of a description; nothing where there are none."""
    return [f"{word} {', '.join(names)}"] if names else []


def require_same_types(node: Node, first: pa.Schema, other: pa.Schema) -> None:
    node.require(
        list(first.types) == list(other.types),
        f"inputs differ: {list(zip(first.names, first.types, strict=True))} and "
        f"{list(zip(other.names, other.types, strict=True))}",
    )
