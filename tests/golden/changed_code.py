"""The code as it might be one day: every class that is kept has another name, another module, and
one more field.

    python -m tests.golden.changed_code COPY DIRECTORY KIND OUTCOME

continues a golden directory with a copy of the package that `with_more_fields` made.
"""

from __future__ import annotations

import ast
import importlib
import pickle
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

PACKAGE = Path(__file__).parents[2] / "src" / "penstock"
FIELD = "added_later"
DECORATORS = ("kind", "operator")


def with_more_fields(target: Path) -> int:
    """A copy of the package in which each class that is kept has one more field; how many."""
    shutil.copytree(PACKAGE, target / "penstock", ignore=shutil.ignore_patterns("__pycache__"))
    changed = 0
    for path in sorted(target.rglob("*.py")):
        lines = path.read_text("utf-8").splitlines(keepends=True)
        tree = ast.parse("".join(lines))
        found = [n for n in ast.walk(tree) if isinstance(n, ast.ClassDef) and _is_kept(n)]
        for node in sorted(found, key=lambda each: -each.lineno):
            own = [part.end_lineno for part in node.body if isinstance(part, ast.AnnAssign)]
            last = max(filter(None, own), default=None)
            if last is None:  # no field as yet: after the docstring
                last = node.body[0].end_lineno
            assert last is not None
            lines.insert(last, f"    {FIELD}: int = 7\n")
            changed += 1
        path.write_text("".join(lines), "utf-8")
    return changed


def _is_kept(node: ast.ClassDef) -> bool:
    calls = [each.func for each in node.decorator_list if isinstance(each, ast.Call)]
    return any(isinstance(call, ast.Name) and call.id in DECORATORS for call in calls)


def move_and_rename() -> int:
    """Give every class that is kept another name, in another module; how many."""
    from penstock.kinds import kinds

    moved = 0
    for found in kinds():
        made = found.made
        old = sys.modules[made.__module__]
        name = f"penstock.moved.{old.__name__.replace('.', '_')}"
        module = sys.modules.setdefault(name, ModuleType(name))
        vars(module).update({**vars(old), "__name__": name})
        made.__name__ = made.__qualname__ = f"Other{made.__name__}"
        made.__module__ = name
        setattr(module, made.__name__, made)
        moved += 1
    return moved


def meetings() -> set[str]:
    """The names of the kinds that are read or written, in files or for the names of state
    tables."""
    from penstock.kinds import Kind

    met: set[str] = set()

    def noted(function: Callable[..., Any]) -> Callable[..., Any]:
        def of(kind: Kind, *given: Any) -> Any:
            met.add(kind.name)
            return function(kind, *given)

        return of

    for name in ("parts", "build"):
        setattr(Kind, name, noted(getattr(Kind, name)))
    return met


def _continue(directory: Path, kind: str, outcome: Path) -> None:
    """Continue a directory, and write what comes of it."""
    kinds = importlib.import_module("tests.golden.kinds")
    moved, met = move_and_rename(), meetings()
    found = kinds.CONTINUED[kind](directory)
    outcome.write_bytes(pickle.dumps((moved, met, vars(found))))


if __name__ == "__main__":
    copy, directory, kind, outcome = sys.argv[1:]
    package = importlib.import_module("penstock")
    assert Path(copy) in Path(package.__file__ or "").parents, "this is not the copy"
    _continue(Path(directory), kind, Path(outcome))
