"""Files give back what was written, of every type, or an error that names the file."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pytest

from penstock.element import INF, Elements, hashable
from penstock.errors import StateError
from penstock.state.run import AreaSpec, Run, sorted_run
from penstock.state.store import FileStore, MemoryStore, RunRef
from tests.state.random_areas import random_elements, spec
from tests.types import VALUES


def assert_same(a: Run, b: Run) -> None:
    assert hashable(a.elements.rows()) == hashable(b.elements.rows())
    assert a.hashes.tolist() == b.hashes.tolist()
    assert a.keep.tolist() == b.keep.tolist()
    assert a.statistics == b.statistics
    assert {n: s.tolist() for n, s in a.elements.sums.items()} == {
        n: s.tolist() for n, s in b.elements.sums.items()
    }


@pytest.mark.parametrize("kind", VALUES)
def test_round_trip_of_every_type(kind: str, tmp_path: Path) -> None:
    arrow, values = VALUES[kind]
    schema = pa.schema([("k", pa.int64()), ("v", arrow)])
    area = AreaSpec("area", schema, ("v",))
    rows = [((i, v), i, INF, 1) for i, v in enumerate([*values, None, *values])]
    run = sorted_run(area, Elements.of(schema, rows))
    ref = FileStore(tmp_path).write(run)
    assert_same(FileStore(tmp_path).open(area, ref), run)


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
    assert RunRef.from_json(json.loads(json.dumps(ref.to_json()))) == ref


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
    path.write_bytes(path.read_bytes()[: int(part * (refs[1].offset + refs[1].length))])
    with pytest.raises(StateError, match=str(path)) as caught:
        FileStore(tmp_path).open(spec(), refs[1])
    assert caught.value.path == path


def test_any_flipped_bit_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    ref = FileStore(tmp_path).write(sorted_run(spec(), random_elements(Random(1), 20)))
    (path,) = tmp_path.iterdir()
    data = path.read_bytes()
    rng = Random(7)
    for place in [0, ref.length - 1, *(rng.randrange(ref.length) for _ in range(100))]:
        damaged = bytearray(data)
        damaged[place] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        with pytest.raises(StateError, match=str(path)):
            FileStore(tmp_path).open(spec(), ref)
    path.write_bytes(data)
    FileStore(tmp_path).open(spec(), ref)
