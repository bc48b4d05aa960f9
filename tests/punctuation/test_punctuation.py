"""Punctuations of the paper's two examples."""

from typing import Any

import pyarrow as pa
import pytest

from penstock.errors import PlanError
from penstock.punctuation import ANY, NONE, Constant, Punctuation, Range, ValueList, between

BIDS = pa.schema([("itemid", pa.int64()), ("increase", pa.int32()), ("buyerid", pa.int64())])
REPORTS = pa.schema(
    [("sid", pa.string()), ("hour", pa.int32()), ("minute", pa.int32()), ("currtmp", pa.int32())]
)


def reports(**patterns: Any) -> Punctuation:
    return Punctuation.of(REPORTS, **patterns)


def test_all_bids_on_two_items() -> None:
    closed = Punctuation(BIDS, (ValueList((1001, 2004)), ANY, ANY))
    assert closed.matches((1001, 5, 7))
    assert closed.matches((2004, None, None))
    assert not closed.matches((1002, 5, 7))
    assert not closed.matches((None, 5, 7))
    assert closed.constrained == ("itemid",)


def test_combine_is_what_both_say() -> None:
    evening = reports(hour=Range(17, 20, True, False), sid=ValueList(("S01", "S02")))
    late = reports(hour=between(19, 23), currtmp=Range(95, None, False))
    both = evening.combine(late)
    assert both == reports(hour=Constant(19), sid=ValueList(("S01", "S02")), currtmp=Range(96))
    assert evening.covers(both)
    assert late.covers(both)
    assert not both.covers(late)


def test_no_combination_is_psi() -> None:
    psi = reports(hour=Constant(1)).combine(reports(hour=Constant(2)))
    assert psi.is_nothing
    assert psi == Punctuation.nothing(REPORTS)
    assert not psi.matches(("S01", 1, 0, 70))
    assert psi.combine(reports()) == psi
    assert reports(hour=Constant(1)).covers(psi)
    assert reports(hour=Range(3, 1)).canonical() == psi


def test_projection_needs_wildcards_elsewhere() -> None:
    hour = reports(hour=Constant(3))
    assert hour.project(["hour", "currtmp"]) == Punctuation(
        pa.schema([REPORTS.field("hour"), REPORTS.field("currtmp")]), (Constant(3), ANY)
    )
    assert hour.project(["sid"]) is None
    flag = pa.schema([("a", pa.bool_()), ("b", pa.int32())])
    whole = Punctuation.of(flag, a=ValueList((True, False, None)), b=Constant(1))
    assert whole.project(["b"]) is not None


def test_attributes_can_be_made_wild_and_added() -> None:
    both = reports(hour=Constant(3), sid=Constant("S01"))
    assert both.wild(["sid"]) == reports(hour=Constant(3))
    wider = pa.schema([("room", pa.string()), *REPORTS])
    assert both.extend(wider) == Punctuation(wider, (ANY, Constant("S01"), Constant(3), ANY, ANY))
    assert both["hour"] == Constant(3)


def test_errors_name_the_column() -> None:
    with pytest.raises(PlanError, match=r"column 'hour': found 'x', expected a number like 17"):
        reports(hour=Constant("x"))
    with pytest.raises(PlanError, match=r"no column 'room'; there are \['sid'"):
        reports(room=Constant("x"))
    with pytest.raises(PlanError, match="found 1 patterns, expected one for each of"):
        Punctuation(BIDS, (NONE,))
    with pytest.raises(PlanError, match="different records"):
        reports().combine(Punctuation(BIDS, (ANY, ANY, ANY)))
