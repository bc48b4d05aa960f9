"""From a graph of operators to what tasks do: input buffers, stages and the edges between stages.

What is linear in the sources happens when rows arrive, and its results wait in *input buffers*,
spread as the first operator needs them. A step is then a few *stages*: in a stage each task runs
every operator whose rows it has, and only where rows must meet elsewhere do they travel, on an
*edge*, to a later stage. A join followed by a grouping on its key is one stage; so is any chain on
one key.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from typing import Any, Literal, TypeAlias

import pyarrow as pa

from penstock.algebra import codec
from penstock.algebra.expr import is_simple
from penstock.algebra.plan import Node
from penstock.kinds import kind_of
from penstock.physical.distribution import Key, satisfies
from penstock.physical.expiry import Strategy
from penstock.physical.expiry.planning import planned
from penstock.physical.lower import Graph, Operator
from penstock.physical.source_pipeline import SourcePipeline, source_pipelines
from penstock.physical.transforms import Project, Select
from penstock.state.run import StateTableSpec


@dataclass(frozen=True)
class InputBuffer:
    """Elements that were prepared when they arrived; the waiting room of an operator's input."""

    operator: Operator
    state_table: StateTableSpec

    @property
    def name(self) -> str:
        return self.state_table.name

    @cached_property
    def source_pipelines(self) -> tuple[SourcePipeline, ...]:
        return source_pipelines(self.operator)

    @property
    def sources(self) -> frozenset[str]:
        return frozenset(pipeline.source.name for pipeline in self.source_pipelines)


@dataclass(frozen=True)
class FromInputBuffer:
    """Input that waits in an input buffer; all of it in every task where it is `whole`."""

    input_buffer: str
    whole: bool = False


@dataclass(frozen=True)
class FromOperator:
    """Output of another operator in the same stage and task, by its place."""

    place: int


@dataclass(frozen=True)
class FromEdge:
    """Output of an earlier stage, which an edge has brought."""

    edge: int


Origin: TypeAlias = FromInputBuffer | FromOperator | FromEdge
Mode: TypeAlias = Literal["spread", "stay", "all", "spark"]


@dataclass(frozen=True)
class Edge:
    """Results of one operator on their way to a later stage.

    `partitioning`: to the task that owns their key; `stay`: to the same task; `all`: to every task.
    `spark`: to the same task, by way of a transform that only Spark can make.
    """

    number: int
    producer: int
    mode: Mode
    key: Key
    leaves: int
    arrives: int
    transform: Select | Project | None = None

    @property
    def moves(self) -> bool:
        return self.mode in ("spread", "all")


@dataclass(frozen=True)
class ScheduledOperator:
    """An operator, where its inputs come from, and in which stage it runs.

    The identity says what an operator computes, from the sources on: it names the operator's state,
    and is the same in every process and for every view that has the operator in it.
    """

    operator: Operator
    identity: str
    stage: int
    origins: tuple[Origin, ...]

    @cached_property
    def state_tables(self) -> dict[str, StateTableSpec]:
        """The state tables of the operator's state, by their names in the whole state.

        Until when rows matter is written with them; what is known later is told separately.
        """
        kernel = self.operator.kernel
        state_tables = kernel.state_tables if kernel is not None else ()
        return {
            self.state_table_name(state_table): replace(state_table, until=None)
            for state_table in state_tables
        }

    def state_table_name(self, state_table: StateTableSpec) -> str:
        return f"{kind_of(type(self.operator.work)).name} {self.identity}/{state_table.name}"


@dataclass(frozen=True)
class Program:
    """What tasks do. It is the same from step to step: a process that has had it reads it once."""

    places: tuple[ScheduledOperator, ...]
    input_buffers: Mapping[str, InputBuffer]
    edges: tuple[Edge, ...]
    views: Mapping[str, Origin]
    view_stages: Mapping[str, int]
    view_state_tables: Mapping[str, StateTableSpec]

    def __reduce__(self) -> tuple[Any, ...]:
        return _program, (self._pickled,)

    @cached_property
    def _pickled(self) -> bytes:
        return pickle.dumps([getattr(self, field.name) for field in fields(self)])

    @property
    def stages(self) -> int:
        return 1 + max((p.stage for p in self.places), default=0)

    def leaving(self, stage: int) -> list[Edge]:
        return [edge for edge in self.edges if edge.leaves == stage]

    def specs(self) -> dict[str, StateTableSpec]:
        """Every state table there is: of input buffers, of operators, of views."""
        found = {
            name: input_buffer.state_table for name, input_buffer in self.input_buffers.items()
        }
        for place in self.places:
            found |= place.state_tables
        for view, spec in self.view_state_tables.items():
            found |= {view_state_table(view): spec, base_state_table(view): spec}
        return found

    @cached_property
    def private(self) -> frozenset[str]:
        """The state tables that only steps read: of input buffers and of operators."""
        return frozenset(self.input_buffers).union(*(place.state_tables for place in self.places))


@lru_cache(maxsize=8)
def _program(pickled: bytes) -> Program:
    return Program(*pickle.loads(pickled))


def view_state_table(view: str) -> str:
    """The state table of what a view holds now."""
    return f"view {view}"


def view_spec(view: str, schema: pa.Schema, key: Key | None = None) -> StateTableSpec:
    """What a view holds: records, spread by its key or, without one, by all of their columns."""
    if key is not None:
        return StateTableSpec(view_state_table(view), schema, key)
    fixed = tuple(f.name for f in schema if pa.types.is_primitive(f.type))
    return StateTableSpec(view_state_table(view), schema, tuple(schema.names), hashed=fixed or None)


