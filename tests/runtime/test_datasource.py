"""The data source: what it reads is what the view is, at one version; a stream misses nothing."""

import json
import pickle
import shutil
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException, StreamingQueryException
from pyspark.sql.datasource import CaseInsensitiveDict
from pyspark.sql.streaming.datasource import ReadAllAvailable

import penstock
from penstock.algebra.aggregates import AggregateCall
from penstock.algebra.plan import Aggregate, Window
from penstock.errors import PlanError, StateError
from penstock.output import datasource
from penstock.output.datasource import PenstockDataSource
from penstock.runtime.options import Options
from penstock.session import Session
from penstock.state import changelog
from penstock.testing.local_session import local_session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.long

SCHEMA = pa.schema([("k", pa.string()), ("v", pa.int32()), ("t", pa.int64())])


def opened(path: Path, **options: Any) -> Session:
    """A session with a source s, a view c that counts, and a view w, a window."""
    db = local_session(path, Options(tasks=2, **options))
    db.create_source("s", SCHEMA, "t")
    window = Window(db.scan("s"), "sliding", 10)
    db.create_view("c", Aggregate(window, ("k",), (AggregateCall("count", (), "n"),)))
    db.create_view("w", window)
    return db


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Session]:
    with opened(tmp_path / "state") as session:
        yield session


def move(db: Session, t: int, rng: Random) -> None:
    """A few rows from a time on, and a step."""
    rows = [(rng.choice("ab"), rng.randrange(3), t + rng.randrange(4)) for _ in range(3)]
    db.source("s").append(rows)
    db.step()


def source(path: Path, view: str = "c", **options: str) -> PenstockDataSource:
    return PenstockDataSource(CaseInsensitiveDict(path=str(path), view=view, **options))


def sent(value: Any) -> Any:
    """As it is in another process."""
    return pickle.loads(pickle.dumps(value))


def rows(batches: Iterator[pa.RecordBatch]) -> Counter[tuple[Any, ...]]:
    found: Counter[tuple[Any, ...]] = Counter()
    for batch in batches:
        found.update(zip(*(column.to_pylist() for column in batch.columns), strict=True))
    return found


def read(found: PenstockDataSource) -> Counter[tuple[Any, ...]]:
    """What Spark would read, with a process for each thing that it asks for."""
    schema = found.schema()
    reader = sent(found).reader(schema)
    parts = sent(reader.partitions())
    return sum((rows(sent(reader).read(part)) for part in parts), Counter())


def frame(df: Any) -> Counter[tuple[Any, ...]]:
    return rows(iter(df.toArrow().to_batches()))


class Query:
    """What Spark makes of a stream reader: batches between offsets, which are in a checkpoint."""

    def __init__(self, found: PenstockDataSource) -> None:
        self.source = found
        self.schema = found.schema()
        self.offset: str | None = None
        self.restart()

    def restart(self) -> None:
        self.reader: Any = sent(self.source).streamReader(self.schema)
        if self.offset is None:
            self.offset = json.dumps(self.reader.initialOffset())

    def batch(self) -> Counter[tuple[Any, ...]] | None:
        """The rows of a batch, planned by this reader and again by one that was restarted."""
        assert self.offset is not None
        start = json.loads(self.offset)
        end = json.dumps(self.reader.latestOffset(start, ReadAllAvailable()))
        if end == self.offset:
            return None
        found = self._read(start, json.loads(end))
        if start["version"] > 0:
            self.restart()
            assert self._read(start, json.loads(end)) == found
        self.offset = end
        return found

    def _read(self, start: dict[str, int], end: dict[str, int]) -> Counter[tuple[Any, ...]]:
        parts = sent(self.reader.partitions(start, end))
        reader = sent(self.source).streamReader(self.schema)
        return sum((rows(sent(reader).read(part)) for part in parts), Counter())


# --- reading a version --------------------------------------------------------------------------


