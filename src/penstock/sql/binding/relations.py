"""FROM: what a query reads, under the names it gives them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from sqlglot import exp

from penstock.algebra.expr import Call, Column
from penstock.algebra.plan import JoinKind, Map, Node
from penstock.sql.binding import timing
from penstock.sql.binding.catalog import CLOCKS, Moment, Relation
from penstock.sql.binding.context import Answer, Binding, Frame, Surroundings
from penstock.sql.binding.joins import Factors, conjuncts, join
from penstock.sql.binding.scalars import bound_column, constant
from penstock.sql.binding.scopes import TIME, Item, Scope

BindQuery: TypeAlias = Callable[[exp.Expr, Surroundings], Answer]

KINDS: dict[tuple[str, str], JoinKind] = {
    ("LEFT", ""): "left",
    ("LEFT", "OUTER"): "left",
    ("RIGHT", ""): "right",
    ("RIGHT", "OUTER"): "right",
    ("FULL", ""): "full",
    ("FULL", "OUTER"): "full",
    ("", "OUTER"): "full",
    ("LEFT", "SEMI"): "semi",
    ("", "SEMI"): "semi",
    ("LEFT", "ANTI"): "anti",
    ("", "ANTI"): "anti",
}

PIPED = re.compile(r"__tmp\d+")
"""What sqlglot calls the steps of a pipe."""


class Relations:
    """Binds the FROM of a SELECT: relations, joins, and the names they have."""

    def __init__(self, binding: Binding, bind_query: BindQuery) -> None:
        self._b = binding
        self._bind_query = bind_query
        self._links: list[exp.Expr] = []

    def factors(self, select: exp.Select, around: Surroundings) -> Factors:
        """The relations of a FROM; those joined by inner joins are still apart."""
        for lateral in select.args.get("laterals") or ():
            self._refuse_lateral(lateral)
        source = select.args["from_"].this
        found = self._first(source, around)
        for tree in [*(source.args.get("joins") or ()), *(select.args.get("joins") or ())]:
            self._add_join(found, tree, around)
        outer = replace(found.scope, outer=around.outer)
        found.scope = outer
        return found

    def _first(self, tree: exp.Expr, around: Surroundings) -> Factors:
        self._links = []
        frame = self._relation(tree, around)
        return Factors([frame], self._taken_links(), frame.scope)

    def _taken_links(self) -> list[exp.Expr]:
        """The conditions that tie relations which depend on the domain to it."""
        links, self._links = self._links, []
        return links

    # --- joins ----------------------------------------------------------------------------------

    def _add_join(self, found: Factors, tree: exp.Join, around: Surroundings) -> None:
        if tree.args.get("method") and tree.method != "NATURAL":
            self._b.diagnostics.unsupported(
                f"{tree.method} JOIN is not supported.",
                "Join by a range of time, and keep the latest: QUALIFY ROW_NUMBER() OVER "
                "(PARTITION BY a.id ORDER BY b.at DESC) = 1.",
                tree,
            )
        right = self._relation(tree.this, around)
        links = self._taken_links()
        if links and (tree.side or tree.kind in ("SEMI", "ANTI")):
            self._b.diagnostics.unsupported(
                "The right side of an outer join cannot read columns of the query around.",
                "Make it a view of its own, or move the condition to WHERE.",
                tree,
            )
        found.conditions += links
        self._check_alias(found.scope, right.scope, tree.this)
        kind = KINDS.get((tree.side or "", tree.kind or ""))
        if kind is None and (tree.side or tree.kind not in ("", "INNER", "CROSS")):
            self._b.diagnostics.unsupported(
                f"{tree.side} {tree.kind}".strip() + " JOIN is not supported.",
                "Write JOIN, LEFT, RIGHT or FULL JOIN, LEFT SEMI JOIN or LEFT ANTI JOIN.",
                tree,
            )
        shared = self._shared_names(tree, found.scope, right.scope)
        scope = replace(found.scope.plus(right.scope.items), outer=around.outer)
        on = [self._b.names.resolve(c, scope) for c in conjuncts(tree.args.get("on"))]
        on += [_equal(a, c) for a, c in shared]
        scope = replace(scope, items=_merged(scope.items, shared, kind))
        if kind is None:
            found.frames.append(right)
            found.conditions += on
            found.scope = scope
            return
        left = Frame(found.joined(self._b).plan, found.scope)
        plan = join(self._b, left, right, kind, on)
        if kind in ("semi", "anti"):
            common = [pair[0] for pair in shared]
            rest = [item for item in found.scope.items if item not in common]
            scope = replace(found.scope, items=(*common, *rest))
        frame = Frame(plan, scope)
        if kind == "full" and shared:
            frame = self._coalesced(frame, shared)
        found.frames, found.conditions, found.scope = [frame], [], frame.scope

    def _shared_names(self, tree: exp.Join, left: Scope, right: Scope) -> list[tuple[Item, Item]]:
        """The columns that USING or NATURAL makes one."""
        if tree.method == "NATURAL":
            known = {item.name.lower() for item in left.visible()}
            names = [item.name for item in right.visible() if item.name.lower() in known]
            trees: Sequence[exp.Expr] = [exp.to_identifier(name) for name in names]
        else:
            trees = tree.args.get("using") or ()
        pairs = []
        for name in trees:
            sides = [scope.find(name.name, None) for scope in (left, right)]
            for side, scope in zip(sides, (left, right), strict=True):
                if len(side) != 1:
                    known_names = [item.name for item in scope.visible()]
                    self._b.diagnostics.unknown("common column", name.name, known_names, name)
            pairs.append((sides[0][0], sides[1][0]))
        return pairs

    def _coalesced(self, frame: Frame, shared: list[tuple[Item, Item]]) -> Frame:
        """In a full join, a common column has the value of the side that is there."""
        items = list(frame.scope.items)
        for a, c in reversed(shared):
            kind = frame.schema.field(a.column).type
            value = Call("coalesce", (Column(a.column, kind), Column(c.column, kind)), kind)
            name, frame = self._b.with_column(value, frame, a.name)
            items.insert(0, Item(a.name, name))
        return Frame(frame.plan, replace(frame.scope, items=tuple(items)))

    def _check_alias(self, left: Scope, right: Scope, at: exp.Expr) -> None:
        known = {name.lower() for name in left.relations()}
        for name in right.relations():
            if name.lower() in known:
                self._b.diagnostics.wrong(
                    f"{name} stands twice in FROM; give one of them another name: {name} AS b.", at
                )

    # --- one relation ---------------------------------------------------------------------------

    def _relation(self, tree: exp.Expr, around: Surroundings) -> Frame:
        pivots = tree.args.get("pivots")
        if pivots and pivots[0].args.get("unpivot"):
            self._b.diagnostics.unsupported(
                "UNPIVOT is not supported.",
                "Write a SELECT for each column, and UNION ALL between them.",
                tree,
            )
        if pivots:
            self._b.diagnostics.unsupported(
                "PIVOT is not supported.", "Write sum(x) FILTER (WHERE k = 'a') AS a.", tree
            )
        if tree.args.get("sample"):
            self._b.diagnostics.unsupported(
                "TABLESAMPLE gives other rows each time.",
                "Filter by a hash of a column: WHERE pmod(hash(id), 100) < 5.",
                tree,
            )
        match tree:
            case exp.Table(this=exp.Values() as rows):  # in parentheses, with a join
                return self._renamed(self._bind_query(rows, Surroundings()), tree, None)
            case exp.Table():
                return self._table(tree, around)
            case exp.Subquery():
                return self._derived(tree, around)
            case exp.Values():
                return self._renamed(self._bind_query(tree, Surroundings()), tree, None)
            case exp.Lateral():
                self._refuse_lateral(tree)
        self._b.diagnostics.unsupported(
            f"{tree.sql()} cannot be read in FROM.", "Name a stream, table or view.", tree
        )

    def _table(self, tree: exp.Table, around: Surroundings) -> Frame:
        if not isinstance(tree.this, exp.Identifier):
            self._b.diagnostics.unsupported(
                "Functions that return tables are not supported.",
                "List the rows with VALUES, or make a table of them.",
                tree,
            )
        if tree.args.get("db"):
            self._b.diagnostics.unsupported(
                "There is one catalog, without schemas.", f"Write {tree.name}.", tree
            )
        cte = around.ctes.get(tree.name.lower())
        if cte is not None:
            frame = self._renamed(cte, tree, tree.name)
            if PIPED.fullmatch(tree.name) and not tree.alias:
                frame = _as_before(frame, cte)
            return self._streamed(frame, tree, tree.name)
        entry = self._b.catalog.find(tree.name)
        if entry is not None and isinstance(entry[1], Moment):
            return self._moment(entry[1], tree)
        is_clock = entry is None and tree.name.lower() in CLOCKS
        if is_clock or (entry and not isinstance(entry[1], Relation)):
            self._b.diagnostics.unsupported(
                f"{tree.name} stands for points in time, which are never stored.",
                f"Synchronize a stream by it, FROM s SYNC BY {tree.name}, or compare with NOW().",
                tree,
            )
        if entry is None:
            known = self._b.catalog.readable
            self._b.diagnostics.unknown(
                "source, stream, table or view", tree.name, [*around.ctes, *known], tree
            )
        assert isinstance(entry[1], Relation)
        return self._stored(entry[1], tree)

    def _moment(self, moment: Moment, tree: exp.Table) -> Frame:
        """The current time, under the names of a view over the clock."""
        now = exp.Anonymous(this="NOW")
        now.meta["points"] = moment.points
        relation = tree.alias or tree.name
        items = tuple(
            Item(name, "", relation, tree=now if value is None else constant(value))
            for name, value in moment.columns
        )
        return Frame(self._b.one_row(), Scope(items), moment)

    def _stored(self, relation: Relation, tree: exp.Table) -> Frame:
        answer = Answer(relation.plan, tuple((name, name) for name in relation.columns))
        plan = self._with_stream_part(relation.plan, tree, tree.name)
        hidden = [name for name in relation.hidden if name in plan.schema.names]
        answer = Answer(plan, (*answer.columns, *((name, name) for name in hidden)))
        frame = self._renamed(answer, tree, tree.name, len(hidden))
        if relation.time is None:
            return frame
        if any(item.name.lower() == TIME for item in frame.scope.items):
            return frame
        place = [name for name, _ in answer.columns].index(relation.time)
        time = replace(frame.scope.items[place], name=TIME, hidden=True)
        return Frame(frame.plan, frame.scope.plus([time]))

    def _derived(self, tree: exp.Subquery, around: Surroundings) -> Frame:
        if _is_relation(tree.this):
            frame = self._relation(tree.this, around)
            found = Factors([frame], [], frame.scope)
            for joined in tree.this.args.get("joins") or ():
                self._add_join(found, joined, around)
            frame = self._aliased(found.joined(self._b), tree)
            return self._streamed(frame, tree, tree.alias or timing.UNNAMED)
        answer, carried = self._query(tree.this, around)
        frame = self._renamed(answer, tree, None, len(carried))
        hidden = frame.scope.items[len(frame.scope.items) - len(carried) :]
        for column, item in zip(carried, hidden, strict=True):
            mine, other = bound_column(column), bound_column(item.column)
            self._links.append(exp.NullSafeEQ(this=mine, expression=other))
        frame = Frame(frame.plan, Scope(frame.scope.items[: len(answer.columns) - len(carried)]))
        return self._streamed(frame, tree, tree.alias or timing.UNNAMED)

    def _aliased(self, frame: Frame, tree: exp.Subquery) -> Frame:
        """What stands in parentheses, under the name that it is given."""
        if not tree.alias:
            return frame
        shown = frame.scope.visible()
        given = [column.name for column in tree.args["alias"].columns]
        self._check_names(tree.alias, len(shown), given, tree)
        names = given or [item.name for item in shown]
        items = [
            replace(item, name=name, relation=tree.alias)
            for item, name in zip(shown, names, strict=True)
        ]
        hidden = [replace(i, relation=tree.alias) for i in frame.scope.items if i.hidden]
        return replace(frame, scope=replace(frame.scope, items=(*items, *hidden)))

    def _check_names(
        self, relation: str | None, columns: int, given: Sequence[str], at: exp.Expr
    ) -> None:
        if given and len(given) != columns:
            self._b.diagnostics.wrong(
                f"{relation} has {columns} columns, and names for {len(given)}.", at
            )

    def _query(self, tree: exp.Expr, around: Surroundings) -> tuple[Answer, tuple[str, ...]]:
        """A query in FROM; where it reads columns of the domain, it has them among its own."""
        names = self._b.names
        before, names.domain_columns = names.domain_columns, {}
        answer = self._bind_query(tree, Surroundings(around.outer, around.ctes, around.domain))
        used, names.domain_columns = names.domain_columns, before
        if around.domain is None:
            return answer, ()
        if not used:
            return self._bind_query(tree, Surroundings(None, around.ctes)), ()
        names.domain_columns |= used
        own = tuple((column, column) for column in around.carried)
        return Answer(answer.plan, (*answer.columns, *own)), around.carried

    def _streamed(self, frame: Frame, tree: exp.Expr, name: str) -> Frame:
        return frame.over(self._with_stream_part(frame.plan, tree, name))

    def _with_stream_part(self, plan: Node, tree: exp.Expr, name: str) -> Node:
        """The window after a relation's name, and what it is synchronized by."""
        window, sync = tree.args.get("window"), tree.args.get("sync")
        if window is not None:
            plan = timing.windowed(self._b, plan, window, name, tree)
        if sync is not None:
            plan = timing.synchronized(self._b, plan, sync)
        return plan

    def _renamed(self, answer: Answer, tree: exp.Expr, name: str | None, hidden: int = 0) -> Frame:
        """The columns of an answer under the relation's name, which no other has in the plan."""
        alias = tree.args.get("alias")
        relation = tree.alias or name
        given = [c.name for c in alias.columns] if isinstance(alias, exp.TableAlias) else []
        shown = len(answer.columns) - hidden
        self._check_names(relation, shown, given, alias or tree)
        items: list[Item] = []
        outputs = []
        for i, (user, column) in enumerate(answer.columns):
            chosen = self._b.fresh(f"{relation}.{user}" if relation else user)
            outputs.append((chosen, Column(column, answer.plan.schema.field(column).type)))
            called = given[i] if given and i < shown else user
            items.append(Item(called, chosen, relation, hidden=i >= shown))
        return Frame(Map(answer.plan, tuple(outputs)), Scope(tuple(items)))

    def _refuse_lateral(self, tree: exp.Expr) -> None:
        if isinstance(tree.this, exp.Subquery):
            self._b.diagnostics.unsupported(
                "A LATERAL query is not supported.",
                "Join with what it reads, or write it as a value: SELECT (SELECT max(x) ...).",
                tree,
            )
        self._b.diagnostics.unsupported(
            "LATERAL makes several rows of one, which is not supported.",
            "Explode the rows before they are appended, or join with a table of positions.",
            tree,
        )


