"""The example queries of the paper."""

from penstock.memory.query import Query, Stream
from penstock.reasoning.closure import Atom, Attribute, compare

S = Stream("S", ("A", "B", "C"))
T = Stream("T", ("D", "E"))


def atoms(streams: tuple[Stream, ...], text: str) -> frozenset[Atom]:
    """Atoms such as `A < 20, A = D`, where every column name is in one stream only."""
    columns = {column: stream[column] for stream in streams for column in stream.columns}

    def element(word: str) -> Attribute | int:
        return columns[word] if word in columns else int(word)

    words = [atom.split() for atom in text.split(",") if atom.strip()]
    return frozenset(compare(element(x), operator, element(y)) for x, operator, y in words)


def query(
    streams: tuple[Stream, ...], where: str, select: str = "", *, distinct: bool = False
) -> Query:
    columns = {column: stream[column] for stream in streams for column in stream.columns}
    return Query(
        streams, atoms(streams, where), tuple(columns[c] for c in select.split()), distinct
    )


# name, streams, selection, bounded with duplicates preserved, with duplicates eliminated
TABLE_1 = (
    ("Q1", (S,), "A > 10", True, False),
    ("Q2", (S, T), "A = D", False, False),
    ("Q3", (S, T), "A = D, A > 10, D < 20", True, True),
    ("Q4", (S, T), "B < D, A = 10", False, True),
    ("Q5", (S, T), "B < D, C < E, A = 10", False, False),
    ("Q6", (S, T), "B < D, C < E, B < E, C < D, A = 10", False, True),
    ("Q7", (S, T), "B < D, D > 10, B < 20, A = 10", True, True),
)
