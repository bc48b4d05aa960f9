"""Linear operators as source pipelines: what each source adds to them, in terms of the source's own
rows.

An operator that only transforms what comes from sources is a sum of source pipelines, one for each
way from a source to it. In a source pipeline all conditions and results are expressions over the
source's columns, so those that only Spark can evaluate can be, where the rows come in; what is left
is simple.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import pyarrow as pa

from penstock.algebra.codec import fingerprint
from penstock.algebra.expr import CLOSINGS, Call, Column, Expr, Literal, is_simple, substitute
from penstock.algebra.plan import Scan
from penstock.element import Elements
from penstock.physical.kernels.coalesce import Coalescing
from penstock.physical.kernels.combining import Combine
from penstock.physical.kernels.sync import ToPoints
from penstock.physical.lower import Operator
from penstock.physical.transforms import (
    End,
    EndOfDays,
    LocalTopK,
    Merge,
    Negate,
    PreAggregation,
    Project,
    Select,
    Stamp,
)

STAMP = "__stamp"
Validity: TypeAlias = (
    End | EndOfDays | Negate | Coalescing | PreAggregation | LocalTopK | Combine | ToPoints
)
"""What is done to records as they are: of some of them, or of all together."""


@dataclass(frozen=True)
class SourcePipeline:
    """The rows of a source that meet the conditions, ended as the windows say, as new records."""

    source: Scan
    outputs: Mapping[str, Expr]
    conditions: tuple[Expr, ...] = ()
    validity: tuple[Validity, ...] = ()
    computed: Mapping[str, Expr] = field(default_factory=dict)

    def run(self, rows: Elements) -> Elements:
        """What rows add; they have the source's columns and those that Spark computed."""
        x = Stamp(STAMP).apply(rows)
        for condition in self.conditions:
            x = Select(condition).apply(x)
        x = Project(tuple(self.outputs.items())).apply(x)
        for transform in self.validity:
            x = transform.apply(x)
        return x


def source_pipelines(operator: Operator) -> tuple[SourcePipeline, ...]:
    """The source pipelines of a linear operator, with what only Spark can compute set apart."""
    return tuple(_with_computed(pipeline) for pipeline in _source_pipelines(operator))


def _source_pipelines(operator: Operator) -> tuple[SourcePipeline, ...]:
    below = [pipeline for child in operator.inputs for pipeline in _source_pipelines(child)]
    match operator.work:
        case Scan() as scan:
            return (SourcePipeline(scan, {f.name: Column(f.name, f.type) for f in scan.schema}),)
        case Merge():
            return tuple(below)
        case Select(predicate):
            return tuple(
                replace(b, conditions=(*b.conditions, substitute(predicate, b.outputs)))
                for b in below
            )
        case Project(outputs):
            return tuple(
                replace(b, outputs={name: substitute(e, b.outputs) for name, e in outputs})
                for b in below
            )
        case Stamp(name):
            stamp = Column(STAMP, pa.int64())
            return tuple(replace(b, outputs={**b.outputs, name: stamp}) for b in below)
        case transform if isinstance(transform, Validity):
            return tuple(replace(b, validity=(*b.validity, transform)) for b in below)
    raise TypeError(f"{operator.work} keeps state; it runs in a step")


def _with_computed(pipeline: SourcePipeline) -> SourcePipeline:
    """Every expression that is not simple becomes a column, computed where rows come in.

    Of rows that an earlier condition leaves out it is NULL: on these it might fail.
    """
    computed: dict[str, Expr] = {}

    def column(expr: Expr, conditions: tuple[Expr, ...]) -> Expr:
        if is_simple(expr):
            return expr
        guarded = _only_where(conditions, expr)
        name = f"__x{fingerprint(guarded)}"
        computed[name] = guarded
        return Column(name, expr.type)

    given = pipeline.conditions
    conditions = tuple(column(condition, given[:i]) for i, condition in enumerate(given))
    outputs = {name: column(expr, given) for name, expr in pipeline.outputs.items()}
    return replace(pipeline, outputs=outputs, conditions=conditions, computed=computed)


def _only_where(conditions: tuple[Expr, ...], expr: Expr) -> Expr:
    """The expression where the conditions are true, as far as Spark can tell."""
    known = tuple(filter(_is_of_rows, conditions))
    if not known:
        return expr
    test = known[0] if len(known) == 1 else Call("and", known, pa.bool_())
    return Call("if", (test, expr, Literal(None, expr.type)), expr.type)


def _is_of_rows(expr: Expr) -> bool:
    """Whether it is of rows alone: no stamp, nothing that is closed or that a kernel looks up."""
    match expr:
        case Column(name):
            return name != STAMP
        case Call(function, args):
            return function not in CLOSINGS and all(map(_is_of_rows, args))
    return isinstance(expr, Literal)
