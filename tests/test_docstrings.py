"""What is public says what it is for; docs/reference.md has what it says."""

from __future__ import annotations

import ast
from pathlib import Path

import griffe
import pytest

from docs.reference import PAGE, Item, members, page, public_items, text

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "penstock"
FEWEST_WORDS = 3


def says_something(name: str, docstring: str | None) -> bool:
    """Whether it begins with a sentence that is more than the name again."""
    first = (docstring or "").split("\n\n")[0].strip()
    words = {word.strip(".,:;`").lower() for word in first.split()} - {"a", "an", "the", "of"}
    own = set(name.lower().strip("_").split("_")) | {name.lower()}
    return first.endswith((".", ":")) and len(words - own) >= FEWEST_WORDS - 1


def test_the_reference_is_up_to_date() -> None:
    assert PAGE.read_text("utf-8") == page(), "python -m docs.reference"


@pytest.mark.parametrize("item", public_items(), ids=lambda item: item.name)
def test_public_names_say_what_they_are_for(item: Item) -> None:
    assert says_something(item.name, text(item))
    if isinstance(item, griffe.Class):
        silent = [n for n, m in members(item).items() if not says_something(n, text(m))]
        assert not silent, f"{item.name} has members without a docstring"


def test_every_public_class_of_the_code_says_what_it_is() -> None:
    silent = [
        f"{path.relative_to(ROOT)}: {node.name}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
        if not says_something(node.name, ast.get_docstring(node))
    ]
    assert not silent


@pytest.mark.parametrize(
    ("name", "docstring", "says"),
    [
        ("step", None, False),
        ("step", "Step.", False),
        ("end_time", "The end time.", False),
        ("step", "Move everything as far as the frontiers allow", False),
        ("step", "Move everything as far as the frontiers allow.", True),
    ],
)
def test_a_docstring_says_something(name: str, docstring: str | None, says: bool) -> None:
    assert says_something(name, docstring) is says
