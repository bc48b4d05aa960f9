"""The harness that compares engines: its files, what it keeps and what it tells."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from bench.nexmark import page
from bench.nexmark.__main__ import PARTS, STATE_FIRST, main
from bench.nexmark.answers import TIMES
from bench.nexmark.comparing import Files, compare, grow, outcome
from bench.nexmark.data import made
from bench.nexmark.engines import ENGINES, FLINK, ROOT, SPARK, Engine
from bench.nexmark.generate import Settings
from bench.nexmark.latency import WARM, Arrivals, Watch, waits
from bench.nexmark.measuring import RunError, measure, resident
from bench.nexmark.penstock_run import QUERIES, SYNCHRONIZED
from bench.nexmark.results import Outcome, Results
from bench.nexmark.worker import Job, family

PEERS = ROOT / "bench" / "nexmark" / "peers"

# What becomes of a query is its name.
HELD = 50_000_000
WORKER = f"""
import os, signal, sys, time
from bench.nexmark.worker import Job
job = Job.of_arguments()
if job.query == "fails":
    sys.exit("ValueError: no such thing")
held = b"x" * {HELD}
time.sleep({{"begins_late": 1.5, "never_begins": 60.0}}.get(job.query, 0.0))
if job.query == "is_killed":
    time.sleep(1.5)
    os.kill(os.getpid(), signal.SIGKILL)
with job.timed():
    if job.query == "reaches_half":
        job.reach(0.25)
        time.sleep(0.3)
        job.reach(0.5)
    time.sleep(60.0 if job.query in ("never_ends", "reaches_half") else 0.0)
