"""Unions answered from a view that is one: where the same is left to do with each of its parts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

from penstock.algebra import plan as p
from penstock.algebra.expr import Column
from penstock.sharing.answering import answered
from penstock.sharing.form import Forms
from penstock.sharing.matching import NoMatchError

_MOST_PARTS = 4


def answered_union(query: p.Union, view: p.Node, leaf: p.Node, forms: Forms) -> p.Node | None:
    """The query over the view; None where it is not known to be the same."""
    parts = _parts(view)
    if parts is None or len(parts) != len(query.parts) or len(parts) > _MOST_PARTS:
        return None
    for order in permutations(parts):
        found = [_answered(q, v, leaf, forms) for q, v in zip(query.parts, order, strict=True)]
        first = found[0]
        if first is not None and _linear(first) and all(_same(first, other) for other in found):
            return first
    return None


def _parts(view: p.Node) -> tuple[p.Node, ...] | None:
    """The parts of a union, with what is done to all of it done to each."""
    match view:
        case p.Union(parts):
            names = view.schema.names
            return tuple(_named(part, names) for part in parts)
        case p.Filter(source) | p.Map(source):
            below = _parts(source)
            return None if below is None else tuple(view.with_inputs(part) for part in below)
    return None


def _named(part: p.Node, names: Sequence[str]) -> p.Node:
    fields = zip(names, part.schema, strict=True)
    return p.Map(part, tuple((name, Column(f.name, f.type)) for name, f in fields))


def _answered(query: p.Node, view: p.Node, leaf: p.Node, forms: Forms) -> p.Node | None:
    try:
        return answered(forms.of(query), forms.of(view), leaf, forms.identities)
    except NoMatchError:
        return None


def _linear(plan: p.Node) -> bool:
    """Whether what is done to a union is done to its parts."""
    kinds = (p.Map, p.Filter, p.Restrict, p.Scan)
    return all(isinstance(node, kinds) for node in plan.walk())


def _same(plan: p.Node, other: p.Node | None) -> bool:
    """Whether the same is done, whatever the columns of the result are called."""
    match plan, other:
        case p.Map(a, outputs), p.Map(b, others):
            return a == b and [e for _, e in outputs] == [e for _, e in others]
    return False
