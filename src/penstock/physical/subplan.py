"""A graph of operators that begins where results are known already.

What an operator has given so far can be read again, so that what comes after it can be made up
without what is before it. In its place is a scan of its elements; those after it do the same work
under the same names, and so their state is the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa

from penstock.algebra.expr import Column
from penstock.algebra.plan import Scan
from penstock.physical.kernels.changes import ChangeStream
from penstock.physical.kernels.session import Sessions
from penstock.physical.kernels.sync import Synchronization, ToPoints
from penstock.physical.lower import Operator
from penstock.physical.transforms import End, EndOfDays, Project, Stamp

BEGINS, ENDS, WEIGHT = "__begins", "__ends", "__weight"
_OF_THE_PAST = (End, EndOfDays, Stamp, Sessions, ChangeStream, Synchronization, ToPoints)


def with_times(schema: pa.Schema) -> pa.Schema:
    """The columns of records, and those of the times and weights of their elements."""
    return pa.schema([*schema, *((name, pa.int64()) for name in (BEGINS, ENDS, WEIGHT))])


def cut(
    root: Operator, given: Mapping[str, str], made: dict[Operator, Operator] | None = None
) -> Operator:
    """The graph in which operators, by their identities, are scans of these names.

    Graphs that have operators in common share what was `made` of them.
    """
    made = {} if made is None else made
    for operator in _above(root, given):
        if operator in made:
            continue
        if operator.identity in given:
            schema = operator.schema
            scan = Operator(Scan(given[operator.identity], with_times(schema)), ())
            outputs = tuple((f.name, Column(f.name, f.type)) for f in schema)
            made[operator] = Operator(Project(outputs), (scan,), operator.identity)
            continue
        inputs = tuple(made[child] for child in operator.inputs)
        same = all(new is old for new, old in zip(inputs, operator.inputs, strict=True))
        made[operator] = operator if same else Operator(operator.work, inputs, operator.identity)
    return made[root]


def asks_for_the_past(root: Operator, given: Mapping[str, str]) -> bool:
    """Whether it matters when elements that are given came, and not just whether they are there."""
    return any(
        isinstance(operator.work, _OF_THE_PAST)
        for operator in _above(root, given)
        if operator.identity not in given
    )


def _above(root: Operator, given: Mapping[str, str]) -> Iterator[Operator]:
    """What is given and all that comes after it, inputs first, each once."""
    seen: set[Operator] = set()

    def walk(operator: Operator) -> Iterator[Operator]:
        if operator not in seen:
            seen.add(operator)
            if operator.identity not in given:
                for child in operator.inputs:
                    yield from walk(child)
            yield operator

    yield from walk(root)
