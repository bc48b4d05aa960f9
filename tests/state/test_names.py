"""Names become file names that stay where they are put, and other names are refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import PlanError
from penstock.state.names import MOST_CHARACTERS, check_name, file_name, is_segment

EVIL = [
    "",
    ".",
    "..",
    "/",
    "/a",
    "a/b",
    "../a",
    "a/../..",
    "a\\b",
    "a\0b",
    "~",
    "*",
    "\ud800",
    "%2e",
]
TEXTS = st.one_of(st.text(), st.text(alphabet="./aA-_~é\0"), st.sampled_from(EVIL))


@given(TEXTS)
def test_property_a_file_name_is_one_plain_component(name: str) -> None:
    found = file_name(name)
    assert re.fullmatch(r"[a-z0-9_-]+(\.[0-9a-f]{64})?", found)
    assert len(found) <= 120
    inside = Path("/directory") / found
    assert inside.parent == Path("/directory")
    assert inside.name == found


@given(TEXTS, TEXTS)
def test_property_different_names_have_different_files(a: str, b: str) -> None:
    assert (file_name(a) == file_name(b)) == (a == b)


def test_names_that_differ_by_case_or_in_the_end_have_different_files() -> None:
    names = ["Orders", "orders", "ORDERS", "x" * 300, "x" * 301, "é", "e\u0301", "-6f", "o"]
    assert len({file_name(name).lower() for name in names}) == len(names)
    assert file_name("orders_2024") == "orders_2024"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "is empty"),
        (" ", "is empty"),
        ("a\0b", "holds '.x00'"),
        ("a\nb", "holds '.n'"),
        ("\ud800", "half a character"),
        ("x" * 300, f"has 300 characters, and may have {MOST_CHARACTERS}"),
        (5, "is a text, not int"),
        (None, "is a text, not NoneType"),
    ],
)
def test_names_that_are_refused(name: object, reason: str) -> None:
    with pytest.raises(PlanError, match=reason) as refused:
        check_name(name)
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize("name", [".", "..", "/a/b", "../a", "x" * 255, "日本", "a b", "'", "😀"])
def test_other_names_work(name: str) -> None:
    assert check_name(name) == name


def test_only_random_names_are_files_of_runs() -> None:
    assert is_segment("0123456789abcdef" * 2)
    for name in ("", "..", "a", "0123456789ABCDEF" * 2, "../" + "a" * 29, "a" * 32 + "\n"):
        assert not is_segment(name)
