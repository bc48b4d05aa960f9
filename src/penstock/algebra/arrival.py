"""The order in which the rows of a source arrived, as a column of theirs.

Law: numbers grow with arrival, batch by batch and within a batch from row to row. So which of two
rows came later does not depend on how rows were cut into batches.
Rows have the number only where an operator asks for it: the plan says `arrival`, and what is below
that operator, a source and what is made of its rows one by one, carries the column when it runs.
"""

from __future__ import annotations

import pyarrow as pa

from penstock.algebra.operators.node import Node
from penstock.errors import PlanError

SEQUENCE = "__sequence"
FIELD = pa.field(SEQUENCE, pa.int64())


def in_arrival_order(node: Node) -> bool:
    """Whether a node's records are rows of one source, made one by one, and so have its order."""
    return node.sequenced() is not None


def sequenced(node: Node) -> Node:
    """The node with the number of each row as one more column."""
    numbered = node.sequenced()
    if numbered is None:
        raise PlanError(f"the rows of a {type(node).__name__} have no order of arrival")
    return numbered
