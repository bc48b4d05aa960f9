"""The verdict on a whole plan: its operators from the sources on, blocks as the theory has them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from penstock.algebra import plan as p
from penstock.memory import punctuated, theory
from penstock.memory.blocks import Block, block_of
from penstock.memory.extents import Extents
from penstock.memory.operators import Operators
from penstock.memory.outcome import OperatorVerdict
from penstock.memory.query import Aggregate
from penstock.memory.summaries import is_summarized, kept_of
from penstock.memory.values import Declared, Knowledge


def operators_of(plan: p.Node, declared: Declared) -> tuple[OperatorVerdict, ...]:
    """What each operator of a plan that keeps anything has to keep."""
    return tuple(dict.fromkeys(_Judge(declared).verdicts(plan)))


class _Judge:
    def __init__(self, declared: Declared) -> None:
        self._declared = declared
        self._knowledge = Knowledge(declared)
        self._operators = Operators(Extents(self._knowledge))

    def verdicts(self, plan: p.Node) -> Iterator[OperatorVerdict]:
        """One operator at a time; together only where that shows more."""
        block = block_of(plan, self._declared, self._knowledge)
        own: list[OperatorVerdict] = []
        if block is not None:
            own = [v for v in map(self._verdict, reversed(block.nodes)) if v is not None]
        open_ones = [verdict for verdict in own if not verdict.bounded]
        if block is not None and (open_ones or is_summarized(plan)):
            together = theory.judged(block, _label(own), _parts(plan, block))
            if together is not None and (together.bounded or not block.timed):
                missing = next((v.missing for v in open_ones if v.missing is not None), None)
                yield together if together.bounded else replace(together, missing=missing)
                return
        if open_ones:
            yield from own
            return
        for source in plan.inputs:
            yield from self.verdicts(source)
        verdict = self._verdict(plan)
        if verdict is not None:
            yield verdict

    def _verdict(self, node: p.Node) -> OperatorVerdict | None:
        verdict = self._operators.verdict(node)
        return verdict and punctuated.judged(verdict, node, self._declared)


def _parts(plan: p.Node, block: Block) -> tuple[tuple[Aggregate, ...], ...]:
    """The aggregates of a block by the summaries that are kept for them."""
    parts = kept_of(plan)
    if not isinstance(plan, p.Aggregate) or block.aggregates is None:
        return ((),) if parts else ()
    names = (call.name for call in plan.calls)
    aggregates = dict(zip(names, block.aggregates, strict=True))
    return tuple(tuple(aggregates[name] for name in part) for part in parts)


def _label(own: list[OperatorVerdict]) -> str:
    *below, last = (verdict.operator for verdict in own)
    return f"{last}, of {', '.join(reversed(below))}" if below else last
