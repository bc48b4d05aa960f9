"""Random queries that mean the same in Penstock, that is in Spark SQL, and in DuckDB.

The same text is for both. A stream with a window on it is called `r0__range_3`; for Penstock,
`for_penstock` makes `r0 [RANGE 3]` of it, and DuckDB is given a table of that name.

What means different things to the two is not generated:
- overflow, division (of integers, decimals, and by zero), the scale of products of decimals:
  numbers stay small, `/` does not occur, `%` has a constant on its right, decimals are only added;
- avg and median of decimals, which are decimals in Spark: only of other numbers;
- comparisons of text with numbers, of decimals with doubles: both sides have one type, but that
  integers may stand beside any number;
- the types of sums and of the parts of dates: where they are used any further, they are cast;
- casts of doubles to text; dates plus intervals, which are timestamps in DuckDB;
- NaN, and the order of text in any collation;
- which of several rows comes first: orders that decide are by all columns, so that only equal rows
  tie. Where NULLs are sorted is left open: DuckDB is set to do as Spark does;
- scalar subqueries that may have several rows: they aggregate, or take the first row;
- grouping sets over no rows: Spark has no row of totals then.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from penstock.testing.random_inputs import DECIMAL, UNBOUNDED, Column, Input, Window
from penstock.testing.random_scalars import NUMBERS, Scalars, Scope


@dataclass(frozen=True)
class Relation:
    """What can stand in FROM, and the windows that may be put on it."""

    name: str
    columns: tuple[Column, ...]
    windows: tuple[Window, ...] = ()


@dataclass(frozen=True)
class Query:
    """The text of a random query, and the columns it gives."""

    text: str
    columns: tuple[Column, ...]


def relation_of(source: Input) -> Relation:
    return Relation(source.name, source.columns, source.windows)


def windowed_name(name: str, window: Window) -> str:
    return name if window == UNBOUNDED else f"{name}__{window.name}"


def for_penstock(text: str) -> str:
    def spelt(found: re.Match[str]) -> str:
        name, kind, size = found.groups()
        return f"{name} {Window(kind, int(size))}"  # type: ignore[arg-type]

    return re.sub(r"\b(\w+?)__([a-z]+)_(\d+)\b", spelt, text)


@dataclass
class Queries(Scalars):
    """Makes queries over relations; a query, once it is a view, is a relation for the next."""

    relations: list[Relation] = field(default_factory=list)
    _named: int = 0
    _numbered: bool = False
    _ctes: list[Relation] = field(default_factory=list)

    # --- choices --------------------------------------------------------------------------------

    def fresh(self, prefix: str) -> str:
        self._named += 1
        return f"{prefix}{self._named}"

    def kind_in(self, scope: Scope) -> str:
        """The type of a column that is to be made from these."""
        return self.rng.choice(self.kinds)

    # --- queries --------------------------------------------------------------------------------

    def query(self, depth: int = 2, kinds: Sequence[str] | None = None) -> Query:
        """Any query, or one whose columns have these types."""
        if depth > 0 and kinds is None and self.chance(0.1):
            return self._with_cte(depth)
        if depth > 0 and self.chance(0.15):
            return self._set_operation(depth, kinds)
        return self._select(depth, kinds)

    def _with_cte(self, depth: int) -> Query:
        inner = self.query(depth - 1)
        name = self.fresh("w")
        self._ctes.append(Relation(name, inner.columns))
        outer = self._select(depth)
        self._ctes.pop()
        return Query(f"WITH {name} AS ({inner.text}) {outer.text}", outer.columns)

    def _set_operation(self, depth: int, kinds: Sequence[str] | None) -> Query:
        left = self._select(depth - 1, kinds, plain=True)
        if self.chance(0.5):
            right = self._part_of(left)
        else:
            right = self._select(depth - 1, [column.kind for column in left.columns], plain=True)
        word = self.rng.choice(("UNION", "EXCEPT", "INTERSECT", "UNION ALL"))
        if word != "UNION ALL" and self.chance(0.5):
            word = f"{word} ALL"
        text = f"{left.text} {word} {right.text}"
        return self._cut(text, left.columns) if self.chance(0.15) else Query(text, left.columns)

    def _part_of(self, query: Query) -> Query:
        """Some of the rows of a query, as another."""
        alias = self.fresh("t")
        scope = _qualified(alias, query.columns)
        items, columns = self._items([c.name for c in scope], [c.kind for c in scope])
        source = f"({query.text}) AS {alias}"
        return Query(f"SELECT {items} FROM {source} WHERE {self.condition(scope)}", columns)

    def _select(self, depth: int, kinds: Sequence[str] | None = None, plain: bool = False) -> Query:
        source, scope = self._from(depth)
        kinds = kinds or self.some(1, 4, lambda: self.kind_in(scope))
        where = self._where(scope, depth)
        if self.chance(0.06):
            return self._ranked(source, where, scope, kinds)
        choice = self.rng.random()
        if choice < 0.35:
            return self._grouped(source, where, scope, kinds, depth)
        if choice < 0.5:
            self._numbered = False
            values = [self._over(scope, kind) for kind in kinds]
        elif choice < 0.65 and depth > 0:
            values = [self._value_or_subquery(scope, kind, depth) for kind in kinds]
        else:
            values = [self.value(scope, kind) for kind in kinds]
        distinct = "DISTINCT " if self.chance(0.15) else ""
        items, columns = self._items(values, kinds)
        text = f"SELECT {distinct}{items} FROM {source}{where}"
        if not plain and self.chance(0.12):
            return self._cut(text, columns, () if distinct else scope)
        return Query(text, columns)

    def _ranked(self, source: str, where: str, scope: Scope, kinds: Sequence[str]) -> Query:
        """The rows of some ranks, by QUALIFY or by a query around the one that ranks."""
        items, columns = self._items([self.value(scope, kind) for kind in kinds], kinds)
        function = self.rng.choice(("row_number", "rank", "dense_rank"))
        order = self._ordered(scope) if function == "row_number" else self._by_few(scope)
        rank = f"{function}() OVER ({order})"
        bound = self.rng.choice(("<= 1", "<= 2", "< 3", "= 1", "= 2", "BETWEEN 2 AND 3", "> 1"))
        if self.chance(0.5):
            return Query(f"SELECT {items} FROM {source}{where} QUALIFY {rank} {bound}", columns)
        number, alias = self.fresh("n"), self.fresh("t")
        inner = f"SELECT {items}, {rank} AS {number} FROM {source}{where}"
        names = ", ".join(f"{alias}.{column.name} AS {column.name}" for column in columns)
        text = f"SELECT {names} FROM ({inner}) AS {alias} WHERE {alias}.{number} {bound}"
        return Query(text, columns)

    def _items(self, values: Sequence[str], kinds: Sequence[str]) -> tuple[str, tuple[Column, ...]]:
        columns = tuple(Column(self.fresh("c"), kind) for kind in kinds)
        pairs = zip(values, columns, strict=True)
        return ", ".join(f"{value} AS {column.name}" for value, column in pairs), columns

    def _cut(self, text: str, columns: tuple[Column, ...], scope: Scope = ()) -> Query:
        """The first rows by an order of all columns, or all but the first."""
        order = self._order(columns)
        if scope and self.chance(0.4):
            first = self._computed_key(scope, self.rng.choice(list(scope)).kind)
            order = f"{first}{self._direction()}, {order}"
        text = f"{text} ORDER BY {order}"
        limit, offset = self.rng.randint(0, 5), self.rng.randint(1, 3)
        match self.rng.choice(("limit", "limit", "both", "offset")):
            case "limit":
                text = f"{text} LIMIT {limit}"
            case "both":
                text = f"{text} LIMIT {limit} OFFSET {offset}"
            case "offset":
                text = f"{text} OFFSET {offset}"
        return Query(text, columns)

    def _order(self, columns: Scope) -> str:
        """A total order: among rows, only equal ones tie."""
        keys = self.rng.sample(list(columns), len(columns))
        return ", ".join(f"{column.name}{self._direction()}" for column in keys)

    def _direction(self) -> str:
        nulls = self.rng.choice(("", "", " NULLS FIRST", " NULLS LAST"))
        return self.rng.choice(("", " ASC", " DESC")) + nulls

    # --- FROM -----------------------------------------------------------------------------------

    def _from(self, depth: int) -> tuple[str, list[Column]]:
        text, scope = self._relation(depth)
        joins = self.rng.choice((0, 0, 1, 1, 1, 2))
        for _ in range(joins):  # a third relation could have the common column, too
            text, scope = self._joined(text, scope, depth, using=joins == 1)
        return text, scope

    def _relation(self, depth: int) -> tuple[str, list[Column]]:
        alias = self.fresh("t")
        if depth > 0 and self.chance(0.2):
            inner = self.query(depth - 1)
            return f"({inner.text}) AS {alias}", _qualified(alias, inner.columns)
        chosen = self.rng.choice([*self.relations, *self._ctes, *self._ctes])
        name = chosen.name
        if chosen.windows and self.chance(0.6):
            name = windowed_name(name, self.rng.choice(chosen.windows))
        return f"{name} AS {alias}", _qualified(alias, chosen.columns)

    def _joined(
        self, text: str, left: list[Column], depth: int, using: bool
    ) -> tuple[str, list[Column]]:
        other, right = self._relation(depth)
        kinds = ("", "INNER", "LEFT", "LEFT", "RIGHT", "FULL", "CROSS", "SEMI", "ANTI")
        kind = self.rng.choice(kinds)
        both = [*left, *right]
        if kind == "CROSS":
            return f"{text} CROSS JOIN {other}", both
        shared = [c for c in _bare(left) if c in _bare(right)]
        if using and shared and self.chance(0.35):
            return self._using(text, left, kind, other, right, self.rng.choice(shared))
        on = self._link(left, right)
        if self.chance(0.2):
            on = f"{on} AND {self.condition(both)}"
        scope = left if kind in ("SEMI", "ANTI") else both
        return f"{text} {kind} JOIN {other} ON {on}", scope

    def _using(
        self,
        text: str,
        left: list[Column],
        kind: str,
        other: str,
        right: list[Column],
        shared: Column,
    ) -> tuple[str, list[Column]]:
        text = f"{text} {kind} JOIN {other} USING ({shared.name})"
        if kind in ("SEMI", "ANTI"):
            return text, left
        rest = [c for c in (*left, *right) if _bare_name(c) != shared.name]
        return text, [shared, *rest]

    def _link(self, left: Scope, right: Scope) -> str:
        """An equality between two sides, where they have columns of one type."""
        pairs = [(a, c) for a in left for c in right if a.kind == c.kind]
        if not pairs or self.chance(0.1):
            return self.condition([*left, *right])
        a, c = self.rng.choice(pairs)
        return f"{a.name} = {c.name}"

    # --- WHERE ----------------------------------------------------------------------------------

    def _where(self, scope: Scope, depth: int) -> str:
        if self.chance(0.6):
            return ""
        parts = self.some(1, 2, lambda: self._condition_or_subquery(scope, depth))
        return f" WHERE {self.rng.choice((' AND ', ' OR ')).join(parts)}"

    def _condition_or_subquery(self, scope: Scope, depth: int) -> str:
        if depth == 0 or self.chance(0.6):
            return self.condition(scope)
        found = self._subquery_condition(scope, depth)
        return f"(NOT {found})" if self.chance(0.15) else found

    def _subquery_condition(self, scope: Scope, depth: int) -> str:
        negated = "NOT " if self.chance(0.4) else ""
        match self.rng.choice(("exists", "exists", "in", "in", "scalar")):
            case "exists":
                return f"{negated}EXISTS ({self._correlated(scope, depth, '1')})"
            case "in":
                column = self.rng.choice(list(scope))
                inner = self._in_query(scope, column.kind, depth)
                return f"{column.name} {negated}IN ({inner})"
        kind = self.rng.choice(self.kinds)
        operator = self.rng.choice(("=", "<", ">=", "<>"))
        return f"({self.value(scope, kind, 0)} {operator} {self._scalar(scope, kind, depth)})"

    def _in_query(self, scope: Scope, kind: str, depth: int) -> str:
        if self.chance(0.3):
            return self.query(depth - 1, [kind]).text
        source, inner = self._relation(depth - 1)
        where = f" WHERE {self._tie(scope, inner)}" if self.chance(0.5) else ""
        return f"SELECT {self.value(inner, kind, 1)} FROM {source}{where}"

    def _correlated(self, scope: Scope, depth: int, item: str) -> str:
        source, inner = self._relation(depth - 1)
        return f"SELECT {item} FROM {source} WHERE {self._tie(scope, inner)}"

    def _tie(self, scope: Scope, inner: Scope) -> str:
        """A condition of an inner query on the row around it."""
        tie = self._link(scope, inner)
        return f"{tie} AND {self.condition([*inner, *scope])}" if self.chance(0.3) else tie

    def _scalar(self, scope: Scope, kind: str, depth: int) -> str:
        """A query of one value; over no rows it is NULL, or 0 where it counts."""
        source, inner = self._relation(depth - 1)
        where = f" WHERE {self._tie(scope, inner)}" if self.chance(0.6) else ""
        if self.chance(0.2):
            first = f"ORDER BY {self._order(inner)} LIMIT 1"
            return f"(SELECT {self.value(inner, kind, 1)} FROM {source}{where} {first})"
        return f"(SELECT {self.aggregate(inner, kind)} FROM {source}{where})"

    def _value_or_subquery(self, scope: Scope, kind: str, depth: int) -> str:
        match self.rng.choice(("value", "scalar", "scalar", "test")):
            case "scalar":
                return self._scalar(scope, kind, depth)
            case "test" if kind == "BOOLEAN":
                return self._subquery_condition(scope, depth)
        return self.value(scope, kind)

    # --- GROUP BY -------------------------------------------------------------------------------

    def _grouped(
        self, source: str, where: str, scope: Scope, kinds: Sequence[str], depth: int
    ) -> Query:
        keys = self._keys(scope)
        values = []
        for kind in kinds:
            mine = [key for key in keys if key.kind == kind]
            if mine and self.chance(0.6):
                values.append(self.rng.choice(mine).name)
            else:
                values.append(self._over_groups(scope, kind))
        items, columns = self._items(values, kinds)
        group = self._group_by(keys)
        having = f" HAVING {self._having(scope, depth)}" if self.chance(0.15) else ""
        return Query(f"SELECT {items} FROM {source}{where}{group}{having}", columns)

    def _keys(self, scope: Scope) -> list[Column]:
        keys: dict[str, Column] = {}
        for _ in range(self.rng.choice((0, 1, 1, 2, 2, 3))):
            column = self.rng.choice(list(scope))
            if self.chance(0.25):
                column = Column(self._computed_key(scope, column.kind), column.kind)
            keys[column.name] = column
        return list(keys.values())

    def _computed_key(self, scope: Scope, kind: str) -> str:
        columns = [column for column in scope if column.kind == kind]
        text = self.value(columns, kind, 1)
        return text if any(c.name in text for c in columns) else columns[0].name

    def _group_by(self, keys: Sequence[Column]) -> str:
        names = [key.name for key in keys]
        if not names:
            return ""
        if len(names) < 2 or self.chance(0.75):
            return f" GROUP BY {', '.join(names)}"
        # not the set of no columns: see above
        sets = [f"({names[0]})", f"({', '.join(names)})"]
        if self.chance(0.5):
            sets.append(f"({names[-1]})")
        match self.rng.choice(("sets", "rollup", "cube")):
            case "rollup":
                return f" GROUP BY {names[0]}, ROLLUP ({', '.join(names[1:])})"
            case "cube":
                return f" GROUP BY {names[0]}, CUBE ({', '.join(names[1:])})"
        return f" GROUP BY GROUPING SETS ({', '.join(sets)})"

    def _over_groups(self, scope: Scope, kind: str) -> str:
        value = self.aggregate(scope, kind)
        if kind in ("INT", "BIGINT", "DOUBLE") and self.chance(0.2):
            return f"({value} + {self.constant(kind)})"
        return f"coalesce({value}, {self.constant(kind)})" if self.chance(0.15) else value

    def _having(self, scope: Scope, depth: int) -> str:
        kind = self.rng.choice(("INT", "BIGINT", "DOUBLE", "STRING"))
        value = self.aggregate(scope, kind)
        if depth > 0 and self.chance(0.3):
            source, inner = self._relation(depth - 1)
            return f"{value} >= (SELECT {self.aggregate(inner, kind)} FROM {source})"
        return f"({value} {self.rng.choice(('>', '<=', '<>'))} {self.constant(kind)})"

    def aggregate(self, scope: Scope, kind: str) -> str:
        distinct = "DISTINCT " if self.chance(0.2) else ""
        of = self.rng.choice(self.kinds)
        match kind:
            case "BIGINT":
                choices = [
                    "count(*)",
                    f"count({distinct}{self.value(scope, of, 1)})",
                    f"CAST(sum({distinct}{self.value(scope, 'INT', 1)}) AS BIGINT)",
                    f"CAST(sum({distinct}{self.value(scope, 'BIGINT', 1)}) AS BIGINT)",
                    f"max({self.value(scope, kind, 1)})",
                ]
            case "DOUBLE":
                choices = [
                    f"sum({distinct}{self.value(scope, kind, 1)})",
                    f"avg({distinct}{self.value(scope, self.rng.choice(NUMBERS[:3]), 1)})",
                    f"median({self.value(scope, self.rng.choice(('INT', 'DOUBLE')), 1)})",
                    f"var_pop({self.value(scope, 'INT', 1)})",
                    f"min({self.value(scope, kind, 1)})",
                ]
            case "DECIMAL(8,2)":
                value = self.value(scope, kind, 1)
                choices = [f"CAST(sum({distinct}{value}) AS {DECIMAL})", f"max({value})"]
            case "BOOLEAN":
                value = self.condition(scope)
                choices = [f"{function}({value})" for function in ("bool_and", "bool_or", "max")]
            case _:
                value = self.value(scope, kind, 1)
                choices = [f"min({value})", f"max({distinct}{value})"]
        chosen = self.rng.choice(choices)
        if not chosen.startswith("CAST") and self.chance(0.2):
            return f"{chosen} FILTER (WHERE {self.condition(scope)})"
        return chosen

    # --- OVER -----------------------------------------------------------------------------------

    def _over(self, scope: Scope, kind: str) -> str:
        """A value, of a window of rows where there is one of this type.

        Only one in a select list tells equal rows apart: which of them is the first for one
        function need not be for another.
        """
        if self.chance(0.3):
            return self.value(scope, kind)
        choices = [self._aggregate_over]
        if kind == "BIGINT":
            choices += [self._rank, self._rank]
        if not self._numbered:
            choices += [self._neighbour, self._aggregate_over_rows]
            choices += [self._row_number] if kind == "BIGINT" else []
        chosen = self.rng.choice(choices)
        if chosen in (self._neighbour, self._aggregate_over_rows, self._row_number):
            self._numbered = True
        return chosen(scope, kind)

    def _neighbour(self, scope: Scope, kind: str) -> str:
        value = f"{self.value(scope, kind, 1)}, {self.rng.randint(1, 2)}"
        if self.chance(0.3):
            value = f"{value}, {self.constant(kind)}"
        return f"{self.rng.choice(('lag', 'lead'))}({value}) OVER ({self._ordered(scope)})"

    def _row_number(self, scope: Scope, kind: str) -> str:
        return f"CAST(row_number() OVER ({self._ordered(scope)}) AS BIGINT)"

    def _rank(self, scope: Scope, kind: str) -> str:
        function = self.rng.choice(("rank", "dense_rank"))
        return f"CAST({function}() OVER ({self._by_few(scope)}) AS BIGINT)"

    def _aggregate_over(self, scope: Scope, kind: str) -> str:
        over = self._by_few(scope) if self.chance(0.5) else self._partition(scope)
        return self._aggregated(scope, kind, over)

    def _aggregate_over_rows(self, scope: Scope, kind: str) -> str:
        over = f"{self._ordered(scope)} ROWS BETWEEN {self._frame()}"
        return self._aggregated(scope, kind, over)

    def _aggregated(self, scope: Scope, kind: str, over: str) -> str:
        value = self.value(scope, kind, 1)
        match kind:
            case "BIGINT" | "DECIMAL(8,2)":
                return f"CAST(sum({value}) OVER ({over}) AS {kind})"
            case "DOUBLE":
                return f"avg({value}) OVER ({over})"
        return f"{self.rng.choice(('min', 'max'))}({value}) OVER ({over})"

    def _ordered(self, scope: Scope) -> str:
        return f"{self._partition(scope)}ORDER BY {self._order(scope)}"

    def _by_few(self, scope: Scope) -> str:
        """An order in which rows are peers."""
        order = ", ".join(f"{c.name}{self._direction()}" for c in self._few(scope))
        return f"{self._partition(scope)}ORDER BY {order}"

    def _frame(self) -> str:
        return self.rng.choice(
            (
                "UNBOUNDED PRECEDING AND CURRENT ROW",
                "1 PRECEDING AND 1 FOLLOWING",
                "2 PRECEDING AND 1 PRECEDING",
                "CURRENT ROW AND UNBOUNDED FOLLOWING",
            )
        )

    def _partition(self, scope: Scope) -> str:
        if self.chance(0.3):
            return ""
        return f"PARTITION BY {', '.join(c.name for c in self._few(scope))} "

    def _few(self, scope: Scope) -> list[Column]:
        return self.rng.sample(list(scope), min(len(scope), self.rng.randint(1, 2)))


def _qualified(alias: str, columns: Sequence[Column]) -> list[Column]:
    return [Column(f"{alias}.{column.name}", column.kind) for column in columns]


def _bare_name(column: Column) -> str:
    return column.name.rpartition(".")[2]


def _bare(columns: Scope) -> list[Column]:
    return [Column(_bare_name(column), column.kind) for column in columns]