def test_what_is_read_is_what_the_session_reads(
    db: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = Random(0)
    for t in range(0, 30, 3):
        move(db, t, rng)
    for size in (1 << 25, 64):
        monkeypatch.setattr(datasource, "_BYTES_A_TASK", size)
        for name in ("c", "w"):
            view = db.view(name)
            for options, df in [
                ({}, view.snapshot()),
                ({"what": "Snapshot", "at": "12"}, view.snapshot(12)),
                ({"what": "changes"}, view.changes()),
                ({"WHAT": "changes", "since": "12"}, view.changes(12)),
                ({"what": "history"}, view.history()),
            ]:
                assert read(source(db.path, name, **options)) == frame(df) != Counter()
    assert len(source(db.path).reader(source(db.path).schema()).partitions()) > 1


def test_nothing_is_read_of_a_view_that_has_seen_nothing(db: Session) -> None:
    for what in ("snapshot", "changes", "history"):
        assert read(source(db.path, what=what)) == Counter()


def test_a_version_is_chosen_once(db: Session) -> None:
    move(db, 0, Random(0))
    before, loaded = frame(db.view("w").snapshot()), source(db.path, "w")
    loaded.schema()
    move(db, 5, Random(1))
    assert read(loaded) == before != read(source(db.path, "w"))


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"view": "x"}, "no view 'x'; there are: c, w"),
        ({"what": "rows"}, "what is 'rows'; expected one of snapshot, changes, history"),
        ({"at": "9"}, "view c: time 9 is not complete yet; everything before 3 is"),
        ({"at": "noon"}, "'noon' is not a time; expected an integer"),
        ({"at": "1", "what": "history"}, "'at' is for what='snapshot', not for 'history'"),
        ({"since": "1"}, "'since' is for what='changes', not for 'snapshot'"),
    ],
)
def test_options_that_mean_nothing(options: dict[str, str], error: str, db: Session) -> None:
    db.source("s").append([("a", 1, 3)])
    db.step()
    with pytest.raises(PlanError, match=error):
        source(db.path, **options).schema()


def test_what_is_missing_says_so(db: Session, tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r"which view\? Write .option.*; there are: c, w"):
        PenstockDataSource(CaseInsensitiveDict(path=str(db.path))).schema()
    with pytest.raises(PlanError, match=r"which state directory\? Write .load\(path\)"):
        PenstockDataSource(CaseInsensitiveDict(view="c")).schema()
    with pytest.raises(StateError, match="nowhere: no such directory; expected the path given"):
        source(tmp_path / "nowhere").schema()
    with pytest.raises(StateError, match="not a state directory; expected the path given to"):
        source(tmp_path).schema()


# --- following changes --------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_batches_of_a_stream_add_up_to_the_changes(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often publications are merged meanwhile."""
    rng = Random(seed)
    monkeypatch.setattr(changelog, "FAN", (2, 3, 8)[seed])
    with opened(tmp_path / "state") as db:
        queries = {name: Query(source(db.path, name, what="changes")) for name in ("c", "w")}
        seen: dict[str, Counter[tuple[Any, ...]]] = {name: Counter() for name in queries}
        for t in range(0, 60, 3):
            move(db, t, rng)
            for name, query in queries.items():
                if rng.random() < 0.5:
                    seen[name] += query.batch() or Counter()
                    assert seen[name] == frame(db.view(name).changes())
                    assert query.batch() is None
                if rng.random() < 0.2:
                    query.restart()
        db.source("s").end()
        db.step()
        for name, query in queries.items():
            assert seen[name] + (query.batch() or Counter()) == frame(db.view(name).changes())
            assert query.batch() is None


def test_a_stream_follows_beyond_the_commits_it_knows(db: Session) -> None:
    query, seen = Query(source(db.path, "w", what="changes")), Counter[tuple[Any, ...]]()
    for t in range(40):
        for _ in range(3):
            db.source("s").append([("a", t, t)])
        db.step()
        if t == 1:
            seen += query.batch() or Counter()
    assert not (db.path / "log" / f"{1:020d}.json").exists()
    assert seen + (query.batch() or Counter()) == frame(db.view("w").changes())


def test_a_stream_may_begin_at_a_time_and_end_where_it_began(db: Session) -> None:
    later = Query(source(db.path, "w", what="changes", since="20"))
    move(db, 0, Random(0))
    assert later.batch() == Counter()
    for t in range(5, 30, 5):
        move(db, t, Random(t))
    now = Query(source(db.path, "w", what="changes"))
    now.reader.prepareForTriggerAvailableNow()
    published = frame(db.view("w").changes())
    for t in range(40, 70, 3):
        move(db, t, Random(0))
    assert db.engine.manifest.changelogs["w"][0].level > 0, "what was to be read was merged"
    assert now.reader.reportLatestOffset() != later.reader.reportLatestOffset()
    assert now.batch() == published
    now.reader.prepareForTriggerAvailableNow()
    assert later.batch() == frame(db.view("w").changes(20))


def test_a_stream_that_falls_behind_what_is_kept_fails(tmp_path: Path) -> None:
    with opened(tmp_path / "state", retention=6) as db:
        query = Query(source(db.path, "w", what="changes"))
        move(db, 0, Random(0))
        assert query.batch() == frame(db.view("w").changes())
        for t in range(4, 30, 4):
            move(db, t, Random(t))
        with pytest.raises(StateError, match=r"changes of view w before .* are no longer kept"):
            query.batch()
        fresh = Query(source(db.path, "w", what="changes"))
        assert fresh.batch() == frame(db.view("w").changes())
        move(db, 32, Random(0))
        assert fresh.batch()


