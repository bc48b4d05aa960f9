"""Cases in text files: a title, a text of SQL, and the verdict on its last statement as it prints.

    ==== a title
    SELECT a FROM s;
    ----
    BOUNDED: nothing is kept, each row is answered as it comes.

To add a case, write its title and text, run `python -m tests.memory.verdict_cases` from the root of
the repository, and read what it has filled in.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from penstock.memory.api import check
from penstock.memory.report import MemoryVerdict

FOLDER = Path(__file__).parent / "verdicts"
SOURCES = {
    "s": "a INT, b INT, c INT",
    "t": "d INT, e INT",
    "bids": "auction BIGINT, bidder BIGINT, price DECIMAL(12, 2), "
    "channel STRING NOT NULL CHECK (channel IN ('web', 'app', 'phone'))",
    "auctions": "id BIGINT, seller BIGINT, expires TIMESTAMP, "
    "category INT NOT NULL CHECK (category BETWEEN 0 AND 9)",
    "readings": "sensor STRING, value DOUBLE, faulty BOOLEAN",
}


@dataclass(frozen=True)
class Case:
    file: str
    title: str
    sql: str
    expected: str

    def __str__(self) -> str:
        return f"==== {self.title}\n{self.sql}\n----\n{self.expected}\n"


def cases() -> Iterator[Case]:
    for path in sorted(FOLDER.glob("*.txt")):
        for block in path.read_text("utf-8").split("==== ")[1:]:
            title, _, rest = block.partition("\n")
            sql, _, expected = rest.partition("\n----")
            yield Case(path.stem, title, sql.rstrip("\n"), expected.strip("\n"))


def verdict(sql: str) -> MemoryVerdict:
    return check(sql, SOURCES)


if __name__ == "__main__":
    for name in sorted({case.file for case in cases()}):
        texts = [
            str(Case(case.file, case.title, case.sql, str(verdict(case.sql))))
            for case in cases()
            if case.file == name
        ]
        (FOLDER / f"{name}.txt").write_text("\n".join(texts), "utf-8")
