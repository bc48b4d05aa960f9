"""Every error that Penstock raises.

PySparkException
└── PenstockError               catches all of the below
    ├── ParseError              a text that is not a statement of the language
    ├── PlanError               a query or plan that means nothing: wrong columns, types, times
    │   └── UnknownNameError    a name that nothing has
    ├── UnsupportedError        a query that means something, which Penstock cannot run
    │   └── UnboundedError      a view that needs ever more memory, where that is refused
    ├── ArithmeticOverflowError a result too large for its type
    ├── DivisionByZeroError     a quotient or remainder by zero
    ├── LateRowError            a row from before the frontier, where late rows were not allowed
    ├── UngrammaticalRowError   a row that a punctuation had ruled out, where that is an error
    ├── StateError              a file of the state that is missing, unreadable or damaged
    ├── WriterConflictError     someone else wrote to the same state
    └── JavaNotFoundError       Spark needs Java, and there is no suitable one

They read like Spark's own: `getCondition()` is a stable name to test for, `getSqlState()` the
standard five characters, `getQueryContext()` the place in the SQL text. The message says what was
found, what was expected, and what to write instead.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

from pyspark.errors import PySparkException, QueryContext, QueryContextType


@dataclass(frozen=True)
class SqlContext(QueryContext):
    """The part `sql[start:end]` of a statement that an error is about."""

    sql: str
    start: int
    end: int
    view: str = ""

    def contextType(self) -> QueryContextType:
        return QueryContextType.SQL

    def objectType(self) -> str:
        return "VIEW" if self.view else ""

    def objectName(self) -> str:
        return self.view

    def startIndex(self) -> int:
        return self.start

    def stopIndex(self) -> int:
        return self.end - 1

    def fragment(self) -> str:
        return self.sql[self.start : self.end]

    def callSite(self) -> str:
        return ""

    def summary(self) -> str:
        """The line that the fragment begins on, with the fragment underlined."""
        number = self.sql.count("\n", 0, self.start)
        line = self.sql.split("\n")[number]
        column = self.start - (self.sql.rfind("\n", 0, self.start) + 1)
        width = max(1, min(self.end - self.start, len(line) - column))
        of = f" of VIEW {self.view}" if self.view else ""
        header = f"== SQL{of} (line {number + 1}, position {column + 1}) =="
        return f"{header}\n{line}\n{' ' * column}{'^' * width}"


class PenstockError(PySparkException):
    condition: ClassVar[str] = "PENSTOCK_ERROR"
    sqlstate: ClassVar[str] = "XX000"

    def __init__(self, message: str, /, *, context: SqlContext | None = None) -> None:
        super().__init__(message, errorClass=self.condition, contexts=[context] if context else [])

    @property
    def sentence(self) -> str:
        """The message by itself, without its code and place."""
        return str(super().getMessage()).removeprefix(f"[{self.condition}] ")

    def at(self, context: SqlContext) -> Self:
        """The same error about a place in a text."""
        return type(self)(self._message, context=context)

    def getSqlState(self) -> str:
        return self.sqlstate

    def getMessage(self) -> str:
        first = f"{super().getMessage()} SQLSTATE: {self.sqlstate}"
        return "\n".join([first, *(context.summary() for context in self.getQueryContext())])


class ParseError(PenstockError):
    condition = "PARSE_SYNTAX_ERROR"
    sqlstate = "42601"


class PlanError(PenstockError):
    condition = "INVALID_PLAN"
    sqlstate = "42000"


class UnknownNameError(PlanError):
    condition = "UNRESOLVED_NAME"
    sqlstate = "42703"


class UnsupportedError(PenstockError):
    condition = "UNSUPPORTED_FEATURE"
    sqlstate = "0A000"


class UnboundedError(UnsupportedError):
    condition = "UNBOUNDED_MEMORY"
    sqlstate = "53200"


class ArithmeticOverflowError(PenstockError):
    condition = "ARITHMETIC_OVERFLOW"
    sqlstate = "22003"


class DivisionByZeroError(PenstockError):
    condition = "DIVIDE_BY_ZERO"
    sqlstate = "22012"


class LateRowError(PenstockError):
    condition = "LATE_ROW"
    sqlstate = "22000"


class UngrammaticalRowError(PenstockError):
    condition = "UNGRAMMATICAL_ROW"
    sqlstate = "22000"


class StateError(PenstockError):
    condition = "UNREADABLE_STATE"
    sqlstate = "58030"

    def __init__(self, path: Path | str, problem: str, /) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = Path(path)


class WriterConflictError(PenstockError):
    condition = "WRITER_CONFLICT"
    sqlstate = "40001"


class JavaNotFoundError(PenstockError):
    condition = "JAVA_NOT_FOUND"
    sqlstate = "58000"
