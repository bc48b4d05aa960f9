"""Punctuation schemes: where the punctuations of a source come from, beside being given by hand.

They are the punctuate operators of the paper: marks that are in the stream, the order in which a
stream is read, and knowledge of what a stream can never hold. A list of all values, of sensors for
instance, is knowledge of the last kind: once each of them has reported an hour as done, no value is
left for which the hour is open.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from penstock.kinds import kind


@kind("in band")
@dataclass(frozen=True)
class InBand:
    """Rows in which a column is not NULL are punctuations, and it is their text."""

    column: str


@kind("in order")
@dataclass(frozen=True)
class InOrder:
    """Rows come in the order of some columns: a larger value ends the smaller ones.

    `every` is how far apart punctuations are at least, in time or in rows.
    """

    columns: tuple[str, ...]
    every: int = 1
    by_rows: bool = False


@kind("never")
@dataclass(frozen=True)
class Never:
    """What the source can never send, as texts."""

    punctuations: tuple[str, ...]


Scheme: TypeAlias = InBand | InOrder | Never


@dataclass(frozen=True)
class Punctuated:
    """A source and its schemes; streams are this, and more."""

    source: str
    schemes: tuple[Scheme, ...]

    @property
    def operations(self) -> tuple[str, ...]:
        """The columns in which each row says what is to be done."""
        return ()
