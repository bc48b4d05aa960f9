"""Statements that change when what they read does: names that are others, columns that are gone."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import TypeGuard

from sqlglot import exp

from penstock.sql.dialect import quote
from penstock.sql.statements import (
    AddColumn,
    ChangeType,
    ColumnDefinition,
    CreateSource,
    CreateView,
    Query,
    RegisterSource,
    RenameView,
    Statement,
)
from penstock.sql.text import Name, Span, span_of

_OR_REPLACE = re.compile(r"(CREATE)\s+OR\s+REPLACE\b", re.IGNORECASE)


def as_created(statement: CreateView) -> str:
    """The text of a view as it is kept: that it took the place of another is no part of it."""
    return _OR_REPLACE.sub(r"\1", statement.text, count=1)


def as_altered(statements: Iterable[Statement]) -> list[Statement]:
    """Statements in which sources and views are created as later ones alter them."""
    found: list[Statement] = []
    for statement in statements:
        match statement:
            case AddColumn(source, column):
                found = [_with_column(one, source, column) for one in found]
            case ChangeType(source, column_name, kind):
                found = [_with_type(one, source, column_name, kind) for one in found]
            case RenameView(name, to):
                found = [_with_name(one, name, to) for one in found]
            case CreateView(name, replace=True) if any(_creates_view(one, name) for one in found):
                found = [statement if _creates_view(one, name) else one for one in found]
            case _:
                found.append(statement)
    return found


def _with_column(statement: Statement, source: Name, column: ColumnDefinition) -> Statement:
    if not _creates_source(statement, source):
        return statement
    if any(_same(one.name, column.name) for one in statement.columns):
        return statement
    return replace(statement, columns=(*statement.columns, column))


def _with_type(statement: Statement, source: Name, column: Name, kind: str) -> Statement:
    if not _creates_source(statement, source):
        return statement
    columns = tuple(
        replace(one, type=kind) if _same(one.name, column) else one for one in statement.columns
    )
    return replace(statement, columns=columns)


def _with_name(statement: Statement, name: Name, to: Name) -> Statement:
    return replace(statement, name=to) if _creates_view(statement, name) else statement


def _creates_source(statement: Statement, name: Name) -> TypeGuard[CreateSource | RegisterSource]:
    if not isinstance(statement, CreateSource | RegisterSource):
        return False
    return _same(statement.name, name)


def _creates_view(statement: Statement, name: Name) -> TypeGuard[CreateView]:
    return isinstance(statement, CreateView) and _same(statement.name, name)


def _same(one: Name, other: Name) -> bool:
    return one.text.lower() == other.text.lower()


def columns_of_star(query: Query, name: str) -> bool:
    """Whether a query reads all columns of a relation, as `*` does, or a NATURAL JOIN."""
    aliases = _aliases(query, name)
    for star in query.tree.find_all(exp.Star):
        parent = star.parent
        if isinstance(parent, exp.Count):
            continue
        table = parent.table.lower() if isinstance(parent, exp.Column) else ""
        if not table or table in aliases:
            return True
    joins = query.tree.find_all(exp.Join)
    return any((join.args.get("method") or "").upper() == "NATURAL" for join in joins)


def reads_column(query: Query, name: str, column: str) -> bool:
    """Whether a query names a column of a relation that it reads."""
    aliases = _aliases(query, name)
    for found in query.tree.find_all(exp.Column):
        if found.name.lower() != column.lower():
            continue
        if found.table.lower() in aliases:
            return True
        select = found.find_ancestor(exp.Select)
        if not found.table and select is not None and _reads(select, name):
            return True
    for join in query.tree.find_all(exp.Join):
        names = [using.name.lower() for using in join.args.get("using") or ()]
        if column.lower() in names:
            return True
    return False


def _aliases(query: Query, name: str) -> set[str]:
    tables = query.tree.find_all(exp.Table)
    return {t.alias_or_name.lower() for t in tables if t.name.lower() == name.lower()}


def _reads(select: exp.Select, name: str) -> bool:
    """Whether a SELECT has a relation in its own FROM."""
    parts = [select.args.get("from_"), *(select.args.get("joins") or ())]
    return any(
        isinstance(part.this, exp.Table) and part.this.name.lower() == name.lower()
        for part in parts
        if part is not None
    )


def renamed(statement: CreateView, old: str, new: str) -> str | None:
    """The text of a view that is, or reads, another one under its new name.

    Columns that are called by the old name are called by the new one. None where the text uses one
    of the names for something else as well.
    """
    places: set[Span] = set()
    if statement.name.text.lower() == old.lower():
        places.add(statement.name.span)
    tree = statement.query.tree
    if _names_something_else(tree, old, new):
        return None
    for node in tree.walk():
        name: exp.Expr | None = None
        if isinstance(node, exp.Table) and node.name.lower() == old.lower():
            name = node.this
        elif isinstance(node, exp.Column) and node.table.lower() == old.lower():
            name = node.args["table"]
        if name is not None:
            places |= _place(name)
        sync = node.args.get("sync")
        if isinstance(sync, exp.Expr) and sync.name.lower() == old.lower():
            places |= _place(sync)
    return _written(statement, places, quote(Name(new)))


def _names_something_else(tree: exp.Expr, old: str, new: str) -> bool:
    names: Iterable[str] = (
        node.alias for node in tree.walk() if isinstance(node, exp.Table | exp.Subquery | exp.CTE)
    )
    return bool({name.lower() for name in names if name} & {old.lower(), new.lower()})


def _place(name: exp.Expr) -> set[Span]:
    span = span_of(name)
    return set() if span is None else {span}


def _written(statement: CreateView, places: Iterable[Span], instead: str) -> str:
    text, start = statement.text, statement.span.start
    for place in sorted(places, key=lambda place: place.start, reverse=True):
        first, last = place.start - start, place.end - start
        text = text[:first] + instead + text[last:]
    return text
