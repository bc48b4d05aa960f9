"""What is kept has a kind, and the table of kinds says what directories hold."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, get_args, get_origin, get_type_hints

import pytest

import penstock
from docs.kinds import broken, rows, table, written
from penstock.algebra.codec import decode, encode, fingerprint
from penstock.algebra.expr import Lookup
from penstock.algebra.operators.same_snapshots import SameSnapshots
from penstock.algebra.plan import Node, OneInput
from penstock.element import Elements
from penstock.errors import StateError
from penstock.kinds import build, kind, kind_of, kinds

NEVER_KEPT = {Node, OneInput, SameSnapshots, Lookup, Elements}


def classes() -> Iterator[type[Any]]:
    for module in pkgutil.walk_packages(penstock.__path__, "penstock."):
        if module.name.rpartition(".")[2] != "__main__":
            found = vars(importlib.import_module(module.name)).values()
            yield from (c for c in found if inspect.isclass(c) and c.__module__ == module.name)


def mentioned(hint: Any) -> Iterator[type[Any]]:
    """The classes of this package that a type is made of."""
    if get_origin(hint) is not None or get_args(hint):
        for part in get_args(hint):
            yield from mentioned(part)
    elif inspect.isclass(hint) and hint.__module__.startswith("penstock."):
        yield hint


def runs(c: type[Any]) -> bool:
    """Whether a class is an operator: a kernel or a transform, whose state or inputs are named."""
    return is_dataclass(c) and hasattr(c, "schema") and (hasattr(c, "step") or hasattr(c, "apply"))


def test_whatever_is_kept_has_a_kind() -> None:
    """All plan nodes and operators, and whatever a kind has in its fields."""
    known = {found.made for found in kinds()}
    needed = {c for c in classes() if issubclass(c, Node) or runs(c)}
    missing: set[type[Any]] = needed - known - NEVER_KEPT
    for c in known:
        hints = get_type_hints(c)
        names = [f.name for f in fields(c)] if is_dataclass(c) else c._fields
        for name in names:
            for part in mentioned(hints[name]):
                if is_dataclass(part) or hasattr(part, "_fields"):
                    missing |= {part} - known - NEVER_KEPT
    for c in missing:
        with pytest.raises(TypeError) as error:
            kind_of(c)
        pytest.fail(str(error.value))


def test_the_table_of_kinds_is_up_to_date_and_breaks_no_promise() -> None:
    problems = broken(rows(written()), rows(table()))
    assert not problems, "directories that are there would be read wrongly; or raise the version"
    assert table() == written(), "run `python -m docs.kinds` and commit docs/format.md"


def test_what_would_break_a_promise_is_told() -> None:
    before = rows("kind a 1: x y=1\nkind b 1: x\nkind c 1: x")
    after = rows("kind a 1: y=2 z\nkind b 2:\nkind d 1: w")
    assert len(broken(before, after)) == 4
    assert not broken(before, rows("kind a 1: x y=1 z=[]\nkind b 1: x\nkind c 1: x\nkind d 1: w"))


def test_nothing_is_built_that_is_not_a_kind() -> None:
    for name in ("os.system", "algebra.plan.Scan", "Scan", "penstock", "", 3, None, ["scan"]):
        with pytest.raises(StateError, match="no such kind"):
            decode({"is": name})
    for data in (
        {"is": "scan"},
        {"is": "scan", "name": "s", "columns": {"schema": [["a", "int64"]]}, "colour": "blue"},
        {"is": "scan", "name": "s", "columns": {"schema": [["a", "no type"]]}},
        {"is": "filter", "input": 3, "predicate": None},
        {"is": "scan/2", "name": "s", "columns": {"schema": []}},
        {"is": "groups", "input": {"schema": []}, "keys": [], "calls": []},
        {"class": "algebra.plan.Scan", "name": "s"},
        {"literal": "x", "type": "int64"},
        {"node": 7},
    ):
        with pytest.raises(StateError):
            decode(data)


def test_another_version_is_refused_by_name() -> None:
    with pytest.raises(StateError, match=r"join/7: .* knows 'join' in version 1 only"):
        build("join/7", {})


def test_a_field_with_its_default_is_not_written_and_one_that_is_renamed_keeps_its_name() -> None:
    @kind("thing of a test", fields={"new": "old"})
    @dataclass(frozen=True)
    class Thing:
        new: int
        more: tuple[str, ...] = ()
        number: float = 0.0

    assert encode(Thing(1)) == {"is": "thing of a test", "old": 1}
    assert repr(decode({"is": "thing of a test", "old": 1, "more": ["a"]})) == repr(
        Thing(1, ("a",))
    )
    assert fingerprint(Thing(1)) != fingerprint(Thing(1, number=1.0))


def test_no_state_of_an_operator_is_called_as_what_is_named_by_users() -> None:
    reserved = {"view", "base", "input", "late", "rejected", "held", "rows", "lane"}
    operators = {kind.name for kind in kinds() if kind.is_operator}
    assert len(operators) > 30
    assert not {name for name in operators if name.split()[0] in reserved}
