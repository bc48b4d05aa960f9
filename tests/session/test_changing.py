"""Statements that change what is there: names, columns, types; what is refused, and why."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from penstock.errors import PenstockError, PlanError
from penstock.ingest.connectors import StreamFeed
from penstock.ingest.sources import SourceDefinition
from penstock.ingest.text_values import record_of
from penstock.runtime.options import Options
from penstock.session import Session
from penstock.testing.local_session import local_session

PIPELINE = """
CREATE SOURCE s (k INT, x INT, t INT) EVENT TIME t;
CREATE STREAM latest OVER s KEY (k);
CREATE STREAM closed OVER s KEY NULL;
CREATE VIEW v AS SELECT k, count(*) AS n FROM s [RANGE 10] GROUP BY k;
CREATE VIEW w AS SELECT v.n, count(*) AS m FROM v WHERE v.n > 0 GROUP BY v.n;
CREATE VIEW every2 AS SELECT timepoint FROM clock WHERE timepoint % 2 = 0;
CREATE VIEW paced AS SELECT k, x FROM latest SYNC BY every2;
CREATE VIEW whole AS SELECT * FROM s WHERE x > 1;
CREATE VIEW now START NOW AS SELECT k, n FROM v;
"""


def opened(path: Path, **options: Any) -> Session:
    return local_session(path, Options(**{"tasks": 2, "unbounded": "allow", **options}))


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Session]:
    with opened(tmp_path / "state") as session:
        session.sql(PIPELINE)
        session.source("s").append([(1, 1, 1), (2, 2, 2), (1, 3, 3)])
        session.step()
        yield session


def rows(frame: Any) -> list[tuple[Any, ...]]:
    table = frame.toArrow()
    return sorted(zip(*(c.to_pylist() for c in table.columns), strict=True), key=repr)


def everything(db: Session) -> dict[str, Any]:
    views = {name: db.view(name) for name in db.engine.views}
    return {n: [rows(v.snapshot()), rows(v.changes()), rows(v.history())] for n, v in views.items()}


def reopened(db: Session) -> Session:
    db.close()
    return opened(db.path)


REFUSED = {
    "CREATE OR REPLACE VIEW s AS SELECT k FROM v": "s is there, and is a source, stream or table",
    "CREATE OR REPLACE VIEW v AS SELECT k FROM v": "View v would read itself. A view reads",
    "CREATE OR REPLACE VIEW v AS SELECT n AS k FROM w": "View v would read itself by way of w.",
    "CREATE OR REPLACE VIEW v AS SELECT k FROM s": "View w reads v.n, which the new v does not",
    "CREATE OR REPLACE VIEW v AS SELECT k, n FROM x": "There is no source, stream, table or view x",
    "CREATE OR REPLACE VIEW v AS SELECT k, k AS n FROM s": "View now reads v and was created with",
    "ALTER VIEW x RENAME TO y": "There is no view x. ",
    "ALTER VIEW v RENAME TO s": "s exists already. Choose another name.",
    "ALTER VIEW v RENAME TO clock": "clock is the name of the clock",
    "ALTER SOURCE v ADD COLUMN c INT": "There is no source v. ",
    "ALTER SOURCE s ADD COLUMN K STRING": "Source s has a column k already.",
    "ALTER SOURCE s ADD COLUMN c NOSUCH": "expected the type of column c",
    "ALTER SOURCE s ALTER COLUMN y TYPE BIGINT": "There is no column y. ",
    "ALTER SOURCE s ALTER COLUMN t TYPE BIGINT": "t says when or how often a row of s counts",
    "ALTER SOURCE s ALTER COLUMN x TYPE STRING": "INT does not widen to STRING: not every value",
    "ALTER SOURCE s ALTER COLUMN x TYPE SMALLINT": "INT does not widen to SMALLINT",
}


def test_what_is_refused_is_refused_by_name_and_changes_nothing(db: Session) -> None:
    before, version = everything(db), db.engine.manifest.version
    for statement, message in REFUSED.items():
        with pytest.raises(PenstockError) as error:
            print(statement, db.sql(statement))
        assert message in str(error.value), statement
    assert everything(db) == before
    assert db.engine.manifest.version == version


def test_the_same_again_is_nothing_to_do(db: Session) -> None:
    version = db.engine.manifest.version
    for statement in PIPELINE.split(";"):
        if "CREATE VIEW" in statement:
            again = statement.replace("CREATE VIEW", "create  or replace view").replace(" > ", ">")
            assert "says this already" in str(db.sql(again))
    assert db.engine.manifest.version == version
    created = str(db.sql("CREATE OR REPLACE VIEW fresh AS SELECT k FROM s"))
    assert created.startswith("View fresh is created.")
    db.sql("DROP VIEW now")
    assert "is replaced" in str(db.sql("CREATE OR REPLACE VIEW v AS SELECT k, x AS n FROM s"))
    assert "OR REPLACE" not in str(db.sql("SHOW VIEWS"))


def test_without_kept_rows_a_view_is_made_of_running_ones_or_begins_now(tmp_path: Path) -> None:
    with opened(tmp_path, keep_input=False) as db:
        db.sql(
            "CREATE SOURCE s (k INT, x INT, t INT) EVENT TIME t;"
            "CREATE VIEW v AS SELECT k, x FROM s; CREATE VIEW c AS SELECT count(*) AS n FROM s"
        )
        db.source("s").append([(1, 1, 1), (2, 2, 2), (3, 3, 3)])
        db.step()
        with pytest.raises(PenstockError, match=r"'c' reads 's', whose rows so far .* START NOW"):
            db.sql("CREATE OR REPLACE VIEW c AS SELECT max(t) AS n FROM s")
        assert rows(db.view("c").snapshot()) == [(2,)]
        db.sql("CREATE OR REPLACE VIEW c AS SELECT sum(x) AS n FROM v")
        assert rows(db.view("c").snapshot()) == [(3,)]
        db.sql("CREATE VIEW r AS SELECT x FROM v WHERE k > 1")
        db.sql("CREATE OR REPLACE VIEW v AS SELECT k, x FROM s WHERE k <> 2")
        assert rows(db.view("v").snapshot()) == [(1, 1)]
        assert rows(db.view("r").snapshot()) == []
        db.sql("CREATE OR REPLACE VIEW c START NOW AS SELECT max(x) AS n FROM s")
        db.source("s").append([(4, 1, 4), (5, 5, 5)])
        db.step()
        assert rows(db.view("c").snapshot())[0][0] in (1, 3)


def test_when_all_is_over_a_sink_still_gets_the_difference(tmp_path: Path) -> None:
    with opened(tmp_path) as db:
        db.create_table("names", pa.table({"k": [1, 2], "name": ["a", "b"]}))
        db.sql("CREATE SOURCE s (k BIGINT, at TIMESTAMP) EVENT TIME at")
        db.sql("CREATE VIEW v AS SELECT s.k, name FROM s JOIN names AS n ON s.k = n.k")
        told: list[Any] = []
        db.view("v").sink(lambda frame, version: told.append(rows(frame)))
        moment = datetime(2026, 1, 1, tzinfo=UTC)
        db.source("s").append([(1, moment), (2, moment)])
        db.source("s").end()
        db.step()
        db.sql("CREATE OR REPLACE VIEW v AS SELECT k, name FROM names WHERE k > 1")
        assert told[1:] == [[("-", 1, "a", moment)]]
        db.sql("CREATE OR REPLACE VIEW v AS SELECT k FROM names")
        assert told[2:] == [[("-", 2, "b", moment)], [("+", 1, moment), ("+", 2, moment)]]
    with opened(tmp_path / "tables") as db:
        db.create_table("names", pa.table({"k": [1, 2]}))
        db.sql("CREATE VIEW v AS SELECT k FROM names")
        db.view("v").sink(lambda frame, version: told.append(rows(frame)))
        db.step()
        db.sql("CREATE OR REPLACE VIEW v AS SELECT k FROM names WHERE k > 1")
        assert told[-1] == [("-", 1, None)]


def test_points_in_time_are_replaced_with_what_they_pace(db: Session, tmp_path: Path) -> None:
    db.sql("CREATE OR REPLACE VIEW every2 AS SELECT timepoint FROM clock WHERE timepoint % 3 = 0")
    with opened(tmp_path / "there") as plain:
        plain.sql(PIPELINE.replace("% 2", "% 3"))
        plain.source("s").append([(1, 1, 1), (2, 2, 2), (1, 3, 3)])
        plain.step()
        for one in (db, plain):
            one.source("s").append([(1, 5, 8)])
            one.step()
        assert everything(db)["paced"] == everything(plain)["paced"]


def test_a_renamed_view_goes_on_with_its_readers_and_sinks(db: Session, tmp_path: Path) -> None:
    told: list[Any] = []
    db.view("v").sink(lambda frame, version: told.extend(rows(frame)), name="mine")
    before, state_tables = everything(db), db.engine.manifest.state_tables
    assert str(db.sql("ALTER VIEW v RENAME TO `per key`")) == "View v is now called per key."
    assert str(db.sql("ALTER VIEW now RENAME TO later")) == "View now is now called later."
    names = {"v": "per key", "now": "later"}
    assert everything(db) == {names.get(name, name): found for name, found in before.items()}
    found = {
        ref.segment
        for state_table in db.engine.manifest.state_tables.values()
        for ref in state_table.refs
    }
    assert found == {
        ref.segment for state_table in state_tables.values() for ref in state_table.refs
    }
    views = str(db.sql("SHOW VIEWS"))
    assert "SELECT `per key`.n, count(*) AS m FROM `per key` WHERE `per key`.n > 0" in views
    assert "CREATE VIEW later START NOW AS SELECT k, n FROM `per key`" in views
    db = reopened(db)
    db.view("per key").sink(lambda frame, version: told.extend(rows(frame)), name="mine")
    db.source("s").append([(3, 3, 6)])
    db.step()
    with opened(tmp_path / "there") as plain:
        plain.sql(PIPELINE)
        plain.source("s").append([(1, 1, 1), (2, 2, 2), (1, 3, 3)])
        plain.step()
        plain.source("s").append([(3, 3, 6)])
        plain.step()
        assert everything(db) == {names.get(n, n): f for n, f in everything(plain).items()}
        assert sorted(told, key=repr) == rows(plain.view("v").changes())
    db.sql("CREATE VIEW v AS SELECT k FROM s")
    assert "is replaced" in str(db.sql("CREATE OR REPLACE VIEW w AS SELECT n FROM `per key`"))
    db.close()


def test_a_name_that_is_used_otherwise_is_not_given(db: Session) -> None:
    db.sql("CREATE VIEW aliased AS SELECT a.n FROM v AS a")
    with pytest.raises(PenstockError, match="query of view aliased uses v or a as a name of its"):
        db.sql("ALTER VIEW v RENAME TO a")
    db.sql("ALTER VIEW v RENAME TO b")
    assert "SELECT a.n FROM b AS a" in str(db.sql("SHOW VIEWS"))


def test_a_column_that_is_added(db: Session, tmp_path: Path) -> None:
    """Old rows have NULL there, whatever comes later; views are those that they were."""
    db.sql("PUNCTUATE closed WHERE k = 7")
    before, version = everything(db), db.engine.manifest.version
    db.sql("ALTER SOURCE s ADD COLUMN c STRING; ALTER SOURCE s ADD COLUMN d DECIMAL(6, 2)")
    assert "has a column c already" in str(db.sql("ALTER SOURCE s ADD COLUMN IF NOT EXISTS C INT"))
    assert db.engine.manifest.version == version + 2
    assert everything(db) == before
    db.sql("CREATE VIEW all_of_it AS SELECT k, c, d FROM s")
    source = db.source("s")
    given = db.engine.source("s").given
    old = pa.table({"k": [3], "x": [3], "t": [4]})
    pq.write_table(old, tmp_path / "old.parquet")
    pq.write_table(old.append_column("d", pa.array(["1.5"])).drop(["d"]), tmp_path / "a.parquet")
    for batch in (
        [{"k": 3, "x": 3, "t": 4, "c": "new"}, {"k": 4, "x": 4, "t": 4}],
        [(3, 3, 4), (3, 3, 4, "c"), (3, 3, 4, "c", 2)],
        old,
        old.to_pandas(),
        pd.DataFrame({"k": [3], "x": [3], "t": [4], "c": ["p"]}),
        tmp_path / "old.parquet",
        [tuple(record_of(line, given)) for line in ("3,3,4", "3,3,4,x", '{"k": 3, "t": 4}')],
    ):
        assert source.append(batch)["accepted"] > 0
    with pytest.raises(PenstockError, match="has 2 values"):
        source.append([(3, 3)])
    with pytest.raises(PenstockError, match="no column 'x'"):
        source.append(old.drop(["x"]))
    assert source.append([(7, 1, 9)]) == {"accepted": 0, "late": 0, "ungrammatical": 1}
    source.append([(9, 9, 9)])
    db.step()
    found = rows(db.view("all_of_it").snapshot())
    assert found == rows(db.sql("SELECT k, c, d FROM s").df())
    assert [row for row in found if row[0] < 3] == [
        (1, None, None),
        (1, None, None),
        (2, None, None),
    ]
    assert sum(row[1] is not None for row in found) == 5
    assert all(len(row) == 3 for row in rows(db.view("whole").snapshot()))
    db.sql("CREATE OR REPLACE VIEW w AS SELECT v.n FROM v JOIN whole ON v.k = whole.k")
    db = reopened(db)
    assert rows(db.view("all_of_it").snapshot()) == found
    assert "say" in str(
        db.sql("CREATE OR REPLACE VIEW paced AS SELECT k,x FROM latest SYNC BY every2")
    )
    db.sql("CREATE OR REPLACE VIEW whole AS SELECT * FROM s WHERE x > 1")
    assert all(len(row) == 5 for row in rows(db.view("whole").snapshot()))
    db.close()


def test_what_a_stream_says_of_its_source_is_said_of_the_new_columns_too(tmp_path: Path) -> None:
    with opened(tmp_path) as db:
        db.sql("CREATE SOURCE s (k INT, t INT) EVENT TIME t")
        db.sql("CREATE STREAM d OVER s KEY NULL PUNCTUATED BY DOMAIN (k BETWEEN 0 AND 9)")
        db.sql("PUNCTUATE s WHERE k = 3; ALTER SOURCE s ADD COLUMN c INT")
        source = db.source("s")
        assert source.append([(1, 1, 1), (3, 1), (10, 1)]) == {
            "accepted": 1,
            "late": 0,
            "ungrammatical": 2,
        }
        db = reopened(db)
        db.sql("DROP STREAM d")
        assert [words for words, _ in db.engine.manifest.punctuations["s"]] == ["<3, *, *>"]
        assert db.source("s").append([(10, 2, 1)])["accepted"] == 1
        db.close()


def test_a_column_that_what_feeds_the_source_cannot_have(db: Session, tmp_path: Path) -> None:
    """Once it were there, no file could be read any more."""
    schema, feed = pa.schema([("k", pa.int32()), ("t", pa.int32())]), StreamFeed("json")
    db.engine.define("files", SourceDefinition("files", schema, "t", feed=feed))
    version = db.engine.manifest.version
    with pytest.raises(PenstockError, match=r"(?s)choose another name.*ADD COLUMN __file") as error:
        db.sql("ALTER SOURCE files ADD COLUMN __file STRING")
    assert isinstance(error.value, PlanError)
    assert db.engine.manifest.version == version
    db.sql("ALTER SOURCE files ADD COLUMN file STRING")
    db.sql("ALTER SOURCE files ALTER COLUMN k TYPE BIGINT")


def test_a_type_that_is_widened(tmp_path: Path) -> None:
    with opened(tmp_path / "state") as db, opened(tmp_path / "there") as plain:
        text = """
            CREATE SOURCE s (k {0}, x {1}, d {2}, t INT) EVENT TIME t;
            CREATE VIEW v AS SELECT k, sum(x) AS x, max(d) AS d FROM s [RANGE 10] GROUP BY k;
            CREATE VIEW w AS SELECT k, x FROM v WHERE k > 0;
            CREATE VIEW whole AS SELECT * FROM s
        """
        db.sql(text.format("TINYINT", "FLOAT", "DECIMAL(4, 1)"))
        plain.sql(text.format("BIGINT", "DOUBLE", "DECIMAL(12, 3)"))
        batch = [(1, 1.5, 3, 1), (-2, 2.25, 5, 2), (1, None, 1, 3), (None, 8.0, None, 3)]
        for one in (db, plain):
            one.source("s").append(batch)
            one.step()
            one.source("s").append([(100, 0.5, 2, 4)])
        db.sql("ALTER SOURCE s ALTER COLUMN x TYPE DOUBLE")
        db.sql("ALTER SOURCE s ALTER COLUMN d TYPE DECIMAL(12, 3)")
        answer = str(db.sql("ALTER SOURCE s ALTER COLUMN k TYPE BIGINT"))
        assert answer == "Column k of s is now BIGINT. Built anew with it: v, w and whole."
        assert "is BIGINT already" in str(db.sql("ALTER SOURCE s ALTER COLUMN k TYPE BIGINT"))
        assert everything(db) == everything(plain)
        db = reopened(db)
        for one in (db, plain):
            one.source("s").append([(2**40, 0.1, 7, 6), (1, 0.25, 7, 7)])
            one.step()
        assert everything(db) == everything(plain)
        assert db.view("whole").plan.schema == plain.view("whole").plan.schema
        db.create_view("of a plan", db.scan("s"))
        db.sql(
            "CREATE SOURCE other (a INT CHECK (a > 0), p STRING, t INT) EVENT TIME t;"
            "CREATE STREAM marked OVER other KEY NULL PUNCTUATED BY COLUMN p"
        )
        for statement, message in {
            "ALTER SOURCE s ALTER COLUMN d TYPE DECIMAL(20, 4)": "View of a plan was made",
            "ALTER SOURCE other ALTER COLUMN a TYPE BIGINT": "was created with a CHECK",
            "ALTER SOURCE other ADD COLUMN b INT": "The rows of other hold punctuations",
        }.items():
            with pytest.raises(PenstockError, match=message):
                db.sql(statement)
        db.close()
