"""Statements: what a text asks for. Immutable; names are not resolved and types not checked.

Two statements are equal when they say the same, wherever and however they were written. The trees
in them are sqlglot's, to be copied before they are changed. Beyond Spark's SQL they carry

    Table, Subquery     `window`, a `windows.Window`; `sync`, the Identifier of a sync stream
    Select              `output`, a Var ISTREAM, DSTREAM or RSTREAM, in queries within queries

and a tree knows where it came from: `text.span_of`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from sqlglot import exp

from penstock.errors import SqlContext
from penstock.sql.text import NOWHERE, Name, Span
from penstock.sql.windows import NO_TIME, Duration


@dataclass(frozen=True, slots=True, kw_only=True)
class _Statement:
    """`sql` is the whole text that the statement was part of, `span` its place there."""

    sql: str = field(default="", compare=False, repr=False)
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    @property
    def text(self) -> str:
        return self.sql[self.span.start : self.span.end]

    def context(self, span: Span | None = None) -> SqlContext:
        """Where an error about a part of the statement points to."""
        place = span or self.span
        return SqlContext(self.sql, place.start, place.end)


@dataclass(frozen=True, slots=True)
class ColumnDefinition:
    """A column and its type, as Spark SQL writes it, and what is promised of its values."""

    name: Name
    type: str
    nullable: bool = True
    checks: tuple[exp.Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class Format:
    """A Spark data source and its options, in the order written."""

    name: str
    options: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class EventTime:
    """The column that holds a row's time, and how much later a row of an earlier time may come."""

    column: Name
    delay: Duration = NO_TIME


class Late(StrEnum):
    """What becomes of a row from before the frontier."""

    KEEP = "KEEP"
    DROP = "DROP"
    FAIL = "FAIL"


class OnError(StrEnum):
    """What becomes of a record that cannot be read, or holds a value that its column cannot."""

    KEEP = "KEEP"
    DROP = "DROP"
    FAIL = "FAIL"


@dataclass(frozen=True, slots=True)
class Rate:
    """At most so many rows come in any span of this length."""

    rows: int
    span: Duration


@dataclass(frozen=True, slots=True)
class CreateSource(_Statement):
    """Without a format, rows are appended by hand; without event time, stamped on arrival."""

    name: Name
    columns: tuple[ColumnDefinition, ...]
    format: Format | None = None
    event_time: EventTime | None = None
    late: Late = Late.KEEP
    if_not_exists: bool = False
    rate: Rate | None = None
    on_error: OnError = OnError.KEEP


@dataclass(frozen=True, slots=True)
class RegisterSource(_Statement):
    """A source that listens on a port of this machine."""

    name: Name
    columns: tuple[ColumnDefinition, ...]
    port: int


@dataclass(frozen=True, slots=True)
class CreateTable(_Statement):
    """A finite relation; without columns, the format's reader knows them."""

    name: Name
    columns: tuple[ColumnDefinition, ...] = ()
    format: Format | None = None
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True)
class OneOf:
    """`column = value`, `column IN (values)`; each value is a constant expression."""

    column: Name
    values: tuple[exp.Expr, ...]


@dataclass(frozen=True, slots=True)
class Between:
    """`low <= column <= high`; None is no bound, and an open bound does not include its value."""

    column: Name
    low: exp.Expr | None
    high: exp.Expr | None
    low_open: bool = False
    high_open: bool = False


Pattern: TypeAlias = OneOf | Between


@dataclass(frozen=True, slots=True)
class ByOrder:
    """A larger value ends the smaller ones; said at most every so often, or after so many rows."""

    columns: tuple[Name, ...]
    every: Duration | int | None = None


@dataclass(frozen=True, slots=True)
class ByColumn:
    """Rows in which the column is not NULL are punctuations, and it is their text."""

    column: Name


@dataclass(frozen=True, slots=True)
class ByDomain:
    """Rows that do not match never come."""

    patterns: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class ByAll:
    """A value of `per` ends when all values of `column` in a table have reported it as done."""

    column: Name
    table: Name
    per: tuple[Name, ...]


