"""GROUP BY: keys, aggregates, grouping sets, and groups by windows in time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TypeAlias

import pyarrow as pa
from sqlglot import exp

from penstock.algebra.aggregates import AggregateCall
from penstock.algebra.expr import Call, Column, Expr, Literal
from penstock.algebra.plan import Aggregate, Equality, Join, Map, Node, Union
from penstock.sql.binding import time_groups
from penstock.sql.binding.aggregates import (
    aggregates_in,
    call_of,
    of_missing_groups,
    of_nothing,
    parts_of,
)
from penstock.sql.binding.context import Binding, Frame, Surroundings, kept
from penstock.sql.binding.scalars import bound_column, names_in, unwrapped
from penstock.sql.binding.time_groups import TimeGroup, is_time_group

SETS = (exp.Rollup, exp.Cube, exp.GroupingSets)
AFTER = ("rollup", "cube", "grouping_sets")

_Marks: TypeAlias = tuple[str, ...]
_MARKS = (pa.int8(), pa.int64())
"""The types of grouping(a) and of grouping_id(a, b): a mark of each for every key."""


@dataclass
class _Keys:
    """The keys of a grouping: trees, the columns that hold them, and which sets of them count.

    It is marked where it was written with sets, so that grouping() has a meaning.
    """

    trees: list[exp.Expr]
    columns: list[str]
    sets: list[tuple[int, ...]]
    marked: bool = False


class Grouping:
    """Binds the GROUP BY and the aggregates of a SELECT."""

    def __init__(self, binding: Binding) -> None:
        self._b = binding

    def aggregates(self, tree: exp.Expr) -> list[exp.Expr]:
        return list(aggregates_in(tree))

    def with_time_group(self, select: exp.Select, frame: Frame) -> Frame:
        """The frame with the columns of a window in time, where the query groups by one."""
        group = select.args.get("group")
        found = [t for t in group.find_all(exp.Anonymous) if is_time_group(t)] if group else []
        if group is None or not found:
            return frame
        if len({tree.sql() for tree in found}) > 1:
            self._b.diagnostics.unsupported(
                "Groups are by one window in time.", "Group twice, a view over a view.", found[1]
            )
        given = {item.alias.lower(): item.this for item in select.expressions if item.alias}
        partition: list[str] = []
        leaves = [leaf for element in _elements(group) for leaf in _leaves(element)]
        if len(leaves) > len(_elements(group)) and found[0].name.lower() == "session_window":
            self._b.diagnostics.unsupported(
                "A session is of one key, and grouping sets have several.",
                "Group by the session and all keys in a view, and group that one.",
                found[0],
            )
        for tree in leaves:
            if is_time_group(tree):
                continue
            if isinstance(tree, exp.Column) and not frame.scope.find(tree.name, None):
                tree = given.get(tree.name.lower(), tree)
            column, frame = self._b.column(self._b.names.resolve(tree, frame.scope), frame, "key")
            partition.append(column)
        resolved = self._b.names.resolve(found[0], frame.scope)
        return TimeGroup(self._b, resolved).applied(frame, tuple(partition))

    def grouped(
        self,
        select: exp.Select,
        frame: Frame,
        trees: Sequence[exp.Expr],
        outputs: Sequence[tuple[str, exp.Expr]],
        around: Surroundings,
    ) -> tuple[Frame, list[exp.Expr]]:
        """The frame of groups, and the trees over it: aggregates and keys have become columns."""
        keys, frame = self._keys(select.args.get("group"), frame, outputs)
        trees = [time_groups.replaced(tree, frame.scope) for tree in trees]
        calls: dict[str, AggregateCall] = {}
        added: dict[str, tuple[str, Expr]] = {}
        for tree in trees:
            for node in aggregates_in(tree):
                text = node.sql()
                if text not in calls:
                    self._check_nesting(node)
                    name = self._b.fresh(_short(text))
                    calls[text] = call_of(self._b, parts_of(self._b, node), frame, added, name)
        carried = around.carried
        columns = tuple(dict.fromkeys((*keys.columns, *carried)))
        plan: Node = Map(frame.plan, (*kept(frame.plan, columns), *added.values()))
        plan, marks = self._aggregated(plan, keys, carried, tuple(calls.values()))
        if self._is_global(select, trees, calls, around) and around.domain is not None:
            plan, calls = self._of_all(plan, around.domain, calls)
        replaced = [self._over_groups(tree, keys, calls, marks) for tree in trees]
        return frame.over(plan), replaced

    def _check_nesting(self, node: exp.Expr) -> None:
        inner = [n for child in node.iter_expressions() for n in aggregates_in(child)]
        if inner and not isinstance(node, exp.Filter | exp.WithinGroup):
            self._b.diagnostics.wrong(
                "An aggregate cannot stand in another. Group in a query in FROM first.", inner[0]
            )

    def _is_global(
        self,
        select: exp.Select,
        trees: Sequence[exp.Expr],
        calls: dict[str, AggregateCall],
        around: Surroundings,
    ) -> bool:
        """Whether there is a row also of no rows, and it makes a difference to have it."""
        if select.args.get("group") is not None:
            return False
        if not around.null_if_none or select.args.get("having") is not None:
            return True
        values = [calls.get(unwrapped(tree).sql()) for tree in trees]
        return not all(
            call is not None and of_nothing(call.function, pa.null()) == Literal(None, pa.null())
            for call in values
        )

    def _of_all(
        self, groups: Node, domain: Node, calls: dict[str, AggregateCall]
    ) -> tuple[Node, dict[str, AggregateCall]]:
        """An aggregate without GROUP BY has a row for each value of the domain, rows or none."""
        carried = domain.schema.names
        renamed = {name: self._b.fresh(name) for name in carried}
        outputs = [
            (renamed.get(field.name, field.name), Column(field.name, field.type))
            for field in groups.schema
        ]
        on = tuple(Equality(old, new, null_safe=True) for old, new in renamed.items())
        joined = Join(domain, Map(groups, tuple(outputs)), "left", on)
        filled, names = of_missing_groups(self._b, joined.schema, calls.values())
        plan = Map(joined, (*kept(joined, [*carried, *(c.name for c in calls.values())]), *filled))
        return plan, {text: replace(c, name=names[c.name]) for text, c in calls.items()}

    # --- keys -----------------------------------------------------------------------------------

    def _keys(
        self, group: exp.Group | None, frame: Frame, outputs: Sequence[tuple[str, exp.Expr]]
    ) -> tuple[_Keys, Frame]:
        if group is None:
            return _Keys([], [], [()]), frame
        if group.args.get("all"):
            plain = [tree for _, tree in outputs if not self.aggregates(tree)]
            listed: list[list[tuple[exp.Expr, ...]]] = [[(tree,)] for tree in plain]
        else:
            if _said_twice(group):
                self._b.diagnostics.wrong(
                    "These grouping sets are said in two ways. Write GROUP BY ROLLUP(a), CUBE(b).",
                    group,
                )
            listed = [self._sets_of(tree, frame, outputs) for tree in _elements(group)]
        keys = _Keys([], [], [], any(isinstance(unwrapped(t), SETS) for t in _elements(group)))
        if group.args.get("grouping_sets"):
            for tree in group.expressions:
                _, frame = self._number(self._key_tree(tree, frame, outputs), keys, frame)
        numbered: list[list[tuple[int, ...]]] = []
        for sets in listed:
            alternatives = []
            for chosen in sets:
                numbers: list[int] = []
                for tree in chosen:
                    more, frame = self._number(tree, keys, frame)
                    numbers += more
                alternatives.append(tuple(numbers))
            numbered.append(alternatives)
        keys.sets = [()]
        for alternatives in numbered:
            keys.sets = [tuple(dict.fromkeys((*a, *c))) for a in keys.sets for c in alternatives]
        return keys, frame

    def _number(self, tree: exp.Expr, keys: _Keys, frame: Frame) -> tuple[list[int], Frame]:
        """The places of a key among the keys; a window in time is two of them."""
        if is_time_group(unwrapped(tree)):
            trees = time_groups.ends(unwrapped(tree), frame.scope)
        else:
            trees = [tree]
        places = []
        for part in trees:
            texts = [known.sql() for known in keys.trees]
            if part.sql() not in texts:
                column, frame = self._key_column(part, frame)
                keys.trees.append(part)
                keys.columns.append(column)
            places.append([known.sql() for known in keys.trees].index(part.sql()))
        return places, frame

    def _key_column(self, tree: exp.Expr, frame: Frame) -> tuple[str, Frame]:
        """The column of a key; maps are grouped with their entries in order, as Spark does."""
        value = self._b.expr(tree, frame)
        if pa.types.is_map(value.type):
            value = Call("map_from_entries(array_sort(map_entries({0})))", (value,), value.type)
            return self._b.with_column(value, frame, "key")
        self._b.check_compared(value.type, tree)
        return self._b.column(tree, frame, "key")

    def _sets_of(
        self, tree: exp.Expr, frame: Frame, outputs: Sequence[tuple[str, exp.Expr]]
    ) -> list[tuple[exp.Expr, ...]]:
        """The alternatives that an element of GROUP BY stands for."""
        match tree:
            case exp.Rollup():
                items = [self._key_trees(t, frame, outputs) for t in tree.expressions]
                return [_flat(items[:i]) for i in range(len(items), -1, -1)]
            case exp.Cube():
                items = [self._key_trees(t, frame, outputs) for t in tree.expressions]
                sizes = range(len(items), -1, -1)
                return [_flat(chosen) for n in sizes for chosen in combinations(items, n)]
            case exp.GroupingSets():
                return [s for t in tree.expressions for s in self._sets_of(t, frame, outputs)]
        return [self._key_trees(tree, frame, outputs)]

    def _key_trees(
        self, tree: exp.Expr, frame: Frame, outputs: Sequence[tuple[str, exp.Expr]]
    ) -> tuple[exp.Expr, ...]:
        if isinstance(tree, exp.Tuple):
            return _flat([self._key_trees(t, frame, outputs) for t in tree.expressions])
        if isinstance(tree, exp.Paren):
            return self._key_trees(tree.this, frame, outputs)
        return (self._key_tree(tree, frame, outputs),)

    def _key_tree(
        self, tree: exp.Expr, frame: Frame, outputs: Sequence[tuple[str, exp.Expr]]
    ) -> exp.Expr:
        match tree:
            case exp.Literal(is_string=False, this=text) if str(text).isdigit():
                position = int(text)
                if not 1 <= position <= len(outputs):
                    self._b.diagnostics.wrong(
                        f"There is no column {position} in a select list of {len(outputs)}.", tree
                    )
                found = outputs[position - 1][1]
            case _:
                names = {name.lower(): value for name, value in outputs}
                resolved = self._b.names.resolve(tree, replace(frame.scope, aliases=names))
                found = unwrapped(resolved)
        inner = self.aggregates(found)
        if inner:
            self._b.diagnostics.wrong(
                "An aggregate cannot be grouped by. Group by it in a query around this one.", tree
            )
        return found

    # --- the aggregate --------------------------------------------------------------------------

    def _aggregated(
        self,
        plan: Node,
        keys: _Keys,
        carried: tuple[str, ...],
        calls: tuple[AggregateCall, ...],
    ) -> tuple[Node, list[_Marks]]:
        """One aggregate for each grouping set; for several, marks say which keys are left out."""
        every = tuple(range(len(keys.columns)))
        if keys.sets == [every] and not keys.marked:
            names = tuple(dict.fromkeys((*keys.columns, *carried)))
            return Aggregate(plan, names, calls), []
        marks = [tuple(self._b.fresh("grouping") for _ in _MARKS) for _ in keys.columns]
        parts = []
        for chosen in keys.sets:
            columns = [keys.columns[i] for i in chosen]
            part = Aggregate(*self._never_of_nothing(plan, (*columns, *carried), keys), calls)
            parts.append(self._padded(part, plan, keys, chosen, marks, carried, calls))
        return (Union(tuple(parts)) if len(parts) > 1 else parts[0]), marks

    def _never_of_nothing(
        self, plan: Node, columns: tuple[str, ...], keys: _Keys
    ) -> tuple[Node, tuple[str, ...]]:
        """As in Spark, the set of no key has no row of no rows beside others: it groups by 1."""
        if columns or not keys.columns:
            return plan, tuple(dict.fromkeys(columns))
        one = self._b.fresh("one")
        return Map(plan, (*kept(plan), (one, Literal(1, pa.int32())))), (one,)

    def _padded(
        self,
        part: Node,
        plan: Node,
        keys: _Keys,
        chosen: tuple[int, ...],
        marks: Sequence[_Marks],
        carried: tuple[str, ...],
        calls: tuple[AggregateCall, ...],
    ) -> Node:
        outputs: list[tuple[str, Expr]] = []
        wanted = {*carried, *(call.name for call in calls)} - {*keys.columns}
        used = {keys.columns[i] for i in chosen}
        for column in dict.fromkeys(keys.columns):
            kind = plan.schema.field(column).type
            there = column in used
            outputs.append((column, Column(column, kind) if there else Literal(None, kind)))
        for i, names in enumerate(marks):
            value = int(i not in chosen)
            outputs += [(n, Literal(value, kind)) for n, kind in zip(names, _MARKS, strict=True)]
        rest = [name for name in part.schema.names if name in wanted]
        return Map(part, (*outputs, *kept(part, rest)))

    def _over_groups(
        self,
        tree: exp.Expr,
        keys: _Keys,
        calls: dict[str, AggregateCall],
        marks: Sequence[_Marks],
    ) -> exp.Expr:
        by_text = {k.sql(): c for k, c in zip(keys.trees, keys.columns, strict=True)}

        def over(node: exp.Expr) -> exp.Expr:
            if isinstance(node, exp.Query):
                return node
            if isinstance(node, exp.Grouping | exp.GroupingId):
                return self._mark(node, by_text, keys, marks)
            text = "" if isinstance(node, exp.Ordered) else node.sql()  # it may read as its key
            if text in by_text and (names_in(node) or (keys.marked and _is_value(node))):
                return bound_column(by_text[text], node)
            if text in calls and list(aggregates_in(node)) == [node]:
                return bound_column(calls[text].name, node)
            for key, value in list(node.args.items()):
                if isinstance(value, exp.Expr):
                    node.set(key, over(value))
                elif isinstance(value, list):
                    node.set(key, [over(v) if isinstance(v, exp.Expr) else v for v in value])
            return node

        return over(tree.copy())

    def _mark(
        self, node: exp.Expr, by_text: dict[str, str], keys: _Keys, marks: Sequence[_Marks]
    ) -> exp.Expr:
        """grouping(a), and grouping_id(a, b) with a bit for each; typed as Spark does."""
        if not marks:
            self._b.diagnostics.wrong(
                "This tells grouping sets apart, and there are none. Write GROUP BY ROLLUP(a, b).",
                node,
            )
        if isinstance(node, exp.Grouping) and len(node.expressions) != 1:
            self._b.diagnostics.wrong("grouping is of one key: write grouping(a).", node)
        total: exp.Expr | None = None
        for arg in map(unwrapped, node.expressions or keys.trees):
            if arg.sql() not in by_text:
                self._b.diagnostics.wrong(
                    "grouping(x) is for an x of GROUP BY; this is none.", node
                )
            place = [tree.sql() for tree in keys.trees].index(arg.sql())
            narrow, wide = marks[place]
            if isinstance(node, exp.Grouping):
                return bound_column(narrow, node)
            mark = bound_column(wide, node)
            doubled = total and exp.Mul(this=total, expression=exp.Literal.number(2))
            total = exp.Paren(this=exp.Add(this=doubled, expression=mark)) if doubled else mark
        assert total is not None
        return total


def _elements(group: exp.Group) -> list[exp.Expr]:
    """What stands in GROUP BY; WITH ROLLUP and its like after the keys are what they stand for."""
    keys: list[exp.Expr] = list(group.expressions)
    for kind, key in ((exp.Rollup, "rollup"), (exp.Cube, "cube")):
        if group.args.get(key):
            keys = [kind(expressions=[tree.copy() for tree in keys])]
    return list(group.args.get("grouping_sets") or keys)


def _said_twice(group: exp.Group) -> bool:
    """Whether several grouping sets stand after the keys, or one after others among them."""
    after = [one for key in AFTER for one in group.args.get(key) or ()]
    return len(after) > 1 or (
        bool(after) and any(isinstance(unwrapped(tree), SETS) for tree in group.expressions)
    )


def _leaves(tree: exp.Expr) -> list[exp.Expr]:
    """The keys in an element of GROUP BY."""
    if isinstance(tree, (*SETS, exp.Tuple)):
        return [leaf for part in tree.expressions for leaf in _leaves(part)]
    return [unwrapped(tree)]


def _flat(parts: Sequence[tuple[exp.Expr, ...]]) -> tuple[exp.Expr, ...]:
    return tuple(tree for part in parts for tree in part)


def _is_value(constant: exp.Expr) -> bool:
    """Whether a constant is a value, which grouping sets may leave out as any other key."""
    return not isinstance(constant.parent, exp.DataType | exp.DataTypeParam | exp.Interval | exp.Is)


def _short(text: str) -> str:
    return text.replace("`", "").lower()[:60]
