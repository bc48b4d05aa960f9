"""Files give back what was written, of every type, or an error that names the file."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pytest

from penstock import record
from penstock.element import BEGIN, INF, Elements, hashable
from penstock.errors import StateError
from penstock.state.fields_json import object_from_json, object_to_json
from penstock.state.run import Order, Run, StateTableSpec, sorted_run, split_runs
from penstock.state.state_table import StateTable
from penstock.state.store import FileStore, RunReference
from penstock.testing.local_pipeline import MemoryStore
from tests.state.random_state_tables import random_elements, spec
from tests.types import VALUES


def assert_same(a: Run, b: Run) -> None:
    assert hashable(a.elements.rows()) == hashable(b.elements.rows())
    assert a.hashes.tolist() == b.hashes.tolist()
    assert a.keep.tolist() == b.keep.tolist()
    assert a.statistics == b.statistics
    assert {n: s.tolist() for n, s in a.elements.sums.items()} == {
        n: s.tolist() for n, s in b.elements.sums.items()
    }


def length(ref: RunReference) -> int:
    return ref.rows.offset + ref.rows.length - ref.index.offset


def written(run: Run, directory: Path, packed: bool) -> RunReference:
    with FileStore(directory).segment() as segment:
        return segment.write(run, packed=packed)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("nulls", [False, True])
@pytest.mark.parametrize("kind", VALUES)
def test_round_trip_of_every_type(kind: str, nulls: bool, packed: bool, tmp_path: Path) -> None:
    arrow, values = VALUES[kind]
    schema = pa.schema([("k", pa.int64()), ("v", arrow)])
    state_table = StateTableSpec("area", schema, ("v",))
    more = [None] if nulls else []
    rows = [((i, v), i, INF, 1) for i, v in enumerate([*values, *more, *values])]
    run = sorted_run(state_table, Elements.of(schema, rows))
    assert_same(FileStore(tmp_path).open(state_table, written(run, tmp_path, packed)), run)


def test_picks_are_written_once_and_read_as_texts(tmp_path: Path) -> None:
    schema = pa.schema([("k", pa.int64()), ("text", pa.string())])
    state_table = StateTableSpec("area", schema, ("k",))
    few = Elements.of(schema, [((i, "x" * 1000), 0, 5, 1) for i in range(20)])
    index = np.repeat(np.arange(20), 50)
    whole = few.take(index)
    picked = replace(whole, columns=record.pick(few.columns, index))
    apart = np.ones(len(whole), dtype=np.bool_)
    (run,), (expected,) = (split_runs(state_table, x, apart) for x in (picked, whole))
    ref = written(run, tmp_path, packed=True)
    assert length(ref) < length(written(expected, tmp_path, packed=True)) / 20
    found = FileStore(tmp_path).open(state_table, ref)
    assert found.elements.rows() == whole.rows()
    assert found.elements.column("text").type == pa.string()


@pytest.mark.parametrize("order", ["hash", "time"])
@pytest.mark.parametrize("span", [0, 1, 255, 256, 65535, 65536, 2**32 - 1, 2**32, 2**63 - 1])
def test_packed_numbers_are_what_they_were(span: int, order: Order, tmp_path: Path) -> None:
    schema = pa.schema([("small", pa.int16()), ("long", pa.int64()), ("bits", pa.uint32())])
    state_table = StateTableSpec("area", schema, ("long",), order)
    low, high = -(span // 2), span - span // 2
    begins = (BEGIN, low, high, 7) if span == 2**63 - 1 else (low, high, low, high)
    ends = (INF, high + 1, INF, 8) if high < INF else (BEGIN + 1, high, INF, 8)
    rows = [
        ((i % 2 * 300 - 5, (low, high)[i % 2], 2**32 - 1 - i), begin, end, (-1) ** i)
        for i, (begin, end) in enumerate(zip(begins, ends, strict=True))
        if begin < end
    ]
    x = Elements.of(schema, rows)
    weights = np.array([low, high, 0, 1][: len(x)])
    run = sorted_run(state_table, replace(x, sums={"a": weights}))
    assert_same(FileStore(tmp_path).open(state_table, written(run, tmp_path, packed=True)), run)


def test_packed_runs_are_small(tmp_path: Path) -> None:
    """Of rows that came one after the other, only what tells them apart takes place."""
    schema = pa.schema([("k", pa.int64()), ("same", pa.timestamp("us"))])
    state_table = StateTableSpec("area", schema, ("same",), "time")
    rows = [((i % 200, 7), 10**15 + i, INF, 1) for i in range(10_000)]
    run = sorted_run(state_table, Elements.of(schema, rows))
    lengths = [length(written(run, tmp_path, packed)) for packed in (False, True)]
    assert lengths[1] < 10_000 * (1 + 2) + 2_000 < lengths[0] / 10


def test_round_trip_of_sums(tmp_path: Path) -> None:
    x = random_elements(Random(1), 30)
    sums = {"a": np.arange(30), "a limb -3": -np.arange(30)}
    run = sorted_run(spec(), Elements(x.schema, x.columns, x.ts, x.te, x.n, sums))
    store = FileStore(tmp_path)
    assert_same(FileStore(tmp_path).open(spec(), store.write(run)), run)


def test_several_runs_in_one_segment(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    runs = [sorted_run(spec(), random_elements(Random(i), 10 * i + 1)) for i in range(4)]
    with store.segment() as segment:
        refs = [segment.write(run) for run in runs]
    assert len(list(tmp_path.iterdir())) == 1
    for run, ref in zip(runs, refs, strict=True):
        assert_same(FileStore(tmp_path).open(spec(), ref), run)


def test_a_reference_survives_as_json(tmp_path: Path) -> None:
    ref = FileStore(tmp_path).write(sorted_run(spec(), random_elements(Random(1), 9)))
    written = json.dumps(object_to_json(ref))
    assert object_from_json(RunReference, json.loads(written)) == ref


def test_what_is_deleted_is_gone(tmp_path: Path) -> None:
    run = sorted_run(spec(), random_elements(Random(1), 9))
    store = FileStore(tmp_path)
    ref = store.write(run)
    store.open(spec(), ref)
    store.delete(ref)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(StateError, match=ref.segment):
        store.open(spec(), ref)
    memory = MemoryStore()
    ref = memory.write(run)
    memory.delete(ref)
    with pytest.raises(KeyError):
        memory.open(spec(), ref)


def test_an_open_run_outlives_its_file(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    run = sorted_run(spec(), random_elements(Random(1), 9))
    ref = store.write(run)
    opened = store.open(spec(), ref)
    store.delete(ref)
    assert_same(opened, run)


@pytest.mark.parametrize("part", [0.0, 0.3, 0.9, 0.999])
def test_a_truncated_file_is_an_error_that_names_it(part: float, tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    with store.segment() as segment:
        refs = [segment.write(sorted_run(spec(), random_elements(Random(i), 99))) for i in (1, 2)]
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[: int(part * sum(refs[1].rows[:2]))])
    with pytest.raises(StateError, match=str(path)) as caught:
        assert FileStore(tmp_path).open(spec(), refs[1]).elements
    assert caught.value.path == path


def test_any_flipped_bit_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    ref = FileStore(tmp_path).write(sorted_run(spec(), random_elements(Random(1), 20)))
    (path,) = tmp_path.iterdir()
    data = path.read_bytes()
    rng = Random(7)
    parts = [range(s.offset, s.offset + s.length) for s in (ref.index, ref.rows)]
    for part in parts:
        for place in [part[0], part[-1], *(rng.choice(part) for _ in range(100))]:
            damaged = bytearray(data)
            damaged[place] ^= 1 << rng.randrange(8)
            path.write_bytes(damaged)
            with pytest.raises(StateError, match=str(path)):
                assert FileStore(tmp_path).open(spec(), ref).elements
    path.write_bytes(data)
    assert FileStore(tmp_path).open(spec(), ref).elements


def test_rows_are_read_only_where_something_is_found(tmp_path: Path) -> None:
    """Damage to rows goes unnoticed as long as no answer needs them."""
    run = sorted_run(spec(), random_elements(Random(1), 99))
    ref = FileStore(tmp_path).write(run)
    (path,) = tmp_path.iterdir()
    data = bytearray(path.read_bytes())
    data[ref.rows.offset + ref.rows.length // 2] ^= 1
    path.write_bytes(data)
    state_table = StateTable(spec(), (FileStore(tmp_path).open(spec(), ref),))
    there = np.unique(run.hashes)
    absent = np.setdiff1d(there + np.uint32(1), there)
    assert len(state_table.rows_with(absent)[0]) == 0
    assert list(state_table.matches(absent)) == []
    with pytest.raises(StateError, match=str(path)):
        state_table.rows_with(there[:1])
