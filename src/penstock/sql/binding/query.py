"""A query: FROM, WHERE, GROUP BY, HAVING, windows, the select list, DISTINCT, ORDER BY and LIMIT.

The clauses are bound in the order in which SQL gives them their meaning. A tree whose names are
resolved reads columns of the plan so far; what a clause computes becomes columns for the next.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pyarrow as pa
from sqlglot import exp

from penstock.algebra.expr import Column, Expr, compare
from penstock.algebra.expr import Literal as Constant
from penstock.algebra.plan import (
    Changes,
    Distinct,
    Filter,
    Join,
    Map,
    Node,
    Rank,
    Scan,
    SetKind,
    SetOperation,
    SortKey,
    Union,
    project,
)
from penstock.algebra.streams import rstream
from penstock.sql.binding import subqueries
from penstock.sql.binding.context import (
    Answer,
    Binding,
    Frame,
    Surroundings,
    deciding,
    kept,
)
from penstock.sql.binding.grouping import Grouping
from penstock.sql.binding.joins import conjuncts, filtered
from penstock.sql.binding.ranking import Ranking
from penstock.sql.binding.relations import Relations
from penstock.sql.binding.scalars import bound_column, names_in, placed, unwrapped
from penstock.sql.binding.scopes import Item, Scope, columns_of
from penstock.sql.dialect import Penstock
from penstock.sql.row_order import limited, ordered_in, put_limit
from penstock.sql.text import one_of

SET_KINDS: dict[tuple[type[exp.Expr], bool], SetKind] = {
    (exp.Except, True): "except",
    (exp.Except, False): "difference",
    (exp.Intersect, True): "intersect",
    (exp.Intersect, False): "intersection",
}


class QueryBinder:
    """Binds a query and those in it, clause by clause."""

    def __init__(self, binding: Binding) -> None:
        self.b = binding
        self.relations = Relations(binding, self.bind)
        self.grouping = Grouping(binding)
        self.ranking = Ranking(binding)

    def bind(self, tree: exp.Expr, around: Surroundings) -> Answer:
        """The answer of a query: a SELECT, a set operation or VALUES."""
        if limited(tree) and not tree.args.get("order"):
            tree = self._limited_in_order(tree)
        around = self._with_ctes(tree, around)
        match tree:
            case exp.Subquery():
                return self._limited(tree, self.bind(tree.this, around), around)
            case exp.Select():
                answer = self._select(tree, around)
            case exp.SetOperation():
                answer = self._limited(tree, self._set_operation(tree, around), around)
            case exp.Values():
                answer = self._limited(tree, self._values(tree), Surroundings())
                if around.domain is not None:
                    answer = replace(answer, plan=Join(answer.plan, around.domain))
            case exp.Table():
                star = exp.select("*").from_(tree.copy())
                answer = self._select(star, around)
            case _:
                self.b.diagnostics.unsupported(
                    f"{type(tree).__name__.upper()} is not a query.", "Write a SELECT.", tree
                )
        output = tree.args.get("output")
        return self._as_stream(answer, output.name) if output is not None else answer

    def _limited_in_order(self, tree: exp.Expr) -> exp.Expr:
        """The query with its LIMIT where the ORDER BY is that its rows come in, if there is one."""
        if not isinstance(tree, exp.Select | exp.Subquery) or ordered_in(tree) is None:
            return tree
        tree = tree.copy()
        limit, offset = (tree.args.get(key) for key in ("limit", "offset"))
        tree.set("limit", None)
        tree.set("offset", None)
        put_limit(tree, limit, offset, lambda message, at: self.b.diagnostics.wrong(message, at))
        return tree

    def _as_stream(self, answer: Answer, output: str) -> Answer:
        return Answer(as_stream(answer.plan, output), answer.columns)

    def _with_ctes(self, tree: exp.Expr, around: Surroundings) -> Surroundings:
        clause = tree.args.get("with_")
        if clause is None:
            return around
        if clause.args.get("recursive"):
            self.b.diagnostics.unsupported(
                "Recursive queries are not supported.",
                "Follow links with as many joins as there are levels.",
                clause,
            )
        ctes = dict(around.ctes)
        for cte in clause.expressions:
            if any(
                cte.alias.lower() == other.alias.lower()
                for other in clause.expressions
                if other is not cte
            ):
                self.b.diagnostics.wrong(
                    f"Two queries in WITH are called {cte.alias}. Rename one of them.",
                    cte.args["alias"],
                )
            answer = self.bind(cte.this, Surroundings(None, ctes))
            given = [column.name for column in cte.args["alias"].columns]
            if given and len(given) != len(answer.columns):
                self.b.diagnostics.wrong(
                    f"{cte.alias} has {len(answer.columns)} columns, and names for {len(given)}.",
                    cte.args["alias"],
                )
            if given:
                columns = zip(given, (column for _, column in answer.columns), strict=True)
                answer = replace(answer, columns=tuple(columns))
            ctes[cte.alias.lower()] = answer
        return replace(around, ctes=ctes)

    # --- SELECT ---------------------------------------------------------------------------------

    def _select(self, tree: exp.Select, around: Surroundings) -> Answer:
        frame, correlated = self.body(tree, around)
        if correlated:
            raise subqueries.correlated(correlated)
        return self.finish(tree, frame, around)

    def body(self, tree: exp.Select, around: Surroundings) -> tuple[Frame, list[exp.Expr]]:
        """FROM and WHERE; the conditions that read columns of the query around are left over."""
        self.b.spend(tree)
        if tree.args.get("from_") is None:
            frame = Frame(self.b.one_row(), Scope(outer=around.outer))
            conditions = self._conditions(tree, frame.scope)
            plain = [c for c in conditions if not subqueries.contains(c)]
        else:
            factors = self.relations.factors(tree, around)
            conditions = self._conditions(tree, factors.scope)
            plain = [c for c in conditions if not subqueries.contains(c)]
            if around.domain is None:
                factors.conditions += [c for c in plain if not subqueries.is_outer(c)]
            else:
                factors.conditions += plain
                factors.frames.append(Frame(around.domain, factors.scope))
            frame = factors.joined(self.b)
            frame = Frame(frame.plan, factors.scope)
        if tree.args.get("from_") is None:
            if around.domain is not None:
                frame = frame.over(Join(frame.plan, around.domain))
            frame = filtered(self.b, frame, [c for c in plain if not subqueries.is_outer(c)])
        correlated = [c for c in plain if subqueries.is_outer(c)]
        nested = [c for c in conditions if subqueries.contains(c)]
        return subqueries.filtered(self, frame, nested, around), correlated

    def _conditions(self, tree: exp.Select, scope: Scope) -> list[exp.Expr]:
        where = tree.args.get("where")
        scope = replace(scope, later=frozenset(item.alias.lower() for item in tree.expressions))
        return conjuncts(self.b.names.resolve(where.this, scope)) if where else []

    def finish(self, tree: exp.Select, frame: Frame, around: Surroundings) -> Answer:
        """Everything after WHERE."""
        frame = self.grouping.with_time_group(tree, frame)
        outputs = self._outputs(tree, frame.scope)
        order = self._order(tree, frame.scope, outputs)
        having, qualify = tree.args.get("having"), tree.args.get("qualify")
        scope = replace(frame.scope, aliases={n.lower(): t for n, t in outputs if n})
        clauses = [t for _, t in outputs] + [key.this for key in order]
        conditions = [
            [self.b.names.resolve(c, scope) for c in conjuncts(clause.this)] if clause else []
            for clause in (having, qualify)
        ]
        trees = [*clauses, *conditions[0], *conditions[1]]
        grouped = tree.args.get("group") or any(self.grouping.aggregates(t) for t in trees)
        if having and not grouped and any(names_in(c) for c in conditions[0]):
            self.b.diagnostics.wrong("HAVING needs GROUP BY or an aggregate; use WHERE.", having)
        if grouped or having:
            frame, trees = self._with_arguments(frame, trees, around)
            frame, trees = self.grouping.grouped(tree, frame, trees, outputs, around)
        count = len(clauses)
        after_having = trees[count : count + len(conditions[0])]
        plain = [c for c in after_having if not subqueries.contains(c)]
        nested = [c for c in after_having if subqueries.contains(c)]
        frame = subqueries.filtered(self, filtered(self.b, frame, plain), nested, around)
        trees = [*trees[:count], *trees[count + len(conditions[0]) :]]
        frame, trees = self._with_subqueries(frame, trees, around)
        frame, trees = self.ranking.ranked(tree, frame, trees, around.carried)
        frame = filtered(self.b, frame, trees[count:])
        return self._projected(tree, frame, outputs, trees[:count], order, around)

    def _with_subqueries(
        self, frame: Frame, trees: Sequence[exp.Expr], around: Surroundings
    ) -> tuple[Frame, list[exp.Expr]]:
        """The trees over a frame with what their queries give; equal ones are bound once."""
        if not any(map(subqueries.contains, trees)):
            return frame, list(trees)
        found: dict[str, exp.Expr] = {}
        texts = [tree.sql() for tree in trees]
        for text, tree in zip(texts, trees, strict=True):
            if text not in found:
                frame, found[text] = subqueries.values(self, frame, tree, around)
        return frame, [found[text] for text in texts]

    def _with_arguments(
        self, frame: Frame, trees: Sequence[exp.Expr], around: Surroundings
    ) -> tuple[Frame, list[exp.Expr]]:
        """The trees over a frame with what queries in the arguments of aggregates give."""
        changed = []
        for tree in trees:
            root = exp.Paren(this=tree.copy())
            for node in list(self.grouping.aggregates(root)):
                for child in list(node.iter_expressions()):
                    if subqueries.contains(child):
                        frame, value = subqueries.values(self, frame, child, around)
                        child.replace(value)
            changed.append(root.this)
        return frame, changed

    # --- the select list ------------------------------------------------------------------------

    def _outputs(self, tree: exp.Select, scope: Scope) -> list[tuple[str, exp.Expr]]:
        """The select list: names, and trees whose names are resolved; stars are spelt out."""
        outputs: list[tuple[str, exp.Expr]] = []
        aliases: dict[str, exp.Expr] = {}
        for item in tree.expressions:
            star = item.this if isinstance(item, exp.Column) else item
            if isinstance(star, exp.Star):
                outputs += self._starred(item, star, scope)
                continue
            if isinstance(item, exp.PositionalColumn):
                numbered = self.b.names.numbered(item, scope)
                outputs.append((numbered.name, self.b.names.of_star(numbered, item)))
                continue
            name = item.alias or self._name_of(item)
            inner = item.this if isinstance(item, exp.Alias) else item
            resolved = self.b.names.resolve(inner, replace(scope, aliases=aliases))
            outputs.append((name, resolved))
            if isinstance(item, exp.Alias):
                aliases.setdefault(name.lower(), resolved)
        return outputs

    def _starred(self, item: exp.Expr, star: exp.Star, scope: Scope) -> list[tuple[str, exp.Expr]]:
        relation = item.args["table"].name if item.args.get("table") else None
        items = scope.visible(relation)
        if not items:
            self.b.diagnostics.unknown("relation", relation or "*", scope.relations(), item)
        if star.args.get("replace") or star.args.get("rename"):
            self.b.diagnostics.unsupported(
                "* REPLACE and * RENAME are not supported.", "List the columns.", star
            )
        left_out = {}
        for column in star.args.get("except_") or ():
            if not any(item.name.lower() == column.name.lower() for item in items):
                self.b.diagnostics.unknown("column", column.name, [i.name for i in items], column)
            left_out[column.name.lower()] = column
        kept_items = [i for i in items if i.name.lower() not in left_out]
        return [(i.name, self.b.names.of_star(i, item)) for i in kept_items]

    def _name_of(self, item: exp.Expr) -> str:
        match unwrapped(item):
            case exp.Column() as column:
                return column.name
            case exp.Dot() as dot:
                return dot.expression.name
        return item.sql(Penstock, normalize_functions="lower").replace("`", "")

    def _projected(
        self,
        tree: exp.Select,
        frame: Frame,
        outputs: Sequence[tuple[str, exp.Expr]],
        trees: Sequence[exp.Expr],
        order: Sequence[exp.Ordered],
        around: Surroundings,
    ) -> Answer:
        columns: list[tuple[str, str]] = []
        computed: list[tuple[str, Expr]] = []
        relations: dict[str, str] = {}
        for (name, named), value in zip(outputs, trees, strict=False):
            chosen = self.b.fresh(name)
            computed.append((chosen, self.b.expr(value, frame)))
            columns.append((name, chosen))
            if owner := frame.scope.owner(name, named):
                relations[chosen] = owner
        selected = zip(trees if order else (), columns, strict=False)
        by_tree = {value.sql(): chosen for value, (_, chosen) in selected}
        distinct = tree.args.get("distinct")
        carried = kept(frame.plan, around.carried)
        plan: Node = Map(frame.plan, (*computed, *carried))
        if distinct:
            for field in plan.schema:
                self.b.check_compared(field.type, tree)
            plan = Distinct(plan)
        keys: list[SortKey] = []
        extra: list[tuple[str, Expr]] = []
        for ordered, value in zip(order, trees[len(outputs) :], strict=True):
            column = by_tree.get(value.sql())
            if column is None:
                made = self._of_selected(value, by_tree, frame.over(plan)) if distinct else None
                column = self.b.fresh("order")
                extra.append((column, made or self.b.expr(value, frame)))
            if column not in [key.column for key in keys]:
                keys.append(sort_key(column, ordered))
                self.b.check_compared(dict([*computed, *extra])[column].type, ordered)
        if extra and distinct:
            plan = Map(plan, (*kept(plan), *extra))
        elif extra:
            plan = Map(frame.plan, (*computed, *extra, *carried))
        plan = self._cut(tree, plan, keys, around)
        if extra:
            plan = project(plan, [*(c for _, c in columns), *around.carried])
        return Answer(plan, tuple(columns), relations)

    def _of_selected(self, tree: exp.Expr, selected: Mapping[str, str], frame: Frame) -> Expr:
        """A value of ORDER BY that is made of columns of the select list, over these."""
        value = tree.transform(
            lambda n: bound_column(selected[n.sql()], n) if n.sql() in selected else n
        )
        if not set(names_in(value)) <= set(frame.schema.names):
            self.b.diagnostics.wrong(
                "With DISTINCT, ORDER BY can only name columns of the select list.", tree
            )
        return self.b.expr(value, frame)

    # --- ORDER BY and LIMIT ---------------------------------------------------------------------

    def _order(
        self, tree: exp.Expr, scope: Scope, outputs: Sequence[tuple[str, exp.Expr]]
    ) -> list[exp.Ordered]:
        """The keys of ORDER BY that decide which rows stay: there are none without a LIMIT.

        They are to be there all the same.
        """
        clause = tree.args.get("order")
        if clause is None:
            return []
        names = {name.lower(): value for name, value in outputs}
        twice = {
            name.lower()
            for name, value in outputs
            if name and value.sql() != names[name.lower()].sql()
        }
        keys = []
        for ordered in clause.expressions:
            ordered = ordered if isinstance(ordered, exp.Ordered) else exp.Ordered(this=ordered)
            this = unwrapped(ordered.this)
            match this:
                case exp.Var(this="ALL"):
                    keys += [placed(_ordered_by(ordered, value), this) for _, value in outputs]
                    continue
                case exp.Literal(is_string=False, this=text) if str(text).isdigit():
                    value = self._by_position(int(text), outputs, this)
                case _:
                    value = self._by_names(this, names, twice)
                    value = self.b.names.resolve(value, replace(scope, aliases=names))
            keys.append(_ordered_by(ordered, value))
        return keys if tree.args.get("limit") or tree.args.get("offset") else []

    def _by_names(
        self, tree: exp.Expr, names: Mapping[str, exp.Expr], twice: Container[str]
    ) -> exp.Expr:
        """The tree, where a name alone is the column of the select list that is called so, if one
        is: rather than that of a relation, but for what is aggregated."""
        root = exp.Paren(this=tree.copy())
        inside = {id(n) for call in self.grouping.aggregates(root) for n in call.walk()}
        for column in list(columns_of(root)):
            name = column.name.lower()
            if len(column.parts) > 1 or name not in names or id(column) in inside:
                continue
            if name in twice:
                self.b.diagnostics.wrong(
                    f"There are two columns {column.name} in the select list. Give one another "
                    "name, or write its number: ORDER BY 1.",
                    column,
                )
            value = placed(names[name].copy(), column)
            column.replace(value if column.parent is root else exp.Paren(this=value))
        return root.this

    def _by_position(
        self, position: int, outputs: Sequence[tuple[str, exp.Expr]], at: exp.Expr
    ) -> exp.Expr:
        if not 1 <= position <= len(outputs):
            self.b.diagnostics.wrong(
                f"There is no column {position} in a select list of {len(outputs)}.", at
            )
        return outputs[position - 1][1]

    def _cut(
        self, tree: exp.Expr, plan: Node, keys: Sequence[SortKey], around: Surroundings
    ) -> Node:
        """LIMIT and OFFSET, as the first rows of a rank."""
        limit, offset = self._count(tree, "limit"), self._count(tree, "offset") or 0
        if limit is None and not offset:
            return plan
        if limit == 0:
            return Filter(plan, Constant(False, pa.bool_()))
        number = self.b.fresh("row") if offset else None
        top = None if limit is None else limit + offset
        ranked: Node = Rank(plan, around.carried, deciding(keys), top, "row_number", number)
        if number is None:
            return ranked
        place = Column(number, pa.int64())
        ranked = Filter(ranked, compare(">", place, Constant(offset, pa.int64())))
        return project(ranked, plan.schema.names)

    def _count(self, tree: exp.Expr, key: str) -> int | None:
        clause = tree.args.get(key)
        if clause is None:
            return None
        if isinstance(clause, exp.Fetch):
            tree_of_count = clause.args.get("count") or exp.Literal.number(1)
        else:
            tree_of_count = clause.expression
        if isinstance(tree_of_count, exp.Column | exp.Var) and tree_of_count.name.upper() == "ALL":
            return None
        value = self.b.scalars.expr(tree_of_count, pa.schema([]))
        match value:
            case Constant(int() as number, _) if number >= 0:
                return number
        self.b.diagnostics.wrong(f"{key.upper()} needs a whole number.", clause)

    def _limited(self, tree: exp.Expr, answer: Answer, around: Surroundings) -> Answer:
        """ORDER BY and LIMIT of a set operation, which know only its columns."""
        outputs = [(name, bound_column(column)) for name, column in answer.columns]
        keys: list[SortKey] = []
        frame = Frame(answer.plan, Scope())
        scope = Scope(tuple(Item(name, column) for name, column in answer.columns))
        for ordered in self._order(tree, scope, outputs):
            column, frame = self.b.column(ordered.this, frame, "order")
            if column not in [key.column for key in keys]:
                keys.append(sort_key(column, ordered))
        plan = self._cut(tree, frame.plan, keys, around)
        if plan is frame.plan:
            return answer
        names = [*(column for _, column in answer.columns), *around.carried]
        return replace(answer, plan=plan if plan.schema.names == names else project(plan, names))

    # --- set operations and VALUES --------------------------------------------------------------

    def _set_operation(self, tree: exp.SetOperation, around: Surroundings) -> Answer:
        if tree.args.get("by_name"):
            self.b.diagnostics.unsupported(
                "BY NAME is not supported.", "List the columns in one order on both sides.", tree
            )
        inside = replace(around, null_if_none=False)
        trees = _links(tree)
        answers = [self.bind(side, inside) for side in trees]
        first = answers[0].columns
        for answer, side in zip(answers, trees, strict=True):
            if len(answer.columns) != len(first):
                self.b.diagnostics.wrong(
                    f"The two sides have {len(first)} and {len(answer.columns)} columns; they "
                    "need the same number.",
                    side if len(trees) > 2 else tree,
                )
        names = [self.b.fresh(name) for name, _ in first]
        sides = self._aligned(answers, names, tree, around)
        columns = tuple(zip((name for name, _ in first), names, strict=True))
        distinct = bool(tree.args.get("distinct"))
        if distinct or not isinstance(tree, exp.Union):
            for name in names:
                self.b.check_compared(sides[0].schema.field(name).type, tree)
        if isinstance(tree, exp.Union):
            union: Node = Union(sides)
            return Answer(Distinct(union) if distinct else union, columns)
        return Answer(SetOperation(SET_KINDS[type(tree), distinct], *sides), columns)

    def _aligned(
        self,
        answers: Sequence[Answer],
        names: Sequence[str],
        tree: exp.Expr,
        around: Surroundings,
    ) -> tuple[Node, ...]:
        """All sides with the same names and types: each brings those before it to a common type."""
        outputs: list[list[tuple[str, Expr]]] = [[] for _ in answers]
        for place, name in enumerate(names):
            values: list[Expr] = []
            for answer in answers:
                column = answer.columns[place][1]
                value: Expr = Column(column, answer.plan.schema.field(column).type)
                before = values[0] if values else value
                wanted = self.b.scalars.common_type(before, value, tree)
                if wanted != before.type:
                    values = [self.b.scalars.cast(other, wanted, tree) for other in values]
                values.append(self.b.scalars.cast(value, wanted, tree))
            for output, value in zip(outputs, values, strict=True):
                output.append((name, value))
        return tuple(
            Map(answer.plan, (*output, *kept(answer.plan, around.carried)))
            for answer, output in zip(answers, outputs, strict=True)
        )

    def _values(self, tree: exp.Values) -> Answer:
        """The rows of a VALUES, as a table that is there for all time."""
        rows = [
            [self.b.scalars.constant(value) for value in _fields(row)] for row in tree.expressions
        ]
        widths = {len(row) for row in rows}
        if len(widths) > 1:
            counts = one_of(map(str, sorted(widths)))
            self.b.diagnostics.wrong(
                f"The rows of VALUES have {counts} values; all need the same number.", tree
            )
        columns: dict[str, pa.Array] = {}
        for i in range(widths.pop()):
            first = rows[0][i]
            for row in rows[1:]:
                wanted = self.b.scalars.common_type(first, row[i], tree)
                first = Constant(None, wanted)
            try:
                columns[f"col{i + 1}"] = _column_of([row[i].value for row in rows], first.type)
            except (pa.ArrowInvalid, pa.ArrowTypeError):
                self.b.diagnostics.wrong(
                    f"The values of column {i + 1} are of several types. Write CAST(x AS type) "
                    "around those of the other types.",
                    tree,
                )
        table = pa.table(columns)
        name = tree.sql()
        self.b.constants[name] = table
        return Answer(Scan(name, table.schema), tuple((c, c) for c in columns))


def _links(tree: exp.SetOperation) -> list[exp.Expr]:
    """The two sides; of UNIONs in a row, which may be hundreds, all that they put together."""
    sides = [tree.expression]
    while type(tree) is type(tree.this) is exp.Union and _says_the_same(tree.this, tree):
        tree = tree.this
        sides.append(tree.expression)
    return [tree.this, *reversed(sides)]


def _says_the_same(union: exp.Union, other: exp.Union) -> bool:
    """Whether a union has the DISTINCT or ALL of another, and no clause of its own."""
    own = {key for key, value in union.args.items() if value}
    same = bool(union.args.get("distinct")) == bool(other.args.get("distinct"))
    return same and own <= {"this", "expression", "distinct"}


def _ordered_by(ordered: exp.Ordered, value: exp.Expr) -> exp.Ordered:
    """The same order, by a value whose names are resolved."""
    key = ordered.copy()
    key.set("this", value.copy())
    return key


def as_stream(plan: Node, output: str) -> Node:
    """CQL's streams: what comes, what goes, or all there is whenever anything changes."""
    match output:
        case "ISTREAM":
            return Changes(plan, "inserted")
        case "DSTREAM":
            return Changes(plan, "deleted")
        case "RSTREAM":
            return rstream(plan)
    return plan


def _column_of(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    whole = [float(v) if isinstance(v, Decimal) else v for v in values]
    return pa.array(whole if pa.types.is_floating(kind) else values, kind)


def _fields(row: exp.Expr) -> list[exp.Expr]:
    return row.expressions if isinstance(row, exp.Tuple) else [unwrapped(row)]


def sort_key(column: str, ordered: exp.Ordered) -> SortKey:
    descending = bool(ordered.args.get("desc"))
    first = ordered.args.get("nulls_first")
    return SortKey(column, descending, not descending if first is None else bool(first))
