from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pyarrow as pa

from penstock.algebra.expr import Call, Column, Expr, Literal, conjuncts, substitute
from penstock.algebra.plan import Filter, Map, Node, Rank
from penstock.rewrite.conditions import filtered

_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<=>": "<=>"}


def bound_rank(node: Node) -> Node | None:
    """filter_(number <= k and p)(rank(S)) = filter_p(rank_k(S)), where the rank is a column.

    Ranks up to k do not depend on how far others are counted. A condition `number = k` bounds the
    rank as well, and stays to be met; so does a bound below 1, which no rank meets. A filter above
    a map that shows the rank, as another type of integer perhaps, bounds it and stays there.
    """
    match node:
        case Filter(Rank() as rank, predicate):
            parts = conjuncts(predicate)
            bounded = _bounded(rank, parts, {})
            needed = tuple(part for part in parts if not _is_implied(part, bounded))
            if bounded is not rank or len(needed) < len(parts):
                return filtered(bounded, needed)
        case Filter(Map(Rank() as rank, outputs) as below, predicate):
            bounded = _bounded(rank, conjuncts(predicate), dict(outputs))
            if bounded is not rank:
                return replace(node, input=replace(below, input=bounded))
    return None


def _bounded(rank: Rank, parts: tuple[Expr, ...], outputs: Mapping[str, Expr]) -> Rank:
    found = (_greatest(substitute(part, outputs), rank.number) for part in parts)
    limits = [max(k, 1) for k in found if k is not None]
    least = min(limits, default=None)
    if least is None or (rank.limit is not None and rank.limit <= least):
        return rank
    return replace(rank, limit=least)


def _is_implied(part: Expr, rank: Rank) -> bool:
    match part:
        case Call("=" | "<=>"):
            return False
    greatest = _greatest(part, rank.number)
    return greatest is not None and rank.limit is not None and greatest >= rank.limit


def _greatest(part: Expr, number: str | None) -> int | None:
    """The greatest rank of which the condition is true, if it sets a bound."""
    match part:
        case Call(operator, (left, right)) if operator in _TURNED:
            if _is_rank(right, number):
                operator, left, right = _TURNED[operator], right, left
            k = _constant(right)
            if k is not None and _is_rank(left, number):
                return {"<": k - 1, "<=": k, "=": k, "<=>": k}.get(operator)
    return None


def _is_rank(expression: Expr, number: str | None) -> bool:
    match expression:
        case Column(name):
            return name == number
        case Call("cast", (arg,), kind) if pa.types.is_integer(kind):
            return _is_rank(arg, number)
    return False


def _constant(expression: Expr) -> int | None:
    match expression:
        case Literal(int(value), kind) if pa.types.is_integer(kind):
            return value
        case Call("cast", (arg,), kind) if pa.types.is_integer(kind):
            return _constant(arg)
    return None
