"""The way of a statement and of a row through the code, for docs/architecture.md.

`python -m docs.walks` writes the page. A walk may not pass more files than the page says: where it
has to, `python -m docs.walks --grow` writes the page all the same.

A session without Spark is traced, so that all of a walk is in one process. `penstock.testing` then
stands for Spark, and is not counted.
"""

from __future__ import annotations

import ast
import importlib
import json
import os
import pkgutil
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import wrap
from types import CodeType, FrameType
from typing import Any, NamedTuple

import penstock
from penstock.physical.program import Compiler
from penstock.rewrite import trace
from penstock.testing import local_session

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "architecture.md"
PACKAGE = Path(penstock.__file__).parent
STANDS_FOR_SPARK = "testing"
SLACK = 5  # files that a walk may have less than the page says, before the page is written again

SOURCE = "CREATE SOURCE temps (room STRING, temp INT, t INT) EVENT TIME t"
VIEW = """CREATE VIEW busy AS
  SELECT room, count(*) AS readings FROM temps [RANGE 5] WHERE temp > 80 GROUP BY room"""
ROWS = [("a", 90, 1), ("b", 70, 2), ("a", 95, 9)]
WALKS: Mapping[str, Callable[[penstock.Session], Any]] = {
    'db.sql("CREATE VIEW ...")': lambda db: db.sql(VIEW),
    'db.source("temps").append(rows)': lambda db: db.source("temps").append(ROWS),
    "db.step()": lambda db: db.step(),
    'db.view("busy").changes()': lambda db: db.view("busy").changes().toArrow(),
}
COUNTED: Mapping[str, CodeType] = {
    "rewritten": trace.__code__,
    "compiled": Compiler.add.__code__,
}

OUTLINE = re.compile(r"(?<=<!-- walks -->\n```layout\n).*?(?=```\n)", re.DOTALL)
ROOMS = re.compile(r"(?<=<!-- rooms -->\n)(?:\|.*\n)*")
_HEAD = re.compile(r"(?P<call>\S.*\)) +(?P<files>\d+) files(?P<rest>.*)")
_TIMES = re.compile(r"(\w+) (\d+)x")
_ROOM = re.compile(r"  (?P<room>\w+) +(?P<files>\d+)(?:  (?P<names>\S.*))?")


class Walk(NamedTuple):
    """The files of a call in the order in which it enters them, and how often it does what."""

    files: Sequence[str]
    counts: Mapping[str, int]

    @property
    def rooms(self) -> dict[str, list[str]]:
        """The files by room, in the order in which rooms are entered."""
        found: dict[str, list[str]] = {}
        for file in self.files:
            room, _, rest = file.removesuffix(".py").partition("/")
            found.setdefault(room, []).append(rest)
        return found


