"""The functions of the paper's table 1, over columns instead of lists of tuples.

`t` is a record, `ts` are records as columns, `p` is a punctuation and `ps` a set of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from penstock.punctuation.punctuation import Punctuation
from penstock.punctuation.punctuation_set import PunctuationSet
from penstock.record import Columns, Mask


def match(t: Sequence[Any], p: Punctuation) -> bool:
    return p.matches(t)


def nomatch(t: Sequence[Any], p: Punctuation) -> bool:
    return not p.matches(t)


def combine(p: Punctuation, q: Punctuation) -> Punctuation:
    """What matches both; Psi, which `is_nothing`, where nothing does."""
    return p.combine(q)


def set_match(ts: Columns, ps: PunctuationSet) -> Mask:
    """For each record, whether it matches any punctuation."""
    return ps.matches(ts)


def set_nomatch(ts: Columns, ps: PunctuationSet) -> Mask:
    """For each record, whether it matches no punctuation."""
    return ~ps.matches(ts)


def set_match_ts(ts: Columns, ps: PunctuationSet) -> Columns:
    """The records that match any punctuation."""
    return _where(ts, set_match(ts, ps))


def set_nomatch_ts(ts: Columns, ps: PunctuationSet) -> Columns:
    """The records that match no punctuation."""
    return _where(ts, set_nomatch(ts, ps))


def set_nomatch_ps(ts: Columns, ps: PunctuationSet) -> PunctuationSet:
    """What of the punctuations no record matches.

    The paper's answer is all p without a match. A set does not remember which punctuation a value
    came from: so lists and ranges are also split, and their unmatched values stay.
    """
    return ps.without(ts)


def set_combine(ps1: PunctuationSet, ps2: PunctuationSet) -> PunctuationSet:
    """All combinations of a punctuation of each that are not Psi."""
    return ps1.combine(ps2)


def _where(ts: Columns, mask: Mask) -> Columns:
    chosen = pa.array(mask)
    return tuple(column.filter(chosen) for column in ts)
