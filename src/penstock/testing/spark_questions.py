"""Whole random queries, of all that the language has of Spark SQL: what `SparkQueries` has no
place for, because nothing reads it further.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from penstock.testing.random_inputs import Column
from penstock.testing.random_queries import Query
from penstock.testing.random_scalars import KINDS, Scope
from penstock.testing.spark_queries import MAP, NESTED, SparkQueries, bare, compared

LONGEST = 420
"""How many characters a query may have."""


@dataclass
class SparkQuestions(SparkQueries):
    """Draws whole questions: queries that nothing reads further."""

    def question(self) -> Query:
        """A query that nothing reads further; not a long one, so that many can be asked."""
        while True:
            query = self._any_question(self.rng.choice((1, 1, 1, 2)))
            if len(query.text) <= LONGEST:
                return query

    def _any_question(self, depth: int) -> Query:
        choices: list[Callable[[int], Query]] = [
            *(self._free_query, self._free_query, self._free_groups, self._free_groups),
            *(self._piped, self._piped, self._marked_groups, self._asked_everywhere),
            *(self._first_of_ordered, self._windowed),
        ]
        if self.chance(0.4):
            return self.rng.choice(choices)(depth)
        self._any_columns = True
        query = self.query(depth)
        self._any_columns = False
        return query

    def _free_query(self, depth: int) -> Query:
        source, scope = self._from(depth)
        items = self.some(1, 4, lambda: f"{self.free(scope)} AS {self.fresh('c')}")
        if self.chance(0.15):
            alias = scope[0].name.partition(".")[0]
            items = [self.rng.choice(("*", f"{alias}.*" if "." in scope[0].name else "*"))]
        return Query(f"SELECT {', '.join(items)} FROM {source}{self._where(scope, depth)}", ())

    def _free_groups(self, depth: int) -> Query:
        source, scope = self._from(depth)
        keys = self._keys(scope)
        maps = [column for column in scope if column.kind == MAP]
        keys = [*keys, maps[0]] if maps and self.chance(0.5) else keys
        items = [f"{key.name} AS {self.fresh('c')}" for key in keys]
        items += self.some(1, 3, lambda: f"{self._free_aggregate(scope)} AS {self.fresh('c')}")
        group = f" GROUP BY {', '.join(key.name for key in keys)}" if keys else ""
        where = self._where(scope, depth)
        return Query(f"SELECT {', '.join(items)} FROM {source}{where}{group}", ())

    def _marked_groups(self, depth: int) -> Query:
        """Grouping sets in all their spellings, which tell each other apart."""
        source, scope = self._from(depth)
        names = [c.name for c in self.rng.sample(compared(scope), min(len(compared(scope)), 2))]
        text = ", ".join(names)
        groups = [
            *(f"ROLLUP ({text})", f"CUBE ({text})", f"{text} WITH ROLLUP", f"{text} WITH CUBE"),
            *(
                f"GROUPING SETS (({text}), ({names[0]}), ())",
                f"{text} GROUPING SETS (({text}), ())",
            ),
            *(f"GROUPING SETS (ROLLUP ({text}), ({names[-1]}))", f"ROLLUP ({names[0]}), {text}"),
            *(f"GROUPING SETS ({names[0]}, ())", f"{text}, GROUPING SETS (({names[-1]}), ())"),
        ]
        marks = [f"grouping({name})" for name in names] + ["grouping_id()", f"grouping_id({text})"]
        group = self.rng.choice(groups)
        marks = marks[:1] if group.startswith("GROUPING SETS (" + names[0]) else marks
        values = [*names[: 1 if len(marks) == 1 else 2], *self.rng.sample(marks, 1)]
        values += self.some(1, 2, lambda: self._free_aggregate(scope))
        if self.chance(0.2):
            values.append(f"rank() OVER (ORDER BY {names[0]}, count(*))")
        items = ", ".join(f"{value} AS {self.fresh('c')}" for value in values)
        where = self._where(scope, depth)
        having = self.rng.choice(("", "", f" HAVING grouping({names[0]}) = 0"))
        return Query(f"SELECT {items} FROM {source}{where} GROUP BY {group}{having}", ())

    def _asked_everywhere(self, depth: int) -> Query:
        """Queries in the positions that are not conditions or values of a select list."""
        source, scope = self._from(0)
        mine = [c for c in scope if c.kind not in NESTED]
        value = self._scalar(mine, self.rng.choice(("INT", "BIGINT", "STRING")), 1)
        test = self._known(self._subquery_condition(mine, 1))
        key = self.rng.choice(mine)
        match self.rng.choice(("argument", "key", "order", "window", "join", "case")):
            case "argument":
                items = f"{key.name} AS {self.fresh('c')}, {self._of_subquery(mine, 1)}"
                text = f"SELECT {items} AS {self.fresh('c')} FROM {source} GROUP BY {key.name}"
            case "key":
                name = self.fresh("c")
                text = f"SELECT {value} AS {name}, count(*) AS n FROM {source} GROUP BY {name}"
            case "order":
                order = f"{value}, {self._order(mine)}"
                text = (
                    f"SELECT {key.name} AS {self.fresh('c')} FROM {source} ORDER BY {order} LIMIT 2"
                )
            case "window":
                over = f"PARTITION BY {test} ORDER BY {key.name}"
                items = f"{key.name} AS {self.fresh('c')}, rank() OVER ({over})"
                text = f"SELECT {items} AS {self.fresh('c')} FROM {source}"
            case "join":
                other, right = self._relation(0)
                kind = self.rng.choice(("", "", "LEFT", "SEMI"))
                join = f"{kind} JOIN {other} ON {self._link(scope, right)} AND {test}"
                text = f"SELECT {key.name} AS {self.fresh('c')} FROM {source} {join}"
            case _:
                case = f"CASE WHEN {test} THEN {value} END"
                items = f"{key.name} AS {self.fresh('c')}, {case} AS {self.fresh('c')}"
                text = f"SELECT {items} FROM {source}"
        return Query(text, ())

    def _of_subquery(self, scope: Scope, depth: int) -> str:
        """An aggregate of what a query gives for each row."""
        value = self._scalar(scope, self.rng.choice(("INT", "BIGINT")), depth)
        test = self._subquery_condition(scope, depth)
        choices = (f"sum({value})", f"max({value})", f"count({value})", f"count_if({test})")
        return self.rng.choice((*choices, f"count(*) FILTER (WHERE {test})"))

    def _first_of_ordered(self, depth: int) -> Query:
        """A LIMIT that goes by the order of a query in FROM."""
        source, scope = self._from(0)
        kinds = self.some(1, 3, lambda: self.rng.choice(KINDS))
        items, columns = self._items([self.value(scope, k, 1) for k in kinds], kinds)
        inner = f"SELECT {items} FROM {source} ORDER BY {self._order(columns)}"
        inner += self.rng.choice(("", "", " LIMIT 4", " OFFSET 1"))
        names = ", ".join(column.name for column in self.rng.sample(columns, len(columns)))
        limit = self.rng.choice(("LIMIT 2", "LIMIT 1 OFFSET 1", "OFFSET 1", "LIMIT 3"))
        texts = (
            f"SELECT {names} FROM ({inner}) {limit}",
            f"SELECT {names} FROM ({inner}) AS {self.fresh('t')} {limit}",
            f"WITH w AS ({inner}) SELECT {names} FROM w {limit}",
            f"({inner}) {limit}",
        )
        return Query(self.rng.choice(texts), ())

    def _windowed(self, depth: int) -> Query:
        """Windows that have names."""
        source, scope = self._from(depth)
        scope = compared(scope)
        part, by = (self.rng.choice(scope).name for _ in range(2))
        value = self.value(scope, "INT", 1)
        first = f"PARTITION BY {part}"
        second = self.rng.choice((f"ORDER BY {by}", f"PARTITION BY {part} ORDER BY {by} DESC"))
        values = (
            *(f"sum({value}) OVER w1", f"max({value}) OVER w2", "rank() OVER w2 * 2"),
            *(f"min({value}) OVER (w1)", "count(*) OVER w2", "dense_rank() OVER w2"),
        )
        chosen = [*self.rng.sample(values, 2), self.value(scope, self.rng.choice(KINDS), 1)]
        items = ", ".join(f"{value} AS {self.fresh('c')}" for value in chosen)
        text = f"SELECT {items} FROM {source}{self._where(scope, depth)}"
        return Query(f"{text} WINDOW w1 AS ({first}), w2 AS ({second})", ())

    def _piped(self, depth: int) -> Query:
        """A query as a pipe of operators."""
        text, scope = self._piped_from()
        scope = [c for c in scope if c.kind != MAP]
        steps = ("where", "where", "select", "extend", "aggregate", "limit", "join", "as", "union")
        for _ in range(self.rng.randint(1, 3)):
            match self.rng.choice(steps):
                case "where":
                    text = f"{text} |> WHERE {self._condition_or_subquery(scope, depth)}"
                case "extend":
                    kind, name = self.rng.choice(KINDS), self.fresh("c")
                    text = f"{text} |> EXTEND {self.value(scope, kind)} AS {name}"
                    scope = [*scope, Column(name, kind)]
                case "select":
                    kinds = self.some(1, 3, lambda: self.rng.choice(KINDS))
                    items, columns = self._items([self.value(scope, k) for k in kinds], kinds)
                    distinct = self.rng.choice(("", "", "DISTINCT "))
                    text, scope = f"{text} |> SELECT {distinct}{items}", list(columns)
                case "limit":
                    order = f"ORDER BY {self._order(scope)}"
                    between = ""
                    if self.chance(0.3):
                        between = f" |> EXTEND {self.value(scope, 'INT', 1)} AS {self.fresh('c')}"
                    text = f"{text} |> {order}{between} |> LIMIT {self.rng.randint(1, 4)}"
                case "aggregate":
                    text, scope = self._piped_groups(text, scope)
                case "join":
                    other, right = self._relation(0)
                    kind = self.rng.choice(("", "LEFT", "RIGHT", "FULL", "SEMI", "ANTI"))
                    text = f"{text} |> {kind} JOIN {other} ON {self._link(scope, right)}"
                    right = [c for c in right if c.kind != MAP]
                    scope = scope if kind in ("SEMI", "ANTI") else [*scope, *right]
                case "as" if len({bare(c) for c in scope}) == len(scope):
                    alias = self.fresh("t")
                    text = f"{text} |> AS {alias}"
                    scope = [Column(f"{alias}.{bare(c)}", c.kind) for c in scope]
                case "union":
                    kinds = self.some(1, 2, lambda: self.rng.choice(KINDS))
                    items, columns = self._items([self.value(scope, k) for k in kinds], kinds)
                    other = self._select(0, kinds, plain=True).text
                    word = self.rng.choice(("UNION", "UNION ALL", "EXCEPT", "INTERSECT ALL"))
                    text = f"{text} |> SELECT {items} |> {word} ({other})"
                    scope = list(columns)
        kinds = self.some(1, 3, lambda: self.rng.choice(KINDS))
        items, columns = self._items([self.value(scope, k, 1) for k in kinds], kinds)
        return Query(f"{text} |> SELECT {items}", columns)

    def _piped_from(self) -> tuple[str, list[Column]]:
        """What a pipe begins with: FROM, or a query that is written out."""
        if self.chance(0.3):
            plain = self._select(0, plain=True)
            query = self.rng.choice((plain, plain, self.query(1)))
            text = query.text if query is plain and self.chance(0.7) else f"({query.text})"
            return text, list(query.columns)
        source, scope = self._from(0)
        return f"FROM {source}", scope

    def _piped_groups(self, text: str, scope: list[Column]) -> tuple[str, list[Column]]:
        kinds = self.some(1, 2, lambda: self.rng.choice(KINDS))
        items, columns = self._items([self.aggregate(scope, kind) for kind in kinds], kinds)
        text = f"{text} |> AGGREGATE {items}"
        if self.chance(0.3):
            return text, list(columns)
        key = self.rng.choice(scope)
        if self.chance(0.3):
            return f"{text} GROUP BY {self.rng.randint(1, 2)}", list(columns)
        name = self.fresh("c")
        return f"{text} GROUP BY {key.name} AS {name}", [Column(name, key.kind), *columns]
