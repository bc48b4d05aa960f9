"""Names that were given up for the field's words do not come back; docs/glossary.md has those."""

from __future__ import annotations

import io
import re
import tokenize
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "penstock"
RETIRED = {
    "area": "state table",
    "lane": "input buffer",
    "round": "stage",
    "board": "top-k buffer",
    "complaint": "diagnostics",
    "upkeep": "maintenance",
    "effect": "step commit",
    "heard": "observed event time",
    "listening": "socket source",
    "measuring": "metrics",
    "receiving": "ingest",
    "attaching": "bootstrap",
    "seeing": "statistics",
    "judging": "memory policy",
    "deriving": "expression matching",
    "wording": "printing",
}
BUILT_IN = {"round"}
WORDS = {f"{word}{end}": word for word in RETIRED for end in ("", "s")}
WORDS = {written: word for written, word in WORDS.items() if written not in BUILT_IN}
FILES = sorted(PACKAGE.rglob("*.py"))


def words_of(name: str) -> list[str]:
    """`input_bufferOf` and `InputBuffer` are made of the words input and buffer."""
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)]


@pytest.mark.parametrize("room", sorted({path.relative_to(PACKAGE).parts[0] for path in FILES}))
def test_names_are_the_words_of_the_field(room: str) -> None:
    found = []
    for path in FILES:
        if path.relative_to(PACKAGE).parts[0] != room:
            continue
        names = [(1, path.stem)]
        with io.StringIO(path.read_text("utf-8")) as text:
            tokens = tokenize.generate_tokens(text.readline)
            names += [(t.start[0], t.string) for t in tokens if t.type == tokenize.NAME]
        for line, name in names:
            for word in words_of(name):
                if word in WORDS:
                    found.append(f"{path.name}:{line} {name}: say {RETIRED[WORDS[word]]}")
    assert not found
