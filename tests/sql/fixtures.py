"""Cases in text files: a title, a text of SQL, and what becomes of it.

    ==== a title
    SELECT a FROM s;
    ----
    SELECT a FROM s
    Query(tree=`SELECT a FROM s`)

The outcome is, for each statement, its canonical text, its parts where they are not the default,
and the windows in its trees; or the error. To add a case, write its title and text, run
`python -m tests.sql.fixtures` from the root of the repository, and read what it has filled in.
"""

from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from sqlglot import exp

from penstock.errors import PenstockError
from penstock.sql import parse, to_sql
from penstock.sql.rendering import tree_sql
from penstock.sql.statements import Statement
from penstock.sql.text import Name

FOLDER = Path(__file__).parent / "statements"


@dataclass(frozen=True)
class Case:
    file: str
    title: str
    sql: str
    expected: str

    def __str__(self) -> str:
        return f"==== {self.title}\n{self.sql}\n----\n{self.expected}\n"


def cases(folder: Path = FOLDER) -> Iterator[Case]:
    for path in sorted(folder.glob("*.sql")):
        for block in path.read_text("utf-8").split("==== ")[1:]:
            title, _, rest = block.partition("\n")
            sql, _, expected = rest.partition("\n----\n")
            yield Case(path.stem, title, sql.rstrip("\n"), expected.rstrip("\n"))


def outcome(sql: str) -> str:
    try:
        statements = parse(sql)
    except PenstockError as error:
        return str(error)
    return "\n".join(line for statement in statements for line in described(statement))


def described(statement: Statement) -> Iterator[str]:
    yield to_sql(statement)
    yield shown(statement)
    for tree in trees(statement):
        for relation in tree.find_all(exp.Table, exp.Subquery):
            if window := relation.args.get("window"):
                yield f"  {relation.alias_or_name or 'subquery'}: {shown(window)}"


def trees(value: Any) -> Iterator[exp.Expr]:
    if isinstance(value, exp.Expr):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from trees(item)
    elif is_dataclass(value):
        for field in fields(value):
            yield from trees(getattr(value, field.name))


def shown(value: Any) -> str:
    match value:
        case Name(text):
            return text
        case exp.Expr():
            return f"`{tree_sql(value)}`"
        case tuple():
            return f"[{', '.join(map(shown, value))}]"
    if not is_dataclass(value):
        return str(value)
    parts = [
        f"{field.name}={shown(getattr(value, field.name))}"
        for field in fields(value)
        if field.compare
        and (field.default is MISSING or getattr(value, field.name) != field.default)
    ]
    return f"{type(value).__name__}({', '.join(parts)})"


def rewrite(folder: Path, outcome_of: Callable[[Case], str]) -> None:
    """Fill in what becomes of every case of a folder."""
    for name, group in groupby(list(cases(folder)), key=lambda case: case.file):
        texts = [str(replace(case, expected=outcome_of(case))) for case in group]
        (folder / f"{name}.sql").write_text("\n".join(texts), "utf-8")


if __name__ == "__main__":
    rewrite(FOLDER, lambda case: outcome(case.sql))
