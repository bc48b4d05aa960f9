"""`penstock plan`, and how `penstock run` is told to stop."""

from __future__ import annotations

import json
import signal
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

import penstock
from penstock.cli.main import main
from penstock.cli.planning import planned as planned_of
from penstock.cli.printing import errors_of
from penstock.cli.stopping import Stop
from penstock.session.pipeline import InFile
from penstock.session.rollout import Rollout
from penstock.session.session import Session
from penstock.sql import parse
from penstock.sql.statements import Query
from penstock.testing import local_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TEXT = """
CREATE SOURCE s (a INT, t INT) EVENT TIME t;
CREATE VIEW v AS SELECT a FROM s WHERE a > 1;
SELECT * FROM v;
"""


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A directory that is what the file says, and has a row."""
    (tmp_path / "p.sql").write_text(TEXT)
    with local_session(tmp_path / "state") as db:
        rollout = Rollout(db, [InFile("p.sql", one) for one in parse(TEXT)])
        for step in rollout.steps:
            rollout.carry_out(step)
        db.source("s").append([(1, 1)])
    return tmp_path / "state"


def planned(state: Path, text: str, *words: str) -> Result:
    file = state.with_name("p.sql")
    file.write_text(text)
    return CliRunner().invoke(main, ["plan", str(file), "--path", str(state), *words])


def test_nothing_to_do_is_0_and_something_is_1(state: Path) -> None:
    found = planned(state, TEXT)
    assert (found.exit_code, found.stdout) == (0, "Nothing to change.\n")
    found = planned(state, TEXT.replace("> 1", "> 2"))
    assert (found.exit_code, found.stdout) == (
        1,
        "replace  view  v  it says something else\n1 unchanged\n",
    )
    found = planned(state, TEXT.replace("(a INT", "(a BIGINT"), "--json")
    assert found.exit_code == 1
    (line,) = found.stdout.splitlines()
    assert json.loads(line)["statement"] == "ALTER SOURCE s ALTER COLUMN a TYPE BIGINT"


def test_what_would_be_lost_is_told(state: Path) -> None:
    found = planned(state, "SHOW VIEWS")
    assert found.exit_code == 1
    assert found.stdout.splitlines() == [
        "drop  view    v  p.sql does not have it any more",
        "drop  source  s  p.sql does not have it any more. This loses 1 row",
    ]
    with local_session(state) as db:
        rollout = Rollout(db, [InFile("p.sql", one) for one in parse("SHOW VIEWS")])
        with pytest.raises(Exception, match="write --allow-drop"):
            rollout.check(allow_drop=False)
        rollout.check(allow_drop=True)


def test_a_directory_may_be_in_use_or_not_there(state: Path) -> None:
    with local_session(state):
        assert planned(state, TEXT).exit_code == 0
    missing = state.with_name("missing")
    found = planned(missing, TEXT)
    assert (found.exit_code, found.stdout.splitlines()) == (
        1,
        ["create  source  s", "create  view    v"],
    )
    assert not missing.exists()


def test_errors_have_the_place_in_their_file(state: Path) -> None:
    other = state.with_name("other.sql")
    other.write_text("CREATE VIEW w AS\n  SELECT b FROM v")
    words = ["plan", str(state.with_name("p.sql")), str(other), "--path", str(state)]
    found = CliRunner().invoke(main, words)
    assert found.exit_code == 3
    assert "other.sql:2:10" in found.stderr
    told = json.loads(CliRunner().invoke(main, [*words, "--json"]).stdout)
    assert (told["file"], told["line"]) == (str(other), 2)
    found = planned(state, "-- nothing")
    assert found.exit_code == 2
    assert "has no statements" in found.stderr
    found = planned(state, f"{TEXT} DROP VIEW v")
    assert found.exit_code == 3
    assert "DROP VIEW says what to do" in found.stderr


def test_a_path_is_needed(tmp_path: Path) -> None:
    file = tmp_path / "p.sql"
    file.write_text(TEXT)
    assert CliRunner().invoke(main, ["plan", str(file)]).exit_code == 2
    found = CliRunner().invoke(main, ["run", str(file), "--allow-drop"])
    assert found.exit_code == 2
    assert "--path DIR --allow-drop" in found.stderr


RICH = """
CREATE SOURCE s (a INT NOT NULL CHECK (a > 0), d DECIMAL(12, 2), x ARRAY<INT>, at TIMESTAMP)
  USING csv OPTIONS (path '{folder}', HEADER 'true') EVENT TIME at DELAY INTERVAL 5 SECONDS
  LATE DROP ON ERROR DROP RATE 5 PER SECOND;
CREATE STREAM k OVER s KEY (a) PUNCTUATED BY DOMAIN (a BETWEEN 1 AND 9), BY ORDER (a);
CREATE TABLE names (a INT, name STRING) USING csv OPTIONS (path '{folder}', header 'true');
CREATE TABLE more USING csv OPTIONS (path '{folder}', header 'true');
CREATE VIEW bounds AS SELECT * FROM VALUES (1, 'one'), (2, 'two') AS t (a, word);
CREATE VIEW latest AS SELECT s.a, sum(d) AS d, max(upper(name)) AS name
  FROM s [RANGE 1 HOUR] JOIN names ON s.a = names.a WHERE date_trunc('DAY', at) > DATE '2026-01-01'
  GROUP BY s.a;
CREATE VIEW hourly AS SELECT window(at, '1 hour').start AS h, count(*) AS n
  FROM s GROUP BY window(at, '1 hour');
"""


@pytest.mark.spark
def test_what_spark_has_made_is_the_same_without_it(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The examples, and types, options and promises of all kinds."""
    root = Path(__file__).parents[2]
    monkeypatch.chdir(root)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.csv").write_text("a,name\n1,x\n")
    texts = [file.read_text("utf-8") for file in sorted((root / "examples").glob("*.sql"))]
    started = []
    for number, text in enumerate([*texts, RICH.format(folder=tmp_path / "in")]):
        statements = [InFile("p.sql", one) for one in parse(text) if not isinstance(one, Query)]
        state = tmp_path / str(number)
        with penstock.connect(state, spark=spark) as db:
            rollout = Rollout(db, statements)
            for step in rollout.steps:
                rollout.carry_out(step)
            assert Rollout(db, statements).plan.is_empty

            def start(db: Session = db, text: str = text) -> AbstractContextManager[Session]:
                started.append(text)
                return nullcontext(db)

            found = planned_of(statements, state, start)
            assert found.is_empty, found
    assert len(started) <= 3


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_waits_for_a_step_and_the_next_one_does_not(number: signal.Signals) -> None:
    before = signal.getsignal(signal.SIGINT)
    with Stop().heeded() as stop, stop.after_a_step():
        assert not stop.asked
        signal.raise_signal(number)
        assert stop.asked
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_before_the_first_step_only_sigterm_is_a_good_end(
    number: signal.Signals, code: int
) -> None:
    with pytest.raises(SystemExit) as ended, Stop().heeded(), errors_of():
        signal.raise_signal(number)
    assert ended.value.code == code
