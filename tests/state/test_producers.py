"""Numbers of batches: a set that is remembered in few ranges."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import PlanError
from penstock.state.producers import BatchId, BatchNumbers


def received(numbers: list[int]) -> BatchNumbers:
    seen = BatchNumbers()
    for number in numbers:
        if seen.has(number) is False:
            seen = seen.add(number)
    return seen


@given(st.lists(st.integers(0, 40)))
def test_a_number_is_there_if_it_was_added(numbers: list[int]) -> None:
    seen = received(numbers)
    assert [n for n in range(42) if seen.has(n)] == sorted(set(numbers))
    assert all(a[1] + 1 < b[0] for a, b in zip(seen.ranges, seen.ranges[1:], strict=False))


def test_numbers_without_gaps_are_one_range() -> None:
    assert received(list(range(1, 10_000))).ranges == ((1, 9_999),)


@given(st.permutations(range(0, 400, 2)))
def test_what_is_remembered_is_bounded_and_never_guessed(numbers: list[int]) -> None:
    seen, accepted = BatchNumbers(), set[int]()
    for number in numbers:
        known = seen.has(number)
        assert known is None or known is (number in accepted)
        if known is False:
            seen, accepted = seen.add(number), accepted | {number}
        assert len(seen.ranges) <= 64
    for number in range(400):
        assert seen.has(number) in (None, number in accepted)
    assert seen.has(max(accepted)) is True


@pytest.mark.parametrize(
    ("text", "producer", "number"),
    [("p/1", "p", 1), ("producer-7/000123", "producer-7", 123), ("a/b/0", "a/b", 0)],
)
def test_an_id_is_a_producer_and_a_number(text: str, producer: str, number: int) -> None:
    assert BatchId.parse(text) == BatchId(producer, number)


@pytest.mark.parametrize(
    "text",
    ["", "p", "/1", "p/", "p/-1", "p/1.5", "p/x", "p/\u0661", "p" * 300 + "/1", 17, None, b"p/1"],
)
def test_what_is_no_id_is_refused(text: object) -> None:
    with pytest.raises(PlanError, match="loader-1/17"):
        BatchId.parse(text)
