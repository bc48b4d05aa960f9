"""Random queries in all that the language has of Spark SQL, to be compared with plain Spark.

`Queries` makes what Spark and DuckDB agree on; this adds what needs no second engine to agree:
nested types, subqueries in every position, joins in parentheses, grouping in every spelling, all
aggregates with their options, pipes, and values whose type is Spark's to choose.

What is not generated, because the answer is open or Spark's own is not what SQL says:
- IN as a value where it is unknown (Spark: false, SQL: NULL): it stands inside coalesce;
- the first row by an expression of the row around it, `(SELECT ... WHERE a + 1 = b ... LIMIT 1)`:
  Spark 4.3 finds it for one value of the expression only;
- max_by of rows that tie: the value is a function of what orders;
- orders that decide are of all columns that have an order, as for `Queries`; maps have none, so
  they stand only in what is read from a source, whose rows have a time of their own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from penstock.testing.random_inputs import DECIMAL, Column
from penstock.testing.random_queries import Queries, Query
from penstock.testing.random_scalars import KINDS, Scope

ARRAY = "ARRAY<INT>"
STRUCT = "STRUCT<p: INT, q: STRING>"
MAP = "MAP<STRING, INT>"
NESTED = (ARRAY, STRUCT, MAP)
EXPRESSIONS = {
    ARRAY: ("array(1, 2)", "array(2, NULL)", "CAST(array() AS ARRAY<INT>)", "array(3)"),
    STRUCT: ("named_struct('p', 1, 'q', 'x')", "named_struct('p', 2, 'q', CAST(NULL AS STRING))"),
    MAP: ("map('a', 1, 'b', 2)", "map('b', 2, 'a', 1)", "map('a', CAST(NULL AS INT))"),
}
BY_COLUMN = re.compile(r" WHERE t\d+\.\w+ = t\d+\.\w+ ORDER BY ")
COMPARISONS = ("=", "<>", "<", "<=", "<=>", "IS NOT DISTINCT FROM", "IS DISTINCT FROM")


def compared(scope: Scope) -> list[Column]:
    """The columns whose values can be compared."""
    return [column for column in scope if column.kind != MAP]


def bare(column: Column) -> str:
    return column.name.rpartition(".")[2]


@dataclass
class SparkQueries(Queries):
    """Draws queries that others read further: they have columns with names and kinds."""

    kinds: Sequence[str] = (*KINDS, *KINDS, *KINDS, ARRAY, STRUCT)

    def kind_in(self, scope: Scope) -> str:
        kinds = [column.kind for column in scope if column.kind != MAP]
        return self.rng.choice(kinds if kinds and self.chance(0.75) else self.kinds)

    # --- values ---------------------------------------------------------------------------------

    def constant(self, kind: str) -> str:
        if kind not in NESTED:
            return super().constant(kind)
        if self.chance(0.1):
            return f"CAST(NULL AS {kind})"
        return self.rng.choice(EXPRESSIONS[kind])

    def value(self, scope: Scope, kind: str, depth: int = 2) -> str:
        if kind in NESTED:
            return self._nested(scope, kind, depth)
        if depth > 0 and self.chance(0.06) and (found := self._part(scope, kind)):
            return found
        return super().value(scope, kind, depth)

    def _nested(self, scope: Scope, kind: str, depth: int) -> str:
        mine = [column.name for column in scope if column.kind == kind]
        if depth == 0 or not self.rich or self.chance(0.6):
            return self.rng.choice(mine) if mine and self.chance(0.9) else self.constant(kind)
        a, c = (self._nested(scope, kind, depth - 1) for _ in range(2))
        choices = [
            f"coalesce({a}, {c})",
            f"CASE WHEN {self.condition(scope, depth - 1)} THEN {a} ELSE {c} END",
        ]
        number = self.value(scope, "INT", depth - 1)
        if kind == ARRAY:
            choices += [f"array({number}, 2)", f"sort_array({a})", f"array_distinct({a})"]
        if kind == STRUCT:
            text = self.value(scope, "STRING", depth - 1)
            choices += [f"named_struct('p', {number}, 'q', {text})"]
        return self.rng.choice(choices)

    def _part(self, scope: Scope, kind: str) -> str:
        """A part of a nested value of the scope, of this type."""
        choices = []
        for column in scope:
            name = column.name
            match column.kind, kind:
                case "ARRAY<INT>", "INT":
                    choices += [f"size({name})", f"get({name}, 0)", f"try_element_at({name}, -1)"]
                case "ARRAY<INT>", "BOOLEAN":
                    choices += [f"array_contains({name}, 1)"]
                case "STRUCT<p: INT, q: STRING>", "INT":
                    choices += [f"{name}.p"]
                case "STRUCT<p: INT, q: STRING>", "STRING":
                    choices += [f"{name}.q"]
                case "MAP<STRING, INT>", "INT":
                    choices += [f"{name}['a']", f"size({name})"]
                case "MAP<STRING, INT>", "BOOLEAN":
                    choices += [f"map_contains_key({name}, 'b')"]
        return self.rng.choice(choices) if choices else ""

    def condition(self, scope: Scope, depth: int = 2) -> str:
        nested = [column for column in scope if column.kind in NESTED]
        if nested and self.chance(0.12):
            column = self.rng.choice(nested)
            if column.kind == MAP:
                return f"({column.name} IS {self.rng.choice(('', 'NOT '))}NULL)"
            other = self._nested(scope, column.kind, 1)
            return f"({column.name} {self.rng.choice(COMPARISONS)} {other})"
        if depth > 0 and self.chance(0.06):
            return self._null_test(scope)
        return super().condition([c for c in scope if c.kind not in NESTED], depth)

    def _null_test(self, scope: Scope) -> str:
        columns = compared(scope)
        kind = self.rng.choice(columns).kind if columns else "INT"
        a = self.value(scope, kind, 1)
        test = f"({a} {self.rng.choice(('<=>', '=', '<>'))} {self.rng.choice(('NULL', a))})"
        return self.rng.choice((test, f"(NOT {test})", f"({test} IS NULL)", f"({test} <=> TRUE)"))

    def free(self, scope: Scope) -> str:
        """A value whose type is Spark's to choose: nothing reads it further."""
        i, n, d = (self.value(scope, kind, 1) for kind in ("INT", "BIGINT", DECIMAL))
        x, s, day = (self.value(scope, kind, 1) for kind in ("DOUBLE", "STRING", "DATE"))
        choices = [
            *(f"{i} / 2", f"{d} / 4", f"{d} * {d}", f"{d} + {i}", f"{i} + {n}", f"{n} % 3"),
            *(f"{x} / 3", f"{d} * 1.5", f"{d} + {x}", f"-{d}", f"{i} DIV 2", f"pmod({i}, 3)"),
            *(f"{i} + 1.5", f"{i} = {x}", f"{d} > {i}", f"coalesce({i}, {n})", f"- {n}"),
            *(f"CASE WHEN {i} > 0 THEN {i} ELSE {d} END", f"if({i} > 1, {n}, {x})"),
            *(f"concat({s}, {s})", f"concat_ws('-', {s}, 'x')", f"length({s})", f"{s} || {i}"),
            *(f"date_add({day}, 1)", f"year({day})", f"{day} + INTERVAL 1 DAY", f"month({day})"),
            *(f"date_trunc('MONTH', {day})", f"datediff({day}, DATE '2020-01-01')", f"{day} - 1"),
            *(f"CAST({x} AS INT)", f"CAST({x} AS STRING)", f"CAST({d} AS INT)", f"round({x})"),
            *(f"CAST({i} AS {DECIMAL})", f"CAST({day} AS STRING)", f"CAST({i} AS BOOLEAN)"),
            *(f"TRY_CAST({s} AS INT)", f"CAST({day} AS TIMESTAMP)", f"floor({x})", f"ceil({d})"),
            *(f"nvl({s}, 'z')", f"instr({s}, 'a')", f"{s} RLIKE 'a'", f"ifnull({i}, 7)"),
            *(f"split({s}, 'b')", f"array({i}, 1)", f"struct({i}, {s})", f"struct({i} AS z)"),
            *(f"CAST({i} AS TINYINT)", f"CAST({x} AS FLOAT)", "NULL", "1L", "1.5BD", "'q'", "2.5"),
            *(f"hash({i})", f"{i} & 1", f"sign({i})", f"greatest({i}, {n})", f"isnull({s})"),
        ]
        choices += [c.name for c in scope if c.kind in NESTED]
        return self.rng.choice(choices)

    # --- aggregates -----------------------------------------------------------------------------

    def aggregate(self, scope: Scope, kind: str) -> str:
        if kind in (ARRAY, STRUCT) or self.chance(0.35):
            text = self._more_aggregates(scope, kind)
            if text and self.chance(0.25):
                text = f"{text} FILTER (WHERE {self.condition(scope, 1)})"
            if text:
                return text
        if kind in (ARRAY, STRUCT):
            return self.constant(kind)
        return super().aggregate(scope, kind)

    def _more_aggregates(self, scope: Scope, kind: str) -> str:
        def of(kind: str) -> str:
            return self.value(scope, kind, 1)

        a, c = (of(self.rng.choice(KINDS)) for _ in range(2))
        distinct = self.rng.choice(("", "DISTINCT "))
        order = self.rng.choice(("", " DESC"))
        share = self.rng.choice(("0", "0.25", "0.3", "0.5", "1"))
        choices = []
        if columns := [column for column in compared(scope) if column.kind not in NESTED]:
            by = self.rng.choice(columns)
            value = self.value([by], kind, 1)
            choices += [f"{self.rng.choice(('min_by', 'max_by'))}({value}, {by.name})"]
        match kind:
            case "BIGINT":
                choices += [
                    *(f"count({distinct}{a}, {c})", f"count(DISTINCT ({a}, {c}))"),
                    *("count(1)", "count(NULL)", "count(DISTINCT 1)", "count(DISTINCT NULL)"),
                    *(f"count_if({self.condition(scope, 1)})", f"sum({distinct}{of('INT')})"),
                    *(f"sum({distinct}{of(kind)})", f"count({distinct}{of(ARRAY)})", "sum(1L)"),
                    *(f"count({distinct}struct({a}, {c}))", f"try_sum({distinct}{of(kind)})"),
                ]
            case "DOUBLE":
                number = of(self.rng.choice(("INT", "DOUBLE", "BIGINT")))
                ordered = f"({share}) WITHIN GROUP (ORDER BY {of('INT')}{order})"
                choices += [
                    *(f"percentile_cont{ordered}", f"percentile_disc{ordered}"),
                    *(f"percentile({number}, {share})", f"avg({distinct}{number})"),
                    f"try_avg({distinct}{number})",
                    *(f"{function}({of('INT')})" for function in ("stddev", "variance", "std")),
                    *(f"{function}({of('INT')})" for function in ("stddev_pop", "var_samp")),
                    *(f"mean({number})", f"median({number})", f"max({distinct}{of(kind)})"),
                ]
            case "BOOLEAN":
                test = self.condition(scope, 1)
                choices += [f"{function}({test})" for function in ("every", "some", "any", "min")]
                choices += [f"any(DISTINCT {test})", f"bool_or({test}) AND bool_and({test})"]
            case "ARRAY<INT>":
                choices += [
                    f"sort_array(collect_list({distinct}{of('INT')}))",
                    f"sort_array(collect_set({of('INT')}))",
                    f"max({of(kind)})",
                ]
            case _:
                choices += [f"min({distinct}{of(kind)})", f"max({of(kind)})"]
        return self.rng.choice(choices) if choices else ""

    def _free_aggregate(self, scope: Scope) -> str:
        """An aggregate whose type is Spark's to choose."""
        i, d = (self.value(scope, kind, 1) for kind in ("INT", DECIMAL))
        distinct = self.rng.choice(("", "DISTINCT "))
        choices = [
            *(f"sum({distinct}{d})", f"avg({distinct}{d})", f"sum({i}) / 2", f"sum({d} * {i})"),
            *(f"max({self.free(scope)})", f"count({self.free(scope)})", f"avg({i}) + 1"),
            *(f"sum({i}) + count(*)", f"sum({d}) * 2", "sum(1)", "max('x')", "avg(2)", "sum(1.5)"),
            *(f"size(collect_list({i}))", f"min({d}) - max({d})", f"median({d})"),
            *(f"percentile(DISTINCT {i}, 0.5)", f"size(collect_set({i}))", f"stddev({d})"),
            f"CASE WHEN count(*) > 1 THEN sum({i}) ELSE sum({d}) END",
        ]
        return self.rng.choice(choices)

    # --- FROM -----------------------------------------------------------------------------------

    def _from(self, depth: int) -> tuple[str, list[Column]]:
        if self.chance(0.6):
            return super()._from(depth)
        match self.rng.choice(("nested", "nested", "natural", "comma", "single")):
            case "nested":
                return self._in_parentheses(depth)
            case "natural":
                return self._natural(depth)
            case "comma":
                a, one = self._relation(depth)
                c, two = self._relation(depth)
                return f"{a}, {c}", [*one, *two]
        text, scope = self._relation(depth)
        return self.rng.choice((f"({text})", f"(({text}))")), scope

    def _in_parentheses(self, depth: int) -> tuple[str, list[Column]]:
        text, scope = self._joined(*self._relation(depth), depth, using=False)
        if self.chance(0.4):
            other, right = self._relation(depth)
            kind = self.rng.choice(("", "LEFT", "RIGHT", "FULL", "LEFT SEMI", "LEFT ANTI"))
            joined = f"{other} {kind} JOIN ({text}) ON {self._link(right, scope)}"
            return joined, right if kind in ("LEFT SEMI", "LEFT ANTI") else [*right, *scope]
        if self.chance(0.5):
            return f"({text})", scope
        return self._joined(f"({text})", scope, depth, using=False)

    def _natural(self, depth: int) -> tuple[str, list[Column]]:
        a, left = self._relation(depth)
        c, right = self._relation(depth)
        kinds = {bare(column): column.kind for column in left}
        shared = [column for column in right if bare(column) in kinds]
        if not shared or any(c.kind == MAP or kinds[bare(c)] != c.kind for c in shared):
            return f"{a} CROSS JOIN {c}", [*left, *right]
        names = {bare(column) for column in shared}
        rest = [column for column in (*left, *right) if bare(column) not in names]
        kind = self.rng.choice(("", "INNER", "LEFT", "RIGHT", "FULL"))
        common = [Column(bare(column), column.kind) for column in shared]
        return f"{a} NATURAL {kind} JOIN {c}", [*common, *rest]

    def _relation(self, depth: int) -> tuple[str, list[Column]]:
        if self.chance(0.07):
            return self._rows()
        if self.chance(0.1):
            return self._renamed()
        return super()._relation(depth)

    def _rows(self) -> tuple[str, list[Column]]:
        """Rows that are written out."""
        kinds = self.some(1, 3, lambda: self.rng.choice(KINDS))
        columns = [Column(self.fresh("c"), kind) for kind in kinds]
        alias = self.fresh("t")
        rows = self.some(1, 3, lambda: ", ".join(self._constant_of(kind) for kind in kinds))
        names = ", ".join(column.name for column in columns)
        text = f"VALUES {', '.join(f'({row})' for row in rows)}"
        text = self.rng.choice((text, f"({text})"))
        return f"{text} AS {alias} ({names})", self._qualified(alias, columns)

    def _constant_of(self, kind: str) -> str:
        return f"CAST({super().constant(kind)} AS {kind})"

    def _renamed(self) -> tuple[str, list[Column]]:
        chosen = self.rng.choice(self.relations)
        alias = self.fresh("t")
        columns = [Column(self.fresh("c"), column.kind) for column in chosen.columns]
        names = ", ".join(column.name for column in columns)
        source = self.rng.choice((chosen.name, f"(SELECT * FROM {chosen.name})"))
        return f"{source} AS {alias} ({names})", self._qualified(alias, columns)

    def _qualified(self, alias: str, columns: Sequence[Column]) -> list[Column]:
        return [Column(f"{alias}.{column.name}", column.kind) for column in columns]

    def _link(self, left: Scope, right: Scope) -> str:
        left, right = compared(left), compared(right)
        pairs = [(a, c) for a in left for c in right if a.kind == c.kind]
        if not pairs or self.chance(0.6):
            return super()._link(left, right)
        a, c = self.rng.choice(pairs)
        match self.rng.choice(("compare", "compare", "computed", "constant", "both", "or")):
            case "compare":
                return f"{a.name} {self.rng.choice(COMPARISONS)} {c.name}"
            case "computed":
                one = self.value([a], a.kind, 1)
                return f"{one} {self.rng.choice(('=', '<=>'))} {c.name}"
            case "constant":
                return f"{a.name} = {c.name} AND {self.rng.choice(('TRUE', 'FALSE', '1 = 1'))}"
            case "or":
                return f"({a.name} = {c.name} OR {self.condition([*left, *right], 1)})"
        other, more = self.rng.choice(pairs)
        return f"{a.name} <=> {c.name} AND {other.name} = {more.name}"

    def _using(
        self,
        text: str,
        left: list[Column],
        kind: str,
        other: str,
        right: list[Column],
        shared: Column,
    ) -> tuple[str, list[Column]]:
        if shared.kind == MAP:
            return f"{text} CROSS JOIN {other}", [*left, *right]
        return super()._using(text, left, kind, other, right, shared)

    # --- subqueries -----------------------------------------------------------------------------

    def _subquery_condition(self, scope: Scope, depth: int) -> str:
        match self.rng.choice(("plain", "plain", "in", "in", "tuple", "exists", "scalar", "case")):
            case "in":
                kind = self.rng.choice(KINDS)
                value = self.value(scope, kind, 1)
                return self._in(value, self._one_column(scope, kind, depth))
            case "tuple":
                kinds = [self.rng.choice(KINDS) for _ in range(2)]
                values = ", ".join(self.value(scope, kind, 1) for kind in kinds)
                source, inner = self._relation(depth - 1)
                where = f" WHERE {self._tie(scope, inner)}" if self.chance(0.3) else ""
                items = ", ".join(self.value(inner, kind, 1) for kind in kinds)
                return self._in(f"({values})", f"SELECT {items} FROM {source}{where}")
            case "exists":
                negated = self.rng.choice(("", "NOT "))
                return f"{negated}EXISTS ({self._aggregated_query(scope, 'BIGINT', depth)})"
            case "scalar":
                kind = self.rng.choice(KINDS)
                one, other = (self._scalar(scope, kind, depth) for _ in range(2))
                other = self.rng.choice((other, self.value(scope, kind, 1)))
                return f"({one} {self.rng.choice(COMPARISONS)} {other})"
            case "case":
                found = super()._subquery_condition(compared(scope), depth)
                found = f"coalesce({found}, FALSE)"
                rest = self.condition(scope, 1)
                return f"(CASE WHEN {rest} THEN {found} ELSE {self.condition(scope, 0)} END)"
        plain = [column for column in scope if column.kind not in NESTED]
        if not plain:
            return self.condition(scope, 0)
        found = super()._subquery_condition(plain, depth)
        return found if " IN (" not in found else self._known(found)

    def _in(self, value: str, query: str) -> str:
        found = self._known(f"{value} IN ({query})")
        return f"(NOT {found})" if self.chance(0.3) else found

    def _known(self, test: str) -> str:
        """Never NULL: see above."""
        if " NOT IN (" in test:
            return f"(NOT coalesce({test.replace(' NOT IN (', ' IN (', 1)}, FALSE))"
        return f"coalesce({test}, FALSE)"

    def _one_column(self, scope: Scope, kind: str, depth: int) -> str:
        if self.chance(0.3):
            return self._aggregated_query(scope, kind, depth)
        return self._in_query(compared(scope), kind, depth)

    def _aggregated_query(self, scope: Scope, kind: str, depth: int) -> str:
        """A query of an aggregate, which has a row also where nothing is found."""
        source, inner = self._relation(depth - 1)
        where = f" WHERE {self._tie(scope, inner)}" if self.chance(0.6) else ""
        value = self.aggregate(inner, kind)
        if kind == "BIGINT" and self.chance(0.5):
            value = self.rng.choice(("count(*)", "count(*) + 1", "coalesce(sum(1L), 0L)"))
        text = f"SELECT {value} FROM {source}{where}"
        if self.chance(0.25):
            key = self.rng.choice(compared(inner))
            text = f"{text} GROUP BY {key.name}"
        if self.chance(0.3):
            text = f"{text} HAVING {self.rng.choice(('count(*) > 1', 'count(*) = 0'))}"
        return text

    def _scalar(self, scope: Scope, kind: str, depth: int) -> str:
        if self.chance(0.7):
            text = super()._scalar(compared(scope), kind, depth)
            while text.endswith("LIMIT 1)") and " WHERE " in text and not BY_COLUMN.search(text):
                text = super()._scalar(compared(scope), kind, depth)
            return text
        source, inner = self._relation(depth - 1)
        where = f" WHERE {self._tie(scope, inner)}" if self.chance(0.7) else ""
        value = self.aggregate(inner, kind)
        if kind == "BIGINT" and self.chance(0.6):
            value = self.rng.choice(("count(*)", "count(*) + 1", "coalesce(sum(1L), 0L) * 2"))
        having = self.rng.choice(("", "", " HAVING count(*) > 1", " HAVING count(*) = 0"))
        return f"(SELECT {value} FROM {source}{where}{having})"

    def _where(self, scope: Scope, depth: int) -> str:
        if depth > 0 and self.chance(0.12):
            column = self.rng.choice([c for c in scope if c.kind not in NESTED] or list(KEY))
            inner = self._one_column(scope, column.kind, depth)
            value = self.value([column], column.kind, 1)
            negated = self.rng.choice(("", "NOT "))
            return f" WHERE {value} {negated}IN ({inner})"
        return super()._where(scope, depth)

    # --- GROUP BY -------------------------------------------------------------------------------

    def _grouped(
        self, source: str, where: str, scope: Scope, kinds: Sequence[str], depth: int
    ) -> Query:
        if self.chance(0.5):
            return super()._grouped(source, where, scope, kinds, depth)
        keys = self._keys(scope) or [Column(*self.rng.choice(CONSTANT_KEYS))]
        if self.chance(0.2):
            keys = [*keys, Column(*self.rng.choice(CONSTANT_KEYS))]
        named = [Column(self.fresh("c"), key.kind) for key in keys]
        spelling = self.rng.choice(("ordinal", "alias", "all", "mixed"))
        choices = {
            "ordinal": lambda i: str(i + 1),
            "alias": lambda i: named[i].name,
            "mixed": lambda i: self.rng.choice((str(i + 1), named[i].name)),
        }
        items = [f"{key.name} AS {name.name}" for key, name in zip(keys, named, strict=True)]
        columns = list(named)
        for kind in kinds:
            columns.append(Column(self.fresh("c"), kind))
            items.append(f"{self._of_groups(scope, kind, depth)} AS {columns[-1].name}")
        group = "ALL"
        if spelling != "all":
            trees = [choices[spelling](i) for i in range(len(keys))]
            group = self._spelt(trees)
        having = f" HAVING {self._having(scope, depth)}" if self.chance(0.2) else ""
        text = f"SELECT {', '.join(items)} FROM {source}{where} GROUP BY {group}{having}"
        return self._of_kinds(Query(text, tuple(columns)), kinds)

    def _of_kinds(self, query: Query, kinds: Sequence[str]) -> Query:
        """The query with columns of these types, which are its last ones."""
        alias = self.fresh("t")
        columns = query.columns[len(query.columns) - len(kinds) :]
        if len(columns) == len(query.columns) or self._any_columns:
            return query
        names = ", ".join(column.name for column in columns)
        return Query(f"SELECT {names} FROM ({query.text}) AS {alias}", columns)

    _any_columns: bool = False
    """Whether a query may have more columns than it was asked for."""

    def _spelt(self, keys: Sequence[str]) -> str:
        """By what is grouped; never by no column, which gives Spark no row where there is none."""
        text = ", ".join(keys)
        if len(keys) < 2 or self.chance(0.7):
            return text
        rest = ", ".join(keys[1:])
        return self.rng.choice(
            (
                f"GROUPING SETS (({text}), ({keys[0]}))",
                *(f"{keys[0]}, {word} ({rest})" for word in ("ROLLUP", "CUBE")),
            )
        )

    def _of_groups(self, scope: Scope, kind: str, depth: int) -> str:
        value = self._over_groups(scope, kind)
        if depth > 0 and kind == "BOOLEAN" and self.chance(0.3):
            value = self.aggregate(scope, "BIGINT")
            return self._in(value, self._one_column([], "BIGINT", depth))
        return value

    def _having(self, scope: Scope, depth: int) -> str:
        if depth > 0 and self.chance(0.3):
            kind = self.rng.choice(("INT", "BIGINT", "STRING"))
            source, inner = self._relation(depth - 1)
            value = self.aggregate(scope, kind)
            return self._in(value, f"SELECT {self.value(inner, kind, 1)} FROM {source}")
        return super()._having(scope, depth)

    # --- orders, which maps have none of ----------------------------------------------------------

    def _order(self, columns: Scope) -> str:
        return super()._order(compared(columns))

    def _few(self, scope: Scope) -> list[Column]:
        return super()._few(compared(scope))

    def _keys(self, scope: Scope) -> list[Column]:
        return super()._keys(compared(scope))

    def _cut(self, text: str, columns: tuple[Column, ...], scope: Scope = ()) -> Query:
        return super()._cut(text, columns, compared(scope))

    # --- whole queries --------------------------------------------------------------------------

    def query(self, depth: int = 2, kinds: Sequence[str] | None = None) -> Query:
        wide, self._any_columns = self._any_columns, False
        if wide and depth > 0 and self.chance(0.85):
            self._any_columns = True
            found = self._select(depth, kinds)
            self._any_columns = False
            return found
        return super().query(depth, kinds)

    def _set_operation(self, depth: int, kinds: Sequence[str] | None) -> Query:
        query = super()._set_operation(depth, kinds)
        if "ORDER BY" in query.text or self.chance(0.7):
            return query
        other = self._select(0, [column.kind for column in query.columns], plain=True)
        word = self.rng.choice(("UNION", "UNION ALL", "EXCEPT", "INTERSECT", "MINUS"))
        text = self.rng.choice(
            (
                f"{query.text} {word} {other.text}",
                f"({query.text}) {word} {other.text}",
                f"{other.text} {word} ({query.text})",
            )
        )
        return Query(text, query.columns)


KEY = (Column("1", "INT"),)
CONSTANT_KEYS = (("'x'", "STRING"), ("CAST(NULL AS INT)", "INT"), ("TRUE", "BOOLEAN"))
