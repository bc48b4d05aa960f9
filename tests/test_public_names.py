"""What the package offers to its users, without importing Spark until it is used."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import penstock
from penstock import directory, errors, punctuation, session, testing
from penstock.memory import api
from penstock.output import datasource

ROOT = Path(__file__).parents[1]


def test_the_public_names_are_the_documented_ones() -> None:
    page = (ROOT / "docs" / "python.md").read_text("utf-8")
    documented = re.findall(r"^\| `penstock\.(\w+)", page, re.MULTILINE)
    assert sorted(documented) == sorted(penstock.__all__)
    assert set(penstock.__all__) <= set(dir(penstock))


def test_the_names_for_tests_are_the_documented_ones() -> None:
    page = (ROOT / "docs" / "testing.md").read_text("utf-8")
    rows = [row.split("|")[1] for row in re.findall(r"^\| `penstock.*", page, re.MULTILINE)]
    documented = re.findall(r"`(?:penstock\.testing\.)?(\w+)", " ".join(rows))
    assert sorted(documented) == sorted(testing.__all__)


@pytest.mark.parametrize("name", penstock.__all__)
def test_public_names_lead_home(name: str) -> None:
    rooms = (errors, session, datasource, api, punctuation, directory)
    homes = [home for home in rooms if hasattr(home, name)]
    assert getattr(penstock, name) in [getattr(home, name) for home in homes]


def test_every_error_is_public() -> None:
    kinds = [n for n, v in vars(errors).items() if isinstance(v, type) and n.endswith("Error")]
    assert set(kinds) <= set(penstock.__all__)


def test_other_names_are_not_there() -> None:
    with pytest.raises(AttributeError, match="module 'penstock' has no attribute 'nothing'"):
        penstock.nothing  # type: ignore[attr-defined]  # noqa: B018


PROJECT = """
from pathlib import Path
from random import Random

import penstock
from penstock.testing import KILL, STEP, Rows, Script, local_session, random_rows


def hottest(path: str) -> list[dict[str, object]]:
    with penstock.connect(path, tasks=2) as db:
        db.sql("CREATE SOURCE temps (room STRING, temp INT, t INT) EVENT TIME t")

        @penstock.view(db)
        def hot() -> str:
            return "SELECT room, temp FROM temps WHERE temp > 80"

        db.source("temps").append([("a", 90, 1)])
        db.step()
        view: penstock.View = hot
        view.snapshot().show()
        try:
            result: penstock.Result = db.sql("SELECT * FROM hot")
        except penstock.ParseError as error:
            print(error.getCondition())
            raise
        return list(result)


def test_of_mine(tmp_path: Path) -> None:
    pipeline = "CREATE SOURCE temps (room STRING, temp INT, t INT) EVENT TIME t"
    rows = random_rows(Random(1), "room STRING, temp INT, t INT", time="t")
    script = Script(pipeline, [Rows("temps", rows), KILL, STEP])
    assert script.run(tmp_path / "a") == script.without_kills().run(tmp_path / "b")
    with local_session(tmp_path / "c") as db:
        verdict = penstock.check("SELECT DISTINCT x FROM s", {"s": "x INT"})
        reasons: tuple[str, ...] = verdict.reasons
        print(db.sql(pipeline), verdict.bounded, reasons)
"""


@pytest.mark.long
def test_a_project_of_a_user_is_type_checked(tmp_path: Path) -> None:
    (tmp_path / "project.py").write_text(PROJECT)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "project.py"],
        cwd=tmp_path,
        env={"MYPYPATH": str(ROOT / "src"), "PATH": ""},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
