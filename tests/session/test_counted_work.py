"""How often a statement's plan is gone over: it is rewritten once and compiled once.

Only what is left of a query that is answered from other views, which is another plan, is rewritten
by itself.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock import rewrite
from penstock.physical.program import Compiler
from penstock.runtime.options import Options
from penstock.session import Session
from penstock.testing.local_session import local_session

COUNTED: tuple[tuple[Any, str], ...] = (
    (rewrite, "_exhausted"),
    (Compiler, "add"),
)
"""What goes over a plan by rules, and what makes operators of it."""
ONCE = {"_exhausted": 2, "add": 1}
"""Rewriting has two stages: to the normal form, and from there on."""


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Session]:
    with local_session(tmp_path, Options(tasks=2)) as session:
        session.sql("CREATE SOURCE bids (auction BIGINT, price BIGINT, at BIGINT) EVENT TIME at")
        session.sql("CREATE VIEW dear AS SELECT auction, price FROM bids WHERE price > 100")
        yield session


@pytest.fixture
def counts(db: Session, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    found: Counter[str] = Counter()

    def counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            found[name] += 1
            return function(*args, **kwargs)

        return run

    for owner, name in COUNTED:
        monkeypatch.setattr(owner, name, counted(name, getattr(owner, name)))
    return found


def test_a_view_is_rewritten_once_and_compiled_once(db: Session, counts: Counter[str]) -> None:
    for query in ("count(*) AS n FROM bids", "max(price) AS top FROM bids GROUP BY auction"):
        db.sql(f"CREATE VIEW v{len(query)} AS SELECT {query}")
        assert counts == ONCE
        counts.clear()


def test_so_is_one_that_begins_after_rows_and_steps(db: Session, counts: Counter[str]) -> None:
    db.source("bids").append([{"auction": i, "price": 60 * i, "at": i} for i in range(5)])
    db.step()
    db.sql("CREATE VIEW n AS SELECT count(*) AS n FROM bids")
    db.step()
    counts.clear()
    db.sql("CREATE VIEW lowest AS SELECT auction, min(price) AS least FROM bids GROUP BY auction")
    assert counts == ONCE


def test_what_is_left_over_views_is_another_plan(db: Session, counts: Counter[str]) -> None:
    db.sql("CREATE VIEW n AS SELECT auction, count(*) AS n FROM bids GROUP BY auction")
    counts.clear()
    db.sql(
        "CREATE VIEW busy AS SELECT auction, count(*) AS n FROM bids GROUP BY auction "
        "HAVING count(*) > 2"
    )
    assert counts == ONCE | {"_exhausted": 2 * ONCE["_exhausted"]}
