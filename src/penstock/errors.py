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
    ├── ExpressionError         any other value that an expression does not have: a cast, a function
    ├── BackgroundError         a step, source or sink that failed in the background
    ├── LateRowError            a row from before the frontier, where late rows were not allowed
    ├── UngrammaticalRowError   a row that a punctuation had ruled out, where that is an error
    ├── RejectedRowError        a record that cannot be read, where the source is to stop at it
    ├── StateError              a file of the state that is missing, unreadable or damaged
    ├── WriterConflictError     someone else wrote to the same state
    ├── ArgumentError           an argument of a kind that a call does not take; also a TypeError
    ├── SparkError              what Spark refuses or fails at, in a sentence
    │   └── SparkLostError      Spark's Java process has ended
    └── JavaNotFoundError       Spark needs Java, and there is no suitable one

They read like Spark's own: `getCondition()` is a stable name to test for, `getSqlState()` the
standard five characters, `getQueryContext()` the place in the SQL text. The message says what was
found, what was expected, and what to write instead. It fits on a screen, whatever was found.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from pyspark.errors import PySparkException, QueryContext, QueryContextType

LONGEST_MESSAGE = 1_400
MOST_LINES = 16
LONGEST_LINE = 160


def shortened(text: str, longest: int = LONGEST_MESSAGE, lines: int = MOST_LINES) -> str:
    """The beginning and the end of a text that is too long to be read, in printable characters."""
    if text.count("\n") >= lines:
        every = text.split("\n")
        text = "\n".join([*every[: lines - 3], "...", *every[-2:]])
    if len(text) > longest:
        text = f"{text[: longest * 3 // 4]} ... {text[-(longest // 4 - 5) :]}"
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def brief(value: object, longest: int = 80, show: Callable[[object], str] = repr) -> str:
    """Any object of a user as a message shows it; its kind, where it cannot be shown."""
    try:
        return shortened(show(value), longest, lines=2)
    except Exception:  # the code of a user, or a number with too many digits
        return f"a value of type {type(value).__name__}"


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
        """The line that the fragment begins on, with the fragment underlined.

        Of a long line only what is around the fragment.
        """
        number = self.sql.count("\n", 0, self.start)
        begin = self.sql.rfind("\n", 0, self.start) + 1
        end = self.sql.find("\n", self.start)
        line, column = self.sql[begin : end if end >= 0 else None], self.start - begin
        of = f" of VIEW {shortened(self.view, 80)}" if self.view else ""
        header = f"== SQL{of} (line {number + 1}, position {column + 1}) =="
        width = max(1, min(self.end - self.start, len(line) - column))
        if len(line) > LONGEST_LINE:
            left = max(0, min(column - LONGEST_LINE // 2, len(line) - LONGEST_LINE))
            right = left + LONGEST_LINE
            before, after = "... " if left else "", " ..." if right < len(line) else ""
            line, width = f"{before}{line[left:right]}{after}", min(width, right - column)
            column += len(before) - left
        line = line.encode("utf-8", "replace").decode("utf-8")
        return f"{header}\n{line}\n{' ' * column}{'^' * width}"


class PenstockError(PySparkException):
    """Any error of Penstock: catch this one to catch them all.

    `condition` is a stable name for the kind of error, `sqlstate` its five characters.
    """

    condition: str = "PENSTOCK_ERROR"
    sqlstate: str = "XX000"

    def __init__(self, message: str, /, *, context: SqlContext | None = None) -> None:
        message = shortened(message)
        super().__init__(message, errorClass=self.condition, contexts=[context] if context else [])

    @property
    def sentence(self) -> str:
        """The message by itself, without its code and place."""
        return str(super().getMessage()).removeprefix(f"[{self.condition}] ")

    def at(self, context: SqlContext) -> Self:
        """The same error about a place in a text."""
        return type(self)(self._message, context=context)

    def getSqlState(self) -> str:
        """The five characters of the SQL standard for this kind of error."""
        return self.sqlstate

    def getMessage(self) -> str:
        """The condition, the sentence, the SQLSTATE, and the SQL text with the place underlined."""
        first = f"{super().getMessage()} SQLSTATE: {self.sqlstate}"
        return "\n".join([first, *(context.summary() for context in self.getQueryContext())])


class ParseError(PenstockError):
    """A text is not a statement of the language."""

    condition = "PARSE_SYNTAX_ERROR"
    sqlstate = "42601"


class PlanError(PenstockError):
    """A query or plan means nothing: wrong columns, types or times."""

    condition = "INVALID_PLAN"
    sqlstate = "42000"


class UnknownNameError(PlanError):
    """Nothing has this name."""

    condition = "UNRESOLVED_NAME"
    sqlstate = "42703"


class UnsupportedError(PenstockError):
    """A query means something, and Penstock cannot run it. The message says what to write."""

    condition = "UNSUPPORTED_FEATURE"
    sqlstate = "0A000"


class UnboundedError(UnsupportedError):
    """A view needs ever more memory, where the session refuses such views."""

    condition = "UNBOUNDED_MEMORY"
    sqlstate = "53200"


class ArithmeticOverflowError(PenstockError):
    """A result is too large for its type."""

    condition = "ARITHMETIC_OVERFLOW"
    sqlstate = "22003"


class DivisionByZeroError(PenstockError):
    """A quotient or remainder by zero was asked for."""

    condition = "DIVIDE_BY_ZERO"
    sqlstate = "22012"


class ExpressionError(PenstockError):
    """An expression has no value for some row: a cast, or an argument of a function."""

    condition = "EXPRESSION_FAILED"
    sqlstate = "22000"


class BackgroundError(PenstockError):
    """A step, source or sink has failed in the background."""

    condition = "FAILED_IN_BACKGROUND"
    sqlstate = "58000"


class LateRowError(PenstockError):
    """A row is from before the frontier, and its source says `LATE FAIL`."""

    condition = "LATE_ROW"
    sqlstate = "22000"


class UngrammaticalRowError(PenstockError):
    """A row was ruled out by a punctuation, and its source says `LATE FAIL`."""

    condition = "UNGRAMMATICAL_ROW"
    sqlstate = "22000"


class RejectedRowError(PenstockError):
    """A record cannot be read, and its source says `ON ERROR FAIL`."""

    condition = "REJECTED_ROW"
    sqlstate = "22000"


class StateError(PenstockError):
    """A file of the state is missing, unreadable or damaged; `path` names it."""

    condition = "UNREADABLE_STATE"
    sqlstate = "58030"

    def __init__(self, path: Path | str, problem: str, /) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = Path(path)


class WriterConflictError(PenstockError):
    """Another session writes to the same directory."""

    condition = "WRITER_CONFLICT"
    sqlstate = "40001"


class ArgumentError(PenstockError, TypeError):
    """A call does not take an argument of this kind; nothing has happened. Also a `TypeError`."""

    condition = "INVALID_ARGUMENT"
    sqlstate = "22023"


class SparkError(PenstockError):
    """Spark refused or failed; the condition and the SQLSTATE are Spark's, where it tells them."""

    condition = "SPARK_ERROR"
    sqlstate = "58000"

    def __init__(
        self,
        message: str,
        /,
        condition: str = "",
        sqlstate: str = "",
        *,
        context: SqlContext | None = None,
    ) -> None:
        """`condition` and `sqlstate` are Spark's own, where it says them."""
        self.condition = condition or type(self).condition
        self.sqlstate = sqlstate or type(self).sqlstate
        super().__init__(message, context=context)


class SparkLostError(SparkError):
    """Spark's Java process has ended; `connect` to the directory again."""

    condition = "SPARK_LOST"


class JavaNotFoundError(PenstockError):
    """Spark needs Java, and there is no suitable one."""

    condition = "JAVA_NOT_FOUND"
    sqlstate = "58000"
