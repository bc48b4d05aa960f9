"""Penstock's SQL as a dialect of sqlglot: Spark's words, a parser and a generator."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import ErrorLevel, exp
from sqlglot.dialects.spark import Spark
from sqlglot.generators.spark import SparkGenerator
from sqlglot.tokenizer_core import TokenType

from penstock.sql.statement_parser import StatementParser
from penstock.sql.text import Name
from penstock.sql.windows import (
    FixedWindow,
    NowWindow,
    RangeWindow,
    RowsWindow,
    UnboundedWindow,
    Window,
)


class Penstock(Spark):
    """Spark's dialect, with the words and symbols that streams need."""

    class Tokenizer(Spark.Tokenizer):
        # none: the rest of a SHOW is words, not a string
        COMMANDS: ClassVar = set()
        KEYWORDS: ClassVar = {**Spark.Tokenizer.KEYWORDS, "GROUPBY": TokenType.GROUP_BY}
        SINGLE_TOKENS: ClassVar = {
            **Spark.Tokenizer.SINGLE_TOKENS,
            "≤": TokenType.LTE,
            "≥": TokenType.GTE,
        }

    Parser = StatementParser

    class Generator(SparkGenerator):
        # as written: for older versions of Spark, sqlglot rewrites these, some to mean less
        TRANSFORMS: ClassVar = {
            kind: transform
            for kind, transform in SparkGenerator.TRANSFORMS.items()
            if kind not in (exp.Select, exp.WithinGroup)
        } | {
            exp.ToChar: lambda self, e: self.func("TO_CHAR", e.this, e.args.get("format")),
            exp.UnixDate: lambda self, e: self.func("UNIX_DATE", e.this),
        }

        def unsupported(self, message: str) -> None:
            """Told to whoever asks. A text that is written all the same makes no warning: what it
            says is Spark's to refuse."""
            if self.unsupported_level != ErrorLevel.WARN:
                super().unsupported(message)

        def select_sql(self, expression: exp.Select) -> str:
            words = [self.sql(expression, key) for key in ("output", "distinct")]
            if words[0]:
                expression = expression.copy()
                expression.set("distinct", exp.var(" ".join(filter(None, words))))
            return super().select_sql(expression)

        def table_parts(self, expression: exp.Table) -> str:
            return super().table_parts(expression) + self.stream_part(expression)

        def wrap(self, expression: exp.Expr | str) -> str:
            part = self.stream_part(expression) if isinstance(expression, exp.Subquery) else ""
            return super().wrap(expression) + part

        def version_sql(self, expression: exp.Version) -> str:
            is_time = expression.name == "TIMESTAMP" and expression.text("kind") == "AS OF"
            if not is_time:
                return super().version_sql(expression)
            return f"AS OF {self.sql(expression, 'expression')}"

        def stream_part(self, relation: exp.Expr) -> str:
            window, sync = relation.args.get("window"), self.sql(relation, "sync")
            return (f" [{window_sql(window)}]" if window else "") + (
                f" SYNC BY {sync}" if sync else ""
            )

        def after_limit_modifiers(self, expression: exp.Expr) -> list[str]:
            emit = self.sql(expression, "emit")
            return [*super().after_limit_modifiers(expression), f" EMIT {emit}" if emit else ""]


def window_sql(window: Window) -> str:
    match window:
        case RangeWindow(size, None):
            return f"RANGE {size}"
        case RangeWindow(size, slide):
            return f"RANGE {size} SLIDE {slide}"
        case FixedWindow(size):
            return f"FIXED {size}"
        case RowsWindow(rows, ()):
            return f"ROWS {rows}"
        case RowsWindow(rows, partition):
            return f"PARTITION BY {', '.join(map(quote, partition))} ROWS {rows}"
        case NowWindow():
            return "NOW"
        case UnboundedWindow():
            return "UNBOUNDED"


def quote(name: Name | str) -> str:
    """A name as it is written: in backticks where it could be read as something else."""
    text = str(name)
    kind = Penstock.Tokenizer.KEYWORDS.get(text.upper(), TokenType.VAR)
    is_value = (
        kind in {**StatementParser.NO_PAREN_FUNCTIONS, **StatementParser.PRIMARY_PARSERS}
        or text.upper() in StatementParser.NO_PAREN_FUNCTION_PARSERS
    )
    opens = kind in StatementParser.NESTED_TYPE_TOKENS  # MAP < 1 would begin a type
    is_name = kind in StatementParser.ID_VAR_TOKENS and not (is_value or opens)
    if is_name and text.isascii() and text.isidentifier():
        return text
    return f"`{text.replace('`', '``')}`"