def test_a_stream_notices_that_its_directory_is_another(tmp_path: Path) -> None:
    with opened(tmp_path / "state") as db:
        move(db, 0, Random(0))
        query = Query(source(db.path, what="changes"))
        query.batch()
        path = db.path
    shutil.rmtree(path)
    with opened(path), pytest.raises(StateError, match="it is not the same any more"):
        query.batch()


def test_a_stream_is_one_of_changes(db: Session) -> None:
    with pytest.raises(PlanError, match=r"a stream is one of changes; write .option\('what'"):
        Query(source(db.path))


# --- on Spark -----------------------------------------------------------------------------------

WRITER = """
import sys
from pathlib import Path
from random import Random
from penstock.runtime.options import Options
from penstock.testing.local_session import local_session

with local_session(Path(sys.argv[1]), Options(tasks=2)) as db:
    for line in sys.stdin:
        t = int(line)
        rng = Random(t)
        db.source("s").append([(rng.choice("ab"), rng.randrange(3), t) for _ in range(3)])
        db.step()
        print(db.frontier, flush=True)
    db.source("s").end()
    db.step()
"""


class OtherProcess:
    """A pipeline that runs in a process of its own, and steps when it is told to."""

    def __init__(self, path: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def step(self, t: int) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{t}\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == f"{t}\n"

    def end(self) -> None:
        self._process.communicate(timeout=120)
        assert self._process.returncode == 0


def load(reader: Any, path: Path, **options: str) -> "DataFrame":
    found: DataFrame = reader.format("penstock").options(**options).load(str(path))
    return found


@pytest.mark.spark
def test_spark_reads_and_follows_another_process(spark: "SparkSession", tmp_path: Path) -> None:
    penstock.register(spark)
    path = tmp_path / "state"
    opened(path).close()
    writer = OtherProcess(path)
    writer.step(1)
    batches: list[tuple[int, list[Any]]] = []
    arrived = threading.Event()

    def receive(batch: "DataFrame", number: int) -> None:
        batches.append((number, [tuple(row) for row in batch.collect()]))
        arrived.set()

    def follow() -> Any:
        stream = load(spark.readStream, path, view="w", what="changes")
        writing = stream.writeStream.foreachBatch(receive)
        return writing.option("checkpointLocation", str(tmp_path / "checkpoint")).start()

    query = follow()
    for t in (2, 3, 9):
        assert arrived.wait(120)
        arrived.clear()
        writer.step(t)
    pinned = load(spark.read, path, view="w")
    query.processAllAvailable()
    query.stop()
    writer.step(15)
    query = follow()
    writer.step(16)
    query.processAllAvailable()
    writer.end()
    query.processAllAvailable()
    query.stop()
    numbers = [number for number, _ in batches]
    assert numbers == list(range(len(batches)))
    assert len(batches) >= 6
    times = [(min(r[-1] for r in rows), max(r[-1] for r in rows)) for _, rows in batches if rows]
    assert times == sorted(times)

    changes = load(spark.read, path, view="w", what="changes").collect()
    followed = Counter(row for _, rows in batches for row in rows)
    assert followed == Counter(map(tuple, changes))
    assert sum(followed.values()) == 2 * 6 * 3
    assert load(spark.read, path, view="w").collect() == []
    assert pinned.count() == len(pinned.collect()) == 9
    assert pinned.select("t").distinct().count() == 3
    at = load(spark.read, path, view="c", at="10").selectExpr("sum(n)").collect()
    assert at == [(12,)]
    spark.sql(
        "CREATE OR REPLACE TEMPORARY VIEW lives USING penstock "
        f"OPTIONS (path '{path}', view 'w', what 'history')"
    )
    query_text = (
        "SELECT count(*), min(valid_to - valid_from), max(valid_to - valid_from) FROM lives"
    )
    assert spark.sql(query_text).collect() == [(18, 10, 10)]


@pytest.mark.spark
def test_errors_reach_the_user_of_spark(spark: "SparkSession", tmp_path: Path) -> None:
    penstock.register(spark)
    penstock.register(spark)
    opened(tmp_path / "state").close()
    with pytest.raises(AnalysisException, match=r"PlanError.*no view 'x'; there are: c, w"):
        load(spark.read, tmp_path / "state", view="x")
    with pytest.raises(AnalysisException, match=r"StateError.*nowhere: no such directory"):
        load(spark.readStream, tmp_path / "nowhere", view="c", what="changes")
    stream = load(spark.readStream, tmp_path / "state", view="c")
    query = stream.writeStream.format("noop").start()
    with pytest.raises(StreamingQueryException, match="a stream is one of changes"):
        query.awaitTermination(120)
