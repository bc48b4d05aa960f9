"""What the package offers to its users, without importing Spark until it is used."""

import pytest

import penstock
from penstock import errors, session
from penstock.memory import asking
from penstock.runtime import datasource

NAMES = ["PenstockError", "Session", "Source", "View", "check", "connect", "register"]


def test_the_public_names_are_these() -> None:
    assert sorted(penstock.__all__) == NAMES
    assert set(NAMES) <= set(dir(penstock))


def test_public_names_lead_home() -> None:
    assert penstock.PenstockError is errors.PenstockError
    assert penstock.Session is session.Session
    assert penstock.Source is session.Source
    assert penstock.View is session.View
    assert penstock.check is asking.check
    assert penstock.connect is session.connect
    assert penstock.register is datasource.register


def test_other_names_are_not_there() -> None:
    with pytest.raises(AttributeError, match="module 'penstock' has no attribute 'nothing'"):
        penstock.nothing  # type: ignore[attr-defined]  # noqa: B018
