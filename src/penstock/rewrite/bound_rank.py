from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pyarrow as pa

from penstock.algebra.expr import Call, Column, Expr, conjuncts, substitute
from penstock.algebra.plan import Filter, Map, Node, Rank
from penstock.reasoning.implication import canonical, range_of
from penstock.rewrite.conditions import filtered


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
    found = range_of(canonical(part))
    if found is None or not _is_rank(found[0], number) or found[1].high is None:
        return None
    return int(found[1].high) - found[1].high_open


def _is_rank(expression: Expr, number: str | None) -> bool:
    match expression:
        case Column(name):
            return name == number
        case Call("cast", (arg,), kind) if pa.types.is_integer(kind):
            return _is_rank(arg, number)
    return False
