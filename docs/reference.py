"""The page of all public names, docs/reference.md, from their docstrings.

`python -m docs.reference` writes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from inspect import cleandoc, isfunction
from pathlib import Path
from typing import TypeAlias

import griffe

import penstock
from penstock import testing
from penstock.directory import Copied, Problem, Upgrade, Verification
from penstock.memory.report import MemoryVerdict
from penstock.session.changes import Change, PipelinePlan
from penstock.session.query import Grouped

PAGE = Path(__file__).parent / "reference.md"
RETURNED = (Grouped, PipelinePlan, Change, MemoryVerdict, Verification, Problem, Copied, Upgrade)
_HEADER = """# Reference
All public names, from their docstrings; `python -m docs.reference` writes this page. How they go
together is in [Python](python.md) and [testing](testing.md).
"""

Item: TypeAlias = griffe.Class | griffe.Function
Member: TypeAlias = griffe.Function | griffe.Attribute

_CODE = griffe.load("penstock", search_paths=[Path(penstock.__file__).parents[1]])


def page() -> str:
    """As the code at hand says."""
    return "\n".join([_HEADER, *_parts()])


def public_items() -> list[Item]:
    """All public functions and classes, those of `penstock.testing` and of results included."""
    return [*_NAMES, *_RESULTS, *_FOR_TESTS]


def members(own: griffe.Class) -> dict[str, Member]:
    """The public methods and properties of a class, those of bases that are not public included."""
    found: dict[str, Member] = {}
    for kind in (*reversed(own.mro()), own):
        if kind is own or kind.name not in penstock.__all__:
            found |= {name: m for name, m in kind.members.items() if _is_shown(m)}  # type: ignore[misc]
    return found


def text(item: Item | Member) -> str:
    """The docstring, or nothing."""
    return "" if item.docstring is None else cleandoc(item.docstring.value)


def _is_shown(member: griffe.Object | griffe.Alias) -> bool:
    is_property = isinstance(member, griffe.Attribute) and "property" in member.labels
    named = not member.name.startswith("_")
    return named and (is_property or isinstance(member, griffe.Function))


def _items(objects: Iterable[object]) -> list[Item]:
    """The code of functions and classes."""
    found = []
    for own in objects:
        if isinstance(own, type) or isfunction(own):
            item = _CODE[f"{own.__module__}.{own.__qualname__}".removeprefix("penstock.")]
            assert isinstance(item, griffe.Class | griffe.Function)
            found.append(item)
    return found


def _parts() -> Iterator[str]:
    errors = [item for item in _NAMES if item.name.endswith("Error")]
    classes = [item for item in _NAMES if isinstance(item, griffe.Class) and item not in errors]
    yield from _section("Functions", [i for i in _NAMES if isinstance(i, griffe.Function)])
    yield from _section("Classes", classes)
    yield from _section("What calls return", _RESULTS)
    yield "## Errors\n| error | when | condition | SQLSTATE |\n| --- | --- | --- | --- |"
    yield from map(_error, errors)
    yield ""
    yield from _item(next(item for item in errors if item.name == penstock.PenstockError.__name__))
    yield from _section("`penstock.testing`", _FOR_TESTS)


def _section(title: str, items: Iterable[Item]) -> Iterator[str]:
    yield f"## {title}"
    for item in items:
        yield from _item(item)


def _item(item: Item) -> Iterator[str]:
    yield f"### {item.name}"
    if isinstance(item, griffe.Function) or ("dataclass" in item.labels and [*_parameters(item)]):
        yield f"`{_signature(item)}`\n"
    yield f"{text(item)}\n"
    if isinstance(item, griffe.Class):
        for member in members(item).values():
            yield f"**`{_signature(member)}`**\n\n{text(member)}\n"


def _signature(item: Item | Member) -> str:
    """As in Python, without `self` and private fields."""
    if isinstance(item, griffe.Attribute):
        return f"{item.name}: {item.annotation}"
    shown = griffe.Function(item.name, parameters=griffe.Parameters(*_parameters(item)))
    shown.returns = item.returns if isinstance(item, griffe.Function) else None
    return str(shown.signature())


def _parameters(item: Item) -> Iterator[griffe.Parameter]:
    of_class = isinstance(item, griffe.Class) or isinstance(item.parent, griffe.Class)
    for parameter in item.parameters:
        if not (of_class and parameter.name == "self") and not parameter.name.startswith("_"):
            yield parameter


def _error(item: Item) -> str:
    kind = getattr(penstock, item.name)
    first = " ".join(text(item).split("\n\n")[0].split())
    return f"| `{item.name}` | {first} | `{kind.condition}` | `{kind.sqlstate}` |"


_NAMES = _items(getattr(penstock, name) for name in penstock.__all__)
_RESULTS = _items(RETURNED)
_FOR_TESTS = _items(getattr(testing, name) for name in testing.__all__)

if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
