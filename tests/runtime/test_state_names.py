"""The log names the state that a view needs: where it is not there, nothing counts from nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.errors import StateError
from penstock.output.definitions import compiler_of
from penstock.physical.lower import Graph
from penstock.runtime.state_names import brought_up_to_date
from penstock.session import Session
from penstock.state.log import Log
from penstock.state.manifest import Action, Dropped, Founded, Manifest, StateTableRuns
from penstock.testing import local_session


def opened(directory: Path) -> Session:
    return local_session(directory)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    db = opened(tmp_path)
    db.sql("CREATE SOURCE s (k BIGINT, t BIGINT) EVENT TIME t")
    db.sql("CREATE VIEW v AS SELECT k, count(*) AS n FROM s GROUP BY k")
    db.sql("CREATE VIEW w AS SELECT k FROM s WHERE k > 1")
    db.source("s").append([(1, 1), (2, 2)])
    db.step()
    db.close()
    return tmp_path


def manifest_of(directory: Path, *actions: Action) -> Manifest:
    """As of a log that says some more."""
    log = Log(directory / "log")
    if actions:
        log.commit(actions)
    log.close()
    return log.manifest


def groups(manifest: Manifest) -> str:
    return next(
        state_table for state_table, operator in manifest.needs["v"].items() if operator == "groups"
    )


def test_every_state_table_of_a_view_is_named_and_there(directory: Path) -> None:
    manifest = manifest_of(directory)
    assert manifest.needs.keys() == {"v", "w"}
    assert set().union(*manifest.needs.values()) <= manifest.state_tables.keys()
    db = opened(directory)
    assert db.engine.program.specs().keys() == set().union(*manifest.needs.values())
    db.sql("DROP VIEW v")
    assert db.engine.manifest.needs.keys() == {"w"}
    db.close()
    opened(directory).close()


def test_an_state_table_that_is_not_there_is_an_error(directory: Path) -> None:
    state_table = groups(manifest_of(directory))
    manifest_of(directory, Dropped("nothing", (state_table,)))
    for _ in range(2):  # and the directory is not left locked
        with pytest.raises(StateError, match=f"{state_table}.* of view 'v' is not there"):
            opened(directory)


def test_kept_rows_that_are_not_there_are_an_error(directory: Path) -> None:
    manifest_of(directory, Dropped("nothing", ("input s",)))
    with pytest.raises(StateError, match="state table 'input s' of source 's' is not there"):
        opened(directory)


@pytest.mark.parametrize("operator", ["groups/2", "teleporter"])
def test_an_operator_that_is_not_known_is_named(operator: str, directory: Path) -> None:
    manifest = manifest_of(directory)
    needs = {**manifest.needs["v"], groups(manifest): operator}
    manifest_of(directory, Founded("v", needs))
    with pytest.raises(StateError, match=f"view 'v' needs the operator '{operator}'"):
        opened(directory)


def test_state_of_another_way_to_run_a_view_is_refused(directory: Path) -> None:
    needs = manifest_of(directory).needs["v"]
    manifest_of(directory, Founded("v", {**needs, "inner join 0123/left": "inner join"}))
    with pytest.raises(
        StateError, match="no use for state table 'inner join 0123/left' of view 'v'"
    ):
        opened(directory)
    state_table = groups(manifest_of(directory))
    rest = {name: operator for name, operator in needs.items() if name != state_table}
    manifest_of(directory, Founded("v", rest))
    with pytest.raises(StateError, match=f"needs '{state_table}'"):
        opened(directory)


def test_an_state_table_of_layout_2_that_has_no_name_now_is_refused(directory: Path) -> None:
    db = opened(directory)
    engine, graph = db.engine, Graph()
    compiler = compiler_of(engine.views, graph)
    for state_tables, unknown in (
        ({"lane 0123456789abcdef0123": StateTableRuns()}, "lane 0123456789abcdef0123"),
        ({"GroupAggregate 0123456789abcdef0123/groups": StateTableRuns()}, "GroupAggregate"),
        (
            {"view v": StateTableRuns(), "input s": StateTableRuns(), "late s": StateTableRuns()},
            None,
        ),
    ):
        old = Manifest(layout=2, state_tables=state_tables)
        if unknown is None:
            assert list(brought_up_to_date(directory, old, engine.views, compiler, graph))
        else:
            with pytest.raises(StateError, match=unknown):
                list(brought_up_to_date(directory, old, engine.views, compiler, graph))
    db.close()
