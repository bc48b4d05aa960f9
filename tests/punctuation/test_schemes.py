"""Schemes see accepted rows only; marks speak of time; declarations hold for all rows."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from penstock.element import INF
from penstock.errors import PlanError
from penstock.runtime.options import Options
from penstock.session import Session
from penstock.testing.local_session import local_session


def session(path: Path, *statements: str, **options: Any) -> Session:
    db = local_session(path, Options(unbounded="allow", tasks=2, **options))
    for statement in statements:
        db.sql(statement)
    return db


def records(db: Session, view: str) -> list[tuple[Any, ...]]:
    table = db.view(view).snapshot().toArrow()
    return sorted(tuple(row.values()) for row in table.to_pylist())


SENSORS = "CREATE SOURCE s (hour INT, v INT, t INT, p STRING) EVENT TIME t DELAY 10"
COUNTS = "CREATE VIEW n AS SELECT hour, count(*) AS n FROM s GROUP BY hour EMIT FINAL"


# --- refused rows drive nothing -----------------------------------------------------------------


def ordered(path: Path, more: str = "", of: str = SENSORS) -> Session:
    return session(
        path, of, f"CREATE STREAM r OVER s KEY NULL PUNCTUATED BY ORDER (hour){more}", COUNTS
    )


def test_a_row_outside_the_domain_ends_no_hour(tmp_path: Path) -> None:
    db = ordered(tmp_path, ", BY DOMAIN (hour BETWEEN 0 AND 23)")
    found = db.source("s").append([(1, 0, 1, None), (99, 0, 2, None), (2, 0, 3, None)])
    assert found == {"accepted": 2, "late": 0, "ungrammatical": 1}
    found = db.source("s").append([(2, 0, 4, None), (3, 0, 5, None)])
    assert found == {"accepted": 2, "late": 0}
    db.source("s").advance(10)
    db.step()
    assert records(db, "n") == [(1, 1), (2, 2)]
    db.close()


def test_neither_do_late_rows_rows_without_a_time_nor_those_that_break_a_check(
    tmp_path: Path,
) -> None:
    checked = SENSORS.replace("v INT", "v INT CHECK (v >= 0)")
    db = ordered(tmp_path, of=checked)
    db.source("s").append([(1, 0, 50, None)])
    db.source("s").append([(9, 0, 3, None), (9, 0, None, None), (9, -1, 51, None)])
    found = db.source("s").append([(2, 0, 52, None)])
    assert found == {"accepted": 1, "late": 0}
    db.close()


def test_neither_does_a_row_that_a_punctuation_ruled_out(tmp_path: Path) -> None:
    db = ordered(tmp_path)
    db.source("s").append([(1, 0, 1, None)])
    db.punctuate("s", hour=9)
    found = db.source("s").append([(9, 0, 5, None), (2, 0, 6, None), (3, 0, 7, None)])
    assert found == {"accepted": 2, "late": 0, "ungrammatical": 1}
    db.close()


def test_nor_a_mark_of_the_same_batch(tmp_path: Path) -> None:
    db = ordered(tmp_path, ", BY COLUMN p")
    rows = [(1, 0, 1, None), (None, None, 2, "<9,*,*>"), (9, 0, 5, None), (2, 0, 6, None)]
    found = db.source("s").append(rows)
    assert found == {"accepted": 2, "late": 0, "ungrammatical": 1}
    db.close()


@pytest.mark.parametrize("every", ["", " EVERY 7", " EVERY 3 ROWS"])
@pytest.mark.parametrize("seed", range(12))
def test_how_rows_are_cut_into_batches_does_not_show(tmp_path: Path, seed: int, every: str) -> None:
    """Accepted rows and answers are the same for one batch and for many."""
    rng = Random(seed)
    rows: list[tuple[Any, ...]] = []
    for t in range(60):
        at = t // (1 + seed % 3)
        if rng.random() < 0.1:
            hour = rng.randint(0, 6)
            rows.append((None, None, rng.choice([at, None]), f"<{hour},*,*>"))
        rows.append((rng.choice([t // 10, t // 10 + 1, 40, None]), rng.randint(-1, 5), at, None))
    answers = []
    for cuts in ([], sorted(rng.sample(range(1, len(rows)), 7)), list(range(1, len(rows)))):
        db = session(
            tmp_path / str(len(cuts)),
            SENSORS.replace("v INT", "v INT CHECK (v >= 0)").replace("DELAY 10", "DELAY 100"),
            f"CREATE STREAM r OVER s KEY NULL PUNCTUATED BY ORDER (hour){every}, BY COLUMN p, "
            "BY DOMAIN (hour BETWEEN 0 AND 23)",
            COUNTS,
        )
        total = {"accepted": 0, "late": 0, "ungrammatical": 0}
        for low, high in zip([0, *cuts], [*cuts, len(rows)], strict=True):
            for name, count in db.source("s").append(rows[low:high]).items():
                total[name] += count
        db.source("s").end()
        db.step()
        answers.append((total, db.view("n").changes().toArrow().to_pylist()))
        db.close()
    assert answers[0] == answers[1] == answers[2]
    assert answers[0][0]["accepted"] > 5
    assert answers[0][0]["ungrammatical"] > 5


# --- marks and time -----------------------------------------------------------------------------


def marked(path: Path, delay: int = 10) -> Session:
    source = SENSORS.replace("DELAY 10", f"DELAY {delay}")
    return session(path, source, "CREATE STREAM r OVER s KEY NULL PUNCTUATED BY COLUMN p", COUNTS)


def frontier(db: Session) -> int:
    return db.engine.source_state("s").frontier


def test_a_mark_of_time_moves_time(tmp_path: Path) -> None:
    db = marked(tmp_path)
    db.source("s").append([(1, 0, 5, None), (None, None, 6, "<*,*,(,20)>")])
    assert frontier(db) == 20
    db.source("s").append([(None, None, 21, "<*, *, (,30] >")])
    assert frontier(db) == 31
    db.close()


def test_a_mark_of_everything_ends_the_stream(tmp_path: Path) -> None:
    db = marked(tmp_path)
    db.source("s").append([(1, 0, 5, None), (None, None, 6, "<*,*,*>")])
    assert frontier(db) == INF
    db.step()
    assert records(db, "n") == [(1, 1)]
    db.close()


def test_a_mark_moves_time_by_its_own(tmp_path: Path) -> None:
    db = marked(tmp_path)
    db.source("s").append([(1, 0, 5, None), (None, None, 50, "<1,*,*>")])
    assert frontier(db) == 40
    db.close()


def test_a_mark_without_a_time_holds_from_its_place_on(tmp_path: Path) -> None:
    db = marked(tmp_path, delay=0)
    rows = [(1, 0, 5, None), (None, None, None, "<1,*,*>"), (1, 0, 6, None), (2, 0, 7, None)]
    assert db.source("s").append(rows) == {"accepted": 2, "late": 0, "ungrammatical": 1}
    db.source("s").advance(20)
    db.step()
    assert records(db, "n") == [(1, 1)]
    db.close()


def test_no_more_of_a_key_before_a_time_is_enforced_within_the_delay(tmp_path: Path) -> None:
    db = marked(tmp_path, delay=100)
    db.source("s").append([(1, 0, 50, None)])
    db.sql("PUNCTUATE s WHERE hour = 1 AND t < 20")
    found = db.source("s").append([(1, 0, 15, None), (2, 0, 15, None), (1, 0, 25, None)])
    assert found == {"accepted": 2, "late": 0, "ungrammatical": 1}
    db.sql("PUNCTUATE s WHERE hour = 2")  # it does not speak of time: earlier rows may still come
    found = db.source("s").append([(2, 0, 45, None), (2, 0, 60, None)])
    assert found == {"accepted": 1, "late": 0, "ungrammatical": 1}
    db.close()


def test_so_is_one_that_came_in_band_and_after_a_restart(tmp_path: Path) -> None:
    db = marked(tmp_path, delay=100)
    db.source("s").append([(1, 0, 50, None), (None, None, 50, "<1,*,(,20)>")])
    db.close()
    db = local_session(tmp_path, Options(unbounded="allow", tasks=2))
    found = db.source("s").append([(1, 0, 15, None), (1, 0, 25, None)])
    assert found == {"accepted": 1, "late": 0, "ungrammatical": 1}
    db.close()


def test_two_streams_with_marks_of_their_own(tmp_path: Path) -> None:
    db = session(
        tmp_path,
        "CREATE SOURCE s (hour INT, v INT, t INT, p STRING, q STRING) EVENT TIME t",
        "CREATE STREAM a OVER s KEY NULL PUNCTUATED BY COLUMN p",
        "CREATE STREAM b OVER s KEY NULL PUNCTUATED BY COLUMN q",
        "CREATE VIEW n AS SELECT hour, count(*) AS n FROM a GROUP BY hour EMIT FINAL",
    )
    rows = [
        (1, 0, 1, None, None),
        (2, 0, 1, None, None),
        (None, None, 2, "<1,*,*,*>", None),
        (None, None, 3, None, "<2,*,*,*>"),
        (3, 0, 4, "no mark", None),
    ]
    assert db.source("s").append(rows) == {"accepted": 2, "late": 0, "ungrammatical": 1}
    db.source("s").advance(10)
    db.step()
    assert records(db, "n") == [(1, 1), (2, 1)]
    db.close()


# --- declarations -------------------------------------------------------------------------------

DOMAIN = "CREATE STREAM r OVER s KEY NULL PUNCTUATED BY DOMAIN (hour BETWEEN 0 AND 23)"


def test_a_domain_that_rows_break_already_is_refused(tmp_path: Path) -> None:
    db = session(tmp_path, SENSORS)
    db.source("s").append([(1, 0, 1, None), (24, 0, 1, None)])
    with pytest.raises(PlanError, match="1 of the 2 rows that s has received do not match"):
        db.sql(DOMAIN)
    db.sql(DOMAIN.replace("23", "24"))
    assert db.source("s").append([(24, 0, 2, None), (25, 0, 2, None)])["accepted"] == 1
    db.close()


def test_a_domain_that_cannot_be_checked_is_refused(tmp_path: Path) -> None:
    db = session(tmp_path, SENSORS, keep_input=False)
    db.source("s").append([(1, 0, 1, None)])
    with pytest.raises(PlanError, match="were not kept"):
        db.sql(DOMAIN)
    db.close()


def test_dropping_a_stream_lifts_what_it_declared(tmp_path: Path) -> None:
    db = session(tmp_path, SENSORS, DOMAIN, DOMAIN.replace("r OVER", "also OVER"))
    row = [(30, 0, 1, None)]
    assert db.source("s").append(row)["accepted"] == 0
    db.sql("DROP STREAM r")
    assert db.source("s").append(row)["accepted"] == 0, "another stream says the same"
    db.sql("DROP STREAM also")
    db.close()
    db = local_session(tmp_path, Options(unbounded="allow", tasks=2))
    assert db.source("s").append(row)["accepted"] == 1
    db.close()


def test_a_declaration_that_a_view_may_rely_on_stays(tmp_path: Path) -> None:
    db = session(tmp_path, SENSORS, DOMAIN, COUNTS)
    with pytest.raises(PlanError, match="n may have relied on it"):
        db.sql("DROP STREAM r")
    db.sql("DROP VIEW n; DROP STREAM r")
    db.close()


def test_many_punctuations_in_fewer_words_leave_declarations_alone(tmp_path: Path) -> None:
    db = session(tmp_path, SENSORS.replace("DELAY 10", ""), DOMAIN)
    db.sql("CREATE STREAM marks OVER s KEY NULL PUNCTUATED BY COLUMN p")
    db.sql("CREATE VIEW all_of_it AS SELECT v FROM s")
    db.source("s").append([(None, None, 1, f"<*,{v},*>") for v in range(1500)])
    db.source("s").advance(10)
    db.step()
    assert len(db.engine.manifest.punctuations["s"]) < 20
    db.sql("DROP VIEW all_of_it; DROP STREAM r")
    found = db.source("s").append([(30, 2000, 11, None), (1, 7, 11, None)])
    assert found == {"accepted": 1, "late": 0, "ungrammatical": 1}
    db.close()
