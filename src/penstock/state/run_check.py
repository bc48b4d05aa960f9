"""Is a run what its reference and its area say? Steps trust checksums; `verify` asks this, too.

Law: a run has the columns of its area, a hash for each row, the order of its area, and a reference
whose statistics, hashes and owners are true of every row.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from penstock.element import Elements
from penstock.state.layout import TIMES
from penstock.state.run import AreaSpec, hash_keys, owned
from penstock.state.store import FileStore, RunRef


def problems_of(store: FileStore, spec: AreaSpec, ref: RunRef, in_order: bool) -> Iterator[str]:
    """What is wrong with a run; a StateError where it cannot be read.

    Only runs of results may be in no order: those that no step reads again.
    """
    run, written = store.open(spec, ref), store.columns(ref)
    x, known = run.elements, ref.statistics
    yield from _other_columns(spec, x, written)
    if len({len(run.hashes), len(x), len(run.keep), known.rows}) > 1:
        yield f"it has {len(run.hashes)} hashes and {len(x)} rows, and the log has {known.rows}"
        return
    if not len(x):
        return
    if in_order and not _is_sorted(run.hashes if spec.order == "hash" else x.ts):
        yield f"its rows are not in the order of their {spec.order}"
    if _is_as_written(spec, written) and not np.array_equal(run.hashes, hash_keys(spec, x)):
        yield "its hashes are not those of its rows"
    if not _is_within(run.hashes, known.hash_range):
        yield "its hashes are not in the range that the log has"
    if not _is_within(run.keep, (known.keep_quantiles[0], known.keep_quantiles[-1])):
        yield "its rows are needed for another time than the log has"
    if len(owned(spec, run, *ref.owners)) != len(run):
        yield "some of its rows belong to another task than the log has"


def _other_columns(spec: AreaSpec, x: Elements, written: pa.Schema) -> Iterator[str]:
    """A source may have got columns since: a run has those that there were, in their order."""
    own = _names(written)
    rest = iter(spec.schema.names)
    if not all(name in rest for name in own):
        yield f"its columns are {', '.join(own)}, and {', '.join(spec.schema.names)} are expected"
    for field, column in zip(spec.schema, x.columns, strict=True):
        if column.type != field.type:
            yield f"its column {field.name} is of type {column.type}, and {field.type} is expected"


def _is_as_written(spec: AreaSpec, written: pa.Schema) -> bool:
    """Whether the columns are still those that the hashes were made of.

    A source may have got more, or wider ones. An integer has the same hash whatever its width.
    """
    if _names(written) != spec.schema.names:
        return False
    for field in spec.schema:
        kind = written.field(field.name).type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        wider = pa.types.is_floating(field.type) or pa.types.is_decimal(field.type)
        if wider and kind != field.type:
            return False
    return True


def _names(written: pa.Schema) -> list[str]:
    return written.names[: written.names.index(TIMES[0])]


def _is_sorted(values: Any) -> bool:
    return bool(np.all(values[1:] >= values[:-1]))


def _is_within(values: Any, bounds: tuple[int, int]) -> bool:
    return bool(bounds[0] <= values.min() and values.max() <= bounds[1])
