"""Spark's SELECT, and what streams add to it: windows, synchronization, outputs.

Each addition is made in the method of sqlglot's parser that reads the same place of a query.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Collection
from itertools import pairwise
from typing import NoReturn, TypeVar

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from penstock.sql.arguments import unread_argument
from penstock.sql.select_parser import SelectParser
from penstock.sql.statements import Output
from penstock.sql.text import Span, span_of

T = TypeVar("T")
E = TypeVar("E", bound=exp.Expr)

RELATION_OF = ("R", "\u211c")  # the paper writes a black-letter R
ORDER_COMPARISONS = (exp.LT, exp.LTE, exp.GT, exp.GTE)

# after one of these, STREAMED and its like are columns of that name
AFTER_A_COLUMN = {
    TokenType.SENTINEL,
    TokenType.ALIAS,
    TokenType.COMMA,
    TokenType.DCOLON,
    TokenType.DOT,
    TokenType.EQ,
    TokenType.EXCEPT,
    TokenType.FROM,
    TokenType.GT,
    TokenType.GTE,
    TokenType.INTERSECT,
    TokenType.IS,
    TokenType.L_BRACKET,
    TokenType.LT,
    TokenType.LTE,
    TokenType.NEQ,
    TokenType.R_PAREN,
    TokenType.SLASH,
    TokenType.UNION,
}
AFTER_A_STAR = {TokenType.SENTINEL, TokenType.COMMA, TokenType.FROM, TokenType.EXCEPT}
TIMES = {
    TokenType.DASH,
    TokenType.DATE,
    TokenType.END,
    TokenType.NUMBER,
    TokenType.STRING,
    TokenType.TIMESTAMP,
    TokenType.TIMESTAMPLTZ,
    TokenType.TIMESTAMPNTZ,
    TokenType.TIMESTAMPTZ,
}
QUANTIFIED = {
    TokenType.EQ,
    TokenType.GT,
    TokenType.GTE,
    TokenType.ILIKE,
    TokenType.LIKE,
    TokenType.LT,
    TokenType.LTE,
    TokenType.NEQ,
}
OPERANDS = {
    TokenType.DASH,
    TokenType.IDENTIFIER,
    TokenType.INTERVAL,
    TokenType.L_PAREN,
    TokenType.NUMBER,
    TokenType.VAR,
}


BUILDING = (AttributeError, IndexError, KeyError, TypeError, ValueError)
"""How sqlglot fails to build a function of its arguments."""


class QueryParser(SelectParser):
    """Parses queries."""

    NO_PAREN_FUNCTION_PARSERS: t.ClassVar = {
        **SelectParser.NO_PAREN_FUNCTION_PARSERS,
        "ANY": lambda self: self._parse_any(),
        "NOW": lambda self: self._parse_now(),
    }
    STRICT_CAST: t.ClassVar = True
    SUPPORTS_TABLE_QUERY: t.ClassVar = True
    SET_OP_MODIFIERS: t.ClassVar = {*SelectParser.SET_OP_MODIFIERS, "emit"}

    # Relations: a table or a query, its window and what it is synchronized by

    def _parse_table_parts(
        self,
        schema: bool = False,
        is_db_reference: bool = False,
        wildcard: bool = False,
        fast: bool = False,
    ) -> exp.Table | exp.Dot | None:
        if fast or schema or is_db_reference:
            return super()._parse_table_parts(schema, is_db_reference, wildcard, fast)
        if self._at_relation_of():
            return self._parse_relation_of()
        table = super()._parse_table_parts(wildcard=wildcard)
        if table is not None:
            self._parse_stream_part(table)
        return table

    def _at_relation_of(self) -> bool:
        """Whether `R[sync](` or `R(stream` follows, the paper's relation of a stream."""
        if self._curr.token_type != TokenType.VAR or self._curr.text.upper() not in RELATION_OF:
            return False
        following = [token.token_type for token in self._tokens[self._index + 1 : self._index + 5]]
        match following:
            case [TokenType.L_BRACKET, _, TokenType.R_BRACKET, TokenType.L_PAREN]:
                return True
            case [TokenType.L_PAREN, kind, TokenType.R_PAREN | TokenType.L_BRACKET, *_]:
                return kind in self.ID_VAR_TOKENS or kind == TokenType.IDENTIFIER
        return False

    def _parse_relation_of(self) -> exp.Table:
        self._advance()
        sync: exp.Expr | None = None
        if self._match(TokenType.L_BRACKET):
            sync = self._parse_sync_name()
            self._match(TokenType.R_BRACKET)
        self._match(TokenType.L_PAREN)
        table = self._parse_table_parts()
        if not isinstance(table, exp.Table):
            self.complain("the name of a stream")
        self.expect(TokenType.R_PAREN, ")", "the name of a stream")
        if self._match(TokenType.L_BRACKET, advance=False):
            self.refuse("A window stands after the stream's name: write R[s](name [RANGE 5]).")
        if sync is not None:
            self._set_sync(table, sync)
        return table

    def _parse_stream_part(self, relation: exp.Expr) -> None:
        window = self.parse_window()
        if window is not None:
            if self._match(TokenType.L_BRACKET, advance=False):
                self.refuse("A stream has one window. Read a view or query of it for a second one.")
            relation.set("window", window)
        self._parse_sync(relation)

    def _parse_version(self) -> exp.Version | None:
        """`AS OF` and a time, beside the spellings that sqlglot knows."""
        start = self._curr
        if not self.at_words("AS", "OF"):
            found = super()._parse_version()
            if found is not None and found.text("kind") == "AS OF" and not found.expression:
                found.set("expression", self._parse_as_of())
            return found and found.update_positions(start)
        following = self._tokens[self._index + 2 : self._index + 3]
        if not following or following[0].token_type not in TIMES:
            return None  # an alias
        self._advance(2)
        time = self._parse_as_of()
        return exp.Version(this="TIMESTAMP", kind="AS OF", expression=time).update_positions(start)

    def _parse_as_of(self) -> exp.Expr:
        if self._match(TokenType.END):
            return exp.var("END").update_positions(self._prev)
        time = self._parse_bitwise()
        if time is None:
            self.complain("a time", "Write AS OF 17, AS OF TIMESTAMP '2024-01-31' or AS OF END.")
        return time

    def _parse_sync(self, relation: exp.Expr) -> None:
        if not self.at_words("SYNC", "BY"):
            return
        self._advance(2)
        self._set_sync(relation, self._parse_sync_name())

    def _parse_sync_name(self) -> exp.Expr:
        name = self._parse_id_var(any_token=False)
        if name is None:
            self.complain("the name of a synchronization stream")
        return name

    def _set_sync(self, relation: exp.Expr, sync: exp.Expr) -> None:
        if relation.args.get("sync"):
            self.refuse(
                "A stream is synchronized by one stream. Write a view over two of them, with UNION "
                "or INTERSECT, and synchronize by it.",
                span_of(sync),
            )
        relation.set("sync", sync)

    def _parse_table(
        self,
        schema: bool = False,
        joins: bool = False,
        alias_tokens: Collection[TokenType] | None = None,
        parse_bracket: bool = False,
        is_db_reference: bool = False,
        parse_partition: bool = False,
        consume_pipe: bool = False,
    ) -> exp.Expr | None:
        table = super()._parse_table(
            schema,
            joins,
            alias_tokens,
            parse_bracket,
            is_db_reference,
            parse_partition,
            consume_pipe,
        )
        if isinstance(table, exp.Table | exp.Subquery):
            self._parse_sync(table)
            if table.alias and self._match(TokenType.L_BRACKET, advance=False):
                self.refuse(
                    f"A window stands before the alias: write {table.name or '(SELECT ...)'} "
                    f"[RANGE 5 MINUTES] AS {table.alias}."
                )
        return table

    def _parse_subquery(
        self, this: exp.Expr | None, parse_alias: bool = True
    ) -> exp.Subquery | None:
        if this is None or not parse_alias:
            return super()._parse_subquery(this, parse_alias)
        part = exp.Subquery(this=this)
        self._parse_stream_part(part)
        subquery = super()._parse_subquery(this, parse_alias)
        if subquery is not None:
            for key in ("window", "sync"):
                if part.args.get(key):
                    subquery.set(key, part.args[key])
        return subquery

    def _parse_table_alias(
        self, alias_tokens: Collection[TokenType] | None = None
    ) -> exp.TableAlias | None:
        if self.at_words("SYNC", "BY") or self._at_emit():
            return None
        if self.at_words("FINAL"):
            self.refuse(
                "FINAL says nothing of a relation. Write EMIT FINAL at the end of the query; "
                "as a name, AS FINAL."
            )
        return super()._parse_table_alias(alias_tokens)

    # SELECT STREAMED and its like

    def _parse_select_query(
        self,
        nested: bool = False,
        table: bool = False,
        parse_subquery_alias: bool = True,
        parse_set_operation: bool = True,
    ) -> exp.Expr | None:
        if not self._at_output():
            return super()._parse_select_query(
                nested, table, parse_subquery_alias, parse_set_operation
            )
        self._advance()
        comments = self._prev_comments
        hint = self._parse_hint()
        self._advance()
        output = exp.var(self._prev.text.upper()).update_positions(self._prev)
        projections = self._parse_projections_in_parentheses()
        every = self._match(TokenType.ALL) if projections is None else None
        distinct = exp.Distinct() if self._match(TokenType.DISTINCT) else None
        if every and distinct:
            self.refuse("A SELECT is either ALL or DISTINCT.", self._prev)
        select = exp.Select(
            hint=hint,
            distinct=distinct,
            expressions=projections or self._parse_projections()[0],
        )
        select.set("output", output)
        select.comments = comments
        from_ = self._parse_from()
        if from_:
            select.set("from_", from_)
        query: exp.Expr = self._parse_query_modifiers(select)
        return self._parse_set_operations(query) if parse_set_operation else query

    def _at_output(self) -> bool:
        if self._curr.token_type != TokenType.SELECT:
            return False
        rest = self._tokens[self._index + 1 : self._index + 6]
        rest = rest[1:] if rest and rest[0].token_type == TokenType.HINT else rest
        if rest and rest[0].token_type == TokenType.DISTINCT and _is_output(rest[1:]):
            self.refuse(f"Write {rest[1].text.upper()} before DISTINCT.", rest[1])
        return _is_output(rest)

    def _parse_projections_in_parentheses(self) -> list[exp.Expr] | None:
        """CQL's `ISTREAM(a, b) FROM`."""
        index = self._index
        if not self._match(TokenType.L_PAREN):
            return None
        projections = self._try_parse(self._parse_expressions)
        if projections and self._match_pair(TokenType.R_PAREN, TokenType.FROM, advance=False):
            self._advance()
            return projections
        self._retreat(index)
        return None

    def _parse_projections(self) -> tuple[list[exp.Expr], list[exp.Expr] | None]:
        projections, exclude = super()._parse_projections()
        if not projections:
            self.complain("a select list", "Write SELECT * for all columns.")
        return projections, exclude

    def _parse_alias(self, this: exp.Expr | None, explicit: bool = False) -> exp.Expr | None:
        return this if self._at_emit() else super()._parse_alias(this, explicit)

    # Expressions

    def _parse_now(self) -> exp.Expr | None:
        """`NOW()`, and the paper's `Now`."""
        now = self._prev
        if self._match(TokenType.DOT, advance=False):
            self._retreat(self._index - 1)
            return None
        if self._match(TokenType.L_PAREN):
            self.expect(TokenType.R_PAREN, ")", "NOW(")
        return exp.Anonymous(this="NOW").update_positions(now)

    def _parse_any(self) -> exp.Expr:
        """`any(condition)` is an aggregate; after LIKE or a comparison, ANY is a quantifier."""
        word, before = self._prev, self._tokens[max(self._index - 2, 0)]
        start = self._index
        if before.token_type not in QUANTIFIED and self._match(TokenType.L_PAREN):
            if self._curr.token_type not in self.SUBQUERY_TOKENS:
                arguments = self._parse_csv(self._parse_lambda)
                self.expect(TokenType.R_PAREN, ")", "any(")
                call = exp.Anonymous(this=word.text, expressions=arguments)
                return call.update_positions(word)
            self._retreat(start)
        return self.expression(exp.Any(this=self._parse_bitwise()))

    def _parse_factor_operand(self) -> exp.Expr | None:
        """`a MOD b`, where Spark has only `a % b` and `mod(a, b)`."""
        operand = super()._parse_factor_operand()
        if operand is not None and self.at_words("MOD") and self._next.token_type in OPERANDS:
            self._curr.token_type = TokenType.MOD
        return operand

    def _parse_comparison(self, this: exp.Expr | None = None) -> exp.Expr | None:
        """`a < b <= c` means `a < b AND b <= c`, as in the paper."""
        comparison = super()._parse_comparison(this)
        if not isinstance(comparison, ORDER_COMPARISONS):
            return comparison
        links = [comparison]
        while isinstance(links[0].this, ORDER_COMPARISONS):
            links.insert(0, links[0].this)
        for before, link in pairwise(links):
            link.set("this", before.expression.copy())
        return exp.and_(*links, copy=False, wrap=False) if len(links) > 1 else comparison

    def _parse_derived_table_values(self, allow_value_synonym: bool = False) -> exp.Values | None:
        """`(VALUES (1) AS v (a) JOIN s ON ...)` is no list of rows but relations in parentheses."""
        start = self._index
        if self._match(TokenType.L_PAREN) and self._match(TokenType.VALUES, advance=False):
            super()._parse_derived_table_values(allow_value_synonym)
            if self._curr.token_type != TokenType.R_PAREN:
                self._retreat(start)
                return None
        self._retreat(start)
        return super()._parse_derived_table_values(allow_value_synonym)

    # Where sqlglot reads more than there is

    def _parse_csv(
        self, parse_method: Callable[[], T | None], sep: TokenType = TokenType.COMMA
    ) -> list[T]:
        def parse_next() -> T | None:
            after_comma = self._prev.token_type == sep and self._index > first
            item = parse_method()
            if item is None and after_comma:
                self.raise_error("Expected an item after the comma")
            if item is None and self._match(sep, advance=False):
                self.raise_error("Expected an item before the comma")
            return item

        first = self._index
        return super()._parse_csv(parse_next, sep)

    def _parse_join(
        self,
        skip_join_token: bool = False,
        parse_bracket: bool = False,
        alias_tokens: Collection[TokenType] | None = None,
    ) -> exp.Join | None:
        join = super()._parse_join(skip_join_token, parse_bracket, alias_tokens)
        if join is None and self._prev.token_type == TokenType.COMMA:
            self.complain("the name of a table, stream or view")
        if join is not None and self._prev.token_type == TokenType.ON:
            self.complain("the condition of the join")
        return join

    def _parse_in(self, this: exp.Expr | None, alias: bool = False) -> exp.In:
        condition = super()._parse_in(this, alias)
        if not any(condition.args.get(key) for key in ("expressions", "query", "unnest", "field")):
            self.refuse("IN needs a list that is not empty, or a query.", self._prev)
        return condition

    def _parse_function_call(
        self,
        functions: dict[str, Callable[..., t.Any]] | None = None,
        anonymous: bool = False,
        optional_parens: bool = True,
        any_token: bool = False,
    ) -> exp.Expr | None:
        """Refuse what stands between the parentheses of a call and is not in what it becomes."""
        start, first = self._curr, len(self._leaves)
        self._calls.append(start)
        try:
            found = super()._parse_function_call(functions, anonymous, optional_parens, any_token)
        except BUILDING:  # sqlglot takes an argument that is not there, or another than it is
            self.refuse(f"{start.text} has too few arguments here, or others than it takes.", start)
        self._calls.pop()
        if found is not None:
            kept = {node.meta.get("start") for node in found.walk()}
            read = [leaf for leaf in self._leaves[first:] if leaf.start in kept]
            own = {*self.FUNCTION_PARSERS, *self.NO_PAREN_FUNCTION_PARSERS}
            for leaf in self._leaves[first:] if start.text.upper() in own else ():
                if start.end < leaf.start < self._prev.start and leaf not in read:
                    self._refuse_argument(start, leaf)
            self._leaves[first:] = read  # what this call has made anew is no part of those around
        return found

    def validate_expression(self, expression: E, args: list[t.Any] | None = None) -> E:
        """Refuse an argument of which the function, as sqlglot builds it, takes no notice."""
        found = super().validate_expression(expression, args)
        builder = self.FUNCTIONS.get(self._calls[-1].text.upper()) if self._calls else None
        place = unread_argument(builder, found, args, self.dialect) if args and builder else None
        if args and place is not None:
            self._refuse_argument(self._calls[-1], span_of(args[place]))
        return found

    def _parse_interval(
        self, require_interval: bool = True, parse_function_unit: bool = True
    ) -> exp.Add | exp.Interval | None:
        """What it reads it writes anew: none of it is an argument that could be forgotten."""
        first = len(self._leaves)
        found = super()._parse_interval(require_interval, parse_function_unit)
        if found is not None:
            del self._leaves[first:]
        return found

    def expression(
        self, instance: E, token: Token | None = None, comments: list[str] | None = None
    ) -> E:
        found = super().expression(instance, token, comments)
        if token is not None and isinstance(found, exp.Identifier | exp.Literal):
            self._leaves.append(self.span(token))
        return found

    def _retreat(self, index: int) -> None:
        """What was read on a way that led nowhere is no part of anything."""
        back = index < self._index
        super()._retreat(index)
        while back and self._leaves and self._leaves[-1].start >= self._curr.start:
            self._leaves.pop()

    def _refuse_argument(self, call: Token, argument: Span | None) -> NoReturn:
        place = argument or self.span(call)
        self.refuse(
            f"{call.text} does not take {self.sql[place.start : place.end]}. Leave it out.", place
        )

    def reset(self) -> None:
        self._calls: list[Token] = []
        self._leaves: list[Span] = []
        super().reset()


def _is_output(tokens: list[Token]) -> bool:
    """Whether the first of these tokens is STREAMED or its like, and not a column of that name."""
    match [token.token_type for token in tokens]:
        case [TokenType.VAR, TokenType.STAR, *after]:
            ends = not after or after[0] in AFTER_A_STAR
        case [TokenType.VAR, after, *_]:
            ends = after not in AFTER_A_COLUMN
        case _:
            return False
    return ends and tokens[0].text.upper() in Output.__members__