def traced(call: Callable[[], Any]) -> Walk:
    """Every file of the package of which something is called."""
    files: dict[str, None] = {}
    counts = dict.fromkeys(COUNTED, 0)
    names = {code: name for name, code in COUNTED.items()}
    inside: list[FrameType] = []
    package = f"{PACKAGE}{os.sep}"

    def watch(frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(package):
            files.setdefault(Path(code.co_filename).relative_to(PACKAGE).as_posix())
            if code in names and not inside:
                counts[names[code]] += 1
                inside.append(frame)
        elif event == "return" and inside == [frame]:
            inside.clear()

    sys.setprofile(watch)
    try:
        call()
    finally:
        sys.setprofile(None)
    return Walk([file for file in files if file.split("/")[0] != STANDS_FOR_SPARK], counts)


def walk_here() -> dict[str, Walk]:
    """All walks in this process, which should be a fresh one: caches make walks shorter."""
    for module in pkgutil.walk_packages(penstock.__path__, "penstock."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    with TemporaryDirectory() as folder, local_session(Path(folder) / "state") as db:
        db.sql(SOURCE)
        return {name: traced(lambda call=call: call(db)) for name, call in WALKS.items()}  # type: ignore[misc]


def measured() -> dict[str, Walk]:
    """All walks, in a process of their own."""
    done = subprocess.run(
        [sys.executable, "-m", "docs.walks", "--trace"],
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return {name: Walk(*walk) for name, walk in json.loads(done.stdout).items()}


def outline(walks: Mapping[str, Walk]) -> str:
    """The walks as the page shows them, the way of a row also as a whole."""
    return "\n".join(_lines(walks))


def _lines(walks: Mapping[str, Walk]) -> Iterator[str]:
    for name, walk in walks.items():
        done = "".join(f", {what} {count}x" for what, count in walk.counts.items() if count)
        yield f"{name:<33} {len(walk.files)} files{done}"
        for room, files in walk.rooms.items():
            first, *more = wrap(", ".join(filter(None, files)), 72) or [""]
            yield f"  {room:<13} {len(files):>3}  {first}".rstrip()
            yield from (f"{'':20} {line}" for line in more)
        yield ""
    yield f"a row, in all: {len(of_a_row(walks))} files\n"


def of_a_row(walks: Mapping[str, Walk]) -> set[str]:
    """The files of all walks but the first, which is that of a statement."""
    return {file for walk in list(walks.values())[1:] for file in walk.files}


def written() -> dict[str, Walk]:
    """The walks as the page has them."""
    walks: dict[str, Walk] = {}
    files: list[str] = []
    room = ""
    for line in part(OUTLINE).splitlines():
        if head := _HEAD.fullmatch(line):
            files = []
            counts = {what: int(count) for what, count in _TIMES.findall(head["rest"])}
            walks[head["call"]] = Walk(files, {**dict.fromkeys(COUNTED, 0), **counts})
        elif line.startswith("  "):
            found = _ROOM.fullmatch(line)
            room = found["room"] if found else room
            names = line.strip() if found is None else found["names"] or ""
            files += [f"{room}/{name}.py" for name in re.findall(r"[\w/]+", names)]
            files += [f"{room}.py"] if found and not names else []
    return walks


def grown(before: Mapping[str, Walk], after: Mapping[str, Walk]) -> list[str]:
    """What has become longer, or is done more often."""
    found = []
    for name in before.keys() & after.keys():
        old, new = before[name], after[name]
        if len(new.files) > len(old.files):
            more = ", ".join(sorted(set(new.files) - set(old.files)))
            found.append(
                f"{name} walks through {len(new.files)} files, not {len(old.files)}: {more}"
            )
        for what, count in new.counts.items():
            if count > old.counts[what]:
                found.append(f"{name}: a plan is {what} {count} times, not {old.counts[what]}")
    if len(of_a_row(after)) > len(of_a_row(before)):
        found.append(
            f"a row walks through {len(of_a_row(after))} files, not {len(of_a_row(before))}"
        )
    return sorted(found)


def rooms(walks: Mapping[str, Walk]) -> str:
    """All folders and modules of the package in the order of the walks, with what they say."""
    on_the_way = [room for walk in walks.values() for room in walk.rooms]
    own = sorted(module.name for module in pkgutil.iter_modules(penstock.__path__))
    order = dict.fromkeys([*on_the_way, *own])
    lines = [f"| {_name(room)} | {_first_sentence(room)} |" for room in order if room[0] != "_"]
    return "\n".join(["| room | what is in it |", "| --- | --- |", *lines, ""])


def _name(room: str) -> str:
    return f"`{room}/`" if (PACKAGE / room).is_dir() else f"`{room}.py`"


def _first_sentence(room: str) -> str:
    folder = PACKAGE / room
    source = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
    text = ast.get_docstring(ast.parse(source.read_text("utf-8"))) or ""
    paragraph = " ".join(text.split("\n\n")[0].split())
    return re.split(r"(?<=\.) ", paragraph)[0]


def part(pattern: re.Pattern[str]) -> str:
    """A generated part of the page, as it is."""
    found = pattern.search(PAGE.read_text("utf-8"))
    assert found is not None, f"{PAGE.name} lacks a generated part"
    return found[0]


def write(grow: bool = False) -> None:
    """Bring the page up to date, unless a walk has become longer."""
    walks = measured()
    if (problems := grown(written(), walks)) and not grow:
        raise SystemExit("\n".join([*problems, "If it has to be so: python -m docs.walks --grow"]))
    text = OUTLINE.sub(lambda _: outline(walks), PAGE.read_text("utf-8"))
    PAGE.write_text(ROOMS.sub(lambda _: rooms(walks), text), "utf-8")


if __name__ == "__main__":
    if "--trace" in sys.argv:
        json.dump(walk_here(), sys.stdout)
    else:
        write(grow="--grow" in sys.argv)
