"""CONTRIBUTING.md names files, and names in them, that are there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
PLACES = (ROOT, ROOT / "src" / "penstock")
NAMED = sorted(set(re.findall(r"`((?:\w+/)*\w*(?:\.\w+|/))(?::(\w+))?`", PAGE)))


def names_in(source: Path) -> set[str]:
    """All names that are defined at the top of a module."""
    found: set[str] = set()
    for node in ast.parse(source.read_text("utf-8")).body:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.Assign(targets=targets):
                found |= {target.id for target in targets if isinstance(target, ast.Name)}
            case ast.AnnAssign(target=ast.Name(id=name)):
                found.add(name)
    return found


@pytest.mark.parametrize(("path", "name"), NAMED, ids=[":".join(one) for one in NAMED])
def test_what_the_page_names_is_there(path: str, name: str) -> None:
    found = [place / path for place in PLACES if (place / path).exists()]
    assert found, f"no file {path}"
    assert not name or name in names_in(found[0])


def test_commands_of_the_page_are_there() -> None:
    assert len(NAMED) > 40
    commands = re.findall(r"`python -m ([\w.]+)", PAGE)
    assert all((ROOT / f"{name.replace('.', '/')}.py").exists() for name in commands)
