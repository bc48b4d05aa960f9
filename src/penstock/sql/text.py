"""Places in a text, and the names that stand there."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass, field

from sqlglot import exp


@dataclass(frozen=True, slots=True)
class Span:
    """The characters `start <= i < end` of a text."""

    start: int
    end: int

    def to(self, other: Span) -> Span:
        return Span(self.start, other.end)


NOWHERE = Span(0, 0)


@dataclass(frozen=True, slots=True)
class Name:
    """The name of an object or a column as it was written, without quotes, and where."""

    text: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    def __str__(self) -> str:
        return self.text

    @classmethod
    def of(cls, identifier: exp.Expr) -> Name:
        return cls(identifier.name, span_of(identifier) or NOWHERE)


def span_of(expression: exp.Expr) -> Span | None:
    """The part of the text that an expression was parsed from, as far as its leaves tell."""
    places = [
        Span(node.meta["start"], node.meta["end"] + 1)
        for node in expression.walk()
        if "start" in node.meta
    ]
    if not places:
        return None
    return Span(min(place.start for place in places), max(place.end for place in places))


def closest(word: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The known word that `word` is most likely a misspelling of."""
    by_folded = {name.upper(): name for name in known}
    found = difflib.get_close_matches(word.upper(), by_folded, n=1, cutoff=cutoff)
    return by_folded[found[0]] if found else None


def one_of(words: Iterable[str]) -> str:
    """`A, B or C`."""
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last
