"""What runs, as short indented text: kernels in their rounds, and how rows come to them."""

from __future__ import annotations

from penstock.physical.kernel import Kernel
from penstock.physical.program import FromEdge, FromLane, FromOperator, Lane, Origin, Program


def outline(program: Program, view: str) -> str:
    """One line for each operator that keeps state or moves rows, what feeds it indented below."""
    return "\n".join(_lines(program, program.views[view], ""))


def _lines(program: Program, origin: Origin, moved: str) -> list[str]:
    match origin:
        case FromLane(name, whole):
            return [_lane(program.lanes[name], moved or (", to every task" if whole else ""))]
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
            kept = [area.name for area in work.areas] if isinstance(work, Kernel) else []
            keeps = f", keeps {_listed(kept)}" if kept else ""
            below = [line for o in place.origins for line in _lines(program, o, "")]
            first = f"{_name(work)} in round {place.round + 1}{keeps}{moved}"
            return [first, *(f"  {line}" for line in below)]


def _lane(lane: Lane, moved: str) -> str:
    """Rows are filtered, computed and ended when they arrive, and wait in a lane."""
    parts = []
    for branch in lane.branches:
        work = [str(condition) for condition in branch.conditions]
        work += [_name(transform) for transform in branch.validity]
        work += ["expressions in Spark"] if branch.computed else []
        parts.append(branch.source.name + (f" ({', '.join(work)})" if work else ""))
    spread = f" by {_listed(lane.area.key)}" if lane.area.key else ""
    return f"lane of {' and '.join(parts)}{spread}{moved}"


def _name(work: object) -> str:
    return type(work).__name__


def _listed(names: tuple[str, ...] | list[str]) -> str:
    return ", ".join(names)
