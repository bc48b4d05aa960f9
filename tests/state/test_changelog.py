"""Publications merge with age: few stay, each change is rewritten a few times, none is changed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pytest

from penstock.element import BEGIN, INF, Elements, changes, concat, consolidate, snapshot
from penstock.state import changelog, compaction
from penstock.state.changelog import FAN, Block, chosen, merged, pieces
from penstock.state.manifest import Delivered, Manifest, Merged, Publication, Published
from penstock.state.run import Statistics, sorted_run, split_runs
from penstock.state.store import ByteRange, FileStore, RunReference
from tests.state.random_state_tables import random_elements, spec


def ref(name: str, size: int) -> RunReference:
    return RunReference(name, ByteRange(), ByteRange(), Statistics(1, size, 0, (0, 0), (0,)))


def published(m: Manifest, size: int, view: str = "v") -> Manifest:
    """One more step of a view, with two runs."""
    version = m.version + 1
    refs = tuple(ref(f"{view} {version} {i}", size // 2) for i in range(2)) if size else ()
    step = Published(view, version - 1, version, refs)
    return step.apply(replace(m, version=version))


def after_merging(
    m: Manifest, retention: int | None = None, tasks: int = 2
) -> tuple[Manifest, int]:
    """What becomes of a manifest in a step, and how many bytes are rewritten."""
    rewritten = 0
    for block in chosen(m, sorted(m.changelogs), 2, retention):
        refs = block.refs
        if not block.stays:
            rewritten += block.size
            refs = (ref(f"merged {m.version} {block.version}", block.size),)
        m = Merged(block.view, block.publications[0].version, block.version, refs).apply(m)
    return m, rewritten


def test_publications_follow_the_logarithm_of_the_steps() -> None:
    m, most, whole, rewritten = Manifest(), 0, 0, 0
    for step in range(5000):
        size = 1000 * (step % 3)
        m, more = after_merging(published(m, size))
        most, whole, rewritten = max(most, len(m.changelogs["v"])), whole + size, rewritten + more
    assert most <= (FAN - 1) * 5 + 1  # 8 ** 4 < 5000 < 8 ** 5
    assert rewritten < 5 * whole
    log = m.changelogs["v"]
    assert [p.level for p in log] == sorted((p.level for p in log), reverse=True)
    assert log[0].w0 == 0
    assert all(a.w1 == b.w0 and a.version < b.version for a, b in pairwise(log))
    assert (log[-1].w1, log[-1].version) == (5000, 5000)
    assert sum(r.statistics.bytes for p in log for r in p.refs) == whole


def test_what_is_large_stays_and_its_runs_are_few() -> None:
    m, whole = Manifest(), 0
    for step in range(600):
        size = compaction.PART // 10 if step % 20 else 5 * compaction.PART
        m, rewritten = after_merging(published(m, size))
        whole += size
        assert rewritten <= 2 * compaction.PART
    refs = [r for p in m.changelogs["v"] for r in p.refs]
    assert len(refs) < 8 * whole // compaction.PART


def test_many_that_were_never_merged_are_merged_in_several_steps() -> None:
    """As in a directory of before there was such a thing, or when a sink has come to the end."""
    m = Manifest()
    for _ in range(3000):
        m = published(m, 4000)
    steps = 0
    while len(m.changelogs["v"]) > FAN * 4:
        before = len(m.changelogs["v"])
        m, _ = after_merging(m)
        assert len(m.changelogs["v"]) < before
        steps += 1
    assert 10 < steps < 200, "a bounded number of files is opened in each"


def test_what_a_sink_has_not_had_is_not_merged() -> None:
    m = Manifest()
    for _ in range(FAN - 1):
        m = published(m, 100)
    m = Delivered("sink", "v", 3).apply(m)
    for _ in range(30):
        m, _ = after_merging(published(m, 100))
        assert all(p.level == 0 for p in m.changelogs["v"])
    had = m.changelogs["v"][20].version
    m, _ = after_merging(Delivered("sink", "v", had).apply(m))
    assert [p.version for p in m.changelogs["v"]][:5] == [8, 16, 17, 18, 19]
    m = Delivered("another", "v", 0).apply(m)
    assert (
        after_merging(Delivered("sink", "v", m.version).apply(m))[0].changelogs["v"]
        == (m.changelogs["v"])
    )


def test_no_publication_spans_much_of_what_is_kept() -> None:
    m = Manifest()
    for _ in range(2003):
        m, _ = after_merging(published(m, 100), retention=640)
    assert {p.w1 - p.w0 for p in m.changelogs["v"]} == {64, 8, 1}


def test_the_log_names_publications_that_are_there() -> None:
    m = published(published(Manifest(), 10), 10)
    for since, version in ((1, 3), (0, 2), (3, 2), (5, 9)):
        with pytest.raises(ValueError, match="has no publications"):
            Merged("v", since, version, ()).apply(m)
    assert Merged("v", 1, 2, ()).apply(m).changelogs["v"] == (Publication(2, 0, 2, (), 1),)


@pytest.mark.parametrize("seed", range(40))
def test_a_merge_stands_for_the_same_changes(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = Random(f"changelog {seed}")
    state_table = spec(key=rng.choice((("k",), ("k", "s"), ())))
    store, log, given = FileStore(tmp_path), [], []
    for step in range(rng.randint(1, 10)):
        x = random_elements(rng, rng.randrange(12), 4 * step, 4 * step + 3)
        if seed % 3 == 0:
            x = replace(x, n=np.abs(x.n))
        given.append(x)
        runs = split_runs(state_table, x, x.te < 4 * step + 4)
        refs = tuple(store.write(run) for run in runs)
        log.append(Publication(step, 4 * step, 4 * step + 4, refs))
    block, whole = Block("v", tuple(log)), concat(state_table.schema, given)
    monkeypatch.setattr(compaction, "PART", rng.choice((100, 1 << 23)))
    tasks, frontier = rng.randint(1, 3), rng.randrange(60)
    found = [
        run
        for task in range(tasks)
        for piece in pieces([block], task, tasks)
        for run in merged(state_table, piece, store, frontier)
    ]
    if block.stays:
        assert not found
        return
    for run in found:
        assert np.all(np.diff(run.hashes.astype(np.int64)) >= 0)
        ends = run.elements.te
        assert np.all(ends < frontier) or np.all(ends >= frontier)
        assert np.all(run.keep == ends)
    together = concat(state_table.schema, [run.elements for run in found])
    same = concat(state_table.schema, [changes(together), changes(whole.negated())])
    assert len(consolidate(same)) == 0
    for t in (BEGIN, *range(50), INF - 1):
        assert snapshot(together, t) == snapshot(whole, t)
    if np.all(whole.n > 0):
        assert Counter(together.rows()) == Counter(whole.rows()), "who adds rows goes on adding"


def test_texts_that_come_again_are_written_once(tmp_path: Path) -> None:
    state_table, store = spec(), FileStore(tmp_path)
    rows = [((i, f"{'long ' * 20}{i % 3}"), i, INF, 1) for i in range(900)]
    parts = [Elements.of(state_table.schema, rows[i : i + 300]) for i in (0, 300, 600)]
    log = [
        Publication(i, i, i + 1, (store.write(sorted_run(state_table, x)),))
        for i, x in enumerate(parts)
    ]
    (piece,) = pieces([Block("v", tuple(log))], 0, 1)
    (run,) = merged(state_table, piece, store, 0)
    with store.segment() as segment:
        new = segment.write(run, packed=True)
    assert store.path(new.segment).stat().st_size < 20_000
    again = FileStore(tmp_path).open(state_table, new).elements
    assert again.column("s").type == pa.string()
    assert Counter(again.rows()) == Counter(rows)


def test_a_block_of_few_runs_is_not_rewritten() -> None:
    m = Manifest()
    for step in range(FAN):
        m = published(m, 100 if step == 3 else 0)
    (block,) = chosen(m, ["v"], 1, None)
    assert block.stays
    assert pieces([block], 0, 1) == []
    assert changelog.served(m, "v") == FAN
