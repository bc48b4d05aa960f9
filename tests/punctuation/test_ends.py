"""The end of a stream is the punctuation that matches everything: it closes what that would.

EMIT FINAL passes what no continuation of the other streams can take back, and state that only the
ended stream could have needed is let go.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from penstock.runtime.options import Options
from penstock.session import Session
from penstock.testing.local_session import local_session

SOURCES = """
CREATE SOURCE l (k INT, v INT, t INT) EVENT TIME t;
CREATE SOURCE r (k INT, v INT, t INT) EVENT TIME t;
"""


def session(path: Path) -> Session:
    db = local_session(path, Options(unbounded="allow", tasks=2))
    db.sql(SOURCES)
    return db


def records(db: Session, view: str) -> Counter[tuple[Any, ...]]:
    table = db.view(view).snapshot().toArrow()
    return Counter(tuple(row.values()) for row in table.to_pylist())


def state(db: Session) -> int:
    progress = db.last_progress
    assert progress is not None
    kept = {k: v for k, v in progress["state"].items() if not k.startswith(("view ", "base "))}
    return sum(state_table["rows"] for state_table in kept.values())


def end(db: Session, source: str, how: str) -> None:
    match how:
        case "end":
            db.source(source).end()
        case "python":
            db.punctuate(source)


FINAL: dict[str, list[tuple[Any, ...]]] = {
    "SELECT k FROM l EXCEPT SELECT k FROM r": [(2,), (3,)],
    "SELECT k, v FROM l EXCEPT ALL SELECT k, v FROM r": [(1, 10), (2, 10), (2, 11), (3, 12)],
    "SELECT l.k, l.v FROM l WHERE NOT EXISTS (SELECT 1 FROM r WHERE r.k = l.k)": [
        (2, 10),
        (2, 11),
        (3, 12),
    ],
    "SELECT l.k, r.v FROM l LEFT JOIN r ON l.k = r.k": [(1, 5), (2, None), (2, None), (3, None)],
    "SELECT l.v, r.v AS w FROM l LEFT JOIN r ON l.k < r.k": [
        (10, 6),
        (10, 6),
        (11, 6),
        (12, 6),
    ],
}


MARKED = """
CREATE SOURCE l (k INT, v INT, t INT) EVENT TIME t;
CREATE SOURCE r (k INT, v INT, t INT, mark STRING) EVENT TIME t;
CREATE STREAM marked OVER r KEY NULL PUNCTUATED BY COLUMN mark;
CREATE STREAM latest OVER r KEY (k);
"""
ONLY_R_IN_DOUBT = [
    "SELECT k FROM l EXCEPT SELECT k FROM r",
    "SELECT k, v FROM l WHERE k NOT IN (SELECT k FROM r)",
    "SELECT k, v FROM l WHERE NOT EXISTS (SELECT 1 FROM r WHERE r.k = l.k AND r.v > l.v)",
    "SELECT l.k, marked.v FROM l LEFT JOIN marked ON l.k = marked.k",
    "SELECT l.k, latest.v FROM l LEFT JOIN latest ON l.k = latest.k",
    "SELECT l.k, r.v FROM r RIGHT JOIN l ON l.k = r.k",
    "SELECT l.k, (SELECT count(*) FROM r WHERE r.k = l.k) AS n FROM l",
    "SELECT l.k, m.n FROM l CROSS JOIN (SELECT count(*) AS n FROM r) m",
    "SELECT k, count(*) AS n FROM r GROUP BY k",
    "SELECT k, v FROM r QUALIFY row_number() OVER (PARTITION BY k ORDER BY v) = 1",
]
WAYS = ["end", "python", "before the others", "a mark", "marks of time"]


@pytest.mark.parametrize("how", WAYS)
def test_every_way_of_ending_makes_all_final(tmp_path: Path, how: str) -> None:
    """Where only the ended stream could still have changed an answer, it is final."""
    left = [(1, 10, 1), (2, 11, 2), (2, 12, 3), (3, 9, 4)]
    right = [(1, 5, 1, None), (1, 20, 2, None), (4, 6, 3, None)]
    with local_session(tmp_path, Options(unbounded="allow", tasks=2)) as db:
        db.sql(MARKED)
        for i, query in enumerate(ONLY_R_IN_DOUBT):
            db.sql(f"CREATE VIEW now{i} AS {query}; CREATE VIEW final{i} AS {query} EMIT FINAL")
        if how != "before the others":
            db.source("l").append(left)
            db.source("l").advance(5)
        db.source("r").append(right)
        match how:
            case "a mark":
                db.source("r").append([(None, None, 6, "<*,*,*>")])
            case "marks of time":
                db.source("r").append([(None, None, 6, "<*,*,(,20)>")])
                db.step()
                db.source("r").append([(None, None, 20, "<*,*,*>")])
            case "python":
                db.punctuate("r")
            case _:
                db.source("r").end()
        db.step()
        if how == "before the others":
            db.source("l").append(left)
        db.source("l").advance(30)
        db.step()
        for i, query in enumerate(ONLY_R_IN_DOUBT):
            assert records(db, f"now{i}"), query
            assert records(db, f"final{i}") == records(db, f"now{i}"), query


@pytest.mark.parametrize("how", ["end", "python"])
def test_what_the_ended_stream_could_have_taken_back_is_final(tmp_path: Path, how: str) -> None:
    db = session(tmp_path)
    for number, query in enumerate(FINAL):
        db.sql(f"CREATE VIEW v{number} AS {query} EMIT FINAL")
    db.source("l").append([(1, 10, 1), (2, 10, 2), (2, 11, 3), (3, 12, 3)])
    db.source("r").append([(1, 5, 2), (7, 6, 3)])
    end(db, "r", how)
    db.source("l").advance(10)
    db.step()
    for number, (query, expected) in enumerate(FINAL.items()):
        assert records(db, f"v{number}") == Counter(expected), query
    db.source("l").append([(4, 13, 11)])
    db.source("l").advance(20)
    db.step()
    assert (4,) in records(db, "v0"), "what comes later is final at once"
    db.close()


def test_a_group_over_a_union_waits_only_for_the_stream_that_goes_on(tmp_path: Path) -> None:
    db = session(tmp_path)
    db.sql("""
        CREATE VIEW n AS SELECT k, count(*) AS n
        FROM (SELECT k FROM l UNION ALL SELECT k FROM r) GROUP BY k EMIT FINAL
    """)
    db.source("l").append([(1, 0, 1), (2, 0, 2)])
    db.source("r").append([(1, 0, 1), (3, 0, 2)])
    db.source("r").end()
    db.punctuate("l", k=[1, 3])
    db.source("l").advance(10)
    db.step()
    assert records(db, "n") == Counter([(1, 2), (3, 1)])
    db.close()


STATE = (
    "SELECT l.v, r.v AS w FROM l JOIN r ON l.k = r.k",
    "SELECT l.v, r.v AS w FROM l JOIN r ON l.k < r.k",
    "SELECT l.v, r.v AS w FROM l LEFT JOIN r ON l.k = r.k",
    "SELECT l.v FROM l WHERE EXISTS (SELECT 1 FROM r WHERE r.k = l.k)",
)


@pytest.mark.parametrize("query", STATE)
def test_state_that_waited_for_an_ended_stream_is_let_go(tmp_path: Path, query: str) -> None:
    """However much it is: the left rows of a join go when the right stream is over."""
    db = session(tmp_path)
    db.sql(f"CREATE VIEW j AS {query}")
    db.source("l").append([(k, k, 1) for k in range(3000)])
    db.source("r").append([(1, 1, 1)])
    for name in "lr":
        db.source(name).advance(5)
    db.step()
    assert state(db) >= 3000
    db.source("r").end()
    for to in (10, 15, 20):
        db.source("l").advance(to)
        db.step()
    assert state(db) <= 2, "of the right side, which meets what the left still brings"
    before = records(db, "j")
    db.source("l").append([(1, 9, 21)])
    db.source("l").advance(30)
    db.step()
    assert records(db, "j").total() > before.total() or "<" in query
    db.close()


def test_an_end_is_remembered_when_the_directory_is_opened_again(tmp_path: Path) -> None:
    db = session(tmp_path)
    db.sql("CREATE VIEW v AS SELECT k FROM l EXCEPT SELECT k FROM r EMIT FINAL")
    db.source("r").end()
    db.close()
    db = local_session(tmp_path, Options(unbounded="allow"))
    db.source("l").append([(1, 1, 1)])
    db.source("l").advance(5)
    db.step()
    db.sql("CREATE VIEW w AS SELECT v FROM l EXCEPT SELECT v FROM r EMIT FINAL")
    assert records(db, "v") == records(db, "w") == Counter([(1,)])
    db.close()


QUERIES = (
    "SELECT k FROM l EXCEPT SELECT k FROM r",
    "SELECT k FROM l INTERSECT SELECT k FROM r",
    "SELECT l.k, l.v, r.v AS w FROM l LEFT JOIN r ON l.k = r.k",
    "SELECT l.k, l.v, r.v AS w FROM l JOIN r ON l.k = r.k",
    "SELECT k, count(*) AS n FROM (SELECT k FROM l UNION ALL SELECT k FROM r) GROUP BY k",
    "SELECT k, sum(v) AS n FROM r GROUP BY k",
)


@pytest.mark.parametrize("seed", range(6))
def test_views_of_all_changes_do_not_see_when_streams_end(tmp_path: Path, seed: int) -> None:
    """Answers are those of a session whose streams end when all is over; batches do not show."""
    rng = Random(seed)
    rows = {s: sorted((rng.randint(0, 3), rng.randint(0, 2), t) for t in range(20)) for s in "lr"}
    rows["r"] = [row for row in rows["r"] if row[2] < 8]
    found, final = [], []
    for number, (early, cuts) in enumerate(
        ((True, [8, 9, 15, 30]), (True, [9, 30]), (False, [30]))
    ):
        db = session(tmp_path / str(number))
        for i, query in enumerate(QUERIES):
            db.sql(f"CREATE VIEW v{i} AS {query}; CREATE VIEW f{i} AS {query} EMIT FINAL")
        before = -1
        for cut in cuts:
            for name in "lr":
                db.source(name).append([row for row in rows[name] if before <= row[2] < cut])
                if cut == cuts[0] and name == "r" and early:
                    db.punctuate("r")
                elif name == "l" or not early:
                    db.source(name).advance(cut)
            db.step()
            before = cut
        final.append([records(db, f"f{i}") for i in range(len(QUERIES))] if early else [])
        for name in "lr":
            db.source(name).end()
        db.step()
        found.append([records(db, f"v{i}") for i in range(len(QUERIES))])
        found.append([records(db, f"f{i}") for i in range(len(QUERIES))])
        db.close()
    for other in found:
        for i, query in enumerate(QUERIES):
            assert other[i] == found[0][i], query
    assert final[0] == final[1]
    for i in (0, 1, 2, 3, 5):
        assert final[0][i] == found[0][i], QUERIES[i]
    assert final[0][4].total() == 0, "l may still bring rows of any group"


def test_rows_that_come_after_the_end_do_not_undo_it(tmp_path: Path) -> None:
    db = session(tmp_path)
    db.sql("CREATE VIEW v AS SELECT k FROM l EXCEPT SELECT k FROM r EMIT FINAL")
    db.source("r").end()
    assert db.source("r").append([(1, 1, 1)])["accepted"] == 0
    assert db.source("r").append([])["accepted"] == 0
    db.source("l").append([(1, 1, 2)])
    db.source("l").advance(5)
    db.step()
    assert records(db, "v") == Counter([(1,)])
    db.close()
