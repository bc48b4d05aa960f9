from __future__ import annotations

from dataclasses import replace
from itertools import count

import pyarrow as pa

from penstock.algebra.expr import Call, Column, Expr, Literal, columns, compare, is_simple
from penstock.algebra.plan import Aggregate, Filter, Group, Map, Node, Union, project


def merge_grouped_aggregates(node: Node) -> Node | None:
    """The union over j of aggregate_K(group_(f,j)(S)) is aggregate_(f,K)(S), projected to K.

    More precisely, over those records of S whose f is one of the indexes j. The indexes must differ
    and K must not be empty: an aggregate without keys has a record also for an empty group, which
    an aggregate by f does not have. Where f reads only K, it adds nothing to the keys. A time from
    which on no group of any j changes is one for the groups together.
    """
    match node:
        case Union(parts):
            for first in parts:
                alike = [part for part in parts if _nameless(part) == _nameless(first)]
                indexes = [i for part in alike if (i := _index(part)) is not None]
                if len(indexes) > 1 and len(set(indexes)) == len(indexes):
                    rest = (part for part in parts if part == first or part not in alike)
                    merged = _merged(first, indexes)
                    return Union(tuple(merged if part == first else part for part in rest))
    return None


def _nameless(part: Node) -> Node:
    """A group's aggregate without what may differ: the index, and the names of the results."""
    match part:
        case Aggregate(Group() as group, keys, calls) if keys:
            unnamed = tuple(replace(call, name=f"call {i}") for i, call in enumerate(calls))
            return replace(part, input=replace(group, index=0), calls=unnamed)
    return part


def _index(part: Node) -> int | None:
    match part:
        case Aggregate(Group(index=index), keys) if keys:
            return index
    return None


def _merged(part: Node, indexes: list[int]) -> Node:
    match part:
        case Aggregate(Group(source, function), keys):
            if columns(function) <= set(keys) and is_simple(function):
                return replace(part, input=Filter(source, _is_one_of(function, indexes)))
            schema, taken = source.schema, {*source.schema.names, *part.schema.names}
            group = next(name for i in count() if (name := f"group{i}") not in taken)
            columns_and_group = (*project(source, schema.names).outputs, (group, function))
            assigned = Map(source, columns_and_group)
            chosen = Filter(assigned, _is_one_of(Column(group, function.type), indexes))
            merged = replace(part, input=chosen, keys=(group, *keys))
            return project(merged, part.schema.names)
    raise NotImplementedError(type(part).__name__)


def _is_one_of(expression: Expr, values: list[int]) -> Expr:
    equal = tuple(compare("=", expression, Literal(value, expression.type)) for value in values)
    return Call("or", equal, pa.bool_())
