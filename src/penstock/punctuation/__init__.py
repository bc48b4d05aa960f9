"""Punctuations, "no more of these": patterns, sets of them over columns, and written forms."""

from penstock.punctuation.functions import (
    combine,
    match,
    nomatch,
    set_combine,
    set_match,
    set_match_ts,
    set_nomatch,
    set_nomatch_ps,
    set_nomatch_ts,
)
from penstock.punctuation.pattern import (
    ANY,
    NONE,
    Constant,
    Empty,
    Pattern,
    Range,
    ValueList,
    Wildcard,
    between,
)
from penstock.punctuation.punctuation import Punctuation
from penstock.punctuation.punctuation_set import PunctuationSet

__all__ = [
    "ANY",
    "NONE",
    "Constant",
    "Empty",
    "Pattern",
    "Punctuation",
    "PunctuationSet",
    "Range",
    "ValueList",
    "Wildcard",
    "between",
    "combine",
    "match",
    "nomatch",
    "set_combine",
    "set_match",
    "set_match_ts",
    "set_nomatch",
    "set_nomatch_ps",
    "set_nomatch_ts",
]
