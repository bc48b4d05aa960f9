"""What the rows of a stream of changes say that is to be done, in the words that are in use.

An operation is written in lower case, in upper case or capitalised. `UPSERTS` put a row in the
place of the last one of its key, `DELETES` take that away, and `IGNORED` show a row as it was
before an update: the row after it follows by itself. Anything else, NULL among it, is no operation.
"""

from __future__ import annotations

import pyarrow as pa

from penstock.algebra.expr import Call, Column, Expr, Literal, compare


def _spelled(*words: str) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys(
            spelling for w in words for spelling in (w, w.lower(), w.upper(), w.capitalize())
        )
    )


_UPSERTS = ("+", "u", "c", "r", "i", "+I", "+U", "insert", "update", "upsert", "create", "read")
UPSERTS = (*_spelled(*_UPSERTS), "update_postimage")
DELETES = _spelled("-", "d", "-D", "delete")
IGNORED = (*_spelled("-U"), "update_preimage")
KNOWN = frozenset({*UPSERTS, *DELETES, *IGNORED})
WRITTEN = "+ u -, c u d r, I U D, +I -U +U -D, or insert, update, upsert, delete"


def among(column: str, words: tuple[str, ...]) -> Expr:
    """Whether a column holds one of the words."""
    operation = Column(column, pa.string())
    tests = tuple(compare("=", operation, Literal(word, pa.string())) for word in words)
    return Call("or", tests, pa.bool_())
