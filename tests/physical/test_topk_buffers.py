"""Boards give what order statistics do, of partitions that only grow."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from penstock.element import BEGIN, INF, Elements, changes, concat, consolidate
from penstock.physical.kernel import Result
from penstock.physical.kernels import rank, topk_buffers
from penstock.physical.kernels.rank import TopRows
from penstock.record import Direction
from penstock.state.run import sorted_run
from penstock.state.state_table import StateTable

SCHEMA = pa.schema([("item", pa.int64()), ("price", pa.int64()), ("who", pa.int64())])
BY_PRICE = (("price", Direction(descending=True)),)


def rows(rng: np.random.Generator, w0: int, w1: int) -> Elements:
    """Few partitions have many of the rows; times and rows come again."""
    count = int(rng.integers(1, 800))
    item = np.where(rng.random(count) < 0.5, 0, rng.integers(0, 60, count))
    values = [item, rng.integers(0, rng.choice((3, 1000)), count), rng.integers(0, 3, count)]
    ts = np.sort(rng.integers(w0, w1, count))
    columns = tuple(map(pa.array, values))
    return Elements(SCHEMA, columns, ts, np.full(count, INF), rng.integers(1, 3, count))


def stepped(kernel: TopRows, parts: list[Elements], bounds: list[int]) -> list[Result]:
    state_tables = {spec.name: StateTable(spec) for spec in kernel.state_tables}
    found = []
    for part, (w0, w1) in zip(parts, pairwise(bounds), strict=True):
        found.append(kernel.step(state_tables, [part], w0, w1))
        for name, write in found[-1].writes.items():
            known = state_tables[name]
            run = sorted_run(known.spec, write.elements, write.keep)
            state_tables[name] = StateTable(known.spec, (*known.runs, run), w1)
    return found


def same(a: Elements, b: Elements) -> bool:
    together = concat(a.schema, [changes(a), changes(b).negated()])
    return len(consolidate(together)) == 0


@pytest.mark.parametrize("number", [None, "place"])
@pytest.mark.parametrize("seed", range(30))
def test_differential_topk_buffers(
    seed: int, number: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(seed)
    limit = int(rng.choice((1, 2, 3, 10, 500)))
    kernel = TopRows(SCHEMA, ("item",), BY_PRICE, limit, number, append_only=True)
    bounds = [BEGIN if seed % 2 else 0, 50, 60, 200]
    parts = [rows(rng, max(w0, 0), w1) for w0, w1 in pairwise(bounds)]
    monkeypatch.setattr(topk_buffers, "_FEW", 10**9)
    found = stepped(kernel, parts, bounds)
    monkeypatch.setattr(rank, "topk_buffers", lambda *_: None)
    expected = stepped(kernel, parts, bounds)
    for ours, theirs in zip(found, expected, strict=True):
        assert same(ours.out, theirs.out)
        assert np.all(ours.out.ts < ours.out.te)
        assert same(ours.writes["rows"].elements, theirs.writes["rows"].elements)


def test_few_rows_come_near_a_topk_buffer() -> None:
    """Half of the rows are of one partition, and a top-k buffer of it has ten places."""
    rng = np.random.default_rng(0)
    count = 20_000
    number = np.arange(count)
    number[: count // 2] = rng.permutation(count // 2)
    low = np.concatenate([np.zeros(count // 2), np.arange(count // 2, count)]).astype(np.int64)
    found = topk_buffers.topk_buffers(number, low, np.arange(count), 10)
    assert found is not None
    assert found.size[0] < 200


def test_a_partition_in_which_every_row_is_the_first_is_not_worth_it() -> None:
    count = 10_000
    none = np.zeros(count, dtype=np.int64)
    assert topk_buffers.topk_buffers(np.arange(count)[::-1], none, np.arange(count), 10) is None
    assert topk_buffers.topk_buffers(np.arange(count), none, np.arange(count), 10) is not None
