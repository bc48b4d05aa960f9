"""Plans run in this process, step by step: a host for kernels without Spark.

The host brings what kernels do not know: which input is complete up to when, where state lives, and
when to compact it.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
import pyarrow as pa

from penstock.algebra import plan as p
from penstock.algebra.arrival import FIELD, SEQUENCE
from penstock.element import BEGIN, Elements
from penstock.physical.closing import Said, answered, reviewed
from penstock.physical.expiry import Strategy
from penstock.physical.expiry.planning import planned
from penstock.physical.kernel import Kernel, Write
from penstock.physical.kernels.sync import ToPoints
from penstock.physical.lower import Graph, Operator
from penstock.state.compaction import choose, merge
from penstock.state.run import Run, StateTableSpec, sorted_run
from penstock.state.state_table import StateTable
from penstock.state.store import ByteRange, RunReference

_INPUT_BUFFER = "lane"


class Store(Protocol):
    """Writes, opens and deletes runs."""

    def write(self, run: Run) -> RunReference: ...
    def open(self, spec: StateTableSpec, ref: RunReference) -> Run: ...
    def delete(self, ref: RunReference) -> None: ...


class MemoryStore:
    """Runs that are kept in memory, for tests of kernels."""

    def __init__(self) -> None:
        self._runs: dict[str, Run] = {}

    def write(self, run: Run) -> RunReference:
        ref = RunReference(uuid.uuid4().hex, ByteRange(), ByteRange(), run.statistics)
        self._runs[ref.name] = run
        return ref

    def open(self, spec: StateTableSpec, ref: RunReference) -> Run:
        return self._runs[ref.name]

    def delete(self, ref: RunReference) -> None:
        del self._runs[ref.name]


@dataclass
class StoredStateTable:
    """A state table as the host keeps it: references to runs, and from when on rows matter."""

    spec: StateTableSpec
    refs: list[RunReference] = field(default_factory=list)
    frontier: int = BEGIN

    def open(self, store: Store) -> StateTable:
        return StateTable(
            self.spec, tuple(store.open(self.spec, r) for r in self.refs), self.frontier
        )

    def append(self, store: Store, write: Write, w1: int) -> None:
        self.frontier = max(self.frontier, w1 if write.frontier is None else write.frontier)
        if len(write.elements):
            self.refs.append(store.write(sorted_run(self.spec, write.elements, write.keep)))

    def compact(self, store: Store, spec: StateTableSpec) -> None:
        refs, closing = self.refs, spec.until is not None
        for chosen in choose([ref.statistics for ref in refs], self.frontier, closing):
            old = [refs[i] for i in chosen]
            merged = merge(spec, [store.open(spec, ref) for ref in old], self.frontier)
            self.refs = [ref for ref in self.refs if ref not in old]
            if len(merged):
                self.refs.append(store.write(merged))
            for ref in old:
                store.delete(ref)


class LocalPipeline:
    """Runs one plan. `step` takes the complete input of `[frontier, w1)` and gives the output.

    `results` is what each operator gave in the last step.
    """

    def __init__(
        self, plan: p.Node, store: Store | None = None, expiry: Strategy = "piggyback"
    ) -> None:
        graph = Graph()
        self.root = planned(graph, graph.lower(plan), expiry)
        self.frontier = BEGIN
        self._arrived = Counter[int]()
        self.store = store or MemoryStore()
        self.results: dict[Operator, Elements] = {}
        self._operators = list(self.root.walk())
        self.state_tables: dict[tuple[int, str], StoredStateTable] = {
            (i, spec.name): StoredStateTable(spec)
            for i, operator in enumerate(self._operators)
            for spec in _state_tables(operator)
        }

    def step(self, inputs: Mapping[str, Elements], w1: int, said: Said | None = None) -> Elements:
        self.results = results = dict[Operator, Elements]()
        for i, operator in enumerate(self._operators):
            given = [results[child] for child in operator.inputs]
            results[operator] = self._run(i, operator, given, inputs, w1, said or {})
        self.frontier = w1
        return results[self.root]

    def _arriving(self, scan: int, rows: Elements | None, schema: pa.Schema) -> Elements:
        """What came of a source, with the order in which it came where an operator asks for it."""
        if rows is None:
            return Elements.empty(schema)
        if SEQUENCE not in schema.names:
            return rows
        first = self._arrived[scan]
        self._arrived[scan] += len(rows)
        return _numbered(rows, first)

    def _run(
        self,
        i: int,
        operator: Operator,
        given: list[Elements],
        inputs: Mapping[str, Elements],
        w1: int,
        said: Said,
    ) -> Elements:
        match operator.work:
            case p.Scan(name):
                return self._arriving(i, inputs.get(name), operator.schema)
            case Kernel() as asking:
                kernel = answered(asking, said)
                specs = {spec.name: reviewed(spec) for spec in kernel.state_tables}
                opened = {name: self.state_tables[i, name].open(self.store) for name in specs}
                result = kernel.step(opened, given, self.frontier, w1)
                for name, write in result.writes.items():
                    self.state_tables[i, name].append(self.store, write, w1)
                for name, spec in specs.items():
                    self.state_tables[i, name].compact(self.store, spec)
                return result.out.plain()
            case ToPoints() as transform:
                input_buffer = self.state_tables[i, _INPUT_BUFFER]
                input_buffer.append(self.store, Write(transform.apply(*given)), self.frontier)
                due = input_buffer.open(self.store).begun_between(self.frontier, w1)
                input_buffer.frontier = w1
                input_buffer.compact(self.store, input_buffer.spec)
                return due
            case transform:
                return transform.apply(*given)


def _numbered(rows: Elements, first: int) -> Elements:
    """The rows with their numbers in the order of arrival."""
    numbers = pa.array(np.arange(first, first + len(rows)), FIELD.type)
    return replace(rows, schema=rows.schema.append(FIELD), columns=(*rows.columns, numbers))


def _state_tables(operator: Operator) -> tuple[StateTableSpec, ...]:
    """Where an operator keeps its state, or rows wait for their time."""
    if isinstance(operator.work, ToPoints):
        return (
            StateTableSpec(
                _INPUT_BUFFER, operator.schema, tuple(operator.schema.names), order="time"
            ),
        )
    return operator.kernel.state_tables if operator.kernel is not None else ()
