"""Formulas of sizes stay short, however plans are put together."""

from __future__ import annotations

from penstock.algebra import sizes


def test_a_formula_is_multiplied_out() -> None:
    a, b = sizes.of("rows of a"), sizes.of("values of b", 3)
    times = f" {sizes.TIMES} 3 values of b"
    assert str(a.plus(b).times(b)) == f"rows of a{times} + 3 values of b{times}"


def test_a_formula_that_doubles_is_given_up_for_its_number() -> None:
    found = sizes.of("values of a", 2).plus(sizes.ONE)
    for _ in range(10):
        found = found.times(found)
    assert found.number == 3**1024
    assert found.factors <= 256


def test_a_formula_that_doubles_without_a_number_is_still_one() -> None:
    found = sizes.of("rows of a").plus(sizes.of("rows of b"))
    for _ in range(30):
        found = found.plus(found.times(found))
    assert found.number is None
    assert "rows of many joins" in str(found)
