"""How much is kept, as a formula: sums of products of what is known to be finite."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

TIMES = "\u00d7"
_MOST_FACTORS = 256
"""A formula with more is not worth reading: joins of joins of unions double it at every step."""


@dataclass(frozen=True, slots=True)
class Factor:
    """So many of something; the number is None where it depends on what arrives."""

    text: str
    number: int | None = None

    def __str__(self) -> str:
        if self.number is None:
            return self.text
        noun, _, rest = self.text.partition(" ")
        noun = noun.removesuffix("s") if self.number == 1 else noun
        return f"{self.number:,} {noun} {rest}".strip()


@dataclass(frozen=True, slots=True)
class Size:
    """A sum of products; the empty sum is nothing, the empty product one."""

    products: tuple[tuple[Factor, ...], ...] = ()

    @property
    def number(self) -> int | None:
        """The size where all of it is known."""
        found = 0
        for product in self.products:
            numbers = [factor.number for factor in product if factor.number is not None]
            if len(numbers) < len(product):
                return None
            found += math.prod(numbers)
        return found

    @property
    def factors(self) -> int:
        return sum(map(len, self.products))

    def times(self, other: Size) -> Size:
        factors = self.factors * len(other.products) + other.factors * len(self.products)
        if factors > _MOST_FACTORS:
            return _at_most(self.number, other.number, math.prod)
        return Size(tuple((*a, *b) for a in self.products for b in other.products))

    def plus(self, other: Size) -> Size:
        if self.factors + other.factors > _MOST_FACTORS:
            return _at_most(self.number, other.number, sum)
        return Size((*self.products, *other.products))

    def __str__(self) -> str:
        texts = Counter(
            f" {TIMES} ".join(map(str, _without_ones(product))) or "1 row"
            for product in self.products
        )
        parts = [text if n == 1 else f"{n} {TIMES} {text}" for text, n in texts.items()]
        return " + ".join(parts) or "nothing"


NOTHING = Size()
ONE = Size(((),))


def of(text: str, number: int | None = None) -> Size:
    return Size(((Factor(text, number),),))


def product(factors: list[Factor]) -> Size:
    return Size((tuple(factors),))


def least(sizes: list[Size]) -> Size:
    """The one that says most: the smallest that is known, else the shortest formula."""
    known = [size for size in sizes if size.number is not None]
    if known:
        return min(known, key=lambda size: size.number or 0)
    return min(sizes, key=lambda size: size.factors)


def _at_most(a: int | None, b: int | None, both: Callable[[tuple[int, int]], int]) -> Size:
    """In place of a formula that is too long, how much it is, where that is known."""
    return of("rows of many joins", None if a is None or b is None else both((a, b)))


def _without_ones(product: tuple[Factor, ...]) -> list[Factor]:
    rest = [factor for factor in product if factor.number != 1]
    return rest or list(product[:1])
