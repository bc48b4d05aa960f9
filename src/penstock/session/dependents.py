"""Which definitions read another one, by the statements that they were written as."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from penstock.errors import PlanError
from penstock.output.definitions import ViewDefinition
from penstock.sql import parse
from penstock.sql.definitions import ClockView, StreamDefinition
from penstock.sql.names import names_read
from penstock.sql.statements import CreateView


def dependents_on(name: str, definitions: Mapping[str, Any]) -> list[str]:
    """The definitions whose statements read this one."""
    return [
        other
        for other, definition in definitions.items()
        if name.lower() in [read.lower() for read in _read_by(definition)]
    ]


def all_dependents_on(names: Iterable[str], definitions: Mapping[str, Any]) -> list[str]:
    """The definitions that read some, by way of others too; each after those that it reads."""
    found = {name.lower() for name in names}
    dependents = []
    for other, definition in definitions.items():  # each was created after what it reads
        if other.lower() not in found and found & {read.lower() for read in _read_by(definition)}:
            found.add(other.lower())
            dependents.append(other)
    return dependents


def check_unread(name: str, definitions: Mapping[str, Any]) -> None:
    if dependents := dependents_on(name, definitions):
        raise PlanError(f"{name!r} is read by {', '.join(dependents)}; drop those first")


def _read_by(definition: Any) -> list[str]:
    if isinstance(definition, StreamDefinition):
        return [definition.source]
    if isinstance(definition, ViewDefinition | ClockView) and definition.text:
        (statement,) = parse(definition.text)
        return names_read(statement.query) if isinstance(statement, CreateView) else []
    return []