def base_state_table(view: str) -> str:
    """The state table of what a view held when its older changes were given up."""
    return f"base {view}"


def program_of(plan: Node, name: str = "", expiry: Strategy = "piggyback") -> Program:
    """The program of one plan by itself."""
    compiler = Compiler()
    compiler.add(name, plan, expiry=expiry)
    return compiler.program()


class Compiler:
    """Makes a program of views; one more costs no more than what only it needs."""

    def __init__(self, graph: Graph | None = None) -> None:
        self.graph = graph or Graph()
        self._roots: dict[str, Operator] = {}
        self._places: list[ScheduledOperator] = []
        self._place_of: dict[Operator, int] = {}
        self._input_buffers: dict[str, InputBuffer] = {}
        self._edges: dict[tuple[object, ...], Edge] = {}
        self._origins: dict[str, Origin] = {}
        self._stages: dict[str, int] = {}
        self._state_tables: dict[str, StateTableSpec] = {}

    def add(
        self,
        name: str,
        plan: Node,
        key: Key | None = None,
        expiry: Strategy = "piggyback",
        apart: bool = False,
    ) -> None:
        """One more view; what it has in common with others is theirs, too, unless it is apart."""
        graph = Graph(name) if apart else self.graph
        root = planned(graph, graph.lower(plan), expiry)
        self.put(name, root, view_spec(name, root.schema, key))

    def take(self, name: str, other: Compiler) -> None:
        """A view that another compiler has compiled for the same graph."""
        self.put(name, other.root(name), other.state_table(name))

    def put(self, name: str, root: Operator, state_table: StateTableSpec) -> None:
        """A view of what an operator gives."""
        self._roots[name] = root
        for operator in root.walk():
            if not operator.is_linear and operator not in self._place_of:
                self._put(operator)
        self._state_tables[name] = state_table
        if root.is_linear:
            self._origins[name] = self._input_buffer(root, tuple(root.schema.names))
            self._stages[name] = 0
        else:
            self._origins[name] = FromOperator(self._place_of[root])
            self._stages[name] = self._stage(root)

    @property
    def roots(self) -> dict[str, str]:
        """The views by the identities of what gives them; the first one where several are equal."""
        return {root.identity: name for name, root in reversed(self._roots.items())}

    def root(self, view: str) -> Operator:
        return self._roots[view]

    def state_table(self, view: str) -> StateTableSpec:
        return self._state_tables[view]

    def program(self) -> Program:
        """Of the views so far."""
        return Program(
            tuple(self._places),
            dict(self._input_buffers),
            tuple(self._edges.values()),
            dict(self._origins),
            dict(self._stages),
            dict(self._state_tables),
        )

    def _put(self, operator: Operator) -> None:
        if self._is_sparks(operator.work):
            self._put_sparks(operator)
            return
        keys = self._keys(operator)
        stage = max(
            (
                self._stage(child) + self._must_move(child, key)
                for child, key in zip(operator.inputs, keys, strict=True)
                if not child.is_linear
            ),
            default=0,
        )
        origins = tuple(
            self._origin(child, key, stage)
            for child, key in zip(operator.inputs, keys, strict=True)
        )
        self._place_of[operator] = len(self._places)
        self._places.append(ScheduledOperator(operator, operator.identity, stage, origins))

    def _put_sparks(self, operator: Operator) -> None:
        """A transform with functions of Spark is made on the way to a next stage."""
        (child,) = operator.inputs
        stage = self._stage(child) + 1
        edge = self._edge(child, "spark", (), stage, operator.work)
        self._place_of[operator] = len(self._places)
        self._places.append(ScheduledOperator(operator, operator.identity, stage, (edge,)))

    def _is_sparks(self, work: object) -> bool:
        match work:
            case Select(predicate):
                return not is_simple(predicate)
            case Project(outputs):
                return not all(is_simple(expr) for _, expr in outputs)
        return False

    def _keys(self, operator: Operator) -> Sequence[Key | Literal["any"] | None]:
        """How each input is to be spread; `any` where it does not matter."""
        if operator.kernel is not None:
            return operator.kernel.partition_by[: len(operator.inputs)]
        return ["any"] * len(operator.inputs)

    def _must_move(self, child: Operator, key: Key | Literal["any"] | None) -> bool:
        return key is None or (key != "any" and not satisfies(child.partitioning, key))

    def _origin(self, child: Operator, key: Key | Literal["any"] | None, stage: int) -> Origin:
        if child.is_linear:
            chosen = key if key is not None and key != "any" else tuple(child.schema.names)
            return self._input_buffer(child, chosen, whole=key is None)
        if self._must_move(child, key):
            mode: Mode = "all" if key is None else "spread"
            return self._edge(child, mode, key if isinstance(key, tuple) else (), stage)
        if self._stage(child) < stage:
            return self._edge(child, "stay", (), stage)
        return FromOperator(self._place_of[child])

    def _input_buffer(self, operator: Operator, key: Key, whole: bool = False) -> FromInputBuffer:
        name = f"lane {codec.fingerprint((operator.identity, key))}"
        self._input_buffers[name] = InputBuffer(
            operator, StateTableSpec(name, operator.schema, key, order="time")
        )
        return FromInputBuffer(name, whole)

    def _edge(
        self, child: Operator, mode: Mode, key: Key, stage: int, work: object = None
    ) -> FromEdge:
        place = self._place_of[child]
        transform = work if isinstance(work, Select | Project) else None
        edge = Edge(len(self._edges), place, mode, key, self._stage(child), stage, transform)
        return FromEdge(self._edges.setdefault((place, mode, key, stage, transform), edge).number)

    def _stage(self, operator: Operator) -> int:
        return self._places[self._place_of[operator]].stage
