"""What a session does about views that need ever more memory."""

from __future__ import annotations

import logging
from collections.abc import Callable

from penstock.algebra.plan import Node
from penstock.errors import SqlContext, UnboundedError
from penstock.memory.check_context import closed_columns
from penstock.memory.plans import operators_of
from penstock.memory.values import Declared
from penstock.runtime.engine import Engine
from penstock.sql import parse
from penstock.sql import statements as s
from penstock.sql.binding import Analyser
from penstock.sql.binding.diagnostics import Diagnostics
from penstock.sql.binding.sources import domains, promised
from penstock.sql.definitions import StreamDefinition

logger = logging.getLogger("penstock")

Repairs = Callable[[], tuple[str, ...]]


def check_memory(
    name: str,
    plan: Node,
    engine: Engine,
    analyser: Callable[[], Analyser],
    repairs: Repairs = tuple,
    context: SqlContext | None = None,
) -> None:
    """Warn of a view that needs ever more memory, or refuse it, as the session was told.

    Repairs take long to find, so a warning does without. Of a view that keeps more than it needs
    there is only a warning.
    """
    policy = engine.options.unbounded
    if policy == "allow":
        return
    found = operators_of(plan, declared_by(engine, analyser))
    reasons = [operator.because for operator in found if not operator.bounded]
    if not reasons:
        for operator in found:
            if operator.engine_keeps is not None:
                logger.warning(f"For now view {name} keeps more and more. {operator.engine_keeps}")
        return
    message = f"View {name} needs ever more memory. {reasons[0]}"
    if policy == "refuse":
        for repair in repairs():
            message += f" This would be bounded: {repair}"
        raise UnboundedError(message, context=context)
    if context is not None:
        message += " EXPLAIN MEMORY shows what would bound it."
    logger.warning(message)


def declared_by(engine: Engine, analyser: Callable[[], Analyser]) -> Declared:
    """What streams promise of the rows of their sources, and how many rows come."""
    declared = Declared()
    for name, source in engine.sources.items():
        declared = declared.coming(name, source.rate)
    for definition in engine.definitions.values():
        if isinstance(definition, StreamDefinition) and definition.text:
            (statement,) = parse(definition.text)
            assert isinstance(statement, s.CreateStream)
            schema, diagnostics = engine.sources[definition.source].schema, Diagnostics(statement)
            closing = closed_columns(statement, schema.names)
            declared = declared.punctuated(definition.source, closing)
            if conditions := domains(statement):
                condition = promised(conditions, schema, analyser(), diagnostics)
                declared = declared.matching(definition.source, condition)
    return declared
