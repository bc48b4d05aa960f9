"""Jobs in this process, which ask Spark only for what Spark alone can evaluate.

A stage asks Spark once, for all of its operators, and not at all where they leave nothing to it:
many small sessions run in the time that starting Python workers takes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa

from penstock import record
from penstock.algebra.expr import Column, Expr, columns, substitute
from penstock.element import Elements, concat
from penstock.execution.expressions import with_columns
from penstock.execution.task import Report, StageTask, StepSpec
from penstock.ingest.sources import Ingest, IngestReport
from penstock.physical.program import Edge
from penstock.physical.transforms import Project, Select
from penstock.runtime.jobs import store_of
from penstock.testing.engine_runs import LocalJobs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Sent: TypeAlias = dict[int, dict[int, list[Elements]]]
"""Elements by the task they go to, and by their edge."""
Asked: TypeAlias = tuple[Expr, Mapping[str, pa.Array], int]
"""An expression, the columns it may read, and how many rows there are; there may be no column."""

SETTINGS = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.leafNodeDefaultParallelism": "1",
}


class DriverJobs(LocalJobs):
    """Runs stages here, one task after another, and transforms of Spark in Spark."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark.newSession()
        for name, value in SETTINGS.items():
            self._spark.conf.set(name, value)

    def step(self, spec: StepSpec) -> list[Report]:
        store, program = store_of(spec.directory), spec.program
        store.forget(ref for state_table in spec.state_tables.values() for ref in state_table.refs)
        arrived: Sent = {}
        reports = []
        lost: set[int] = set()
        for stage in range(program.stages):
            known = frozenset(lost)
            sent: Sent = defaultdict(lambda: defaultdict(list))
            for task in range(spec.tasks):
                work = StageTask(spec, stage, task, store)
                report, leaving = work.run(arrived.get(task, {}), known)
                lost |= work.lost
                reports.append(report)
                for number, by_task in leaving.items():
                    for receiver, x in by_task.items():
                        sent[receiver][number].append(x)
            edges = [edge for edge in program.leaving(stage) if edge.mode == "spark"]
            self._transform(edges, sent)
            arrived = sent
        return reports

    def ingest(self, rows: pa.Table, ingest: Ingest, directory: Path) -> IngestReport:
        return super().ingest(
            self.with_computed(rows, ingest.computed, directory), ingest, directory
        )

    def with_computed(
        self, rows: pa.Table, computed: Mapping[str, Expr], directory: Path
    ) -> pa.Table:
        known = {name: rows.column(name).combine_chunks() for name in rows.schema.names}
        asked = [(expr, known, rows.num_rows) for expr in computed.values()]
        for name, values in zip(computed, self._values(asked), strict=True):
            rows = rows.append_column(name, values)
        return rows

    def _transform(self, edges: Iterable[Edge], sent: Sent) -> None:
        """Put what Spark makes of the elements on some edges in their place."""
        given = [
            (task, edge, concat(by_edge[edge.number][0].schema, by_edge[edge.number]))
            for task, by_edge in sent.items()
            for edge in edges
            if by_edge[edge.number]
        ]
        values = iter(
            self._values(
                [
                    (expr, dict(zip(x.schema.names, x.columns, strict=True)), len(x))
                    for _, edge, x in given
                    for expr in _expressions(edge)
                ]
            )
        )
        for task, edge, x in given:
            found = [next(values) for _ in _expressions(edge)]
            if isinstance(edge.transform, Project):
                made = replace(x, schema=edge.transform.schema(), columns=tuple(found))
            else:
                made = x.where(record.numpy(found[0].fill_null(False)))
            sent[task][edge.number] = [made]

    def _values(self, asked: Sequence[Asked]) -> list[pa.Array]:
        """Expressions, each over columns of its own, side by side in one question to Spark.

        Spark evaluates them while it plans, and collects rows that it has at hand without a job.
        Types whose values Spark and Arrow show as different objects of Python are not for this.
        """
        rows = max((length for *_, length in asked), default=0)
        if not rows:
            return [pa.array([], expr.type) for expr, *_ in asked]
        from pyspark.sql.pandas.types import from_arrow_schema

        sent: dict[str, pa.Array] = {}
        questions: dict[str, Expr] = {}
        for i, (expr, known, _) in enumerate(asked):
            names = {name: f"c{i}_{j}" for j, name in enumerate(sorted(columns(expr)))}
            for name, place in names.items():
                missing = pa.nulls(rows - len(known[name]), known[name].type)
                sent[place] = pa.concat_arrays([known[name], missing])
            places = {name: Column(place, known[name].type) for name, place in names.items()}
            questions[f"v{i}"] = substitute(expr, places)
        sent = sent or {"one": pa.repeat(1, rows)}
        table = pa.table(sent)
        given = self._spark.createDataFrame(table, from_arrow_schema(table.schema))
        answer = with_columns(given, questions, self._spark).select(*questions).collect()
        return [
            pa.array([row[i] for row in answer[:length]], expr.type)
            for i, (expr, _, length) in enumerate(asked)
        ]


def _expressions(edge: Edge) -> list[Expr]:
    match edge.transform:
        case Select(predicate):
            return [predicate]
        case Project(outputs):
            return [expr for _, expr in outputs]
    return []