job.finish(startup=1.0, seconds=2.0)
"""


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    (tmp_path / "stand_in.py").write_text(WORKER)
    environment = {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    return Engine("penstock", "Stand-in", "stand_in", Path(sys.executable), environment=environment)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return Files(tmp_path_factory.mktemp("data"), per_file=1000)


def test_texts_hold_the_rows_of_the_parquet_files(files: Files) -> None:
    data = files.of(2000, text=True)
    for kind, times in TIMES.items():
        numbers = ", ".join(f"epoch_us({time}) AS {time}" for time in times)
        rows = fetched(f"SELECT * REPLACE ({numbers}) FROM '{data}/{kind}/*.parquet'")
        plain = fetched(f"SELECT * FROM read_csv('{data}/csv/{kind}/*.csv', header=false)")
        assert fetched(f"SELECT * FROM '{data}/csv/headed/{kind}/*.csv'") == rows
        assert sorted(plain) == sorted(rows)


def fetched(query: str) -> list[tuple[object, ...]]:
    return duckdb.execute(query).fetchall()


def test_both_readers_of_flink_see_all_of_time(files: Files) -> None:
    data = files.of(2000, text=True)
    names = pq.read_schema(data / "bid" / "00000.parquet").names
    options = pyarrow.csv.ReadOptions(column_names=names)
    for part in sorted((data / "csv" / "bid").iterdir()):
        times = pyarrow.csv.read_csv(part, options).column("dateTime").to_numpy()
        assert np.all(np.diff(times) > 0)
        assert len(times) == 920


def test_files_are_made_once(files: Files) -> None:
    first = files.of(2000, text=False)
    written = (first / "bid" / "00000.parquet").stat().st_mtime_ns
    assert made(files.directory, 2000, 2, Settings(), text=False) == first
    assert (first / "bid" / "00000.parquet").stat().st_mtime_ns == written


@pytest.mark.parametrize("engine", [SPARK, FLINK], ids=["spark", "flink"])
def test_every_query_is_there_or_cannot_be(engine: Engine) -> None:
    there = {path.stem for path in (PEERS / engine.name).glob("q*.sql")}
    assert there | engine.cannot.keys() == set(QUERIES)
    assert not there & engine.cannot.keys()


def test_pathway_has_every_query() -> None:
    text = (PEERS / "pathway" / "queries.py").read_text()
    assert re.findall(r"^def (q\d+)\(", text, re.MULTILINE) == list(QUERIES)
    assert set(re.findall(r'"(q\d+)": q\d+', text)) == set(QUERIES)


@pytest.mark.parametrize("peer", ["flink", "pathway"])
def test_peers_are_pinned_by_number(peer: str) -> None:
    lines = (PEERS / peer / "requirements.txt").read_text().splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert pins
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", pin) for pin in pins)


def test_a_run_is_measured_from_outside(engine: Engine, tmp_path: Path) -> None:
    found = measure(engine, "q0", tmp_path, tmp_path, timeout=60)
    assert (found.startup, found.seconds) == (1.0, 2.0)
    assert resident(1) > 0


def test_work_is_that_of_a_process_and_all_below_it(tmp_path: Path) -> None:
    job = Job("q0", tmp_path, tmp_path, tmp_path / "report.json", launched=0.0)
    busy = "import time\nwhile time.process_time() < 0.5: pass"
    with job.timed():
        subprocess.run([sys.executable, "-c", busy], check=True)
        with subprocess.Popen(
            [sys.executable, "-c", f"{busy}\nopen(0).read()"], stdin=-1
        ) as waiting:
            assert waiting.pid in family(os.getpid())
            waiting.communicate()
    assert job.told["processors"] > 0.9


def test_a_failure_tells_why(engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="ValueError: no such thing"):
        measure(engine, "fails", tmp_path, tmp_path, timeout=60)


def test_start_up_is_not_counted_as_time_of_the_run(engine: Engine, tmp_path: Path) -> None:
    assert measure(engine, "begins_late", tmp_path, tmp_path, timeout=1).seconds == 2.0


def test_a_run_that_never_begins_fails(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bench.nexmark.measuring.LONGEST_START", 0.2)
    with pytest.raises(RunError, match="it did not begin in 0 s"):
        measure(engine, "never_begins", tmp_path, tmp_path, timeout=60)


def test_a_run_that_is_broken_off_keeps_what_was_seen_of_it(engine: Engine, files: Files) -> None:
    found = outcome(engine, "never_ends", 2000, files, timeout=0.2)
    assert found.broken_off
    assert (found.seconds, found.rate) == (0.2, 10_000)
    assert 0 < found.startup < 60
    assert found.memory > HELD


def test_a_run_that_is_broken_off_keeps_the_part_that_it_reached(
    engine: Engine, files: Files
) -> None:
    found = outcome(engine, "reaches_half", 2000, files, timeout=1.5)
    assert found.broken_off
    assert found.part == 0.5
    assert 0.25 < found.seconds < 1.5
    assert found.rate == 1000 / found.seconds


def test_a_run_that_was_killed_tells_what_it_held(engine: Engine, files: Files) -> None:
    found = outcome(engine, "is_killed", 2000, files, timeout=60)
    assert not found.broken_off
    held = re.match(r"it was killed when it held at least (\d+) MB:", found.error)
    assert held
    assert int(held[1]) << 20 > HELD


def test_what_was_measured_is_not_measured_again(
    engine: Engine, files: Files, tmp_path: Path
) -> None:
    path = tmp_path / "results.json"
    compare(Results.read(path), [engine], ["q0", "fails"], 2000, files, 2, timeout=60)
    results = Results.read(path)
    assert [(run.query, bool(run.error)) for run in results.runs] == [
        ("q0", False),
        ("q0", False),
        ("fails", True),
    ]
    compare(results, [engine], ["q0", "fails"], 2000, files, 2, timeout=60)
    assert len(results.runs) == 3
    results.forget(["penstock"], ["q0"], 2000)
    assert [run.query for run in results.runs] == ["fails"]


def test_the_page_shows_the_best_runs_and_their_ratios(tmp_path: Path) -> None:
    results = Results(tmp_path / "results.json")
    for engine, seconds in (("penstock", 2.0), ("penstock", 1.0), ("flink", 4.0), ("spark", 8.0)):
        results.runs.append(Outcome(engine, "q3", 1_000_000, 2, 1.0, seconds, 1 << 30))
    results.runs.append(Outcome("pathway", "q3", 1_000_000, 2, error="it broke"))
    results.runs.append(Outcome("penstock", "q15", 1_000_000, 2, 1.0, 1.0, 1 << 30))
    results.runs.append(Outcome("flink", "q15", 1_000_000, 2, 1.0, 1.0, 1 << 30))
    shown = page.throughput(results, 1_000_000)
    assert "| q3 (stateful) | 1,000 | 125 | 250 | failed | 8.0 | 4.0 |  |" in shown
    assert "| q15 (stateful) | 1,000 | cannot | 1,000 |  |  | 1.0 |  |" in shown
    assert "| stateful, geometric mean |  |  |  |  | 8.0 | 2.0 |  |" in shown
    assert "| q3 | 1,024 | 1,024 | 1,024 |  |" in page.others(results, 1_000_000)


def test_the_page_shows_the_work_of_processors(tmp_path: Path) -> None:
    results = Results(tmp_path / "results.json")
    results.runs = [
        Outcome("penstock", "q3", 2_000_000, 2, 1.0, 1.0, processors=3.0),
        Outcome("spark", "q3", 2_000_000, 2, 7.0, 10.0, processors=18.0),
    ]
    assert "| q3 | 1.5 | 9.0 |  |  | 6.0 |  |  |" in page.work(results, 2_000_000)
    results.growth = [
        Outcome("penstock", "q3", 1_000_000, 2, 1.0, 1.0, processors=2.0),
        Outcome("penstock", "q3", 2_000_000, 2, 1.0, 1.0, processors=3.0),
    ]
    assert "| q3 | 1,000 | 2,000 | 100% |" in page.growth(results.growth)
    assert "| q3 | 2.00 | 1.50 | 33% |" in page.growth(results.growth)


def test_the_page_shows_bounds_of_runs_that_were_broken_off(tmp_path: Path) -> None:
    results = Results(tmp_path / "results.json")
    results.runs = [
        Outcome("penstock", "q3", 1_000_000, 2, 1.0, 1.0, 1 << 30),
        Outcome("spark", "q3", 1_000_000, 2, 7.0, 10.0, 2 << 30, error="it took more than 10 s"),
        Outcome("flink", "q3", 1_000_000, 2, error="it broke: in /some/place"),
    ]
    shown = page.throughput(results, 1_000_000)
    assert "| q3 (stateful) | 1,000 | < 100 | failed |  | > 10.0 |  |  |" in shown
    assert "- Flink q3, 1,000,000 events: it broke.\n" in page.failures(results.runs)
    assert "Streaming" not in page.failures(results.runs)
    shown = page.others(results, 1_000_000)
    assert "| q3 | 1,024 | > 2,048 |  |  |" in shown
    assert "Penstock 1.0 s, Structured Streaming 7.0 s." in shown
    results.runs[1] = replace(results.runs[1], part=0.25)
    shown = page.throughput(results, 1_000_000)
    assert "| q3 (stateful) | 1,000 | ~ 25 | failed |  | ~ 40.0 |  |  |" in shown


def test_growth_leaves_no_files_behind(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bench.nexmark.comparing.STEPWISE", engine)
    files, results = Files(tmp_path / "data", per_file=500), Results(tmp_path / "results.json")
    kept = files.of(500, text=False)
    for _ in range(2):
        grow(results, ["q3", "q5"], [500, 1000], files, repeat=1)
    assert [(run.query, run.events, run.files) for run in results.growth] == [
        ("q3", 500, 1),
        ("q3", 1000, 2),
        ("q5", 500, 1),
        ("q5", 1000, 2),
    ]
    assert kept.exists()
    assert not files.place(1000).exists()


def test_growth_tells_how_far_rates_are_apart() -> None:
    runs = [Outcome("penstock", "q3", n, 2, 1.0, n / rate) for n, rate in ((100, 10), (1000, 8))]
    assert "| q3 | 0 | 0 | 25% |" in page.growth(runs)
    slower = [replace(run, seconds=2 * run.seconds) for run in runs]
    assert page.growth([*slower, *runs]) == page.growth([*runs, *slower]) == page.growth(runs)


def test_an_event_waits_until_the_frontier_has_passed_it() -> None:
    watch = Watch.__new__(Watch)
    watch.seen = [(100, 0.5), (200, WARM + 1.5), (301, WARM + 3.0)]
    arrivals = Arrivals(
        times=[np.array([50, 100]), np.array([199, 200, 300, 400])], arrived=[0.0, WARM + 1.0]
    )
    assert waits(arrivals, watch).tolist() == [0.5, 2.0, 2.0]


def test_the_slowest_come_first_and_failures_not_at_all(tmp_path: Path) -> None:
    results = Results(tmp_path / "results.json")
    for query, seconds in (("q3", 1.0), ("q5", 4.0), ("q5", 3.0), ("q8", 2.0)):
        results.runs.append(Outcome("penstock", query, 1000, 1, 1.0, seconds))
    results.runs.append(Outcome("penstock", "q9", 1000, 1, 1.0, 60.0, error="it took more"))
    assert results.slowest("penstock", ["q3", "q5", "q9"], 1000) == ["q5", "q3"]


def test_queries_with_state_are_compared_first() -> None:
    assert sorted(STATE_FIRST) == sorted([*QUERIES, *SYNCHRONIZED])
    assert STATE_FIRST[-len(page.STATELESS) :] == list(page.STATELESS)


@pytest.mark.parametrize(
    ("command", "measured"),
    [([], ["compare", "growth", "latency", "profile"]), (["growth"], ["growth"]), (["page"], [])],
)
def test_one_run_measures_all_of_the_page(
    command: list[str], measured: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    for name in PARTS:
        monkeypatch.setitem(PARTS, name, lambda *_, name=name: done.append(name))
    monkeypatch.setattr("bench.nexmark.page.write", lambda _: done.append("page"))
    monkeypatch.setattr("bench.nexmark.__main__.about", dict)
    monkeypatch.setattr("bench.nexmark.__main__.signal.signal", lambda *_: None)
    monkeypatch.setattr(sys, "argv", ["nexmark", *command, f"--results={tmp_path / 'results'}"])
    main()
    assert done == [*measured, "page"]


def test_engines_are_known_by_their_names() -> None:
    assert all(engine.name == name for name, engine in ENGINES.items())
