"""Punctuations, "no more of these": patterns, sets of them over columns, and written forms."""

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

__all__ = [
    "ANY",
    "NONE",
    "Constant",
    "Empty",
    "Pattern",
    "Punctuation",
    "Range",
    "ValueList",
    "Wildcard",
    "between",
]
