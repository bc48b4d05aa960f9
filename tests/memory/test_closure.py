"""What a conjunction implies, against all assignments over a small domain."""

import os
from collections.abc import Collection, Iterator
from itertools import combinations, product
from random import Random

from penstock.reasoning.closure import Atom, Attribute, Closure, Comparison, Element, compare
from tests.memory.random_queries import true_of

EFFORT = int(os.environ.get("PENSTOCK_EFFORT", "1"))

ATTRIBUTES = tuple(Attribute(stream, name) for stream, name in ("Sa", "Sb", "Tc", "Td"))
CONSTANTS = (0, 1, 2, 4)
# Wide enough that an unbounded attribute leaves the constants, others being in its way.
DOMAIN = range(-5, 10)


def random_atoms(rng: Random) -> frozenset[Atom]:
    known = ATTRIBUTES[: rng.choice([2, 3, 3, 3, 3, 3, 4])]
    hidden = {attribute: rng.randint(-2, 6) for attribute in known}
    consistent = rng.random() < 0.8
    found = set()
    for _ in range(rng.randint(1, 6)):
        left = rng.choice(known)
        right: Element = rng.choice(known)
        if rng.random() < 0.5:
            right = rng.choice(CONSTANTS)
        operator = rng.choice(["<", "<=", "=", ">=", ">"])
        if consistent:
            other = hidden[right] if isinstance(right, Attribute) else right
            operator = true_of(rng, hidden[left], other)
        found.add(compare(left, operator, right))
    return frozenset(found)


def solutions(atoms: frozenset[Atom]) -> Iterator[dict[Element, int]]:
    """All assignments over the domain that satisfy the atoms, constants assigned themselves."""
    known = sorted({attribute for atom in atoms for attribute in atom.attributes})
    for values in product(DOMAIN, repeat=len(known)):
        assigned: dict[Element, int] = {k: k for k in range(-1, 7)}
        assigned.update(zip(known, values, strict=True))
        if all(atom.holds(assigned[atom.left], assigned[atom.right]) for atom in atoms):
            yield assigned


def test_oracle_closure_holds_exactly_what_is_implied() -> None:
    for seed in range(60 * EFFORT):
        atoms = random_atoms(Random(seed))
        closure = Closure(atoms)
        found = list(solutions(atoms))
        assert closure.satisfiable == bool(found), f"seed {seed}"
        if not found:
            continue
        for x, y in product(closure.elements, repeat=2):
            for comparison in Comparison:
                atom = Atom(x, comparison, y)
                implied = all(atom.holds(s[x], s[y]) for s in found)
                assert closure.implies(atom) == implied, f"seed {seed}: {atom}"
        for attribute in closure.attributes:
            values = {s[attribute] for s in found}
            assert closure.lower_bounded(attribute) == (min(values) >= min(CONSTANTS)), seed
            assert closure.upper_bounded(attribute) == (max(values) <= max(CONSTANTS)), seed
            if closure.bounded(attribute):
                assert closure.values(attribute) == (min(values), max(values)), f"seed {seed}"


def without_redundancy(closure: Closure) -> frozenset[Atom]:
    """The equalities and the inequalities of P+ that are not redundant: they imply P+."""
    return frozenset(
        atom
        for atom in closure.atoms()
        if atom.comparison is Comparison.EQUAL or not closure.redundant(atom)
    )


def totally_orders(closure: Closure, elements: Collection[Element]) -> bool:
    """Of every two elements, P+ says which is smaller or that they are equal."""
    return all(
        closure.less(x, y) or closure.less(y, x) or closure.equal(x, y)
        for x, y in combinations(elements, 2)
    )


def test_law_redundant_atoms_can_be_left_out() -> None:
    for seed in range(300 * EFFORT):
        closure = Closure(random_atoms(Random(seed)))
        if closure.satisfiable:
            smaller = Closure(without_redundancy(closure), closure.elements)
            assert smaller.atoms() == closure.atoms(), f"seed {seed}"


def test_law_extending_equals_closing_anew() -> None:
    for seed in range(300 * EFFORT):
        rng = Random(seed)
        first, more = random_atoms(rng), random_atoms(rng)
        elements: list[Element] = [*ATTRIBUTES, *CONSTANTS]
        start = Closure(first, elements)
        if not start.satisfiable:
            continue
        extended, anew = start.extended(more), Closure(first | more, elements)
        assert extended.satisfiable == anew.satisfiable, f"seed {seed}"
        if anew.satisfiable:
            assert extended.atoms() == anew.atoms(), f"seed {seed}"


def test_strictness_adds_up() -> None:
    a, b, c, _ = ATTRIBUTES
    chain = [compare(10, "<", a), compare(a, "<", b), compare(b, "<", c), compare(c, "<", 14)]
    closure = Closure(chain, [11, 13])
    assert closure.equal(a, 11)
    assert closure.values(b) == (12, 12)
    assert not Closure([*chain, compare(a, "=", b)]).satisfiable


def test_classes_and_induced_sets() -> None:
    a, b, c, d = ATTRIBUTES
    closure = Closure([compare(a, "=", b), compare(b, "<=", c), compare(c, "<=", b)], [d])
    assert set(closure.classes()) == {frozenset({a, b, c}), frozenset({d})}
    assert closure.count_classes({a, c, d}) == 2
    assert closure.induced({a, c}) == {compare(a, "=", c)}
    assert closure.filters("S") == {compare(a, "=", b)}
    assert set(closure.joins()) == {compare(a, "=", c), compare(b, "=", c)}
    assert totally_orders(closure, [a, b, c])
    assert not totally_orders(closure, [a, d])
