"""Which queries are answered from a view and how, by example; and that the answers are right."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from penstock.session import Session
from tests.sharing.cases import Case, cases, opened, random_rows

pytestmark = pytest.mark.long

CASES = list(cases())


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with opened(tmp_path_factory.mktemp("cases")) as session:
        yield session


@pytest.mark.parametrize("case", CASES, ids=str)
def test_case(case: Case, db: Session) -> None:
    db.sql(case.view)
    try:
        assert str(db.sql(f"EXPLAIN SHARING {case.query}")) == case.told
    finally:
        db.drop(case.name)


def test_there_are_matches_and_misses() -> None:
    matches = sum(case.is_match for case in CASES)
    assert matches >= 40
    assert len(CASES) - matches >= 40


def changes(db: Session, view: str) -> list[tuple[Any, ...]]:
    table = db.view(view).changes().toArrow()
    return sorted(zip(*(c.to_pylist() for c in table.columns), strict=True), key=repr)


@pytest.mark.parametrize("file", sorted({case.file for case in CASES}))
def test_differential_shared_or_apart(file: str, tmp_path: Path) -> None:
    """All views of a file and all queries, which are answered from any of them."""
    mine = [case for case in CASES if case.file == file]
    rows = random_rows(Random(file), 40)
    found = []
    for sharing in (True, False):
        with opened(tmp_path / str(sharing), sharing) as db:
            for number, case in enumerate(mine):
                db.sql(case.view.replace(case.name, f"view{number}", 1))
                db.sql(f"CREATE VIEW query{number} AS {case.query}")
            for end in (7, 13, 20):
                for source, listed in rows.items():
                    db.source(source).append([row for row in listed if end - 7 <= row[-1] < end])
                db.step()
            for source in rows:
                db.source(source).end()
            db.step()
            found.append([changes(db, f"query{number}") for number in range(len(mine))])
    for case, shared, apart in zip(mine, *found, strict=True):
        assert shared == apart, case
    assert any(found[0])
