"""Small random queries, most of them satisfiable: the atoms are true of a hidden assignment."""

from random import Random

from penstock.memory.query import Query, Stream
from penstock.reasoning.closure import Attribute, Element, compare

CONSTANTS = range(6)


def random_streams(rng: Random, attributes: int) -> tuple[Stream, ...]:
    """One to three streams of one to three columns, with few attributes in all."""
    while True:
        count = rng.choice([1, 2, 2, 2, 3, 3])
        widths = [rng.choice([1, 1, 2, 2, 3]) for _ in range(count)]
        if sum(widths) <= attributes:
            return tuple(Stream(f"S{n}", tuple("abc"[:w])) for n, w in enumerate(widths))


def random_query(rng: Random, attributes: int = 5) -> Query:
    streams = random_streams(rng, attributes)
    known = [attribute for stream in streams for attribute in stream.attributes]
    constants = rng.sample(CONSTANTS, rng.choice([0, 1, 1, 2, 2]))
    hidden = {attribute: rng.randint(-4, 9) for attribute in known}
    consistent = rng.random() < 0.9
    where = set()
    for _ in range(rng.randint(0, 8)):
        left = rng.choice(known)
        right: Element = rng.choice(known)
        if constants and rng.random() < 0.4:
            right = rng.choice(constants)
        if left == right:
            continue
        operator = rng.choice(["<", "<", "<", "<=", "=", ">=", ">", ">", ">"])
        if consistent:
            other = hidden[right] if isinstance(right, Attribute) else right
            operator = true_of(rng, hidden[left], other)
        where.add(compare(left, operator, right))
    select = rng.sample(known, rng.choice([0, 0, 0, 0, 1]))
    return Query(streams, frozenset(where), tuple(select), rng.random() < 0.65)


def true_of(rng: Random, left: int, right: int) -> str:
    if left == right:
        return rng.choice(["<=", "=", ">="])
    strict = "<" if left < right else ">"
    return rng.choice([strict, strict, strict, f"{strict}="])
