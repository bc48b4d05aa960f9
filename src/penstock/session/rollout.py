"""A pipeline file carried out, step by step.

Law: every step is one commit, and what is left to do follows from what is there. So whoever is
killed in the middle begins again, and goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.errors import PlanError
from penstock.session.changes import Alter, Create, Drop, Replace, Unchanged
from penstock.session.commands import Commands
from penstock.session.pipeline import InFile, Step, plan_of, steps_of
from penstock.session.results import Result
from penstock.sql import parse, to_sql
from penstock.sql import statements as s
from penstock.sql.definitions import StreamDefinition
from penstock.sql.text import Name
from penstock.state.manifest import Declaration, Declared, Once

if TYPE_CHECKING:
    from penstock.session.session import Session


class Rollout:
    """What the statements of files change in the directory of a session."""

    def __init__(self, session: Session, statements: Sequence[InFile]) -> None:
        self._session, self._engine = session, session.engine
        self._commands = Commands(session)
        manifest, definitions = self._engine.manifest, self._engine.definitions
        analyser = session.analyser
        self.steps = steps_of(statements, manifest, definitions, analyser, self._columns)
        self.plan = plan_of(self.steps)

    def _columns(self, statement: s.CreateTable) -> tuple[s.ColumnDefinition, ...]:
        fields = self._commands.rows_of(statement).schema.fields
        return tuple(s.ColumnDefinition(Name(f.name), f.dataType.simpleString()) for f in fields)

    def check(self, allow_drop: bool) -> None:
        """An error where the file asks for what cannot be done, or for what would lose something
        that cannot be had again."""
        if refused := self.plan.refused:
            first = refused[0]
            raise PlanError(f"{first.kind.title()} {first.name} cannot be changed: {first.reason}.")
        if not allow_drop and (costly := self.plan.costly):
            first = costly[0]
            more = f" (and {len(costly) - 1} more)" if len(costly) > 1 else ""
            raise PlanError(
                f"{first.kind.title()} {first.name} would be dropped, and with it {first.cost}"
                f"{more}, because {first.reason}. Where that is meant, write --allow-drop. "
                "Nothing was changed."
            )

    def carry_out(self, step: Step) -> Result | None:
        """What the step answers; None where there is nothing to do."""
        change, statement = step.change, step.statement
        if isinstance(change, Drop):
            return self._commands.run(*parse(change.statement))
        if isinstance(change, Alter) and statement is not None:
            with self._declared(change.name, step.file, statement):
                return self._commands.run(*parse(change.statement))
        if isinstance(change, Create) and statement is not None:
            with self._engine.noting(Declared(change.name, Declaration(step.file, statement.text))):
                return self._commands.run(statement)
        if isinstance(change, Replace) and isinstance(statement, s.CreateView):
            replacing = replace(statement, if_not_exists=False, replace=True)
            with self._declared(change.name, step.file, statement):
                return self._commands.run(replacing)
        if isinstance(change, Unchanged) and statement is not None:
            with self._declared(change.name, step.file, statement):
                return None
        if isinstance(statement, s.Punctuate):
            return self._punctuate(statement)
        return None if statement is None else self._commands.run(statement)

    def _declared(
        self, name: str, file: str, statement: s.Statement
    ) -> AbstractContextManager[None]:
        """Note that a definition that is from a file is from this one now, as it is there."""
        found, known = Declaration(file, statement.text), self._engine.manifest.declared.get(name)
        if known is None or known == found:
            return nullcontext()
        return self._engine.noting(Declared(name, found))

    def _punctuate(self, statement: s.Punctuate) -> Result | None:
        """What was said once holds for ever, and is not said again."""
        definitions = self._engine.definitions
        names = {name.lower(): name for name in definitions}
        name = names.get(statement.stream.text.lower(), "")
        definition = definitions.get(name)
        source = definition.source if isinstance(definition, StreamDefinition) else name
        words = to_sql(statement)
        if words in self._engine.manifest.once.get(source, ()):
            return None
        with self._engine.noting(Once(source, words)):
            return self._commands.run(statement)
