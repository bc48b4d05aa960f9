"""Many small cases in one run: a plan over streams that carry the number of their case.

`lifted` gives every scan a column for the case and makes every operator keep cases apart, so that
running it once over `in_cases` of many streams equals running the plan over each of them. Only the
streams that mark synchronization points are the same for all cases (`with_shared_marks`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from penstock.algebra import plan as p
from penstock.algebra.expr import Call, Column
from penstock.testing.random_streams import Stream

CASE = "case"
_OTHER, _SHARED = "other case", "shared "
_KIND = pa.int64()
_CASE = Column(CASE, _KIND)


def can_lift(plan: p.Node) -> bool:
    """A record that is always there, as of an aggregate without keys, belongs to no case."""
    return not any(isinstance(node, p.Aggregate) and not node.keys for node in plan.walk())


def in_cases(streams: Sequence[Mapping[str, Stream]]) -> dict[str, Stream]:
    """The streams of all cases as one each; those of shared marks are the first case's."""
    together: dict[str, Stream] = {}
    for case, by_name in enumerate(streams):
        for name, stream in by_name.items():
            rows = [((case, *e), ts, te, n) for e, ts, te, n in stream]
            together.setdefault(name, []).extend(rows)
    return together | shared_streams(streams)


def shared_streams(streams: Sequence[Mapping[str, Stream]]) -> dict[str, Stream]:
    return {f"{_SHARED}{name}": stream for name, stream in streams[0].items()}


def lifted(node: p.Node) -> p.Node:
    match node:
        case p.Scan(name, schema, grows):
            return p.Scan(name, pa.schema([(CASE, _KIND), *schema]), grows)
        case p.Sync(source):
            return replace(node, input=lifted(source))
        case p.Map(source, outputs):
            return p.Map(lifted(source), ((CASE, _CASE), *outputs))
        case p.Join(left, right):
            return _lifted_join(node, lifted(left), lifted(right))
    node = node.with_inputs(*map(lifted, node.inputs))
    match node:
        case p.Aggregate(_, keys):
            return replace(node, keys=(CASE, *keys))
        case p.RowWindow(_, _, partition) | p.Session(_, partition) | p.Rank(_, partition):
            return replace(node, partition=(CASE, *partition))
        case p.Upsert(_, key):
            return replace(node, key=(CASE, *key))
    return node


def _lifted_join(node: p.Join, left: p.Node, right: p.Node) -> p.Node:
    """Joined within each case; the case of an outer row is that of the side that is there."""
    columns = [(f.name, Column(f.name, f.type)) for f in node.right.schema]
    other = p.Map(right, ((_OTHER, _CASE), *columns))
    on = (p.Equality(CASE, _OTHER), *node.on)
    joined = replace(node, left=left, right=other, on=on)
    case = Call("coalesce", (_CASE, Column(_OTHER, _KIND)), _KIND)
    if node.kind in ("semi", "anti"):
        return joined
    return p.Map(joined, ((CASE, case), *((f.name, Column(f.name, f.type)) for f in node.schema)))


def with_shared_marks(node: p.Node) -> p.Node:
    """The plan with synchronization points that are the same for all cases."""
    match node:
        case p.Sync(source):
            return node.with_inputs(with_shared_marks(source), *map(_shared, node.inputs[1:]))
    return node.with_inputs(*map(with_shared_marks, node.inputs))


def _shared(node: p.Node) -> p.Node:
    match node:
        case p.Scan(name):
            return replace(node, name=f"{_SHARED}{name}")
    return node.with_inputs(*map(_shared, node.inputs))
