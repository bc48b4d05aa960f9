"""A pipeline file, compared with a state directory and carried out; without Spark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import penstock
from penstock.session.changes import Drop, PipelinePlan, Refused
from penstock.session.pipeline import InFile
from penstock.session.rollout import Rollout
from penstock.sql import parse
from penstock.state import log
from penstock.testing import local_session

BASE = """
CREATE SOURCE s (a INT, b STRING, t INT) EVENT TIME t;
CREATE STREAM k OVER s KEY (a);
CREATE VIEW u AS SELECT a, b FROM k WHERE a > 1;
CREATE VIEW v AS SELECT a, count(*) AS n FROM u GROUP BY a;
"""


@pytest.fixture
def db(tmp_path: Path) -> Iterator[penstock.Session]:
    with local_session(tmp_path / "state") as session:
        yield session


def carried_out(
    db: penstock.Session, text: str, file: str = "p.sql", allow_drop: bool = False
) -> PipelinePlan:
    rollout = Rollout(db, [InFile(file, statement) for statement in parse(text)])
    rollout.check(allow_drop)
    for step in rollout.steps:
        rollout.carry_out(step)
    return rollout.plan


def told(plan: PipelinePlan) -> list[str]:
    return [f"{change.action} {change.name}" for change in plan if change.action != "unchanged"]


def test_the_same_again_is_nothing_to_do(db: penstock.Session) -> None:
    assert told(carried_out(db, BASE)) == ["create s", "create k", "create u", "create v"]
    version = db.engine.manifest.version
    plan = carried_out(db, BASE)
    assert plan.is_empty
    assert str(plan) == "Nothing to change."
    assert db.engine.manifest.version == version


@pytest.mark.parametrize(
    "text",
    [
        BASE.replace("\n", "  \n -- a comment\n"),
        BASE.lower(),
        BASE.replace("INT", "INTEGER").replace("CREATE VIEW", "CREATE MATERIALIZED VIEW"),
        BASE.replace("FROM k WHERE a > 1", "FROM k AS other WHERE other.a > 1"),
        BASE.replace("SELECT a, b FROM k WHERE a > 1", "SELECT * EXCEPT (t) FROM k WHERE (a > 1)"),
        BASE.replace("CREATE ", "CREATE ").replace("CREATE VIEW u", "CREATE OR REPLACE VIEW u"),
        BASE.replace("CREATE VIEW", "CREATE VIEW IF NOT EXISTS"),
    ],
)
def test_sameness_is_of_meaning(db: penstock.Session, text: str) -> None:
    carried_out(db, BASE)
    assert told(carried_out(db, text)) == []


def test_what_the_file_does_not_have_any_more_is_dropped(db: penstock.Session) -> None:
    carried_out(db, BASE)
    db.sql("CREATE VIEW by_hand AS SELECT a FROM s")
    plan = carried_out(db, "CREATE SOURCE s (a INT, b STRING, t INT) EVENT TIME t")
    assert told(plan) == ["drop v", "drop u", "drop k"]
    assert [*db.engine.definitions] == ["s", "by_hand"]
    assert [*db.engine.manifest.declared] == ["s"]


def test_another_file_takes_nothing_away(db: penstock.Session) -> None:
    carried_out(db, BASE, "one.sql")
    assert told(carried_out(db, "CREATE VIEW w AS SELECT a FROM v", "two.sql")) == ["create w"]
    assert told(carried_out(db, BASE, "one.sql")) == []
    # a file may go on as another: what it declares is its own from then on
    carried_out(db, BASE, "three.sql")
    shorter = BASE[: BASE.index("CREATE VIEW v")]
    assert told(carried_out(db, shorter, "one.sql")) == []
    with pytest.raises(penstock.PlanError, match=r"w, which is from two.sql, reads it"):
        carried_out(db, shorter, "three.sql")
    carried_out(db, "SHOW VIEWS", "two.sql")
    assert told(carried_out(db, shorter, "three.sql")) == ["drop v"]


def test_rows_are_dropped_only_where_that_is_meant(db: penstock.Session) -> None:
    carried_out(db, BASE)
    db.source("s").append([(1, "x", 1), (2, "y", 2)])
    with pytest.raises(penstock.PlanError, match=r"2 rows.*--allow-drop. Nothing was changed"):
        carried_out(db, "SHOW VIEWS")
    assert [*db.engine.definitions] == ["s", "k", "u", "v"]
    plan = db.plan("SHOW VIEWS", file="p.sql")
    assert [c.cost for c in plan if isinstance(c, Drop)] == ["", "", "", "2 rows"]
    assert "source  s  p.sql does not have it any more. This loses 2 rows" in str(plan)
    assert told(carried_out(db, "SHOW VIEWS", allow_drop=True))[-1] == "drop s"
    assert not db.engine.definitions


def test_a_stream_is_made_anew_with_all_that_reads_it(db: penstock.Session) -> None:
    carried_out(db, BASE)
    db.source("s").append([(2, "x", 1), (2, "y", 2)])
    db.source("s").advance(5)
    db.step()
    assert db.view("v").snapshot().toArrow().to_pylist() == [{"a": 2, "n": 1}]
    plan = carried_out(db, BASE.replace("KEY (a)", "KEY NULL"))
    assert told(plan) == ["drop v", "drop u", "drop k", "create k", "create u", "create v"]
    assert plan.changes[0].reason == "it reads u, which is made anew"
    assert db.view("v").snapshot().toArrow().to_pylist() == [{"a": 2, "n": 2}]


def test_a_source_goes_on_or_is_made_anew(db: penstock.Session) -> None:
    carried_out(db, BASE)
    more = BASE.replace("b STRING, t", "b STRING, c INT, t").replace("a INT", "a BIGINT")
    plan = db.plan(more, file="p.sql")
    assert [c.statement for c in plan if c.action == "alter"] == [
        "ALTER SOURCE s ALTER COLUMN a TYPE BIGINT",
        "ALTER SOURCE s ADD COLUMN c INT",
    ]
    db.source("s").append([(2, "x", 1)])
    later = BASE.replace("EVENT TIME t", "EVENT TIME t DELAY 5")
    with pytest.raises(penstock.PlanError, match="1 row, because its delay is changed"):
        carried_out(db, later)
    plan = carried_out(db, later, allow_drop=True)
    assert told(plan)[-5:] == ["drop s", "create s", "create k", "create u", "create v"]
    assert db.engine.source("s").delay == 5


def test_a_view_is_replaced_with_those_that_read_it(db: penstock.Session) -> None:
    carried_out(db, BASE)
    db.source("s").append([(1, "x", 1), (2, "y", 2), (2, "z", 3)])
    db.source("s").advance(5)
    db.step()
    text = BASE.replace("a > 1", "a > 0")
    plan = carried_out(db, text)
    assert [(c.action, c.name, c.reason) for c in plan if c.action != "unchanged"] == [
        ("replace", "u", "it says something else"),
        ("replace", "v", "it reads u, which says something else"),
    ]
    found = db.view("v").snapshot().toArrow().to_pylist()
    assert sorted(row["a"] for row in found) == [1, 2]
    version = db.engine.manifest.version
    assert told(carried_out(db, text)) == []
    assert db.engine.manifest.version == version
    assert db.engine.manifest.declared["u"].statement.endswith("a > 0")


def test_a_view_that_cannot_read_the_new_one_makes_room_for_it(db: penstock.Session) -> None:
    carried_out(db, BASE)
    db.source("s").append([(2, "y", 2), (2, "z", 3)])
    db.source("s").advance(5)
    db.step()
    text = BASE.replace("SELECT a, b FROM", "SELECT b AS c FROM").replace(
        "a, count(*) AS n FROM u GROUP BY a", "c, count(*) AS n FROM u GROUP BY c"
    )
    plan = carried_out(db, text)
    assert told(plan) == ["drop v", "replace u", "create v"]
    assert plan.changes[0].reason == "it reads u, which says something else"
    assert db.view("v").snapshot().toArrow().to_pylist() == [{"c": "z", "n": 1}]
    assert told(carried_out(db, text)) == []


def test_columns_that_come_are_those_of_a_star_of_the_file(db: penstock.Session) -> None:
    text = f"{BASE} CREATE VIEW w AS SELECT * FROM s; CREATE VIEW x AS SELECT a, c FROM w"
    plain = text.replace(", c FROM w", " FROM w")
    carried_out(db, plain)
    db.source("s").append([(2, "y", 2)])
    more = text.replace("b STRING, t", "b STRING, c INT, t").replace("(a INT", "(a BIGINT")
    plan = carried_out(db, more)
    assert told(plan) == ["alter s", "alter s", "replace w", "replace x"]
    db.source("s").append([(3, "z", 5, 7)])
    db.source("s").advance(9)
    db.step()
    found = db.view("x").snapshot().toArrow().to_pylist()
    assert sorted(map(str, found)) == ["{'a': 2, 'c': None}", "{'a': 3, 'c': 7}"]
    assert told(carried_out(db, more)) == []
    assert told(carried_out(db, more.replace("b STRING, c INT", "c INT, b STRING"))) == []
    # a column cannot become narrower, and none can be taken away
    for less in (more.replace("BIGINT", "INT"), more.replace("b STRING, ", "").replace(", b", "")):
        assert told(db.plan(less, file="p.sql"))[-6] == "create s"


def test_a_name_may_be_another_kind_of_thing(db: penstock.Session) -> None:
    carried_out(db, BASE)
    text = BASE.replace("CREATE STREAM k OVER s KEY (a)", "CREATE VIEW k AS SELECT * FROM s")
    plan = carried_out(db, text)
    assert told(plan)[2:4] == ["drop k", "create k"]
    assert plan.changes[2].reason == "it was a stream and is a view"


def test_points_in_time(db: penstock.Session) -> None:
    text = "CREATE VIEW every AS SELECT timepoint FROM clock WHERE timepoint % 4 = 0;"
    carried_out(db, f"{BASE} {text} CREATE VIEW w AS SELECT a FROM s SYNC BY every")
    plan = db.plan(
        f"{BASE} {text.replace('4', '2')} CREATE VIEW w AS SELECT a FROM s SYNC BY every",
        file="p.sql",
    )
    assert told(plan) == ["replace every", "replace w"]


def test_a_statement_sees_what_stands_before_it(db: penstock.Session) -> None:
    carried_out(db, BASE)
    lines = BASE.strip().split("\n")
    with pytest.raises(penstock.UnknownNameError, match=r"no .* u"):
        db.plan("\n".join([*lines[:2], lines[3], lines[2]]), file="p.sql")
    with pytest.raises(penstock.PlanError, match="u is declared twice"):
        db.plan(f"{BASE} {lines[2]}")


@pytest.mark.parametrize("text", ["DROP VIEW v", "ALTER VIEW v RESUME"])
def test_what_says_what_to_do_is_no_declaration(db: penstock.Session, text: str) -> None:
    with pytest.raises(penstock.UnsupportedError, match="says what there is") as error:
        db.plan(f"{BASE} {text}")
    assert error.value.getQueryContext()[0].fragment() == text


def test_a_punctuation_is_said_once(db: penstock.Session) -> None:
    text = f"{BASE} PUNCTUATE k WHERE a = 7"
    carried_out(db, text)
    version = db.engine.manifest.version
    said = db.engine.manifest.punctuations
    carried_out(db, text.replace("PUNCTUATE k", "punctuate  k"))
    assert db.engine.manifest.version == version
    carried_out(db, f"{text}; PUNCTUATE s WHERE a = 8")
    assert len(db.engine.manifest.punctuations["s"]) == len(said["s"]) + 1
    assert db.source("s").append([(7, "x", 9)])["accepted"] == 0


def test_what_is_made_in_python_is_compared_too(db: penstock.Session) -> None:
    columns = pa.schema([("a", pa.int32()), ("b", pa.string()), ("t", pa.int32())])
    db.create_source("s", columns, "t")
    db.create_view("u", db.scan("s"))
    text = "CREATE SOURCE s (a INT, b STRING, t INT) EVENT TIME t; CREATE VIEW u AS SELECT "
    assert told(db.plan(f"{text} * FROM s")) == []
    assert told(db.plan(f"{text} a FROM s")) == ["replace u"]
    assert told(db.plan("SHOW VIEWS")) == []


def test_what_something_else_still_reads_is_not_dropped(db: penstock.Session) -> None:
    carried_out(db, f"{BASE} CREATE VIEW w AS SELECT a FROM v")
    lines = BASE.strip().split("\n")
    with pytest.raises(penstock.PlanError, match=r"View v cannot .* w, which is from p.sql"):
        carried_out(db, "\n".join([*lines[:3], "CREATE VIEW IF NOT EXISTS w AS SELECT a FROM u"]))
    db.create_view("x", db.scan("s"))
    with pytest.raises(penstock.PlanError, match="x, which is from no pipeline file"):
        carried_out(db, "SHOW VIEWS")
    assert [*db.engine.definitions] == ["s", "k", "u", "v", "w", "x"]


def test_a_view_that_was_renamed_is_that_of_the_file(db: penstock.Session) -> None:
    carried_out(db, BASE)
    db.sql("ALTER VIEW v RENAME TO w")
    assert told(db.plan(BASE.replace("VIEW v", "VIEW w"), file="p.sql")) == []
    assert told(carried_out(db, BASE)) == ["create v", "drop w"]


def test_what_is_wrong_with_a_file_changes_nothing(db: penstock.Session) -> None:
    carried_out(db, BASE)
    version = db.engine.manifest.version
    with pytest.raises(penstock.UnknownNameError) as error:
        carried_out(db, f"CREATE VIEW early AS SELECT a FROM s; {BASE}")
    assert error.value.getQueryContext()[0].fragment() == "s"
    assert db.engine.manifest.version == version


def test_a_plan_can_be_told_as_json(db: penstock.Session) -> None:
    (change, *_) = db.plan(BASE)
    assert change.to_json() == {
        "change": "create",
        "kind": "source",
        "name": "s",
        "reason": "",
        "statement": "CREATE SOURCE s (a INT, b STRING, t INT) EVENT TIME t",
    }
    assert not any(isinstance(change, Refused) for change in db.plan(BASE))


class KilledError(BaseException):
    """What no code expects."""


CHANGED = """
CREATE SOURCE s (a BIGINT, b STRING, c INT, t INT) EVENT TIME t;
CREATE STREAM k OVER s KEY NULL;
CREATE STREAM l OVER s KEY (b);
CREATE VIEW u AS SELECT a, c FROM k WHERE a > 1;
CREATE VIEW w AS SELECT * FROM s;
PUNCTUATE s WHERE a = 7;
CREATE VIEW z AS SELECT b, a FROM l;
"""


def test_whoever_is_killed_in_the_middle_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After every commit, on an empty directory and where all there is changes."""
    first = f"{BASE} CREATE VIEW w AS SELECT * FROM s WHERE a > 5"
    ends = {}
    for kills in (0, 1):
        path, survived = tmp_path / str(kills), 0
        for text in (first, CHANGED):
            survived += _carried_out_at_last(path, text, kills, monkeypatch)
        assert survived > 12 or not kills
        with local_session(path) as db:
            found = [db.view(view).changes().toArrow().to_pylist() for view in db.engine.views]
            declared = {name: one.file for name, one in db.engine.manifest.declared.items()}
            said = db.engine.manifest.once
            ends[kills] = ([*db.engine.definitions], declared, said, found)
    assert ends[0] == ends[1]


def _carried_out_at_last(path: Path, text: str, kills: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """How often it was killed, each time after one more commit; rows come in the end."""
    survived = 0
    while True:
        db = local_session(path)
        version, commit = db.engine.manifest.version, log.Log.commit

        def killing(self: log.Log, *actions: Any, made: Any = commit, **more: Any) -> Any:
            made(self, *actions, **more)
            raise KilledError

        try:
            with monkeypatch.context() as patched:
                if kills:
                    patched.setattr(log.Log, "commit", killing)
                carried_out(db, text)
            break
        except KilledError:
            survived += 1
            assert db.engine.manifest.version == version + 1
        finally:
            db.close()
    with local_session(path) as db:
        last = len(db.engine.source("s").schema) == 4
        rows: list[Any] = [(2, "x", 11, 1), (3, "y", 12, 2)] if last else [(2, "x", 1), (3, "y", 2)]
        db.source("s").append(rows)
        db.source("s").advance(rows[-1][2] + 3)
        db.step()
    return survived
