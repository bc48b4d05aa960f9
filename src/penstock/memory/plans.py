"""The verdict on a whole plan: its operators from the sources on, blocks as the theory has them.

An operator lets go of what is closed (`penstock.algebra.closing`). Where punctuations of streams
below it close what it keeps, it keeps no more than what is still open.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from penstock.algebra import plan as p
from penstock.algebra import sizes
from penstock.algebra.cardinality import Bound
from penstock.algebra.closing import Question, ends_needed, question, questions
from penstock.algebra.expr import CLOSED, EARLIEST, LATEST, Call, Expr
from penstock.memory import theory
from penstock.memory.blocks import Block, block_of
from penstock.memory.cardinality import PlanCardinalities
from penstock.memory.operators import Operators
from penstock.memory.query import Aggregate
from penstock.memory.report import OperatorVerdict
from penstock.memory.summaries import is_summarized, kept_of
from penstock.memory.values import ColumnAnalysis, Declared
from penstock.reasoning.products import named


def _punctuated(verdict: OperatorVerdict, node: p.Node, declared: Declared) -> OperatorVerdict:
    """The verdict on an operator, when punctuations are thought of."""
    if verdict.bounded:
        return verdict
    times = node.let_go()
    tables = {s.name for s in node.walk() if isinstance(s, p.Scan) and not s.is_stream}
    if not times or any(time is None or ends_needed(time) - tables for time in times):
        return verdict
    leaves = (leaf for time in times if time is not None for leaf in questions(time))
    asked = dict.fromkeys(
        _named(leaf) for leaf in leaves if leaf.columns and leaf.stream not in tables
    )
    if all(time is not None and _closed(time, declared, tables) for time in times):
        names = [leaf for leaf in asked if _is_closed(leaf, declared)]
        words = " and ".join(map(str, names))
        size = sizes.of("rows that are not closed yet")
        reason = f"Punctuations close {words}, and what is closed is let go."
        return replace(
            verdict, within=Bound(size, ("punctuation",)), because=reason, engine_keeps=None
        )
    missing = [leaf for leaf in asked if not _is_closed(leaf, declared)]
    words = " and ".join(map(str, missing))
    return replace(verdict, missing=f"Punctuations that close {words} would bound it.")


def _closed(time: Expr, declared: Declared, tables: set[str]) -> bool:
    """Whether a time comes, by what is declared of the streams."""
    match time:
        case Call(function, args) if function == EARLIEST:
            return any(_closed(arg, declared, tables) for arg in args)
        case Call(function, args) if function == LATEST:
            return all(_closed(arg, declared, tables) for arg in args)
        case Call(function) if function == CLOSED:
            leaf = _named(question(time))
            return leaf.stream in tables or _is_closed(leaf, declared)
        case Call("if", (_, *branches)):
            return all(_closed(branch, declared, tables) for branch in branches)
        case Call("+", (inner, _)):
            return _closed(inner, declared, tables)
    return False


def _named(leaf: Question) -> Question:
    """The same about columns as the query calls them."""
    return Question(named(leaf.stream), tuple(map(named, leaf.columns)), ())


def _is_closed(leaf: Question, declared: Declared) -> bool:
    return not declared.closing.get(leaf.stream, frozenset()).isdisjoint(leaf.columns)


def operators_of(plan: p.Node, declared: Declared) -> tuple[OperatorVerdict, ...]:
    """What each operator of a plan that keeps anything has to keep."""
    return tuple(dict.fromkeys(_PlanVerdicts(declared).verdicts(plan)))


class _PlanVerdicts:
    def __init__(self, declared: Declared) -> None:
        self._declared = declared
        self._columns = ColumnAnalysis(declared)
        self._operators = Operators(PlanCardinalities(self._columns))

    def verdicts(self, plan: p.Node) -> Iterator[OperatorVerdict]:
        """One operator at a time; together only where that shows more."""
        block = block_of(plan, self._declared, self._columns)
        own: list[OperatorVerdict] = []
        if block is not None:
            own = [v for v in map(self._verdict, reversed(block.nodes)) if v is not None]
        open_ones = [verdict for verdict in own if not verdict.bounded]
        if block is not None and (open_ones or is_summarized(plan)):
            together = theory.verdict_of(block, _label(own), _parts(plan, block))
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
        return verdict and _punctuated(verdict, node, self._declared)


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
