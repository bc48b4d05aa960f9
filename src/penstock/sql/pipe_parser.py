"""Pipes, `FROM t |> WHERE ... |> SELECT ...`: each operator reads what the one before it leaves.

A step becomes a query in WITH, and the next one reads it.
"""

from __future__ import annotations

import typing as t

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from penstock.sql.row_order import limited, put_limit
from penstock.sql.text import span_of
from penstock.sql.word_parser import WordParser


class PipeParser(WordParser):
    """Parses the operators of pipes."""

    PIPE_SYNTAX_TRANSFORM_PARSERS: t.ClassVar = {
        **WordParser.PIPE_SYNTAX_TRANSFORM_PARSERS,
        "AS": lambda self, query: self._parse_pipe_as(query),
        "DISTINCT": lambda self, query: self._parse_pipe_distinct(query),
        "DROP": lambda self, query: self._parse_pipe_drop(query),
        "SET": lambda self, _: self.refuse("Write |> SELECT and all columns instead of |> SET."),
    }

    def _parse_pipe_syntax_query(self, query: exp.Query) -> exp.Query | None:
        """A pipe goes on with the answer of the query before it, and not with its FROM.

        STREAMED and its like, in a first SELECT without parentheses, are said of the whole pipe.
        """
        output = query.args.get("output")
        query.set("output", None)
        if isinstance(query, exp.Select) and not _is_all_of_from(query):
            query = self._build_pipe_cte(query=query, expressions=[exp.Star()])
        answer = super()._parse_pipe_syntax_query(query)
        if self._curr.token_type in self.SET_OPERATIONS:
            word = self._curr.text.upper()
            self.refuse(f"Write |> {word} (SELECT ...) where a pipe goes on.", self._curr)
        if answer is not None and output is not None:
            answer.set("output", output)
        return answer

    def _parse_pipe_syntax_limit(self, query: exp.Select) -> exp.Select:
        """What follows reads only the rows that are left, and a limit may follow another."""
        if limited(query) and not query.args.get("order"):
            query = self._build_pipe_cte(query=query, expressions=[exp.Star()])
        limit, offset = self._parse_limit(), self._parse_offset()
        put_limit(query, limit, offset, lambda message, at: self.refuse(message, span_of(at)))
        if not self._match(TokenType.PIPE_GT, advance=False):
            return query
        return self._build_pipe_cte(query=query, expressions=[exp.Star()])

    def _parse_pipe_syntax_select(self, query: exp.Select) -> exp.Select:
        """A select list, and nothing that would begin a query of its own."""
        start = self._curr
        select = self._parse_select(consume_pipe=False)
        parts = {key for key, value in select.args.items() if value} if select else set()
        if not isinstance(select, exp.Select) or parts - {"expressions", "distinct", "hint"}:
            self.refuse(
                "After |> SELECT there is a select list and no more. Go on with |> WHERE, "
                "|> AGGREGATE ... GROUP BY, |> ORDER BY or |> LIMIT.",
                start,
            )
        query = query.select(*select.expressions, append=False)
        query.set("distinct", select.args.get("distinct"))
        return self._build_pipe_cte(query=query, expressions=[exp.Star()])

    def _parse_pipe_as(self, query: exp.Select) -> exp.Select:
        """A name for what there is so far, which hides the names before."""
        alias = self._parse_table_alias()
        if alias is None or alias.columns:
            self.complain("a name after |> AS")
        step = self._build_pipe_cte(query=query, expressions=[exp.Star()])
        step.args["from_"].this.set("alias", alias)
        return step

    def _parse_pipe_distinct(self, query: exp.Select) -> exp.Select:
        self._advance()
        return self._build_pipe_cte(query=query.distinct(copy=False), expressions=[exp.Star()])

    def _parse_pipe_drop(self, query: exp.Select) -> exp.Select:
        self._advance()
        columns = self._parse_csv(lambda: self._parse_id_var(any_token=False))
        if not columns:
            self.complain("the columns to leave out", "Write |> DROP a, b.")
        query = query.select(exp.Star(except_=columns), append=False)
        return self._build_pipe_cte(query=query, expressions=[exp.Star()])

    def _parse_pipe_syntax_join(self, query: exp.Query) -> exp.Query | None:
        join = self._parse_join()
        if join is None or not isinstance(query, exp.Select):
            return query if join is not None else None
        if query.args.get("where") and join.side in ("RIGHT", "FULL"):  # it filters before
            query = self._build_pipe_cte(query=query, expressions=[exp.Star()])
        return query.join(join, copy=False)

    def _parse_pipe_syntax_aggregate_group_order_by(
        self, query: exp.Select, group_by_exists: bool = True
    ) -> exp.Select:
        """Its numbers count the columns of the input, and its names are those of columns."""
        first = self._curr
        if self._prev.token_type == TokenType.ORDER_BY:
            self.refuse("Write GROUP BY, and |> ORDER BY after it.", self._prev)
        query = super()._parse_pipe_syntax_aggregate_group_order_by(query, group_by_exists)
        if query.args.get("order"):
            self.refuse("After |> AGGREGATE, write |> ORDER BY for an order.", first)
        group = query.args.get("group")
        if group is None or not group_by_exists:
            return query
        keys, outputs = list(group.expressions), list(query.expressions)
        for place, key in enumerate(keys):
            number = key.unnest()
            if isinstance(number, exp.Neg | exp.Literal) and number.is_int:
                keys[place] = exp.PositionalColumn(this=number.copy())
                outputs[place] = keys[place].copy()
            elif isinstance(key, exp.Identifier):
                keys[place] = exp.column(key.copy())
        group.set("expressions", keys)
        query.set("expressions", outputs)
        return query


def _is_all_of_from(query: exp.Select) -> bool:
    """Whether a query says no more than what it is from."""
    said = {key for key, value in query.args.items() if value}
    return query.expressions == [exp.Star()] and said <= {"with_", "expressions", "from_", "joins"}
