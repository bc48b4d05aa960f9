"""The statements around a SELECT: one method per statement, one per clause."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NoReturn

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from penstock.errors import SqlContext, UnsupportedError
from penstock.sql.clause_parser import SOURCE_CLAUSES, TABLE_CLAUSES, TYPES, ClauseParser
from penstock.sql.conditions import patterns_of
from penstock.sql.statements import (
    AddColumn,
    Aside,
    Aspect,
    ByAll,
    ByColumn,
    ByDomain,
    ByOrder,
    ChangeType,
    CreateSource,
    CreateStream,
    CreateTable,
    CreateView,
    Describe,
    Drop,
    Emit,
    Explain,
    Kind,
    Late,
    OnError,
    Output,
    Pattern,
    Punctuate,
    Query,
    RegisterSource,
    RenameView,
    Resume,
    Scheme,
    Show,
    ShowAside,
    Statement,
)
from penstock.sql.text import Name, Span, one_of, span_of

QUERIES = ("SELECT", "WITH", "FROM", "VALUES", "TABLE", "(")
SCHEMES = ("ORDER", "COLUMN", "DOMAIN", "ALL")

# statements of Spark SQL that Penstock does not have, and what to do instead
INSTEAD = {
    "ANALYZE": "EXPLAIN shows how a query runs.",
    "CACHE": "A view keeps its answer: write CREATE VIEW.",
    "DELETE": "Rows leave through the source: CREATE STREAM ... OP column, or a window.",
    "INSERT": "Rows come in through a source: CREATE SOURCE ... USING json OPTIONS (path 'dir') "
    "reads files, db.source(name).append(rows) takes them from Python.",
    "MERGE": "CREATE STREAM ... KEY (columns) makes each row replace the last one of its key.",
    "REFRESH": "Views are always up to date.",
    "SET": "Give options to penstock.connect().",
    "TRUNCATE": "Rows leave through the source: CREATE STREAM ... OP column, or a window.",
    "UPDATE": "CREATE STREAM ... KEY (columns) makes each row replace the last one of its key.",
    "USE": "All names are in one place: leave the statement out.",
}


class StatementParser(ClauseParser):
    """Parses whole statements."""

    def parse_tokens(self, tokens: list[Token], sql: str) -> Statement:
        """The one statement that these tokens of a text are."""
        self.reset()
        self.sql = sql
        self._chunks = [tokens]
        self._advance_chunk()
        statement = self.parse_statement()
        if not self._curr:
            return statement
        if isinstance(statement, Query | CreateView | Explain):
            self.raise_error("Invalid expression / Unexpected token")
        self.complain("the end of the statement", "Statements are separated by semicolons.")

    def parse_statement(self) -> Statement:
        start = self._curr
        parsers: dict[str, Callable[[], Statement]] = {
            "CREATE": self._parse_creation,
            "REGISTER": self._parse_registration,
            "DROP": self._parse_drop_statement,
            "ALTER": self._parse_alteration,
            "SHOW": self._parse_show_statement,
            "DESCRIBE": self._parse_description,
            "DESC": self._parse_description,
            "EXPLAIN": self._parse_explanation,
            "PUNCTUATE": self._parse_punctuation,
        }
        if self._match_texts(QUERIES, advance=False):
            return self.parse_query()
        if word := self.skip_word(*INSTEAD):
            self._unsupported(word, INSTEAD[word], start)
        if word := self.skip_word(*parsers):
            return parsers[word]()
        known = (*(word for word in parsers if word not in ("DESC", "ALTER")), "SELECT", "WITH")
        self.complain(f"a statement: {one_of(known)}", among=known)

    def _unsupported(self, construct: str, instead: str, start: Token) -> NoReturn:
        span = self.span(start).to(self.span(self._prev))
        context = SqlContext(self.sql, span.start, span.end)
        raise UnsupportedError(f"There is no {construct} in Penstock. {instead}", context=context)

    def place(self, start: Token) -> Span:
        return self.span(start).to(self.span(self._prev))

    # Creation

    def _parse_creation(self) -> Statement:
        start = self._prev
        if self._match_text_seq("OR", "REPLACE"):
            return self._parse_replacement(start)
        if self.skip_word("TEMPORARY", "TEMP", "GLOBAL"):
            instead = "Leave the word out; DROP removes an object."
            self._unsupported(f"CREATE {self._prev.text.upper()}", instead, start)
        if word := self.skip_word("FUNCTION", "DATABASE", "SCHEMA"):
            instead = {"FUNCTION": "Register a Python function with Spark."}.get(
                word, "All names are in one place: leave the statement out."
            )
            self._unsupported(f"CREATE {word}", instead, start)
        match self.skip_word("SOURCE", "STREAM", "TABLE", "VIEW", "STREAMED", "MATERIALIZED"):
            case "SOURCE":
                return self._parse_create_source(start)
            case "STREAM":
                return self._parse_create_stream(start)
            case "TABLE":
                return self._parse_create_table(start)
            case "VIEW":
                return self._parse_create_view(start)
            case str(word):
                if not self.skip_word("VIEW"):
                    self.complain(f"VIEW after CREATE {word}", among=("VIEW",))
                return self._parse_create_view(start)
        known = (*Kind, "STREAMED VIEW", "MATERIALIZED VIEW")
        self.complain(one_of(known), among=(*Kind, "STREAMED", "MATERIALIZED"))

    def _parse_replacement(self, start: Token) -> CreateView:
        """`CREATE OR REPLACE VIEW`, where what is said of the view may stand before the word."""
        if word := self.skip_word("SOURCE", "STREAM", "TABLE"):
            instead = "Only views are replaced: DROP the object and CREATE it anew."
            if word == "SOURCE":
                instead += " ALTER SOURCE s ADD COLUMN c INT adds a column to a source."
            self._unsupported(f"CREATE OR REPLACE {word}", instead, start)
        self.skip_word("STREAMED", "MATERIALIZED")
        if not self.skip_word("VIEW"):
            words = ("VIEW", "STREAMED VIEW", "MATERIALIZED VIEW")
            self.complain(f"{one_of(words)} after CREATE OR REPLACE", among=("VIEW", "STREAMED"))
        view = self._parse_create_view(start)
        if view.if_not_exists:
            self.refuse(
                "OR REPLACE says what becomes of a view that is there, and so does IF NOT EXISTS. "
                "Leave one of them out.",
                view.span,
            )
        return replace(view, replace=True)

    def _parse_if_not_exists(self) -> bool:
        return bool(self._match_text_seq("IF", "NOT", "EXISTS"))

    def _parse_create_source(self, start: Token) -> CreateSource:
        if_not_exists = self._parse_if_not_exists()
        name = self.parse_name("the source")
        columns = self._parse_columns(name)
        clauses = self._parse_clauses(SOURCE_CLAUSES, columns)
        return CreateSource(
            name,
            columns,
            clauses.format,
            clauses.event_time,
            clauses.late or Late.KEEP,
            if_not_exists,
            clauses.rate,
            clauses.on_error or OnError.KEEP,
            sql=self.sql,
            span=self.place(start),
        )

    def _parse_registration(self) -> RegisterSource:
        start = self._prev
        if not self.skip_word("SOURCE"):
            self.complain("SOURCE after REGISTER", among=("SOURCE",))
        name = self.parse_name("the source")
        columns = self._parse_columns(name)
        if not self._match(TokenType.FROM):
            self.complain("FROM and a port", "Write FROM port5501.", among=("FROM",))
        port = self._parse_port()
        return RegisterSource(name, columns, port, sql=self.sql, span=self.place(start))

    def _parse_port(self) -> int:
        text = self._curr.text.upper()
        if text == "PORT" and self._next.token_type == TokenType.NUMBER:
            self._advance()
            digits = self._curr.text
        else:
            digits = text.removeprefix("PORT") if text.startswith("PORT") else ""
        if not digits.isdigit():
            self.complain("a port", "Write FROM port5501.")
        if not 0 < int(digits) < 2**16:
            self.refuse(f"There is no port {int(digits)}; ports are from 1 to 65535.")
        self._advance()
        return int(digits)

    def _parse_create_table(self, start: Token) -> CreateTable:
        if_not_exists = self._parse_if_not_exists()
        name = self.parse_name("the table")
        at_columns = self._match(TokenType.L_PAREN, advance=False)
        columns = self._parse_columns(name) if at_columns else ()
        if self._match(TokenType.ALIAS):
            instead = f"Write CREATE VIEW {name} AS SELECT ..., which stays up to date."
            self._unsupported("CREATE TABLE ... AS", instead, start)
        clauses = self._parse_clauses(TABLE_CLAUSES, columns)
        if not columns and not clauses.format:
            self.complain("columns or USING", f"Write CREATE TABLE {name} (a INT) USING parquet.")
        return CreateTable(
            name, columns, clauses.format, if_not_exists, sql=self.sql, span=self.place(start)
        )

    def _parse_create_view(self, start: Token) -> CreateView:
        if_not_exists = self._parse_if_not_exists()
        name = self.parse_name("the view")
        columns: tuple[Name, ...] = ()
        if self._match(TokenType.L_PAREN):
            columns = self.parse_names("a column of the view")
            self.expect(TokenType.R_PAREN, ")", "the columns of the view")
        from_now = bool(self.skip_word("START"))
        if from_now and not self.skip_word("NOW"):
            self.complain("NOW", f"Write CREATE VIEW {name} START NOW AS SELECT a FROM s.")
        options = self._parse_options() if self.skip_word("OPTIONS") else ()
        if not self._match(TokenType.ALIAS):
            self.complain("AS and a query", f"Write CREATE VIEW {name} AS SELECT a FROM s.")
        query, rest = self.parse_query(), (columns, if_not_exists, from_now, options)
        return CreateView(name, query, *rest, sql=self.sql, span=self.place(start))

    def _parse_create_stream(self, start: Token) -> CreateStream:
        if_not_exists = self._parse_if_not_exists()
        name = self.parse_name("the stream")
        if not self.skip_word("OVER"):
            advice = f"Write CREATE STREAM {name} OVER source KEY (column)."
            self.complain("OVER and a source", advice, among=("OVER",))
        source = self.parse_name("a source")
        if not self.skip_word("KEY"):
            advice = "KEY NULL makes every row an insert."
            self.complain("KEY (columns) or KEY NULL", advice, among=("KEY",))
        key = () if self._match(TokenType.NULL) else self._parse_column_list("a column of the key")
        operation = self.parse_name("a column", any_word=True) if self.skip_word("OP") else None
        sequence = self._parse_sequence() if self.skip_word("SEQUENCE") else None
        punctuated: tuple[Scheme, ...] = ()
        if self.skip_word("PUNCTUATED"):
            punctuated = self._parse_schemes()
        elif self._curr:
            known = ("PUNCTUATED BY",) if sequence else ("SEQUENCE BY", "PUNCTUATED BY")
            known = known if operation or sequence else ("OP", *known)
            self.complain(one_of((*known, "the end of the statement")), among=known)
        return CreateStream(
            name,
            source,
            key,
            operation,
            punctuated,
            if_not_exists,
            sequence,
            sql=self.sql,
            span=self.place(start),
        )

    def _parse_sequence(self) -> Name:
        if not self.skip_word("BY"):
            advice = "Write SEQUENCE BY lsn."
            self.complain("BY and a column after SEQUENCE", advice, among=("BY",))
        return self.parse_name("a column", any_word=True)

    def _parse_column_list(self, of: str) -> tuple[Name, ...]:
        """One column, or several in parentheses."""
        if not self._match(TokenType.L_PAREN):
            return (self.parse_name(of, any_word=True),)
        names = self.parse_names(of)
        self.expect(TokenType.R_PAREN, ")", "the columns")
        return names

    # Punctuations

    def _parse_schemes(self) -> tuple[Scheme, ...]:
        if not self.skip_word("BY"):
            self.complain(f"BY {one_of(SCHEMES)} after PUNCTUATED", among=("BY",))
        schemes = [self._parse_scheme()]
        while self._match(TokenType.COMMA):
            self.skip_word("BY")
            schemes.append(self._parse_scheme())
        return tuple(schemes)

    def _parse_scheme(self) -> Scheme:
        match self.skip_word(*SCHEMES):
            case "ORDER":
                return ByOrder(self._parse_column_list("a column"), self.parse_every())
            case "COLUMN":
                return ByColumn(self.parse_name("a column", any_word=True))
            case "DOMAIN":
                self.expect(TokenType.L_PAREN, "(", "DOMAIN")
                patterns = self._parse_patterns()
                self.expect(TokenType.R_PAREN, ")", "the domain")
                return ByDomain(patterns)
            case "ALL":
                advice = "Write BY ALL sid IN sensor_list PER (hour)."
                column = self.parse_name("a column", advice, any_word=True)
                if not self._match(TokenType.IN):
                    self.complain("IN and a table", advice)
                table = self.parse_name("a table", advice)
                if not self.skip_word("PER"):
                    self.complain("PER and the columns that end", advice, among=("PER",))
                return ByAll(column, table, self._parse_column_list("a column"))
        self.complain(f"{one_of(SCHEMES)} after BY", among=SCHEMES)

    def _parse_punctuation(self) -> Punctuate:
        start = self._prev
        stream = self.parse_name("a stream")
        if not self._match(TokenType.WHERE):
            advice = f"Write PUNCTUATE {stream} WHERE column = constant."
            self.complain("WHERE and a condition", advice, among=("WHERE",))
        patterns = self._parse_patterns()
        return Punctuate(stream, patterns, sql=self.sql, span=self.place(start))

    def _parse_patterns(self) -> tuple[Pattern, ...]:
        start = self._curr
        condition = self._parse_disjunction()
        if condition is None:
            self.complain("a condition, such as hour BETWEEN 0 AND 3")
        return patterns_of(
            condition,
            lambda message, part: self.refuse(
                message, (part and span_of(part)) or self.place(start)
            ),
        )

    # Questions

    def _parse_explanation(self) -> Explain:
        start = self._prev
        word = self.skip_word("MEMORY", "SHARING")
        aspect = Aspect(word) if word else Aspect.PLAN
        of: Query | CreateView
        if self.at_words("CREATE"):
            create = self._curr
            self._advance()
            created = self._parse_creation()
            if not isinstance(created, CreateView):
                self.refuse("EXPLAIN is about a query or a view.", self.place(create))
            of = created
        elif self._match_texts(QUERIES, advance=False):
            of = self.parse_query()
        else:
            known = (
                ("SELECT", "CREATE VIEW")
                if word
                else ("MEMORY", "SHARING", "SELECT", "CREATE VIEW")
            )
            self.complain(one_of(known), among=known)
        return Explain(aspect, of, sql=self.sql, span=self.place(start))

    def _parse_drop_statement(self) -> Drop:
        start = self._prev
        word = self.skip_word(*Kind)
        if not word:
            self.complain(f"{one_of(Kind)} after DROP", among=Kind)
        if_exists = bool(self._match_text_seq("IF", "EXISTS"))
        name = self.parse_name(f"the {word.lower()}")
        return Drop(Kind(word), name, if_exists, sql=self.sql, span=self.place(start))

    def _parse_alteration(self) -> Statement:
        start = self._prev
        match self.skip_word("VIEW", "SOURCE"):
            case "VIEW":
                return self._parse_view_alteration(start)
            case "SOURCE":
                return self._parse_source_alteration(start)
        if word := self.skip_word("STREAM", "TABLE"):
            self._unsupported(f"ALTER {word}", "DROP the object and CREATE it anew.", start)
        self.complain("VIEW or SOURCE after ALTER", among=("VIEW", "SOURCE"))

    def _parse_view_alteration(self, start: Token) -> Statement:
        name = self.parse_name("the view")
        match self.skip_word("RESUME", "RENAME", "AS"):
            case "RESUME":
                return Resume(name, sql=self.sql, span=self.place(start))
            case "RENAME":
                if not self.skip_word("TO"):
                    advice = f"Write ALTER VIEW {name} RENAME TO w."
                    self.complain("TO and the new name", advice, among=("TO",))
                to = self.parse_name("the view")
                return RenameView(name, to, sql=self.sql, span=self.place(start))
            case "AS":
                instead = f"Write CREATE OR REPLACE VIEW {name} AS SELECT ..."
                self._unsupported("ALTER VIEW ... AS", instead, start)
        self.complain("RESUME or RENAME TO", among=("RESUME", "RENAME"))

    def _parse_source_alteration(self, start: Token) -> Statement:
        name = self.parse_name("the source")
        match self.skip_word("ADD", "ALTER", "DROP", "RENAME"):
            case "ADD":
                self.skip_word("COLUMN")
                if_not_exists = self._parse_if_not_exists()
                column = self._parse_column_definition()
                if not column.nullable or column.checks:
                    self.refuse(
                        "A column that is added is NULL in the rows that came before, so nothing "
                        f"can be promised of it. Write ADD COLUMN {column.name} {column.type}.",
                        column.name.span,
                    )
                place = self.place(start)
                return AddColumn(name, column, if_not_exists, sql=self.sql, span=place)
            case "ALTER":
                return self._parse_new_type(name, start)
            case str(word):
                self._unsupported(
                    f"ALTER SOURCE ... {word}",
                    "What views read stays: ADD COLUMN adds a column, and ALTER COLUMN c TYPE t "
                    "widens a type. A view can leave a column out, or call it something else.",
                    start,
                )
        advice = f"Write ALTER SOURCE {name} ADD COLUMN c INT."
        self.complain("ADD COLUMN or ALTER COLUMN", advice, among=("ADD", "ALTER"))

    def _parse_new_type(self, source: Name, start: Token) -> ChangeType:
        self.skip_word("COLUMN")
        column = self.parse_name("a column", any_word=True)
        self._match_text_seq("SET", "DATA")
        if not self.skip_word("TYPE"):
            advice = f"Write ALTER SOURCE {source} ALTER COLUMN {column} TYPE BIGINT."
            self.complain("TYPE and a type", advice, among=("TYPE",))
        kind = self._try_type()
        if kind is None:
            self.complain(f"the type of column {column}", among=TYPES, cutoff=0.7)
        return ChangeType(source, column, kind, sql=self.sql, span=self.place(start))

    def _parse_show_statement(self) -> Show | ShowAside:
        start = self._prev
        kinds = {f"{kind}S": kind for kind in Kind}
        word = self.skip_word(*kinds, *Aside)
        if not word:
            known = (*kinds, *Aside)
            self.complain(f"{one_of(known)} after SHOW", among=known)
        if word not in kinds:
            if not self.skip_word("FOR"):
                self.complain(f"FOR after {word}", f"Write SHOW {word} FOR s.", among=("FOR",))
            name = self.parse_name("a source")
            return ShowAside(Aside(word), name, sql=self.sql, span=self.place(start))
        return Show(kinds[word], sql=self.sql, span=self.place(start))

    def _parse_description(self) -> Describe:
        start = self._prev
        name = self.parse_name("a source, stream, table or view")
        return Describe(name, sql=self.sql, span=self.place(start))

    # Queries

    def parse_query(self) -> Query:
        if not self._match_texts(QUERIES, advance=False):
            self.complain("a query", "Write SELECT a FROM s.", among=("SELECT", "WITH"))
        start = self._curr
        tree = self._parse_statement()
        while isinstance(tree, exp.Subquery) and tree.is_wrapper and not tree.args.get("emit"):
            tree = tree.this
        if not isinstance(tree, exp.Query | exp.Values):
            self.refuse("Only a query may follow WITH.", self.place(start))
        first = tree
        while isinstance(first, exp.SetOperation):
            first = first.this
        output = _take(first, "output")
        emit = _take(tree, "emit")
        self._check_inner_queries(tree)
        return Query(
            tree,
            Output(output) if output else None,
            Emit(emit) if emit else Emit.CHANGES,
            sql=self.sql,
            span=self.place(start),
        )

    def _check_inner_queries(self, tree: exp.Expr) -> None:
        for query in tree.find_all(exp.Query):
            output, emit = query.args.get("output"), query.args.get("emit")
            if emit:
                self.refuse(
                    "EMIT stands at the end of the whole query. To read what an inner query emits, "
                    "make it a view.",
                    span_of(emit),
                )
            if output and isinstance(query.parent, exp.SetOperation):
                self.refuse(
                    f"{output} stands after the first SELECT and is said of the whole. To say it "
                    "of one part, put that part in parentheses.",
                    span_of(output),
                )
            if output and output.name in (Output.STREAMED, Output.COMPLETE):
                self.refuse(
                    f"{output} is said of a whole query, not of one within it: leave it out.",
                    span_of(output),
                )


def _take(tree: exp.Expr, key: str) -> str | None:
    """The word under a key of a tree, removed from it."""
    word: exp.Expr | None = tree.args.pop(key, None)
    return None if word is None else word.name
