"""The parts of definitions: columns and their types, formats and options, time, lateness, rates."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from penstock.sql.query_parser import QueryParser
from penstock.sql.statements import ColumnDefinition, EventTime, Format, Late, OnError, Rate
from penstock.sql.text import Name, closest, one_of
from penstock.sql.windows import UNITS, Duration

SOURCE_CLAUSES = ("USING", "OPTIONS", "EVENT TIME", "WATERMARK", "LATE", "ON ERROR", "RATE")
TABLE_CLAUSES = ("USING", "OPTIONS")
TYPES = (
    *("ARRAY", "BIGINT", "BINARY", "BOOLEAN", "CHAR", "DATE", "DECIMAL", "DOUBLE", "FLOAT", "INT"),
    *("INTERVAL", "MAP", "SMALLINT", "STRING", "STRUCT", "TIMESTAMP", "TIMESTAMP_LTZ"),
    *("TIMESTAMP_NTZ", "TINYINT", "VARCHAR", "VARIANT"),
)
OTHER_NAMES_OF_TYPES = ("BYTE", "DEC", "INTEGER", "LONG", "NUMERIC", "REAL", "SHORT")


class ClauseParser(QueryParser):
    """Parses the clauses of definitions."""

    # Columns and types

    def _parse_columns(self, owner: Name) -> tuple[ColumnDefinition, ...]:
        if not self._match(TokenType.L_PAREN):
            self.complain(f"the columns of {owner}", f"Write {owner} (a INT, b STRING).")
        columns = [self._parse_column_definition()]
        while self._match(TokenType.COMMA):
            columns.append(self._parse_column_definition())
            if columns[-1].name.text.upper() in {c.name.text.upper() for c in columns[:-1]}:
                self.refuse(f"Two columns are called {columns[-1].name}.", columns[-1].name.span)
        if not self._match(TokenType.R_PAREN):
            among = ("NOT NULL", "CHECK")
            self.complain("a comma, NOT NULL, CHECK or ) after a column", among=among)
        return tuple(columns)

    def _parse_column_definition(self) -> ColumnDefinition:
        """`name type`; also `type name`, as in the paper."""
        index = self._index
        name = self.parse_name("a column", any_word=True)
        kind = self._try_type()
        if kind is None:
            at_type = self._index
            self._retreat(index)
            kind = self._try_type()
            if kind is None or not self._curr or self._match(TokenType.COMMA, advance=False):
                self._retreat(at_type)
                self.complain(f"the type of column {name}", _types(), among=TYPES, cutoff=0.7)
            name = self.parse_name("a column", any_word=True)
        nullable = not self._match_text_seq("NOT", "NULL")
        checks: list[exp.Expr] = []
        while self.skip_word("CHECK"):
            self.expect(TokenType.L_PAREN, "(", "CHECK")
            checks.append(self._parse_check(name))
            self.expect(TokenType.R_PAREN, ")", "the condition of a CHECK")
        return ColumnDefinition(name, kind, nullable, tuple(checks))

    def _parse_check(self, column: Name) -> exp.Expr:
        condition = self._parse_assignment()
        if condition is None:
            advice = f"Write CHECK ({column} BETWEEN 0 AND 9)."
            self.complain(f"a condition on {column} after CHECK (", advice)
        return condition

    def _try_type(self) -> str | None:
        """The type that stands here, as Spark writes it."""
        if not self._match_texts((*TYPES, *OTHER_NAMES_OF_TYPES), advance=False):
            return None
        kind = self._parse_types(schema=True, allow_identifiers=False)
        if not isinstance(kind, exp.DataType):
            self.complain("a type", _types())
        if kind.is_type("char", "varchar") and not kind.expressions:
            return "STRING"
        return kind.sql(self.dialect)

    # Clauses of sources and tables

    def _parse_clauses(
        self, known: tuple[str, ...], columns: tuple[ColumnDefinition, ...]
    ) -> _Clauses:
        clauses = _Clauses()
        while self._curr:
            start = self._curr
            clause = self._skip_clause(known)
            if clause in clauses.seen:
                self.refuse(f"{clause} stands twice.", start)
            clauses.seen.add(clause)
            match clause:
                case "USING":
                    clauses.using = self._parse_format_path()
                case "OPTIONS":
                    clauses.options_at = start
                    clauses.options = self._parse_options()
                case "EVENT TIME":
                    clauses.event_time = self._parse_event_time(columns)
                case "LATE":
                    clauses.late = self._parse_late()
                case "ON ERROR":
                    clauses.on_error = self._parse_on_error()
                case "RATE":
                    clauses.rate = self._parse_rate()
        if clauses.options_at and not clauses.using:
            advice = "Write USING json OPTIONS (...), or any other format of Spark."
            self.refuse(
                f"OPTIONS belong to a format, and there is no USING. {advice}", clauses.options_at
            )
        return clauses

    def _skip_clause(self, known: tuple[str, ...]) -> str:
        for clause in known:
            if self._match_text_seq(*clause.split()):
                return "EVENT TIME" if clause == "WATERMARK" else clause
        self.complain(one_of((*known, "the end of the statement")), among=known)

    def _parse_format_path(self) -> str:
        parts = [self._parse_format_part()]
        while self._match(TokenType.DOT):
            parts.append(self._parse_format_part())
        return ".".join(parts)

    def _parse_format_part(self) -> str:
        if self._match_texts(SOURCE_CLAUSES, advance=False):
            self.complain("the name of a format of Spark")
        return self.parse_name("a format of Spark", any_word=True).text

    def _parse_options(self) -> tuple[tuple[str, str], ...]:
        self.expect(TokenType.L_PAREN, "(", "OPTIONS")
        options: list[tuple[str, str]] = []
        while True:
            at_key = self._curr
            key = self._parse_option_key()
            if key.lower() in {other.lower() for other, _ in options}:
                self.refuse(f"Option {key} is given twice.", at_key)
            options.append((key, self._parse_option_value(key)))
            if not self._match(TokenType.COMMA):
                break
        self.expect(TokenType.R_PAREN, "a comma or )", "an option")
        return tuple(options)

    def _parse_option_key(self) -> str:
        if self._match(TokenType.STRING):
            return self._prev.text
        parts = [self.parse_name("an option", "Write (path 'in').", any_word=True).text]
        while self._match(TokenType.DOT):
            parts.append(self.parse_name("an option", any_word=True).text)
        return ".".join(parts)

    def _parse_option_value(self, key: str) -> str:
        self._match(TokenType.EQ)
        sign = "-" if self._match(TokenType.DASH) else ""
        literals = (
            {TokenType.NUMBER}
            if sign
            else {TokenType.STRING, TokenType.NUMBER, TokenType.TRUE, TokenType.FALSE}
        )
        if not self._match_set(literals):
            self.complain(f"the value of option {key}: a string, a number, TRUE or FALSE")
        token = self._prev
        return sign + (token.text if token.token_type == TokenType.STRING else token.text.lower())

    def _parse_event_time(self, columns: tuple[ColumnDefinition, ...]) -> EventTime:
        column = self.parse_name("the column that holds the time", any_word=True)
        names = [definition.name.text for definition in columns]
        if column.text.upper() not in {name.upper() for name in names}:
            meant = closest(column.text, names)
            question = f" Did you mean {meant}?" if meant else ""
            known = f"The columns are {', '.join(names)}."
            self.refuse(f"There is no column {column}.{question} {known}", column.span)
        if not self.skip_word("DELAY"):
            return EventTime(column)
        self.skip_word("OF")
        return EventTime(column, self.parse_duration("the delay", zero=True))

    def _parse_late(self) -> Late:
        if word := self.skip_word(*Late):
            return Late(word)
        self.complain(f"{one_of(Late)} after LATE", among=Late)

    def _parse_on_error(self) -> OnError:
        if word := self.skip_word(*OnError):
            return OnError(word)
        self.complain(f"{one_of(OnError)} after ON ERROR", among=OnError)

    def _parse_rate(self) -> Rate:
        """`RATE 100 PER SECOND`, `RATE 5 PER 10 MINUTES`, or `RATE 3 PER 10` in ticks."""
        rows = self.parse_count("rows")
        if not self.skip_word("PER"):
            self.complain("PER and a span of time", "Write RATE 100 PER SECOND.", among=("PER",))
        unit = self._curr.text.upper() if self._curr else ""
        if unit in UNITS:
            self._advance()
            return Rate(rows, Duration(UNITS[unit]))
        return Rate(rows, self.parse_duration("the span of a rate"))


class _Clauses:
    """What has been read of a source's or table's clauses."""

    def __init__(self) -> None:
        self.seen: set[str] = set()
        self.using: str | None = None
        self.options: tuple[tuple[str, str], ...] = ()
        self.options_at: Token | None = None
        self.event_time: EventTime | None = None
        self.late: Late | None = None
        self.rate: Rate | None = None
        self.on_error: OnError | None = None

    @property
    def format(self) -> Format | None:
        return Format(self.using, self.options) if self.using else None


def _types() -> str:
    return f"The types are {', '.join(TYPES)}."
