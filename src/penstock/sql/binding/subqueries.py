"""Queries in conditions and values: EXISTS, IN, scalar subqueries, correlated or not.

EXISTS and IN are semi-joins, NOT EXISTS and NOT IN anti-joins; conditions that read columns of the
query around become conditions of the join. A scalar subquery is a left join with one row for each
of the values that it depends on. Where a query depends on the one around it in any other way, it is
given a domain: the relation of all values of the columns it reads, joined to its FROM and carried
through, so that it no longer depends on anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa
from sqlglot import exp

from penstock.algebra.aggregates import AggregateCall
from penstock.algebra.expr import Column, Expr, Literal
from penstock.algebra.plan import Aggregate, Distinct, Equality, Join, Map, Node
from penstock.sql.binding import joins
from penstock.sql.binding.aggregates import (
    aggregates_in,
    call_of,
    of_missing_groups,
    parts_of,
)
from penstock.sql.binding.context import (
    Answer,
    CorrelatedError,
    Frame,
    Surroundings,
    kept,
)
from penstock.sql.binding.scalars import bound_column, names_in, unwrapped
from penstock.sql.binding.scopes import Item, Scope

if TYPE_CHECKING:
    from penstock.sql.binding.query import QueryBinder


def contains(tree: exp.Expr) -> bool:
    return any(isinstance(node, exp.Query) for node in tree.walk())


def is_outer(tree: exp.Expr) -> bool:
    return any("outer" in node.meta for node in tree.walk())


def correlated(trees: Sequence[exp.Expr]) -> CorrelatedError:
    return CorrelatedError(", ".join(name for tree in trees for name in names_in(tree)))


# --- conditions -----------------------------------------------------------------------------------


def filtered(
    q: QueryBinder, frame: Frame, conditions: Sequence[exp.Expr], around: Surroundings
) -> Frame:
    """The frame where conditions with queries in them are true."""
    for tree in conditions:
        frame = _filtered(q, frame, tree, around)
    return frame


def _filtered(q: QueryBinder, frame: Frame, tree: exp.Expr, around: Surroundings) -> Frame:
    inner, negated = unwrapped(tree), False
    while isinstance(inner, exp.Not):
        inner, negated = unwrapped(inner.this), not negated
    if isinstance(inner, exp.Exists) and isinstance(inner.this, exp.Select):
        joined = _semi(q, frame, inner.this, None, "anti" if negated else "semi", around)
        if joined is not None:
            return joined
    if isinstance(inner, exp.In) and not negated and _is_query(inner):
        joined = _semi(q, frame, _query_of(inner), inner.this, "semi", around)
        if joined is not None:
            return joined
    if isinstance(inner, exp.In) and negated and _is_query(inner):
        joined = _not_in(q, frame, inner, around)
        if joined is not None:
            return joined
    frame, tree = values(q, frame, tree, around)
    return joins.filtered(q.b, frame, [tree])


def _is_query(tree: exp.In) -> bool:
    return tree.args.get("query") is not None


def _query_of(tree: exp.In) -> exp.Expr:
    query = tree.args["query"]
    return query.this if isinstance(query, exp.Subquery) else query


def _semi(
    q: QueryBinder,
    frame: Frame,
    query: exp.Expr,
    value: exp.Expr | None,
    kind: str,
    around: Surroundings,
) -> Frame | None:
    """A join on what the query selects and says of the row; None where there is more to it."""
    if not isinstance(query, exp.Select) or not _is_plain(query):
        return None
    if value is not None and any(map(contains, (value, *query.expressions))):
        return None
    try:
        inner, conditions = q.body(query, Surroundings(frame.scope, around.ctes))
        _check_unread(q, query, inner, around)
        if value is not None:
            conditions = [*conditions, *_equalities(q, value, query, inner)]
        if not conditions:
            return None
        plan = joins.join(
            q.b, frame, _without_outer(inner), "semi" if kind == "semi" else "anti", conditions
        )
    except CorrelatedError:
        return None
    return frame.over(plan)


def _check_unread(q: QueryBinder, query: exp.Select, inner: Frame, around: Surroundings) -> None:
    """What a semi-join asks nothing of means something all the same: select list and order."""
    outputs = q._outputs(query, inner.scope)
    q._order(query, inner.scope, outputs)
    for _, tree in outputs:
        if not is_outer(tree):
            frame, value = values(q, inner, tree, around)
            q.b.expr(value, frame)


def _without_outer(frame: Frame) -> Frame:
    return Frame(frame.plan, Scope(frame.scope.items))


def _is_plain(query: exp.Select) -> bool:
    """Whether the rows of a query are those of its FROM and WHERE."""
    if any(query.args.get(key) for key in ("group", "having", "limit", "offset", "qualify")):
        return False
    if any(query.args.get(key) for key in ("with_", "windows", "output")):
        return False
    items = query.expressions
    return not any(list(aggregates_in(item)) or item.find(exp.Window) for item in items)


def _equalities(q: QueryBinder, value: exp.Expr, query: exp.Select, inner: Frame) -> list[exp.Expr]:
    """`a IN (SELECT b ...)` is a = b; `(a, c) IN (SELECT b, d ...)` is a = b and c = d."""
    left = value.expressions if isinstance(value, exp.Tuple) else [value]
    outputs = [t for _, t in q._outputs(query, inner.scope)]
    if len(left) != len(outputs):
        q.b.diagnostics.wrong(
            f"Before IN there is {len(left)} and in its query there are {len(outputs)} columns; "
            "both need the same number.",
            value,
        )
    return [exp.EQ(this=a.copy(), expression=c) for a, c in zip(left, outputs, strict=True)]


def _not_in(q: QueryBinder, frame: Frame, tree: exp.In, around: Surroundings) -> Frame | None:
    """NOT IN: no row is equal, and none could be; a NULL on either side could be anything."""
    left = _semi(q, frame, _query_of(tree), tree.this, "anti", around)
    if left is None:
        return None
    frame, unknown = _unknown(q, left, tree, around)
    return joins.filtered(q.b, frame, [exp.Not(this=unknown)])


# --- values ---------------------------------------------------------------------------------------


def values(
    q: QueryBinder, frame: Frame, tree: exp.Expr, around: Surroundings
) -> tuple[Frame, exp.Expr]:
    """The frame with a column for each query in a tree, and the tree that reads them."""
    if not contains(tree):
        return frame, tree
    root = exp.Paren(this=tree.copy())
    for node in _nodes(root):
        if isinstance(node, exp.Exists):
            count = exp.select(exp.Count(this=exp.Star())).from_(
                exp.Subquery(this=_inner(node.this), alias=_alias("rows"))
            )
            frame, column = _scalar(q, frame, count, around)
            found: exp.Expr = exp.GT(this=column, expression=exp.Literal.number(0))
        elif isinstance(node, exp.In):
            frame, found = _is_in(q, frame, node, around)
        elif isinstance(node, exp.Any | exp.All):
            q.b.diagnostics.unsupported(
                "Comparisons with ANY and ALL are not supported.",
                "Write IN, NOT IN or EXISTS, or compare with (SELECT max(x) ...).",
                node,
            )
        else:
            frame, found = _scalar(q, frame, _inner(node), around)
        node.replace(exp.Paren(this=found))
    return frame, root.this


def _inner(node: exp.Expr) -> exp.Expr:
    return node.this.copy() if isinstance(node, exp.Subquery) else node.copy()


def _alias(name: str) -> exp.TableAlias:
    return exp.TableAlias(this=exp.to_identifier(name))


def _nodes(tree: exp.Expr) -> list[exp.Expr]:
    """The outermost nodes that hold a query: EXISTS, IN, or the query itself."""
    holds = isinstance(tree, exp.Exists | exp.Query | exp.Any | exp.All)
    if holds or (isinstance(tree, exp.In) and _is_query(tree)):
        return [tree]
    return [node for child in tree.iter_expressions() for node in _nodes(child)]


def _is_in(
    q: QueryBinder, frame: Frame, node: exp.In, around: Surroundings
) -> tuple[Frame, exp.Expr]:
    """IN as a value: true, false, or NULL where a NULL might have been the one."""
    frame, mine = _left_side(q, frame, node)
    frame, found = _some(q, frame, node, exp.and_(*_pairs(mine)), around)
    frame, unknown = _unknown(q, frame, node, around)
    result = exp.Case(
        ifs=[
            exp.If(this=found, true=exp.Boolean(this=True)),
            exp.If(this=unknown, true=exp.Null()),
        ],
        default=exp.Boolean(this=False),
    )
    return frame, result


def _unknown(
    q: QueryBinder, frame: Frame, node: exp.In, around: Surroundings
) -> tuple[Frame, exp.Expr]:
    """Whether it is unknown of some row of the query after IN that it equals the left side."""
    frame, mine = _left_side(q, frame, node)
    if len(mine) > 1:
        same = exp.Paren(this=exp.and_(*_pairs(mine)))
        return _some(q, frame, node, exp.Is(this=same, expression=exp.Null()), around)
    frame, nulls = _some(q, frame, node, exp.Is(this=_of_rows(0), expression=exp.Null()), around)
    frame, rows = _some(q, frame, node, None, around)
    is_null = exp.Is(this=unwrapped(node.this).copy(), expression=exp.Null())
    return frame, exp.Paren(this=exp.or_(nulls, exp.and_(rows, is_null)))


def _left_side(q: QueryBinder, frame: Frame, node: exp.In) -> tuple[Frame, list[exp.Expr]]:
    """The values before IN as columns that the query after it can name, and no other."""
    left = unwrapped(node.this)
    trees = left.expressions if isinstance(left, exp.Tuple) else [left]
    mine: list[exp.Expr] = []
    for tree in trees:
        column, frame = q.b.column(tree, frame, "left")
        name = f"{column} before IN"
        if not frame.scope.find(name, None):
            item = Item(name, column, hidden=True)
            frame = Frame(frame.plan, frame.scope.plus([item]))
        mine.append(exp.column(exp.to_identifier(name, quoted=True)))
    return frame, mine


def _of_rows(place: int) -> exp.Expr:
    return exp.column(f"value{place}", table="rows")


def _pairs(mine: Sequence[exp.Expr]) -> list[exp.Expr]:
    return [exp.EQ(this=_of_rows(i), expression=tree.copy()) for i, tree in enumerate(mine)]


def _some(
    q: QueryBinder, frame: Frame, node: exp.In, where: exp.Expr | None, around: Surroundings
) -> tuple[Frame, exp.Expr]:
    """Whether the query after IN has rows of which a condition is true."""
    query = _query_of(node)
    left = unwrapped(node.this)
    width = len(left.expressions) if isinstance(left, exp.Tuple) else 1
    names = [exp.to_identifier(f"value{i}") for i in range(width)]
    alias = exp.TableAlias(this=exp.to_identifier("rows"), columns=names)
    derived = exp.Subquery(this=query.copy(), alias=alias)
    count = exp.select(exp.Count(this=exp.Star())).from_(derived)
    frame, column = _scalar(q, frame, count.where(where) if where is not None else count, around)
    return frame, exp.GT(this=column, expression=exp.Literal.number(0))


def _scalar(
    q: QueryBinder, frame: Frame, query: exp.Expr, around: Surroundings
) -> tuple[Frame, exp.Expr]:
    """The frame with the one value that a query has for each row."""
    if isinstance(query, exp.Select) and _is_one_aggregate(query):
        try:
            return _aggregate(q, frame, query, around)
        except CorrelatedError:
            pass
    answer, mapping = _over_domain(q, frame, query, around)
    if len(answer.columns) != 1:
        q.b.diagnostics.wrong(
            f"A query as a value has one column; this one has {len(answer.columns)}.", query
        )
    always = _is_one_aggregate(query) and not mapping
    if not always:
        _require_one_row(q, answer, query)
    (_, column) = answer.columns[0]
    return _attached(q, frame, answer.plan, mapping, column, always, query)


def _is_one_aggregate(query: exp.Expr) -> bool:
    if not isinstance(query, exp.Select) or len(query.expressions) != 1:
        return False
    if any(query.args.get(key) for key in ("group", "having", "limit", "offset", "with_")):
        return False
    return any(True for _ in aggregates_in(query.expressions[0]))


def _require_one_row(q: QueryBinder, answer: Answer, query: exp.Expr) -> None:
    domain = set(answer.plan.schema.names) - {column for _, column in answer.columns}
    key = answer.plan.unique_key()
    if key is None or not set(key) <= domain:
        q.b.diagnostics.unsupported(
            "This query as a value could have more than one row.",
            "Take max(x) or min(x) of it, or ORDER BY ... LIMIT 1.",
            query,
        )


def _aggregate(
    q: QueryBinder, frame: Frame, query: exp.Select, around: Surroundings
) -> tuple[Frame, exp.Expr]:
    """An aggregate of the rows whose columns equal some of this row: a group for each of them."""
    inner, conditions = q.body(query, Surroundings(frame.scope, around.ctes))
    inner = _without_outer(inner)
    ((_, output),) = q._outputs(query, Scope(inner.scope.items, frame.scope))
    pairs = [_equality(tree, frame, inner) for tree in conditions]
    keys: list[str] = []
    for _, own in pairs:
        name, inner = q.b.column(own, inner, "key")
        keys.append(name)
    calls: dict[str, AggregateCall] = {}
    added: dict[str, tuple[str, Expr]] = {}
    for node in aggregates_in(output):
        if node.sql() not in calls:
            name = q.b.fresh("value")
            calls[node.sql()] = call_of(q.b, parts_of(q.b, node), inner, added, name)
    unique = tuple(dict.fromkeys(keys))
    source = Map(inner.plan, (*kept(inner.plan, unique), *added.values()))
    groups = Aggregate(source, unique, tuple(calls.values()))
    renamed = {key: q.b.fresh(key) for key in unique}
    outputs = [(renamed.get(f.name, f.name), Column(f.name, f.type)) for f in groups.schema]
    plan: Node = Map(groups, tuple(outputs))
    if not keys:
        joined: Node = Join(frame.plan, plan)
    else:
        on = [
            exp.EQ(this=mine.copy(), expression=bound_column(renamed[key]))
            for (mine, _), key in zip(pairs, keys, strict=True)
        ]
        joined = joins.join(q.b, frame, Frame(plan, Scope()), "left", on)
    frame, by_text = _filled(q, frame.over(joined), calls, bool(keys))

    def over(node: exp.Expr) -> exp.Expr:
        found = by_text.get(node.sql())
        return bound_column(found, node) if found is not None else node

    return frame, output.copy().transform(over)


def _filled(
    q: QueryBinder, frame: Frame, calls: dict[str, AggregateCall], missing: bool
) -> tuple[Frame, dict[str, str]]:
    """The values of the calls; where there was no group, those of no rows."""
    if not missing:
        return frame, {text: call.name for text, call in calls.items()}
    outputs, names = of_missing_groups(q.b, frame.schema, calls.values())
    if outputs:
        frame = frame.over(Map(frame.plan, (*kept(frame.plan), *outputs)))
    return frame, {text: names[call.name] for text, call in calls.items()}


def _equality(tree: exp.Expr, frame: Frame, inner: Frame) -> tuple[exp.Expr, exp.Expr]:
    """The two sides of `outer = own`; anything else needs a domain."""
    if isinstance(tree, exp.EQ):
        for mine, own in ((tree.this, tree.expression), (tree.expression, tree.this)):
            outside = set(names_in(mine)) <= set(frame.schema.names)
            inside = names_in(own) and set(names_in(own)) <= set(inner.schema.names)
            if names_in(mine) and outside and inside:
                return mine, own
    raise correlated([tree])


# --- the domain -----------------------------------------------------------------------------------


def _over_domain(
    q: QueryBinder, frame: Frame, query: exp.Expr, around: Surroundings
) -> tuple[Answer, dict[str, str]]:
    """The answer of a query for all values of the columns it reads of the frame, by column."""
    before = q.b.names.domain_columns
    used = _named(frame, query)
    for _ in range(2):
        mapping = {name: q.b.fresh(name) for name in used}
        domain = _domain(frame, mapping)
        items = tuple(
            replace(item, column=mapping[item.column], domain=True)
            for item in frame.scope.items
            if item.column in mapping
        )
        outer = Scope(items, frame.scope.outer)
        q.b.names.domain_columns = {}
        inside = Surroundings(outer, around.ctes, domain if used else None, null_if_none=True)
        answer = q.bind(query, inside)
        found = q.b.names.domain_columns
        q.b.names.domain_columns = before
        back = {new: old for old, new in mapping.items()}
        if len(found) == len(used):
            break
        used = [back[name] for name in found]
    return answer, mapping


def _named(frame: Frame, query: exp.Expr) -> list[str]:
    """The columns of the frame with a name that stands somewhere in the query."""
    words = {part.name.lower() for column in query.find_all(exp.Column) for part in column.parts}
    named = {item.column for item in frame.scope.items if item.name.lower() in words}
    return [column for column in frame.schema.names if column in named]


def _domain(frame: Frame, mapping: dict[str, str]) -> Node:
    outputs = tuple(
        (new, Column(old, frame.schema.field(old).type)) for old, new in mapping.items()
    )
    return Distinct(Map(frame.plan, outputs)) if outputs else frame.plan


def _attached(
    q: QueryBinder,
    frame: Frame,
    plan: Node,
    mapping: dict[str, str],
    column: str,
    always: bool,
    query: exp.Expr,
) -> tuple[Frame, exp.Expr]:
    """The frame with the value for its row, NULL where there is none."""
    if always:
        return frame.over(Join(frame.plan, plan)), bound_column(column, query)
    names = list(frame.schema.names)
    on = [Equality(old, new, null_safe=True) for old, new in mapping.items()]
    left: Node = frame.plan
    if not on:
        one = Literal(1, pa.int32())
        mine, other = q.b.fresh("one"), q.b.fresh("one")
        left = Map(left, (*kept(left), (mine, one)))
        plan = Map(plan, (*kept(plan), (other, one)))
        on = [Equality(mine, other)]
    joined: Node = Join(left, plan, "left", tuple(on))
    value: Expr = Column(column, joined.schema.field(column).type)
    shown = q.b.fresh(column)
    return frame.over(Map(joined, (*kept(joined, names), (shown, value)))), bound_column(shown)
