"""The walks in docs/architecture.md are those of the code; `python -m docs.walks` writes them."""

import pytest

from docs.walks import (
    COUNTED,
    OUTLINE,
    PACKAGE,
    ROOMS,
    SLACK,
    WALKS,
    Walk,
    grown,
    measured,
    outline,
    part,
    rooms,
    written,
)

HOW = "python -m docs.walks"


@pytest.fixture(scope="module")
def walks() -> dict[str, Walk]:
    return measured()


def test_no_walk_has_grown(walks: dict[str, Walk]) -> None:
    assert not grown(written(), walks)


@pytest.mark.parametrize("name", WALKS)
def test_the_page_is_up_to_date(name: str, walks: dict[str, Walk]) -> None:
    page, code = written()[name], walks[name]
    assert list(page.rooms) == list(code.rooms), HOW
    assert len(page.files) <= len(code.files) + SLACK, HOW
    assert not [file for file in page.files if not (PACKAGE / file).exists()], HOW


def test_the_rooms_are_up_to_date(walks: dict[str, Walk]) -> None:
    assert part(ROOMS) == rooms(walks), HOW


def test_what_is_counted_happens(walks: dict[str, Walk]) -> None:
    statement, *_ = walks.values()
    assert set(statement.counts) == set(COUNTED)
    assert all(statement.counts.values())


def test_longer_walks_are_found() -> None:
    short = {"call": Walk(["a/b.py"], {"rewritten": 1}), "row": Walk(["a/b.py"], {"rewritten": 0})}
    long = {
        "call": Walk(["a/b.py", "a/c.py"], {"rewritten": 2}),
        "row": Walk(["a/c.py"], {"rewritten": 0}),
    }
    assert grown(short, long) == [
        "call walks through 2 files, not 1: a/c.py",
        "call: a plan is rewritten 2 times, not 1",
    ]
    assert not grown(long, short)


def test_the_page_is_read_as_it_is_written() -> None:
    assert outline(written()) == part(OUTLINE)