def _as_before(frame: Frame, step: Answer) -> Frame:
    """The columns of a step of a pipe, under the relations that they were read from."""
    items = [
        replace(item, relation=step.relations.get(column))
        for item, (_, column) in zip(frame.scope.items, step.columns, strict=True)
    ]
    return replace(frame, scope=Scope(tuple(items)))


def _is_relation(tree: exp.Expr) -> bool:
    """Whether parentheses hold relations, joined perhaps, and no query."""
    if isinstance(tree, exp.Subquery):
        parts = ("joins", "alias", "window", "sync")
        return any(tree.args.get(part) for part in parts) or _is_relation(tree.this)
    return isinstance(tree, exp.Table)


def _equal(left: Item, right: Item) -> exp.Expr:
    return exp.EQ(this=bound_column(left.column), expression=bound_column(right.column))


def _merged(
    items: tuple[Item, ...], shared: list[tuple[Item, Item]], kind: JoinKind | None
) -> tuple[Item, ...]:
    """The items after USING: common columns first, each once."""
    if not shared:
        return items
    first = [pair[1] if kind == "right" else pair[0] for pair in shared]
    both = [item for pair in shared for item in pair]
    rest = [replace(item, only_qualified=True) if item in both else item for item in items]
    if kind == "full":
        return tuple(rest)
    return (*(replace(item, relation=None) for item in first), *rest)
