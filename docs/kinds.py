"""The table of kinds in docs/format.md. `python -m docs.kinds` writes it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import penstock.session  # noqa: F401 - it imports all that has a kind
from penstock.algebra.codec import encode
from penstock.kinds import Kind, kinds

PAGE = Path(__file__).parent / "format.md"
_TABLE = re.compile(r"(?<=<!-- kinds -->\n```layout\n).*?(?=```\n)", re.DOTALL)


class Row(NamedTuple):
    """A kind: its version, and its fields with the defaults that they have."""

    version: int
    fields: Mapping[str, str | None]


def table() -> str:
    """Of the kinds of the code at hand."""
    own = [kind for kind in kinds() if kind.made.__module__.startswith("penstock.")]
    return "".join(f"{_line(kind)}\n" for kind in own)


def _line(kind: Kind) -> str:
    parts = [
        f"{name}={_default(kind.defaults[name])}" if name in kind.defaults else name
        for name in kind.fields
    ]
    sort = "operator" if kind.is_operator else "kind"
    return " ".join([f"{sort} {kind.name} {kind.version}:", *parts])


def _default(value: object) -> str:
    data = value if isinstance(value, dict) else encode(value)
    return json.dumps(data, separators=(",", ":"))


def written() -> str:
    """As the page has it."""
    found = _TABLE.search(PAGE.read_text("utf-8"))
    assert found is not None, f"{PAGE.name} has no table of kinds"
    return found[0]


def rows(text: str) -> dict[str, Row]:
    found = {}
    for line in text.splitlines():
        head, _, fields = line.partition(":")
        name, _, number = head.rpartition(" ")
        parts = [part.partition("=") for part in fields.split()]
        found[name] = Row(int(number), {own: (rest if sign else None) for own, sign, rest in parts})
    return found


def broken(before: Mapping[str, Row], after: Mapping[str, Row]) -> list[str]:
    """What would change the meaning of directories that are there."""
    found = []
    for name, old in before.items():
        new = after.get(name)
        if new is None:
            found.append(f"{name} is gone, and directories may hold one: keep it")
            continue
        if new.version != old.version:
            continue
        for own, default in old.fields.items():
            if own not in new.fields:
                found.append(f"{name} has no {own}: keep its name with @kind(..., fields=...)")
            elif new.fields[own] != default:
                found.append(f"{name}: what was written without {own} meant {default}; keep that")
        for own in new.fields.keys() - old.fields.keys():
            if new.fields[own] is None:
                found.append(f"{name}: {own} is new and needs a default")
    return found


def write() -> None:
    """Bring the page up to date, unless that would break what was promised."""
    problems = broken(rows(written()), rows(table()))
    if problems:
        raise SystemExit("\n".join([*problems, "or raise the version of the kind"]))
    PAGE.write_text(_TABLE.sub(lambda _: table(), PAGE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    write()
