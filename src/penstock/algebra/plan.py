"""Plans: all operators that a query can be made of, each from the file of its name.

A node that exists is well formed: unknown columns, wrong types and clashing names raise PlanError
when it is built. Two nodes are equal when they say the same, so equal sub-plans are one sub-plan.
What every operator says of itself is listed in `operators/node.py`; how nodes run is in
`penstock.physical`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from penstock.algebra.operators.aggregate import Aggregate
from penstock.algebra.operators.changes import CHANGE_KINDS, ChangeKind, Changes
from penstock.algebra.operators.coalesce import Coalesce
from penstock.algebra.operators.distinct import Distinct
from penstock.algebra.operators.filter import Filter
from penstock.algebra.operators.group import Group
from penstock.algebra.operators.join import JOIN_KINDS, Equality, Join, JoinKind
from penstock.algebra.operators.map import Map, project
from penstock.algebra.operators.node import Node, OneInput
from penstock.algebra.operators.points import Periodic, TimePoints
from penstock.algebra.operators.rank import RANK_KINDS, Rank, RankKind
from penstock.algebra.operators.restrict import Restrict
from penstock.algebra.operators.row_window import RowWindow
from penstock.algebra.operators.scan import Scan
from penstock.algebra.operators.session import Session
from penstock.algebra.operators.set_operation import SET_KINDS, SetKind, SetOperation
from penstock.algebra.operators.sort_key import SortKey
from penstock.algebra.operators.split import Split
from penstock.algebra.operators.sync import Sync
from penstock.algebra.operators.union import Union
from penstock.algebra.operators.upsert import Upsert
from penstock.algebra.operators.window import Window

__all__ = [
    "CHANGE_KINDS",
    "JOIN_KINDS",
    "OPERATORS",
    "RANK_KINDS",
    "SET_KINDS",
    "Aggregate",
    "ChangeKind",
    "Changes",
    "Coalesce",
    "Distinct",
    "Equality",
    "Filter",
    "Group",
    "Join",
    "JoinKind",
    "Map",
    "Node",
    "OneInput",
    "Periodic",
    "Rank",
    "RankKind",
    "Restrict",
    "RowWindow",
    "Scan",
    "Session",
    "SetKind",
    "SetOperation",
    "SortKey",
    "Split",
    "Sync",
    "TimePoints",
    "Union",
    "Upsert",
    "Window",
    "append_only",
    "for_each_operator",
    "project",
]


def _operators(base: type[Any]) -> list[type[Node]]:
    found = [each for each in base.__subclasses__() if not each.unsaid()]
    return [*found, *(each for inner in base.__subclasses__() for each in _operators(inner))]


OPERATORS: tuple[type[Node], ...] = tuple(sorted(_operators(Node), key=lambda each: each.__name__))
"""All that a plan can be made of."""

Case = TypeVar("Case")


def for_each_operator(*cases: tuple[Case, tuple[type[Node], ...]]) -> Mapping[type[Node], Case]:
    """The cases of an analysis; it cannot be imported where it leaves out an operator."""
    found = {operator: case for case, operators in cases for operator in operators}
    missing = [operator.__name__ for operator in OPERATORS if operator not in found]
    if missing or len(found) < sum(len(operators) for _, operators in cases):
        left_out = f"it leaves out {', '.join(missing)}" if missing else "it has one twice"
        raise TypeError(f"an analysis needs one case for every operator, and {left_out}")
    return found


def append_only(node: Node) -> bool:
    """Whether the records of a node, once there, stay: no element ends, none is negative."""
    return node.is_append_only()
