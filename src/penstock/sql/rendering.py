"""From statements to text: `parse(to_sql(statement)) == [statement]`."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from penstock.sql.dialect import Penstock, quote
from penstock.sql.statements import (
    AddColumn,
    Aspect,
    Between,
    ByAll,
    ByColumn,
    ByDomain,
    ByOrder,
    ChangeType,
    ColumnDefinition,
    CreateSource,
    CreateStream,
    CreateTable,
    CreateView,
    Describe,
    Drop,
    Emit,
    EventTime,
    Explain,
    Format,
    Late,
    OneOf,
    OnError,
    Pattern,
    Punctuate,
    Query,
    RegisterSource,
    RenameView,
    Resume,
    Scheme,
    Show,
    ShowAside,
    ShowColumns,
    Statement,
)
from penstock.sql.text import Name
from penstock.sql.windows import NO_TIME


def to_sql(statement: Statement) -> str:
    """A statement in one line, without comments, every word in its usual place."""
    return " ".join(part for part in _parts(statement) if part)


def _parts(statement: Statement) -> list[str]:
    match statement:
        case CreateSource(name, columns, format, event_time, late, if_not_exists, rate, on_error):
            return [
                *_create("SOURCE", name, if_not_exists),
                _columns(columns),
                *_format(format),
                *_event_time(event_time),
                f"LATE {late}" if late is not Late.KEEP else "",
                f"ON ERROR {on_error}" if on_error is not OnError.KEEP else "",
                f"RATE {rate.rows} PER {rate.span}" if rate is not None else "",
            ]
        case RegisterSource(name, columns, port):
            return ["REGISTER SOURCE", quote(name), _columns(columns), f"FROM port{port}"]
        case CreateTable(name, columns, format, if_not_exists):
            listed = _columns(columns) if columns else ""
            return [*_create("TABLE", name, if_not_exists), listed, *_format(format)]
        case CreateStream(name, source, key, operation, punctuated, if_not_exists, sequence):
            return [
                *_create("STREAM", name, if_not_exists),
                f"OVER {quote(source)}",
                f"KEY {_names(key)}" if key else "KEY NULL",
                f"OP {quote(operation)}" if operation else "",
                f"SEQUENCE BY {quote(sequence)}" if sequence else "",
                "PUNCTUATED " + ", ".join(map(_scheme, punctuated)) if punctuated else "",
            ]
        case CreateView(name, query, view_columns, if_not_exists, from_now, options, replaces):
            kind = "OR REPLACE STREAMED VIEW" if replaces else "STREAMED VIEW"
            return [
                *_create(kind, name, if_not_exists),
                _names(view_columns) if view_columns else "",
                "START NOW" if from_now else "",
                _options(options),
                f"AS {to_sql(query)}",
            ]
        case Query():
            return [_query(statement)]
        case Punctuate(stream, patterns):
            return ["PUNCTUATE", quote(stream), "WHERE", patterns_sql(patterns)]
        case Explain(aspect, of):
            return ["EXPLAIN", "" if aspect is Aspect.PLAN else aspect, to_sql(of)]
        case Drop(kind, name, if_exists):
            return ["DROP", kind, "IF EXISTS" if if_exists else "", quote(name)]
        case Resume(name):
            return ["ALTER VIEW", quote(name), "RESUME"]
        case RenameView(name, to):
            return ["ALTER VIEW", quote(name), "RENAME TO", quote(to)]
        case AddColumn(source, column, if_not_exists):
            words = "ADD COLUMN IF NOT EXISTS" if if_not_exists else "ADD COLUMN"
            return ["ALTER SOURCE", quote(source), words, _column(column)]
        case ChangeType(source, name, kind):
            return ["ALTER SOURCE", quote(source), "ALTER COLUMN", quote(name), "TYPE", kind]
        case Show(kind):
            return ["SHOW", f"{kind}S"]
        case ShowAside(aside, source):
            return [f"SHOW {aside} FOR", quote(source)]
        case ShowColumns(name):
            return ["SHOW COLUMNS FROM", quote(name)]
        case Describe(name):
            return ["DESCRIBE", quote(name)]


def tree_sql(tree: exp.Expr) -> str:
    return tree.sql(Penstock, comments=False)


def _query(query: Query) -> str:
    tree = query.tree.copy()
    if query.output:
        first = tree
        while isinstance(first, exp.SetOperation):
            first = first.this
        first.set("output", exp.var(query.output))
    if query.emit is not Emit.CHANGES:
        tree.set("emit", exp.var(query.emit))
    return tree_sql(tree)


def _create(kind: str, name: Name, if_not_exists: bool) -> list[str]:
    return ["CREATE", kind, "IF NOT EXISTS" if if_not_exists else "", quote(name)]


def _names(names: Iterable[Name]) -> str:
    return f"({', '.join(map(quote, names))})"


def _columns(columns: Iterable[ColumnDefinition]) -> str:
    return "(" + ", ".join(map(_column, columns)) + ")"


def _column(column: ColumnDefinition) -> str:
    words = [quote(column.name), column.type, "" if column.nullable else "NOT NULL"]
    words += [f"CHECK ({tree_sql(check)})" for check in column.checks]
    return " ".join(filter(None, words))


def _format(format: Format | None) -> list[str]:
    if format is None:
        return []
    name = ".".join(map(quote, format.name.split(".")))
    return [f"USING {name}", _options(format.options)]


def _options(options: Iterable[tuple[str, str]]) -> str:
    listed = ", ".join(f"{_option(key)} {_string(value)}" for key, value in options)
    return f"OPTIONS ({listed})" if listed else ""


def _event_time(event_time: EventTime | None) -> list[str]:
    if event_time is None:
        return []
    interval = "" if event_time.delay.ticks else "INTERVAL "
    delay = [] if event_time.delay == NO_TIME else [f"DELAY {interval}{event_time.delay}"]
    return [f"EVENT TIME {quote(event_time.column)}", *delay]


def _scheme(scheme: Scheme) -> str:
    match scheme:
        case ByOrder(columns, every):
            distance = f"{every} ROWS" if isinstance(every, int) else every
            return f"BY ORDER {_names(columns)}" + ("" if every is None else f" EVERY {distance}")
        case ByColumn(column):
            return f"BY COLUMN {quote(column)}"
        case ByDomain(patterns):
            return f"BY DOMAIN ({patterns_sql(patterns)})"
        case ByAll(column, table, per):
            return f"BY ALL {quote(column)} IN {quote(table)} PER {_names(per)}"


def patterns_sql(patterns: Iterable[Pattern]) -> str:
    return " AND ".join(map(_pattern, patterns))


def _pattern(pattern: Pattern) -> str:
    column = quote(pattern.column)
    match pattern:
        case OneOf(values=(value,)):
            return f"{column} = {tree_sql(value)}"
        case OneOf(values=values):
            return f"{column} IN ({', '.join(map(tree_sql, values))})"
        case Between(_, exp.Expr() as low, exp.Expr() as high, False, False):
            return f"{column} BETWEEN {tree_sql(low)} AND {tree_sql(high)}"
        case Between(_, low, high, low_open, high_open):
            bounds = [
                f"{column} {'>' if low_open else '>='} {tree_sql(low)}" if low else "",
                f"{column} {'<' if high_open else '<='} {tree_sql(high)}" if high else "",
            ]
            return " AND ".join(filter(None, bounds))


def _option(key: str) -> str:
    return key if quote(key) == key else _string(key)


def _string(text: str) -> str:
    return tree_sql(exp.Literal.string(text))
