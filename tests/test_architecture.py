"""The shape of the code: who may import whom, what an import costs, and how long a file may be."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from tests.test_kinds import (  # noqa: F401 - so that whoever forgets a kind hears of it at once
    test_the_table_of_kinds_is_up_to_date_and_breaks_no_promise,
    test_whatever_is_kept_has_a_kind,
)
from tests.test_operators import (  # noqa: F401 - and of what an operator does not say
    test_an_operator_has_a_file_of_its_name_and_says_what_it_does,
    test_no_analysis_has_a_branch_for_each_operator,
)

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "penstock"

# A room is a module or folder of the package. It may import from its own row and the rows above.
ROWS = (
    ("errors",),
    ("kinds",),
    ("boundary",),
    ("sorting",),
    ("record",),
    ("element",),
    ("algebra",),
    ("sql", "reasoning", "rewrite", "memory", "punctuation", "sharing"),
    ("state",),
    ("physical",),
    ("execution",),
    ("ingest",),
    ("output",),
    ("runtime",),
    ("directory",),
    ("session",),
    ("server", "client"),
    ("cli", "ui", "testing"),
    ("__main__",),
)
ROW_OF = {room: number for number, row in enumerate(ROWS) for room in row}

LONGEST_FILE = 600
NOT_OURS = re.compile(r"\.(?!ci$|github$).*|__pycache__|build|dist|.*\.egg-info")
HOME_PATH = re.compile(rb"(?<![\w.*~-])/(?:home|root|work|Users)/\w")
REGISTRY = re.compile(rb"(?:pypi\.org|pythonhosted\.org|registry\.npmjs\.org|repo1?\.maven\.org)")


def rooms() -> list[str]:
    return sorted(
        path.stem
        for path in PACKAGE.iterdir()
        if (path.suffix == ".py" or any(path.rglob("*.py"))) and path.stem != "__init__"
    )


def sources(room: str) -> Iterator[Path]:
    folder = PACKAGE / room
    yield from sorted(folder.rglob("*.py")) if folder.is_dir() else [folder.with_suffix(".py")]


def imported_modules(source: Path) -> Iterator[str]:
    """The full name of every module and name that a file imports, wherever in the file."""
    package = source.relative_to(PACKAGE.parent).parts[:-1]
    for node in ast.walk(ast.parse(source.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            start = [*base, *(node.module.split(".") if node.module else [])]
            yield from (".".join([*start, alias.name]) for alias in node.names)


def imported_rooms(room: str) -> set[str]:
    names = (name for source in sources(room) for name in imported_modules(source))
    inside = {name.split(".")[1] for name in names if name.startswith("penstock.")}
    return (inside & set(rooms())) - {room}


def test_every_room_has_a_place() -> None:
    assert set(rooms()) <= set(ROW_OF), "a new room: decide in ROWS what it may import"


@pytest.mark.parametrize("room", rooms())
def test_imports_go_one_way(room: str) -> None:
    below = {other for other in imported_rooms(room) if ROW_OF[other] > ROW_OF[room]}
    assert not below, f"{room} may not import {', '.join(sorted(below))}"


def test_rooms_do_not_import_in_circles() -> None:
    TopologicalSorter({room: imported_rooms(room) for room in rooms()}).prepare()


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("import penstock.state.log", "penstock.state.log"),
        ("from penstock.state import log", "penstock.state.log"),
        ("from penstock import state", "penstock.state"),
        ("from .host import run", "penstock.runtime.host.run"),
        ("from . import host", "penstock.runtime.host"),
        ("from ..state.log import Log", "penstock.state.log.Log"),
        ("def later():\n    import penstock.state", "penstock.state"),
    ],
)
def test_every_form_of_import_is_seen(
    statement: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "penstock" / "runtime" / "java.py"
    source.parent.mkdir(parents=True)
    source.write_text(statement)
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", tmp_path / "penstock")
    assert list(imported_modules(source)) == [name]


def test_importing_penstock_does_not_import_spark() -> None:
    code = "import sys, penstock; print([name for name in sys.modules if 'spark' in name])"
    assert run_python(code) == "[]"


def test_importing_any_module_starts_nothing() -> None:
    names = [
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        for room in rooms()
        for path in sources(room)
        if path.stem != "__main__"
    ]
    watch = f"""
import importlib, sys, threading
STARTS = ("subprocess.Popen", "os.fork", "os.posix_spawn", "os.system", "socket.connect")
started = []
sys.addaudithook(lambda event, args: started.append((event, args)) if event in STARTS else None)
for name in {names}:
    importlib.import_module(name)
print(started + threading.enumerate()[1:])
"""
    assert run_python(watch) == "[]"


def run_python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def own_files(folder: Path = ROOT) -> Iterator[Path]:
    """All files but those that version control ignores."""
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.is_symlink():
            if not NOT_OURS.fullmatch(path.name):
                yield from own_files(path)
        elif path.is_file() and path.name != ".git":
            yield path


def test_no_file_is_too_long() -> None:
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_bytes().splitlines())
        for path in own_files()
        if path.suffix == ".py"
    }
    assert not {name: length for name, length in lengths.items() if length > LONGEST_FILE}


@pytest.mark.parametrize("pattern", [HOME_PATH, REGISTRY], ids=["home path", "package registry"])
def test_no_file_depends_on_one_machine(pattern: re.Pattern[bytes]) -> None:
    found = {
        f"{path.relative_to(ROOT)}: {match[0].decode()}"
        for path in own_files()
        for match in pattern.finditer(path.read_bytes())
    }
    assert not found
