"""Do two plans mean the same?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from penstock.algebra.outline import outline
from penstock.algebra.plan import Node, Restrict, Sync, Window
from penstock.algebra.reference import FIRST, Reference, Stream
from penstock.testing.random_streams import HORIZON

TIMES = range(FIRST, HORIZON + 2)
"""All times of random streams, and one after them."""


def assert_same_meaning(first: Node, second: Node, streams: Mapping[str, Stream]) -> None:
    """Both plans have the same columns, and the same snapshots at all times up to the horizon."""
    for schema in (first.schema, second.schema):
        assert (schema.names, schema.types) == (first.schema.names, first.schema.types), (
            f"columns differ\n{outline(first)}\n{first.schema}\n{outline(second)}\n{second.schema}"
        )
    reference = Reference(streams)
    for t in _times((first, second), streams):
        found, other = reference.at(first, t), reference.at(second, t)
        assert found == other, (
            f"snapshots differ at {t}\n{outline(first)}\n{dict(found)}\n"
            f"{outline(second)}\n{dict(other)}\n{dict(streams)}"
        )


def _times(plans: Iterable[Node], streams: Mapping[str, Stream]) -> Iterable[int]:
    """All times, or where only the streams change anything, the times at which they do."""
    if any(isinstance(node, Window | Sync | Restrict) for plan in plans for node in plan.walk()):
        return TIMES
    moves = {t for stream in streams.values() for _, ts, te, _ in stream for t in (ts, te)}
    return sorted({FIRST, *moves}.intersection(TIMES))
