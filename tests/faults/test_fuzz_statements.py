"""Whatever a text is, it is carried out or refused by an error that a person can read."""

from __future__ import annotations

import pytest

from tests.faults.fuzz_statements import corpus, findings, problem_of

FOUND = (
    "SELECT v FROM s WHERE v > - 'x'",
    "SELECT v FROM s WHERE v > - DATE '2026-01-01'",
    "SELECT percentile(DISTINCT DISTINCT v, 0.5) FROM s",
    "CREATE STREAM p2 OVER temperature KEY NULL PUNCTUATED BY ORDER (hour)",
    "SELECT k FROM a WHERE k IN (SELECT k FROM b WHERE k IS (SELECT (SELECT (SELECT w FROM a))))",
    "FROM a |> ORDER BY t DESC |> LIMIT AGGREGATE |> 2 count(*) AS c, min([ROWS 0]) AS m",
    "SELECT * FROM temps WHERE ts > NOW() - INTERVAL 5 5 MINUTES OR temp > 100",
    "SELECT * FROM items WHERE NOW()",
    "SELECT mean() AS m, any() AS n FROM a",
    "SELECT collect_list(ORDER BY at) FROM temps",
    "SELECT /*+ BROADCAST(t SELECT /*+ BROADCAST(t) */ FROM ALL a STREAMED s",
    "SELECT k FROM a WHERE k NOT IN (SELECT w FROM b WHERE k IS (SELECT (SELECT k IS NULL)))",
)


def test_there_is_enough_to_begin_with() -> None:
    assert len(corpus()) > 500


@pytest.mark.parametrize("text", FOUND)
def test_what_was_found_once(text: str) -> None:
    assert problem_of(text) is None


def test_statements_after_accidents() -> None:
    found = list(findings(seed=11, count=200))
    assert not found, found[0]
