"""The option of sessions and views, what EXPLAIN says of it, and what is measured."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from penstock.errors import PlanError
from penstock.physical.expiry import STRATEGIES, Strategy
from penstock.physical.expiry.choosing import TO_NEGATIVE, TO_PIGGYBACK, Chooser, Seen
from penstock.physical.kernels.adaptive_join import AdaptiveJoin
from penstock.physical.program import program_of
from penstock.runtime.options import Options
from penstock.session import Session
from penstock.testing.local_session import local_session

COUNT = "SELECT count(*) AS n FROM sales [RANGE 5] s JOIN favorites f ON s.item = f.item"
SOLD = [(4, 0), (5, 1), (2, 2), (4, 3), (5, 4), (2, 5), (1, 6)]


def prepared(directory: Path, options: Options | None = None) -> Session:
    db = local_session(directory, options)
    db.sql("CREATE SOURCE sales (item INT, t INT) EVENT TIME t")
    db.create_table("favorites", pa.table({"item": pa.array([4, 5], pa.int32())}))
    return db


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Session]:
    with prepared(tmp_path) as session:
        yield session


def create(db: Session, expiry: Strategy, name: str = "v") -> None:
    db.sql(f"CREATE VIEW {name} OPTIONS (expiry '{expiry}') AS {COUNT}")


def answer(db: Session, name: str = "v") -> int:
    (row,) = db.view(name).snapshot().toArrow().to_pylist()
    return int(row["n"])


def step(db: Session, *rows: tuple[int, int]) -> None:
    for row in rows:
        db.source("sales").append([row])
        db.source("sales").advance(row[1] + 1)
        db.step()


def explained(db: Session, expiry: Strategy, query: str = COUNT) -> list[str]:
    text = str(db.sql(f"EXPLAIN CREATE VIEW w OPTIONS (expiry '{expiry}') AS {query}"))
    return [line.strip() for line in text.split("\nexpiry\n")[1].splitlines()]


@pytest.mark.parametrize("expiry", STRATEGIES)
def test_figure_2_by_each_strategy(db: Session, expiry: Strategy) -> None:
    create(db, expiry)
    step(db, *SOLD)
    assert answer(db) == (4 if expiry == "input" else 2)
    step(db, (5, 7))
    assert answer(db) == 3


def test_strategies_live_side_by_side_and_are_remembered(tmp_path: Path) -> None:
    with prepared(tmp_path, Options(expiry="negative")) as db:
        db.sql(f"CREATE VIEW session_s AS {COUNT}")
        for expiry in STRATEGIES:
            create(db, expiry, f"v{STRATEGIES.index(expiry)}")
        step(db, *SOLD[:4])
    with local_session(tmp_path) as db:
        step(db, *SOLD[4:])
        views = {name: found["expiry"] for name, found in db.metrics()["views"].items()}
        assert views.pop("session_s") == "negative"
        assert tuple(views.values()) == STRATEGIES
        assert {n: answer(db, n) for n in views} == {"v0": 2, "v1": 2, "v2": 2, "v3": 2, "v4": 4}


def test_unknown_options_are_refused(db: Session) -> None:
    with pytest.raises(PlanError, match="expected one of: auto, piggyback, negative"):
        db.sql(f"CREATE VIEW v OPTIONS (expiry 'never') AS {COUNT}")
    with pytest.raises(PlanError, match=r"no option expire\. There is expiry"):
        db.sql(f"CREATE VIEW v OPTIONS (expire 'negative') AS {COUNT}")
    with pytest.raises(PlanError, match="expected one of"):
        Options(expiry="soon")  # type: ignore[arg-type]


def test_explain_says_the_strategy_of_each_operator_and_why(db: Session) -> None:
    assert explained(db, "piggyback") == [
        "GroupAggregate: piggyback, rows carry their ends, and the frontier comes with every step",
        "InnerJoin: piggyback, rows carry their ends, and the frontier comes with every step",
    ]
    assert explained(db, "negative")[-2:] == [
        "NettingJoin: negative, a negative tuple undoes what its positive one did",
        "Expire: negative, sends a negative tuple for each that expires",
    ]
    assert explained(db, "negative+messages")[-3:] == [
        "Trigger: messages, a message retires all rows that carry its time",
        "MessageJoin: messages, a negative tuple is not joined again; a message follows it if "
        "results carry its time",
        "NegativeTuples: negative, tells the join when a tuple expires",
    ]
    assert (
        explained(db, "input")[0] == "GroupAggregate: input, its Trigger says what it has noticed"
    )
    assert explained(db, "auto")[-1].startswith("AdaptiveJoin: auto, piggyback now, nothing seen")


def test_explain_says_nothing_of_expiry_where_nothing_expires(db: Session) -> None:
    assert "expiry" not in str(
        db.sql("EXPLAIN SELECT item, count(*) AS n FROM sales GROUP BY item")
    )


def test_explain_knows_what_a_running_join_was_seen_to_do(db: Session) -> None:
    create(db, "auto")
    step(db, *SOLD)
    assert "results a row" in explained(db, "auto")[-1]


def test_tuples_through_operators(db: Session) -> None:
    create(db, "negative")
    step(db, *SOLD, (5, 7))
    found = {name.split()[0]: counts for name, counts in db.metrics()["operators"].items()}
    join = found["NettingJoin"]
    assert (join["positive_in"], join["negative_in"]) == (
        8 + 2,
        3,
    )  # rows and favorites; 4-, 5-, 2-
    assert (join["positive_out"], join["negative_out"]) == (5, 2)
    assert join["ratio"] == 3 / 10


def test_how_late_ends_are_noticed(db: Session) -> None:
    """The tuple of T0 expires at T5 and that of T1 at T6; the next tuple comes at T7."""
    create(db, "input")
    step(db, *SOLD, (5, 7))
    (trigger,) = [c for n, c in db.metrics()["operators"].items() if n.startswith("Trigger")]
    late = trigger["noticed_late"]
    assert (late["average"], late["max"]) == (1.5, 2)
    assert 1 <= late["p50"] <= late["p99"] <= 2


def test_delays_of_a_view(db: Session) -> None:
    create(db, "piggyback")
    db.source("sales").append(SOLD[:3])
    db.source("sales").advance(10)
    db.step()
    delay = db.metrics()["views"]["v"]["delay"]
    assert delay["event"]["max"] == 9 - 0  # the frontier was at 10 when the change of T0 came out
    assert 0 < delay["seconds"]["p50"] <= delay["seconds"]["max"] < 60


def test_a_join_that_makes_many_results_for_many_readers_expires_by_negative_tuples(
    db: Session,
) -> None:
    create(db, "auto")
    program = db.engine.program
    (join,) = [p for p in program.places if isinstance(p.operator.work, AdaptiveJoin)]
    chooser = Chooser()
    few = {"ending": 100.0, "rows_in": 100.0, "rows_out": 100.0}
    many = {**few, "rows_out": 100_000.0}
    chooser.observe(program, {join.identity: many})
    assert not chooser.told(program, {})  # one reader keeps each end once
    seen = Seen().then(100, 100, 100 * TO_NEGATIVE)
    assert seen.kept(readers=2) == TO_NEGATIVE > TO_PIGGYBACK
    assert chooser.why(join.identity) == "1000.0 results a row"


def test_the_choice_is_made_from_what_was_seen_and_is_taken_back(db: Session) -> None:
    create(db, "auto")
    db.sql(
        "CREATE VIEW w OPTIONS (expiry 'auto') AS SELECT s.item, count(*) AS n "
        "FROM sales [RANGE 5] s JOIN favorites f ON s.item = f.item GROUP BY s.item"
    )
    program, chooser = db.engine.program, Chooser()
    (join,) = [p for p in program.places if isinstance(p.operator.work, AdaptiveJoin)]
    place = program.places.index(join)
    rows = {"ending": 1000.0, "rows_in": 1000.0}
    chooser.observe(program, {join.identity: {**rows, "rows_out": 20_000.0}})
    (kernel,) = chooser.told(program, {}).values()
    assert isinstance(kernel, AdaptiveJoin)
    assert kernel.expires
    assert list(chooser.told(program, {})) == [place]
    for _ in range(20):
        chooser.observe(program, {join.identity: {**rows, "rows_out": 100.0}})
    assert chooser.told(program, {}) == {}


def test_a_view_without_a_window_has_no_choice_to_make() -> None:
    from penstock.algebra import plan as p

    schema = pa.schema([("a", pa.int64())])
    other = p.Scan("r", pa.schema([("b", pa.int64())]), append_only=True)
    plan = p.Join(p.Scan("s", schema, append_only=True), other, "inner", (p.Equality("a", "b"),))
    places = program_of(plan, expiry="auto").places
    assert not any(isinstance(place.operator.work, AdaptiveJoin) for place in places)
