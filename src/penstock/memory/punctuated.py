"""What punctuations do for an operator: whose state they bound, and which would, if there were any.

An operator lets go of what is closed (`penstock.algebra.closing`). Where punctuations of streams
below it close what it keeps, it keeps no more than what is still open.
"""

from __future__ import annotations

from dataclasses import replace

from penstock.algebra import plan as p
from penstock.algebra import sizes
from penstock.algebra.cardinality import Bound
from penstock.algebra.closing import Question, ends_needed, question, questions
from penstock.algebra.expr import CLOSED, EARLIEST, LATEST, Call, Expr
from penstock.memory.outcome import OperatorVerdict
from penstock.memory.values import Declared, is_stream, named


def judged(verdict: OperatorVerdict, node: p.Node, declared: Declared) -> OperatorVerdict:
    """The verdict on an operator, when punctuations are thought of."""
    if verdict.bounded:
        return verdict
    times = node.let_go()
    tables = {s.name for s in node.walk() if isinstance(s, p.Scan) and not is_stream(s)}
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
