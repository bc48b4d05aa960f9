"""Memory verdicts on plans: what the theory decides, what windows bound, and what neither does."""

import pyarrow as pa
import pytest

from penstock.algebra import plan as p
from penstock.algebra.aggregates import AggregateCall
from penstock.algebra.expr import Column, Expr, Literal, compare, conjunction
from penstock.cli.checking import Outcome, checked

INT = pa.int64()


def stream(name: str, *columns: str) -> p.Scan:
    schema = pa.schema([(column, INT) for column in (*columns, f"{name}_t")])
    return p.Scan(name, schema, append_only=True, time=f"{name}_t")


def between(column: str, low: int, high: int) -> Expr:
    own = Column(column, INT)
    tests = compare(">=", own, Literal(low, INT)), compare("<=", own, Literal(high, INT))
    return conjunction(tests)


S, R = stream("s", "a", "b"), stream("r", "c", "d")
PAIRS = p.Join(S, R, "inner", (p.Equality("b", "c"),))


def test_a_selection_is_bounded() -> None:
    assert checked("q", p.project(S, ["a"])).outcome is Outcome.BOUNDED


def test_a_join_without_bounds_is_not() -> None:
    found = checked("q", p.project(PAIRS, ["a"]))
    assert found.unbounded
    assert "s.b has no bounds and is matched by r.c = s.b" in str(found)
    assert "bounds in WHERE: s.a BETWEEN low AND high" in str(found)
    assert "a window: FROM s [RANGE ...]" in str(found)


def test_bounds_repair_it() -> None:
    bounded = p.Filter(PAIRS, conjunction((between("b", 1, 9), between("a", 0, 5))))
    assert checked("q", p.project(bounded, ["a"])).outcome is Outcome.BOUNDED


def test_windows_repair_it() -> None:
    windows = p.Window(S, "sliding", 10), p.Window(R, "sliding", 10)
    joined = p.Join(*windows, "inner", (p.Equality("b", "c"),))
    assert checked("q", joined).outcome is Outcome.WINDOWED


def test_a_window_on_one_side_does_not() -> None:
    joined = p.Join(p.Window(S, "sliding", 10), R, "inner", (p.Equality("b", "c"),))
    assert checked("q", joined).outcome is Outcome.UNDECIDED


@pytest.mark.parametrize(("keys", "outcome"), [((), Outcome.BOUNDED), (("a",), Outcome.UNBOUNDED)])
def test_aggregates(keys: tuple[str, ...], outcome: Outcome) -> None:
    plan = p.Aggregate(S, keys, (AggregateCall("max", ("b",), "high"),))
    assert checked("q", plan).outcome is outcome
    assert checked("q", p.project(p.project(plan, ["high"]), ["high"])).outcome is outcome


def test_what_is_beyond_the_check_is_said() -> None:
    keyed = checked("q", p.Upsert(S, ("a",)))
    assert keyed.outcome is Outcome.UNDECIDED
    assert "The latest row of each (a) is kept" in str(keyed)
    doubled = p.Filter(S, compare("=", Column("a", INT), Column("b", INT)))
    assert checked("q", doubled).outcome is Outcome.BOUNDED
