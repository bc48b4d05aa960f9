"""A query that fails, made smaller while it still fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp, parse_one

CLAUSES = ("where", "having", "qualify", "order", "limit", "offset", "distinct", "group", "with_")


def shrunk(
    text: str, fails: Callable[[str], bool], tries: int = 200, dialect: str = "duckdb"
) -> str:
    """Parts are left out, or put in the place of the whole, one at a time."""
    found = True
    while found and tries > 0:
        found = False
        for smaller in sorted(set(_smaller(text, dialect)), key=len):
            tries -= 1
            if len(smaller) < len(text) and fails(smaller):
                text, found = smaller, True
                break
            if tries == 0:
                break
    return text


def _smaller(text: str, dialect: str) -> Iterator[str]:
    count = sum(1 for _ in parse_one(text, dialect=dialect).walk())
    for i in range(count):
        for change in (_without_clauses, _without_items, _one_side, _inner):
            yield from change(text, i, dialect)


def _at(text: str, i: int, dialect: str) -> tuple[exp.Expr, exp.Expr]:
    tree = exp.Paren(this=parse_one(text, dialect=dialect))
    return tree, list(tree.this.walk())[i]


def _written(tree: exp.Expr, dialect: str) -> str:
    return str(tree.this.sql(dialect=dialect))


def _without_clauses(text: str, i: int, dialect: str) -> Iterator[str]:
    _, node = _at(text, i, dialect)
    for clause in CLAUSES:
        if isinstance(node, exp.Query) and node.args.get(clause):
            tree, mine = _at(text, i, dialect)
            mine.set(clause, None)
            yield _written(tree, dialect)


def _without_items(text: str, i: int, dialect: str) -> Iterator[str]:
    """Without an item of a list: a column, a join, a key."""
    _, node = _at(text, i, dialect)
    for key, value in node.args.items():
        for j in range(len(value) if isinstance(value, list) else 0):
            tree, mine = _at(text, i, dialect)
            mine.set(key, [item for k, item in enumerate(mine.args[key]) if k != j])
            yield _written(tree, dialect)


def _one_side(text: str, i: int, dialect: str) -> Iterator[str]:
    """A part of an expression in its place."""
    _, node = _at(text, i, dialect)
    if isinstance(node, exp.If) and isinstance(node.parent, exp.Case):
        return
    if isinstance(node, exp.Binary | exp.Unary | exp.Func | exp.SetOperation | exp.Cast):
        for j in range(len(list(node.iter_expressions()))):
            tree, mine = _at(text, i, dialect)
            mine.replace(list(mine.iter_expressions())[j])
            yield _written(tree, dialect)


def _inner(text: str, i: int, dialect: str) -> Iterator[str]:
    """A query in the whole, alone; or a constant in the place of a value."""
    _, node = _at(text, i, dialect)
    if isinstance(node, exp.Query) and i > 0:
        yield node.sql(dialect=dialect)
    if isinstance(node, exp.If) and isinstance(node.parent, exp.Case):
        return
    if isinstance(node, exp.Case | exp.Func | exp.Binary):
        for constant in ("NULL", "TRUE", "1"):
            tree, mine = _at(text, i, dialect)
            mine.replace(parse_one(constant))
            yield _written(tree, dialect)
