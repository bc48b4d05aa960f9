"""The verdicts of the fixture files; every repair that they offer is one."""

import pytest

from tests.memory.verdict_cases import Case, cases, verdict

CASES = list(cases())


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.file}: {case.title}")
def test_prints_the_verdict(case: Case) -> None:
    assert str(verdict(case.sql)) == case.expected


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.file}: {case.title}")
def test_every_repair_is_bounded(case: Case) -> None:
    found = verdict(case.sql)
    assert found.bounded or found.repairs
    for repair in found.repairs:
        assert verdict(repair).bounded


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 30
    assert any(verdict(case.sql).bounded for case in CASES)