Scheme: TypeAlias = ByOrder | ByColumn | ByDomain | ByAll


@dataclass(frozen=True, slots=True)
class CreateStream(_Statement):
    """A tagged stream; without a key, every row is an insert."""

    name: Name
    source: Name
    key: tuple[Name, ...] = ()
    operation: Name | None = None
    punctuated: tuple[Scheme, ...] = ()
    if_not_exists: bool = False
    sequence: Name | None = None


class Output(StrEnum):
    """What a query passes on: changes, or the whole answer, or one of them as a stream of rows."""

    STREAMED = "STREAMED"
    COMPLETE = "COMPLETE"
    ISTREAM = "ISTREAM"
    DSTREAM = "DSTREAM"
    RSTREAM = "RSTREAM"


class Emit(StrEnum):
    """Every change, or only what no future input can change."""

    CHANGES = "CHANGES"
    FINAL = "FINAL"


@dataclass(frozen=True, slots=True)
class Query(_Statement):
    """A SELECT, set operation or VALUES. `output` is None where the text does not say."""

    tree: exp.Expr
    output: Output | None = None
    emit: Emit = Emit.CHANGES


@dataclass(frozen=True, slots=True)
class CreateView(_Statement):
    """A view; `columns` rename those of the query, if there are any.

    From now: of streams, it reads only what comes after it. With `replace`, it takes the place of
    the view of its name, if there is one.
    """

    name: Name
    query: Query
    columns: tuple[Name, ...] = ()
    if_not_exists: bool = False
    from_now: bool = False
    options: tuple[tuple[str, str], ...] = ()
    replace: bool = False


@dataclass(frozen=True, slots=True)
class Punctuate(_Statement):
    """No more rows that match all the patterns come to the stream."""

    stream: Name
    patterns: tuple[Pattern, ...]


class Aspect(StrEnum):
    """What EXPLAIN is asked about."""

    PLAN = "PLAN"
    MEMORY = "MEMORY"
    SHARING = "SHARING"


@dataclass(frozen=True, slots=True)
class Explain(_Statement):
    """EXPLAIN: a plan, or what is said of its memory or sharing."""

    aspect: Aspect
    of: Query | CreateView


class Kind(StrEnum):
    """The kinds of objects that have names."""

    SOURCE = "SOURCE"
    STREAM = "STREAM"
    TABLE = "TABLE"
    VIEW = "VIEW"


@dataclass(frozen=True, slots=True)
class Drop(_Statement):
    """DROP of a source, stream, table or view."""

    kind: Kind
    name: Name
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class Resume(_Statement):
    """A view that failed goes on."""

    name: Name


@dataclass(frozen=True, slots=True)
class RenameView(_Statement):
    """A view has another name from now on, in those that read it, too."""

    name: Name
    to: Name


@dataclass(frozen=True, slots=True)
class AddColumn(_Statement):
    """A source has one more column, which is NULL in the rows that came before."""

    source: Name
    column: ColumnDefinition
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True)
class ChangeType(_Statement):
    """A column of a source has a wider type from now on."""

    source: Name
    column: Name
    type: str


@dataclass(frozen=True, slots=True)
class Show(_Statement):
    """All objects of one kind."""

    kind: Kind


class Aside(StrEnum):
    """What a source did not accept."""

    LATE = "LATE"
    REJECTED = "REJECTED"


@dataclass(frozen=True, slots=True)
class ShowAside(_Statement):
    """The rows or records of a source that it keeps aside."""

    aside: Aside
    source: Name


@dataclass(frozen=True, slots=True)
class Describe(_Statement):
    """DESCRIBE: columns, keys and times of what has this name."""

    name: Name


Statement: TypeAlias = (
    CreateSource
    | RegisterSource
    | CreateTable
    | CreateStream
    | CreateView
    | Query
    | Punctuate
    | Explain
    | Drop
    | Resume
    | RenameView
    | AddColumn
    | ChangeType
    | Show
    | ShowAside
    | Describe
)
