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
from penstock.algebra.expr import Call, Column, Expr, Literal
from penstock.algebra.keys import key_of
from penstock.algebra.plan import Aggregate, Distinct, Equality, Join, Map, Node
from penstock.sql.binding import joins
from penstock.sql.binding.aggregates import aggregates_in, call_of, of_nothing, parts_of
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
        q.b.complaints.wrong(
            f"Before IN there is {len(left)} and in its query there are {len(outputs)} columns; "
            "both need the same number.",
            value,
        )
    return [exp.EQ(this=a.copy(), expression=c) for a, c in zip(left, outputs, strict=True)]


def _not_in(q: QueryBinder, frame: Frame, tree: exp.In, around: Surroundings) -> Frame | None:
    """NOT IN: no row is equal, and none could be; a NULL on either side could be anything."""
    query = _query_of(tree)
    value = tree.this
    if isinstance(value, exp.Tuple):
        q.b.complaints.unsupported(
            "NOT IN of several columns is not supported.",
            "Write NOT EXISTS (SELECT 1 FROM ... WHERE a = b AND c = d).",
            tree,
        )
    left = _semi(q, frame, query, value, "anti", around)
    if left is None:
        return None
    nulls = exp.Is(this=exp.column("value"), expression=exp.Null())
    counted = exp.select(
        exp.alias_(exp.Count(this=exp.Star()), "all"),
        exp.alias_(exp.CountIf(this=nulls), "unknown"),
    )
    frame, rows, unknown = _counts(q, left, query, counted, around)
    none = exp.EQ(this=rows, expression=exp.Literal.number(0))
    known = exp.and_(
        exp.Not(this=exp.Is(this=value.copy(), expression=exp.Null())),
        exp.EQ(this=unknown, expression=exp.Literal.number(0)),
    )
    return joins.filtered(q.b, frame, [exp.or_(none, known)])


def _counts(
    q: QueryBinder, frame: Frame, query: exp.Expr, counted: exp.Select, around: Surroundings
) -> tuple[Frame, exp.Expr, exp.Expr]:
    """How many rows a query has for each row of the frame, and in how many the value is NULL."""
    derived = exp.Subquery(
        this=query.copy(),
        alias=exp.TableAlias(this=exp.to_identifier("rows"), columns=[exp.to_identifier("value")]),
    )
    whole = counted.copy()
    whole.set("from_", exp.From(this=derived))
    both = []
    for i in range(2):
        one = whole.copy()
        one.set("expressions", [whole.expressions[i]])
        frame, column = _scalar(q, frame, one, around)
        both.append(column)
    return frame, both[0], both[1]


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
            q.b.complaints.unsupported(
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
    if isinstance(node.this, exp.Tuple):
        q.b.complaints.unsupported(
            "IN of several columns stands alone in WHERE, or under NOT.",
            "Write EXISTS (SELECT 1 FROM ... WHERE a = b AND c = d).",
            node,
        )
    name, frame = q.b.column(node.this, frame, "value")
    value = bound_column(name, node.this)
    known = Item(name, name, hidden=True)
    if known not in frame.scope.items:  # a value may stand before several INs
        frame = Frame(frame.plan, frame.scope.plus([known]))
    mine = exp.column(exp.to_identifier(name, quoted=True))
    same = exp.EQ(this=exp.column("value", table="rows"), expression=mine)
    unknown = exp.Is(this=exp.column("value", table="rows"), expression=exp.Null())
    columns = []
    for counted in (exp.CountIf(this=same), exp.CountIf(this=unknown), exp.Count(this=exp.Star())):
        alias = exp.TableAlias(this=exp.to_identifier("rows"), columns=[exp.to_identifier("value")])
        derived = exp.Subquery(this=_query_of(node).copy(), alias=alias)
        frame, column = _scalar(q, frame, exp.select(counted).from_(derived), around)
        columns.append(exp.GT(this=column, expression=exp.Literal.number(0)))
    found, nulls, rows = columns
    is_null = exp.Is(this=value, expression=exp.Null())
    perhaps = exp.or_(nulls, exp.and_(rows, is_null))
    result = exp.Case(
        ifs=[
            exp.If(this=found, true=exp.Boolean(this=True)),
            exp.If(this=perhaps, true=exp.Null()),
        ],
        default=exp.Boolean(this=False),
    )
    return frame, result


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
        q.b.complaints.wrong(
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
    key = key_of(answer.plan)
    if key is None or not set(key) <= domain:
        q.b.complaints.unsupported(
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
    outputs: list[tuple[str, Expr]] = list(kept(frame.plan))
    by_text: dict[str, str] = {}
    for text, call in calls.items():
        kind = frame.schema.field(call.name).type
        empty = of_nothing(call.function, kind)
        by_text[text] = call.name
        if missing and empty != Literal(None, kind):
            by_text[text] = q.b.fresh(call.name)
            value = Call("coalesce", (Column(call.name, kind), empty), kind)
            outputs.append((by_text[text], value))
    if len(outputs) > len(frame.schema.names):
        frame = frame.over(Map(frame.plan, tuple(outputs)))
    return frame, by_text


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
    used = list(frame.schema.names)
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
        inside = Surroundings(outer, around.ctes, domain if used else None)
        answer = q.bind(query, inside)
        found = q.b.names.domain_columns
        q.b.names.domain_columns = before
        back = {new: old for old, new in mapping.items()}
        if len(found) == len(used):
            break
        used = [back[name] for name in found]
    return answer, mapping


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
    counted = isinstance(query, exp.Select) and _is_count(query)
    if counted:
        value = Call("coalesce", (value, Literal(0, value.type)), value.type)
    shown = q.b.fresh(column)
    return frame.over(Map(joined, (*kept(joined, names), (shown, value)))), bound_column(shown)


def _is_count(query: exp.Select) -> bool:
    """Whether the value of the query over no rows is 0."""
    item = query.expressions[0]
    inner = unwrapped(item.this if isinstance(item, exp.Alias) else item)
    inner = inner.this if isinstance(inner, exp.Filter) else inner
    return _is_one_aggregate(query) and isinstance(inner, exp.Count | exp.CountIf)
