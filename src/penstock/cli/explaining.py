"""`penstock explain`: the plans of views and queries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.algebra.plan import Node
from penstock.session.commands import Commands
from penstock.session.describing import explained as outlined
from penstock.sql import statements as s

if TYPE_CHECKING:
    from penstock.session import Session


def plans(db: Session, statements: Iterable[s.Statement]) -> Iterator[tuple[str, Node]]:
    """The name and plan of each view and query; definitions are made, queries only bound."""
    commands, queries = Commands(db), 0
    for statement in statements:
        match statement:
            case s.Query():
                queries += 1
                yield f"query {queries}", commands.plan(statement)
            case s.CreateView():
                commands.run(statement)
                view = db.engine.views.get(statement.name.text)
                if view is not None:
                    yield f"view {statement.name}", view.plan
            case s.CreateSource() | s.RegisterSource() | s.CreateTable() | s.CreateStream():
                commands.run(_unfed(statement))


def explained(db: Session, statements: Iterable[s.Statement]) -> Iterator[tuple[str, str]]:
    for name, plan in plans(db, statements):
        yield name, outlined(plan)


def _unfed(statement: s.Statement) -> s.Statement:
    """A source that only exists: asking about a file opens no port and reads no stream."""
    match statement:
        case s.CreateSource():
            return replace(statement, format=None)
        case s.RegisterSource():
            return s.CreateSource(
                statement.name, statement.columns, sql=statement.sql, span=statement.span
            )
    return statement
