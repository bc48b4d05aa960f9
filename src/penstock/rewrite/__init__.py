"""What equals what: rules that turn a plan into one with the same snapshots that costs less.

Law: for every rule r, every plan S it applies to and every time t, r(S) has the schema of S and
its snapshot at t. Expressions are taken to be pure functions of their arguments.

Each rule is one function in a file of its name; what may go below an operator is asked of that
operator. `RULES` is the order in which rules are tried, and any can be switched off by name.
Filters and maps move down, towards the inputs, filters below maps; nothing moves up, so the rules
come to an end. `commute` and `reassociate` are equivalences without
a preferred side, for whoever orders joins.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import NamedTuple, TypeAlias

from penstock.algebra import plan as p
from penstock.algebra.plan import OPERATORS, Filter, Node
from penstock.errors import PlanError
from penstock.rewrite.bound_rank import bound_rank
from penstock.rewrite.commute import commute
from penstock.rewrite.copy_filter_across_join import copy_filter_across_join
from penstock.rewrite.drop_distinct_in_union import drop_distinct_in_union
from penstock.rewrite.flatten_union import flatten_union
from penstock.rewrite.join_on_equalities import join_on_equalities
from penstock.rewrite.merge_filter_into_join import merge_filter_into_join
from penstock.rewrite.merge_filters import merge_filters
from penstock.rewrite.merge_grouped_aggregates import merge_grouped_aggregates
from penstock.rewrite.merge_maps import merge_maps
from penstock.rewrite.prune_columns import prune_columns
from penstock.rewrite.push_distinct_through_join import push_distinct_through_join
from penstock.rewrite.push_filter import push_filter
from penstock.rewrite.push_group_through_window import push_group_through_window
from penstock.rewrite.push_join_condition import push_join_condition
from penstock.rewrite.push_map import push_map
from penstock.rewrite.reassociate import reassociate
from penstock.rewrite.remove_distinct import remove_distinct
from penstock.rewrite.remove_identity_map import remove_identity_map
from penstock.rewrite.simplify_filter import simplify_filter
from penstock.rewrite.strengthen_outer_join import strengthen_outer_join

__all__ = [
    "NAMES",
    "NORMALIZING",
    "ORDER_JOINS",
    "RULES",
    "Rewritten",
    "Rule",
    "check_names",
    "commute",
    "normalized",
    "reassociate",
    "rewrite",
    "trace",
]

Rule: TypeAlias = Callable[[Node], Node | None]
_Known: TypeAlias = dict[int, tuple[Node, Node]]
"""By the id of a node: the node, so that the id stays its own, and what a rule makes of it."""

RULES: tuple[Rule, ...] = (
    merge_grouped_aggregates,
    flatten_union,
    simplify_filter,
    merge_filters,
    strengthen_outer_join,
    push_filter,
    bound_rank,
    merge_filter_into_join,
    join_on_equalities,
    push_join_condition,
    copy_filter_across_join,
    push_group_through_window,
    remove_distinct,
    drop_distinct_in_union,
    push_distinct_through_join,
    push_map,
    merge_maps,
    prune_columns,
    remove_identity_map,
)

NORMALIZING: tuple[Rule, ...] = (
    flatten_union,
    simplify_filter,
    merge_filters,
    strengthen_outer_join,
)
"""Rules that leave conditions where they were written, but not more of them than needed: what they
give is the normal form, in which queries are compared, and the first stage of rewriting."""

NAMES: tuple[str, ...] = tuple(rule.__name__ for rule in RULES)
ORDER_JOINS = "order_joins"
"""What orders joins before the rules; it can be switched off as they can."""
_FIRST = (
    *(p.Map, p.Union, p.Distinct, p.SetOperation, p.Group, p.Aggregate, p.Join, p.Rank),
    *(p.Window, p.RowWindow, p.Upsert, p.Session, p.Sync, p.Restrict, p.Changes),
)
"""The order in which filters pass operators; all others come after these."""
_THROUGH = {
    "push_filter": (
        *("aggregate", "changes", "coalesce", "distinct", "group", "join", "map", "rank"),
        *("restrict", "row_window", "session", "set_operation", "split", "sync", "union"),
        *("upsert", "window"),
    ),
    "push_map": ("coalesce", "split", "sync", "union", "window"),
}
_FORMER = {f"{rule}_through_{name}": rule for rule, names in _THROUGH.items() for name in names}
"""The names of rules that are part of others now."""


class Rewritten(NamedTuple):
    """A plan after the rules, and which of them changed it."""

    plan: Node
    fired: tuple[str, ...]
    """The names of the rules that changed the plan, in the order of their first use."""
    normal: Node
    """The plan in its normal form."""


def check_names(names: Collection[str]) -> frozenset[str]:
    """Names are those of what can be switched off; the present ones for those of before."""
    known = (*NAMES, ORDER_JOINS)
    if unknown := sorted(name for name in names if _FORMER.get(name, name) not in known):
        raise PlanError(f"no rule {', '.join(unknown)}; there are {', '.join(known)}")
    for name in sorted(set(names) - set(known)):
        advice = f"{name} is a part of {_FORMER[name]} now; switch that off"
        warnings.warn(advice, DeprecationWarning, stacklevel=2)
    return frozenset(_FORMER.get(name, name) for name in names)


def rewrite(plan: Node, off: Collection[str] = frozenset()) -> Node:
    """The plan after all rules, except those named in `off`, until none applies."""
    return trace(plan, off).plan


def normalized(plan: Node) -> Node:
    """The plan in its normal form."""
    return _exhausted(plan, NORMALIZING, [])


def trace(plan: Node, off: Collection[str] = frozenset()) -> Rewritten:
    """As `rewrite`, which rules did it, and the normal form on the way."""
    switched_off, fired = check_names(off), list[str]()
    rules = [rule for rule in RULES if rule.__name__ not in switched_off]
    normal = _exhausted(plan, [rule for rule in NORMALIZING if rule in rules], fired)
    found = _exhausted(normal, rules, fired)
    return Rewritten(found, tuple(dict.fromkeys(fired)), normal)


def _exhausted(plan: Node, chosen: Sequence[Rule], fired: list[str]) -> Node:
    """The plan after these rules, until none applies; the names of those that did are added."""
    rules = [(rule, stage) for rule in chosen for stage in _stages(rule)]
    nodes, before = plan.walk(), None
    most = len(fired) + 100 + 10 * len(nodes)
    known: list[_Known] = [{} for _ in rules]
    while plan is not before:
        before = plan
        for (rule, stage), seen in zip(rules, known, strict=True):
            while (changed := _everywhere(stage, nodes, seen)) is not plan:
                plan, nodes = changed, changed.walk()
                fired.append(rule.__name__)
                if len(fired) > most:
                    raise RuntimeError(f"rewriting does not end; the last rules: {fired[-10:]}")
    return plan


def _stages(rule: Rule) -> list[Rule]:
    """A rule as it is applied: filters pass one kind of operator after the other.

    So a filter that comes out of a join rests above a map or a union for a while, where the other
    rules see it: below, its condition is one on other columns, or on each part by itself.
    """
    if rule is not push_filter:
        return [rule]
    rest = (operator for operator in OPERATORS if operator not in _FIRST)
    return [partial(_through, operator) for operator in (*_FIRST, *rest)]


def _through(operator: type[Node], node: Node) -> Node | None:
    match node:
        case Filter(below) if type(below) is operator:
            return push_filter(node)
    return None


def _everywhere(rule: Rule, nodes: Sequence[Node], known: _Known) -> Node:
    """The rule applied once to each node of a plan, inputs first; the same object if to none.

    A node that several others read is rewritten once, so that they go on sharing it; one for which
    it is known what the rule makes of it, and of all below it, is not tried again.
    """
    root = nodes[-1]
    if id(root) in known:
        return known[id(root)][1]
    moved = False
    for node in nodes:
        found = known.get(id(node))
        if found is None:
            new = node
            if moved:
                new = node.with_inputs(*(known[id(child)][1] for child in node.inputs))
            found = known[id(node)] = node, rule(new) or new
        moved = moved or found[1] is not node
    return known[id(root)][1]
