"""Is a run what its reference and its state table say? Steps trust checksums; `verify` asks this,
too.

Law: a run has the columns of its state table, a hash for each row, the order of its state table,
and a reference whose statistics, hashes and owners are true of every row.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from penstock.element import Elements
from penstock.state.layout import TIMES
from penstock.state.run import StateTableSpec, hash_keys, owned
from penstock.state.store import FileStore, RunReference


def problems_of(
    store: FileStore,
    spec: StateTableSpec,
    ref: RunReference,
    in_order: bool = True,
    by_key: bool = True,
) -> Iterator[str]:
    """What is wrong with a run; a StateError where it cannot be read.

    Only runs of results may be in no order: those that no step reads again. What is kept of a
    source is hashed to be split among readers, not to be found `by_key`: its hashes stay as they
    are when the source gets more columns, or wider ones.
    """
    run, known = store.open(spec, ref), ref.statistics
    x = run.elements
    yield from _other_columns(spec, x, store.columns(ref).names)
    if len({len(run.hashes), len(x), len(run.keep), known.rows}) > 1:
        yield f"it has {len(run.hashes)} hashes and {len(x)} rows, and the log has {known.rows}"
        return
    if not len(x):
        return
    if in_order and not _is_sorted(run.hashes if spec.order == "hash" else x.ts):
        yield f"its rows are not in the order of their {spec.order}"
    if by_key and not np.array_equal(run.hashes, hash_keys(spec, x)):
        yield "its hashes are not those of its rows"
    if not _is_within(run.hashes, known.hash_range):
        yield "its hashes are not in the range that the log has"
    if not _is_within(run.keep, (known.keep_quantiles[0], known.keep_quantiles[-1])):
        yield "its rows are needed for another time than the log has"
    if len(owned(spec, run, *ref.owners)) != len(run):
        yield "some of its rows belong to another task than the log has"


def _other_columns(spec: StateTableSpec, x: Elements, written: list[str]) -> Iterator[str]:
    """A source may have got columns since: a run has those that there were, in their order."""
    own = written[: written.index(TIMES[0])]
    rest = iter(spec.schema.names)
    if not all(name in rest for name in own):
        yield f"its columns are {', '.join(own)}, and {', '.join(spec.schema.names)} are expected"
    for field, column in zip(spec.schema, x.columns, strict=True):
        if column.type != field.type:
            yield f"its column {field.name} is of type {column.type}, and {field.type} is expected"


def _is_sorted(values: Any) -> bool:
    return bool(np.all(values[1:] >= values[:-1]))


def _is_within(values: Any, bounds: tuple[int, int]) -> bool:
    return bool(bounds[0] <= values.min() and values.max() <= bounds[1])
