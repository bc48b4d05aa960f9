"""What the state tables of layout 2 were called, which had the names of Python's classes in
them."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.algebra.layout_2 import class_name, fingerprint
from penstock.physical.lower import Operator
from penstock.physical.program import Compiler, Program


def state_table_names(program: Program, compiler: Compiler, apart: Iterable[str]) -> dict[str, str]:
    """The state tables of a program that have other names now: the old ones, and the names that
    they have.

    `apart` are the views that run apart. What is newer than layout 2 has no old name.
    """
    names: dict[str, str] = {}
    identities = _Identities(compiler, apart)
    for place in program.places:
        try:
            prefix = f"{class_name(type(place.operator.work))} {identities.of(place.operator)}/"
        except LookupError:
            continue
        kernel = place.operator.kernel
        for state_table in kernel.state_tables if kernel is not None else ():
            names[prefix + state_table.name] = place.state_table_name(state_table)
    for name, input_buffer in program.input_buffers.items():
        try:
            identity = identities.of(input_buffer.operator)
            names[f"lane {fingerprint((identity, input_buffer.state_table.key))}"] = name
        except LookupError:
            continue
    return names


class _Identities:
    """The identities that operators had."""

    def __init__(self, compiler: Compiler, apart: Iterable[str]) -> None:
        self._known: dict[Operator, str] = {}
        for view in apart:
            for operator in compiler.root(view).walk():
                if not operator.inputs:
                    self._known[operator] = fingerprint((operator.work, view))

    def of(self, operator: Operator) -> str:
        if operator not in self._known:
            inputs = tuple(self.of(child) for child in operator.inputs)
            self._known[operator] = fingerprint((operator.work, inputs))
        return self._known[operator]
