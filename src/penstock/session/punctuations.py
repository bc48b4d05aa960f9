"""Punctuations as users write them, in SQL and in Python, as punctuations of a source."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from penstock.algebra.closing import questions
from penstock.algebra.plan import Node, Restrict
from penstock.errors import PlanError
from penstock.physical.closing import known
from penstock.punctuation import (
    Constant,
    Empty,
    Pattern,
    Punctuation,
    Range,
    ValueList,
    Wildcard,
    text,
)
from penstock.punctuation.domain import domain_of
from penstock.punctuation.pattern import complement
from penstock.punctuation.schemes import InBand, InOrder, Never, Scheme
from penstock.sql import statements as s
from penstock.sql.binding.diagnostics import Diagnostics
from penstock.sql.binding.patterns import ColumnOf, listed, named_patterns
from penstock.sql.text import Name
from penstock.sql.windows import Duration


def in_sql(
    patterns: Iterable[s.Pattern], schema: pa.Schema, column_of: ColumnOf, diagnostics: Diagnostics
) -> Punctuation:
    """What conditions say, each about one column."""
    return Punctuation.of_mapping(schema, named_patterns(patterns, schema, column_of, diagnostics))


def in_python(patterns: Mapping[str, Any], schema: pa.Schema) -> Punctuation:
    """A value, a list of values or a range for each column."""
    return Punctuation.of_mapping(schema, {name: _meant(v) for name, v in patterns.items()})


def schemes_of(
    statement: s.CreateStream,
    schema: pa.Schema,
    column_of: ColumnOf,
    values_of: Callable[[Name, str], list[Any]],
) -> tuple[Scheme, ...]:
    """The schemes of a stream; `values_of` reads the values of a column of a table."""
    found: list[Scheme] = []
    diagnostics = Diagnostics(statement)
    for scheme in statement.punctuated:
        match scheme:
            case s.ByOrder(columns, every):
                distance = every.length if isinstance(every, Duration) else every or 1
                by_rows = isinstance(every, int)
                found.append(InOrder(tuple(map(column_of, columns)), distance, by_rows))
            case s.ByColumn(name):
                column = column_of(name)
                if schema.field(column).type != pa.string():
                    diagnostics.wrong("The column that holds punctuations is a STRING.", name)
                found.append(InBand(column))
            case s.ByDomain(patterns):
                found.append(
                    _only(named_patterns(patterns, schema, column_of, diagnostics), schema)
                )
            case s.ByAll(name, table, per):
                for other in per:
                    column_of(other)
                column = column_of(name)
                listed = values_of(table, column)
                if not listed:
                    diagnostics.wrong(f"{table} has no rows, so nothing would ever end.", table)
                found.append(_only({column: ValueList(tuple(listed))}, schema))
    return tuple(found)


def waits_for(plan: Node) -> Iterator[str]:
    """What an answer to EMIT FINAL waits for, where it is punctuations alone."""
    if not isinstance(plan, Restrict) or plan.start is None or known(plan.start, {}) is not None:
        return
    closed = " and ".join(dict.fromkeys(map(str, questions(plan.start))))
    yield f"Its rows come when punctuations close {closed}."


def _only(patterns: Mapping[str, Pattern], schema: pa.Schema) -> Never:
    """Rows match all of these: what does not match one of them never comes."""
    never = []
    for name, pattern in patterns.items():
        field = schema.field(name)
        for other in complement([pattern], domain_of(field.type, field.nullable)):
            never.append(text.write(Punctuation.of(schema, **{name: other})))
    return Never(tuple(never))


def _meant(value: Any) -> Pattern:
    match value:
        case Wildcard() | Constant() | Range() | ValueList() | Empty():
            return value
        case list() | tuple() | set() | frozenset() | range():
            if not value:
                raise PlanError("an empty list rules nothing out; give at least one value")
            return listed(list(value))
    return Constant(value)
