"""What runs, as short indented text: kernels in their stages, and how rows come to them."""

from __future__ import annotations

from penstock.physical.kernel import Kernel
from penstock.physical.program import (
    FromEdge,
    FromInputBuffer,
    FromOperator,
    InputBuffer,
    Origin,
    Program,
)


def outline(program: Program, view: str) -> str:
    """One line for each operator that keeps state or moves rows, what feeds it indented below."""
    return "\n".join(_lines(program, program.views[view], ""))


def _lines(program: Program, origin: Origin, moved: str) -> list[str]:
    match origin:
        case FromInputBuffer(name, whole):
            return [
                _input_buffer(
                    program.input_buffers[name], moved or (", to every task" if whole else "")
                )
            ]
        case FromEdge(number):
            edge = program.edges[number]
            words = {
                "spread": f", exchanged by {_listed(edge.key)}" if edge.key else ", to one task",
                "all": ", to every task",
                "spark": f", {_name(edge.transform)} in Spark",
                "stay": "",
            }
            return _lines(program, FromOperator(edge.producer), words[edge.mode])
        case FromOperator(number):
            place = program.places[number]
            work = place.operator.work
            kept = (
                [state_table.name for state_table in work.state_tables]
                if isinstance(work, Kernel)
                else []
            )
            keeps = f", keeps {_listed(kept)}" if kept else ""
            below = [line for o in place.origins for line in _lines(program, o, "")]
            first = f"{_name(work)} in stage {place.stage + 1}{keeps}{moved}"
            return [first, *(f"  {line}" for line in below)]


def _input_buffer(input_buffer: InputBuffer, moved: str) -> str:
    """Rows are filtered, computed and ended when they arrive, and wait in an input buffer."""
    parts = []
    for pipeline in input_buffer.source_pipelines:
        work = [str(condition) for condition in pipeline.conditions]
        work += [_name(transform) for transform in pipeline.validity]
        work += ["expressions in Spark"] if pipeline.computed else []
        parts.append(pipeline.source.name + (f" ({', '.join(work)})" if work else ""))
    partitioning = (
        f" by {_listed(input_buffer.state_table.key)}" if input_buffer.state_table.key else ""
    )
    return f"input buffer of {' and '.join(parts)}{partitioning}{moved}"


def _name(work: object) -> str:
    return type(work).__name__


def _listed(names: tuple[str, ...] | list[str]) -> str:
    return ", ".join(names)
