"""For each rule, random plans of the shape that it is about; of what asks operators, for each.

The plans are also of shapes close by, to which the rule must not apply: a rule that forgets its
precondition is then caught by the snapshots.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import TypeAlias

import pyarrow as pa

from penstock.algebra import expr as ex
from penstock.algebra import plan as p
from penstock.testing.random_expressions import random_expression
from penstock.testing.random_plans import Plans

Pattern: TypeAlias = Callable[[Plans], p.Node]
Maker: TypeAlias = Callable[[Plans, p.Node], p.Node]

TRUE = ex.Literal(True, pa.bool_())


def some(plans: Plans) -> p.Node:
    return plans.plan(plans.rng.choice((0, 0, 1)))


def log(plans: Plans) -> p.Node:
    return plans.plan(plans.rng.choice((0, 0, 1)), append_only=True)


def any_two(plans: Plans) -> p.Node:
    return plans.plan(2)


def join(plans: Plans, kind: p.JoinKind | None = None) -> p.Join:
    return plans.join(some(plans), some(plans), kind)


def thin_join(plans: Plans) -> p.Join:
    """A join of one column each, so that whole records are NULL, and padded ones may be equal."""
    left, right = (plans.scan(), plans.scan())
    return plans.join(p.project(left, ["a"]), p.project(right, ["a"]))


def join_of_sets(plans: Plans) -> p.Join:
    node = thin_join(plans)
    return replace(node, left=p.Distinct(node.left), right=p.Distinct(node.right))


def filtered_rank(plans: Plans) -> p.Node:
    """A filter with conditions on the rank, below, at and above what there is."""
    below = replace(plans.rank(some(plans)), number="rank")
    shown: p.Node = below
    if plans.rng.random() < 0.3:
        rank = ex.cast(ex.Column("rank", pa.int64()), pa.int32())
        shown = p.Map(below, (("n", rank), *p.project(below, below.schema.names).outputs))
    parts = list(ex.conjuncts(plans.predicate(shown))) if plans.rng.random() < 0.5 else []
    for _ in range(plans.rng.randint(1, 2)):
        field = plans.rng.choice([f for f in shown.schema if f.name in ("rank", "n")])
        sides: list[ex.Expr] = [ex.Column(field.name, field.type)]
        sides.append(ex.Literal(plans.rng.randint(-1, 4), field.type))
        plans.rng.shuffle(sides)
        parts.append(ex.compare(plans.rng.choice(ex.COMPARISONS), *sides))
    return p.Filter(shown, ex.conjunction(tuple(parts)))


def wide_or_thin_join(plans: Plans) -> p.Join:
    return plans.rng.choice((join, thin_join))(plans)


def union(plans: Plans) -> p.Union:
    return plans.union(*(some(plans) for _ in range(plans.rng.randint(1, 3))))


def set_operation(plans: Plans) -> p.SetOperation:
    return plans.set_operation(some(plans), some(plans))


def sync(plans: Plans) -> p.Sync:
    return plans.sync(some(plans), *plans.rng.choice(((), (some(plans),))))


def over(make: Maker, source: Pattern = some) -> Pattern:
    return lambda plans: make(plans, source(plans))


def filtered(below: Pattern) -> Pattern:
    return lambda plans: plans.filter(below(plans))


def filtered_on(names: Callable[[p.Node], Collection[str]], below: Pattern) -> Pattern:
    """A filter with a part that reads only certain columns, and sometimes another part."""

    def made(plans: Plans) -> p.Node:
        source = below(plans)
        part = plans.predicate_on(source, tuple(names(source)))
        parts = [plans.rng.choice((part, ex.Call("coalesce", (part, TRUE), pa.bool_())))]
        if plans.rng.random() < 0.7:
            parts.insert(plans.rng.randint(0, 1), plans.predicate(source))
        return p.Filter(source, ex.conjunction(tuple(parts)))

    return made


def mapped(below: Pattern) -> Pattern:
    return lambda plans: plans.map(below(plans))


def partition(node: p.Node) -> tuple[str, ...]:
    assert isinstance(node, p.Rank | p.RowWindow | p.Session)
    return node.partition


def keys(node: p.Node) -> tuple[str, ...]:
    assert isinstance(node, p.Aggregate)
    return node.keys


def key(node: p.Node) -> tuple[str, ...]:
    assert isinstance(node, p.Upsert)
    return node.key


def one_side(node: p.Node) -> list[str]:
    """The columns of that side of a join which most of its results show unpadded."""
    assert isinstance(node, p.Join)
    return list((node.right if node.kind == "right" else node.left).schema.names)


def trivial_filter(plans: Plans) -> p.Node:
    source = some(plans)
    parts = [*ex.conjuncts(plans.predicate(source)), TRUE]
    parts.append(plans.rng.choice(parts))
    return p.Filter(source, ex.conjunction(tuple(parts[plans.rng.randint(0, 2) :])))


def filtered_outer_join(plans: Plans) -> p.Node:
    """A filter that is not true of records padded on one side, as a comparison reads it."""
    below = join(plans, plans.rng.choice(("left", "right", "full")))
    side = plans.rng.choice((below.left, below.right))
    field = plans.rng.choice(list(side.schema))
    other = plans.rng.choice([f for f in below.schema if f.type == field.type])
    column = ex.Column(field.name, field.type)
    strict = plans.rng.choice([operator for operator in ex.COMPARISONS if operator != "<=>"])
    compared = ex.compare(strict, column, ex.Column(other.name, other.type))
    known = ex.Call("not", (ex.Call("is null", (column,), pa.bool_()),), pa.bool_())
    parts = (plans.rng.choice((compared, known)), plans.predicate(below))
    return p.Filter(below, ex.Call(plans.rng.choice(("and", "or")), parts, pa.bool_()))


def join_where_one_side(plans: Plans) -> p.Node:
    below = join(plans)
    side = plans.rng.choice((below.left, below.right))
    return and_where(below, plans.predicate_on(side, plans.columns(side)))


def join_where_equal(plans: Plans) -> p.Node:
    below = join(plans)
    pairs = [(a, b) for a in below.left.schema for b in below.right.schema if a.type == b.type]
    if not pairs:
        return below
    sides = [ex.Column(field.name, field.type) for field in plans.rng.choice(pairs)]
    plans.rng.shuffle(sides)
    return and_where(below, ex.compare(plans.rng.choice(("=", "<=>")), *sides))


def join_of_filtered(plans: Plans) -> p.Node:
    """A join of which one side meets a condition on a column that is equal to one of the other."""
    below = join(plans)
    if not below.on:
        return below
    equality = plans.rng.choice(below.on)
    if plans.rng.random() < 0.5:
        part = plans.predicate_on(below.left, (equality.left,))
        return replace(below, left=p.Filter(below.left, part))
    part = plans.predicate_on(below.right, (equality.right,))
    return replace(below, right=p.Filter(below.right, part))


def and_where(node: p.Join, part: ex.Expr) -> p.Join:
    rest = ex.conjuncts(node.where) if node.where is not None else ()
    return replace(node, where=ex.conjunction((part, *rest)))


def distinct_set(plans: Plans) -> p.Node:
    """Distinct over what may be a set: sets as such, and nodes over them."""

    def a_set(plans: Plans) -> p.Node:
        make = plans.rng.choice((Plans.distinct, Plans.aggregate, Plans.upsert, Plans.row_window))
        return make(plans, log(plans))

    def window_of_set(plans: Plans) -> p.Node:
        return plans.rng.choice((Plans.window, Plans.session))(plans, p.Distinct(log(plans)))

    def over_sets(plans: Plans) -> p.Node:
        unary = (Plans.filter, Plans.rank, Plans.restrict, Plans.sync, Plans.group, Plans.changes)
        binary = (Plans.join, Plans.set_operation, Plans.union)
        if plans.rng.random() < 0.4:
            return plans.rng.choice(unary)(plans, plans.rng.choice((some, a_set))(plans))
        other = plans.rng.choice((some, a_set))
        return plans.rng.choice(binary)(plans, a_set(plans), other(plans))

    return p.Distinct(plans.rng.choice((a_set, window_of_set, over_sets, join_of_sets))(plans))


def aggregate_of_distinct(plans: Plans) -> p.Node:
    """Mostly of calls that see which values there are."""
    made = plans.aggregate(p.Distinct(some(plans)))
    if plans.rng.random() < 0.2:
        return made
    calls = tuple(replace(call, distinct=bool(call.args)) for call in made.calls)
    return replace(made, calls=calls)


def distinct_union(plans: Plans) -> p.Node:
    made = plans.union(some(plans), some(plans), some(plans))
    parts = (plans.rng.choice((part, p.Distinct(part))) for part in made.parts)
    return p.Distinct(p.Union(tuple(parts)))


def nested_union(plans: Plans) -> p.Node:
    parts = [union(plans), *(some(plans) for _ in range(plans.rng.randint(0, 2)))]
    plans.rng.shuffle(parts)
    return plans.union(*parts)


def identity(plans: Plans) -> p.Node:
    source = some(plans)
    names = source.schema.names
    return p.project(source, plans.rng.choice((names, names[::-1], names[1:] or names)))


def narrow(plans: Plans) -> p.Node:
    """A node that reads some columns of what is below it."""
    shapes: tuple[Pattern, ...] = (any_two, tie_breaking, over(Plans.distinct))
    below = plans.rng.choice(shapes)(plans)
    if plans.rng.random() < 0.5:
        return p.project(below, plans.columns(below, 1))
    if plans.rng.random() < 0.5:
        return plans.aggregate(below)
    return plans.join(some(plans), below, plans.rng.choice(("semi", "anti")))


def tie_breaking(plans: Plans) -> p.Node:
    """A node that chooses among records by their order as a whole."""
    source = log(plans)
    match plans.rng.choice((plans.row_window, plans.upsert, plans.rank))(source):
        case p.Rank() as node:
            return replace(node, kind="row_number", order=node.order[1:])
        case p.RowWindow() | p.Upsert() as node:
            return replace(node, order=node.order[1:])
    raise NotImplementedError


def grouped_aggregates(plans: Plans) -> p.Node:
    source = some(plans)
    by = plans.columns(source, plans.rng.choice((0, 1, 1, 1)))
    readable = plans.rng.choice((source.schema, pa.schema([source.schema.field(n) for n in by])))
    function = random_expression(plans.rng, readable, pa.int64())
    calls = plans.calls(source)
    parts: list[p.Node] = [
        p.Aggregate(
            p.Group(source, function, index),
            by,
            tuple(replace(call, name=plans.name()) for call in calls),
        )
        for index in plans.rng.choices(range(5), k=plans.rng.randint(2, 3))
    ]
    if plans.rng.random() < 0.3:
        parts.insert(plans.rng.randint(0, len(parts)), some(plans))
    return plans.union(*parts)


def three_way_join(plans: Plans) -> p.Node:
    kinds: tuple[p.JoinKind, ...] = ("inner", "inner", "inner", "left", "right", "full")
    first = without_bounds(join(plans, plans.rng.choice(kinds)))
    return without_bounds(plans.join(first, some(plans), plans.rng.choice(kinds)))


def without_bounds(node: p.Join) -> p.Join:
    return replace(node, keep_left=None, keep_right=None)


PATTERNS: dict[str, Pattern] = {
    "merge_grouped_aggregates": grouped_aggregates,
    "flatten_union": nested_union,
    "simplify_filter": trivial_filter,
    "merge_filters": filtered(filtered(some)),
    "strengthen_outer_join": filtered_outer_join,
    "push_filter: map": filtered(mapped(some)),
    "push_filter: union": filtered(union),
    "push_filter: distinct": filtered(over(Plans.distinct)),
    "push_filter: set_operation": filtered(set_operation),
    "push_filter: group": filtered(over(Plans.group)),
    "push_filter: aggregate": filtered_on(keys, over(Plans.aggregate)),
    "push_filter: join": filtered_on(one_side, join),
    "push_filter: rank": filtered_on(partition, over(Plans.rank)),
    "bound_rank": filtered_rank,
    "push_filter: window": filtered(over(Plans.window, log)),
    "push_filter: row_window": filtered_on(partition, over(Plans.row_window, log)),
    "push_filter: upsert": filtered_on(key, over(Plans.upsert, log)),
    "push_filter: session": filtered_on(partition, over(Plans.session, log)),
    "push_filter: sync": filtered(sync),
    "push_filter: restrict": filtered(over(Plans.restrict)),
    "push_filter: changes": filtered(over(Plans.changes)),
    "push_filter: coalesce": filtered(over(Plans.coalesce)),
    "push_filter: split": filtered(over(Plans.split)),
    "merge_filter_into_join": filtered(join),
    "join_on_equalities": join_where_equal,
    "push_join_condition": join_where_one_side,
    "copy_filter_across_join": join_of_filtered,
    "push_group_through_window": over(Plans.group, over(Plans.window, log)),
    "remove_distinct": distinct_set,
    "drop_distinct_in_aggregate": aggregate_of_distinct,
    "drop_distinct_in_union": distinct_union,
    "push_distinct_through_join": over(Plans.distinct, wide_or_thin_join),
    "push_map: union": mapped(union),
    "push_map: window": mapped(over(Plans.window, log)),
    "push_map: sync": mapped(sync),
    "push_map: coalesce": mapped(over(Plans.coalesce)),
    "push_map: split": mapped(over(Plans.split)),
    "merge_maps": mapped(mapped(some)),
    "prune_columns": narrow,
    "remove_identity_map": identity,
    "commute": join,
    "reassociate": three_way_join,
}
