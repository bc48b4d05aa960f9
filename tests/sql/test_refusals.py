"""Statements that cannot be carried out: each says what is wrong, where, and what to write."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from penstock.session import Session
from tests.sql.fixtures import Case, cases
from tests.sql.refusals import FOLDER, databases, outcome

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CASES = list(cases(FOLDER))


@pytest.fixture(scope="module")
def sessions(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Session]]:
    path: Path = tmp_path_factory.mktemp("refusals")
    found = databases(spark, path)
    yield found
    for session in found.values():
        session.close()


@pytest.mark.spark
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.file}: {case.title}")
def test_refusal(case: Case, sessions: dict[str, Session]) -> None:
    assert outcome(sessions.get(case.file, sessions[""]), case.sql) == case.expected


def test_every_case_is_an_error_with_a_place() -> None:
    for case in CASES:
        assert case.expected.startswith("["), case.title
        assert "== SQL" in case.expected, case.title


def test_titles_are_unique() -> None:
    names = [(case.file, case.title) for case in CASES]
    assert len(names) == len(set(names))
